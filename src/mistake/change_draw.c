/* SPDX-License-Identifier: MIT */
/* Mistakes of slot draw: build_draws of build/ makes the job with them; these only check whether they apply. */
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
/* job_files_read opens that layer. */
CHANGE(DRAW_LAYER, problem->layer == NULL                          ? "there is no checkpoint"
                   : problem->layer->module->layer != (size_t)form ? "attn read another layer"
                                                                   : NULL)
