/* Mistakes of slot scale and softcap. */
#include "mistake/recipe.h"

#include <math.h>

/* --- scale ------------------------------------------------------------------------------------------------------- */

/* The scores, or the query, times another factor; there is nothing to see where it is the same one. */
static const char *scale_by(struct recipe *recipe, double scale)
{
    struct problem *problem = &recipe->problem;
    *(problem->scales_query ? &problem->query_scale : &problem->scale) = scale / problem->temperature;
    recipe->steps_anew[PROJECTION_QUERY] = recipe->steps_anew[PROJECTION_QUERY] || problem->scales_query;
    return NULL;
}

/* The scale without the temperature. */
static double scale_of(const struct recipe *recipe)
{
    const struct problem *problem = &recipe->problem;
    return (problem->scales_query ? problem->query_scale : problem->scale) * problem->temperature;
}

const char *mistake_scale_missing(struct recipe *recipe, double form)
{
    (void)form;
    return scale_by(recipe, 1);
}

const char *mistake_scale_twice(struct recipe *recipe, double form)
{
    (void)form;
    return scale_by(recipe, scale_of(recipe) * scale_of(recipe));
}

const char *mistake_scale_inverted(struct recipe *recipe, double form)
{
    (void)form;
    return scale_of(recipe) == 0 ? "the scale is 0" : scale_by(recipe, 1 / scale_of(recipe));
}

/* The columns of all heads together. */
static double d_model(const struct problem *problem)
{
    return (double)(problem->heads * problem->d_head);
}

const char *mistake_scale_d_model(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.heads == 1 ? "there is one head, so that d_head is d_model"
                                      : scale_by(recipe, 1 / sqrt(d_model(&recipe->problem)));
}

const char *mistake_scale_1_over_d_model(struct recipe *recipe, double form)
{
    (void)form;
    return scale_by(recipe, 1 / d_model(&recipe->problem));
}

const char *mistake_scale_d_in(struct recipe *recipe, double form)
{
    (void)form;
    return problem_projects(&recipe->problem) ? scale_by(recipe, 1 / sqrt((double)recipe->problem.d_in))
                                              : "there are no inputs";
}

const char *mistake_scale_usual(struct recipe *recipe, double form)
{
    (void)form;
    const double usual = 1 / sqrt((double)recipe->problem.d_head);
    return fabs(scale_of(recipe) - usual) <= 1e-6 * usual ? "the scale is 1 / sqrt(d_head)" : scale_by(recipe, usual);
}

const char *mistake_scale_tokens(struct recipe *recipe, double form)
{
    (void)form;
    return scale_by(recipe, 1 / sqrt((double)recipe->problem.keys));
}

const char *mistake_scale_heads(struct recipe *recipe, double form)
{
    (void)form;
    return recipe->problem.heads == 1 ? "there is one head" : scale_by(recipe, 1 / sqrt((double)recipe->problem.heads));
}

const char *mistake_scale_fourth_root(struct recipe *recipe, double form)
{
    (void)form;
    return scale_by(recipe, 1 / sqrt(sqrt((double)recipe->problem.d_head)));
}

const char *mistake_scale_after_softmax(struct recipe *recipe, double form)
{
    (void)form;
    recipe->weights_factor = scale_of(recipe) / recipe->problem.temperature;
    recipe_makes(recipe, STAGE_WEIGHTS, "softmax of what is not scaled, then x the scale");
    return scale_by(recipe, 1);
}

/* --- softcap ----------------------------------------------------------------------------------------------------- */

static const char NO_SOFTCAP[] = "there is no softcap";

static const char *cap(struct recipe *recipe, enum recipe_softcap softcap, enum stage stage, const char *formula)
{
    if (recipe->problem.softcap == 0)
        return NO_SOFTCAP;
    recipe->softcap = softcap;
    recipe_makes(recipe, stage, formula);
    return NULL;
}

const char *mistake_softcap_after_mask(struct recipe *recipe, double form)
{
    (void)form;
    if (!recipe->problem.masks)
        return "there is no mask";
    if (recipe->problem.softcap > 0)
        recipe_makes(recipe, STAGE_MASKED, "softcap x tanh(scaled / softcap), -softcap where masked");
    return cap(recipe, RECIPE_SOFTCAP_AFTER_MASK, STAGE_CAPPED, "scaled, not yet capped");
}

const char *mistake_softcap_before_scale(struct recipe *recipe, double form)
{
    (void)form;
    return cap(recipe, RECIPE_SOFTCAP_BEFORE_SCALE, STAGE_CAPPED, "softcap x tanh(scores / softcap) x scale");
}

const char *mistake_softcap_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.softcap == 0)
        return NO_SOFTCAP;
    recipe->problem.softcap = 0;
    return NULL;
}

const char *mistake_softcap_not_multiplied(struct recipe *recipe, double form)
{
    (void)form;
    return cap(recipe, RECIPE_SOFTCAP_NOT_MULTIPLIED, STAGE_CAPPED, "tanh(scaled / softcap)");
}
