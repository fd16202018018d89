/* SPDX-License-Identifier: MIT */
/* gate = sigmoid(inputs . W_gate^T): what multiplies the contexts before they are joined, as in Qwen3-Next. */
#include "build/build.h"

#include "base/threads.h"
#include "stage/norm.h"
#include "stage/projections.h"

#include <math.h>

enum { PIECE_NUMBERS = 1 << 21 }; /* of the weight in double, 16 MB */

struct gating {
    const struct problem *problem;
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
        y[i] = 1 / (1 + exp(-y[i]));
    dtype_round(problem->rounding.dtype, y, gating->columns);
    for (size_t i = 0; i < gating->columns * gating->repeats; i++) {
        const size_t matrix = token / queries * problem->size.heads + gating->head + i / d;
        tensor_store(gating->gate, (matrix * queries + token % queries) * d + i % d, 1, &y[i / gating->repeats]);
    }
}

enum status build_gate(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct projection *by = &problem->parameters.gate;
    const size_t tokens = problem->size.items * problem->size.queries, d = problem->size.d_value;
    const size_t shape[] = {problem->size.items, problem->size.heads, problem->size.queries, d};
    struct arena scratch = {0};
    if (by->weight.rank == 0 || problem->parameters_only)
        return STATUS_OK;
    const bool few = (double)tokens * (double)problem->size.d_in * (double)by->weight.shape[0] < 0x1p20;
    const unsigned threads = few                           ? 1
                             : build->options->threads > 0 ? (unsigned)build->options->threads
                                                           : threads_available();
    struct gating gating = {.problem = problem, .gate = &problem->given.gate};
    const size_t of_head = by->weight.shape[0] / problem->size.heads,
                 fit = PIECE_NUMBERS / (problem->size.d_in * of_head);
    gating.repeats = d / of_head;
    if (tensor_create(gating.gate, dtype_storage(problem->rounding.dtype), 4, shape, build->arena, build->error))
        return build->error->status;
    for (size_t count; gating.head < problem->size.heads && build->error->status == STATUS_OK; gating.head += count) {
        count = memory_smaller(problem->size.heads - gating.head, memory_larger(fit, 1));
        gating.columns = count * of_head;
        if (projection_columns(by, gating.head * of_head, gating.columns, &gating.weight, &scratch, build->error) ==
                STATUS_OK &&
            projection_bias(by, &gating.bias, &scratch, build->error) == STATUS_OK)
            gating.scratch =
                arena_allocate(&scratch, threads, (problem->size.d_in + gating.columns) * sizeof(double), build->error);
        gating.bias = gating.bias != NULL ? gating.bias + gating.head * of_head : NULL;
        if (build->error->status == STATUS_OK)
            threads_run(threads, tokens, gate_token, &gating);
        arena_free(&scratch);
    }
    return build->error->status;
}
