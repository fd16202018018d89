#include "explain.h"

#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* From here on even a fixed decimal is written with an exponent, or it would not fit. */
static const double WIDEST_FIXED = 1e15;

/* --- what is read ------------------------------------------------------------------------------------------------- */

const struct result_table *explain_table(const struct result *result, enum stage stage)
{
    for (size_t i = 0; i < result->table_count; i++)
        if (result->tables[i].stage == stage)
            return &result->tables[i];
    return NULL;
}

/* Which matrix of a stage belongs to an item and a head of query. */
static size_t matrix_of(const struct problem *problem, enum stage stage, size_t item, size_t head)
{
    if (stage == STAGE_INPUTS || problem_is_side_by_side(problem, stage))
        return item;
    if (stage_is_of_keys(stage))
        return item * problem->kv_heads + head / (problem->heads / problem->kv_heads);
    return item * problem->heads + head;
}

void explain_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers)
{
    const struct result_table *table = explain_table(e->result, stage);
    const size_t matrix = matrix_of(e->result->problem, stage, place.item, place.head);
    result_row(e->result, table, matrix, place.row, numbers);
}

enum stage explain_before_mask(const struct problem *problem)
{
    return problem->softcap > 0 ? STAGE_CAPPED : STAGE_SCALED;
}

enum stage explain_before_softmax(const struct problem *problem)
{
    return problem->masks ? STAGE_MASKED : explain_before_mask(problem);
}

enum mask_rule explain_rule(const struct explanation *e, struct explain_place place, size_t key)
{
    const struct problem *problem = e->result->problem;
    if (!problem->masks)
        return MASK_ALLOWS;
    return mask_rule_of(&problem->mask, place.item, place.head, problem->rows[place.row], key);
}

/* --- what is shown ------------------------------------------------------------------------------------------------ */

static bool leaves_out(const struct explanation *e, size_t count)
{
    return !e->full && count > RESULT_ELIDED;
}

size_t explain_next(const struct explanation *e, struct explain_range range, size_t i)
{
    const size_t count = range.end - range.first;
    return leaves_out(e, count) && i + 1 == range.first + EXPLAIN_ENDS ? range.end - EXPLAIN_ENDS : i + 1;
}

static struct explain_range range_of(bool one, size_t index, size_t count)
{
    return one ? (struct explain_range){index, index + 1} : (struct explain_range){0, count};
}

struct explain_range explain_items(const struct explanation *e)
{
    const struct problem *problem = e->result->problem;
    return range_of(problem->has_cell && problem->cell.item != SIZE_MAX, problem->cell.item, problem->items);
}

struct explain_range explain_heads(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->result->problem;
    const struct cell *cell = &problem->cell;
    const bool of_keys = stage_is_of_keys(stage);
    if (problem_is_side_by_side(problem, stage))
        return range_of(false, 0, 1);
    if (!problem->has_cell || cell->stage == STAGE_OUTPUT)
        return range_of(false, 0, of_keys ? problem->kv_heads : problem->heads);
    size_t head = cell->head == SIZE_MAX ? 0 : cell->head;
    if (problem_is_side_by_side(problem, cell->stage))
        head = cell->column / problem->d_value;
    if (of_keys && !stage_is_of_keys(cell->stage))
        head /= problem->heads / problem->kv_heads;
    return range_of(true, head, 0);
}

struct explain_range explain_rows(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->result->problem;
    const struct cell *cell = &problem->cell;
    if (!stage_is_of_keys(stage))
        return range_of(false, 0, problem->row_count);
    if (!problem->has_cell)
        return range_of(false, 0, problem->keys);
    const bool of_one_key = stage_is_square(cell->stage);
    return range_of(of_one_key || stage == cell->stage, of_one_key ? cell->column : cell->row, problem->keys);
}

struct explain_range explain_keys(const struct explanation *e)
{
    const struct problem *problem = e->result->problem;
    return range_of(problem->has_cell && stage_is_square(problem->cell.stage), problem->cell.column, problem->keys);
}

struct explain_range explain_columns(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->result->problem;
    const struct cell *cell = &problem->cell;
    size_t column = cell->column;
    bool one = problem->has_cell && stage == cell->stage;
    if (problem->has_cell && cell->stage == STAGE_CONTEXT && stage == STAGE_VALUE) {
        one = true;
        column %= problem->d_value;
    }
    return range_of(one, column, problem_columns(problem, stage));
}

/* --- numbers and labels ------------------------------------------------------------------------------------------- */

const char *explain_number(struct explanation *e, int kind, double value)
{
    const bool exponent = e->exponent[kind] || fabs(value) >= WIDEST_FIXED;
    if (isnan(value))
        snprintf(e->number, sizeof e->number, "nan");
    else
        snprintf(e->number, sizeof e->number, exponent && value != 0 ? "%.*e" : "%.*f", e->precision, value);
    const bool zero = e->number[0] == '-' && strspn(e->number + 1, "0.") == strlen(e->number + 1);
    return e->number + zero; /* which has no sign on a board */
}

void explain_line(struct explanation *e, size_t group, const char *format, ...)
{
    char label[BOARD_LABEL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    board_line(&e->board, group, label, strlen(label));
}

void explain_key_line(struct explanation *e, size_t group, size_t item, size_t key)
{
    char label[BOARD_LABEL_BYTES];
    size_t position;
    const char *token = result_label(e->result, AXIS_TOKEN, item, key, &position);
    if (token == NULL) {
        explain_line(e, group, "key %zu", position);
        return;
    }
    const size_t width = text_shown(token, EXPLAIN_LABEL_COLUMNS, label, sizeof label);
    board_line(&e->board, group, label, width);
}

void explain_heading(struct explanation *e, enum stage stage, struct explain_place place, const char *what)
{
    const struct problem *problem = e->result->problem;
    const bool of_keys = stage_is_of_keys(stage);
    char shown[BOARD_LABEL_BYTES];
    size_t position;
    if (e->board.measuring)
        return;
    const char *token = result_label(e->result, of_keys ? AXIS_TOKEN : AXIS_QUERY, place.item, place.row, &position);
    if (token != NULL)
        text_shown(token, EXPLAIN_LABEL_COLUMNS, shown, sizeof shown);
    else
        snprintf(shown, sizeof shown, "%zu", position);
    output_print(e->board.output, "  ");
    if (problem->has_batch)
        output_print(e->board.output, "item %zu, ", place.item + 1);
    if (problem->has_heads && !problem_is_side_by_side(problem, stage))
        output_print(e->board.output, "head %zu, ", place.head + 1);
    output_print(e->board.output, "%s %s%s%s\n", of_keys ? "token" : "query", shown, what[0] ? ": " : "", what);
}

void explain_note(struct explanation *e, const char *format, ...)
{
    char text[BOARD_LABEL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!e->board.measuring)
        output_print(e->board.output, "    %s\n", text);
}

void explain_gap(struct explanation *e, struct explain_range range, size_t i, const char *what, const char *subtotal)
{
    const size_t next = explain_next(e, range, i);
    if (next > i + 1)
        board_left_out(&e->board, next - i - 1, what, subtotal);
}

/* --- how it begins ------------------------------------------------------------------------------------------------ */

static double largest_of(const double *numbers, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(numbers[i]))
            largest = fmax(largest, fabs(numbers[i]));
    return largest;
}

/* Over the rows of a table that are shown. */
static double magnitude_of_table(struct explanation *e, const struct result_table *table)
{
    const struct explain_range rows = {0, result_rows(table)};
    double magnitude = 0;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < rows.end; row = explain_next(e, rows, row)) {
            result_row(e->result, table, matrix, row, e->operand);
            magnitude = fmax(magnitude, largest_of(e->operand, result_columns(table)));
        }
    return magnitude;
}

/* Over all of a tensor, which may be absent. */
static double magnitude_of_tensor(const struct tensor *tensor)
{
    double magnitude = 0, value;
    for (size_t i = 0; tensor->rank > 0 && i < tensor_count(tensor); i++) {
        tensor_load(tensor, i, 1, &value);
        magnitude = fmax(magnitude, fabs(value));
    }
    return magnitude;
}

static double magnitude_of_projection(const struct projection *projection)
{
    return fmax(magnitude_of_tensor(&projection->weight), magnitude_of_tensor(&projection->bias));
}

static void choose_notation(struct explanation *e)
{
    const struct parameters *parameters = &e->result->problem->parameters;
    for (size_t i = 0; i < e->result->table_count; i++) {
        const struct result_table *table = &e->result->tables[i];
        if (table->stage != STAGE_PARAMETERS)
            e->exponent[table->stage] = text_wants_exponent(magnitude_of_table(e, table));
    }
    for (int id = 0; id < PROJECTION_COUNT; id++) {
        double magnitude = 0;
        for (size_t module = 0; module < parameters->module_count; module++)
            magnitude = fmax(magnitude, magnitude_of_projection(&parameters->modules[module].projections[id]));
        e->exponent[EXPLAIN_WEIGHTS + id] = text_wants_exponent(magnitude);
    }
    e->exponent[EXPLAIN_WEIGHTS + PROJECTION_COUNT] = text_wants_exponent(magnitude_of_projection(&parameters->out));
}

enum status explain_create(struct explanation *e, struct result *result, int precision, bool full,
                           struct output *output, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    size_t widest = memory_larger(result->widest, problem->heads * problem->d_value);
    widest = memory_larger(memory_larger(widest, problem->d_in), problem->d_head);
    *e = (struct explanation){.result = result, .precision = precision, .full = full};
    double **const rows[] = {&e->operand, &e->factor, &e->made};
    for (size_t i = 0; i < 3; i++) {
        *rows[i] = arena_allocate(arena, widest, sizeof(double), error);
        if (*rows[i] == NULL)
            return error->status;
    }
    e->seen = arena_allocate(arena, problem->keys, sizeof *e->seen, error);
    if (e->seen == NULL ||
        board_create(&e->board, output, full ? widest + 1 : RESULT_ELIDED + 2, arena, error) != STATUS_OK)
        return error->status;
    choose_notation(e);
    return STATUS_OK;
}
