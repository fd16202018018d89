/* weights and dropped of a recipe, where they are not made as they should be. */
#include "mistake/plain.h"

#include <math.h>
#include <string.h>

/* --- over other numbers than the keys of a row -------------------------------------------------------------------- */

/* The scores of (outer, count, inner) numbers, of which a softmax goes over `count`. */
struct softmax_axis {
    size_t outer, count, inner;
};

static struct softmax_axis axis_of(const struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t items = problem->items, heads = problem->heads, rows = plain->row_count, keys = problem->keys;
    switch (plain->recipe->axis) {
    case RECIPE_AXIS_QUERIES:
        return (struct softmax_axis){items * heads, rows, keys};
    case RECIPE_AXIS_HEADS:
        return (struct softmax_axis){items, heads, rows * keys};
    case RECIPE_AXIS_ITEMS:
        return (struct softmax_axis){1, items, heads * rows * keys};
    case RECIPE_AXIS_ALL:
        return (struct softmax_axis){items * heads, rows * keys, 1};
    case RECIPE_AXIS_KEYS:
        break;
    }
    return (struct softmax_axis){items * heads * rows, keys, 1};
}

/* The softmax of the stage, over so many numbers, which lie apart. A row whose keys are all forbidden has weights of 0,
 * as what is not over its keys leaves them. */
static enum status softmax_elsewhere(const struct plain *plain, const double *scores, double *weights)
{
    const struct softmax_axis axis = axis_of(plain);
    const size_t count = axis.count, inner = axis.inner;
    struct problem problem = *plain->problem;
    double *room = arena_allocate(plain->arena, 4 * count, sizeof *room, plain->error);
    if (room == NULL)
        return plain->error->status;
    double *bias = room + count, *cast = bias + count, *made = cast + count;
    double *stages[STAGE_COUNT] = {[STAGE_MASKED] = room, [STAGE_WEIGHTS] = made};
    const struct attention_row row = {
        .problem = &problem, .stages = stages, .met = {0, count}, .seen = {0, count}, .bias = bias, .cast = cast};
    memset(plain->empty, 0, problem.items * problem.heads * plain->row_count * sizeof *plain->empty);
    problem.keys = count;
    problem.dtype = problem.softmax_dtype = DTYPE_F64;
    for (size_t i = 0; i < axis.outer * inner; i++) {
        const size_t first = i / inner * count * inner + i % inner;
        for (size_t j = 0; j < count; j++) {
            room[j] = scores[first + j * inner];
            bias[j] = plain->bias[first + j * inner];
        }
        stage_make(&row, STAGE_WEIGHTS);
        for (size_t j = 0; j < count; j++)
            weights[first + j * inner] = made[j];
    }
    return STATUS_OK;
}

/* --- the stage --------------------------------------------------------------------------------------------------- */

/* masked after a dropout that comes too early: 0 where a score is dropped. */
static const double *drop_scores(const struct plain *plain, double *dropped)
{
    const struct problem *problem = plain->problem;
    const size_t count = plain_count(problem, STAGE_MASKED, plain->row_count);
    const double *masked = plain->stages[STAGE_MASKED];
    for (size_t i = 0; i < count; i++)
        dropped[i] = plain->kept[i] ? masked[i] / (1 - problem->dropout) : plain->bias[i] > -INFINITY ? 0 : masked[i];
    return dropped;
}

/* Each row by itself, of other scores; what is not made otherwise by the stage's own equation. */
static void make_rows(const struct plain *plain, double *scores, double *cast)
{
    const struct problem *problem = plain->problem;
    const double *sinks = problem->mask.sinks;
    for (size_t index = 0; index < problem->items * problem->heads * plain->row_count; index++) {
        double *stages[STAGE_COUNT], room;
        struct attention_row row = plain_attention_row(plain, index, stages, &room);
        row.cast = cast;
        stages[STAGE_MASKED] = scores + index * problem->keys;
        if (plain->recipe->softmax == NULL || row.empty) {
            stage_make(&row, STAGE_WEIGHTS);
            continue;
        }
        row.sink = sinks != NULL ? sinks + index / plain->row_count % problem->heads : NULL;
        plain->recipe->softmax(&row, plain->recipe->padding);
    }
}

/* What the mask forbids, after a softmax that did not know of it. */
static void forget_forbidden(const struct plain *plain, double *weights)
{
    const struct problem *problem = plain->problem;
    for (size_t index = 0; index < problem->items * problem->heads * plain->row_count; index++)
        for (size_t key = 0; key < problem->keys; key++)
            if (mask_forbids(&problem->mask, index / plain->row_count / problem->heads,
                             index / plain->row_count % problem->heads, plain->rows[index % plain->row_count], key))
                weights[index * problem->keys + key] = 0;
}

enum status plain_weights(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const struct recipe *recipe = plain->recipe;
    const size_t count = plain_count(problem, STAGE_WEIGHTS, plain->row_count);
    double *weights = plain->stages[STAGE_WEIGHTS], *scores = plain->stages[STAGE_MASKED];
    double *cast = arena_allocate(plain->arena, problem->keys, sizeof *cast, plain->error);
    double *room = arena_allocate(plain->arena, count, sizeof *room, plain->error);
    if (cast == NULL || room == NULL)
        return plain->error->status;
    memcpy(room, scores, count * sizeof *room);
    if (recipe->dropout == RECIPE_DROPOUT_SCORES)
        drop_scores(plain, room);
    if (recipe->axis == RECIPE_AXIS_KEYS)
        make_rows(plain, room, cast);
    else if (softmax_elsewhere(plain, room, weights) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < count; i++)
        weights[i] *= recipe->weights_factor;
    if (recipe->fills_weights)
        forget_forbidden(plain, weights);
    dtype_round(problem->dtype, weights, count);
    return STATUS_OK;
}
