/* entropy = - sum of weight x log(weight) of a row, in nats: Shannon 1948, "A Mathematical Theory of Communication".
 * 0 log 0 is 0. With a sink the weights do not sum to 1, and the sink's share is none of them. */
#include "model/stage_id.h"
#include "stage/stage.h"

#include <math.h>

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const char *weights = stage_name(stage_before(problem, stage));
    text_add(text, "-sum(%s x log(%s))", weights, weights);
}

static double term(double weight)
{
    return weight == 0 ? 0 : weight * log(weight);
}

static void make(const struct attention_row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS];
    double sum = 0;
    for (size_t j = 0; j < row->problem->keys; j++)
        sum -= term(weights[j]);
    row->stages[STAGE_ENTROPY][0] = sum;
}

/* With weight = exp(x) / sum, x = score - largest: log(weight) = x - log(sum), so that no term is below 0. */
static double of_sums(const struct fused_sums *sums)
{
    const double keys = (double)sums->keys;
    const double empty[] = {[EMPTY_ROW_ZERO] = 0, [EMPTY_ROW_NAN] = (double)NAN, [EMPTY_ROW_MEAN] = log(keys)};
    return sums->empty ? empty[sums->empty_row] : (sums->of_keys * log(sums->sum) - sums->logs) / sums->sum;
}

static void write_key(struct explanation *e, enum stage stage, struct explain_place place, size_t key)
{
    const double weight = e->operand[key];
    explain_key_line(e, EXPLAIN_LINES, place.item, key);
    if (weight != 0) {
        worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, weight));
        worked_line_open(&e->lines, WORKED_LINE_LOG, true);
        worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, weight));
        worked_line_close(&e->lines);
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, weight));
        worked_line_times(&e->lines, explain_number(e, (int)stage, log(weight)));
        worked_line_relation(&e->lines);
    }
    worked_line_term(&e->lines, explain_number(e, (int)stage, e->factor[key]));
    if (weight == 0)
        worked_line_words(&e->lines, ", as 0 log(0) = 0");
    worked_line_end(&e->lines);
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    static const char *const EMPTY[] = {[EMPTY_ROW_ZERO] = "every key is masked: 0 log(0) = 0 of each",
                                        [EMPTY_ROW_NAN] = "every key is masked: all weights are nan",
                                        [EMPTY_ROW_MEAN] = "every key is masked: log(keys)"};
    _Static_assert(sizeof EMPTY / sizeof EMPTY[0] == EMPTY_ROW_COUNT, "a sentence for each empty row");
    explain_list_seen(e, place);
    const struct explain_range keys = {0, e->seen_count, false};
    explain_load(e, STAGE_WEIGHTS, place, e->operand);
    explain_load(e, stage, place, e->made);
    if (keys.end == 0) {
        explain_heading(e, stage, place, EMPTY[e->problem->mask.empty_row]);
        return;
    }
    explain_heading(e, stage, place, "weight x log(weight)");
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i++)
        e->factor[e->seen[i]] = term(e->operand[e->seen[i]]);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        write_key(e, stage, place, e->seen[i]);
        explain_gap(e, keys, i, "terms", explain_number(e, (int)stage, explain_sum_left_out(e, i, e->factor)));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, (int)stage, -e->made[place.row]));
    explain_note_masked(e, "0 log(0) = 0");
    explain_heading(e, stage, place, "minus that sum");
    explain_line(e, EXPLAIN_QUOTIENTS, "%s", stage_name(stage));
    worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[place.row]));
    worked_line_end(&e->lines);
}

const struct stage_functions stage_entropy = {
    .formula = formula, .make = make, .of_sums = of_sums, .takes_logs = true, .explain = explain};
