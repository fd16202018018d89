#include "layer/layer.h"

#include "base/text.h"
#include "cli/option_text.h"
#include "layer/config.h"
#include "layer/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What layer_read works with. */
struct reading {
    struct layer *layer;
    const struct options *options;
    struct checkpoint checkpoint;
    struct module_list modules;
    struct config config;
    struct config_module place;
    struct arena *arena;
    struct error *error;
};

static bool is_typed(const struct reading *reading, enum option_id id)
{
    return reading->options->origin[id] != ORIGIN_DEFAULT;
}

/* The config that is named, or the one beside the checkpoint, if there is one. */
static enum status read_config(struct reading *reading)
{
    const char *path = reading->options->config;
    if (path == NULL) {
        char beside[4096];
        const int length = snprintf(beside, sizeof beside, "%sconfig.json", reading->checkpoint.folder);
        if (length < 0 || (size_t)length >= sizeof beside || access(beside, F_OK) != 0)
            return STATUS_OK;
        path = arena_text(reading->arena, beside, (size_t)length, reading->error);
        if (path == NULL)
            return reading->error->status;
    }
    reading->layer->config = path;
    return config_read(path, &reading->config, reading->error);
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

static enum status add(const struct reading *reading, const char *setting, const char *text, enum fact_source source,
                       const char *key)
{
    const struct layer_fact fact = {setting, text, source, key};
    return layer_facts_add(&reading->layer->facts, &fact, reading->arena, reading->error);
}

static enum status add_whole(const struct reading *reading, const char *setting, size_t value, enum fact_source source,
                             const char *key)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    return add(reading, setting, text, source, key);
}

/* What the command line or the input says: it is believed. */
static enum status add_options(const struct reading *reading)
{
    char name[64], text[OPTION_TEXT_BYTES];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const enum option_id id = (enum option_id)i;
        const bool told = OPTIONS[id].setting && (OPTIONS[id].abilities & (ABILITY_RUNS | ABILITY_HELPS)) == 0;
        if (!told || !is_typed(reading, id) ||
            layer_facts_find(&reading->layer->facts, options_setting_name(id, name, sizeof name)) == NULL)
            continue;
        if (add(reading, name, option_text(reading->options, id, text), FACT_OPTION, NULL) != STATUS_OK)
            return reading->error->status;
    }
    return STATUS_OK;
}

static size_t number_of(const struct reading *reading, const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(&reading->layer->facts, setting);
    return fact != NULL ? (size_t)strtoull(fact->text, NULL, 10) : 0;
}

/* Heads decide how the tensors are cut. */
static enum status find_heads(struct reading *reading, struct unpack_plan *plan)
{
    const struct options *options = reading->options;
    if (config_heads(&reading->config, reading->layer->family, &reading->place, reading->arena, &reading->layer->facts,
                     reading->error) != STATUS_OK)
        return reading->error->status;
    plan->heads = is_typed(reading, OPTION_HEADS) ? (size_t)options->heads : number_of(reading, "heads");
    plan->kv_heads = is_typed(reading, OPTION_KV_HEADS) ? (size_t)options->kv_heads : number_of(reading, "kv_heads");
    plan->packing = module_packing(reading->layer->module);
    if (reading->layer->family->packing != NULL && plan->packing != PACKING_SEPARATE)
        plan->packing = strcmp(reading->layer->family->packing, "groups") == 0 ? PACKING_GROUPS : PACKING_BLOCKS;
    if (is_typed(reading, OPTION_PACKING))
        plan->packing = options->packing;
    if (plan->heads > 0)
        return STATUS_OK;
    return error_usage(reading->error,
                       "%s: neither a config nor an option says how many heads %s has; expected "
                       "--heads N, or --config FILE",
                       reading->checkpoint.source, reading->layer->module->path);
}

/* The columns of a head of query, whatever the config says. */
static enum status measure_head(struct reading *reading, const struct unpack_plan *plan)
{
    const struct input_file *weights = &reading->layer->weights;
    const struct file_tensor *query = input_file_find(weights, "W_query.weight");
    if (query == NULL)
        query = input_file_find(weights, "W_query_b.weight");
    if (query == NULL || query->tensor.shape[0] % plan->heads != 0)
        return error_usage(reading->error, "%s: %s: the rows of its query do not divide by %zu heads",
                           reading->checkpoint.source, reading->layer->module->path, plan->heads);
    reading->place.columns = query->tensor.shape[0] / plan->heads;
    return STATUS_OK;
}

/* Kinds of norms that this module has not are no facts of it. */
static void forget(struct reading *reading, const char *setting)
{
    struct layer_facts *facts = &reading->layer->facts;
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->facts[i].setting, setting) != 0)
            facts->facts[count++] = facts->facts[i];
    facts->count = count;
}

static bool has(const struct reading *reading, const char *name)
{
    return input_file_find(&reading->layer->weights, name) != NULL;
}

static void forget_norms(struct reading *reading)
{
    if (!has(reading, "query_norm.weight") && !has(reading, "key_norm.weight") &&
        !has(reading, "key_value_a_norm.weight")) {
        forget(reading, "qk_norm");
        forget(reading, "qk_norm_eps");
    }
    if (!has(reading, "norm.weight")) {
        forget(reading, "norm");
        forget(reading, "norm_eps");
    }
    if (!has(reading, "relative_bias.weight"))
        forget(reading, "relative_distance");
}

static enum status read_facts(struct reading *reading)
{
    struct layer *layer = reading->layer;
    struct unpack_plan plan = {0};
    if (find_heads(reading, &plan) ||
        module_unpack(&reading->modules, layer->module, &plan, reading->arena, &layer->weights, reading->error) ||
        measure_head(reading, &plan) ||
        config_facts(&reading->config, layer->family, &reading->place, reading->arena, &layer->facts, reading->error))
        return reading->error->status;
    forget_norms(reading);
    if (layer_facts_find(&layer->facts, "kv_heads") == NULL &&
        add_whole(reading, "kv_heads", plan.kv_heads, FACT_TENSORS, NULL) != STATUS_OK)
        return reading->error->status;
    return add_options(reading);
}

enum status layer_read(struct layer *layer, const struct options *options, struct arena *arena, struct error *error)
{
    struct reading reading = {.layer = layer, .options = options, .arena = arena, .error = error};
    const size_t number = options->origin[OPTION_LAYER] == ORIGIN_DEFAULT ? MODULE_NO_LAYER : (size_t)options->layer;
    *layer = (struct layer){0};
    if (checkpoint_open(options->weights, arena, &reading.checkpoint, error) ||
        modules_find(&reading.checkpoint, arena, &reading.modules, error) ||
        module_choose(&reading.modules, number, options->module, &layer->module, error) || read_config(&reading))
        return error->status;
    reading.place = (struct config_module){
        .part = layer->module->part, .cross = layer->module->cross, .layer = layer->module->layer};
    enum status status = config_family(&reading.config, layer->module->part, options->family, &layer->family, error);
    if (status == STATUS_OK)
        status = read_facts(&reading);
    config_free(&reading.config);
    return status;
}
