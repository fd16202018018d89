/* SPDX-License-Identifier: MIT */
/* A config.json from a hostile hand: for each tower and two layers, what it says of the heads and of all else. */
#include "fuzz.h"
#include "layer/config.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[40];
static int file;

/* Each fact is a text under a name; a refusal says why. */
static void check_facts(enum status status, const struct layer_facts *facts, const struct error *error)
{
    if (status != STATUS_OK && error->message[0] == '\0')
        abort();
    for (size_t i = 0; i < facts->count; i++)
        if (facts->facts[i].setting == NULL || facts->facts[i].text == NULL)
            abort();
}

static void ask(const struct config *config, enum module_part part, bool cross, size_t layer)
{
    struct arena arena = {0};
    struct layer_facts facts = {0};
    struct error error = {0};
    const struct family_row *family;
    const struct config_module module = {.part = part, .cross = cross, .layer = layer, .columns = 8};
    enum status status = config_family(config, part, NULL, &family, &error);
    if (status == STATUS_OK)
        status = config_heads(config, family, &module, &arena, &facts, &error);
    if (status == STATUS_OK)
        status = config_facts(config, family, &module, &arena, &facts, &error);
    check_facts(status, &facts, &error);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct config config = {0};
    struct error error = {0};
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/proc/self/fd/%d", file = memfd_create("fuzz", MFD_CLOEXEC));
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, bytes, length, 0) != (ssize_t)length)
        abort();
    if (config_read(path, &config, &error) == STATUS_OK)
        for (enum module_part part = 0; part < PART_COUNT; part++) {
            ask(&config, part, false, 0);
            ask(&config, part, part == PART_DECODER, 5);
        }
    else if (error.message[0] == '\0')
        abort();
    config_free(&config);
    return 0;
}
