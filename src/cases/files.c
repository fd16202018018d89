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
    snprintf(text, sizeof text, "%s%s%s", before, name, behind);
    return arena_copy(arena, text, error);
}

/* The tables of a result, by a writer. */
static enum status add_result(struct case_file *files, size_t *count, const char *name, struct result *result,
                              enum status (*write)(const struct writing *writing), struct arena *arena,
                              struct error *error)
{
    struct output *text = output_of_text(arena, error);
    const struct writing writing = {.result = result, .output = text, .arena = arena, .error = error};
    return text == NULL || name == NULL || write(&writing) != STATUS_OK ? error->status
                                                                        : add_file(files, count, name, text, error);
}

/* A tensor as .npy, all numbers rounded once to the dtype. */
static enum status add_tensor(struct case_file *files, size_t *count, const char *name, const struct case_made *made,
                              const struct tensor *tensor, enum dtype dtype, struct arena *arena, struct error *error)
{
    struct result alone = made->inputs;
    struct result_table table = {
        .name = name, .stage = STAGE_INPUTS, .rank = tensor->rank, .tensor = tensor, .dtype = dtype};
    memcpy(table.shape, tensor->shape, sizeof table.shape);
    alone.tables = &table;
    alone.table_count = 1;
    return add_result(files, count, name, &alone, write_npy, arena, error);
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

static void write_case(const struct case_made *made, const struct case_input *inputs, size_t count,
                       struct output *output)
{
    const struct case_row *row = made->row;
    struct json json = {.output = output};
    json_begin(&json);
    json_line(&json, 0);
    json_text(&json, "name", row->name);
    json_line(&json, 0);
    json_text(&json, "purpose", row->purpose);
    json_line(&json, 0);
    json_open(&json, "features", '['); /* as --can takes them */
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++)
        if (case_has(row, id))
            json_text(&json, NULL, CASE_FEATURE_NAMES[id].name);
    json_close(&json);
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
    json_key(&json, "window");
    output_print(output, "[%" PRId64 ", %" PRId64 "]", made->given_options.window_left,
                 made->given_options.window_right);
    json_line(&json, 0);
    json_open(&json, "inputs", '{');
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i].name, "grad_context") != 0)
            json_sizes(&json, inputs[i].name, inputs[i].tensor.shape, inputs[i].tensor.rank);
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

/* --- all of a case ------------------------------------------------------------------------------------------------ */

enum status case_files(const struct case_made *made, const struct options *options, struct case_file *files,
                       size_t *count, struct arena *arena, struct error *error)
{
    struct case_input inputs[CASES_MOST_FILES];
    struct output *text = output_of_text(arena, error);
    struct result tables = made->inputs;
    const size_t given =
        case_inputs(made->row, &made->sizes, options, &made->files, made->truth_job.mask.alibi_slopes, inputs);
    *count = 0;
    if (text == NULL)
        return error->status;
    write_case(made, inputs, given, text);
    if (add_file(files, count, "case.json", text, error) ||
        add_result(files, count, "inputs.safetensors", &tables, write_safetensors, arena, error))
        return error->status;
    for (size_t i = 0; i < given; i++) {
        const char *name = name_file("", inputs[i].name, ".npy", arena, error);
        if (add_tensor(files, count, name, made, &inputs[i].tensor, inputs[i].dtype, arena, error) != STATUS_OK)
            return error->status;
    }
    for (size_t i = 0; i < made->count; i++) {
        const struct case_result *result = &made->results[i];
        const char *name = name_file("expected_", result->name, ".npy", arena, error);
        const char *wide = name_file("expected_", result->name, "_f64.npy", arena, error);
        if (add_tensor(files, count, name, made, &result->truth, case_npy_dtype(result->dtype), arena, error) ||
            add_tensor(files, count, wide, made, &result->truth, DTYPE_F64, arena, error))
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
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++)
        if (case_has(row, id) && CASE_FEATURE_ROWS[id].tensor != NULL) {
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

/* "# edge-16/query.npy f32 1 4 16 32" */
static void write_file(const struct case_row *row, const char *before, const struct case_input *file, enum dtype dtype,
                       const char *behind, struct output *output)
{
    output_print(output, "# %s/%s%s%s.npy %s", row->name, before, file->name, behind, dtype_name(dtype));
    for (size_t axis = 0; axis < file->tensor.rank; axis++)
        output_print(output, " %zu", file->tensor.shape[axis]);
    output_print(output, "\n");
}

static enum status write_files(const struct case_row *row, const struct options *options, struct output *output,
                               struct error *error)
{
    struct arena arena = {0};
    struct job_files *drawn = arena_allocate(&arena, 1, sizeof *drawn, error);
    struct case_input inputs[CASES_MOST_FILES], outputs[CASES_MOST_RESULTS];
    struct case_sizes sizes;
    if (drawn != NULL && case_sizes_of(row, options, &sizes) &&
        case_draw(row, options, &sizes, true, drawn, &arena, error) == STATUS_OK) {
        const size_t given = case_inputs(row, &sizes, options, drawn, NULL, inputs);
        const size_t made = case_outputs(row, &sizes, options, inputs, given, outputs);
        for (size_t i = 0; i < given; i++)
            write_file(row, "", &inputs[i], inputs[i].dtype, "", output);
        for (size_t i = 0; i < made; i++) {
            write_file(row, "expected_", &outputs[i], outputs[i].dtype, "", output);
            write_file(row, "expected_", &outputs[i], DTYPE_F64, "_f64", output);
        }
    }
    arena_free(&arena);
    return error->status;
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
    output_print(text, "# file dtype shape\n");
    for (size_t i = 0; i < list->count; i++)
        if (write_files(&list->rows[i], options, text, error) != STATUS_OK)
            return error->status;
    return add_file(file, &count, CASES_INDEX, text, error);
}
