/* SPDX-License-Identifier: MIT */
#include "stage/projections.h"

#include "stage/stage.h"

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
