#include "stage/softmax.h"

#include <math.h>

/* Scores (count) less the largest one of their row, rounded where the family has it so. */
static void subtract(const struct problem *problem, const double *scores, double largest, size_t count,
                     double *differences)
{
    for (size_t j = 0; j < count; j++)
        differences[j] = scores[j] - largest;
    if (problem_rounding(problem)->softmax_each)
        dtype_round(problem->dtype, differences, count);
}

double softmax_difference(const struct problem *problem, double score, double largest)
{
    double difference;
    subtract(problem, &score, largest, 1, &difference);
    return difference;
}

double softmax_largest(const struct attention_row *row, const double *masked)
{
    const double *bias = row->bias;
    double largest = row->sink != NULL ? *row->sink : -INFINITY;
    for (size_t j = row->seen.first; j < row->seen.end; j++)
        if (bias[j] > -INFINITY && (masked[j] > largest || isnan(masked[j])))
            largest = masked[j];
    return largest;
}

struct softmax softmax_exponentials(const struct attention_row *row, const double *masked, double *exponentials)
{
    const double *bias = row->bias;
    const size_t keys = row->problem->keys, first = row->seen.first, end = row->seen.end;
    struct softmax below = {softmax_largest(row, masked), 0, row->sink};
    subtract(row->problem, masked + first, below.largest, end - first, exponentials + first);
    for (size_t j = 0; j < first; j++)
        exponentials[j] = 0;
    for (size_t j = first; j < end; j++) {
        exponentials[j] = bias[j] > -INFINITY ? exp(exponentials[j]) : 0;
        below.sum += exponentials[j];
    }
    for (size_t j = end; j < keys; j++)
        exponentials[j] = 0;
    if (row->sink != NULL)
        below.sum += exp(softmax_difference(row->problem, *row->sink, below.largest));
    return below;
}

/* --- explained --------------------------------------------------------------------------------------------------- */

struct softmax softmax_explained(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const double *sinks = problem->mask.sinks;
    struct softmax softmax = {-INFINITY, 0, sinks != NULL ? sinks + place.head : NULL};
    explain_load(e, stage_before(problem, STAGE_WEIGHTS), place, e->operand);
    dtype_round(problem->softmax_dtype, e->operand, problem->keys);
    explain_list_seen(e, place);
    if (softmax.sink != NULL)
        softmax.largest = *softmax.sink;
    for (size_t i = 0; i < e->seen_count; i++) {
        const double score = e->operand[e->seen[i]];
        softmax.largest = score > softmax.largest || isnan(score) ? score : softmax.largest;
    }
    for (size_t i = 0; i < e->seen_count; i++) {
        const size_t key = e->seen[i];
        e->factor[key] = exp(softmax_difference(problem, e->operand[key], softmax.largest));
        softmax.sum += e->factor[key];
    }
    if (softmax.sink != NULL)
        softmax.sum += exp(softmax_difference(problem, *softmax.sink, softmax.largest));
    return softmax;
}

static void write_exponential(struct explanation *e, double score, double largest, double exponential)
{
    const int kind = (int)stage_before(e->problem, STAGE_WEIGHTS);
    worked_line_open(&e->lines, WORKED_LINE_EXP, false);
    worked_line_term(&e->lines, explain_number(e, kind, score));
    worked_line_minus(&e->lines, explain_number(e, kind, largest));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_open(&e->lines, WORKED_LINE_EXP, false);
    worked_line_term(&e->lines, explain_number(e, kind, softmax_difference(e->problem, score, largest)));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, exponential));
    worked_line_end(&e->lines);
}

void softmax_explain_exponentials(struct explanation *e, struct explain_place place, const struct softmax *softmax)
{
    const struct explain_range keys = {0, e->seen_count, false};
    const int kind = (int)stage_before(e->problem, STAGE_WEIGHTS);
    explain_note(e, "the largest is %s", explain_number(e, kind, softmax->largest));
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_exponential(e, e->operand[key], softmax->largest, e->factor[key]);
        explain_gap(e, keys, i, "terms", explain_number(e, STAGE_WEIGHTS, explain_sum_left_out(e, i, e->factor)));
    }
    if (softmax->sink != NULL) {
        explain_line(e, EXPLAIN_LINES, "the sink");
        write_exponential(e, *softmax->sink, softmax->largest,
                          exp(softmax_difference(e->problem, *softmax->sink, softmax->largest)));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, STAGE_WEIGHTS, softmax->sum));
    explain_note_masked(e, "exp(-inf) = 0");
}
