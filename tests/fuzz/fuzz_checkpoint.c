/* SPDX-License-Identifier: MIT */
/* A checkpoint from a hostile hand: an index, or a file of tensors, whose attention modules are looked for and unpacked
 * by two heads, as they are and as quantised weights. It lies in a folder of its own: an index may name what is beside it. */
#include "fuzz.h"
#include "layer/quantised.h"
#include "layer/unpack.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[200], path[220];
static int file;

static void remove_link(void)
{
    unlink(path);
    rmdir(folder);
}

static void make_file(void)
{
    const char *temporary = getenv("TMPDIR");
    char target[40];
    if (folder[0] != '\0')
        return;
    file = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(target, sizeof target, "/proc/self/fd/%d", file);
    snprintf(folder, sizeof folder, "%.150s/attn-fuzz-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (file < 0 || mkdtemp(folder) == NULL || atexit(remove_link) != 0)
        abort();
    snprintf(path, sizeof path, "%s/one", folder);
    if (symlink(target, path) != 0)
        abort();
}

static void unpack(const struct module_list *list, const struct layer_module *module, enum packing packing,
                   struct arena *arena)
{
    struct error error = {0};
    struct input_file input;
    struct unpack_plan plan = {.heads = 2, .packing = packing};
    const enum status status = module_unpack(list, module, &plan, arena, &input, &error);
    fuzz_check(status, FUZZ_KINDS, &input, arena, &error);
}

static void find_modules(const struct checkpoint *checkpoint, struct arena *arena)
{
    struct module_list list;
    const struct layer_module *module;
    struct error error = {0}, none = {0};
    const struct config plain = {0};
    struct quantised quantised;
    if (modules_find(checkpoint, arena, &list, &error) || quantised_begin(&quantised, checkpoint, &plain, &error))
        abort();
    list.quantised = &quantised;
    if (module_choose(&list, 1, NULL, &module, &error) == STATUS_OK ? module == NULL : error.message[0] == '\0')
        abort();
    if (list.count > 0 && module_choose(&list, MODULE_NO_LAYER, list.modules[0].path, &module, &none) == STATUS_OK &&
        module == NULL)
        abort();
    for (size_t i = 0; i < list.count && i < 4; i++) {
        unpack(&list, &list.modules[i], module_packing(&list.modules[i]), arena);
        unpack(&list, &list.modules[i], PACKING_GROUPS, arena);
    }
}

static void find_quantised(const struct checkpoint *checkpoint, struct arena *arena)
{
    static const char *const FORMS[] = {
        "\"fp8\",\"weight_block_size\":[2,4]",
        "\"gptq\",\"bits\":4,\"group_size\":8,\"desc_act\":true",
        "\"awq\",\"bits\":4,\"group_size\":8",
        "\"mxfp4\"",
        "\"affine\",\"bits\":3,\"group_size\":8",
        ("\"compressed-tensors\",\"format\":\"pack-quantized\",\"config_groups\":{\"a\":{\"weights\":{\"num_bits\":4,"
         "\"group_size\":8}},\"b\":{\"format\":\"int-quantized\",\"weights\":{\"num_bits\":8}}}"),
    };
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        char text[400];
        struct module_list list;
        struct quantised quantised;
        struct config config = {0};
        struct error error = {0};
        snprintf(text, sizeof text, "{\"quantization_config\":{\"quant_method\":%s}}", FORMS[i]);
        if (config_read_text(path, text, &config, &error) || quantised_begin(&quantised, checkpoint, &config, &error) ||
            modules_find(&quantised.shown, arena, &list, &error))
            abort();
        list.quantised = &quantised;
        for (size_t at = 0; at < list.count && at < 4; at++)
            unpack(&list, &list.modules[at], module_packing(&list.modules[at]), arena);
        config_free(&config);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct error error = {0};
    make_file();
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, length, 0) != (ssize_t)length)
        abort();
    if (checkpoint_open(path, &arena, &checkpoint, &error) == STATUS_OK) {
        find_modules(&checkpoint, &arena);
        find_quantised(&checkpoint, &arena);
    } else if (error.message[0] == '\0')
        abort();
    arena_free(&arena);
    return 0;
}
