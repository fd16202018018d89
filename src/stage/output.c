/* SPDX-License-Identifier: MIT */
#include "stage/projections.h"

#include "stage/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool applies(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].splits;
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    if (problem->plan.stacked)
        text_add(text, "heads side by side");
    else
        text_add(text, "%s . out_proj.weight^T%s", problem->given.gate.rank > 0 ? "(heads x gate)" : "heads",
                 problem->parameters.out.bias.rank > 0 ? " + out_proj.bias" : "");
}

void output_row(const struct problem *problem, const double *context, const double *weight, const double *bias,
                double *output)
{
    const size_t width = problem->size.heads * problem->size.d_value, d_out = problem->plan.d_output;
    if (weight == NULL)
        memcpy(output, context, width * sizeof *output);
    else
        projection_row(problem, context, weight, bias, output, width, d_out);
    dtype_round(problem->rounding.dtype, output, weight == NULL ? width : d_out);
}

static bool applies_gate(const struct problem *problem)
{
    return problem->parameters.gate.weight.rank > 0;
}

static void formula_gate(const struct problem *problem, enum stage stage, struct text *text)
{
    const size_t rows = problem->parameters.gate.weight.shape[0];
    text_add(text, "sigmoid(%s . W_gate.weight^T%s)%s", stage_name(problem_source(problem, stage)),
             problem->parameters.gate.bias.rank > 0 ? " + W_gate.bias" : "",
             rows == problem->size.heads ? ", one for each head" : "");
}

/* "sigmoid of -0.2513": the number before is the inverse of the made one. */
static bool prepare_gate(struct explanation *e, struct explain_lines *line)
{
    double gate;
    const struct explain_place at = line->place;
    const size_t queries = e->problem->size.queries, d = e->problem->size.d_value;
    tensor_load(&e->problem->given.gate,
                ((at.item * e->problem->size.heads + at.head) * queries + e->problem->chosen.rows[at.row]) * d +
                    line->index,
                1, &gate);
    snprintf(line->words, sizeof line->words, ", sigmoid of %s",
             explain_number(e, STAGE_QUERY, log(gate / (1 - gate))));
    return true;
}

static void explain_gate(struct explanation *e, enum stage stage, struct explain_place place)
{
    explain_write(e, stage, place, "",
                  &(struct explain_lines){.over = EXPLAIN_COLUMNS, .terms = "made", .prepare = prepare_gate});
}

const struct stage_functions stage_gate = {
    .applies = applies_gate,
    .lack = "there is no 'gate' without W_gate, which few models have; expected 'output'",
    .formula = formula_gate,
    .explain = explain_gate};

static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const size_t d = e->problem->size.d_value;
    snprintf(line->words, sizeof line->words, ", column %zu of head %zu", line->index % d + 1, line->index / d + 1);
    return true;
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const size_t d = problem->size.d_value;
    for (size_t head = 0; head < problem->size.heads; head++)
        explain_load(e, STAGE_CONTEXT, (struct explain_place){place.item, head, place.row}, e->operand + head * d);
    problem_gate_heads(problem, place.item * problem->size.queries + problem->chosen.rows[place.row], e->operand);
    if (problem->plan.has_out)
        explain_projected(e, stage, place, problem->given.gate.rank > 0 ? "from context x gate" : "",
                          &(struct explain_projection){.projection = &problem->parameters.out,
                                                       .d_in = problem->size.heads * d,
                                                       .weight_kind = EXPLAIN_WEIGHTS + PROJECTION_COUNT,
                                                       .x_kind = STAGE_CONTEXT},
                          explain_prepare_projected);
    else
        explain_write(e, stage, place, "",
                      &(struct explain_lines){.over = EXPLAIN_COLUMNS, .terms = "made", .prepare = prepare});
}

const struct stage_functions stage_output = {.applies = applies,
                                             .lack = " has no 'output', it ends at 'context'; multihead has one",
                                             .formula = formula,
                                             .explain = explain};
