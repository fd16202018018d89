/* The gradients at both ends of the rows: what is given, and what they come to by query. */
#include "stage/dot_products.h"
#include "stage/gradient.h"

#include <stdio.h>
#include <string.h>

static bool splits(const struct problem *problem)
{
    return problem_last_stage(problem) == STAGE_OUTPUT;
}

static enum status check_output(const struct problem *problem, const char *place, struct error *error)
{
    return splits(problem)
               ? STATUS_OK
               : error_usage(error, "%s: %s has no 'grad_output', it ends at 'context'; expected grad_context", place,
                             MECHANISMS[problem->mechanism].name);
}

static void formula_output(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s", problem->grad.rank > 0 ? "as given" : "ones");
}

static void formula_context(const struct problem *problem, enum stage stage, struct text *text)
{
    if (!splits(problem))
        formula_output(problem, stage, text);
    else
        text_add(text, "%s",
                 problem->plan.has_out ? "grad_output . out_proj.weight, cut into heads"
                                       : "grad_output, cut into heads");
}

static void formula_query(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "grad_scores . key");
}

/* The keys lie in panels, one beside the other. */
static void make_query(const struct attention_row *row)
{
    const size_t d = row->problem->d_head;
    const double *scores = row->stages[STAGE_GRAD_SCORES];
    double *made = row->stages[STAGE_GRAD_QUERY];
    memset(made, 0, d * sizeof *made);
    for (size_t j = 0; j < row->problem->keys; j++) {
        const double *key = row->key + j / DOT_KEYS * DOT_KEYS * d + j % DOT_KEYS;
        for (size_t k = 0; k < d && scores[j] != 0; k++)
            made[k] += scores[j] * key[k * DOT_KEYS];
    }
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* grad_output . a row of out_proj, or the column of grad_output that is this head's. */
static void write_context(struct explanation *e, enum stage stage, size_t row, size_t column)
{
    const struct problem *problem = e->problem;
    char from[WORKED_LINE_CELL_BYTES];
    explain_line(e, EXPLAIN_LINES, "column %zu", column + 1);
    if (!problem->plan.has_out) {
        snprintf(from, sizeof from, ", column %zu of grad_output", row + 1);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[column]));
        worked_line_words(&e->lines, from);
        worked_line_end(&e->lines);
        return;
    }
    gradient_load_row(&problem->parameters.out, row, problem->plan.d_output, e->factor);
    explain_dot(e, &(struct explain_dot){e->operand, e->factor, STAGE_GRAD_OUTPUT, EXPLAIN_WEIGHTS + PROJECTION_COUNT,
                                         (int)stage, problem->plan.d_output, NULL, e->made[column], NULL});
}

static void explain_context(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range columns = explain_columns(e, stage);
    explain_load(e, STAGE_GRAD_OUTPUT, place, e->operand);
    explain_load_made(e, stage, place, e->made);
    explain_heading(e, stage, place, "");
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        write_context(e, stage, place.head * e->problem->d_value + column, column);
        explain_gap(e, columns, column, "columns", NULL);
    }
}

/* One column: what each key that is seen gives. */
static void write_keys(struct explanation *e, enum stage stage, struct explain_place place, size_t column)
{
    static const struct gradient_term KINDS = {STAGE_GRAD_SCORES, STAGE_KEY, STAGE_GRAD_QUERY};
    const struct explain_range keys = {0, e->seen_count, false};
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t next = explain_next(e, keys, i);
        double subtotal = 0;
        for (size_t j = i; j < next; j++) {
            explain_load(e, STAGE_KEY, (struct explain_place){place.item, place.head, e->seen[j]}, e->factor);
            if (j > i) {
                subtotal += e->operand[e->seen[j]] * e->factor[column];
                continue;
            }
            explain_key_line(e, EXPLAIN_LINES, place.item, e->seen[i]);
            gradient_write_term(e, &KINDS, e->operand[e->seen[i]], e->factor[column]);
        }
        explain_gap(e, keys, i, "terms", explain_number(e, (int)stage, subtotal));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, (int)stage, e->made[column]));
}

static void explain_query(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range columns = explain_columns(e, stage);
    char what[64];
    explain_load(e, STAGE_GRAD_SCORES, place, e->operand);
    explain_load_made(e, stage, place, e->made);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        snprintf(what, sizeof what, "column %zu", column + 1);
        if (gradient_begin(e, stage, place, what)) {
            write_keys(e, stage, place, column);
            gradient_end(e);
        }
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}

const struct stage_functions stage_grad_output = {.applies = splits, .check = check_output, .formula = formula_output};
const struct stage_functions stage_grad_context = {.formula = formula_context, .explain = explain_context};
const struct stage_functions stage_grad_query = {
    .formula = formula_query, .make = make_query, .explain = explain_query};
