/* SPDX-License-Identifier: MIT */
/* entropy = - sum of weight x log(weight) of a row, in nats: Shannon 1948, "A Mathematical Theory of Communication". 0
 * log 0 is 0. With a sink the weights do not sum to 1, and the sink's share does not count. */
#include "model/stage_id.h"
#include "stage/stage.h"

#include <math.h>
#include <stdio.h>

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const char *weights = stage_name(stage_before(problem, stage));
    text_add(text, "-sum(%s x log(%s))", weights, weights);
}

static double term(double weight)
{
    return weight == 0 ? 0 : weight * log(weight);
}

double stage_row_entropy(const double *weights, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum -= term(weights[i]);
    return sum;
}

/* An empty row of NaN gives NaN even in a sequence without keys, where all weights are 0. */
static void make(const struct attention_row *row)
{
    const bool nan = row->empty && row->problem->mask.empty_row == EMPTY_ROW_NAN;
    row->stages[STAGE_ENTROPY][0] =
        nan ? (double)NAN : stage_row_entropy(row->stages[STAGE_WEIGHTS], row->problem->size.keys);
}

/* With weight = exp(x) / sum, x = score - largest: log(weight) = x - log(sum), so that no term is below 0. */
static double of_sums(const struct fused_sums *sums)
{
    const double keys = (double)sums->keys;
    const double empty[] = {[EMPTY_ROW_ZERO] = 0, [EMPTY_ROW_NAN] = (double)NAN, [EMPTY_ROW_MEAN] = log(keys)};
    return sums->empty ? empty[sums->empty_row] : (sums->of_keys * log(sums->sum) - sums->logs) / sums->sum;
}

static bool prepare(struct explanation *e, struct explain_lines *line)
{
    if (explain_row(e, STAGE_WEIGHTS, line->place, false)[line->index] == 0) {
        line->terms = "a";
        line->given[0] = explain_value((int)line->stage, 0);
        snprintf(line->words, sizeof line->words, ", as 0 log(0) = 0");
    }
    return true;
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    static const char *const EMPTY[] = {[EMPTY_ROW_ZERO] = "every key is masked: 0 log(0) = 0 of each",
                                        [EMPTY_ROW_NAN] = "every key is masked: all weights are nan",
                                        [EMPTY_ROW_MEAN] = "every key is masked: log(keys)"};
    _Static_assert(sizeof EMPTY / sizeof EMPTY[0] == EMPTY_ROW_COUNT, "a sentence for each empty row");
    const double made = explain_row(e, stage, place, true)[place.row];
    explain_list_allowed(e, place);
    if (e->listed_count == 0) {
        explain_heading(e, stage, place, EMPTY[e->problem->mask.empty_row]);
        return;
    }
    explain_write_sum(e, stage, place, "weight x log(weight)",
                      &(struct explain_lines){.over = EXPLAIN_LISTED,
                                              .terms = "weights x log(weights) = weights x [log(weights)]made = "
                                                       "[weights x log(weights)]made",
                                              .prepare = prepare},
                      -made);
    explain_note_masked(e, "0 log(0) = 0");
    explain_write(e, stage, place, "minus that sum",
                  &(struct explain_lines){.over = EXPLAIN_RANGE,
                                          .range = {place.row, place.row + 1, false},
                                          .label = "entropy",
                                          .group = EXPLAIN_QUOTIENTS,
                                          .terms = "made"});
}

const struct stage_functions stage_entropy = {
    .formula = formula, .make = make, .of_sums = of_sums, .takes_logs = true, .explain = explain};
