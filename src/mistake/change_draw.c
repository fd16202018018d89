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

/* MKL's generator draws only for dropout. */
CHANGE(DRAW_MKL, problem->drop.share > 0 ? NULL : "there is no dropout")

static const char *is_read(const struct problem *problem)
{
    return problem->layer == NULL ? "there is no checkpoint" : NULL;
}

/* clang-format off */
#define DRAWN(ID) ID(RAND) ID(LINEAR) ID(RANDN) ID(ORDER) ID(D_OUT) ID(BIAS) ID(BIAS_MISSING) ID(HEADS) ID(SPLIT) ID(STACKED)
#define READ(ID) \
    ID(QUERY) ID(KEY) ID(VALUE) ID(KEY_VALUE) ID(OUT) ID(BIAS) ID(NORM) ID(NORM_AFTER) ID(QK_NORM) ID(SINKS) \
    ID(WINDOW) ID(ROPE) ID(KIND) ID(ADAPTER) ID(QUANTISED)
#define IF_DRAWN(id) CHANGE(DRAW_##id, is_drawn(problem))
#define IF_READ(id) CHANGE(LAYER_##id, is_read(problem))
DRAWN(IF_DRAWN)
READ(IF_READ)
/* clang-format on */
CHANGE(DRAW_LAYER, is_read(problem))
CHANGE(DRAW_SEED, draws_on(problem))
CHANGE(DRAW_SKIP, draws_on(problem))
