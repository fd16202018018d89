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
#define DRAWN(ID) ID(RAND) ID(LINEAR) ID(RANDN) ID(INIT) ID(D_OUT) ID(BIAS) ID(BIAS_MISSING) ID(HEADS) ID(SPLIT) ID(STACKED)
#define READ(ID) \
    ID(QUERY) ID(KEY) ID(VALUE) ID(KEY_VALUE) ID(OUT) ID(BIAS) ID(NORM) ID(QK_NORM) ID(SINKS) \
    ID(WINDOW) ID(ROPE) ID(KIND) ID(ADAPTER) ID(QUANTISED)
#define IF_DRAWN(id) CHANGE(DRAW_##id, is_drawn(problem))
#define IF_READ(id) CHANGE(LAYER_##id, is_read(problem))
DRAWN(IF_DRAWN)
READ(IF_READ)
/* clang-format on */
CHANGE(DRAW_LAYER, is_read(problem))
CHANGE(DRAW_ORDER, problem->plan.out_first && !problem->plan.has_out ? "there is no out_proj" : is_drawn(problem))

/* Sets a norm to the one after attention, of the kind of the other norms. */
static const char *take_norm_after(const struct recipe *recipe, struct norm *norm, size_t columns)
{
    const struct problem *problem = &recipe->problem;
    const struct norm *norms = problem->parameters.norms;
    const struct input_file *weights = problem->layer != NULL ? &problem->layer->weights : NULL;
    const struct file_tensor *weight = weights != NULL ? input_file_find(weights, "norm_after.weight") : NULL,
                             *bias = weights != NULL ? input_file_find(weights, "norm_after.bias") : NULL;
    if (weight == NULL)
        return weights == NULL ? is_read(problem) : "the layer has no such norm after attention";
    if (tensor_count(&weight->tensor) != columns || weight->tensor.rank != 1)
        return "the norm after attention has another width";
    *norm = norms[norms[NORM_INPUTS].kind != NORM_NONE ? NORM_INPUTS : NORM_QUERY];
    norm->kind = norm->kind == NORM_NONE ? NORM_RMS : norm->kind;
    norm->eps = norm->eps > 0 ? norm->eps : RECIPE_NORM_EPS;
    norm->weight = weight->tensor;
    norm->bias = bias != NULL ? bias->tensor : (struct tensor){.rank = 0};
    return NULL;
}

CHANGE_BY(LAYER_NORM_AFTER)
{
    struct norm *norm = &problem->parameters.norms[NORM_INPUTS];
    if (norm->kind != NORM_NONE && !problem->given.residual)
        return "no norm of the inputs is applied";
    const char *reason = take_norm_after(recipe, norm, problem->size.d_in);
    problem->given.residual = true;
    recipe->changed_projections = OF_ALL;
    return reason != NULL ? reason : recipe_make_gate(recipe, gate_sigmoid, NULL);
}

CHANGE_BY(LAYER_NORM_AFTER_WEIGHT)
{
    struct norm *norm = &problem->parameters.norms[NORM_INPUTS];
    const struct tensor bias = norm->bias;
    const char *reason = change_LAYER_NORM_AFTER(recipe, problem, mask, form);
    norm->bias = bias;
    return bias.rank == 0 ? "the norm has no bias" : reason;
}

CHANGE_BY(LAYER_OUT_NORMED)
{
    const char *reason = take_norm_after(recipe, &recipe->result_norm, problem_columns(problem, STAGE_OUTPUT));
    return reason != NULL ? reason : recipe_makes(recipe, STAGE_OUTPUT, ", normed");
}
CHANGE(DRAW_SEED, draws_on(problem))
CHANGE(DRAW_SKIP, draws_on(problem))
