/* SPDX-License-Identifier: MIT */
#include "layer/reading.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void add(struct layer_warnings *warnings, const char *text)
{
    for (size_t i = 0; i < warnings->count; i++)
        if (strcmp(warnings->texts[i], text) == 0)
            return;
    if (warnings->count < LAYER_WARNINGS)
        warnings->texts[warnings->count++] = text;
}

/* PEFT keeps trained weights in separate files. */
static enum status warn_of_adapter(const struct reading *reading, struct layer_warnings *warnings)
{
    static const char *const NAMES[] = {"adapter_model.safetensors", "adapter_model.bin", "adapter_config.json"};
    char path[4096], text[TEXT_PATH_BYTES + 160];
    struct stat there;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const int length = snprintf(path, sizeof path, "%s%s", reading->checkpoint.folder, NAMES[i]);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &there) != 0)
            continue;
        snprintf(text, sizeof text, "%s: this adapter is not applied; type --adapter with its folder",
                 SHOWN_PATH(path));
        const char *kept = arena_copy(reading->arena, text, reading->error);
        if (kept == NULL)
            return reading->error->status;
        add(warnings, kept);
        break;
    }
    return STATUS_OK;
}

enum status layer_warn(const struct reading *reading, const struct layer_module *module,
                       const struct family_row *family, struct layer_warnings *warnings)
{
    const struct config_module place = {.part = module->part, .cross = module->cross, .layer = module->layer};
    const unsigned searched = warnings->parts, part = 1U << module->part;
    const char *unknown = NULL;
    if ((searched & part) != 0)
        return STATUS_OK;
    warnings->parts |= part;
    if (config_unknown(&reading->config, family, &place, reading->arena, &unknown, reading->error) != STATUS_OK)
        return reading->error->status;
    if (unknown != NULL)
        add(warnings, unknown);
    return searched != 0 || reading->options->adapter != NULL ? STATUS_OK : warn_of_adapter(reading, warnings);
}
