/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "write/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- tables as bytes ---------------------------------------------------------------------------------------------- */

static enum status add_file(struct case_file *files, size_t *count, const char *name, struct output *text,
                            struct error *error)
{
    struct case_file *file = &files[(*count)++];
    file->name = name;
    file->bytes = output_close_text(text, &file->length);
    return file->bytes != NULL ? STATUS_OK : error->status;
}

/* "expected_context_f64.npy", of three parts, in the arena; NULL where memory is short. */
static const char *name_file(const char *before, const char *name, const char *behind, struct arena *arena,
                             struct error *error)
{
    char text[128];
    const int length = snprintf(text, sizeof text, "%s%s%s", before, name, behind);
    return arena_text(arena, text, (size_t)length, error);
}

/* One table of a result by a writer, all numbers rounded once to the dtype. */
static enum status add_table(struct case_file *files, size_t *count, const char *name, const struct result *result,
                             const struct result_table *table, enum dtype dtype, struct arena *arena,
                             struct error *error)
{
    struct output *text = output_of_text(arena, error);
    struct result alone = *result;
    struct result_table rounded = *table;
    if (text == NULL || name == NULL)
        return error->status;
    rounded.dtype = dtype;
    alone.tables = &rounded;
    alone.table_count = 1;
    const struct writing writing = {.result = &alone, .output = text, .arena = arena, .error = error};
    if (write_npy(&writing) != STATUS_OK)
        return error->status;
    return add_file(files, count, name, text, error);
}

/* --- case.json ---------------------------------------------------------------------------------------------------- */

static void write_sizes(struct json *json, const struct case_sizes *sizes)
{
    json_size(json, "items", sizes->items);
    json_size(json, "heads", sizes->heads);
    json_size(json, "kv_heads", sizes->kv_heads);
    json_size(json, "queries", sizes->queries);
    json_size(json, "keys", sizes->keys);
    json_size(json, "d_head", sizes->d_head);
    json_size(json, "d_value", sizes->d_value);
}

static void write_case(const struct case_made *made, struct output *output)
{
    const struct case_row *row = made->row;
    struct json json = {.output = output};
    json_begin(&json);
    json_line(&json, 0);
    json_text(&json, "name", row->name);
    json_line(&json, 0);
    json_text(&json, "purpose", row->purpose);
    json_line(&json, 0);
    json_key(&json, "command");
    output_print(output, "\"attn sdpa inputs.safetensors%s%s%s\"", row->options[0] != '\0' ? " " : "", row->options,
                 case_has(row, CASE_GRAD) ? " --grad grad_context.npy" : "");
    json_line(&json, 0);
    write_json_settings(&json, "settings", &made->given);
    json_line(&json, 0);
    write_sizes(&json, &made->sizes);
    json_line(&json, 0);
    json_real(&json, "scale", made->given.scaling.factor);
    json_line(&json, 0);
    json_open(&json, "inputs", '{');
    for (size_t i = 0; i < made->inputs.table_count; i++)
        json_sizes(&json, made->inputs.tables[i].name, made->inputs.tables[i].shape, made->inputs.tables[i].rank);
    json_close(&json);
    json_line(&json, 0);
    json_open(&json, "expected", '{');
    for (size_t i = 0; i < made->count; i++) {
        const struct case_result *result = &made->results[i];
        json_line(&json, 2);
        json_open(&json, result->name, '{');
        json_sizes(&json, "shape", result->table.shape, result->table.rank);
        json_real(&json, "absolute", result->absolute);
        json_real(&json, "relative", result->relative);
        json_close(&json);
    }
    json_end(&json);
}

static enum status add_case(const struct case_made *made, struct case_file *files, size_t *count, struct arena *arena,
                            struct error *error)
{
    struct output *text = output_of_text(arena, error);
    if (text == NULL)
        return error->status;
    write_case(made, text);
    return add_file(files, count, "case.json", text, error);
}

/* --- all of a case ------------------------------------------------------------------------------------------------ */

static enum status add_inputs(struct case_made *made, struct case_file *files, size_t *count, struct arena *arena,
                              struct error *error)
{
    struct output *text = output_of_text(arena, error);
    if (text == NULL)
        return error->status;
    const struct writing writing = {.result = &made->inputs, .output = text, .arena = arena, .error = error};
    if (write_safetensors(&writing) != STATUS_OK)
        return error->status;
    return add_file(files, count, "inputs.safetensors", text, error);
}

enum status case_files(struct case_made *made, const struct options *options, struct case_file *files, size_t *count,
                       struct arena *arena, struct error *error)
{
    /* .npy has no bfloat16: it holds such numbers as float32 */
    const enum dtype dtype = dtype_npy(options->dtype) != NULL ? options->dtype : DTYPE_F32;
    *count = 0;
    if (add_case(made, files, count, arena, error) || add_inputs(made, files, count, arena, error))
        return error->status;
    for (size_t i = 0; i < made->inputs.table_count; i++) {
        const struct result_table *table = &made->inputs.tables[i];
        const char *name = name_file("", table->name, ".npy", arena, error);
        const enum dtype own = dtype_is_working(table->dtype) ? dtype : table->dtype;
        if (add_table(files, count, name, &made->inputs, table, own, arena, error) != STATUS_OK)
            return error->status;
    }
    const struct result_table *gradient = result_table_of(&made->truth, STAGE_GRAD_CONTEXT);
    if (gradient != NULL &&
        add_table(files, count, "grad_context.npy", &made->truth, gradient, dtype, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < made->count; i++) {
        const struct case_result *result = &made->results[i];
        const char *name = name_file("expected_", result->name, ".npy", arena, error);
        const char *wide = name_file("expected_", result->name, "_f64.npy", arena, error);
        const enum dtype own = result->optional ? result->dtype : dtype;
        if (add_table(files, count, name, &made->truth, &result->table, own, arena, error) ||
            add_table(files, count, wide, &made->truth, &result->table, DTYPE_F64, arena, error))
            return error->status;
    }
    return STATUS_OK;
}

/* --- the index ---------------------------------------------------------------------------------------------------- */

/* The value of a row's option, or NULL; --causal has none. */
static const char *option_of(const struct case_row *row, const char *name)
{
    const char *found = strstr(row->options, name);
    return found != NULL ? found + strlen(name) : NULL;
}

/* What a kernel needs besides the causal rule and a scale, "window=16,0+sinks", or "-". */
static void write_also(const struct case_row *row, struct output *output)
{
    static const char *const NAMES[] = {"align", "window", "attention-chunk", "prefix", "softcap", "alibi"};
    const char *between = "";
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = option_of(row, NAMES[i]);
        if (value == NULL)
            continue;
        output_print(output, "%s%s=%.*s", between, NAMES[i], (int)strcspn(value + 1, " "), value + 1);
        between = "+";
    }
    for (int id = 0; id < CASE_FEATURE_COUNT; id++)
        if (case_has(row, (enum case_feature)id) && CASE_FEATURE_ROWS[id].tensor != NULL) {
            output_print(output, "%s%s", between, CASE_FEATURE_ROWS[id].tensor);
            between = "+";
        }
    if (between[0] == '\0')
        output_print(output, "-");
}

static void write_row(const struct case_row *row, const struct options *options, struct output *output)
{
    struct case_sizes sizes;
    if (!case_sizes_of(row, options, &sizes))
        return;
    const char *scale = option_of(row, "--scale ");
    output_print(output, "%s %zu %zu %zu %zu %zu %zu %zu %d ", row->name, sizes.items, sizes.heads, sizes.kv_heads,
                 sizes.queries, sizes.keys, sizes.d_head, sizes.d_value, option_of(row, "--causal") != NULL);
    json_real(&(struct json){.output = output}, NULL,
              scale != NULL ? strtod(scale, NULL) : 1 / sqrt((double)sizes.d_head));
    output_print(output, " ");
    write_also(row, output);
    output_print(output, " %s\n", row->purpose);
}

void case_settings(const struct options *options, struct output *output)
{
    output_print(output, "--heads %" PRIu64 " --d-head %" PRIu64 " --dtype %s --max-tokens %" PRIu64 " --seed %" PRIu64,
                 options->heads, options->d_head, dtype_name(options->dtype), options->max_tokens, options->seed);
    if (options->kv_heads > 0)
        output_print(output, " --kv-heads %" PRIu64, options->kv_heads);
    if (options->d_value > 0)
        output_print(output, " --d-value %" PRIu64, options->d_value);
    if (options->layout != CASE_LAYOUT_BHTD)
        output_print(output, " --layout %s", OPTIONS[OPTION_LAYOUT].choices[options->layout]);
    if (options->can != NULL)
        output_print(output, " --can %s", options->can);
    if (options->only != NULL)
        output_print(output, " --only %s", options->only);
}

enum status case_index(const struct case_list *list, const struct options *options, struct case_file *file,
                       struct arena *arena, struct error *error)
{
    struct output *text = output_of_text(arena, error);
    size_t count = 0;
    if (text == NULL)
        return error->status;
    output_print(text, CASES_HEAD);
    case_settings(options, text);
    output_print(text, "\n# name B H H_kv Tq Tk d d_v causal scale also purpose\n");
    for (size_t i = 0; i < list->count; i++)
        write_row(&list->rows[i], options, text);
    return add_file(file, &count, CASES_INDEX, text, error);
}
