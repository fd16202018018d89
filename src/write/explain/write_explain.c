/* SPDX-License-Identifier: MIT */
#include "write/explain/write_explain.h"

#include "model/stages.h"
#include "stage/stage.h"
#include "write/head_lines.h"
#include "write/text/text.h"

#include <math.h>
#include <string.h>

/* --- the result's rows ------------------------------------------------------------------------------------------- */

/* The matrix of a stage that belongs to an item and a query head. */
static size_t matrix_of(const struct problem *problem, enum stage stage, size_t item, size_t head)
{
    if (!stage_exists(stage) || problem_is_side_by_side(problem, stage))
        return item;
    if (stage_is_of_keys(stage))
        return item * problem->size.kv_heads + head / (problem->size.heads / problem->size.kv_heads);
    return item * problem->size.heads + head;
}

/* The table of a stage; of parameter gradients that of the chosen cell. */
static const struct result_table *table_of(const struct result *result, enum stage stage)
{
    const char *name = result->problem->chosen.cell_name;
    for (size_t i = 0; i < result->table_count && STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS && name != NULL;
         i++)
        if (strcmp(result->tables[i].name, name) == 0)
            return &result->tables[i];
    return result_table_of(result, stage);
}

static void load_row(void *context, enum stage stage, struct explain_place place, bool back, double *numbers)
{
    struct result *result = context;
    if (back) {
        backward_row(result->backward, stage, place.item, place.head, place.row, numbers);
        return;
    }
    const struct result_table *table = table_of(result, stage);
    const size_t matrix = matrix_of(result->problem, stage, place.item, place.head), rows = result_rows(table);
    if (stage_is_of_mask(stage))
        result_row(result, table, place.item, place.row, numbers);
    else if (STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS)
        result_row(result, table, 0, place.row, numbers);
    else if (stage_has_columns(stage))
        result_row(result, table, matrix, place.row, numbers);
    else
        result_row(result, table, matrix / rows, matrix % rows, numbers);
}

static const bool *kept_row(void *context, size_t row, bool back)
{
    const struct result *result = context;
    return row_stream_kept(back ? &result->backward->rows : &result->rows, row);
}

/* The largest magnitude of the shown rows of a matrix; rows NULL: all rows. */
static double magnitude_of_rows(const struct explanation *e, struct result *result, const struct result_table *table,
                                size_t matrix, const size_t *rows, size_t count)
{
    const struct explain_range range = {0, count, false};
    double magnitude = 0;
    for (size_t i = 0; i < count; i = explain_next(e, range, i)) {
        result_row(result, table, matrix, rows != NULL ? rows[i] : i, e->operand);
        for (size_t column = 0; column < result_columns(table); column++)
            magnitude = fmax(magnitude, isfinite(e->operand[column]) ? fabs(e->operand[column]) : 0);
    }
    return magnitude;
}

/* Of the rows of inputs, key or value behind a cell, which may lie in the middle. */
static double magnitude_of_cell(struct explanation *e, struct result *result, const struct result_table *table,
                                size_t matrix)
{
    const struct problem *problem = result->problem;
    const enum stage from = stage_is_of_keys(problem->chosen.cell.stage) ? problem->chosen.cell.stage : STAGE_VALUE;
    struct explain_range heads = explain_heads(e, from);
    struct explain_place place = {0, 0, 0};
    double magnitude = 0;
    result_place(table, matrix, &place.item, &place.head);
    if (table->stage == STAGE_INPUTS)
        magnitude = magnitude_of_rows(e, result, table, matrix, problem->chosen.rows, 1);
    if (stage_exists(table->stage))
        heads = (struct explain_range){place.head, place.head + 1, false};
    else if (table->stage != problem_source(problem, from))
        return magnitude;
    for (place.head = heads.first; place.head < heads.end; place.head++) {
        explain_list_rows(e, stage_exists(table->stage) ? table->stage : from, place);
        magnitude = fmax(magnitude, magnitude_of_rows(e, result, table, matrix, e->rows, e->row_count));
    }
    return magnitude;
}

/* Of the rows of a table that are shown: those at its ends, and those behind a cell. */
static double magnitude_of_table(struct explanation *e, struct result *result, const struct result_table *table)
{
    const bool of_tokens = !stage_exists(table->stage) || stage_is_of_keys(table->stage);
    double magnitude = 0;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++) {
        magnitude = fmax(magnitude, magnitude_of_rows(e, result, table, matrix, NULL, result_rows(table)));
        if (result->problem->chosen.has_cell && of_tokens)
            magnitude = fmax(magnitude, magnitude_of_cell(e, result, table, matrix));
    }
    return magnitude;
}

static void choose_notation(struct explanation *e, struct result *result)
{
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        const bool masks = table->stage == STAGE_INPUTS && table->tensor != &result->problem->given.bare;
        if (table->stage != STAGE_PARAMETERS && !masks)
            e->exponent[table->stage] = text_wants_exponent(magnitude_of_table(e, result, table));
    }
}

/* Whether all numbers of a table are whole; minus infinity is none. */
static bool is_whole(struct result *result, const struct result_table *table, double *numbers)
{
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < result_rows(table); row++) {
            result_row(result, table, matrix, row, numbers);
            for (size_t column = 0; column < result_columns(table); column++)
                if (isnan(numbers[column]) || (isfinite(numbers[column]) && numbers[column] != floor(numbers[column])))
                    return false;
        }
    return true;
}

/* The kind of a parameter, by the projection in its name. */
static int kind_of(const struct result_table *table)
{
    static const char *const NAMES[] = {"W_query", "W_key", "W_value"};
    if (table->stage != STAGE_PARAMETERS)
        return (int)table->stage;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (strstr(table->name, NAMES[id]) != NULL)
            return EXPLAIN_WEIGHTS + id;
    return EXPLAIN_WEIGHTS + PROJECTION_COUNT;
}

/* Which kinds have whole numbers alone, in all of their tables. */
static void choose_whole(struct explanation *e, struct result *result)
{
    bool other[EXPLAIN_KINDS] = {false};
    for (size_t i = 0; i < result->table_count; i++) {
        const int kind = kind_of(&result->tables[i]);
        e->whole[kind] = !other[kind] && is_whole(result, &result->tables[i], e->operand);
        other[kind] = !e->whole[kind];
    }
}

/* --- what is explained ------------------------------------------------------------------------------------------- */

/* The listed rows of one item and head. */
static void write_listed(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range listed = {0, e->row_count, false};
    for (size_t i = 0, next; i < listed.end; i = next) {
        next = explain_next(e, listed, i);
        place.row = e->rows[i];
        stage_explain(e, stage, place);
        if (next > i + 1 && !e->lines.measuring)
            output_print(e->lines.output, "  … %zu more %s …\n", next - i - 1,
                         explain_by_token(e->problem, stage) ? "tokens" : "queries");
    }
}

/* Every row of an explained stage, as worked lines. */
static void write_rows(struct explanation *explanation, enum stage stage)
{
    const struct explain_range items = explain_items(explanation, stage), heads = explain_heads(explanation, stage);
    struct explain_place place = {0, 0, 0};
    for (place.item = items.first; place.item < items.end; place.item++)
        for (place.head = heads.first; place.head < heads.end; place.head++) {
            explain_list_rows(explanation, stage, place);
            write_listed(explanation, stage, place);
            explain_left_out(explanation, stage, place);
        }
}

static enum status write_stages(const struct writing *writing, struct explanation *explanation)
{
    const struct problem *problem = writing->result->problem;
    char formula[RESULT_FORMULA_BYTES];
    for (size_t i = 0; i < problem->chosen.explained_count && !writing->output->failed; i++) {
        const enum stage stage = problem->chosen.explained[i];
        if (!stage_is_explained(problem, stage)) {
            if (write_text_tables(writing, stage) != STATUS_OK)
                return writing->error->status;
            continue;
        }
        worked_line_measure(&explanation->lines);
        write_rows(explanation, stage);
        worked_line_print(&explanation->lines);
        stage_formula(problem, stage, formula, sizeof formula);
        write_text_heading(writing, table_of(writing->result, stage)->name, formula, WRAP_COLUMNS);
        output_print(writing->output, "\n");
        write_rows(explanation, stage);
    }
    return STATUS_OK;
}

enum status write_explanation(const struct writing *writing, bool by_hand)
{
    struct result *result = writing->result;
    struct explanation explanation;
    if (explain_create(&explanation, result->problem, (struct explain_source){result, load_row, kept_row},
                       result->widest, writing->precision, writing->full, writing->output, writing->arena,
                       writing->error) != STATUS_OK)
        return writing->error->status;
    choose_notation(&explanation, result);
    if (by_hand)
        choose_whole(&explanation, result);
    else
        head_lines_write(result->problem, WRAP_COLUMNS, writing->color, writing->output);
    return write_stages(writing, &explanation);
}
