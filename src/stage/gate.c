/* SPDX-License-Identifier: MIT */
/* gate = sigmoid(inputs . W_gate^T): what multiplies the contexts before they are joined, as in Qwen3-Next. */
#include "stage/gate.h"

#include "base/threads.h"
#include "stage/norm.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <math.h>
#include <stdio.h>

enum { PIECE_NUMBERS = 1 << 21 }; /* of the weight in double, 16 MB */

struct gating {
    const struct problem *problem;
    gate_function *function;
    struct tensor *gate;           /* (B, H, Tq, d_v) written */
    double *weight, *bias;         /* (d_in, columns); (columns) or NULL */
    size_t head, columns, repeats; /* from this head on; each column for that many columns of a head */
    double *scratch;               /* (threads, d_in + columns) */
};

static void gate_token(void *context, size_t token, unsigned thread)
{
    const struct gating *gating = context;
    const struct problem *problem = gating->problem;
    const size_t d_in = problem->size.d_in, d = problem->size.d_value, queries = problem->size.queries;
    double *x = gating->scratch + thread * (d_in + gating->columns), *y = x + d_in;
    tensor_load(&problem->given.inputs, token * d_in, d_in, x);
    if (problem->given.residual)
        norm_input_row(problem, x);
    projection_row(problem, x, gating->weight, gating->bias, y, d_in, gating->columns);
    dtype_round(problem->rounding.dtype, y, gating->columns);
    for (size_t i = 0; i < gating->columns; i++)
        y[i] = gating->function(y[i]);
    dtype_round(problem->rounding.dtype, y, gating->columns);
    for (size_t i = 0; i < gating->columns * gating->repeats; i++) {
        const size_t matrix = token / queries * problem->size.heads + gating->head + i / d;
        tensor_store(gating->gate, (matrix * queries + token % queries) * d + i % d, 1, &y[i / gating->repeats]);
    }
}

double gate_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

enum status gate_make(struct problem *problem, gate_function *function, struct arena *arena, struct error *error)
{
    const struct projection *by = &problem->parameters.gate;
    const size_t tokens = problem->size.items * problem->size.queries, d = problem->size.d_value;
    const size_t shape[] = {problem->size.items, problem->size.heads, problem->size.queries, d};
    struct arena scratch = {0};
    if (by->weight.rank == 0)
        return STATUS_OK;
    const bool few = (double)tokens * (double)problem->size.d_in * (double)by->weight.shape[0] < 0x1p20;
    const unsigned threads = few ? 1 : problem->path.threads;
    struct gating gating = {.problem = problem, .function = function, .gate = &problem->given.gate};
    const size_t of_head = by->weight.shape[0] / problem->size.heads,
                 fit = PIECE_NUMBERS / (problem->size.d_in * of_head);
    gating.repeats = d / of_head;
    if (tensor_create(gating.gate, dtype_storage(problem->rounding.dtype), 4, shape, arena, error) != STATUS_OK)
        return error->status;
    for (size_t count; gating.head < problem->size.heads && error->status == STATUS_OK; gating.head += count) {
        count = memory_smaller(problem->size.heads - gating.head, memory_larger(fit, 1));
        gating.columns = count * of_head;
        if (projection_columns(by, gating.head * of_head, gating.columns, &gating.weight, &scratch, error) ==
                STATUS_OK &&
            projection_bias(by, &gating.bias, &scratch, error) == STATUS_OK)
            gating.scratch =
                arena_allocate(&scratch, threads, (problem->size.d_in + gating.columns) * sizeof(double), error);
        gating.bias = gating.bias != NULL ? gating.bias + gating.head * of_head : NULL;
        if (error->status == STATUS_OK)
            threads_run(threads, tokens, gate_token, &gating);
        arena_free(&scratch);
    }
    return error->status;
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
    const struct explain_place at = line->place;
    const double gate = problem_gate(e->problem, at.item * e->problem->size.queries + e->problem->chosen.rows[at.row],
                                     at.head * e->problem->size.d_value + line->index);
    if (e->problem->mistake.formulas[STAGE_GATE] == NULL)
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
