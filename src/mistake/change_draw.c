/* SPDX-License-Identifier: MIT */
/* Mistakes of slots draw and layer: build_draws of build/ and layer_read make the job with them; these only check
 * whether they apply. */
#include "mistake/recipe.h"

static const char *is_drawn(const struct problem *problem)
{
    return problem_projects(problem) && !problem->parameters.given ? NULL : "no parameters are drawn";
}

/* Dropout draws on after the parameters, drawn or not. */
static const char *draws_on(const struct problem *problem)
{
    return problem->drop.share > 0 && !problem->drop.seeded ? NULL : is_drawn(problem);
}

CHANGE(DRAW_RAND, is_drawn(problem))
CHANGE(DRAW_LINEAR, is_drawn(problem))
CHANGE(DRAW_RANDN, is_drawn(problem))
CHANGE(DRAW_ORDER, is_drawn(problem))
CHANGE(DRAW_D_OUT, is_drawn(problem))
CHANGE(DRAW_BIAS, is_drawn(problem))
CHANGE(DRAW_BIAS_MISSING, is_drawn(problem))
CHANGE(DRAW_HEADS, is_drawn(problem))
CHANGE(DRAW_SPLIT, is_drawn(problem))
CHANGE(DRAW_STACKED, is_drawn(problem))
CHANGE(DRAW_SEED, draws_on(problem))
CHANGE(DRAW_SKIP, draws_on(problem))
/* MKL's generator draws only for dropout. */
CHANGE(DRAW_MKL, problem->drop.share > 0 ? NULL : "there is no dropout")
static const char *is_read(const struct problem *problem)
{
    return problem->layer == NULL ? "there is no checkpoint" : NULL;
}

CHANGE(DRAW_LAYER, is_read(problem))
CHANGE(LAYER_QUERY, is_read(problem))
CHANGE(LAYER_KEY, is_read(problem))
CHANGE(LAYER_VALUE, is_read(problem))
CHANGE(LAYER_KEY_VALUE, is_read(problem))
CHANGE(LAYER_OUT, is_read(problem))
CHANGE(LAYER_BIAS, is_read(problem))
CHANGE(LAYER_NORM, is_read(problem))
CHANGE(LAYER_NORM_AFTER, is_read(problem))
CHANGE(LAYER_QK_NORM, is_read(problem))
CHANGE(LAYER_SINKS, is_read(problem))
CHANGE(LAYER_WINDOW, is_read(problem))
CHANGE(LAYER_ROPE, is_read(problem))
CHANGE(LAYER_KIND, is_read(problem))
CHANGE(LAYER_ADAPTER, is_read(problem))
CHANGE(LAYER_QUANTISED, is_read(problem))
