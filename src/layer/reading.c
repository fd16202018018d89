/* SPDX-License-Identifier: MIT */
#include "layer/reading.h"

#include "base/folder.h"
#include "base/output.h"
#include "layer/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool reading_is_told(const struct reading *reading, enum option_id id)
{
    return reading->options->origin[id] != ORIGIN_DEFAULT;
}

/* Reads the named config, or the one next to the checkpoint, if there is one. */
static enum status read_config(struct reading *reading)
{
    enum { PATH = 4096 };
    const char *path = reading->options->config;
    if (path == NULL) {
        char usual[PATH];
        const int length = snprintf(usual, sizeof usual, "%sconfig.json", reading->checkpoint.folder);
        struct stat there;
        if (length < 0 || length >= PATH)
            return error_usage(reading->error, "%s: the path is too long; expected --config FILE",
                               reading->checkpoint.source);
        if (lstat(usual, &there) != 0 && errno == ENOENT) /* a dangling link counts as present */
            return STATUS_OK;
        path = arena_text(reading->arena, usual, (size_t)length, reading->error);
        if (path == NULL || folder_check_file(path, reading->error) != STATUS_OK)
            return reading->error->status;
    }
    reading->config_path = path;
    return config_read(path, &reading->config, reading->error);
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
    return replaced == NULL
               ? STATUS_OK
               : error_usage(reading->error,
                             "--out would replace %.200s, a file of the checkpoint; expected another file", replaced);
}

enum status reading_begin(struct reading *reading, const struct options *options, struct arena *arena,
                          struct error *error)
{
    *reading = (struct reading){.options = options, .arena = arena, .error = error};
    if (checkpoint_open(options->weights, arena, &reading->checkpoint, error) || read_config(reading) ||
        quantised_begin(&reading->quantised, &reading->checkpoint, &reading->config, error) ||
        modules_find(&reading->quantised.shown, arena, &reading->modules, error))
        return error->status;
    reading->modules.quantised = &reading->quantised;
    return check_out(reading);
}

void reading_end(struct reading *reading)
{
    config_free(&reading->config);
}

static struct config_module place_of(const struct layer_module *module, size_t columns)
{
    return (struct config_module){.part = module->part,
                                  .cross = module->cross,
                                  .layer = module->layer,
                                  .columns = columns,
                                  .reordered = module->naming->reordered};
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
    if (reading_is_told(reading, id))
        return id == OPTION_HEADS ? "--heads" : "--kv-heads";
    return fact != NULL && fact->source == FACT_CONFIG ? fact->key : NULL;
}

enum status reading_heads(const struct reading *reading, const struct layer_module *module,
                          const struct family_row **family, struct unpack_plan *plan, struct layer_facts *facts)
{
    const struct options *options = reading->options;
    const struct config_module place = place_of(module, 0);
    if (config_family(&reading->config, module->part, options->family, family, reading->error) ||
        config_heads(&reading->config, *family, &place, reading->arena, facts, reading->error))
        return reading->error->status;
    plan->heads = reading_is_told(reading, OPTION_HEADS) ? (size_t)options->heads : number_of(facts, "heads");
    plan->kv_heads =
        reading_is_told(reading, OPTION_KV_HEADS) ? (size_t)options->kv_heads : number_of(facts, "kv_heads");
    plan->heads_said = said(reading, facts, OPTION_HEADS, "heads");
    plan->kv_heads_said = said(reading, facts, OPTION_KV_HEADS, "kv_heads");
    plan->packing = module_packing(module);
    if ((*family)->packing != NULL && plan->packing != PACKING_SEPARATE)
        plan->packing = strcmp((*family)->packing, "groups") == 0 ? PACKING_GROUPS : PACKING_BLOCKS;
    if (reading_is_told(reading, OPTION_PACKING))
        plan->packing = options->packing;
    return STATUS_OK;
}

enum status reading_facts(const struct reading *reading, const struct layer_module *module,
                          const struct family_row *family, size_t columns, struct layer_facts *facts)
{
    const struct config_module place = place_of(module, columns);
    return config_facts(&reading->config, family, &place, reading->arena, facts, reading->error);
}
