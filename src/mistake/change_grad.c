/* Mistakes of slot grad: what compute/backward.c and the stages of stage/grad_*.c do wrong on the way back. The way
 * forward is right. */
#include "mistake/recipe.h"
#include "stage/operand_steps.h"

/* The change, what it makes of a stage, and how. */
static const char *change(struct recipe *recipe, enum grad_change change, double form, enum stage stage,
                          const char *formula)
{
    recipe->problem.grad_change = change;
    recipe->problem.grad_form = (size_t)form;
    recipe->problem.wrong |= STAGE_BIT(stage);
    recipe_tells(recipe, stage, formula);
    return NULL;
}

static const char NO_GRAD[] = "there is no way back without --grad";

/* The first stage behind the softmax on the way back. */
static enum stage of_softmax(const struct recipe *recipe)
{
    return recipe->problem.masks         ? STAGE_GRAD_MASKED
           : recipe->problem.softcap > 0 ? STAGE_GRAD_CAPPED
                                         : STAGE_GRAD_SCALED;
}

CHANGE_BY(GRAD_DELTA_MISSING)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    recipe->problem.wrong |= STAGE_BIT(STAGE_GRAD_SINKS);
    return change(recipe, GRAD_DELTA_MISSING, form, of_softmax(recipe), "weights x grad_weights, delta not subtracted");
}

/* The scale as a factor of the scores. */
static const char *change_scale(struct recipe *recipe, enum grad_change kind, double form, enum stage stage,
                                const char *formula)
{
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    return recipe->problem.scales_query ? "the query has the scale, and the scores have none"
                                        : change(recipe, kind, form, stage, formula);
}

CHANGE(GRAD_SCALE_MISSING, change_scale(recipe, GRAD_SCALE_MISSING, form, STAGE_GRAD_SCORES, "grad_scaled, not scaled"))
CHANGE(GRAD_SCALE_TWICE, change_scale(recipe, GRAD_SCALE_TWICE, form, STAGE_GRAD_SCORES, "grad_scaled x scale x scale"))
CHANGE(GRAD_KEY_FROM_SCALED_QUERY,
       change_scale(recipe, GRAD_KEY_FROM_SCALED_QUERY, form, STAGE_GRAD_KEY, "grad_scores^T . (query x scale)"))

CHANGE_BY(GRAD_DROPOUT_MISSING)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    if (recipe->problem.dropout == 0)
        return "there is no dropout";
    if (form >= GRAD_DELTA_KEPT)
        change(recipe, GRAD_DROPOUT_MISSING, form, of_softmax(recipe),
               "weights x (grad_weights - delta), delta the sum of dropped x grad_dropped");
    if ((size_t)form % 3 != GRAD_FOR_WEIGHTS)
        change(recipe, GRAD_DROPOUT_MISSING, form, STAGE_GRAD_VALUE, "weights^T . grad_context, what was dropped too");
    if (form != GRAD_FOR_VALUE)
        change(recipe, GRAD_DROPOUT_MISSING, form, STAGE_GRAD_WEIGHTS, "grad_dropped, what was dropped too");
    return NULL;
}

CHANGE_BY(GRAD_GROUPS_NOT_SUMMED)
{
    const double form = recipe->form;
    static const char *const KEY_FORMULAS[] = {"grad_scores^T . query of the last head of a group",
                                               "grad_scores^T . query of the first head of a group",
                                               "the mean of grad_scores^T . query over the heads of a group"};
    static const char *const VALUE_FORMULAS[] = {"weights^T . grad_context of the last head of a group",
                                                 "weights^T . grad_context of the first head of a group",
                                                 "the mean of weights^T . grad_context over the heads of a group"};
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    if (recipe->problem.heads == recipe->problem.kv_heads)
        return "every head of query has a key and value of its own";
    change(recipe, GRAD_GROUPS_NOT_SUMMED, form, STAGE_GRAD_VALUE, VALUE_FORMULAS[(size_t)form]);
    return change(recipe, GRAD_GROUPS_NOT_SUMMED, form, STAGE_GRAD_KEY, KEY_FORMULAS[(size_t)form]);
}

CHANGE_BY(GRAD_MASK_MISSING)
{
    const double form = recipe->form;
    const struct mask *mask = &recipe->problem.mask;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    if (!recipe->problem.masks)
        return "there is no mask";
    if (mask->alibi_slopes != NULL || mask->relative != NULL ||
        (mask->attn_mask.rank > 0 && mask->attn_mask.dtype != DTYPE_BOOL))
        return "the mask adds numbers to the scores";
    recipe->problem.wrong |= STAGE_BIT(STAGE_GRAD_SCALED) | STAGE_BIT(STAGE_GRAD_SCORES) | STAGE_BIT(STAGE_GRAD_QUERY) |
                             STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_SINKS) | STAGE_BIT(STAGE_GRAD_WEIGHTS) |
                             STAGE_BIT(STAGE_GRAD_CAPPED); /* hidden keys have a share of them */
    change(recipe, GRAD_MASK_MISSING, form, STAGE_GRAD_VALUE, "weights^T . grad_context, of hidden keys too");
    change(recipe, GRAD_MASK_MISSING, form, recipe->problem.dropout > 0 ? STAGE_GRAD_DROPPED : STAGE_GRAD_WEIGHTS,
           "grad_context . value^T, of hidden keys too");
    return change(recipe, GRAD_MASK_MISSING, form, STAGE_GRAD_MASKED,
                  "exp(capped - lse) x (grad_weights - delta), of hidden keys too");
}

CHANGE(GRAD_SOFTCAP_MISSING, !problem->has_grad      ? NO_GRAD
                             : problem->softcap == 0 ? "there is no softcap"
                                                     : change(recipe, GRAD_SOFTCAP_MISSING, form, STAGE_GRAD_SCALED,
                                                              "grad_capped, the slope of the softcap left out"))

CHANGE_BY(GRAD_SOFTMAX_DIAGONAL)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    recipe->problem.wrong |= STAGE_BIT(STAGE_GRAD_SINKS);
    return change(recipe, GRAD_SOFTMAX_DIAGONAL, form, of_softmax(recipe), "weights x (1 - weights) x grad_weights");
}

CHANGE_BY(GRAD_MAXIMUM_FOR_LSE)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    recipe->problem.wrong |= STAGE_BIT(STAGE_GRAD_SINKS);
    change(recipe, GRAD_MAXIMUM_FOR_LSE, form, STAGE_GRAD_VALUE, "exp(scores - maximum)^T . grad_context");
    return change(recipe, GRAD_MAXIMUM_FOR_LSE, form, of_softmax(recipe),
                  "exp(scores - maximum) x (grad_weights - delta)");
}

CHANGE_BY(GRAD_TRANSPOSE_MISSING)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    if (recipe->problem.queries != recipe->problem.keys)
        return "there are not as many queries as keys: such a product has no meaning";
    change(recipe, GRAD_TRANSPOSE_MISSING, form, STAGE_GRAD_VALUE, "weights . grad_context, not transposed");
    return change(recipe, GRAD_TRANSPOSE_MISSING, form, STAGE_GRAD_KEY, "grad_scores . query, not transposed");
}

CHANGE(GRAD_QUERY_LAST_TILE, !problem->has_grad ? NO_GRAD
                                                : change(recipe, GRAD_QUERY_LAST_TILE, form, STAGE_GRAD_QUERY,
                                                         "grad_scores . key, of the last tile of keys"))

CHANGE_BY(GRAD_KEY_LAST_TILE)
{
    const double form = recipe->form;
    if (!recipe->problem.has_grad)
        return NO_GRAD;
    change(recipe, GRAD_KEY_LAST_TILE, form, STAGE_GRAD_VALUE, "weights^T . grad_context, of the last tile of queries");
    return change(recipe, GRAD_KEY_LAST_TILE, form, STAGE_GRAD_KEY,
                  "grad_scores^T . query, of the last tile of queries");
}

/* The gradient by what is turned. */
static enum stage before_turned(const struct problem *problem, enum projection_id id)
{
    switch (operand_before_last_step(problem, id)) {
    case STAGE_NORMED_QUERY:
        return STAGE_GRAD_NORMED_QUERY;
    case STAGE_NORMED_KEY:
        return STAGE_GRAD_NORMED_KEY;
    default:
        return id == PROJECTION_QUERY ? STAGE_GRAD_PROJECTED_QUERY : STAGE_GRAD_PROJECTED_KEY;
    }
}

/* Of query and key, in the stage before they are turned. */
static const char *change_rope(struct recipe *recipe, enum grad_change kind, double form, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    if (!problem->has_grad)
        return NO_GRAD;
    if (problem->rope.kind == ROPE_NONE)
        return "no query and no key is turned";
    change(recipe, kind, form, before_turned(problem, PROJECTION_QUERY), formula);
    return change(recipe, kind, form, before_turned(problem, PROJECTION_KEY), formula);
}

CHANGE(GRAD_ROPE_MISSING, change_rope(recipe, GRAD_ROPE_MISSING, form, "not turned back"))
CHANGE(GRAD_ROPE_FORWARDS, change_rope(recipe, GRAD_ROPE_FORWARDS, form, "turned once more, not back"))
