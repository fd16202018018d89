/* SPDX-License-Identifier: MIT */
/* context = dropped . value: Vaswani et al. 2017, eq. 1. */
#include "model/stage_id.h"
#include "stage/dot_products.h"
#include "stage/softmax.h"

#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 8, MOST_COLUMNS = 2 * MOST_PAIRS };

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "%s . value", stage_name(stage_before(problem, stage)));
}

/* Computes dropped . value over a span of keys, except those that `bias` forbids. */
struct weighed {
    const double *dropped, *bias; /* (Tk); bias NULL: allows all */
    struct span keys;
    const double *value; /* (Tk, d) */
    size_t d;
};

/* Some pairs of columns from `column` on; their sums stay in registers, since `pairs` is a constant. */
static inline void weigh_pairs(const struct weighed *of, size_t column, size_t pairs, double *restrict context)
{
    dot_pair sums[MOST_PAIRS] = {{0}};
    for (size_t j = of->keys.first; j < of->keys.end; j++) {
        const dot_pair *value = (const dot_pair *)(of->value + j * of->d + column);
        if (of->bias != NULL && of->bias[j] == -INFINITY)
            continue;
        for (size_t pair = 0; pair < pairs; pair++)
            sums[pair] += of->dropped[j] * value[pair];
    }
    memcpy(context + column, sums, pairs * sizeof sums[0]);
}

static void weigh_column(const struct weighed *of, size_t column, double *context)
{
    double sum = 0;
    for (size_t j = of->keys.first; j < of->keys.end; j++)
        if (of->bias == NULL || of->bias[j] != -INFINITY)
            sum += of->dropped[j] * of->value[j * of->d + column];
    context[column] = sum;
}

static void weigh(const struct weighed *of, double *context)
{
    size_t column = 0;
    for (; column + MOST_COLUMNS <= of->d; column += MOST_COLUMNS)
        weigh_pairs(of, column, MOST_PAIRS, context);
    for (; column + 2 <= of->d; column += 2)
        weigh_pairs(of, column, 1, context);
    if (column < of->d)
        weigh_column(of, column, context);
}

/* The rounded exponentials multiply the values, and their sum divides last, as in PyTorch's
 * scaled_dot_product_attention. */
static void make_with_sum_last(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    double *context = row->stages[STAGE_CONTEXT];
    const struct softmax softmax = softmax_exponentials(row, row->stages[STAGE_MASKED], row->cast);
    dtype_round(problem->rounding.dtype, row->cast, problem->size.keys);
    weigh(&(struct weighed){row->cast, row->bias, row->allowed, row->value, problem->size.d_value}, context);
    for (size_t c = 0; c < problem->size.d_value; c++)
        context[c] /= softmax.sum;
}

/* An empty row is 0, NaN or the mean of all values, as --empty-row says. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const enum empty_row empty_row = problem->mask.empty_row;
    const bool family_alone = problem->drop.share == 0 && problem->mistake.recipe == NULL;
    double *context = row->stages[STAGE_CONTEXT];
    if (!row->empty && problem_rounding(problem)->sum_last && problem->mask.alibi_slopes != NULL && family_alone) {
        make_with_sum_last(row);
        return;
    }
    if (!row->empty || empty_row == EMPTY_ROW_MEAN) {
        const struct span keys = row->empty ? (struct span){0, problem->size.keys} : row->allowed;
        weigh(&(struct weighed){row->stages[STAGE_DROPPED], row->empty ? NULL : row->bias, keys, row->value,
                                problem->size.d_value},
              context);
        return;
    }
    for (size_t c = 0; c < problem->size.d_value; c++)
        context[c] = empty_row == EMPTY_ROW_NAN ? (double)NAN : 0;
}

/* Explains what each allowed key adds to a column of one head's context; packed heads lie side by side. */
static void explain_column_of(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                              const char *heading)
{
    const size_t d = e->problem->size.d_value;
    const double made = explain_row(e, stage, place, true)[column];
    if (e->problem->size.heads_packed)
        place.head = column / d;
    explain_list_weighed(e, place);
    if (e->listed_count == 0) {
        explain_heading(e, stage, place, heading);
        explain_note(e, "every key is masked: %s", explain_number(e, (int)stage, made));
        return;
    }
    explain_write_sum(e, stage, place, heading,
                      &(struct explain_lines){.over = EXPLAIN_LISTED,
                                              .terms = "before x value = [before x value]made",
                                              .column = column % d},
                      made);
    if (column + 1 == explain_columns(e, stage).end)
        explain_note_masked(e, "no share");
}

const struct stage_functions stage_context = {.formula = formula, .make = make, .explain_column = explain_column_of};
