/* SPDX-License-Identifier: MIT */
#include "write/json.h"

#include "base/decimal.h"
#include "write/writing.h"

#include <math.h>

void write_json_number(struct json *json, const char *key, double number, enum dtype dtype)
{
    char text[DECIMAL_BYTES];
    if (!isfinite(number)) {
        json_real(json, key, number);
        return;
    }
    json_key(json, key);
    output_write(json->output, text, dtype_decimal(dtype, number, text));
}

void write_json_stages(struct json *json, const char *key, uint64_t stages)
{
    json_open(json, key, '[');
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage))
            json_text(json, NULL, stage_name(stage));
    json_close(json);
}

void write_json_settings(struct json *json, const char *key, const struct problem *problem)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < problem->record.setting_count; i++) {
        const struct setting *setting = &problem->record.settings[i];
        if (setting->kind == SETTING_TEXT) {
            json_text(json, setting->name, setting->text);
        } else {
            json_key(json, setting->name);
            output_print(json->output, "%s", setting->text);
        }
    }
    json_close(json);
}

static void write_labels(struct json *json, const char *key, const struct token_labels *labels)
{
    if (labels->nested)
        json_open(json, key, '[');
    for (size_t list = 0; list < labels->lists; list++) {
        if (list > 0)
            json_line(json, 2);
        json_open(json, labels->nested ? NULL : key, '[');
        for (size_t token = 0; token < labels->count; token++)
            json_text(json, NULL, labels->texts[list * labels->count + token]);
        json_close(json);
    }
    if (labels->nested)
        json_close(json);
}

void write_json_tokens(struct json *json, const char *key, const struct problem *problem)
{
    write_labels(json, key, problem_tokens(problem));
}

void write_json_key_tokens(struct json *json, const char *key, const struct problem *problem)
{
    write_labels(json, key, &problem->labels.keys);
}

void write_json_vocabulary(struct json *json, const char *key, const struct problem *problem)
{
    json_open(json, key, '{');
    write_labels(json, "words", &problem->labels.words);
    json_close(json);
}

void write_json_head_names(struct json *json, const char *key, const struct problem *problem)
{
    write_labels(json, key, &problem->labels.heads);
}

/* How many leading axes of the table begin with this matrix: it is the first along them and all further ones. */
static size_t axes_begun(const struct result_table *table, size_t matrix)
{
    size_t begun = 0;
    for (size_t axis = table->rank < 2 ? 0 : table->rank - 2; axis-- > 0; begun++) {
        if (matrix % table->shape[axis] != 0)
            break;
        matrix /= table->shape[axis];
    }
    return begun;
}

static void write_matrix(struct json *json, struct result *result, const struct result_table *table, size_t matrix)
{
    const size_t rows = result_rows(table), columns = result_columns(table);
    for (size_t row = 0; row < rows && !json->output->failed; row++) {
        json_break(json, 2);
        result_row(result, table, matrix, row, result->numbers);
        json_open(json, NULL, '[');
        for (size_t column = 0; column < columns; column++)
            write_json_number(json, NULL, result->numbers[column], table->dtype);
        json_close(json);
    }
}

static void write_table(struct json *json, struct result *result, const struct result_table *table)
{
    const size_t matrices = result_matrices(table), nested = table->rank > 1;
    json_key(json, table->name);
    json->begun = false; /* its brackets follow */
    for (size_t matrix = 0; matrix < matrices; matrix++) {
        json_break(json, 2);
        for (size_t axis = axes_begun(table, matrix) + nested; axis > 0; axis--)
            json_open(json, NULL, '[');
        write_matrix(json, result, table, matrix);
        for (size_t axis = axes_begun(table, matrix + 1) + nested; axis > 0; axis--)
            json_close(json);
    }
}

enum status write_json(const struct writing *writing)
{
    struct result *result = writing->result;
    const struct problem *problem = result->problem;
    struct json json = {.output = writing->output, .lines = true};
    json_begin(&json);
    json_text(&json, "mechanism", MECHANISMS[problem->mechanism].name);
    write_json_settings(&json, "settings", problem);
    if (problem->layer != NULL && problem->layer->dequantised != NULL)
        json_text(&json, "dequantised", problem->layer->dequantised);
    if (problem->layer != NULL && problem->layer->reordered)
        json_truth(&json, "reordered", true);
    if (problem_tokens(problem)->texts != NULL)
        write_json_tokens(&json, "tokens", problem);
    if (problem->labels.queries_differ && problem->labels.keys.texts != NULL)
        write_json_key_tokens(&json, "key_tokens", problem);
    if (problem->labels.words.texts != NULL)
        write_json_vocabulary(&json, "vocabulary", problem);
    if (problem->labels.heads.texts != NULL)
        write_json_head_names(&json, "head_names", problem);
    if (problem->chosen.row_count > 0 && problem->chosen.row_count != problem->size.queries) {
        json_open(&json, "queries", '[');
        for (size_t row = 0; row < problem->chosen.row_count; row++)
            json_size(&json, NULL, problem->chosen.rows[row] + 1);
        json_close(&json);
    }
    if (result_layout(result) != NULL)
        json_text(&json, "layout", result_layout(result));
    if (result->lacks[0] != '\0')
        json_text(&json, "lacks", result->lacks);
    for (size_t i = 0; i < result->table_count; i++)
        write_table(&json, result, &result->tables[i]);
    json_end(&json);
    return STATUS_OK;
}
