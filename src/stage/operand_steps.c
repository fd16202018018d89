/* SPDX-License-Identifier: MIT */
#include "stage/operand_steps.h"

#include "stage/norm.h"

#include <math.h>
#include <string.h>

size_t operand_heads(const struct problem *problem, enum projection_id id)
{
    return id == PROJECTION_QUERY ? problem->size.heads : problem->size.kv_heads;
}

size_t operand_columns(const struct problem *problem, enum projection_id id)
{
    return id == PROJECTION_VALUE ? problem->size.d_value : problem->size.d_head;
}

void operand_load_heads(const struct tensor *operand, size_t item, size_t row, double *numbers)
{
    const size_t count = operand->shape[1], rows = operand->shape[2], d = operand->shape[3];
    for (size_t head = 0; operand->rank > 0 && head < count; head++)
        tensor_load(operand, ((item * count + head) * rows + row) * d, d, numbers + head * d);
}

void operand_store_heads(const struct tensor *operand, size_t item, size_t row, const double *numbers)
{
    const size_t count = operand->shape[1], rows = operand->shape[2], d = operand->shape[3];
    for (size_t head = 0; operand->rank > 0 && head < count; head++)
        tensor_store(operand, ((item * count + head) * rows + row) * d, d, numbers + head * d);
}

void operand_clip(const struct problem *problem, double *columns, size_t count)
{
    for (size_t i = 0; i < count && problem->given.clip > 0; i++)
        if (fabs(columns[i]) > problem->given.clip)
            columns[i] = copysign(problem->given.clip, columns[i]);
}

static const struct norm *operand_norm(const struct problem *problem, enum projection_id id)
{
    return &problem->parameters.norms[projection_norm(id)];
}

bool operand_is_normed(const struct problem *problem, enum projection_id id)
{
    return operand_norm(problem, id)->kind != NORM_NONE;
}

bool operand_is_rotated(const struct problem *problem, enum projection_id id)
{
    return id != PROJECTION_VALUE && problem->rotation.rope.kind != ROPE_NONE;
}

bool operand_norm_is_last(const struct problem *problem, enum projection_id id)
{
    const struct norm *norm = operand_norm(problem, id);
    return norm->last && !norm->left_out && norm->kind != NORM_NONE && norm->kind != NORM_LAYER;
}

bool operand_is_scaled(const struct problem *problem, enum projection_id id)
{
    return operand_norm_is_last(problem, id) ||
           (id == PROJECTION_QUERY && (problem->scaling.on_query || problem->scaling.growth.by != 0));
}

bool operand_has_steps(const struct problem *problem, enum projection_id id)
{
    return operand_is_normed(problem, id) || operand_is_rotated(problem, id) || operand_is_scaled(problem, id);
}

bool operand_has_last_step(const struct problem *problem, enum projection_id id)
{
    return operand_is_rotated(problem, id) || operand_is_scaled(problem, id);
}

bool operand_shows_norm(const struct problem *problem, enum projection_id id)
{
    return operand_is_normed(problem, id) && operand_has_last_step(problem, id);
}

#define OF_OPERAND(name, asks, id)             \
    bool name(const struct problem *problem)   \
    {                                          \
        return asks(problem, PROJECTION_##id); \
    }
OF_OPERAND(operand_query_has_steps, operand_has_steps, QUERY)
OF_OPERAND(operand_key_has_steps, operand_has_steps, KEY)
OF_OPERAND(operand_value_has_steps, operand_has_steps, VALUE)
OF_OPERAND(operand_query_shows_norm, operand_shows_norm, QUERY)
OF_OPERAND(operand_key_shows_norm, operand_shows_norm, KEY)

enum stage operand_before_last_step(const struct problem *problem, enum projection_id id)
{
    const bool normed = operand_shows_norm(problem, id);
    return !normed ? projection_unstepped(id) : id == PROJECTION_QUERY ? STAGE_NORMED_QUERY : STAGE_NORMED_KEY;
}

bool operand_norm_is_of_all(const struct problem *problem, enum projection_id id)
{
    const struct norm *norm = operand_norm(problem, id);
    return norm->weight.rank == 1 && norm->weight.shape[0] != problem->size.d_head;
}

size_t operand_norm_first(const struct problem *problem, enum projection_id id, size_t head)
{
    const bool own = operand_norm(problem, id)->weight.rank == 2 || operand_norm_is_of_all(problem, id);
    return own ? head * problem->size.d_head : 0;
}

size_t operand_position(const struct problem *problem, enum projection_id id, size_t item, size_t row)
{
    const size_t keys = problem->size.keys - problem->rotation.past;
    const bool grows = id == PROJECTION_QUERY && problem->scaling.growth.by != 0;
    if (!operand_is_rotated(problem, id) && !grows)
        return 0;
    if (id == PROJECTION_QUERY)
        return problem->rotation.positions[item * problem->size.queries + row];
    return row < problem->rotation.past ? SIZE_MAX
                                        : problem->rotation.key_positions[item * keys + row - problem->rotation.past];
}

struct norm operand_first_norm(const struct problem *problem, enum projection_id id)
{
    struct norm norm = *operand_norm(problem, id);
    if (operand_norm_is_last(problem, id))
        norm.weight.rank = 0;
    return norm;
}

static void norm_heads(const struct problem *problem, enum projection_id id, const struct norm *norm,
                       const double *projected, double *normed)
{
    const size_t d = operand_columns(problem, id), heads = operand_heads(problem, id);
    if (operand_norm_is_of_all(problem, id))
        norm_row(problem, norm, 0, projected, heads * d, normed);
    for (size_t head = 0; head < heads && !operand_norm_is_of_all(problem, id); head++)
        norm_row(problem, norm, operand_norm_first(problem, id, head), projected + head * d, d, normed + head * d);
    dtype_round(problem->rounding.dtype, normed, heads * d);
}

double operand_factor(const struct problem *problem, enum projection_id id, size_t position, size_t column)
{
    const struct query_growth *growth = &problem->scaling.growth;
    const bool grows = id == PROJECTION_QUERY && growth->by != 0 && position != SIZE_MAX;
    const double steps = grows ? floor((double)(position + growth->ahead) / (double)growth->every) : 0;
    const size_t d = problem->size.d_head, first = operand_norm_first(problem, id, column / d);
    const double weight =
        operand_norm_is_last(problem, id) ? norm_weight(operand_norm(problem, id), first + column % d) : 1;
    return id == PROJECTION_QUERY ? problem->scaling.query_factor * (1 + growth->by * log(1 + steps)) * weight : weight;
}

void operand_scale(const struct problem *problem, enum projection_id id, size_t position, double *made)
{
    const size_t count = operand_heads(problem, id) * operand_columns(problem, id);
    const bool each = operand_norm_is_last(problem, id),
               rounds = problem_rounding(problem)->growth && problem->scaling.growth.by != 0;
    double factor = 1;
    for (size_t i = 0; i < count && operand_is_scaled(problem, id); i++) {
        if (i == 0 || each)
            factor = operand_factor(problem, id, position, i);
        if (rounds)
            dtype_round(problem->rounding.dtype, &factor, 1);
        made[i] *= factor;
    }
    if (operand_is_scaled(problem, id))
        dtype_round(problem->rounding.dtype, made, count);
}

struct rope_turn operand_turn(const struct problem *problem, size_t position, size_t pair)
{
    return rope_turn(&problem->rotation.rope, position, pair, problem_rounding(problem)->rope, problem->rounding.dtype);
}

static void rotate_heads(const struct problem *problem, enum projection_id id, size_t position, const double *normed,
                         double *made, double *turns)
{
    const enum rope_rounding rounding = problem_rounding(problem)->rope;
    const size_t d = problem->size.d_head, half = problem->rotation.rope.columns / 2;
    rope_turns(&problem->rotation.rope, position, rounding, problem->rounding.dtype, turns, turns + half);
    for (size_t head = 0; head < operand_heads(problem, id); head++)
        rope_rotate(&problem->rotation.rope, turns, turns + half, rounding, problem->rounding.dtype, normed + head * d,
                    made + head * d);
    dtype_round(problem->rounding.dtype, made, operand_heads(problem, id) * d);
}

void operand_steps(const struct problem *problem, enum projection_id id, size_t position, const double *projected,
                   double *normed, double *made, double *turns)
{
    const size_t count = operand_heads(problem, id) * operand_columns(problem, id);
    const struct norm norm = operand_first_norm(problem, id);
    const bool turns_first = problem_rounding(problem)->norm_last && operand_is_normed(problem, id);
    if (operand_is_normed(problem, id))
        norm_heads(problem, id, &norm, projected, normed);
    else
        memcpy(normed, projected, count * sizeof *normed);
    const double *turned = turns_first ? projected : normed;
    if (operand_is_rotated(problem, id) && position != SIZE_MAX)
        rotate_heads(problem, id, position, turned, made, turns);
    else
        memcpy(made, turned, count * sizeof *made);
    if (turns_first)
        norm_heads(problem, id, &norm, made, made);
    operand_scale(problem, id, position, made);
}
