/* SPDX-License-Identifier: MIT */
#include "worksheet/sheet.h"

#include "model/stages.h"
#include "stage/softmax.h"
#include "write/explain/write_explain.h"
#include "write/table_text.h"
#include "write/writing.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POWERS_MOST = 11, /* for more, use a calculator */
    POWERS_LEAST = 5, /* so that the table does not show which are needed */
    HAND_WIDTH = 7,   /* columns of a blank that a hand can write in; */
    WHOLE_WIDTH = 4,  /* where a line of text has no room for these, of a whole number, and besides decimals; */
    LINE_WIDTH = 68,  /* that is all blanks of a row, with a column between them */
};

/* The relative error of a float32 number that shows as a whole one. */
static const double SHOWN = 1e-6;

struct making {
    const struct sheet_plan *plan;
    struct result *result;
    struct arena *arena;
    struct error *error;
};

static const char *keep(const struct making *making, const char *text)
{
    return arena_copy(making->arena, text, making->error);
}

/* --- one table ---------------------------------------------------------------------------------------------------- */

static bool is_whole(double number)
{
    return !isfinite(number) || number == floor(number);
}

/* A table of that shape under its title, its cells and labels NULL. */
static enum status make_cells(const struct making *making, struct sheet_table *table, size_t rows, size_t columns)
{
    struct arena *arena = making->arena;
    *table = (struct sheet_table){.title = table->title, .corner = "", .rows = rows, .columns = columns};
    table->row_labels = arena_allocate(arena, rows, sizeof *table->row_labels, making->error);
    table->column_labels = arena_allocate(arena, columns, sizeof *table->column_labels, making->error);
    table->cells = arena_allocate(arena, rows * columns, sizeof *table->cells, making->error);
    return table->row_labels == NULL || table->column_labels == NULL || table->cells == NULL ? making->error->status
                                                                                             : STATUS_OK;
}

/* The numbers (rows, columns) as text; without decimals where all of them are whole. */
static enum status fill(const struct making *making, struct sheet_table *table, const double *numbers, bool logical)
{
    const size_t count = table->rows * table->columns;
    double largest = 0;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        whole = whole && is_whole(numbers[i]);
        largest = isfinite(numbers[i]) ? fmax(largest, fabs(numbers[i])) : largest;
    }
    const bool exponent = text_wants_exponent(largest);
    whole = whole && !exponent;
    const size_t least = WHOLE_WIDTH + (whole ? 0 : (size_t)making->plan->precision);
    const size_t fitting = memory_left(LINE_WIDTH / table->columns, 1);
    table->blank = memory_larger(least, memory_smaller(fitting, HAND_WIDTH));
    table->decimals = !whole;
    table->widest = 0;
    table->rounded = false;
    for (size_t i = 0; i < count; i++) {
        char text[TABLE_TEXT_NUMBER_BYTES];
        text_number(text, sizeof text, whole ? 0 : making->plan->precision, exponent && numbers[i] != 0, numbers[i]);
        table->cells[i] = keep(making, !logical ? text : numbers[i] != 0 ? "true" : "false");
        if (table->cells[i] == NULL)
            return making->error->status;
        table->widest = memory_larger(table->widest, strlen(table->cells[i]));
        table->rounded = table->rounded || fabs(strtod(text, NULL) - numbers[i]) > SHOWN * fabs(numbers[i]);
    }
    return STATUS_OK;
}

/* A label that is only a number has `before` in front of it: a row is "row 1", as "1" could be its first number. */
static enum status label(const struct making *making, const char **labels, size_t count, const char *before,
                         enum axis axis, size_t item)
{
    for (size_t i = 0; i < count; i++) {
        char text[TABLE_TEXT_LABEL_BYTES], whole[TABLE_TEXT_LABEL_BYTES + 8];
        table_text_label(making->result, axis, item, i, text);
        snprintf(whole, sizeof whole, "%s%s", text[strspn(text, "0123456789")] == '\0' ? before : "", text);
        labels[i] = keep(making, whole);
        if (labels[i] == NULL)
            return making->error->status;
    }
    return STATUS_OK;
}

static const char *title_of(const struct making *making, const struct result_table *table, const char *name,
                            size_t matrix)
{
    char place[TABLE_TEXT_LABEL_BYTES], title[TABLE_TEXT_LABEL_BYTES + 64];
    table_text_place(&making->result->problem->labels.heads, table, matrix, place);
    snprintf(title, sizeof title, "%s%s%s", name, place[0] != '\0' ? SHEET_PLACE : "", place);
    return keep(making, title);
}

/* All numbers of a matrix of the result, (rows, columns); NULL where memory is short. */
static double *load(const struct making *making, const struct result_table *table, size_t matrix)
{
    const size_t rows = result_rows(table), columns = result_columns(table);
    double *numbers = arena_allocate(making->arena, rows * columns, sizeof *numbers, making->error);
    for (size_t row = 0; numbers != NULL && row < rows; row++)
        result_row(making->result, table, matrix, row, numbers + row * columns);
    return numbers;
}

static enum status make_matrix(const struct making *making, const struct result_table *table, size_t matrix,
                               struct sheet_table *made)
{
    size_t item, head;
    double *numbers = load(making, table, matrix);
    const bool of_words = strcmp(table->name, "unembedding") == 0; /* a column for each word, as logits have */
    result_place(table, matrix, &item, &head);
    made->title = title_of(making, table, table->name, matrix);
    if (numbers == NULL || made->title == NULL || make_cells(making, made, result_rows(table), result_columns(table)) ||
        label(making, made->row_labels, made->rows, "row ", result_row_axis(table), item) ||
        label(making, made->column_labels, made->columns, "", of_words ? AXIS_WORD : result_column_axis(table), item))
        return making->error->status;
    return fill(making, made, numbers, dtype_is_boolean(table->dtype));
}

/* --- what is given ------------------------------------------------------------------------------------------------ */

/* Whether to show a matrix as it is used: nn.Linear stores it transposed. */
static bool is_transposed(const struct making *making, const struct result_table *table)
{
    const struct problem *problem = problem_right(making->result->problem);
    struct parameter_place at;
    return table->stage == STAGE_PARAMETERS &&
           parameters_find(&problem->parameters, problem->plan.stacked, table->name, &at) && !at.bias &&
           at.projection->transposed;
}

static enum status make_transposed(const struct making *making, const struct result_table *table,
                                   struct sheet_table *made)
{
    const size_t rows = result_columns(table), columns = result_rows(table);
    double *stored = load(making, table, 0);
    double *numbers = arena_allocate(making->arena, rows * columns, sizeof *numbers, making->error);
    char title[TABLE_TEXT_LABEL_BYTES];
    snprintf(title, sizeof title, "%s" SHEET_TRANSPOSED, table->name);
    made->title = keep(making, title);
    if (stored == NULL || numbers == NULL || made->title == NULL || make_cells(making, made, rows, columns) ||
        label(making, made->row_labels, rows, "row ", AXIS_COLUMN, 0) ||
        label(making, made->column_labels, columns, "", AXIS_COLUMN, 0))
        return making->error->status;
    for (size_t i = 0; i < rows * columns; i++)
        numbers[i] = stored[i % columns * rows + i / columns];
    return fill(making, made, numbers, false);
}

/* Which weights dropout keeps: 1, and 0 where it drops one. */
static enum status make_draw(const struct making *making, const struct result_table *table, size_t matrix,
                             struct sheet_table *made)
{
    struct result *result = making->result;
    double *numbers = load(making, table, matrix);
    const char *title = title_of(making, table, "kept by dropout", matrix);
    if (numbers == NULL || title == NULL || make_matrix(making, table, matrix, made) != STATUS_OK)
        return making->error->status;
    made->title = title;
    for (size_t row = 0; row < made->rows; row++) {
        result_row(result, table, matrix, row, result->numbers);
        const bool *kept = row_stream_kept(&result->rows, row);
        for (size_t column = 0; column < made->columns; column++)
            numbers[row * made->columns + column] = kept[column];
    }
    return fill(making, made, numbers, false);
}

/* Whether a parameter makes a stage to fill in; where --stages names parameters, any stage that is shown. */
static bool is_used(const struct making *making, const char *name)
{
    static const struct {
        const char *part;
        uint64_t stages;
    } OF[] = {{"unembedding", STAGE_BIT(STAGE_LOGITS)},
              {"embedding", 0}, /* the inputs and positions are its rows */
              {"W_query", STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_PROJECTED_QUERY)},
              {"W_key", STAGE_BIT(STAGE_KEY) | STAGE_BIT(STAGE_PROJECTED_KEY)},
              {"W_value", STAGE_BIT(STAGE_VALUE) | STAGE_BIT(STAGE_PROJECTED_VALUE)},
              {"out_proj", STAGE_BIT(STAGE_OUTPUT)}};
    const struct sheet_plan *plan = making->plan;
    const uint64_t made = plan->given & STAGE_BIT(STAGE_PARAMETERS) ? plan->shown : plan->blank;
    for (size_t i = 0; i < sizeof OF / sizeof OF[0]; i++)
        if (strstr(name, OF[i].part) != NULL)
            return (made & OF[i].stages) != 0;
    return true;
}

/* Tensors of the mask are inputs under other names; operands of sdpa that are inputs are stages, too. */
static bool is_given(const struct making *making, const struct result_table *table)
{
    const enum stage named = stage_find(table->name, strlen(table->name));
    if (table->stage == STAGE_PARAMETERS)
        return is_used(making, table->name);
    if (table->stage == STAGE_INPUTS && named != STAGE_INPUTS)
        return !STAGES[named].operand;
    return (making->plan->given & STAGE_BIT(table->stage)) != 0;
}

static enum status add_given(const struct making *making, struct sheet *sheet, const struct result_table *table)
{
    const bool draw = table->stage == STAGE_DROPPED && (making->plan->blank & STAGE_BIT(STAGE_DROPPED)) != 0;
    for (size_t matrix = 0; matrix < result_matrices(table) && (draw || is_given(making, table)); matrix++) {
        struct sheet_table *made = &sheet->given[sheet->given_count++];
        if (draw                           ? make_draw(making, table, matrix, made)
            : is_transposed(making, table) ? make_transposed(making, table, made)
                                           : make_matrix(making, table, matrix, made))
            return making->error->status;
    }
    return STATUS_OK;
}

/* Inputs and parameters first, then the stages in their order. */
static enum status make_given(const struct making *making, struct sheet *sheet)
{
    struct result *result = making->result;
    size_t count = 0;
    for (size_t i = 0; i < result->table_count; i++)
        count += result_matrices(&result->tables[i]);
    sheet->given = arena_allocate(making->arena, count + 1, sizeof *sheet->given, making->error);
    if (sheet->given == NULL)
        return making->error->status;
    for (size_t i = 0; i < result->table_count; i++)
        if (!stage_exists(result->tables[i].stage) && add_given(making, sheet, &result->tables[i]) != STATUS_OK)
            return making->error->status;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const struct result_table *table = result_table_of(result, stage);
        if (table != NULL && add_given(making, sheet, table) != STATUS_OK)
            return making->error->status;
    }
    return STATUS_OK;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Below: each score less the largest of its row, minus infinity where it is masked, (rows, keys). Powers: e to
 * these, and their sum, (rows, keys + 1). */
static enum status load_powers(const struct making *making, size_t matrix, double **below, double **powers)
{
    const struct problem *problem = making->result->problem;
    const struct result_table *table = result_table_of(making->result, stage_before(problem, STAGE_WEIGHTS));
    const size_t rows = result_rows(table), keys = result_columns(table);
    size_t item, head;
    *below = load(making, table, matrix);
    *powers = arena_allocate(making->arena, rows * (keys + 1), sizeof **powers, making->error);
    if (*below == NULL || *powers == NULL)
        return making->error->status;
    result_place(table, matrix, &item, &head);
    for (size_t row = 0; row < rows; row++) {
        double *scores = *below + row * keys, *of_row = *powers + row * (keys + 1);
        const struct softmax softmax = softmax_of_scores(problem, head, scores, of_row);
        of_row[keys] = softmax.sum;
        for (size_t key = 0; key < keys; key++)
            scores[key] = scores[key] > -INFINITY ? scores[key] - softmax.largest : -INFINITY;
    }
    return STATUS_OK;
}

/* The table of the powers of a row and their sum, before its weights. */
static enum status make_powers(const struct making *making, const struct result_table *weights, size_t matrix,
                               struct sheet_table *made)
{
    const size_t keys = result_columns(weights), rows = result_rows(weights);
    const bool sinks = making->result->problem->mask.sinks != NULL;
    double *below, *powers;
    size_t item, head;
    result_place(weights, matrix, &item, &head);
    made->title = title_of(making, weights, SHEET_POWER "score " SHEET_MINUS " largest" SHEET_POWER_END, matrix);
    if (load_powers(making, matrix, &below, &powers) || made->title == NULL ||
        make_cells(making, made, rows, keys + 1) || label(making, made->row_labels, rows, "row ", AXIS_QUERY, item) ||
        label(making, made->column_labels, keys, "", AXIS_TOKEN, item))
        return making->error->status;
    made->column_labels[keys] = sinks ? "sum, with the sink" : "sum";
    return fill(making, made, powers, false);
}

/* Weights have a table of powers before them, unless the sheet is filled in. */
static size_t tables_each(const struct making *making, enum stage stage)
{
    return stage == STAGE_WEIGHTS && making->plan->mistakes == 0 ? 2 : 1;
}

static enum status make_task(const struct making *making, struct sheet *sheet, enum stage stage,
                             struct sheet_table *tables)
{
    struct sheet_task *task = &sheet->tasks[sheet->task_count++];
    char formula[RESULT_FORMULA_BYTES], text[RESULT_FORMULA_BYTES + 64];
    stage_formula(problem_right(making->result->problem), stage, formula, sizeof formula);
    snprintf(text, sizeof text, "%s = %s", result_table_of(making->result, stage)->name, formula);
    const bool first = sheet->task_count == 1; /* query, key and value make a group, the scores up to softmax another */
    *task = (struct sheet_task){.stage = stage,
                                .formula = keep(making, text),
                                .begins = first || stage >= STAGE_WEIGHTS ||
                                          stage_is_attended(stage) != stage_is_attended(task[-1].stage),
                                .tables = tables};
    /* The second query, as the first may see itself alone, and the first token. */
    const struct problem *problem = making->result->problem;
    char query[TABLE_TEXT_LABEL_BYTES], key[TABLE_TEXT_LABEL_BYTES];
    table_text_label(making->result, AXIS_QUERY, 0, problem->chosen.row_count > 1 ? 1 : 0, query);
    table_text_label(making->result, AXIS_TOKEN, 0, 0, key);
    if (task->formula != NULL && making->plan->mistakes == 0)
        frame_make(problem, stage, query, key, task->frames, making->arena, making->error);
    const struct result_table *table = result_table_of(making->result, stage);
    for (size_t matrix = 0; matrix < result_matrices(table) && making->error->status == STATUS_OK; matrix++)
        if (tables_each(making, stage) == 1 ||
            make_powers(making, table, matrix, &task->tables[task->count++]) == STATUS_OK)
            make_matrix(making, table, matrix, &task->tables[task->count++]);
    return making->error->status;
}

static enum status make_tasks(const struct making *making, struct sheet *sheet)
{
    size_t count = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (making->plan->blank & STAGE_BIT(stage))
            count += tables_each(making, stage) * result_matrices(result_table_of(making->result, stage));
    struct sheet_table *tables = arena_allocate(making->arena, count, sizeof *tables, making->error);
    sheet->tasks = arena_allocate(making->arena, STAGE_COUNT, sizeof *sheet->tasks, making->error);
    if (sheet->tasks == NULL || tables == NULL)
        return making->error->status;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        if ((making->plan->blank & STAGE_BIT(stage)) == 0)
            continue;
        if (make_task(making, sheet, stage, tables) != STATUS_OK)
            return making->error->status;
        tables += sheet->tasks[sheet->task_count - 1].count;
    }
    return STATUS_OK;
}

/* --- powers of e -------------------------------------------------------------------------------------------------- */

/* The least exponent of the weights, and the step between exponents: 1 where they are whole. */
static enum status find_exponents(const struct making *making, double *least, double *step)
{
    const struct result_table *table = result_table_of(making->result, STAGE_WEIGHTS);
    *least = 0;
    *step = 1;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++) {
        double *below, *powers;
        if (load_powers(making, matrix, &below, &powers) != STATUS_OK)
            return making->error->status;
        for (size_t i = 0; i < result_rows(table) * result_columns(table); i++) {
            *least = isfinite(below[i]) ? fmin(*least, below[i]) : *least;
            *step = is_whole(below[i]) ? *step : pow(10, -making->plan->precision);
        }
    }
    return STATUS_OK;
}

/* A table of e^x for the weights to fill in, from 0 down to one x more than needed, where it is short. */
static enum status make_powers_of_e(const struct making *making, struct sheet *sheet)
{
    struct sheet_table *made = &sheet->given[sheet->given_count];
    double powers[POWERS_MOST], least, step;
    if ((making->plan->blank & STAGE_BIT(STAGE_WEIGHTS)) == 0 || making->plan->mistakes > 0)
        return STATUS_OK;
    if (find_exponents(making, &least, &step) != STATUS_OK)
        return making->error->status;
    const double count = fmax(round(-least / step) + 2, POWERS_LEAST);
    if (!(count <= (double)POWERS_MOST))
        return STATUS_OK;
    if (make_cells(making, made, 1, (size_t)count) != STATUS_OK)
        return making->error->status;
    made->title = "powers of e";
    made->corner = "x";
    made->row_labels[0] = SHEET_POWER "x" SHEET_POWER_END;
    for (size_t i = 0; i < made->columns; i++) {
        char text[TABLE_TEXT_NUMBER_BYTES];
        text_number(text, sizeof text, step == 1 ? 0 : making->plan->precision, false, -step * (double)i);
        made->column_labels[i] = keep(making, text);
        powers[i] = exp(-step * (double)i);
        if (made->column_labels[i] == NULL)
            return making->error->status;
    }
    sheet->given_count++;
    return fill(making, made, powers, false);
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static const char *note_of(const struct making *making, const struct sheet *sheet)
{
    bool rounded = false, powers = false;
    for (size_t i = 0; i < sheet->given_count; i++) {
        const bool is_powers = sheet_is_powers(&sheet->given[i]);
        powers = powers || is_powers;
        rounded = rounded || (sheet->given[i].rounded && !is_powers);
    }
    if ((making->plan->blank & STAGE_BIT(STAGE_PROBABILITIES)) != 0)
        powers = false;
    else if ((making->plan->blank & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        powers = true;
    return !rounded && powers ? ""
           : powers           ? "The given numbers are rounded too."
           : rounded          ? "The given numbers are rounded too. Use a calculator for powers of e."
                              : "Use a calculator for powers of e.";
}

static void write_rule(const struct making *making, const struct sheet *sheet, struct text *rule)
{
    const struct sheet_plan *plan = making->plan;
    const int precision = plan->precision;
    const char *note = note_of(making, sheet);
    /* The output adds up several contexts, and their rounding errors. */
    const bool adds = making->result->problem->plan.has_out && (plan->blank & STAGE_BIT(STAGE_OUTPUT)) != 0;
    const bool exact = plan->easy && precision == 2 && !adds;
    if (sheet->filled) {
        char count[24];
        const bool one = making->plan->mistakes == 1;
        snprintf(count, sizeof count, "%zu", making->plan->mistakes);
        text_add(rule,
                 "This sheet is filled in with %s mistake%s. Find the step%s that %s not follow from the steps before, "
                 "and say what was done and what is right. Numbers are rounded to %d decimal%s only for display.",
                 one ? "one" : count, one ? "" : "s", one ? "" : "s", one ? "does" : "do", precision,
                 precision == 1 ? "" : "s");
        return;
    }
    bool decimals = false; /* of some number to fill in */
    for (size_t i = 0; i < sheet->task_count; i++)
        for (size_t table = 0; table < sheet->tasks[i].count; table++)
            decimals = decimals || sheet->tasks[i].tables[table].decimals;
    if (decimals)
        text_add(rule,
                 "Round to %d decimal%s and continue with the rounded numbers. The last digit%s from the answers, "
                 "which are rounded only at the end.",
                 precision, precision == 1 ? "" : "s", exact ? " may differ by 1" : "s may differ");
    text_add(rule, "%s%s", rule->length > 0 && note[0] != '\0' ? " " : "", note);
}

static enum status make_words(const struct making *making, struct sheet *sheet)
{
    const struct sheet_plan *plan = making->plan;
    char title[128], room[512];
    struct text rule = text_begin(room, sizeof room);
    snprintf(title, sizeof title, "%s by hand", MECHANISMS[making->result->problem->mechanism].title);
    title[0] = (char)toupper((unsigned char)title[0]);
    sheet->filled = plan->mistakes > 0;
    sheet->found = plan->found;
    sheet->name = plan->name;
    write_rule(making, sheet, &rule);
    sheet->title = keep(making, title);
    sheet->rule = keep(making, room);
    return sheet->title == NULL || sheet->rule == NULL ? making->error->status : STATUS_OK;
}

/* The arithmetic of all blanks, as --explain has it. */
static enum status make_worked(const struct making *making, struct sheet *sheet)
{
    struct output *output = output_of_text(making->arena, making->error);
    size_t length;
    sheet->worked = "";
    if (output == NULL)
        return making->error->status;
    if (sheet->filled || making->plan->briefly)
        return STATUS_OK;
    const struct writing writing = {.result = making->result,
                                    .output = output,
                                    .arena = making->arena,
                                    .error = making->error,
                                    .precision = making->plan->precision,
                                    .precision_said = true,
                                    .full = true};
    if (write_explanation(&writing, true) != STATUS_OK)
        return making->error->status;
    const char *worked = output_close_text(output, &length);
    sheet->worked = worked != NULL ? worked + strspn(worked, "\n") : NULL;
    return sheet->worked == NULL ? making->error->status : STATUS_OK;
}

enum status sheet_make(struct sheet *sheet, const struct sheet_plan *plan, struct result *result, struct arena *arena,
                       struct error *error)
{
    const struct making making = {plan, result, arena, error};
    *sheet = (struct sheet){0};
    return make_given(&making, sheet) || make_tasks(&making, sheet) || make_powers_of_e(&making, sheet) ||
                   make_words(&making, sheet) || make_worked(&making, sheet)
               ? error->status
               : STATUS_OK;
}

bool sheet_is_powers(const struct sheet_table *table)
{
    return table->corner[0] != '\0';
}
