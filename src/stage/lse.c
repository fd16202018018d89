/* SPDX-License-Identifier: MIT */
/* lse = log of the sum of exponentials of a row of masked, as kernels keep it: Dao 2023, "FlashAttention-2", section
 * 3.1. */
#include "model/stage_id.h"
#include "stage/softmax.h"

#include <math.h>

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "log(sum(exp(%s)))%s", stage_name(stage_before(problem, stage)),
             problem->mask.sinks != NULL ? ", the sink too" : "");
}

/* Minus infinity for an empty row without a sink. */
static void make(const struct attention_row *row)
{
    const struct softmax below = softmax_exponentials(row, row->stages[STAGE_MASKED], row->cast);
    row->stages[STAGE_LSE][0] = row->empty && row->sink == NULL ? -INFINITY : below.largest + log(below.sum);
}

static double of_sums(const struct fused_sums *sums)
{
    return sums->empty ? sums->sink : sums->largest + log(sums->sum);
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct softmax softmax = softmax_explained(e, place);
    if (e->listed_count == 0 && softmax.sink == NULL) {
        explain_heading(e, stage, place, "every key is masked: log(0) = -inf");
        return;
    }
    explain_heading(e, stage, place, "exp(score - largest)");
    softmax_explain_exponentials(e, place, &softmax);
    explain_write(e, stage, place, "largest + log(sum)",
                  &(struct explain_lines){.over = EXPLAIN_RANGE,
                                          .range = {place.row, place.row + 1, false},
                                          .label = "lse",
                                          .group = EXPLAIN_QUOTIENTS,
                                          .terms = "a + log(b) = a + [log(b)]made = made",
                                          .given = {explain_value((int)e->before, softmax.largest),
                                                    explain_value(STAGE_WEIGHTS, softmax.sum)}});
}

const struct stage_functions stage_lse = {.formula = formula, .make = make, .of_sums = of_sums, .explain = explain};
