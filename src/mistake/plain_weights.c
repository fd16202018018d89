/* weights and dropped of a recipe, where they are not made as they should be. */
#include "mistake/plain.h"

#include "stage/stage.h"

#include <math.h>
#include <string.h>

/* The scores of (outer, count, inner) numbers, of which a softmax goes over `count`. */
struct softmax_axis {
    size_t outer, count, inner;
};

static struct softmax_axis axis_of(const struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t items = problem->items, heads = problem->heads, rows = plain->row_count, keys = problem->keys;
    switch (plain->recipe->softmax) {
    case RECIPE_SOFTMAX_QUERIES:
        return (struct softmax_axis){items * heads, rows, keys};
    case RECIPE_SOFTMAX_HEADS:
        return (struct softmax_axis){items, heads, rows * keys};
    case RECIPE_SOFTMAX_ITEMS:
        return (struct softmax_axis){1, items, heads * rows * keys};
    case RECIPE_SOFTMAX_ALL:
        return (struct softmax_axis){items * heads, rows * keys, 1};
    default:
        return (struct softmax_axis){items * heads * rows, keys, 1};
    }
}

/* A softmax over `count` numbers that lie `stride` apart; forbidden ones have no part. */
static void softmax_along(const double *scores, const double *bias, double *weights, size_t count, size_t stride)
{
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        if (bias[i * stride] > -INFINITY && (scores[i * stride] > largest || isnan(scores[i * stride])))
            largest = scores[i * stride];
    for (size_t i = 0; i < count; i++) {
        weights[i * stride] = bias[i * stride] > -INFINITY ? exp(scores[i * stride] - largest) : 0;
        sum += weights[i * stride];
    }
    for (size_t i = 0; i < count && sum != 0; i++)
        weights[i * stride] = bias[i * stride] > -INFINITY ? weights[i * stride] / sum : 0;
}

/* A row whose keys are all forbidden has weights of 0, as what is not over its keys leaves them. */
static void softmax_elsewhere(const struct plain *plain, const double *scores, double *weights)
{
    memset(plain->empty, 0, plain->problem->items * plain->problem->heads * plain->row_count * sizeof *plain->empty);
    const struct softmax_axis axis = axis_of(plain);
    for (size_t outer = 0; outer < axis.outer; outer++)
        for (size_t inner = 0; inner < axis.inner; inner++) {
            const size_t first = outer * axis.count * axis.inner + inner;
            softmax_along(scores + first, plain->bias + first, weights + first, axis.count, axis.inner);
        }
}

/* --- over the keys of a row, but otherwise ----------------------------------------------------------------------- */

struct softmax_row {
    const double *scores, *bias; /* (Tk) */
    const double *sink;          /* or NULL */
    double *weights;             /* (Tk) */
    size_t keys;
    double padding; /* scores of 0 that are counted, too */
    enum dtype dtype;
};

/* 2^(x - largest) over their sum. */
static void base_2(const struct softmax_row *row)
{
    double largest = row->sink != NULL ? *row->sink : -INFINITY, sum = 0;
    if (row->padding > 0)
        largest = fmax(largest, 0);
    for (size_t j = 0; j < row->keys; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, row->scores[j]);
    for (size_t j = 0; j < row->keys; j++) {
        row->weights[j] = row->bias[j] > -INFINITY ? exp2(row->scores[j] - largest) : 0;
        sum += row->weights[j];
    }
    sum += row->sink != NULL ? exp2(*row->sink - largest) : 0;
    sum += row->padding > 0 ? row->padding * exp2(-largest) : 0;
    for (size_t j = 0; j < row->keys; j++)
        row->weights[j] = row->weights[j] / sum;
}

/* exp(x) over their sum, each in the dtype, where it may overflow. */
static void unshifted(const struct softmax_row *row)
{
    double sum = row->padding + (row->sink != NULL ? exp(*row->sink) : 0);
    dtype_round(row->dtype, &sum, 1);
    for (size_t j = 0; j < row->keys; j++) {
        row->weights[j] = row->bias[j] > -INFINITY ? exp(row->scores[j]) : 0;
        dtype_round(row->dtype, &row->weights[j], 1);
        sum += row->weights[j];
    }
    dtype_round(row->dtype, &sum, 1);
    for (size_t j = 0; j < row->keys; j++)
        row->weights[j] = row->bias[j] > -INFINITY ? row->weights[j] / sum : 0;
}

/* The scores, or each over the sum of them. */
static void unexponential(const struct softmax_row *row, bool shares)
{
    double sum = 0;
    for (size_t j = 0; j < row->keys; j++) {
        row->weights[j] = row->bias[j] > -INFINITY ? row->scores[j] : 0;
        sum += row->weights[j];
    }
    for (size_t j = 0; j < row->keys && shares; j++)
        row->weights[j] /= sum;
}

static void make_row(enum recipe_softmax softmax, const struct softmax_row *row)
{
    if (softmax == RECIPE_SOFTMAX_BASE_2)
        base_2(row);
    else if (softmax == RECIPE_SOFTMAX_UNSHIFTED)
        unshifted(row);
    else
        unexponential(row, softmax == RECIPE_SOFTMAX_SHARES);
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

/* One row by the stage's own equation, of other scores. */
static void make_as_stage(const struct plain *plain, size_t index, size_t head, double *masked, double *weights,
                          double *cast)
{
    const struct problem *problem = plain->problem;
    const size_t keys = problem->keys;
    double *stages[STAGE_COUNT] = {[STAGE_MASKED] = masked + index * keys, [STAGE_WEIGHTS] = weights + index * keys};
    double room;
    const struct attention_row row = {.problem = problem,
                                      .stages = stages,
                                      .own = mask_sequence(&problem->mask, plain->rows[index % plain->row_count]),
                                      .seen = {0, keys},
                                      .met = {0, keys},
                                      .bias = plain->bias + index * keys,
                                      .empty = plain->empty[index],
                                      .sink = plain_sink(plain, head, &room),
                                      .cast = cast};
    stage_make(&row, STAGE_WEIGHTS);
}

static void make_rows(const struct plain *plain, double *scores, double *weights, double *cast)
{
    const struct problem *problem = plain->problem;
    const size_t keys = problem->keys;
    for (size_t index = 0; index < problem->items * problem->heads * plain->row_count; index++) {
        const size_t head = index / plain->row_count % problem->heads;
        const struct softmax_row row = {scores + index * keys,
                                        plain->bias + index * keys,
                                        problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL,
                                        weights + index * keys,
                                        keys,
                                        plain->recipe->padding,
                                        problem->dtype};
        if (plain->recipe->softmax == RECIPE_SOFTMAX_KEYS || plain->empty[index])
            make_as_stage(plain, index, head, scores, weights, cast);
        else
            make_row(plain->recipe->softmax, &row);
    }
}

/* Each row for itself. */
static bool is_along_rows(enum recipe_softmax softmax)
{
    return softmax == RECIPE_SOFTMAX_KEYS || softmax == RECIPE_SOFTMAX_BASE_2 || softmax == RECIPE_SOFTMAX_UNSHIFTED ||
           softmax == RECIPE_SOFTMAX_NONE || softmax == RECIPE_SOFTMAX_SHARES;
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
    if (is_along_rows(recipe->softmax))
        make_rows(plain, room, weights, cast);
    else
        softmax_elsewhere(plain, room, weights);
    for (size_t i = 0; i < count; i++)
        weights[i] *= recipe->weights_factor;
    if (recipe->fills_weights)
        forget_forbidden(plain, weights);
    dtype_round(problem->dtype, weights, count);
    return STATUS_OK;
}
