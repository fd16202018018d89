/* SPDX-License-Identifier: MIT */
/* Mistakes of slots norm, qk_norm and value_norm: the norms of the layer's inputs, of query and key, of value. */
#include "mistake/recipe.h"
#include "stage/operand_steps.h"

static bool is_made(const struct norm *norm)
{
    return norm->kind != NORM_NONE;
}

static const char NO_WEIGHT[] = "the norm has no weight";

enum norm_change {
    LEAVE_OUT,
    NO_WEIGHTS,
    NO_BIAS,
    PLUS_1,
    PLUS_1_MISSING,
    MEAN_KEPT,
    MEAN_SUBTRACTED,
    OTHER_EPS,
    UNBIASED,
    OF_SUM,
    ROOT_MISSING
};

/* Replaces one kind with another. */
static const char *exchange(struct norm *norm, enum norm_kind from, enum norm_kind to, const char *reason)
{
    if (norm->kind != from)
        return reason;
    norm->kind = to;
    return NULL;
}

static const char *change(struct norm *norm, enum norm_change change, double form)
{
    const bool weighs = change == NO_WEIGHTS || change == PLUS_1 || change == PLUS_1_MISSING;
    if (weighs && norm->weight.rank == 0)
        return NO_WEIGHT;
    switch (change) {
    case LEAVE_OUT:
        norm->left_out = true;
        break;
    case NO_WEIGHTS:
        norm->weight.rank = 0;
        break;
    case NO_BIAS:
        if (norm->bias.rank == 0)
            return "the norm has no bias";
        norm->bias.rank = 0;
        break;
    case PLUS_1:
        return exchange(norm, NORM_RMS, NORM_RMS_PLUS_ONE, "the norm is not an RMSNorm that multiplies by its weight");
    case PLUS_1_MISSING:
        return exchange(norm, NORM_RMS_PLUS_ONE, NORM_RMS, "the norm does not multiply by 1 + weight");
    case MEAN_KEPT:
        return exchange(norm, NORM_LAYER, NORM_RMS, "the norm does not subtract the mean");
    case MEAN_SUBTRACTED:
        return exchange(norm, NORM_RMS, NORM_LAYER, "the norm is not an RMSNorm that multiplies by its weight");
    case OTHER_EPS:
        if (norm->eps == form)
            return "the norm has this eps already";
        norm->eps = form;
        break;
    case UNBIASED:
        if (norm->kind != NORM_LAYER)
            return "the norm has no variance";
        norm->less_1 = true;
        break;
    case OF_SUM:
        norm->of_sum = true;
        break;
    case ROOT_MISSING:
        norm->no_root = true;
        break;
    }
    return NULL;
}

/* --- norm: of the inputs ----------------------------------------------------------------------------------------- */

static const char *change_inputs(struct recipe *recipe, enum norm_change kind)
{
    struct norm *norm = &recipe->problem.parameters.norms[NORM_INPUTS];
    if (!recipe->problem.given.residual || !is_made(norm))
        return "no norm of the inputs is applied";
    recipe->changed_projections = OF_ALL;
    const char *reason = change(norm, kind, recipe->form);
    return reason != NULL ? reason : recipe_make_gate(recipe, gate_sigmoid, NULL);
}

/* Records a stage that skips its norm, for its explanation. */
static void tell_left_out(struct recipe *recipe, enum stage stage)
{
    recipe_tells(recipe, stage, ", not normed");
    recipe->problem.mistake.wrong |= STAGE_BIT(stage);
}

CHANGE_BY(NORM_MISSING)
{
    const char *reason = change_inputs(recipe, LEAVE_OUT);
    tell_left_out(recipe, STAGE_NORMED);
    return reason;
}

CHANGE_BY(NORM_TWICE)
{
    if (!is_made(&problem->parameters.norms[NORM_INPUTS]))
        return "attn knows no norm of the inputs";
    problem->parameters.norms[NORM_INPUTS].twice = problem->given.residual;
    if (problem->given.residual)
        recipe_makes(recipe, STAGE_NORMED, ", normed twice");
    problem->given.residual = true;
    recipe->changed_projections = OF_ALL;
    return recipe_make_gate(recipe, gate_sigmoid, NULL);
}

CHANGE(NORM_BIAS_MISSING, change_inputs(recipe, NO_BIAS))

CHANGE_BY(NORM_ADDED)
{
    struct norm *norm = &problem->parameters.norms[NORM_INPUTS];
    if (!problem_projects(problem))
        return "nothing is projected";
    if (is_made(norm))
        return "the inputs have a norm";
    *norm = (struct norm){.kind = form == 0 ? NORM_LAYER : NORM_RMS, .eps = RECIPE_NORM_EPS, .of_sum = form == 2};
    problem->given.residual = true;
    recipe->changed_projections = OF_ALL;
    return recipe_make_gate(recipe, gate_sigmoid, NULL);
}

/* --- qk_norm: of query and key ------------------------------------------------------------------------------------ */

static const char NO_NORM[] = "query and key are not normed";

static bool are_normed(const struct problem *problem)
{
    return is_made(&problem->parameters.norms[NORM_QUERY]) || is_made(&problem->parameters.norms[NORM_KEY]);
}

/* Changes the norms of a set of operands, or the one that exists. */
static const char *change_some(struct recipe *recipe, unsigned ids, enum norm_change kind)
{
    const char *reason = NO_NORM;
    for (enum projection_id id = PROJECTION_QUERY; id <= PROJECTION_KEY && (reason == NULL || reason == NO_NORM);
         id++) {
        struct norm *norm = &recipe->problem.parameters.norms[projection_norm(id)];
        if (!is_made(norm) || (ids & 1U << id) == 0)
            continue;
        reason = change(norm, kind, recipe->form);
        recipe->changed_steps |= 1U << id;
    }
    return reason;
}

static const char *leave_out(struct recipe *recipe, unsigned ids)
{
    const struct problem *problem = &recipe->problem;
    const bool rotated = problem->rotation.rope.kind != ROPE_NONE;
    const char *reason = change_some(recipe, ids, LEAVE_OUT);
    if (ids & OF_QUERY && is_made(&problem->parameters.norms[NORM_QUERY]))
        tell_left_out(recipe, rotated || problem->scaling.on_query ? STAGE_NORMED_QUERY : STAGE_QUERY);
    if (ids & OF_KEY && is_made(&problem->parameters.norms[NORM_KEY]))
        tell_left_out(recipe, rotated ? STAGE_NORMED_KEY : STAGE_KEY);
    return reason;
}

CHANGE(QK_NORM_MISSING, leave_out(recipe, OF_QUERY | OF_KEY))
CHANGE(QK_NORM_QUERY_MISSING, leave_out(recipe, OF_QUERY))
CHANGE(QK_NORM_KEY_MISSING, leave_out(recipe, OF_KEY))

/* Gives query and key the norms of these. */
static const char *exchange_norms(struct recipe *recipe, enum norm_id query, enum norm_id key)
{
    struct norm *norms = recipe->problem.parameters.norms;
    const struct norm right[] = {[NORM_QUERY] = norms[NORM_QUERY], [NORM_KEY] = norms[NORM_KEY]};
    if (!is_made(&right[NORM_QUERY]) || !is_made(&right[NORM_KEY]))
        return "query and key are not both normed";
    if (right[NORM_QUERY].weight.rank == 0 ||
        tensor_count(&right[NORM_QUERY].weight) != tensor_count(&right[NORM_KEY].weight))
        return "their weights differ in number";
    norms[NORM_QUERY] = right[query];
    norms[NORM_KEY] = right[key];
    recipe->changed_steps |= OF_QUERY | OF_KEY;
    return NULL;
}

CHANGE(QK_NORM_SWAPPED, exchange_norms(recipe, NORM_KEY, NORM_QUERY))

/* The forms: whose. */
CHANGE(QK_NORM_ONE_FOR_BOTH,
       exchange_norms(recipe, form == 0 ? NORM_QUERY : NORM_KEY, form == 0 ? NORM_QUERY : NORM_KEY))

/* A mistake of both slots. */
#define ANY_NORM(id, kind)                         \
    CHANGE(NORM_##id, change_inputs(recipe, kind)) \
    CHANGE(QK_NORM_##id, change_some(recipe, OF_QUERY | OF_KEY, kind))

ANY_NORM(WEIGHT_MISSING, NO_WEIGHTS)
ANY_NORM(PLUS_1, PLUS_1)
ANY_NORM(PLUS_1_MISSING, PLUS_1_MISSING)
ANY_NORM(MEAN_KEPT, MEAN_KEPT)
ANY_NORM(MEAN_SUBTRACTED, MEAN_SUBTRACTED)
ANY_NORM(EPS, OTHER_EPS)
ANY_NORM(UNBIASED, UNBIASED)
ANY_NORM(OF_SUM, OF_SUM)
ANY_NORM(ROOT_MISSING, ROOT_MISSING)

CHANGE_BY(QK_NORM_BEFORE_ROPE)
{
    if (!operand_norm_is_last(problem, PROJECTION_QUERY))
        return "the norm comes before the rotation, or there is none";
    for (int id = NORM_QUERY; id <= NORM_KEY; id++)
        problem->parameters.norms[id].last = false;
    recipe->changed_steps |= OF_QUERY | OF_KEY;
    return NULL;
}

CHANGE_BY(QK_NORM_AFTER_ROPE)
{
    if (!are_normed(problem))
        return NO_NORM;
    if (problem->rotation.rope.kind == ROPE_NONE)
        return "there is no rotation";
    if (operand_norm_is_last(problem, PROJECTION_QUERY))
        return "the norm comes after the rotation";
    recipe->norms_last = true;
    recipe->changed_steps |= OF_QUERY | OF_KEY;
    recipe_makes(recipe, STAGE_QUERY, "projected_query, rotated by position, then normed");
    recipe_makes(recipe, STAGE_KEY, "projected_key, rotated by position, then normed");
    recipe_tells(recipe, STAGE_NORMED_QUERY, "projected_query, not yet normed");
    return recipe_tells(recipe, STAGE_NORMED_KEY, "projected_key, not yet normed");
}

/* Repeats the weights of one head, or joins those of each, as (H d). */
static void repeat_by_head(struct recipe *recipe, struct tensor *weight, size_t heads)
{
    const size_t d = recipe->problem.size.d_head, all = heads * d, count = tensor_count(weight);
    struct tensor wide;
    double number;
    if (tensor_create(&wide, dtype_storage(recipe->problem.rounding.dtype), 1, &all, recipe->arena, recipe->error) !=
        STATUS_OK)
        return;
    for (size_t i = 0; i < all; i++) {
        tensor_load(weight, i % count, 1, &number);
        tensor_store(&wide, i, 1, &number);
    }
    *weight = wide;
}

/* Cuts the weights of all heads to (H, d), one row per head. */
static void cut_by_head(const struct recipe *recipe, struct tensor *weight, size_t heads)
{
    weight->rank = 2;
    weight->shape[0] = heads;
    weight->shape[1] = recipe->problem.size.d_head;
}

CHANGE_BY(QK_NORM_ALL_HEADS)
{
    if (!are_normed(problem))
        return NO_NORM;
    if (problem->size.heads == 1)
        return "there is one head";
    for (enum projection_id id = PROJECTION_QUERY; id <= PROJECTION_KEY; id++) {
        struct norm *norm = &problem->parameters.norms[projection_norm(id)];
        const size_t heads = operand_heads(problem, id);
        if (!is_made(norm))
            continue;
        if (norm->weight.rank == 0)
            return NO_WEIGHT;
        if (operand_norm_is_of_all(problem, id))
            return "the norm covers all heads";
        if (heads > 1)
            repeat_by_head(recipe, &norm->weight, heads);
        if (heads > 1 && norm->bias.rank > 0)
            repeat_by_head(recipe, &norm->bias, heads);
        recipe->changed_steps |= 1U << id;
    }
    return NULL;
}

CHANGE_BY(QK_NORM_EACH_HEAD)
{
    const char *reason = are_normed(problem) ? "the norm covers one head" : NO_NORM;
    for (enum projection_id id = PROJECTION_QUERY; id <= PROJECTION_KEY; id++) {
        struct norm *norm = &problem->parameters.norms[projection_norm(id)];
        const size_t heads = operand_heads(problem, id);
        if (!is_made(norm) || !operand_norm_is_of_all(problem, id))
            continue;
        cut_by_head(recipe, &norm->weight, heads);
        if (norm->bias.rank > 0)
            cut_by_head(recipe, &norm->bias, heads);
        recipe->changed_steps |= 1U << id;
        reason = NULL;
    }
    return reason;
}

/* --- qk_norm: of a latent ----------------------------------------------------------------------------------------- */

/* The forms: the latents of all, of the query, of key and value. */
CHANGE_BY(QK_NORM_LATENT_MISSING)
{
    struct latent *latent = &problem->parameters.latent;
    const bool has_query = latent->query_a.weight.rank > 0;
    if (latent->rank == 0)
        return "key and value do not come from a latent";
    if (form != 0 && !has_query)
        return "the query does not come from a latent";
    if (form != 1) {
        latent->key_value_norm.left_out = true;
        recipe->changed_projections |= OF_KEY | OF_VALUE;
        recipe_tells(recipe, STAGE_VALUE, "latent . W_key_value_b^T, the latent not normed");
    }
    if (form != 2 && has_query) {
        latent->query_norm.left_out = true;
        recipe->changed_projections |= OF_QUERY;
    }
    return NULL;
}

/* --- value_norm --------------------------------------------------------------------------------------------------- */

static const char *change_value(struct recipe *recipe, const struct norm *other)
{
    struct norm *norm = &recipe->problem.parameters.norms[NORM_VALUE];
    if (!is_made(norm))
        return "value is not normed";
    if (other == NULL) {
        norm->left_out = true;
        tell_left_out(recipe, STAGE_VALUE);
    } else if (other->weight.rank != 1 || other->weight.shape[0] != recipe->problem.size.d_value)
        return "the norm of key has no weight for each column of value";
    else
        *norm = *other;
    recipe->changed_steps |= OF_VALUE;
    return NULL;
}

CHANGE(VALUE_NORM_MISSING, change_value(recipe, NULL))
CHANGE(VALUE_NORM_OF_KEY, change_value(recipe, &problem->parameters.norms[NORM_KEY]))
