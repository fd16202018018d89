/* SPDX-License-Identifier: MIT */
#include "stage/softmax.h"

#include <math.h>

/* Scores (count) less the row's largest, rounded if the family does so. */
static void subtract(const struct problem *problem, const double *scores, double largest, size_t count,
                     double *differences)
{
    for (size_t j = 0; j < count; j++)
        differences[j] = scores[j] - largest;
    if (problem_rounding(problem)->softmax_each)
        dtype_round(problem->rounding.dtype, differences, count);
}

/* A score less the row's largest, rounded if the family does so. */
static double difference_of(const struct problem *problem, double score, double largest)
{
    double difference;
    subtract(problem, &score, largest, 1, &difference);
    return difference;
}

double softmax_of_sink(const struct problem *problem, const struct softmax *softmax)
{
    return softmax->sink != NULL ? exp(difference_of(problem, *softmax->sink, softmax->largest)) : 0;
}

double softmax_largest(const struct attention_row *row, const double *masked)
{
    const double *bias = row->bias;
    double largest = row->sink != NULL ? *row->sink : -INFINITY;
    for (size_t j = row->allowed.first; j < row->allowed.end; j++)
        if (bias[j] > -INFINITY && (masked[j] > largest || isnan(masked[j])))
            largest = masked[j];
    return largest;
}

struct softmax softmax_exponentials(const struct attention_row *row, const double *masked, double *exponentials)
{
    const double *bias = row->bias;
    const size_t keys = row->problem->size.keys, first = row->allowed.first, end = row->allowed.end;
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
    below.sum += softmax_of_sink(row->problem, &below);
    return below;
}

struct softmax softmax_of_scores(const struct problem *problem, size_t head, const double *scores, double *exponentials)
{
    const double *sinks = problem->mask.sinks;
    const struct attention_row row = {.problem = problem,
                                      .allowed = {0, problem->size.keys},
                                      .bias = scores,
                                      .sink = sinks != NULL ? sinks + head : NULL};
    return softmax_exponentials(&row, scores, exponentials);
}

struct softmax softmax_explained(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const double *sinks = problem->mask.sinks;
    explain_load(e, e->before, place, e->operand);
    dtype_round(problem->rounding.softmax_dtype, e->operand, problem->size.keys);
    explain_list_allowed(e, place);
    for (size_t key = 0; key < problem->size.keys; key++)
        e->made[key] = -INFINITY;
    for (size_t i = 0; i < e->listed_count; i++)
        e->made[e->listed[i]] = 0;
    return softmax_exponentials(&(struct attention_row){.problem = problem,
                                                        .allowed = {0, problem->size.keys},
                                                        .bias = e->made,
                                                        .sink = sinks != NULL ? sinks + place.head : NULL},
                                e->operand, e->factor);
}

static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const double score = line->given[0].numbers[line->index];
    line->given[2] = explain_value((int)e->before, difference_of(e->problem, score, line->given[1].value));
    return true;
}

void softmax_explain_exponentials(struct explanation *e, struct explain_place place, const struct softmax *softmax)
{
    const double of_sink = softmax_of_sink(e->problem, softmax);
    struct explain_lines lines = {
        .over = EXPLAIN_LISTED,
        .terms = "exp(a - b) = exp(c) = d",
        .given = {explain_numbers((int)e->before, e->operand),
                  explain_value((int)e->before, softmax->largest), [3] = explain_numbers(STAGE_WEIGHTS, e->factor)},
        .sums = true,
        .label = "the sink",
        .prepare = prepare};
    explain_note(e, "the largest is %s", explain_number(e, (int)e->before, softmax->largest));
    explain_write(e, STAGE_WEIGHTS, place, NULL, &lines);
    if (softmax->sink != NULL) {
        lines.over = EXPLAIN_RANGE;
        lines.range.end = 1;
        lines.given[0].numbers = softmax->sink;
        lines.given[3].numbers = &of_sink;
        lines.sums = false;
        explain_write(e, STAGE_WEIGHTS, place, NULL, &lines);
    }
    explain_sum(e, EXPLAIN_LINES, STAGE_WEIGHTS, softmax->sum);
    explain_note_masked(e, "exp(-inf) = 0");
}
