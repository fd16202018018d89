/* Mistakes of slots softmax, sinks, lse, dropout and tiles. */
#include "mistake/recipe.h"

/* --- softmax ----------------------------------------------------------------------------------------------------- */

static const char *softmax(struct recipe *recipe, enum recipe_softmax kind, const char *formula)
{
    recipe->softmax = kind;
    recipe_makes(recipe, STAGE_WEIGHTS, formula);
    return NULL;
}

const char *mistake_softmax_queries(struct recipe *recipe, double form)
{
    (void)form;
    recipe->across = true;
    return softmax(recipe, RECIPE_SOFTMAX_QUERIES, "softmax over the queries, down each column");
}

const char *mistake_softmax_heads(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.heads == 1 ? "there is one head"
                                      : softmax(recipe, RECIPE_SOFTMAX_HEADS, "softmax over the heads");
}

const char *mistake_softmax_items(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.items == 1 ? "there is one item"
                                      : softmax(recipe, RECIPE_SOFTMAX_ITEMS, "softmax over the items of the batch");
}

const char *mistake_softmax_all(struct recipe *recipe, double form)
{
    (void)form;
    recipe->across = true;
    return softmax(recipe, RECIPE_SOFTMAX_ALL, "softmax over keys and queries together");
}

const char *mistake_softmax_base_2(struct recipe *recipe, double form)
{
    (void)form;
    return softmax(recipe, RECIPE_SOFTMAX_BASE_2, "powers of 2 over their sum");
}

const char *mistake_softmax_overflow(struct recipe *recipe, double form)
{
    (void)form;
    return softmax(recipe, RECIPE_SOFTMAX_UNSHIFTED, "exp over the sum, the largest not taken off");
}

const char *mistake_softmax_missing(struct recipe *recipe, double form)
{
    (void)form;
    return softmax(recipe, RECIPE_SOFTMAX_NONE, "the scores themselves, 0 where masked");
}

const char *mistake_softmax_sum_of_scores(struct recipe *recipe, double form)
{
    (void)form;
    return softmax(recipe, RECIPE_SOFTMAX_SHARES, "each score over the sum of its row");
}

/* --- sinks, lse -------------------------------------------------------------------------------------------------- */

const char *mistake_sinks_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.mask.sinks == NULL)
        return "there are no sinks";
    recipe->problem.mask.sinks = NULL;
    return NULL;
}

static const char *lse(struct recipe *recipe, enum recipe_lse kind, const char *formula)
{
    recipe->lse = kind;
    recipe_makes(recipe, STAGE_LSE, formula);
    return NULL;
}

const char *mistake_lse_base_2(struct recipe *recipe, double form)
{
    (void)form;
    return lse(recipe, RECIPE_LSE_BASE_2, "log2 in place of log");
}

const char *mistake_lse_maximum_missing(struct recipe *recipe, double form)
{
    (void)form;
    return lse(recipe, RECIPE_LSE_SHIFTED, "log(sum), the largest not added again");
}

const char *mistake_lse_before_scale(struct recipe *recipe, double form)
{
    (void)form;
    return lse(recipe, RECIPE_LSE_UNSCALED, "log(sum(exp(scores)))");
}

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

const char *mistake_dropout_not_rescaled(struct recipe *recipe, double form)
{
    (void)form;
    return drop(recipe, RECIPE_DROPOUT_NOT_RESCALED, "weights where kept, else 0");
}

const char *mistake_dropout_divided_by_p(struct recipe *recipe, double form)
{
    (void)form;
    return drop(recipe, RECIPE_DROPOUT_BY_P, "weights / p where kept, else 0");
}

const char *mistake_dropout_before_softmax(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.dropout == 0)
        return NO_DROPOUT;
    if ((recipe->problem.wrong & STAGE_BIT(STAGE_WEIGHTS)) == 0)
        recipe_makes(recipe, STAGE_WEIGHTS, "softmax of scores of which some are dropped");
    return drop(recipe, RECIPE_DROPOUT_SCORES, "weights");
}

const char *mistake_dropout_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.dropout == 0)
        return NO_DROPOUT;
    recipe->problem.dropout = 0;
    recipe_tells(recipe, STAGE_DROPPED, "weights, nothing dropped");
    return NULL;
}

/* The generator stands behind the parameters, drawn or not: where they are given and nothing was dropped, it has not
 * moved. */
const char *mistake_dropout_on(struct recipe *recipe, double form)
{
    struct problem *problem = &recipe->problem;
    struct arena scratch = {0};
    struct parameters drawn;
    if (problem->dropout > 0)
        return "there is dropout";
    problem->dropout = form;
    if (problem->parameters.given && !problem->dropout_seeded)
        parameters_draw(&drawn, &problem->plan, &problem->generator, &scratch, recipe->error);
    arena_free(&scratch);
    return NULL;
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

static const char *tile(struct recipe *recipe, enum recipe_tiles kind, double keys, const char *formula)
{
    recipe->tiles = kind;
    recipe->tile = (size_t)keys;
    recipe_makes(recipe, STAGE_CONTEXT, formula);
    return recipe->tile < recipe->problem.keys ? NULL : "there are no more keys than a tile has";
}

const char *mistake_tiles_context_not_rescaled(struct recipe *recipe, double form)
{
    return tile(recipe, RECIPE_TILES_CONTEXT_KEPT, form, "by tiles, the context so far not rescaled");
}

const char *mistake_tiles_context_divided(struct recipe *recipe, double form)
{
    return tile(recipe, RECIPE_TILES_CONTEXT_DIVIDED, form, "by tiles, divided by the sum in each of them");
}

const char *mistake_tiles_sum_not_rescaled(struct recipe *recipe, double form)
{
    return tile(recipe, RECIPE_TILES_SUM_KEPT, form, "by tiles, the sum so far not rescaled");
}

const char *mistake_tiles_last_alone(struct recipe *recipe, double form)
{
    return tile(recipe, RECIPE_TILES_LAST, form, "of the last tile of keys alone");
}
