/* SPDX-License-Identifier: MIT */
/* output of a recipe. */
#include "mistake/plain.h"

#include "stage/norm.h"
#include "stage/projections.h"
#include "stage/words.h"

#include <math.h>
#include <string.h>

/* The index in an item's contexts, (H, S, d_v), of column c of row i. */
static size_t source_of(const struct plain *plain, size_t row, size_t column)
{
    const size_t heads = plain->problem->size.heads, d = plain->problem->size.d_value, rows = plain->row_count;
    const size_t head = column / d, c = column % d;
    if (plain->recipe->merge > RECIPE_MERGE_REVERSED) /* of the first head */
        return row * d + c;
    const size_t sources[] = {[RECIPE_MERGE_HEADS] = (head * rows + row) * d + c,
                              [RECIPE_MERGE_VIEW] = row * heads * d + column,
                              [RECIPE_MERGE_INTERLEAVED] = (column % heads * rows + row) * d + column / heads,
                              [RECIPE_MERGE_REVERSED] = ((heads - 1 - head) * rows + row) * d + c};
    return sources[plain->recipe->merge];
}

/* A number of the heads side by side. */
static double joined(const struct plain *plain, const double *contexts, size_t row, size_t column)
{
    const enum recipe_merge merge = plain->recipe->merge;
    const size_t heads = merge > RECIPE_MERGE_REVERSED ? plain->problem->size.heads : 1;
    const double *first = contexts + source_of(plain, row, column);
    double sum = 0;
    for (size_t head = 0; head < heads; head++)
        sum += first[head * plain->row_count * plain->problem->size.d_value];
    return merge == RECIPE_MERGE_MEAN ? sum / (double)heads : sum;
}

/* Loads the columns of out_proj that trials share. */
static enum status share_out(const struct plain *plain)
{
    const struct projection *out = &plain->problem->parameters.out;
    struct plain_columns *columns = plain->columns;
    columns->out_columns = columns->out_columns > 0
                               ? memory_smaller(columns->out_columns, plain->problem->plan.d_output)
                               : plain->problem->plan.d_output;
    return projection_columns(out, 0, columns->out_columns, &columns->out_weight, plain->lasting, plain->error) ||
                   projection_bias(out, &columns->out_bias, plain->lasting, plain->error)
               ? plain->error->status
               : STATUS_OK;
}

/* Makes all rows from contexts side by side, (rows, width). */
static enum status make_rows(const struct plain *plain, const double *side_by_side, size_t rows, double *output)
{
    const struct problem *problem = plain->problem;
    const struct projection *out = &problem->parameters.out;
    struct plain_columns *columns = plain->recipe->output_changed ? NULL : plain->columns;
    const size_t width = problem->size.heads * problem->size.d_value, d_out = problem->plan.d_output;
    const bool some = plain->few_columns > 0 && plain->few_columns < d_out && !plain->recipe->out_twice &&
                      plain->recipe->result_norm.kind == NORM_NONE;
    const size_t count = some ? plain->few_columns : d_out;
    for (size_t i = 0; i < rows && !problem->plan.has_out; i++)
        output_row(problem, side_by_side + i * width, NULL, NULL, output + i * width);
    if (!problem->plan.has_out || (columns != NULL && columns->out_weight == NULL && plain->lasting != plain->arena &&
                                   share_out(plain) != STATUS_OK))
        return plain->error->status;
    if (columns != NULL && columns->out_weight != NULL && count <= columns->out_columns)
        projection_rows(problem, side_by_side, rows, width,
                        &(struct projection_part){columns->out_weight, columns->out_bias, columns->out_columns, count},
                        output, d_out);
    else if (plain_project(plain, out, side_by_side, rows, width, count, output, d_out) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < rows; i++)
        dtype_round(problem->rounding.dtype, output + i * d_out, count);
    return STATUS_OK;
}

enum status plain_output(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t width = problem->size.heads * problem->size.d_value, rows = plain->row_count;
    const size_t all = problem->size.items * rows, some = plain->has_only ? 1 : all;
    const size_t columns = problem_columns_of_head(problem, STAGE_OUTPUT);
    double *side_by_side = arena_allocate(plain->arena, some, width * sizeof *side_by_side, plain->error);
    for (size_t first = plain->has_only ? plain->only : 0; first < all; first += plain->has_only ? rows : all) {
        double *output = plain->stages[STAGE_OUTPUT] + first * columns;
        for (size_t i = 0; i < some && side_by_side != NULL; i++) {
            const double *contexts = plain->stages[STAGE_CONTEXT] + (first + i) / rows * rows * width;
            for (size_t column = 0; column < width; column++)
                side_by_side[i * width + column] = joined(plain, contexts, (first + i) % rows, column);
            problem_gate_heads(problem, (first + i) / rows * problem->size.queries + plain->rows[(first + i) % rows],
                               side_by_side + i * width);
        }
        if (side_by_side == NULL || make_rows(plain, side_by_side, some, output) != STATUS_OK)
            return plain->error->status;
        if (!plain->recipe->out_twice)
            continue;
        memcpy(side_by_side, output, some * width * sizeof *output);
        if (make_rows(plain, side_by_side, some, output) != STATUS_OK)
            return plain->error->status;
    }
    plain_finish_result(plain, plain->stages[STAGE_OUTPUT]);
    return STATUS_OK;
}

enum status plain_words(const struct plain *plain, enum stage stage)
{
    const struct problem *problem = plain->problem;
    const struct projection *unembedding = &problem->parameters.words.unembedding;
    const enum stage from = stage_before(problem, stage);
    double *weight = NULL, *bias = NULL;
    if (stage == STAGE_LOGITS && (projection_weight(unembedding, &weight, plain->arena, plain->error) ||
                                  projection_bias(unembedding, &bias, plain->arena, plain->error)))
        return plain->error->status;
    for (size_t row = 0; row < problem->size.items * plain->row_count; row++) {
        const struct words_row words = {
            problem,
            plain->recipe->leaves_residual ? NULL
            : plain->recipe->bare_residual ? &problem->given.bare
                                           : &problem->given.inputs,
            row / plain->row_count * problem->size.queries + plain->rows[row % plain->row_count], weight, bias};
        words_row_make(&words, stage, plain->stages[from] + row * problem_columns(problem, from),
                       plain->stages[stage] + row * problem_columns(problem, stage));
    }
    return STATUS_OK;
}

static void add_inputs(const struct plain *plain, double *numbers)
{
    const struct problem *problem = plain->problem;
    const size_t rows = plain->row_count, columns = problem->size.d_in;
    double *x = arena_allocate(plain->arena, columns, sizeof *x, plain->error);
    for (size_t row = 0; row < problem->size.items * rows && x != NULL; row++) {
        const size_t token = row / rows * problem->size.queries + plain->rows[row % rows];
        tensor_load(&problem->given.inputs, token * columns, columns, x);
        if (plain->recipe->adds_normed)
            norm_input_row(problem, x);
        for (size_t column = 0; column < columns; column++)
            numbers[row * columns + column] += x[column];
    }
    dtype_round(problem->rounding.dtype, numbers, problem->size.items * rows * columns);
}

void plain_finish_result(const struct plain *plain, double *numbers)
{
    const struct problem *problem = plain->problem;
    const struct norm *norm = &plain->recipe->result_norm;
    const size_t columns = problem_columns(problem, problem_last_stage(problem)),
                 count = problem->size.items * plain->row_count;
    if (plain->recipe->adds_inputs)
        add_inputs(plain, numbers);
    for (size_t row = 0; row < count && norm->kind != NORM_NONE; row++)
        norm_row(problem, norm, 0, numbers + row * columns, columns, numbers + row * columns);
    if (norm->kind != NORM_NONE)
        dtype_round(problem->rounding.dtype, numbers, count * columns);
}

/* Attention of one token's heads; weights (H) is scratch. */
static void attend_heads(const struct plain *plain, const struct tensor operands[PROJECTION_COUNT], size_t item,
                         size_t row, double *weights)
{
    const struct problem *problem = plain->problem;
    const size_t heads = problem->size.heads, tokens = problem->size.queries, token = plain->rows[row];
    double query, key, value;
    for (size_t head = 0; head < heads; head++) {
        double *context = plain->stages[STAGE_CONTEXT] + plain_row(plain, item, head, row) * problem->size.d_value;
        const bool fits = heads == tokens && heads == problem->size.keys; /* else the mask is left out */
        const size_t end = problem->masks && fits ? head + 1 : heads;
        double sum = 0;
        for (size_t other = 0; other < end; other++) {
            weights[other] = 0;
            for (size_t c = 0; c < problem->size.d_head; c++) {
                tensor_load(&operands[PROJECTION_QUERY],
                            ((item * heads + head) * tokens + token) * problem->size.d_head + c, 1, &query);
                tensor_load(&operands[PROJECTION_KEY],
                            ((item * heads + other) * tokens + token) * problem->size.d_head + c, 1, &key);
                weights[other] += query * key;
            }
            sum += weights[other] = exp(weights[other] * problem->scaling.factor);
        }
        memset(context, 0, problem->size.d_value * sizeof *context);
        for (size_t other = 0; other < end; other++)
            for (size_t c = 0; c < problem->size.d_value; c++) {
                tensor_load(&operands[PROJECTION_VALUE],
                            ((item * heads + other) * tokens + token) * problem->size.d_value + c, 1, &value);
                context[c] += weights[other] / sum * value;
            }
    }
}

enum status plain_attend_heads(const struct plain *plain, const struct tensor operands[PROJECTION_COUNT])
{
    const struct problem *problem = plain->problem;
    double *weights = arena_allocate(plain->arena, problem->size.heads, sizeof *weights, plain->error);
    for (size_t i = 0; i < problem->size.items * plain->row_count && weights != NULL; i++)
        attend_heads(plain, operands, i / plain->row_count, i % plain->row_count, weights);
    return plain->error->status;
}
