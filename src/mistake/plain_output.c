/* SPDX-License-Identifier: MIT */
/* output of a recipe. */
#include "mistake/plain.h"

#include "stage/projections.h"

#include <string.h>

/* The index in an item's contexts, (H, S, d_v), of column c of row i. */
static size_t source_of(const struct plain *plain, size_t row, size_t column)
{
    const size_t heads = plain->problem->size.heads, d = plain->problem->size.d_value, rows = plain->row_count;
    const size_t head = column / d, c = column % d;
    switch (plain->recipe->merge) {
    case RECIPE_MERGE_VIEW:
        return row * heads * d + column;
    case RECIPE_MERGE_INTERLEAVED:
        return (column % heads * rows + row) * d + column / heads;
    case RECIPE_MERGE_REVERSED:
        return ((heads - 1 - head) * rows + row) * d + c;
    case RECIPE_MERGE_HEADS:
        break;
    }
    return (head * rows + row) * d + c;
}

/* Whether it makes only the first columns. */
static bool makes_some(const struct plain *plain)
{
    return plain->few_columns > 0 && plain->few_columns < plain->problem->plan.d_output && !plain->recipe->out_twice;
}

/* Loads out_proj as doubles, (H d_v, stride); trials share it if mistakes leave it unchanged. */
static enum status load_out(struct plain *plain, double **weight, double **bias, size_t *stride)
{
    const struct projection *out = &plain->problem->parameters.out;
    struct plain_columns *columns = plain->recipe->output_changed ? NULL : plain->columns;
    struct arena *arena = columns != NULL ? plain->lasting : plain->arena;
    *weight = *bias = NULL;
    *stride = plain->problem->plan.d_output;
    if (!plain->problem->plan.has_out)
        return STATUS_OK;
    if (columns == NULL && makes_some(plain)) {
        *stride = plain->few_columns;
        return projection_columns(out, 0, *stride, weight, arena, plain->error) ||
                       projection_bias(out, bias, arena, plain->error)
                   ? plain->error->status
                   : STATUS_OK;
    }
    if (columns != NULL && columns->out_weight != NULL) {
        *weight = columns->out_weight;
        *bias = columns->out_bias;
        return STATUS_OK;
    }
    if (projection_weight(out, weight, arena, plain->error) || projection_bias(out, bias, arena, plain->error))
        return plain->error->status;
    if (columns != NULL) {
        columns->out_weight = *weight;
        columns->out_bias = *bias;
    }
    return STATUS_OK;
}

/* Makes `count` rows from contexts side by side, (count, width). */
static void make_rows(const struct plain *plain, const double *side_by_side, size_t count,
                      const struct projection_part *part, double *output)
{
    const struct problem *problem = plain->problem;
    const size_t width = problem->size.heads * problem->size.d_value, d_out = problem->plan.d_output;
    if (part->weight == NULL) {
        for (size_t i = 0; i < count; i++)
            output_row(problem, side_by_side + i * width, NULL, NULL, output + i * width);
        return;
    }
    projection_rows(problem, side_by_side, count, width, part, output, d_out);
    for (size_t i = 0; i < count; i++)
        dtype_round(problem->rounding.dtype, output + i * d_out, part->count);
}

enum status plain_output(struct plain *plain)
{
    enum { AT_ONCE = 8 };
    const struct problem *problem = plain->problem;
    const size_t width = problem->size.heads * problem->size.d_value, rows = plain->row_count;
    const size_t columns = problem_columns_of_head(problem, STAGE_OUTPUT), all = problem->size.items * rows;
    double *side_by_side = arena_allocate(plain->arena, AT_ONCE * width, sizeof *side_by_side, plain->error);
    double *weight, *bias;
    struct projection_part part;
    if (side_by_side == NULL || load_out(plain, &weight, &bias, &part.stride) != STATUS_OK)
        return plain->error->status;
    part.weight = weight;
    part.bias = bias;
    part.count = makes_some(plain) ? plain->few_columns : part.stride;
    for (size_t first = 0; first < all; first += AT_ONCE) {
        const size_t count = memory_smaller(all - first, AT_ONCE);
        double *output = plain->stages[STAGE_OUTPUT] + first * columns;
        for (size_t i = 0; i < count; i++) {
            const double *contexts = plain->stages[STAGE_CONTEXT] + (first + i) / rows * rows * width;
            for (size_t column = 0; column < width; column++)
                side_by_side[i * width + column] = contexts[source_of(plain, (first + i) % rows, column)];
        }
        make_rows(plain, side_by_side, count, &part, output);
        if (plain->recipe->out_twice) {
            memcpy(side_by_side, output, count * width * sizeof *output);
            make_rows(plain, side_by_side, count, &part, output);
        }
    }
    return STATUS_OK;
}
