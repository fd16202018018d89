/* SPDX-License-Identifier: MIT */
/* Takes parameters other than projections: norms, a latent, T5's relative bias. */
#include "problem/taking.h"

#include <stdio.h>

const struct tensor *taking_find(struct taking *taking, const char *name)
{
    const struct file_tensor *found = input_file_find(taking->input, name);
    if (found == NULL)
        return NULL;
    taking->taken[found - taking->input->tensors] = true;
    return &found->tensor;
}

enum status taking_keep(const struct taking *taking, const char *name, const struct tensor *tensor,
                        struct tensor *parameter)
{
    const struct file_tensor *found = input_file_find(taking->input, name);
    const bool unpacked = found != NULL && found->origin != NULL; /* the checkpoint has another name */
    return tensor_keep(tensor, taking->plan->dtype, unpacked ? found->file : taking->input->source,
                       unpacked ? found->origin : name, parameter, taking->arena, taking->error);
}

enum status taking_wrong_shape(const struct taking *taking, const char *name, const struct tensor *tensor, size_t rows,
                               size_t columns, const char *why)
{
    const struct tensor right = {.rank = columns ? 2 : 1, .shape = {rows, columns}};
    const struct file_tensor *found = input_file_find(taking->input, name);
    const char *origin = found != NULL ? found->origin : NULL;
    return error_usage(taking->error, "%s: %s%s%s%s is %s, expected %s: %s", taking->input->source, name,
                       origin != NULL ? " (" : "", origin != NULL ? origin : "", origin != NULL ? ")" : "",
                       SHAPE_TEXT(tensor), SHAPE_TEXT(&right), why);
}

/* --- norms -------------------------------------------------------------------------------------------------------- */

static const char *const NORMS[NORM_COUNT] = {
    [NORM_INPUTS] = "norm", [NORM_QUERY] = "query_norm", [NORM_KEY] = "key_norm", [NORM_VALUE] = "value_norm"};

/* Whether the weights, a list or a row per head, are as long as the normed inputs, head, or heads. */
static bool fits(const struct taking *taking, enum norm_id id, const struct tensor *tensor)
{
    const struct parameters_plan *plan = taking->plan;
    const size_t heads = id == NORM_KEY ? plan->kv_heads : plan->kv_heads * plan->groups;
    const size_t all = plan->d_out / plan->groups * (id == NORM_KEY ? 1 : plan->groups), d = all / heads;
    if (id == NORM_INPUTS)
        return tensor->rank == 1 && tensor->shape[0] == plan->d_in;
    if (tensor->rank == 2)
        return tensor->shape[0] == heads && tensor->shape[1] == d;
    return tensor->rank == 1 && (tensor->shape[0] == d || tensor->shape[0] == all);
}

static enum status take_norm_part(struct taking *taking, enum norm_id id, const char *suffix, struct tensor *part)
{
    const struct parameters_plan *plan = taking->plan;
    const size_t heads = id == NORM_KEY ? plan->kv_heads : plan->kv_heads * plan->groups;
    char name[PARAMETER_NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", NORMS[id], suffix);
    const struct tensor *found = taking_find(taking, name);
    if (found == NULL)
        return STATUS_OK;
    if (plan->stacked && id != NORM_INPUTS)
        return error_usage(taking->error, "%s: %s does not go with --stacked, whose heads have no norm",
                           taking->input->source, name);
    if (fits(taking, id, found))
        return taking_keep(taking, name, found, part);
    if (id == NORM_INPUTS)
        return taking_wrong_shape(taking, name, found, plan->d_in, 0, "one for each column of the inputs");
    return error_usage(taking->error, "%s: %s is %s, expected %zu numbers for a head, or those of all %zu heads",
                       taking->input->source, name, SHAPE_TEXT(found), plan->d_out / plan->groups / plan->kv_heads,
                       heads);
}

enum status taking_norms(struct taking *taking)
{
    parameters_say_norms(taking->parameters, taking->plan);
    for (enum norm_id id = 0; id < NORM_COUNT; id++) {
        struct norm *norm = &taking->parameters->norms[id];
        const enum norm_kind said = taking->plan->norms[id];
        if (take_norm_part(taking, id, "weight", &norm->weight) || take_norm_part(taking, id, "bias", &norm->bias))
            return taking->error->status;
        if (said == NORM_KIND_COUNT) /* the kind that most models have */
            norm->kind = norm->bias.rank > 0 ? NORM_LAYER : norm->weight.rank > 0 ? NORM_RMS : NORM_NONE;
        if (taking->parameters->latent.rank > 0 && id != NORM_INPUTS && id != NORM_VALUE && norm->weight.rank == 0)
            norm->kind = NORM_NONE; /* the plan is about the latent's norms */
        norm->eps = parameters_eps(taking->plan->norm_eps[id], norm->kind);
        if (norm->bias.rank > 0 && !tensor_same_shape(&norm->weight, &norm->bias))
            return error_usage(taking->error,
                               "%s: %s.bias does not have the shape of %s.weight; expected one bias for each weight",
                               taking->input->source, NORMS[id], NORMS[id]);
        if (norm->bias.rank > 0 && norm->kind != NORM_LAYER && norm->kind != NORM_NONE)
            return error_usage(taking->error,
                               "%s: %s.bias is given, but an RMS norm has none; type --norm layer, or --qk-norm layer",
                               taking->input->source, NORMS[id]);
    }
    return STATUS_OK;
}

/* --- relative bias ------------------------------------------------------------------------------------------------ */

enum status taking_relative_bias(struct taking *taking)
{
    static const char NAME[] = "relative_bias.weight";
    const struct tensor *found = taking_find(taking, NAME);
    const size_t heads = taking->plan->kv_heads * taking->plan->groups;
    if (found == NULL)
        return STATUS_OK;
    if (found->rank != 2 || found->shape[1] != heads || found->shape[0] < 4 || found->shape[0] % 4 != 0)
        return taking_wrong_shape(taking, NAME, found, 32, heads,
                                  "a row for each bucket, in fours, and a column for each head");
    return taking_keep(taking, NAME, found, &taking->parameters->relative_bias);
}

/* --- latent ------------------------------------------------------------------------------------------------------- */

bool taking_has_latent(const struct taking *taking, enum projection_id id)
{
    const char *name = id == PROJECTION_QUERY ? "W_query_a.weight" : "W_key_value_a.weight";
    return taking->plan->has_out && input_file_find(taking->input, name) != NULL;
}

/* Takes a projection of the latent; its bias is optional. */
static enum status take_step(struct taking *taking, const char *stem, size_t columns, struct projection *projection)
{
    char name[PARAMETER_NAME_BYTES];
    snprintf(name, sizeof name, "%s.weight", stem);
    const struct tensor *weight = taking_find(taking, name);
    *projection = (struct projection){.transposed = true};
    if (weight == NULL)
        return error_usage(taking->error, "%s: parameters are missing: no %s", taking->input->source, name);
    if (weight->rank != 2 || weight->shape[1] != columns)
        return error_usage(taking->error, "%s: %s is %s, expected a matrix with %zu columns", taking->input->source,
                           name, SHAPE_TEXT(weight), columns);
    if (taking_keep(taking, name, weight, &projection->weight) != STATUS_OK)
        return taking->error->status;
    snprintf(name, sizeof name, "%s.bias", stem);
    const struct tensor *bias = taking_find(taking, name);
    if (bias == NULL)
        return STATUS_OK;
    if (bias->rank != 1 || bias->shape[0] != weight->shape[0])
        return taking_wrong_shape(taking, name, bias, weight->shape[0], 0, "one for each row of its weight");
    return taking_keep(taking, name, bias, &projection->bias);
}

/* Takes the norm between the two projections, over at most `most` columns. */
static enum status take_step_norm(struct taking *taking, const char *name, size_t most, struct norm *norm)
{
    const struct parameters_plan *plan = taking->plan;
    const enum norm_kind said = plan->norms[NORM_QUERY], kind = said != NORM_KIND_COUNT ? said : NORM_RMS;
    const struct tensor *weight = taking_find(taking, name);
    *norm = (struct norm){.kind = kind, .eps = parameters_eps(plan->norm_eps[NORM_QUERY], kind)};
    if (weight == NULL)
        return error_usage(taking->error, "%s: parameters are missing: no %s", taking->input->source, name);
    if (weight->rank != 1 || weight->shape[0] > most)
        return taking_wrong_shape(taking, name, weight, most, 0, "at most one for each row of the step before it");
    return taking_keep(taking, name, weight, &norm->weight);
}

static enum status take_query_steps(struct taking *taking, struct latent *latent)
{
    if (!taking_has_latent(taking, PROJECTION_QUERY))
        return STATUS_OK;
    if (take_step(taking, "W_query_a", taking->plan->d_in, &latent->query_a) ||
        take_step_norm(taking, "query_a_norm.weight", latent->query_a.weight.shape[0], &latent->query_norm) ||
        take_step(taking, "W_query_b", latent->query_a.weight.shape[0], &latent->query_b))
        return taking->error->status;
    taking->plan->d_out = latent->query_b.weight.shape[0];
    if (latent->query_norm.weight.shape[0] == latent->query_a.weight.shape[0])
        return STATUS_OK;
    return taking_wrong_shape(taking, "query_a_norm.weight", &latent->query_norm.weight,
                              latent->query_a.weight.shape[0], 0, "one for each row of W_query_a.weight");
}

/* Sets the latent's columns per head: d of query, of which d_rope are rotated; d_nope and d_v of key_value_b. */
static enum status cut_latent(struct taking *taking, struct latent *latent)
{
    struct parameters_plan *plan = taking->plan;
    const size_t heads = plan->kv_heads, rows = latent->key_value_b.weight.shape[0], d = plan->d_out / heads;
    latent->d_rope = latent->key_value_a.weight.shape[0] - latent->rank;
    if (plan->d_out % heads != 0 || d <= latent->d_rope || rows % heads != 0 || rows / heads <= d - latent->d_rope)
        return error_usage(taking->error,
                           "%s: W_key_value_b.weight has %zu rows and query %zu columns, of which each of %zu heads "
                           "rotates %zu; expected rows for the rest of each head, and for its value",
                           taking->input->source, rows, plan->d_out, heads, latent->d_rope);
    latent->d_nope = d - latent->d_rope;
    plan->d_value = rows - heads * latent->d_nope;
    return STATUS_OK;
}

enum status taking_latent(struct taking *taking)
{
    struct latent *latent = &taking->parameters->latent;
    *latent = (struct latent){0};
    if (take_query_steps(taking, latent) != STATUS_OK)
        return taking->error->status;
    if (!taking_has_latent(taking, PROJECTION_KEY))
        return STATUS_OK;
    if (taking->plan->groups != 1)
        return error_usage(taking->error,
                           "%s: W_key_value_a makes a key and value for each head; type --kv-heads as many as --heads",
                           taking->input->source);
    if (take_step(taking, "W_key_value_a", taking->plan->d_key_in, &latent->key_value_a) ||
        take_step_norm(taking, "key_value_a_norm.weight", latent->key_value_a.weight.shape[0], &latent->key_value_norm))
        return taking->error->status;
    latent->rank = latent->key_value_norm.weight.shape[0];
    if (take_step(taking, "W_key_value_b", latent->rank, &latent->key_value_b) != STATUS_OK)
        return taking->error->status;
    return cut_latent(taking, latent);
}
