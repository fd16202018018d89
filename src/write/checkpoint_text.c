/* SPDX-License-Identifier: MIT */
#include "write/checkpoint_text.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "base/wrap.h"
#include "write/table_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the modules of a checkpoint --------------------------------------------------------------------------------- */

/* The end of a run of layers with the same step between them. */
static size_t run_of(const struct listed_row *row, size_t first, size_t step)
{
    size_t end = first + 1;
    while (end < row->count && row->layers[end] == row->layers[end - 1] + step)
        end++;
    return end;
}

/* "layers 0-31", or at a regular step "0, 6, 12, ..., 30". */
static void write_layers(const struct listed_row *row, struct wrap *line)
{
    if (row->layers[0] == MODULE_NO_LAYER) {
        wrap_add(line, "no layer");
        return;
    }
    const char *name = row->count == 1 ? "layer " : "layers ";
    for (size_t i = 0; i < row->count; name = "") {
        const size_t step = i + 1 < row->count ? row->layers[i + 1] - row->layers[i] : 1, end = run_of(row, i, step);
        const size_t first = row->layers[i], last = row->layers[end - 1];
        if (end - i > 4 && step > 1)
            wrap_add(line, "%s%zu, %zu, ..., %zu", name, first, first + step, last);
        else if (end - i > 1 && step == 1)
            wrap_add(line, "%s%zu-%zu", name, first, last);
        else
            wrap_add(line, "%s%zu", name, first);
        i = (end - i > 4 && step > 1) || step == 1 ? end : i + 1;
    }
}

/* The bytes read for one layer, in the unit that fits. */
static void write_bytes(double bytes, struct wrap *line)
{
    static const char *const UNITS[] = {"bytes", "KB", "MB", "GB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit < 3; unit++)
        bytes /= 1000;
    wrap_add(line, "%.*f %s per layer", unit == 0 || bytes >= 100 ? 0 : 1, bytes, UNITS[unit]);
}

/* Settings that tell modules apart, and their words; usual values are left out. */
static const struct {
    const char *setting, *words, *usual;
} TOLD[] = {
    {"window", "window ", "-1,-1"},
    {"rope", "rope ", "none"},
    {"rope_theta", "theta ", NULL},
    {"rope_columns", "rotated columns ", NULL},
    {"rope_scaling", "scaling ", NULL},
    {"rope_axes", "axes ", NULL},
    {"query_growth", "query growth ", NULL},
    {"alibi", "alibi ", "off"},
    {"scale", "scale ", NULL},
    {"softcap", "softcap ", "0"},
    {"clip", "clip ", "0"},
    {"qk_norm", "norm of query and key ", "none"},
    {"value_norm", "norm of value ", "none"},
};

static void write_facts(const struct listed_row *row, struct wrap *line)
{
    const struct layer_fact *causal = layer_facts_find(&row->facts, "causal");
    const struct layer_fact *rope = layer_facts_find(&row->facts, "rope");
    const bool rotates = rope != NULL && strcmp(rope->text, "none") != 0;
    char shown[64];
    if (row->heads > 0 && row->columns > 0)
        wrap_add(line, "%zu head%s of %zu", row->heads, row->heads == 1 ? "" : "s", row->columns);
    if (row->kv_heads != row->heads)
        wrap_add(line, "%zu for key and value", row->kv_heads);
    if (row->cross)
        wrap_add(line, "cross-attention");
    else if (causal != NULL)
        wrap_add(line, "%s", strcmp(causal->text, "true") == 0 ? "causal" : "not causal");
    for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++) {
        const struct layer_fact *fact = layer_facts_find(&row->facts, TOLD[i].setting);
        const bool idle = strncmp(TOLD[i].setting, "rope", 4) == 0 && !rotates;
        if (fact == NULL || idle ||
            (strcmp(fact->setting, "scale") == 0 && strtod(fact->text, NULL) == 1 / sqrt((double)row->columns)) ||
            (TOLD[i].usual != NULL && strcmp(fact->text, TOLD[i].usual) == 0))
            continue;
        text_shown(fact->text, sizeof shown - 1, shown, sizeof shown);
        wrap_add(line, "%s%s", TOLD[i].words, shown);
    }
}

static void write_row(const struct listed_row *row, size_t columns, struct output *output)
{
    struct wrap line = {.output = output, .columns = memory_smaller(columns, WRAP_COLUMNS) - 4, .indent = 4};
    output_print(output, "\n  %s\n    ", row->path[0] != '\0' ? row->path : "(without a path)");
    write_layers(row, &line);
    if (row->d_in > 0)
        wrap_add(&line, "d_in %zu", row->d_in);
    if (row->why[0] == '\0')
        write_facts(row, &line);
    write_bytes(row->bytes, &line);
    output_print(output, "\n");
    if (row->why[0] != '\0')
        output_print(output, "    attn does not compute it: %s\n", row->why);
}

/* The families of the modules: towers may have their own. */
static void write_families(const struct listing *listing, struct wrap *line)
{
    for (size_t i = 0; i < listing->count; i++) {
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || listing->rows[k].family == listing->rows[i].family;
        if (!told && listing->rows[i].why[0] == '\0' && listing->rows[i].family->by_hand)
            wrap_add(line, "no family");
        else if (!told && listing->rows[i].why[0] == '\0')
            wrap_add(line, "%s (%s)", listing->rows[i].family->title, listing->rows[i].family->name);
    }
}

static void listing_text(const struct listing *listing, struct output *output)
{
    const size_t columns = output_columns(output);
    struct wrap line = {.output = output, .columns = memory_smaller(columns, WRAP_COLUMNS), .indent = 2};
    char shown[TEXT_PATH_BYTES];
    text_shown(listing->source, SIZE_MAX, shown, sizeof shown);
    wrap_add(&line, "checkpoint %s", shown);
    write_families(listing, &line);
    output_print(output, "\n");
    for (size_t i = 0; i < listing->count; i++)
        write_row(&listing->rows[i], columns, output);
}

static void write_row_json(struct json *json, const struct listed_row *row)
{
    size_t layers = 0;
    while (layers < row->count && row->layers[layers] != MODULE_NO_LAYER)
        layers++;
    json_line(json, 2);
    json_open(json, NULL, '{');
    json_text(json, "path", row->path);
    json_sizes(json, "layers", row->layers, layers);
    json_truth(json, "cross", row->cross);
    json_text(json, "family", row->why[0] == '\0' ? row->family->name : "");
    if (row->why[0] != '\0')
        json_text(json, "refused", row->why);
    json_line(json, 3);
    json_size(json, "heads", row->heads);
    json_size(json, "kv_heads", row->kv_heads);
    json_size(json, "d_head", row->columns);
    json_size(json, "d_in", row->d_in);
    json_real(json, "bytes", row->bytes);
    json_line(json, 3);
    json_open(json, "settings", '{');
    for (size_t i = 0; i < row->facts.count; i++)
        json_text(json, row->facts.facts[i].setting, row->facts.facts[i].text);
    json_close(json);
    json_close(json);
}

static void listing_json(const struct listing *listing, struct output *output)
{
    struct json json = {.output = output};
    json_begin(&json);
    json_text(&json, "checkpoint", listing->source);
    json_open(&json, "modules", '[');
    for (size_t i = 0; i < listing->count; i++)
        write_row_json(&json, &listing->rows[i]);
    output_print(output, "\n");
    json_end(&json);
}

#define listing_no NULL
#define LISTING(id, name, writer, checker, report, ...) [FORMAT_##id] = listing_##report,

void write_listing(const struct listing *listing, enum format format, struct output *output)
{
    static void (*const LISTINGS[FORMAT_COUNT])(const struct listing *, struct output *) = {FORMAT_ROWS(LISTING)};
    LISTINGS[format](listing, output);
}

/* --- where each setting is from ----------------------------------------------------------------------------------- */

/* The source of a setting, and its key: "config  rope_parameters.rope_theta". */
static void write_fact(const struct layer_fact *fact, size_t names, size_t values, struct output *output)
{
    char shown[96];
    const char *source = layer_fact_source_word(fact->source);
    output_print(output, "  ");
    table_text_cell(output, fact->setting, strlen(fact->setting), names + 2, false);
    const size_t width = text_shown(fact->text, 60, shown, sizeof shown);
    table_text_cell(output, shown, width, memory_larger(values, width) + 2, false);
    if (fact->key == NULL) {
        output_print(output, "%s\n", source);
        return;
    }
    table_text_cell(output, source, strlen(source), 9, false);
    text_shown(fact->key, 60, shown, sizeof shown);
    output_print(output, "%s\n", shown);
}

static void config_json(const struct layer *layer, struct output *output)
{
    struct json json = {.output = output};
    json_begin(&json);
    json_text(&json, "module", layer->module->path);
    json_text(&json, "family", layer->family->name);
    if (layer->dequantised != NULL)
        json_text(&json, "dequantised", layer->dequantised);
    if (layer->reordered)
        json_truth(&json, "reordered", true);
    json_open(&json, "settings", '[');
    for (size_t i = 0; i < layer->facts.count; i++) {
        const struct layer_fact *fact = &layer->facts.facts[i];
        json_line(&json, 2);
        json_open(&json, NULL, '{');
        json_text(&json, "setting", fact->setting);
        json_text(&json, "value", fact->text);
        json_text(&json, "source", layer_fact_source_word(fact->source));
        if (fact->key != NULL)
            json_text(&json, "key", fact->key);
        json_close(&json);
    }
    output_print(output, "\n");
    json_end(&json);
}

static void config_text(const struct layer *layer, struct output *output)
{
    size_t names = 0, values = 0;
    char shown[TEXT_PATH_BYTES];
    output_print(output, "%s of %s: %s (%s)\n", layer->module->path, layer->weights.source, layer->family->title,
                 layer->family->name);
    if (layer->config != NULL) {
        text_shown(layer->config, SIZE_MAX, shown, sizeof shown);
        output_print(output, "config %s\n", shown);
    }
    if (layer->dequantised != NULL)
        output_print(output, "weights dequantised from %s\n", layer->dequantised);
    if (layer->reordered)
        output_print(output, "rows of query and key put back in order\n");
    for (size_t i = 0; i < layer->facts.count; i++) {
        names = memory_larger(names, strlen(layer->facts.facts[i].setting));
        values = memory_larger(values, text_shown(layer->facts.facts[i].text, 60, shown, sizeof shown));
    }
    output_print(output, "\n");
    for (size_t i = 0; i < layer->facts.count; i++)
        write_fact(&layer->facts.facts[i], names, memory_smaller(values, 24), output);
    output_print(output, "\ntensors\n");
    for (size_t i = 0; i < layer->weights.tensor_count; i++) {
        const struct file_tensor *tensor = &layer->weights.tensors[i];
        char shape[TENSOR_SHAPE_BYTES];
        output_print(output, "  %-24s  %-5s %-14s  ", tensor->name, dtype_name(tensor->tensor.dtype),
                     tensor_shape_text(&tensor->tensor, shape));
        text_shown(tensor->origin != NULL ? tensor->origin : "", SIZE_MAX, shown, sizeof shown);
        output_print(output, "%s\n", shown);
    }
}

#define config_no NULL
#define CONFIG(id, name, writer, checker, report, ...) [FORMAT_##id] = config_##report,

void write_config(const struct layer *layer, enum format format, struct output *output)
{
    static void (*const CONFIGS[FORMAT_COUNT])(const struct layer *, struct output *) = {FORMAT_ROWS(CONFIG)};
    CONFIGS[format](layer, output);
}
