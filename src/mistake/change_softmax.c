/* Mistakes of slots softmax, sinks, lse, dropout and tiles. */
#include "mistake/recipe.h"

#include <math.h>

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static const char *change_axis(struct recipe *recipe, enum recipe_axis axis, const char *formula)
{
    recipe->axis = axis;
    recipe->across = recipe->across || axis == RECIPE_AXIS_QUERIES || axis == RECIPE_AXIS_ALL;
    recipe_makes(recipe, STAGE_WEIGHTS, formula);
    return NULL;
}

CHANGE(SOFTMAX_QUERIES, change_axis(recipe, RECIPE_AXIS_QUERIES, "softmax over the queries, down each column"))
CHANGE(SOFTMAX_HEADS,
       problem->heads == 1 ? "there is one head" : change_axis(recipe, RECIPE_AXIS_HEADS, "softmax over the heads"))
CHANGE(SOFTMAX_ITEMS, problem->items == 1
                          ? "there is one item"
                          : change_axis(recipe, RECIPE_AXIS_ITEMS, "softmax over the items of the batch"))
CHANGE(SOFTMAX_ALL, change_axis(recipe, RECIPE_AXIS_ALL, "softmax over keys and queries together"))

static const char *replace_softmax(struct recipe *recipe, recipe_softmax *softmax, const char *formula)
{
    recipe->softmax = softmax;
    recipe_makes(recipe, STAGE_WEIGHTS, formula);
    return NULL;
}

/* 2^(x - largest) over their sum. */
static void base_2(const struct attention_row *row, double padding)
{
    const double *scores = row->stages[STAGE_MASKED];
    double *weights = row->stages[STAGE_WEIGHTS];
    double largest = row->sink != NULL ? *row->sink : -INFINITY, sum = 0;
    if (padding > 0)
        largest = fmax(largest, 0);
    for (size_t j = 0; j < row->problem->keys; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, scores[j]);
    for (size_t j = 0; j < row->problem->keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp2(scores[j] - largest) : 0;
        sum += weights[j];
    }
    sum += row->sink != NULL ? exp2(*row->sink - largest) : 0;
    sum += padding > 0 ? padding * exp2(-largest) : 0;
    for (size_t j = 0; j < row->problem->keys; j++)
        weights[j] = weights[j] / sum;
}

CHANGE(SOFTMAX_BASE_2, replace_softmax(recipe, base_2, "powers of 2 over their sum"))

/* exp(x) over their sum, each in the dtype, where it may overflow. */
static void unshifted(const struct attention_row *row, double padding)
{
    const enum dtype dtype = row->problem->dtype;
    double *weights = row->stages[STAGE_WEIGHTS], sum = padding + (row->sink != NULL ? exp(*row->sink) : 0);
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->keys; j++) {
        weights[j] = row->bias[j] > -INFINITY ? exp(row->stages[STAGE_MASKED][j]) : 0;
        dtype_round(dtype, &weights[j], 1);
        sum += weights[j];
    }
    dtype_round(dtype, &sum, 1);
    for (size_t j = 0; j < row->problem->keys; j++)
        weights[j] = row->bias[j] > -INFINITY ? weights[j] / sum : 0;
}

CHANGE(SOFTMAX_OVERFLOW, replace_softmax(recipe, unshifted, "exp over the sum, the largest not taken off"))

static void keep_scores(const struct attention_row *row, double padding)
{
    (void)padding;
    for (size_t j = 0; j < row->problem->keys; j++)
        row->stages[STAGE_WEIGHTS][j] = row->bias[j] > -INFINITY ? row->stages[STAGE_MASKED][j] : 0;
}

CHANGE(SOFTMAX_MISSING, replace_softmax(recipe, keep_scores, "the scores themselves, 0 where masked"))

static void share_scores(const struct attention_row *row, double padding)
{
    double *weights = row->stages[STAGE_WEIGHTS], sum = 0;
    keep_scores(row, padding);
    for (size_t j = 0; j < row->problem->keys; j++)
        sum += weights[j];
    for (size_t j = 0; j < row->problem->keys; j++)
        weights[j] /= sum;
}

CHANGE(SOFTMAX_SUM_OF_SCORES, replace_softmax(recipe, share_scores, "each score over the sum of its row"))

/* --- sinks, lse -------------------------------------------------------------------------------------------------- */

CHANGE_WHERE(SINKS_MISSING, mask->sinks != NULL, "there are no sinks", mask->sinks = NULL)

static const char *lse(struct recipe *recipe, enum recipe_lse kind, const char *formula)
{
    recipe->lse = kind;
    recipe_makes(recipe, STAGE_LSE, formula);
    return NULL;
}

CHANGE(LSE_BASE_2, lse(recipe, RECIPE_LSE_BASE_2, "log2 in place of log"))
CHANGE(LSE_MAXIMUM_MISSING, lse(recipe, RECIPE_LSE_SHIFTED, "log(sum), the largest not added again"))
CHANGE(LSE_BEFORE_SCALE, lse(recipe, RECIPE_LSE_UNSCALED, "log(sum(exp(scores)))"))

/* --- dropout ----------------------------------------------------------------------------------------------------- */

static const char NO_DROPOUT[] = "there is no dropout";

static const char *drop(struct recipe *recipe, enum recipe_dropout kind, const char *formula)
{
    if (recipe->problem.dropout == 0)
        return NO_DROPOUT;
    recipe->dropout = kind;
    recipe_makes(recipe, STAGE_DROPPED, formula);
    return NULL;
}

CHANGE(DROPOUT_NOT_RESCALED, drop(recipe, RECIPE_DROPOUT_NOT_RESCALED, "weights where kept, else 0"))
CHANGE(DROPOUT_DIVIDED_BY_P, drop(recipe, RECIPE_DROPOUT_BY_P, "weights / p where kept, else 0"))

CHANGE_BY(DROPOUT_BEFORE_SOFTMAX)
{
    if (recipe->problem.dropout == 0)
        return NO_DROPOUT;
    if ((recipe->problem.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax of scores of which some are dropped");
    return drop(recipe, RECIPE_DROPOUT_SCORES, "weights");
}

CHANGE_BY(DROPOUT_MISSING)
{
    if (recipe->problem.dropout == 0)
        return NO_DROPOUT;
    recipe->problem.dropout = 0;
    recipe_tells(recipe, STAGE_DROPPED, "weights, nothing dropped");
    return NULL;
}

/* The generator stands behind the parameters, drawn or not: where they are given and nothing was dropped, it has not
 * moved. */
CHANGE_BY(DROPOUT_ON)
{
    struct problem *problem = &recipe->problem;
    struct arena scratch = {0};
    struct parameters drawn;
    if (problem->dropout > 0)
        return "there is dropout";
    problem->dropout = recipe->form;
    if (problem->parameters.given && !problem->dropout_seeded)
        parameters_draw(&drawn, &problem->plan, &problem->generator, &scratch, recipe->error);
    arena_free(&scratch);
    return NULL;
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

static const char *tile(struct recipe *recipe, enum recipe_tiles kind, const char *formula)
{
    recipe->tiles = kind;
    recipe->tile = (size_t)recipe->form;
    recipe_makes(recipe, STAGE_CONTEXT, formula);
    return recipe->tile < recipe->problem.keys ? NULL : "there are no more keys than a tile has";
}

CHANGE(TILES_CONTEXT_NOT_RESCALED, tile(recipe, RECIPE_TILES_CONTEXT_KEPT, "by tiles, the context so far not rescaled"))
CHANGE(TILES_CONTEXT_DIVIDED,
       tile(recipe, RECIPE_TILES_CONTEXT_DIVIDED, "by tiles, divided by the sum in each of them"))
CHANGE(TILES_SUM_NOT_RESCALED, tile(recipe, RECIPE_TILES_SUM_KEPT, "by tiles, the sum so far not rescaled"))
CHANGE(TILES_LAST_ALONE, tile(recipe, RECIPE_TILES_LAST, "of the last tile of keys alone"))
