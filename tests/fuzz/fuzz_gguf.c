/* SPDX-License-Identifier: MIT */
/* A GGUF from a hostile hand: its header, the config that its metadata make, and its first modules, unpacked. */
#include "fuzz.h"
#include "layer/gguf_config.h"
#include "layer/quantised.h"
#include "layer/unpack.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[40];
static int file;

static void check(enum status status, const struct error *error)
{
    if (status != STATUS_OK && error->message[0] == '\0')
        abort();
}

static void ask(const struct config *config, const struct gguf_row *row, const struct module_list *list,
                const struct layer_module *module, struct arena *arena)
{
    struct layer_facts facts = {0};
    struct error error = {0};
    struct input_file input;
    const struct family_row *family;
    const struct config_module place = {.layer = module->layer, .columns = 4};
    struct unpack_plan plan = {.heads = 2, .packing = module_packing(module), .permuted = row != NULL};
    enum status status = config_family(config, PART_ONLY, NULL, &family, &error);
    if (status == STATUS_OK)
        status = config_heads(config, family, &place, arena, &facts, &error);
    if (status == STATUS_OK)
        status = config_facts(config, family, &place, arena, &facts, &error);
    if (status == STATUS_OK && row != NULL)
        status = gguf_facts(row, arena, &facts, &error);
    check(status, &error);
    error = (struct error){0};
    status = module_unpack(list, module, &plan, arena, &input, &error);
    fuzz_check(status, FUZZ_KINDS, &input, arena, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct error error = {0};
    struct checkpoint checkpoint;
    struct config config = {0};
    struct module_list list = {0};
    const struct config plain = {0};
    struct quantised quantised;
    const struct gguf_row *row = NULL;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/proc/self/fd/%d", file = memfd_create("fuzz", MFD_CLOEXEC));
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes, length, 0) != (ssize_t)length)
        abort();
    enum status status = checkpoint_open(path, &arena, &checkpoint, &error);
    if (status == STATUS_OK && checkpoint.gguf != NULL)
        status = gguf_config(&checkpoint, &config, &row, &error);
    check(status, &error);
    if (status == STATUS_OK && (modules_find(&checkpoint, &arena, &list, &error) ||
                                quantised_begin(&quantised, &checkpoint, &plain, &error)))
        abort();
    list.quantised = &quantised;
    for (size_t i = 0; i < list.count && i < 4; i++)
        ask(&config, row, &list, &list.modules[i], &arena);
    config_free(&config);
    arena_free(&arena);
    return 0;
}
