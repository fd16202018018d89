/* SPDX-License-Identifier: MIT */
/* Mistakes of slots softmax, sinks, lse, dropout and tiles. */
#include "mistake/recipe.h"

#include <math.h>
#include <string.h>

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static const char *change_axis(struct recipe *recipe, enum recipe_axis axis, const char *formula)
{
    recipe->axis = axis;
    recipe->across = recipe->across || axis == RECIPE_AXIS_QUERIES || axis == RECIPE_AXIS_ALL;
    return recipe_makes(recipe, STAGE_WEIGHTS, formula);
}

CHANGE(SOFTMAX_QUERIES, change_axis(recipe, RECIPE_AXIS_QUERIES, "softmax over the queries, down each column"))
CHANGE(SOFTMAX_HEADS, problem->size.heads == 1 ? "there is one head"
                                               : change_axis(recipe, RECIPE_AXIS_HEADS, "softmax over the heads"))
CHANGE(SOFTMAX_ITEMS, problem->size.items == 1
                          ? "there is one item"
                          : change_axis(recipe, RECIPE_AXIS_ITEMS, "softmax over the items of the batch"))
CHANGE(SOFTMAX_ALL, change_axis(recipe, RECIPE_AXIS_ALL, "softmax over keys and queries together"))

/* Makes 2^(x - largest) over their sum. */
static void base_2(const struct attention_row *row, const struct recipe *recipe)
{
    const double padding = recipe->padding;
    const double *scores = row->stages[STAGE_MASKED];
    double *weights = row->stages[STAGE_WEIGHTS];
    double largest = row->sink != NULL ? *row->sink : -INFINITY, sum = 0;
    if (padding > 0)
        largest = fmax(largest, 0);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, scores[j]);
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp2(scores[j] - largest) : 0;
        sum += weights[j];
    }
    sum += row->sink != NULL ? exp2(*row->sink - largest) : 0;
    sum += padding > 0 ? padding * exp2(-largest) : 0;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] = weights[j] / sum;
}

CHANGE(SOFTMAX_BASE_2, recipe_makes_by(recipe, STAGE_WEIGHTS, base_2, "powers of 2 over their sum"))

/* Makes exp(x) over their sum, each in the dtype, where it may overflow. */
static void unshifted(const struct attention_row *row, const struct recipe *recipe)
{
    const enum dtype dtype = row->problem->rounding.dtype;
    double *weights = row->stages[STAGE_WEIGHTS], sum = recipe->padding + (row->sink != NULL ? exp(*row->sink) : 0);
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp(row->stages[STAGE_MASKED][j]) : 0;
        dtype_round(dtype, &weights[j], 1);
        sum += weights[j];
    }
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] = row->bias[j] > -INFINITY ? weights[j] / sum : 0;
}

CHANGE(SOFTMAX_OVERFLOW,
       recipe_makes_by(recipe, STAGE_WEIGHTS, unshifted, "exp over the sum, without subtracting the largest"))

static void keep_scores(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? row->stages[STAGE_MASKED][j] : 0;
}

CHANGE(SOFTMAX_MISSING, recipe_makes_by(recipe, STAGE_WEIGHTS, keep_scores, "the scores themselves, 0 where masked"))

static void share_scores(const struct attention_row *row, const struct recipe *recipe)
{
    double *weights = row->stages[STAGE_WEIGHTS], sum = 0;
    keep_scores(row, recipe);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += weights[j];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        weights[j] /= sum;
}

CHANGE(SOFTMAX_SUM_OF_SCORES,
       recipe_makes_by(recipe, STAGE_WEIGHTS, share_scores, "each score over the sum of its row"))

/* --- sinks, lse -------------------------------------------------------------------------------------------------- */

CHANGE_WHERE(SINKS_MISSING, mask->sinks != NULL, "there are no sinks", mask->sinks = NULL)

static void base_2_lse(const struct attention_row *row, const struct recipe *recipe)
{
    double *lse = row->stages[STAGE_LSE];
    stage_make(row, STAGE_LSE);
    *lse /= log(2);
    dtype_round(recipe->problem.rounding.dtype, lse, 1);
}

/* The largest of the row's allowed numbers; minus infinity: none. */
static double largest_of(const struct attention_row *row, const double *numbers, size_t first, size_t end)
{
    double largest = -INFINITY;
    for (size_t j = first; j < end; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, numbers[j]);
    return largest;
}

static void shifted_lse(const struct attention_row *row, const struct recipe *recipe)
{
    const double largest = largest_of(row, row->stages[STAGE_MASKED], 0, row->problem->size.keys);
    double *lse = row->stages[STAGE_LSE];
    stage_make(row, STAGE_LSE);
    *lse -= largest > -INFINITY ? largest : 0;
    dtype_round(recipe->problem.rounding.dtype, lse, 1);
}

static void unscaled_lse(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    const double *scores = row->stages[STAGE_SCORES];
    const double largest = largest_of(row, scores, 0, row->problem->size.keys);
    double sum = 0;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        sum += row->bias[j] > -INFINITY ? exp(scores[j] - largest) : 0;
    *row->stages[STAGE_LSE] = sum > 0 ? largest + log(sum) : -INFINITY;
}

CHANGE(LSE_BASE_2, recipe_makes_by(recipe, STAGE_LSE, base_2_lse, "log2 in place of log"))
CHANGE(LSE_MAXIMUM_MISSING, recipe_makes_by(recipe, STAGE_LSE, shifted_lse, "log(sum), the largest not added back"))
CHANGE(LSE_BEFORE_SCALE, recipe_makes_by(recipe, STAGE_LSE, unscaled_lse, "log(sum(exp(scores)))"))

/* --- dropout ----------------------------------------------------------------------------------------------------- */

static const char NO_DROPOUT[] = "there is no dropout";

static void drop_by(const struct attention_row *row, double factor)
{
    const double *weights = row->stages[STAGE_WEIGHTS];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_DROPPED][j] = row->kept[j] ? weights[j] * factor : 0;
    dtype_round(row->problem->rounding.dtype, row->stages[STAGE_DROPPED], row->problem->size.keys);
}

static void drop_only(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    drop_by(row, 1);
}

static void divide_by_p(const struct attention_row *row, const struct recipe *recipe)
{
    drop_by(row, 1 / recipe->problem.drop.share);
}

/* Copies the weights: dropout came before. */
static void drop_nothing(const struct attention_row *row, const struct recipe *recipe)
{
    (void)recipe;
    memcpy(row->stages[STAGE_DROPPED], row->stages[STAGE_WEIGHTS], row->problem->size.keys * sizeof(double));
    dtype_round(row->problem->rounding.dtype, row->stages[STAGE_DROPPED], row->problem->size.keys);
}

static const char *drop(struct recipe *recipe, recipe_row *make, const char *formula)
{
    return recipe->problem.drop.share == 0 ? NO_DROPOUT : recipe_makes_by(recipe, STAGE_DROPPED, make, formula);
}

CHANGE(DROPOUT_NOT_RESCALED, drop(recipe, drop_only, "weights where kept, else 0"))
CHANGE(DROPOUT_DIVIDED_BY_P, drop(recipe, divide_by_p, "weights / p where kept, else 0"))

CHANGE_BY(DROPOUT_BEFORE_SOFTMAX)
{
    if (recipe->problem.drop.share == 0)
        return NO_DROPOUT;
    recipe->drops_scores = true;
    if ((recipe->problem.mistake.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax of scores, some of them dropped");
    return drop(recipe, drop_nothing, "weights");
}

CHANGE_BY(DROPOUT_MISSING)
{
    if (recipe->problem.drop.share == 0)
        return NO_DROPOUT;
    recipe->problem.drop.share = 0;
    return recipe_tells(recipe, STAGE_DROPPED, "weights, nothing dropped");
}

/* The generator is past the parameters, drawn or not; it has not moved if they are given and nothing was dropped. */
CHANGE_BY(DROPOUT_ON)
{
    struct problem *problem = &recipe->problem;
    if (problem->drop.share > 0)
        return "there is dropout";
    problem->drop.share = recipe->form;
    if (problem->parameters.given && !problem->drop.seeded)
        parameters_pass(&problem->plan, &problem->drop.generator, recipe->error);
    return NULL;
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* A row of a running softmax over tiles of keys, as in fused kernels: Dao et al. 2022, "FlashAttention", algorithm 1,
 * without one of its steps. */
struct tiles {
    const struct attention_row *row;
    double *context;
    size_t d;
    double largest, sum;
    bool keeps_context, keeps_sum, divides, forgets;
};

static void rescale(struct tiles *tiles, double largest)
{
    const double factor = tiles->forgets ? 0 : exp(tiles->largest - largest);
    tiles->largest = largest;
    if (!tiles->keeps_sum)
        tiles->sum *= factor;
    for (size_t c = 0; c < tiles->d && !tiles->keeps_context; c++)
        tiles->context[c] *= factor;
}

static void add_tile(struct tiles *tiles, size_t first, size_t end)
{
    const struct attention_row *row = tiles->row;
    const double *masked = row->stages[STAGE_MASKED], factor = 1 / (1 - row->problem->drop.share);
    const double largest = largest_of(row, masked, first, end);
    if (largest == -INFINITY)
        return;
    rescale(tiles, tiles->forgets ? largest : fmax(tiles->largest, largest));
    for (size_t j = first; j < end; j++) {
        const double power = row->bias[j] > -INFINITY ? exp(masked[j] - tiles->largest) : 0;
        const double share = row->kept == NULL ? power : row->kept[j] ? power * factor : 0;
        tiles->sum += power;
        for (size_t c = 0; c < tiles->d && power != 0; c++)
            tiles->context[c] += share * row->value[j * tiles->d + c];
    }
    for (size_t c = 0; c < tiles->d && tiles->divides; c++)
        tiles->context[c] /= tiles->sum;
}

static void make_tiles(const struct attention_row *row, const struct recipe *recipe, struct tiles tiles)
{
    const size_t tile = recipe->tile;
    tiles.row = row;
    tiles.context = row->stages[STAGE_CONTEXT];
    tiles.d = row->problem->size.d_value;
    tiles.largest = row->sink != NULL ? *row->sink : -INFINITY;
    tiles.sum = row->sink != NULL ? 1 : 0;
    memset(tiles.context, 0, tiles.d * sizeof *tiles.context);
    for (size_t first = 0; first < row->problem->size.keys; first += tile)
        add_tile(&tiles, first, memory_smaller(first + tile, row->problem->size.keys));
    for (size_t c = 0; c < tiles.d && !tiles.divides && tiles.sum != 0; c++)
        tiles.context[c] /= tiles.sum;
    dtype_round(row->problem->rounding.dtype, tiles.context, tiles.d);
}

static const char *use_tiles(struct recipe *recipe, recipe_row *make, const char *formula)
{
    recipe->tile = (size_t)recipe->form;
    recipe_makes_by(recipe, STAGE_CONTEXT, make, formula);
    return recipe->tile < recipe->problem.size.keys ? NULL : "one tile holds all keys";
}

static void keep_context(const struct attention_row *row, const struct recipe *recipe)
{
    make_tiles(row, recipe, (struct tiles){.keeps_context = true});
}

static void divide_each(const struct attention_row *row, const struct recipe *recipe)
{
    make_tiles(row, recipe, (struct tiles){.divides = true});
}

static void keep_sum(const struct attention_row *row, const struct recipe *recipe)
{
    make_tiles(row, recipe, (struct tiles){.keeps_sum = true});
}

static void forget(const struct attention_row *row, const struct recipe *recipe)
{
    make_tiles(row, recipe, (struct tiles){.forgets = true});
}

CHANGE(TILES_CONTEXT_NOT_RESCALED, use_tiles(recipe, keep_context, "by tiles, the running context not rescaled"))
CHANGE(TILES_CONTEXT_DIVIDED, use_tiles(recipe, divide_each, "by tiles, each divided by the running sum"))
CHANGE(TILES_SUM_NOT_RESCALED, use_tiles(recipe, keep_sum, "by tiles, the running sum not rescaled"))
CHANGE(TILES_LAST_ALONE, use_tiles(recipe, forget, "of the last tile of keys alone"))
