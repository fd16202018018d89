#include "stage/softmax.h"

#include "stage/rounded.h"

#include <math.h>

double softmax_difference(const struct problem *problem, double score, double largest)
{
    return problem_rounding(problem)->softmax_each ? rounded(problem->dtype, score - largest) : score - largest;
}

struct softmax softmax_exponentials(const struct attention_row *row, const double *masked, double *exponentials)
{
    const double *bias = row->bias;
    const size_t keys = row->problem->keys;
    struct softmax below = {row->sink != NULL ? *row->sink : -INFINITY, 0, row->sink};
    for (size_t j = 0; j < keys; j++)
        if (bias[j] > -INFINITY && (masked[j] > below.largest || isnan(masked[j])))
            below.largest = masked[j];
    for (size_t j = 0; j < keys; j++) {
        exponentials[j] = bias[j] > -INFINITY ? exp(softmax_difference(row->problem, masked[j], below.largest)) : 0;
        below.sum += exponentials[j];
    }
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
