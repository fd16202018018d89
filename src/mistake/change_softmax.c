/* Mistakes of slots softmax, sinks, lse, dropout and tiles. */
#include "mistake/recipe.h"

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static const char *softmax(struct recipe *recipe, enum recipe_softmax kind, const char *formula)
{
    recipe->softmax = kind;
    recipe->across = recipe->across || kind == RECIPE_SOFTMAX_QUERIES || kind == RECIPE_SOFTMAX_ALL;
    recipe_makes(recipe, STAGE_WEIGHTS, formula);
    return NULL;
}

CHANGE(SOFTMAX_QUERIES, softmax(recipe, RECIPE_SOFTMAX_QUERIES, "softmax over the queries, down each column"))
CHANGE(SOFTMAX_HEADS,
       problem->heads == 1 ? "there is one head" : softmax(recipe, RECIPE_SOFTMAX_HEADS, "softmax over the heads"))
CHANGE(SOFTMAX_ITEMS, problem->items == 1
                          ? "there is one item"
                          : softmax(recipe, RECIPE_SOFTMAX_ITEMS, "softmax over the items of the batch"))
CHANGE(SOFTMAX_ALL, softmax(recipe, RECIPE_SOFTMAX_ALL, "softmax over keys and queries together"))
CHANGE(SOFTMAX_BASE_2, softmax(recipe, RECIPE_SOFTMAX_BASE_2, "powers of 2 over their sum"))
CHANGE(SOFTMAX_OVERFLOW, softmax(recipe, RECIPE_SOFTMAX_UNSHIFTED, "exp over the sum, the largest not taken off"))
CHANGE(SOFTMAX_MISSING, softmax(recipe, RECIPE_SOFTMAX_NONE, "the scores themselves, 0 where masked"))
CHANGE(SOFTMAX_SUM_OF_SCORES, softmax(recipe, RECIPE_SOFTMAX_SHARES, "each score over the sum of its row"))

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
