#include "write/explain/explain_stages.h"

#include <math.h>

/* Column `column` of a weight that is used as y = x . W, into numbers. */
static void load_column(const struct projection *projection, size_t column, double *numbers)
{
    const struct tensor *weight = &projection->weight;
    const size_t rows = weight->shape[0], columns = weight->shape[1];
    if (projection->transposed) {
        tensor_load(weight, column * columns, columns, numbers);
        return;
    }
    for (size_t row = 0; row < rows; row++)
        tensor_load(weight, row * columns + column, 1, numbers + row);
}

/* --- a dot product ------------------------------------------------------------------------------------------------ */

/* result = left . right + bias, and which kinds of numbers they are. */
struct dot {
    const double *left, *right;
    int left_kind, right_kind, kind;
    size_t count;
    const double *bias; /* or NULL */
    double result;
};

/* The terms, as products or multiplied out. */
static void write_terms(struct explanation *e, const struct dot *dot, bool as_products)
{
    const struct explain_range range = {0, dot->count};
    for (size_t i = 0; i < dot->count;) {
        const size_t next = explain_next(e, range, i);
        if (as_products) {
            worked_line_term(&e->lines, explain_number(e, dot->left_kind, dot->left[i]));
            worked_line_times(&e->lines, explain_number(e, dot->right_kind, dot->right[i]));
        } else {
            worked_line_term(&e->lines, explain_number(e, dot->kind, dot->left[i] * dot->right[i]));
        }
        double subtotal = 0;
        for (size_t j = i + 1; j < next; j++)
            subtotal += dot->left[j] * dot->right[j];
        if (next > i + 1 && as_products)
            worked_line_more(&e->lines, next - i - 1, explain_number(e, dot->kind, subtotal));
        else if (next > i + 1)
            worked_line_term(&e->lines, explain_number(e, dot->kind, subtotal));
        i = next;
    }
    if (dot->bias != NULL)
        worked_line_term(&e->lines, explain_number(e, dot->right_kind, *dot->bias));
}

/* The rest of a line: the products, what they are, their sum. */
static void write_dot(struct explanation *e, const struct dot *dot)
{
    write_terms(e, dot, true);
    if (dot->count > 1 || dot->bias != NULL) {
        worked_line_relation(&e->lines);
        write_terms(e, dot, false);
    }
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, dot->kind, dot->result));
    worked_line_end(&e->lines);
}

/* One column after another of x . W + bias: x is in operand, `first` the column of W that makes column 0, and `made` has
 * what comes out. */
static void write_projection(struct explanation *e, enum stage stage, int weight_kind,
                             const struct projection *projection, size_t first, int x_kind, size_t d_in)
{
    const struct explain_range columns = explain_columns(e, stage);
    double bias;
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        load_column(projection, first + column, e->factor);
        if (projection->bias.rank > 0)
            tensor_load(&projection->bias, first + column, 1, &bias);
        const struct dot dot = {
            e->operand,     e->factor, x_kind, weight_kind, (int)stage, d_in, projection->bias.rank > 0 ? &bias : NULL,
            e->made[column]};
        explain_line(e, EXPLAIN_LINES, "column %zu", column + 1);
        write_dot(e, &dot);
        explain_gap(e, columns, column, "columns", NULL);
    }
}

void explain_projection(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const int id = (int)(stage - STAGE_QUERY);
    const size_t module = problem->plan.stacked ? place.head : 0;
    const size_t token = stage == STAGE_QUERY ? problem->rows[place.row] : place.row;
    const size_t first = problem->plan.stacked ? 0 : place.head * problem_columns(problem, stage);
    struct explain_place of_query = place;
    if (stage_is_of_keys(stage)) /* its head is one of key and value */
        of_query.head = place.head * (problem->heads / problem->kv_heads);
    explain_load(e, STAGE_INPUTS, (struct explain_place){place.item, 0, token}, e->operand);
    explain_load(e, stage, of_query, e->made);
    explain_heading(e, stage, place, "");
    write_projection(e, stage, EXPLAIN_WEIGHTS + id, &problem->parameters.modules[module].projections[id], first,
                     STAGE_INPUTS, problem->d_in);
}

/* With every operation rounded, query and key are multiplied by the root of the scale before they meet. */
static void share_scale(const struct explanation *e, double *numbers)
{
    const struct problem *problem = e->result->problem;
    double root = sqrt(problem->scale);
    dtype_round(problem->dtype, &root, 1);
    for (size_t i = 0; i < problem->d_head; i++)
        numbers[i] *= root;
    dtype_round(problem->dtype, numbers, problem->d_head);
}

/* query . key of each key. */
void explain_scores(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const struct explain_range keys = explain_keys(e);
    explain_load(e, STAGE_QUERY, place, e->operand);
    explain_load(e, stage, place, e->made);
    if (stage == STAGE_SCALED)
        share_scale(e, e->operand);
    explain_heading(e, stage, place, stage == STAGE_SCALED ? "query and key are each times the root of the scale" : "");
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_load(e, STAGE_KEY, (struct explain_place){place.item, place.head, key}, e->factor);
        if (stage == STAGE_SCALED)
            share_scale(e, e->factor);
        const struct dot dot = {e->operand, e->factor,       STAGE_QUERY, STAGE_KEY,
                                (int)stage, problem->d_head, NULL,        e->made[key]};
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_dot(e, &dot);
        explain_gap(e, keys, key, "keys", NULL);
    }
}

void explain_output(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const size_t d = problem->d_value, width = problem->heads * d;
    const struct explain_range columns = explain_columns(e, STAGE_OUTPUT);
    for (size_t head = 0; head < problem->heads; head++)
        explain_load(e, STAGE_CONTEXT, (struct explain_place){place.item, head, place.row}, e->operand + head * d);
    explain_load(e, STAGE_OUTPUT, place, e->made);
    explain_heading(e, STAGE_OUTPUT, place, "");
    if (problem->plan.has_out) {
        write_projection(e, STAGE_OUTPUT, EXPLAIN_WEIGHTS + PROJECTION_COUNT, &problem->parameters.out, 0,
                         STAGE_CONTEXT, width);
        return;
    }
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        char from[WORKED_LINE_CELL_BYTES];
        snprintf(from, sizeof from, ", column %zu of head %zu", column % d + 1, column / d + 1);
        explain_line(e, EXPLAIN_LINES, "column %zu", column + 1);
        worked_line_term(&e->lines, explain_number(e, STAGE_OUTPUT, e->made[column]));
        worked_line_words(&e->lines, from);
        worked_line_end(&e->lines);
        explain_gap(e, columns, column, "columns", NULL);
    }
}
