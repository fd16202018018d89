/* SPDX-License-Identifier: MIT */
/* weights = softmax(masked): Vaswani et al. 2017, eq. 1. */
#include "model/stage_id.h"
#include "stage/softmax.h"

#include <math.h>
#include <string.h>

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "softmax(%s)%s", stage_name(stage_before(problem, stage)),
             problem->mask.sinks != NULL ? ", a sink in the sum" : "");
}

static const double *cast_masked(const struct attention_row *row)
{
    memcpy(row->cast, row->stages[STAGE_MASKED], row->problem->size.keys * sizeof *row->cast);
    dtype_round(row->problem->rounding.softmax_dtype, row->cast, row->problem->size.keys);
    return row->cast;
}

/* Writes the weights of an empty row, as --empty-row says; 0 outside its sequence. */
static void fill_empty(const struct attention_row *row, double *weights)
{
    const enum empty_row empty_row = row->problem->mask.empty_row;
    const size_t keys = row->problem->size.keys;
    const double weight = empty_row == EMPTY_ROW_MEAN ? 1 / (double)keys : empty_row == EMPTY_ROW_NAN ? (double)NAN : 0;
    for (size_t j = 0; j < keys; j++)
        weights[j] = j >= row->own.first && j < row->own.end ? weight : 0;
}

/* Divides exp(masked_j - largest) by the sum of them all. A forbidden key weighs exactly 0. If all scores of a row
 * overflowed to minus infinity, its weights are NaN, as in PyTorch. */
static void divide(const struct attention_row *row, double *weights, double sum)
{
    const size_t keys = row->problem->size.keys;
    const double *bias = row->bias;
    for (size_t j = 0; j < keys; j++)
        weights[j] = bias[j] > -INFINITY ? weights[j] / sum : 0;
    if (row->problem->rounding.softmax_dtype != row->problem->rounding.dtype)
        dtype_round(row->problem->rounding.softmax_dtype, weights, keys);
}

/* Rounds the exponentials, sums them in double and rounds the sum; in some dtypes it rounds each addition. */
static double sum_rounded(const struct attention_row *row, const double *masked, double *exponentials)
{
    const enum dtype dtype = row->problem->rounding.softmax_dtype;
    const size_t keys = row->problem->size.keys;
    const double largest = softmax_largest(row, masked);
    double sum = row->sink != NULL ? stage_rounded(dtype, exp(stage_rounded(dtype, *row->sink - largest))) : 0;
    for (size_t j = 0; j < keys; j++)
        exponentials[j] = masked[j] - largest;
    dtype_round(dtype, exponentials, keys);
    for (size_t j = 0; j < keys; j++)
        exponentials[j] = row->bias[j] > -INFINITY ? exp(exponentials[j]) : 0;
    dtype_round(dtype, exponentials, keys);
    for (size_t j = 0; j < keys; j++) {
        sum += exponentials[j];
        sum = dtype_rounds_sums(dtype) ? stage_rounded(dtype, sum) : sum;
    }
    return stage_rounded(dtype, sum);
}

static void make(const struct attention_row *row)
{
    double *weights = row->stages[STAGE_WEIGHTS];
    if (row->empty)
        fill_empty(row, weights);
    else if (row->problem->rounding.when == ROUNDING_OPERATIONS)
        divide(row, weights, sum_rounded(row, cast_masked(row), weights));
    else
        divide(row, weights, softmax_exponentials(row, cast_masked(row), weights).sum);
}

/* Writes each exponential over their sum, or only the cell's. */
static void write_quotients(struct explanation *e, enum stage stage, struct explain_place place,
                            const struct softmax *softmax)
{
    const struct problem *problem = e->problem;
    const bool one = problem->chosen.has_cell && stage_is_square(problem->chosen.cell.stage);
    if (one && explain_rule(e, place, problem->chosen.cell.column) != MASK_ALLOWS) {
        explain_note(e, "the key is masked: 0 / %s = 0", explain_number(e, STAGE_WEIGHTS, softmax->sum));
        return;
    }
    if (one)
        explain_list_one(e, problem->chosen.cell.column);
    const double sum = explain_write(e, stage, place, NULL,
                                     &(struct explain_lines){.over = EXPLAIN_LISTED,
                                                             .group = EXPLAIN_QUOTIENTS,
                                                             .terms = "a / b = made",
                                                             .given = {explain_numbers(STAGE_WEIGHTS, e->factor),
                                                                       explain_value(STAGE_WEIGHTS, softmax->sum)},
                                                             .sums = true});
    if (!one && softmax->sink == NULL)
        explain_sum(e, EXPLAIN_QUOTIENTS, stage, sum);
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    static const char *const EMPTY[] = {[EMPTY_ROW_ZERO] = "every key is masked: all weights are 0",
                                        [EMPTY_ROW_NAN] = "every key is masked: all weights are nan",
                                        [EMPTY_ROW_MEAN] = "every key is masked: all weights are 1 / keys"};
    _Static_assert(sizeof EMPTY / sizeof EMPTY[0] == EMPTY_ROW_COUNT, "a sentence for each empty row");
    const struct softmax softmax = softmax_explained(e, place);
    if (e->listed_count == 0) {
        explain_heading(e, stage, place, EMPTY[e->problem->mask.empty_row]);
        return;
    }
    explain_heading(e, stage, place, "exp(score - largest)");
    softmax_explain_exponentials(e, place, &softmax);
    explain_heading(e, stage, place, "each divided by their sum");
    write_quotients(e, stage, place, &softmax);
}

const struct stage_functions stage_weights = {.formula = formula, .make = make, .explain = explain};
