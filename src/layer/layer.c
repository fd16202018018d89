/* SPDX-License-Identifier: MIT */
#include "layer/layer.h"

#include "base/text.h"
#include "cli/option_text.h"
#include "layer/naming.h"
#include "layer/naming_rows.h"
#include "layer/reading.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options about a module. */
static const enum option_id IDS[] = {
    OPTION_FAMILY,       OPTION_HEADS,           OPTION_KV_HEADS,          OPTION_PACKING,     OPTION_CAUSAL,
    OPTION_WINDOW,       OPTION_SCALE,           OPTION_SCALE_ON,          OPTION_SOFTCAP,     OPTION_ROPE,
    OPTION_ROPE_THETA,   OPTION_ROPE_COLUMNS,    OPTION_ROPE_SCALING,      OPTION_ALIBI,       OPTION_CLIP,
    OPTION_NORM,         OPTION_NORM_EPS,        OPTION_QK_NORM,           OPTION_QK_NORM_EPS, OPTION_VALUE_NORM,
    OPTION_QUERY_GROWTH, OPTION_ATTENTION_CHUNK, OPTION_RELATIVE_DISTANCE, OPTION_ROPE_AXES};

enum { ID_COUNT = sizeof IDS / sizeof IDS[0] };

bool layer_says(const char *setting)
{
    char name[64];
    for (size_t i = 0; i < ID_COUNT; i++)
        if (strcmp(options_setting_name(IDS[i], name, sizeof name), setting) == 0)
            return true;
    return false;
}

/* Adds facts from the command line, which overrule all others. */
static enum status add_options(const struct reading *reading, struct layer_facts *facts)
{
    char name[64], text[OPTION_TEXT_BYTES];
    for (size_t i = 0; i < ID_COUNT; i++) {
        if (!options_said(reading->options, IDS[i]))
            continue;
        options_setting_name(IDS[i], name, sizeof name);
        const char *setting = arena_copy(reading->arena, name, reading->error);
        if (setting == NULL)
            return reading->error->status;
        const struct layer_fact fact = {setting, option_text(reading->options, IDS[i], text), FACT_OPTION, NULL};
        if (layer_facts_add(facts, &fact, reading->arena, reading->error) != STATUS_OK)
            return reading->error->status;
    }
    return STATUS_OK;
}

static enum status refuse_heads(const struct reading *reading, const struct layer_module *module)
{
    const char *asked = reading->options->family;
    if (reading->config_path != NULL)
        return error_usage(reading->error, "%s does not say how many heads %s has%s; expected --heads N",
                           reading->config_path, module->path,
                           asked != NULL && strcmp(asked, FAMILY_NONE) == 0 ? ", because --family none does not read it"
                                                                            : "");
    return error_usage(reading->error,
                       "%s: no config and no option says how many heads %s has; expected --heads N, or --config FILE",
                       reading->checkpoint.source, module->path);
}

/* The columns of a query head, by the tensors. */
static enum status measure_head(const struct reading *reading, const struct layer *layer, size_t heads, size_t *columns)
{
    const struct file_tensor *query = input_file_find(&layer->weights, "W_query.weight");
    if (query == NULL)
        query = input_file_find(&layer->weights, "W_query_b.weight");
    if (query == NULL || query->tensor.shape[0] % heads != 0)
        return error_usage(reading->error,
                           "%s: %s: the rows of its query weight are not a multiple of %zu heads; set --heads",
                           reading->checkpoint.source, layer->module->path, heads);
    *columns = query->tensor.shape[0] / heads;
    return STATUS_OK;
}

/* Checks the columns of a value head against a GGUF's metadata; a latent has others. */
static enum status check_value(const struct reading *reading, const struct layer *layer, size_t kv_heads)
{
    const struct file_tensor *value = input_file_find(&layer->weights, "W_value.weight");
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(reading->config.root, "value_length");
    const size_t columns = value != NULL ? value->tensor.shape[0] / kv_heads : 0;
    if (value == NULL || !reading->config.of_gguf || !cJSON_IsNumber(said) || said->valuedouble == (double)columns)
        return STATUS_OK;
    return error_usage(reading->error,
                       "%s: attention.value_length is %g, but the tensors of %s have %zu columns for each of %zu heads "
                       "of values",
                       reading->config_path, said->valuedouble, layer->module->path, columns, kv_heads);
}

static void forget(struct layer_facts *facts, const char *setting)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->facts[i].setting, setting) != 0)
            facts->facts[count++] = facts->facts[i];
    facts->count = count;
}

/* Removes facts about norms, and a relative bias, that this module lacks. */
static void forget_absent(struct layer *layer)
{
    static const struct {
        const char *settings[2], *tensors[3];
    } OF[] = {
        {{"qk_norm", "qk_norm_eps"}, {"query_norm.weight", "key_norm.weight", "key_value_a_norm.weight"}},
        {{"norm", "norm_eps"}, {"norm.weight"}},
        {{"relative_distance"}, {"relative_bias.weight"}},
    };
    for (size_t i = 0; i < sizeof OF / sizeof OF[0]; i++) {
        bool there = i == 0 && layer->family->bare_norm;
        for (size_t k = 0; k < 3 && OF[i].tensors[k] != NULL; k++)
            there = there || input_file_find(&layer->weights, OF[i].tensors[k]) != NULL;
        for (size_t k = 0; k < 2 && OF[i].settings[k] != NULL && !there; k++)
            forget(&layer->facts, OF[i].settings[k]);
    }
}

/* Checks that query and key both have a norm, or neither. */
static enum status check_qk_norms(const struct reading *reading, const struct layer *layer)
{
    const bool query = input_file_find(&layer->weights, "query_norm.weight") != NULL,
               key = input_file_find(&layer->weights, "key_norm.weight") != NULL;
    return query == key ? STATUS_OK
                        : error_usage(reading->error, "%s: %s has a %s norm, but no %s norm; expected both or neither",
                                      reading->checkpoint.source, layer->module->path, query ? "query" : "key",
                                      query ? "key" : "query");
}

/* Checks the norms of query and key against the family or its config; an option may overrule them, and describes them
 * without a family. Those of a latent are checked with its other tensors. */
static enum status check_normed(const struct reading *reading, const struct layer *layer)
{
    const struct layer_fact *fact = layer_facts_find(&layer->facts, "qk_norm");
    const bool there = input_file_find(&layer->weights, "query_norm.weight") != NULL;
    if (fact == NULL && there && strcmp(layer->family->name, FAMILY_NONE) != 0)
        return error_usage(reading->error, "%s: %s has query and key norms, but family %s has none; set --qk-norm",
                           reading->checkpoint.source, layer->module->path, layer->family->name);
    if (fact == NULL || fact->source == FACT_OPTION || layer->family->latent || layer->family->bare_norm)
        return STATUS_OK;
    const enum family_normed normed = layer->family->normed;
    const bool none = strcmp(fact->text, "none") == 0;
    /* For some families only a config decides whether there must be one. */
    const bool open = normed != FAMILY_NORMED_ALL && normed != FAMILY_NORMED_CROSS && reading->config.root == NULL;
    if (none && there)
        return error_usage(reading->error, "%s: %s has query and key norms, but %s says there are none; set --qk-norm",
                           reading->checkpoint.source, layer->module->path, fact->key);
    return none || there || open ? STATUS_OK
                                 : error_usage(reading->error,
                                               "%s: %s has no query and key norms, but %s says there are some; if the "
                                               "model has none, type --qk-norm none",
                                               reading->checkpoint.source, layer->module->path, fact->key);
}

/* Checks a gate against the family's row, since few models compute with it alike. */
static enum status check_gate(const struct reading *reading, const struct layer *layer)
{
    const bool there = input_file_find(&layer->weights, "W_gate.weight") != NULL;
    if (there == (layer->family->gate != FAMILY_GATE_NONE))
        return STATUS_OK;
    return error_usage(reading->error, "%s: %s has %s, but family %s has %s; expected another --family",
                       reading->checkpoint.source, layer->module->path, there ? "a gate" : "no gate",
                       layer->family->name, there ? "none" : "one");
}

/* With a latent the tensors decide which columns rotate: those of the down projection that the up projection lacks. */
static enum status check_latent_columns(const struct reading *reading, const struct layer *layer)
{
    const struct layer_fact *fact = layer_facts_find(&layer->facts, "rope_columns");
    const struct file_tensor *down = input_file_find(&layer->weights, "W_key_value_a.weight"),
                             *up = input_file_find(&layer->weights, "W_key_value_b.weight");
    char expected[32];
    if (down == NULL || up == NULL || fact == NULL || fact->source == FACT_OPTION)
        return STATUS_OK;
    snprintf(expected, sizeof expected, "last:%zu", down->tensor.shape[0] - up->tensor.shape[1]);
    return strcmp(fact->text, expected) == 0
               ? STATUS_OK
               : error_usage(
                     reading->error,
                     "%s: rope_columns is %s according to %s, but the tensors of %s have %s; set --rope-columns",
                     reading->checkpoint.source, fact->text, fact->key, layer->module->path, expected);
}

/* Adds what nobody said: defaults, and the heads of keys by the tensors. */
static enum status add_defaults(const struct reading *reading, struct layer *layer, size_t columns, size_t kv_heads)
{
    char scale[32], heads[24];
    snprintf(scale, sizeof scale, "1/sqrt(%zu)", columns);
    snprintf(heads, sizeof heads, "%zu", kv_heads);
    const struct layer_fact usual[] = {{"causal", layer->module->cross ? "false" : "true", FACT_DEFAULT, NULL},
                                       {"rope", "none", FACT_DEFAULT, NULL},
                                       {"scale", scale, FACT_DEFAULT, NULL},
                                       {"kv_heads", heads, FACT_TENSORS, NULL}};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (layer_facts_find(&layer->facts, usual[i].setting) == NULL &&
            layer_facts_add(&layer->facts, &usual[i], reading->arena, reading->error) != STATUS_OK)
            return reading->error->status;
    return STATUS_OK;
}

/* Checks that the norm of a residual stream is known and present; "none" means that the layer has none before
 * attention. */
static enum status check_residual(const struct reading *reading, const struct layer *layer)
{
    const struct layer_fact *norm = layer_facts_find(&layer->facts, "norm");
    if (!reading->options->residual || (norm != NULL && strcmp(norm->text, "none") == 0))
        return STATUS_OK;
    if (norm == NULL && !layer->family->by_hand)
        return error_usage(reading->error,
                           "--residual: attn does not know the norm before attention in %s; give hidden states taken "
                           "after that norm, without --residual",
                           layer->family->title);
    if (input_file_find(&layer->weights, "norm.weight") == NULL &&
        !(layer->family->first_without_norm && layer->module->layer == 0))
        return error_usage(
            reading->error,
            "--residual: %s: no norm tensor before %s; give hidden states taken after that norm, without --residual",
            reading->checkpoint.source, layer->module->path);
    return STATUS_OK;
}

/* Puts the factors of key and value into their weights and biases. */
static enum status put_factors(const struct reading *reading, const struct layer *layer)
{
    static const struct {
        const char *setting, *tensors;
    } OF[] = {{"key_factor", "W_key."}, {"value_factor", "W_value."}};
    for (size_t i = 0; i < 2 * layer->weights.tensor_count; i++) {
        struct tensor *tensor = &layer->weights.tensors[i / 2].tensor, made;
        const struct layer_fact *fact = layer_facts_find(&layer->facts, OF[i % 2].setting);
        if (fact == NULL ||
            strncmp(layer->weights.tensors[i / 2].name, OF[i % 2].tensors, strlen(OF[i % 2].tensors)) != 0)
            continue;
        const double factor = strtod(fact->text, NULL);
        if (tensor_create(&made, DTYPE_F32, tensor->rank, tensor->shape, reading->arena, reading->error) != STATUS_OK)
            return reading->error->status;
        for (size_t at = 0; at < tensor_count(tensor); at++) {
            double number;
            tensor_load(tensor, at, 1, &number);
            number *= factor;
            tensor_store(&made, at, 1, &number);
        }
        *tensor = made;
    }
    return STATUS_OK;
}

/* Names the types of a GGUF's blocks: "Q4_K and Q6_K". */
static void name_blocks(struct reading *reading, const struct layer *layer)
{
    struct text text = text_begin(reading->quantised.from, sizeof reading->quantised.from);
    const struct named_tensor *stored;
    for (size_t i = 0; i < layer->weights.tensor_count; i++)
        if (checkpoint_look(&reading->checkpoint, layer->weights.tensors[i].origin, &stored, reading->error) ==
                STATUS_OK &&
            stored->block != NULL && strstr(text.bytes, stored->dtype) == NULL)
            text_add(&text, "%s%s", text.length > 0 ? " and " : "", stored->dtype);
}

static enum status read_module(struct reading *reading, struct layer *layer)
{
    struct unpack_plan plan = {0};
    size_t columns = 0;
    layer->config = reading->config_path;
    if (add_options(reading, &layer->facts) ||
        reading_heads(reading, layer->module, &layer->family, &plan, &layer->facts) != STATUS_OK)
        return reading->error->status;
    if (plan.heads == 0)
        return refuse_heads(reading, layer->module);
    if (module_unpack(&reading->modules, layer->module, &plan, reading->arena, &layer->weights, reading->error) ||
        measure_head(reading, layer, plan.heads, &columns) || check_value(reading, layer, plan.kv_heads) ||
        reading_facts(reading, layer->module, layer->family, columns, &layer->facts) ||
        check_residual(reading, layer) || check_qk_norms(reading, layer) || check_normed(reading, layer) ||
        check_gate(reading, layer) || check_latent_columns(reading, layer) || put_factors(reading, layer))
        return reading->error->status;
    if (reading->checkpoint.gguf != NULL)
        name_blocks(reading, layer);
    layer->reordered = plan.permuted && input_file_find(&layer->weights, "W_query.weight") != NULL;
    if (reading->quantised.from[0] != '\0')
        layer->dequantised = arena_copy(reading->arena, reading->quantised.from, reading->error);
    layer->config_quantised = *reading->quantised.method != '\0' && layer->dequantised != NULL;
    forget_absent(layer);
    if (config_images(&reading->config, layer->family, reading->arena, &layer->images_of, reading->error) ||
        layer_warn(reading, layer->module, layer->family, &layer->warnings) != STATUS_OK)
        return reading->error->status;
    return add_defaults(reading, layer, columns, plan.kv_heads);
}

bool layer_takes_norm_after(enum mistake id)
{
    return id == MISTAKE_LAYER_NORM_AFTER || id == MISTAKE_LAYER_NORM_AFTER_WEIGHT || id == MISTAKE_LAYER_OUT_NORMED;
}

/* Reads the layer with a mistake of it alone, or without (NULL): the norm after attention, an adapter or quantised
 * weights read otherwise. */
static enum status read_one(struct layer *layer, const struct options *options, const struct mistake_choice *choice,
                            struct arena *arena, struct error *error)
{
    struct reading reading;
    const size_t number = options_said(options, OPTION_LAYER) ? (size_t)options->layer : MODULE_NO_LAYER;
    struct layer_module module;
    struct naming_row naming;
    *layer = (struct layer){0};
    enum status status = reading_begin(&reading, options, arena, error);
    if (status == STATUS_OK)
        status = module_choose(&reading.modules, number, options->module, &layer->module, error);
    const struct layer_module *chosen = layer->module;
    if (choice != NULL && choice->id == MISTAKE_LAYER_ADAPTER)
        reading.adapter.mistake = (size_t)choice->form + 1;
    if (choice != NULL && choice->id == MISTAKE_LAYER_QUANTISED)
        reading.quantised.mistake = (size_t)choice->form + 1;
    if (status == STATUS_OK && choice != NULL && layer_takes_norm_after(choice->id)) {
        naming = *chosen->naming;
        naming.norm = MISTAKES[choice->id].forms[(size_t)choice->form];
        module = *chosen;
        module.naming = &naming;
        layer->module = &module;
    }
    if (status == STATUS_OK)
        status = read_module(&reading, layer);
    layer->module = chosen;
    reading_end(&reading);
    return status;
}

/* --- mistakes ---------------------------------------------------------------------------------------------------- */

/* What a mistake takes from another layer: tensors whose names begin and end so, or settings. */
static const struct part {
    enum mistake id;
    const char *tensors[2], *end;
    const char *settings[9];
} PARTS[] = {
    {MISTAKE_LAYER_QUERY, .tensors = {"W_query"}},
    {MISTAKE_LAYER_KEY, .tensors = {"W_key"}},
    {MISTAKE_LAYER_VALUE, .tensors = {"W_value"}},
    {MISTAKE_LAYER_KEY_VALUE, .tensors = {"W_key", "W_value"}},
    {MISTAKE_LAYER_OUT, .tensors = {"out_proj."}},
    {MISTAKE_LAYER_BIAS, .tensors = {"W_"}, .end = ".bias"},
    {MISTAKE_LAYER_NORM, .tensors = {"norm."}},
    {MISTAKE_LAYER_QK_NORM, .tensors = {"query_norm.", "key_norm."}},
    {MISTAKE_LAYER_SINKS, .tensors = {"sinks"}},
    {MISTAKE_LAYER_WINDOW, .settings = {"window"}},
    {MISTAKE_LAYER_ROPE, .settings = {"rope", "rope_theta", "rope_columns", "rope_scaling", "rope_axes"}},
    {MISTAKE_LAYER_KIND, .settings = {"window", "attention_chunk", "rope", "rope_theta", "rope_columns", "rope_scaling",
                                      "rope_axes", "qk_norm", "query_growth"}},
};

/* Its part; NULL: all of the layer. */
static const struct part *part_of(enum mistake id)
{
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (PARTS[i].id == id)
            return &PARTS[i];
    return NULL;
}

bool layer_takes_settings(enum mistake id)
{
    const struct part *part = part_of(id);
    return part != NULL && part->settings[0] != NULL;
}

/* Takes a setting, or its absence, from another layer; returns whether the layers differ. */
static bool take_setting(struct layer_facts *facts, const struct layer_facts *others, const char *setting)
{
    const struct layer_fact *own = layer_facts_find(facts, setting), *other = layer_facts_find(others, setting);
    if (own == other || (own != NULL && other != NULL && strcmp(own->text, other->text) == 0))
        return false;
    forget(facts, setting);
    if (other != NULL)
        facts->facts[facts->count++] = *other;
    return true;
}

static bool is_of_part(const struct part *part, const char *name)
{
    bool is = false;
    for (size_t i = 0; i < 2 && part->tensors[i] != NULL; i++)
        is = is || strncmp(name, part->tensors[i], strlen(part->tensors[i])) == 0;
    return is && (part->end == NULL || text_ends_in(name, part->end));
}

/* Takes a part of another layer, in place; returns whether the layers differ in it. */
static bool take_part(struct layer *layer, const struct layer *other, const struct part *part)
{
    bool differs = false;
    for (size_t i = 0; i < sizeof part->settings / sizeof part->settings[0] && part->settings[i] != NULL; i++)
        differs = take_setting(&layer->facts, &other->facts, part->settings[i]) || differs;
    for (size_t i = 0; i < layer->weights.tensor_count; i++) {
        struct file_tensor *own = &layer->weights.tensors[i];
        const struct file_tensor *theirs =
            is_of_part(part, own->name) ? input_file_find(&other->weights, own->name) : NULL;
        if (theirs == NULL || strcmp(theirs->origin, own->origin) == 0)
            continue;
        *own = *theirs;
        differs = true;
    }
    return differs;
}

enum { ROOM = 2 };

/* Gives the layer its own list of tensors, with room for more. */
static bool copy_tensors(struct layer *layer, struct arena *arena, struct error *error)
{
    const struct file_tensor *tensors = layer->weights.tensors;
    const size_t count = layer->weights.tensor_count;
    layer->weights.tensors = arena_allocate(arena, count + ROOM, sizeof *tensors, error);
    if (layer->weights.tensors != NULL && count > 0)
        memcpy(layer->weights.tensors, tensors, count * sizeof *tensors);
    return layer->weights.tensors != NULL;
}

/* Adds the norm of the other layer, if it is another one, as that after attention; returns whether it is. */
static bool add_norm_after(struct layer *layer, const struct layer *other)
{
    static const char *const NAMES[][2] = {{"norm.weight", "norm_after.weight"}, {"norm.bias", "norm_after.bias"}};
    const struct file_tensor *own = input_file_find(&layer->weights, NAMES[0][0]);
    const size_t before = layer->weights.tensor_count;
    for (size_t i = 0; i < ROOM; i++) {
        const struct file_tensor *norm = input_file_find(&other->weights, NAMES[i][0]);
        if (norm == NULL || (own != NULL && strcmp(norm->origin, own->origin) == 0))
            break;
        struct file_tensor *added = &layer->weights.tensors[layer->weights.tensor_count++];
        *added = *norm;
        added->name = NAMES[i][1];
    }
    input_file_sort(&layer->weights);
    return layer->weights.tensor_count > before;
}

enum status layer_change(struct layer *layer, const struct options *options, const struct mistake_choice *choice,
                         struct arena *arena, struct error *error)
{
    const bool own = MISTAKES[choice->id].number == NULL;
    const size_t number = (size_t)choice->form;
    struct options asked = *options;
    struct layer other;
    const struct part *part = part_of(choice->id);
    const char *reason = !own && number == layer->module->layer ? "it is the layer that you asked for"
                         : choice->id == MISTAKE_LAYER_ADAPTER && options->adapter == NULL ? "there is no adapter"
                         : choice->id == MISTAKE_LAYER_QUANTISED && !layer->config_quantised
                             ? "no config says how weights are quantised"
                             : NULL;
    if (reason == NULL && ((!own && layer_ask(&asked, layer, number, arena, error) != STATUS_OK) ||
                           read_one(&other, &asked, own ? choice : NULL, arena, error) != STATUS_OK))
        return error->status;
    const bool of_norm = layer_takes_norm_after(choice->id);
    if (reason == NULL && part == NULL && !of_norm)
        *layer = other;
    else if (reason == NULL && !copy_tensors(layer, arena, error))
        return error->status;
    else if (reason == NULL && of_norm)
        reason = add_norm_after(layer, &other) ? NULL : "the layer has no such norm after attention";
    else if (reason == NULL && !take_part(layer, &other, part))
        reason = "that layer has the same, or none";
    return reason == NULL
               ? STATUS_OK
               : error_usage(error, "--mistake: %s cannot be made here: %s", MISTAKES[choice->id].name, reason);
}

enum status layer_read(struct layer *layer, const struct options *options, struct arena *arena, struct error *error)
{
    enum status status = read_one(layer, options, NULL, arena, error);
    for (size_t i = 0; i < options->mistake_count && status == STATUS_OK; i++)
        if (MISTAKES[options->mistakes[i].id].slot == MISTAKE_SLOT_LAYER ||
            options->mistakes[i].id == MISTAKE_DRAW_LAYER)
            status = layer_change(layer, options, &options->mistakes[i], arena, error);
    return status;
}

enum status layer_ask(struct options *options, const struct layer *layer, size_t number, struct arena *arena,
                      struct error *error)
{
    const struct layer_module *module = layer->module;
    const size_t prefix = strlen(module->prefix);
    char path[4096];
    options->layer = number;
    options->origin[OPTION_LAYER] = ORIGIN_COMMAND_LINE;
    if (options->module == NULL || prefix < 2 || strncmp(options->module, module->prefix, prefix - 1) != 0)
        return STATUS_OK;
    size_t start = prefix - 1; /* of the layer's number, before the last dot of the prefix */
    while (start > 0 && options->module[start - 1] != '.')
        start--;
    const int length =
        snprintf(path, sizeof path, "%.*s%zu%s", (int)start, options->module, number, options->module + prefix - 1);
    if (length < 0 || (size_t)length >= sizeof path)
        return STATUS_OK;
    options->module = arena_text(arena, path, (size_t)length, error);
    return options->module == NULL ? error->status : STATUS_OK;
}
