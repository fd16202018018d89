/* Mistakes of slots norm and qk_norm: that of the layer's inputs, and those of query and key. */
#include "mistake/recipe.h"
#include "stage/operand_steps.h"

#include <math.h>
#include <string.h>

static bool is_made(const struct norm *norm)
{
    return norm->kind != NORM_NONE;
}

static bool has_weight(const struct norm *norm)
{
    return is_made(norm) && norm->weight.rank > 0;
}

/* Each of these changes a norm, or says why it cannot. */
typedef const char *change_norm(struct norm *norm, double form);

static const char NO_WEIGHT[] = "the norm has no weight";

static const char *weight_missing(struct norm *norm, double form)
{
    (void)form;
    if (!has_weight(norm))
        return NO_WEIGHT;
    norm->weight.rank = 0;
    return NULL;
}

static const char *bias_missing(struct norm *norm, double form)
{
    (void)form;
    if (!is_made(norm) || norm->bias.rank == 0)
        return "the norm has no bias";
    norm->bias.rank = 0;
    return NULL;
}

/* One kind in the place of another. */
static const char *exchange(struct norm *norm, enum norm_kind from, enum norm_kind to, const char *reason)
{
    if (norm->kind != from)
        return reason;
    norm->kind = to;
    return NULL;
}

static const char *plus_1(struct norm *norm, double form)
{
    (void)form;
    return has_weight(norm) ? exchange(norm, NORM_RMS, NORM_RMS_PLUS_ONE, "it is no norm of mean squares by its weight")
                            : NO_WEIGHT;
}

static const char *plus_1_missing(struct norm *norm, double form)
{
    (void)form;
    return has_weight(norm) ? exchange(norm, NORM_RMS_PLUS_ONE, NORM_RMS, "the norm does not multiply with 1 + weight")
                            : NO_WEIGHT;
}

static const char *mean_kept(struct norm *norm, double form)
{
    (void)form;
    return exchange(norm, NORM_LAYER, NORM_RMS, "the norm takes no mean off");
}

static const char *mean_subtracted(struct norm *norm, double form)
{
    (void)form;
    return exchange(norm, NORM_RMS, NORM_LAYER, "the norm is none of mean squares by its weight");
}

static const char *other_eps(struct norm *norm, double form)
{
    if (norm->eps == form)
        return "it is the eps that is asked for";
    norm->eps = form;
    return NULL;
}

/* --- norm: of the inputs ----------------------------------------------------------------------------------------- */

static const char *change_inputs(struct recipe *recipe, change_norm *change, double form)
{
    struct norm *norm = &recipe->problem.parameters.norms[NORM_INPUTS];
    if (!recipe->problem.residual || !is_made(norm))
        return "no norm of inputs comes first";
    for (int id = 0; id < PROJECTION_COUNT; id++)
        recipe->projects_anew[id] = true;
    return change(norm, form);
}

static const char *leave_out(struct norm *norm, double form)
{
    (void)form;
    norm->left_out = true;
    return NULL;
}

/* A stage is what it would be without its norm, which its explanation does not know of. */
static void tell_left_out(struct recipe *recipe, enum stage stage)
{
    recipe_tells(recipe, stage, ", not normed");
    recipe->problem.wrong |= STAGE_BIT(stage);
}

const char *mistake_norm_missing(struct recipe *recipe, double form)
{
    const char *reason = change_inputs(recipe, leave_out, form);
    tell_left_out(recipe, STAGE_NORMED);
    return reason;
}

const char *mistake_norm_twice(struct recipe *recipe, double form)
{
    (void)form;
    struct problem *problem = &recipe->problem;
    if (!is_made(&problem->parameters.norms[NORM_INPUTS]))
        return "no norm of inputs is known";
    if (problem->residual)
        return "--residual asks for it";
    problem->residual = true;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        recipe->projects_anew[id] = true;
    return NULL;
}

const char *mistake_norm_weight_missing(struct recipe *recipe, double form)
{
    return change_inputs(recipe, weight_missing, form);
}

const char *mistake_norm_bias_missing(struct recipe *recipe, double form)
{
    return change_inputs(recipe, bias_missing, form);
}

const char *mistake_norm_plus_1(struct recipe *recipe, double form)
{
    return change_inputs(recipe, plus_1, form);
}

const char *mistake_norm_plus_1_missing(struct recipe *recipe, double form)
{
    return change_inputs(recipe, plus_1_missing, form);
}

const char *mistake_norm_mean_kept(struct recipe *recipe, double form)
{
    return change_inputs(recipe, mean_kept, form);
}

const char *mistake_norm_mean_subtracted(struct recipe *recipe, double form)
{
    return change_inputs(recipe, mean_subtracted, form);
}

const char *mistake_norm_eps(struct recipe *recipe, double form)
{
    return change_inputs(recipe, other_eps, form);
}

/* --- qk_norm: of query and key ------------------------------------------------------------------------------------ */

static const char NO_NORM[] = "query and key are not normed";

static bool are_normed(const struct problem *problem)
{
    return is_made(&problem->parameters.norms[NORM_QUERY]) || is_made(&problem->parameters.norms[NORM_KEY]);
}

static enum projection_id projection_of_norm(int id)
{
    return id == NORM_QUERY ? PROJECTION_QUERY : PROJECTION_KEY;
}

/* Both, or the one that there is. */
static const char *change_both(struct recipe *recipe, change_norm *change, double form)
{
    const char *reason = NO_NORM;
    for (int id = NORM_QUERY; id <= NORM_KEY && (id == NORM_QUERY || reason == NULL || reason == NO_NORM); id++) {
        struct norm *norm = &recipe->problem.parameters.norms[id];
        if (!is_made(norm))
            continue;
        reason = change(norm, form);
        recipe->steps_anew[projection_of_norm(id)] = true;
    }
    return reason;
}

const char *mistake_qk_norm_missing(struct recipe *recipe, double form)
{
    const struct problem *problem = &recipe->problem;
    const bool turned = problem->rope.kind != ROPE_NONE;
    const char *reason = change_both(recipe, leave_out, form);
    if (is_made(&problem->parameters.norms[NORM_QUERY]))
        tell_left_out(recipe, turned || problem->scales_query ? STAGE_NORMED_QUERY : STAGE_QUERY);
    if (is_made(&problem->parameters.norms[NORM_KEY]))
        tell_left_out(recipe, turned ? STAGE_NORMED_KEY : STAGE_KEY);
    return reason;
}

const char *mistake_qk_norm_weight_missing(struct recipe *recipe, double form)
{
    return change_both(recipe, weight_missing, form);
}

const char *mistake_qk_norm_plus_1(struct recipe *recipe, double form)
{
    return change_both(recipe, plus_1, form);
}

const char *mistake_qk_norm_plus_1_missing(struct recipe *recipe, double form)
{
    return change_both(recipe, plus_1_missing, form);
}

const char *mistake_qk_norm_eps(struct recipe *recipe, double form)
{
    return change_both(recipe, other_eps, form);
}

const char *mistake_qk_norm_after_rope(struct recipe *recipe, double form)
{
    (void)form;
    const struct problem *problem = &recipe->problem;
    if (!are_normed(problem))
        return NO_NORM;
    if (problem->rope.kind == ROPE_NONE)
        return "nothing is turned by its position";
    recipe->norms_last = recipe->steps_anew[PROJECTION_QUERY] = recipe->steps_anew[PROJECTION_KEY] = true;
    recipe_makes(recipe, STAGE_QUERY, "projected_query, turned by position, then normed");
    recipe_makes(recipe, STAGE_KEY, "projected_key, turned by position, then normed");
    recipe_tells(recipe, STAGE_NORMED_QUERY, "projected_query, not yet normed");
    recipe_tells(recipe, STAGE_NORMED_KEY, "projected_key, not yet normed");
    return NULL;
}

/* Weights of a head, or of each, as (H d). */
static void spread(struct recipe *recipe, struct tensor *weight, size_t heads)
{
    const size_t d = recipe->problem.d_head, all = heads * d, count = tensor_count(weight);
    struct tensor wide;
    double number;
    if (tensor_create(&wide, dtype_storage(recipe->problem.dtype), 1, &all, recipe->arena, recipe->error) != STATUS_OK)
        return;
    for (size_t i = 0; i < all; i++) {
        tensor_load(weight, i % count, 1, &number);
        tensor_store(&wide, i, 1, &number);
    }
    *weight = wide;
}

/* Weights of all heads as (H, d), a head's own each. */
static void fold(const struct recipe *recipe, struct tensor *weight, size_t heads)
{
    weight->rank = 2;
    weight->shape[0] = heads;
    weight->shape[1] = recipe->problem.d_head;
}

const char *mistake_qk_norm_all_heads(struct recipe *recipe, double form)
{
    (void)form;
    struct problem *problem = &recipe->problem;
    if (!are_normed(problem))
        return NO_NORM;
    if (problem->heads == 1)
        return "there is one head";
    for (int id = NORM_QUERY; id <= NORM_KEY; id++) {
        struct norm *norm = &problem->parameters.norms[id];
        const size_t heads = operand_heads(problem, projection_of_norm(id));
        if (!is_made(norm))
            continue;
        if (norm->weight.rank == 0)
            return NO_WEIGHT;
        if (operand_norm_is_of_all(problem, projection_of_norm(id)))
            return "the norm goes over all heads";
        if (heads > 1)
            spread(recipe, &norm->weight, heads);
        if (heads > 1 && norm->bias.rank > 0)
            spread(recipe, &norm->bias, heads);
        recipe->steps_anew[projection_of_norm(id)] = true;
    }
    return NULL;
}

const char *mistake_qk_norm_each_head(struct recipe *recipe, double form)
{
    (void)form;
    struct problem *problem = &recipe->problem;
    const char *reason = are_normed(problem) ? "the norm goes over a head" : NO_NORM;
    for (int id = NORM_QUERY; id <= NORM_KEY; id++) {
        struct norm *norm = &problem->parameters.norms[id];
        const size_t heads = operand_heads(problem, projection_of_norm(id));
        if (!is_made(norm) || !operand_norm_is_of_all(problem, projection_of_norm(id)))
            continue;
        fold(recipe, &norm->weight, heads);
        if (norm->bias.rank > 0)
            fold(recipe, &norm->bias, heads);
        recipe->steps_anew[projection_of_norm(id)] = true;
        reason = NULL;
    }
    return reason;
}

/* --- qk_norm: of a latent ----------------------------------------------------------------------------------------- */

const char *mistake_qk_norm_latent_missing(struct recipe *recipe, double form)
{
    (void)form;
    struct latent *latent = &recipe->problem.parameters.latent;
    if (latent->rank == 0)
        return "key and value come by way of no latent";
    latent->key_value_norm.left_out = true;
    recipe->projects_anew[PROJECTION_KEY] = recipe->projects_anew[PROJECTION_VALUE] = true;
    recipe_tells(recipe, STAGE_VALUE, "latent . W_key_value_b^T, the latent not normed");
    if (latent->query_a.weight.rank == 0)
        return NULL;
    latent->query_norm.left_out = true;
    recipe->projects_anew[PROJECTION_QUERY] = true;
    return NULL;
}
