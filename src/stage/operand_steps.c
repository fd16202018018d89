#include "stage/operand_steps.h"

#include "stage/norm.h"

#include <math.h>
#include <string.h>

size_t operand_heads(const struct problem *problem, enum projection_id id)
{
    return id == PROJECTION_QUERY ? problem->heads : problem->kv_heads;
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
    for (size_t i = 0; i < count && problem->clip > 0; i++)
        if (fabs(columns[i]) > problem->clip)
            columns[i] = copysign(problem->clip, columns[i]);
}

static const struct norm *operand_norm(const struct problem *problem, enum projection_id id)
{
    return &problem->parameters.norms[id == PROJECTION_QUERY ? NORM_QUERY : NORM_KEY];
}

bool operand_is_normed(const struct problem *problem, enum projection_id id)
{
    return id != PROJECTION_VALUE && operand_norm(problem, id)->kind != NORM_NONE;
}

bool operand_is_turned(const struct problem *problem, enum projection_id id)
{
    return id != PROJECTION_VALUE && problem->rope.kind != ROPE_NONE;
}

bool operand_is_scaled(const struct problem *problem, enum projection_id id)
{
    return id == PROJECTION_QUERY && problem->scales_query;
}

bool operand_has_steps(const struct problem *problem, enum projection_id id)
{
    return operand_is_normed(problem, id) || operand_is_turned(problem, id) || operand_is_scaled(problem, id);
}

bool operand_has_last_step(const struct problem *problem, enum projection_id id)
{
    return operand_is_turned(problem, id) || operand_is_scaled(problem, id);
}

enum stage operand_before_last_step(const struct problem *problem, enum projection_id id)
{
    const bool normed = operand_is_normed(problem, id) && operand_has_last_step(problem, id);
    if (id == PROJECTION_QUERY)
        return normed ? STAGE_NORMED_QUERY : STAGE_PROJECTED_QUERY;
    return normed ? STAGE_NORMED_KEY : STAGE_PROJECTED_KEY;
}

bool operand_norm_is_of_all(const struct problem *problem, enum projection_id id)
{
    const struct norm *norm = operand_norm(problem, id);
    return norm->weight.rank == 1 && norm->weight.shape[0] != problem->d_head;
}

size_t operand_norm_first(const struct problem *problem, enum projection_id id, size_t head)
{
    const bool own = operand_norm(problem, id)->weight.rank == 2 || operand_norm_is_of_all(problem, id);
    return own ? head * problem->d_head : 0;
}

size_t operand_position(const struct problem *problem, enum projection_id id, size_t item, size_t row)
{
    const size_t keys = problem->keys - problem->past;
    if (!operand_is_turned(problem, id))
        return 0;
    if (id == PROJECTION_QUERY)
        return problem->positions[item * problem->queries + row];
    return row < problem->past ? SIZE_MAX : problem->key_positions[item * keys + row - problem->past];
}

static void norm_heads(const struct problem *problem, enum projection_id id, const double *projected, double *normed)
{
    const struct norm *norm = operand_norm(problem, id);
    const size_t d = problem->d_head, heads = operand_heads(problem, id);
    if (operand_norm_is_of_all(problem, id))
        norm_row(problem, norm, 0, projected, heads * d, normed);
    for (size_t head = 0; head < heads && !operand_norm_is_of_all(problem, id); head++)
        norm_row(problem, norm, operand_norm_first(problem, id, head), projected + head * d, d, normed + head * d);
    dtype_round(problem->dtype, normed, heads * d);
}

struct rope_turn operand_turn(const struct problem *problem, size_t position, size_t pair)
{
    return rope_turn(&problem->rope, position, pair, problem_rounding(problem)->rope, problem->dtype);
}

static void turn_heads(const struct problem *problem, enum projection_id id, size_t position, const double *normed,
                       double *made, double *turns)
{
    const enum rope_rounding rounding = problem_rounding(problem)->rope;
    const size_t d = problem->d_head, half = problem->rope.columns / 2;
    rope_turns(&problem->rope, position, rounding, problem->dtype, turns, turns + half);
    for (size_t head = 0; head < operand_heads(problem, id); head++)
        rope_rotate(&problem->rope, turns, turns + half, rounding, problem->dtype, normed + head * d, made + head * d);
    dtype_round(problem->dtype, made, operand_heads(problem, id) * d);
}

void operand_steps(const struct problem *problem, enum projection_id id, size_t position, const double *projected,
                   double *normed, double *made, double *turns)
{
    const size_t count = operand_heads(problem, id) * problem->d_head;
    if (operand_is_normed(problem, id))
        norm_heads(problem, id, projected, normed);
    else
        memcpy(normed, projected, count * sizeof *normed);
    if (operand_is_turned(problem, id) && position != SIZE_MAX)
        turn_heads(problem, id, position, normed, made, turns);
    else
        memcpy(made, normed, count * sizeof *made);
    for (size_t i = 0; i < count && operand_is_scaled(problem, id); i++)
        made[i] *= problem->query_scale;
    if (operand_is_scaled(problem, id))
        dtype_round(problem->dtype, made, count);
}
