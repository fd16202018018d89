/* SPDX-License-Identifier: MIT */
/* The gradients at both ends of a row: the given one, and that with respect to query. */
#include "stage/dot_products.h"
#include "stage/explained.h"
#include "stage/words.h"

#include <stdio.h>
#include <string.h>

static bool splits(const struct problem *problem)
{
    return problem_last_stage(problem) == STAGE_OUTPUT;
}

static void formula_output(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "%s",
             words_follow(problem) && stage != STAGE_GRAD_LOGITS ? "grad_residual"
             : problem->loss.gradient.rank > 0                   ? "as given"
                                                                 : "ones");
}

static bool is_gated(const struct problem *problem)
{
    return problem->parameters.gate.weight.rank > 0;
}

static void formula_context(const struct problem *problem, enum stage stage, struct text *text)
{
    if (!splits(problem))
        formula_output(problem, stage, text);
    else
        text_add(text, "grad_output%s, cut into heads%s", problem->plan.has_out ? " . out_proj.weight" : "",
                 is_gated(problem) ? ", x gate" : "");
}

/* Reads keys from panels, where they lie side by side. */
static void make_query(const struct attention_row *row)
{
    const size_t d = row->problem->size.d_head;
    const double *scores = row->stages[STAGE_GRAD_SCORES];
    double *made = row->stages[STAGE_GRAD_QUERY];
    memset(made, 0, d * sizeof *made);
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        const double *key = row->key + j / DOT_KEYS * DOT_KEYS * d + j % DOT_KEYS;
        for (size_t k = 0; k < d && scores[j] != 0; k++)
            made[k] += scores[j] * key[k * DOT_KEYS];
    }
}

/* Loads a row of out_proj, and what multiplies its product where there is a gate; without out_proj, finds this head's
 * column of grad_output. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const struct problem *problem = e->problem;
    const struct explain_place at = line->place;
    const size_t row = at.head * problem->size.d_value + line->index;
    if (problem_leaves_out(problem, at.head)) {
        line->terms = "made";
        snprintf(line->words, sizeof line->words, ": head %zu is left out", at.head + 1);
    } else if (problem->plan.has_out)
        gradient_load_row(&problem->parameters.out, row, problem->plan.d_output, e->factor);
    else
        snprintf(line->words, sizeof line->words, ", column %zu of grad_output", row + 1);
    if (line->stage == STAGE_GRAD_GATE)
        line->given[2] = explain_value(STAGE_CONTEXT, explain_row(e, STAGE_CONTEXT, at, false)[line->index]);
    else if (is_gated(problem))
        line->given[2] = explain_value(
            STAGE_GATE, problem_gate(problem, at.item * problem->size.queries + problem->chosen.rows[at.row], row));
    return true;
}

/* Of context, or of the gate that multiplies it. */
static void explain_context(struct explanation *e, enum stage stage, struct explain_place place)
{
    const char *terms = is_gated(e->problem)       ? "c x ({a x b}made) = c x [{a x b}made]made = made"
                        : e->problem->plan.has_out ? EXPLAIN_DOT("a", "b", "made")
                                                   : "made";
    explain_load(e, STAGE_GRAD_OUTPUT, place, e->operand);
    explain_write(e, stage, place, "",
                  &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                          .terms = terms,
                                          .given = {explain_numbers(STAGE_GRAD_OUTPUT, e->operand),
                                                    explain_numbers(EXPLAIN_WEIGHTS + PROJECTION_COUNT, e->factor)},
                                          .count = e->problem->plan.d_output,
                                          .prepare = prepare});
}

static void explain_column_of(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                              const char *heading)
{
    if (!gradient_begin(e, stage, place, heading))
        return;
    explain_write_sum(e, stage, place, NULL,
                      &(struct explain_lines){.over = EXPLAIN_LISTED,
                                              .terms = "grad_scores x key = [grad_scores x key]made",
                                              .column = column},
                      explain_row(e, stage, place, true)[column]);
    gradient_end(e);
}

#define NO_WORDS "the gradient of logits needs an unembedding; expected grad_output, or grad_context"
const struct stage_functions stage_grad_logits = {.applies = words_follow, .lack = NO_WORDS, .formula = formula_output};
const struct stage_functions stage_grad_residual = {
    .applies = words_follow, .lack = NO_WORDS, .formula_words = "grad_logits . unembedding^T"};
const struct stage_functions stage_grad_output = {
    .applies = splits,
    .lack = " has no 'grad_output', it ends at 'context'; expected grad_context",
    .formula = formula_output};
const struct stage_functions stage_grad_context = {.formula = formula_context, .explain = explain_context};
const struct stage_functions stage_grad_gate = {
    .applies = is_gated,
    .lack = "there is no 'grad_gate' without W_gate, which few models have; expected 'grad_context'",
    .formula_words = "grad_output . out_proj.weight, cut into heads, x context",
    .explain = explain_context};
const struct stage_functions stage_grad_query = {
    .formula_words = "grad_scores . key", .make = make_query, .explain_column = explain_column_of};
