/* SPDX-License-Identifier: MIT */
#include "layer/reading.h"

#include "base/folder.h"
#include "base/output.h"
#include "base/text.h"
#include "layer/naming.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Finds a config of that name next to the checkpoint; *path: NULL where there is none. */
static enum status find_config(const struct reading *reading, const char *name, const char **path)
{
    enum { PATH = 4096 };
    char usual[PATH];
    const int length = snprintf(usual, sizeof usual, "%s%s", reading->checkpoint.folder, name);
    struct stat there;
    *path = NULL;
    if (length < 0 || length >= PATH)
        return error_usage(reading->error, "%s: the path is too long; expected --config FILE",
                           reading->checkpoint.source);
    if (lstat(usual, &there) != 0 && errno == ENOENT) /* a dangling link counts as present */
        return STATUS_OK;
    *path = arena_text(reading->arena, usual, (size_t)length, reading->error);
    return *path == NULL || folder_check_file(*path, reading->error) ? reading->error->status : STATUS_OK;
}

/* Reads the named config, or a GGUF's metadata, or the one next to the checkpoint, if there is one: that of its names
 * first. */
static enum status read_config(struct reading *reading)
{
    const struct naming_row *naming = reading->modules.count > 0 ? reading->modules.modules[0].naming : NULL;
    const char *own = naming != NULL ? naming->config : NULL;
    if (reading->checkpoint.gguf != NULL) {
        if (gguf_config(&reading->checkpoint, &reading->config, &reading->gguf, reading->error) != STATUS_OK)
            return reading->error->status;
        reading->config_path = reading->checkpoint.opened;
        if (reading->options->config == NULL)
            return STATUS_OK;
        config_free(&reading->config);
    }
    reading->config_path = reading->options->config;
    if (reading->config_path == NULL && own != NULL && find_config(reading, own, &reading->config_path) != STATUS_OK)
        return reading->error->status;
    reading->config_is_own = own != NULL && reading->config_path != NULL && text_ends_in(reading->config_path, own);
    if (reading->config_path == NULL && reading->checkpoint.settings != NULL && naming != NULL &&
        naming->family != NULL) {
        char *text = arena_copy(reading->arena, reading->checkpoint.settings, reading->error);
        reading->config_is_own = true;
        return text == NULL ? reading->error->status
                            : config_read_text(reading->checkpoint.source, text, &reading->config, reading->error);
    }
    if (reading->config_path == NULL && find_config(reading, "config.json", &reading->config_path) != STATUS_OK)
        return reading->error->status;
    return reading->config_path != NULL ? config_read(reading->config_path, &reading->config, reading->error)
                                        : STATUS_OK;
}

/* Checks that --out would not replace files that no option names. */
static enum status check_out(const struct reading *reading)
{
    const char *out = reading->options->out, *replaced;
    bool replaces = false;
    if (checkpoint_replaced(&reading->checkpoint, out, &replaced, reading->error) ||
        (reading->config_path != NULL &&
         output_replaces(out, reading->config_path, &replaces, reading->error) != STATUS_OK))
        return reading->error->status;
    if (replaces)
        replaced = reading->config_path;
    if (replaced == NULL && reading->options->adapter != NULL &&
        checkpoint_replaced(&reading->adapter.tensors, out, &replaced, reading->error) != STATUS_OK)
        return reading->error->status;
    return replaced == NULL
               ? STATUS_OK
               : error_usage(reading->error,
                             "--out would replace %.200s, a file of the checkpoint; expected another file", replaced);
}

enum status reading_begin(struct reading *reading, const struct options *options, struct arena *arena,
                          struct error *error)
{
    *reading = (struct reading){.options = options, .arena = arena, .error = error};
    /* The names say which config it is, and the config how they are quantised. */
    if (checkpoint_open(options->weights, arena, &reading->checkpoint, error) ||
        modules_find(&reading->checkpoint, arena, &reading->modules, error) || read_config(reading) ||
        quantised_begin(&reading->quantised, &reading->checkpoint, &reading->config, error))
        return error->status;
    if (reading->quantised.shown.names != reading->checkpoint.names &&
        modules_find(&reading->quantised.shown, arena, &reading->modules, error) != STATUS_OK)
        return error->status;
    reading->modules.checkpoint = &reading->quantised.shown;
    if (reading->modules.count == 0 && quantised_check(&reading->config, error) != STATUS_OK)
        return error->status;
    reading->modules.quantised = &reading->quantised;
    if (options->adapter != NULL) {
        reading->modules.adapter = &reading->adapter;
        if (adapter_open(&reading->adapter, options->adapter, &reading->quantised.shown, arena, error) != STATUS_OK)
            return error->status;
    }
    return check_out(reading);
}

void reading_end(struct reading *reading)
{
    config_free(&reading->config);
    adapter_close(&reading->adapter);
}

static struct config_module place_of(const struct reading *reading, const struct layer_module *module, size_t columns)
{
    const bool unknown = reading->checkpoint.gguf != NULL && reading->gguf == NULL;
    return (struct config_module){.part = module->part,
                                  .cross = module->cross,
                                  .layer = module->layer,
                                  .columns = columns,
                                  .key_is_value = module->naming->value != NULL &&
                                                  strcmp(module->naming->value, module->naming->key) == 0,
                                  .reordered = module->naming->reordered || unknown};
}

/* The family that --family or, where its own config says none, the names of a module say; or NULL. */
static const char *asked_family(const struct reading *reading, const struct layer_module *module)
{
    const bool tower = module->part == PART_VISION || module->part == PART_AUDIO;
    return reading->options->family == NULL && reading->config_is_own && !tower &&
                   cJSON_GetObjectItemCaseSensitive(reading->config.root, "model_type") == NULL
               ? module->naming->family
               : reading->options->family;
}

static size_t number_of(const struct layer_facts *facts, const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(facts, setting);
    return fact != NULL ? (size_t)strtoull(fact->text, NULL, 10) : 0;
}

/* The source of heads: "--heads" if typed, else a key of the config, else NULL. */
static const char *said(const struct reading *reading, const struct layer_facts *facts, enum option_id id,
                        const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(facts, setting);
    if (options_said(reading->options, id))
        return id == OPTION_HEADS ? "--heads" : "--kv-heads";
    return fact != NULL && fact->source == FACT_CONFIG ? fact->key : NULL;
}

enum status reading_heads(const struct reading *reading, const struct layer_module *module,
                          const struct family_row **family, struct unpack_plan *plan, struct layer_facts *facts)
{
    const struct options *options = reading->options;
    const struct config_module place = place_of(reading, module, 0);
    if (config_family(&reading->config, module->part, asked_family(reading, module), family, reading->error) ||
        config_heads(&reading->config, *family, &place, reading->arena, facts, reading->error))
        return reading->error->status;
    plan->heads = options_said(options, OPTION_HEADS) ? (size_t)options->heads : number_of(facts, "heads");
    plan->kv_heads = options_said(options, OPTION_KV_HEADS) ? (size_t)options->kv_heads : number_of(facts, "kv_heads");
    plan->heads_said = said(reading, facts, OPTION_HEADS, "heads");
    plan->kv_heads_said = said(reading, facts, OPTION_KV_HEADS, "kv_heads");
    plan->gated = (*family)->gate == FAMILY_GATE_IN_QUERY;
    plan->packing = module->naming->packing;
    plan->permuted = reading->gguf != NULL && reading->gguf->permuted;
    if ((*family)->packing != NULL && plan->packing != PACKING_SEPARATE && reading->checkpoint.gguf == NULL)
        plan->packing = strcmp((*family)->packing, "groups") == 0 ? PACKING_GROUPS : PACKING_BLOCKS;
    if (options_said(options, OPTION_PACKING))
        plan->packing = options->packing;
    return STATUS_OK;
}

enum status reading_facts(const struct reading *reading, const struct layer_module *module,
                          const struct family_row *family, size_t columns, struct layer_facts *facts)
{
    const struct config_module place = place_of(reading, module, columns);
    const enum status status = config_facts(&reading->config, family, &place, reading->arena, facts, reading->error);
    return status == STATUS_OK && reading->gguf != NULL && !family->by_hand
               ? gguf_facts(reading->gguf, reading->arena, facts, reading->error)
               : status;
}

/* --- warnings ---------------------------------------------------------------------------------------------------- */

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
        if (kept != NULL)
            add(warnings, kept);
        return kept == NULL ? reading->error->status : STATUS_OK;
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
