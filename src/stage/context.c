/* context = dropped . value: Vaswani et al. 2017, eq. 1. */
#include "stage/softmax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "%s . value", stage_name(stage_before(problem, stage)));
}

/* dropped (Tk) . values first .. first + Tk of the tensor, into context (d_v). A value that is not seen, where `bias`
 * says so, takes no part; NULL: all do. */
static void weigh(const double *dropped, const double *bias, const struct tensor *value, size_t first,
                  double *one_value, double *restrict context, size_t keys, size_t d)
{
    memset(context, 0, d * sizeof *context);
    for (size_t j = 0; j < keys; j++) {
        if (bias != NULL && bias[j] == -INFINITY)
            continue;
        tensor_load(value, (first + j) * d, d, one_value);
        for (size_t c = 0; c < d; c++)
            context[c] += dropped[j] * one_value[c];
    }
}

/* The exponentials, rounded, weigh the values, and their sum divides last, as in PyTorch's
 * scaled_dot_product_attention. */
static void make_with_sum_last(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    double *context = row->stages[STAGE_CONTEXT];
    const struct softmax softmax = softmax_exponentials(row, row->stages[STAGE_MASKED], row->cast);
    dtype_round(problem->dtype, row->cast, problem->keys);
    weigh(row->cast, row->bias, row->value, row->first_key, row->operand, context, problem->keys, problem->d_value);
    for (size_t c = 0; c < problem->d_value; c++)
        context[c] /= softmax.sum;
}

/* Where ALiBi is there, and nothing but the family changes the weights. */
static bool has_sum_last(const struct problem *problem)
{
    return problem_rounding(problem)->sum_last && problem->mask.alibi_slopes != NULL && problem->dropout == 0 &&
           problem->recipe == NULL;
}

/* A row that may see no key is 0, NaN or the mean of all values, as --empty-row says. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const enum empty_row empty_row = problem->mask.empty_row;
    double *context = row->stages[STAGE_CONTEXT];
    if (!row->empty && has_sum_last(problem)) {
        make_with_sum_last(row);
        return;
    }
    if (!row->empty || empty_row == EMPTY_ROW_MEAN) {
        weigh(row->stages[STAGE_DROPPED], row->empty ? NULL : row->bias, row->value, row->first_key, row->operand,
              context, problem->keys, problem->d_value);
        return;
    }
    for (size_t c = 0; c < problem->d_value; c++)
        context[c] = empty_row == EMPTY_ROW_NAN ? (double)NAN : 0;
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* One column of the context: what each key that is seen gives, beneath each other. */
static void write_shares(struct explanation *e, struct explain_place place, size_t column, enum stage weights)
{
    const struct explain_range keys = {0, e->seen_count, false};
    double subtotal = 0, result = 0;
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        worked_line_term(&e->lines, explain_number(e, (int)weights, e->operand[key]));
        explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, key}, e->factor);
        worked_line_times(&e->lines, explain_number(e, STAGE_VALUE, e->factor[column]));
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, STAGE_CONTEXT, e->operand[key] * e->factor[column]));
        worked_line_end(&e->lines);
        subtotal = 0;
        for (size_t j = i + 1; j < explain_next(e, keys, i); j++) {
            explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, e->seen[j]}, e->factor);
            subtotal += e->operand[e->seen[j]] * e->factor[column];
        }
        explain_gap(e, keys, i, "terms", explain_number(e, STAGE_CONTEXT, subtotal));
    }
    result = e->made[e->problem->packed ? place.head * e->problem->d_value + column : column];
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, STAGE_CONTEXT, result));
}

/* The columns of one head's context; those of packed heads lie side by side. */
static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum stage weights = stage_before(problem, stage);
    const struct explain_range columns = explain_columns(e, stage);
    char what[64];
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        struct explain_place of_head = place;
        if (problem->packed)
            of_head.head = column / problem->d_value;
        explain_list_weighed(e, of_head);
        explain_load(e, weights, of_head, e->operand);
        explain_load(e, stage, place, e->made);
        snprintf(what, sizeof what, "column %zu", column + 1);
        explain_heading(e, stage, place, what);
        if (e->seen_count == 0)
            explain_note(e, "every key is masked: %s", explain_number(e, (int)stage, e->made[column]));
        else
            write_shares(e, of_head, problem->packed ? column % problem->d_value : column, weights);
        if (column + 1 == columns.end && e->seen_count > 0)
            explain_note_masked(e, "no share");
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}

const struct stage_functions stage_context = {.formula = formula, .make = make, .explain = explain};
