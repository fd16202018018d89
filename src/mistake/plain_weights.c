/* SPDX-License-Identifier: MIT */
/* weights and dropped of a recipe with mistakes in them. */
#include "mistake/plain.h"

#include <math.h>
#include <string.h>

/* --- over other numbers than the keys of a row -------------------------------------------------------------------- */

/* Scores (outer, count, inner), for a softmax over the axis of `count`. */
struct softmax_axis {
    size_t outer, count, inner;
};

static struct softmax_axis axis_of(const struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t items = problem->size.items, heads = problem->size.heads, rows = plain->row_count,
                 keys = problem->size.keys;
    const struct softmax_axis axes[] = {[RECIPE_AXIS_KEYS] = {items * heads * rows, keys, 1},
                                        [RECIPE_AXIS_QUERIES] = {items * heads, rows, keys},
                                        [RECIPE_AXIS_HEADS] = {items, heads, rows * keys},
                                        [RECIPE_AXIS_ITEMS] = {1, items, heads * rows * keys},
                                        [RECIPE_AXIS_ALL] = {items * heads, rows * keys, 1}};
    return axes[plain->recipe->axis];
}

/* The stage's softmax over strided numbers. A row without allowed keys has weights of 0, since this softmax is not over
 * its keys. */
enum status plain_softmax(struct plain *plain, const double *scores)
{
    double *weights = plain->stages[STAGE_WEIGHTS];
    const struct softmax_axis axis = axis_of(plain);
    const size_t count = axis.count, inner = axis.inner;
    struct problem problem = *plain->problem;
    double *room = arena_allocate(plain->arena, 4 * count, sizeof *room, plain->error);
    if (room == NULL)
        return plain->error->status;
    double *bias = room + count, *cast = bias + count, *made = cast + count;
    double *stages[STAGE_COUNT] = {[STAGE_MASKED] = room, [STAGE_WEIGHTS] = made};
    const struct attention_row row = {.problem = &problem,
                                      .stages = stages,
                                      .computed = {0, count},
                                      .allowed = {0, count},
                                      .bias = bias,
                                      .cast = cast};
    memset(plain->empty, 0, problem.size.items * problem.size.heads * plain->row_count * sizeof *plain->empty);
    problem.size.keys = count;
    problem.rounding.dtype = problem.rounding.softmax_dtype = DTYPE_F64;
    problem.rounding.when = ROUNDING_STAGES;
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
    plain_finish_weights(plain);
    return STATUS_OK;
}

/* --- the stage --------------------------------------------------------------------------------------------------- */

enum status plain_drop_scores(struct plain *plain, double **scores)
{
    const struct problem *problem = plain->problem;
    const size_t count = plain_count(problem, STAGE_MASKED, plain->row_count);
    const double *masked = plain->stages[STAGE_MASKED];
    double *made = arena_allocate(plain->arena, count, sizeof *made, plain->error);
    for (size_t i = 0; i < count && made != NULL; i++)
        made[i] = plain->kept[i] ? masked[i] / (1 - problem->drop.share) : plain->bias[i] > -INFINITY ? 0 : masked[i];
    *scores = made;
    return plain->error->status;
}

/* Zeroes forbidden weights, after a softmax that ignored the mask. */
static void forget_forbidden(const struct plain *plain, double *weights)
{
    const struct problem *problem = plain->problem;
    for (size_t index = 0; index < problem->size.items * problem->size.heads * plain->row_count; index++)
        for (size_t key = 0; key < problem->size.keys; key++)
            if (mask_forbids(&problem->mask, index / plain->row_count / problem->size.heads,
                             index / plain->row_count % problem->size.heads, plain->rows[index % plain->row_count],
                             key))
                weights[index * problem->size.keys + key] = 0;
}

/* Divides column j by exp of the maximum of row j, and by the sum of row j; as many queries as keys. */
static void mix_rows(const struct plain *plain, double *weights, const double *scores, double *room)
{
    const size_t keys = plain->problem->size.keys;
    double *sums = room, *factors = sums + keys;
    for (size_t i = 0; i < keys; i++) {
        double largest = -INFINITY;
        for (size_t j = 0; j < keys; j++)
            largest = fmax(largest, scores[i * keys + j]);
        factors[i] = plain->recipe->mixes_maxima ? exp(-largest) : 1;
        sums[i] = 0;
    }
    for (size_t i = 0; i < keys; i++)
        for (size_t j = 0; j < keys; j++)
            sums[i] += weights[i * keys + j] *= factors[j];
    for (size_t i = 0; i < keys; i++)
        for (size_t j = 0; j < keys; j++)
            weights[i * keys + j] /= sums[plain->recipe->mixes_sums ? j : i];
}

void plain_finish_weights(const struct plain *plain)
{
    const size_t count = plain_count(plain->problem, STAGE_WEIGHTS, plain->row_count), keys = plain->problem->size.keys;
    double *weights = plain->stages[STAGE_WEIGHTS];
    for (size_t i = 0; i < count; i++)
        weights[i] *= plain->recipe->weights_factor;
    if (plain->recipe->fills_weights)
        forget_forbidden(plain, weights);
    if (plain->recipe->mixes_sums || plain->recipe->mixes_maxima) {
        double *room = arena_allocate(plain->arena, 2 * keys, sizeof *room, plain->error);
        for (size_t first = 0; first < count && room != NULL; first += keys * keys)
            mix_rows(plain, weights + first, plain->stages[STAGE_MASKED] + first, room);
    }
    for (size_t i = 0; keys > 0 && i < count && plain->recipe->unmasks; i++)
        plain->bias[i] = plain->empty[i / keys] ? plain->bias[i] : 0;
    dtype_round(plain->problem->rounding.dtype, weights, count);
}
