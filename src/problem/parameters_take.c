/* SPDX-License-Identifier: MIT */
/* Takes the parameters of a module from a file: projections, norms, a latent, T5's relative bias. */
#include "problem/parameters.h"

#include "base/text.h"

#include <string.h>

struct taking {
    struct parameters *parameters;
    struct parameters_plan *plan;
    const struct input_file *input;
    const char *inputs_source;
    bool *taken;                      /* (tensors of the file) whether it is taken */
    char first[PARAMETER_NAME_BYTES]; /* the name of the weight that set d_out */
    bool has_bias;
    struct arena *arena;
    struct error *error;
};

/* The file's tensor of that name, which it marks as taken; or NULL. */
static const struct tensor *find(struct taking *taking, const char *name)
{
    const struct file_tensor *found = input_file_find(taking->input, name);
    if (found == NULL)
        return NULL;
    taking->taken[found - taking->input->tensors] = true;
    return &found->tensor;
}

/* Keeps a tensor of the right shape, whose numbers the working dtype holds. */
static enum status keep(const struct taking *taking, const char *name, const struct tensor *tensor,
                        struct tensor *parameter)
{
    const struct file_tensor *found = input_file_find(taking->input, name);
    const bool unpacked = found != NULL && found->origin != NULL; /* the checkpoint has another name */
    return tensor_keep(tensor, taking->plan->dtype, unpacked ? found->file : taking->input->source,
                       unpacked ? found->origin : name, parameter, taking->arena, taking->error);
}

/* STATUS_USAGE; columns 0: a list of `rows` numbers was expected. */
static enum status wrong_shape(const struct taking *taking, const char *name, const struct tensor *tensor, size_t rows,
                               size_t columns, const char *why)
{
    const struct tensor right = {.rank = columns ? 2 : 1, .shape = {rows, columns}};
    const struct file_tensor *found = input_file_find(taking->input, name);
    const char *origin = found != NULL ? found->origin : NULL;
    return error_usage(taking->error, "%s: %s%s%s%s is %s, expected %s: %s", taking->input->source, name,
                       origin != NULL ? " (" : "", origin != NULL ? origin : "", origin != NULL ? ")" : "",
                       SHAPE_TEXT(tensor), SHAPE_TEXT(&right), why);
}

/* Takes a list of `rows` numbers, if the file has it. */
static enum status take_list(struct taking *taking, const char *name, size_t rows, const char *why, struct tensor *list)
{
    const struct tensor *found = find(taking, name);
    if (found == NULL)
        return STATUS_OK;
    return found->rank == 1 && found->shape[0] == rows ? keep(taking, name, found, list)
                                                       : wrong_shape(taking, name, found, rows, 0, why);
}

/* Whether a latent replaces this projection. */
static bool has_latent(const struct taking *taking, enum projection_id id)
{
    const char *name = id == PROJECTION_QUERY ? "W_query_a.weight" : "W_key_value_a.weight";
    return taking->plan->has_out && input_file_find(taking->input, name) != NULL;
}

/* --- projections -------------------------------------------------------------------------------------------------- */

/* The ending of names of matrices stored as in nn.Linear. */
static const char LINEAR[] = ".weight";

/* The source of d_out, for messages. */
static const char *width_text(const struct taking *taking, enum projection_id id, char *why, size_t size)
{
    const size_t d_out = taking->plan->d_out;
    struct text text = text_begin(why, size);
    text_add(&text, "%s makes %zu column%s", taking->first, d_out, d_out == 1 ? "" : "s");
    if (parameters_columns(taking->plan, id) != d_out)
        text_add(&text, ", %zu heads share one of key and value", taking->plan->groups);
    return why;
}

static enum status wrong_side(const struct taking *taking, const struct projection *projection, enum projection_id id,
                              const char *name, const struct tensor *tensor)
{
    const bool linear = projection->transposed;
    const size_t stem = strlen(name) - (linear ? strlen(LINEAR) : 0),
                 d_in = parameters_source_columns(taking->plan, id);
    return error_usage(taking->error, "%s: %s is %s, transposed: inputs in %s have %zu column%s; %s is named %.*s%s",
                       taking->input->source, name, SHAPE_TEXT(tensor), taking->inputs_source, d_in,
                       d_in == 1 ? "" : "s", linear ? "d_in x d_out" : "d_out x d_in", (int)stem, name,
                       linear ? "" : LINEAR);
}

static enum status take_weight(struct taking *taking, enum projection_id id, struct projection *projection,
                               const char *name, const struct tensor *tensor)
{
    char why[TEXT_PATH_BYTES + 96];
    struct parameters_plan *plan = taking->plan;
    if (tensor->rank != 2)
        return error_usage(taking->error, "%s: %s is %s, expected a matrix, %s", taking->input->source, name,
                           SHAPE_TEXT(tensor), projection->transposed ? "d_out x d_in" : "d_in x d_out");
    size_t d_in = tensor->shape[projection->transposed], d_out = tensor->shape[!projection->transposed];
    if (taking->first[0] == '\0') {
        plan->d_out = d_out;
        plan->d_value = d_out / plan->groups;
        strcpy(taking->first, name);
    }
    const size_t source = parameters_source_columns(plan, id);
    /* With an output projection, heads of value may have other columns than those of query and key. */
    if (id == PROJECTION_VALUE && plan->has_out && d_out % plan->kv_heads == 0 && d_in == source)
        plan->d_value = d_out;
    const size_t wanted = parameters_columns(plan, id);
    size_t rows = projection->transposed ? wanted : source;
    size_t columns = projection->transposed ? source : wanted;
    if (d_in == source && d_out == wanted)
        return keep(taking, name, tensor, &projection->weight);
    if (d_out == source && (strcmp(taking->first, name) == 0 || d_in == wanted))
        return wrong_side(taking, projection, id, name, tensor);
    if (d_in == source)
        return wrong_shape(taking, name, tensor, rows, columns, width_text(taking, id, why, sizeof why));
    const bool of_keys = id != PROJECTION_QUERY && plan->keys_source != NULL;
    snprintf(why, sizeof why, "%s in %s have %zu column%s", of_keys ? "the inputs of keys" : "inputs",
             of_keys ? plan->keys_source : taking->inputs_source, source, source == 1 ? "" : "s");
    return wrong_shape(taking, name, tensor, rows, columns, why);
}

static enum status take_projection(struct taking *taking, size_t module, enum projection_id id)
{
    char matrix_name[PARAMETER_NAME_BYTES], linear_name[PARAMETER_NAME_BYTES], bias_name[PARAMETER_NAME_BYTES];
    char why[TEXT_PATH_BYTES + 96];
    const bool stacked = taking->plan->stacked;
    struct projection *projection = &taking->parameters->modules[module].projections[id];
    parameters_name(matrix_name, module, stacked, id, "");
    parameters_name(linear_name, module, stacked, id, LINEAR);
    parameters_name(bias_name, module, stacked, id, ".bias");
    const struct tensor *matrix = find(taking, matrix_name);
    const struct tensor *linear = find(taking, linear_name);
    *projection = (struct projection){.transposed = linear != NULL};
    if (matrix != NULL && linear != NULL)
        return error_usage(taking->error, "%s: %s and %s are both given; leave one out", taking->input->source,
                           matrix_name, linear_name);
    if (matrix == NULL && linear == NULL)
        return error_usage(taking->error, "%s: parameters are missing: neither %s nor %s is given",
                           taking->input->source, matrix_name, linear_name);
    if (take_weight(taking, id, projection, linear ? linear_name : matrix_name, linear ? linear : matrix) ||
        take_list(taking, bias_name, parameters_columns(taking->plan, id), width_text(taking, id, why, sizeof why),
                  &projection->bias))
        return taking->error->status;
    taking->has_bias = taking->has_bias || projection->bias.rank > 0;
    return STATUS_OK;
}

static enum status take_out(struct taking *taking)
{
    static const char NAME[] = "out_proj.weight";
    const size_t width = taking->plan->d_value * taking->plan->groups;
    char why[TEXT_PATH_BYTES + 96];
    struct projection *out = &taking->parameters->out;
    *out = (struct projection){.transposed = true};
    const struct tensor *weight = taking->plan->has_out ? find(taking, NAME) : NULL;
    if (!taking->plan->has_out)
        return STATUS_OK;
    if (weight == NULL)
        return error_usage(taking->error,
                           "%s: parameters are missing: split heads have an output projection, but %s is not given",
                           taking->input->source, NAME);
    if (weight->rank != 2 || weight->shape[1] != width) {
        const size_t heads = taking->plan->kv_heads * taking->plan->groups;
        snprintf(why, sizeof why, "%zu head%s of value side by side make %zu column%s", heads, heads == 1 ? "" : "s",
                 width, width == 1 ? "" : "s");
        return wrong_shape(taking, NAME, weight, weight->rank == 2 ? weight->shape[0] : width, width, why);
    }
    taking->plan->d_output = weight->shape[0];
    return keep(taking, NAME, weight, &out->weight) ? taking->error->status
                                                    : take_list(taking, "out_proj.bias", weight->shape[0],
                                                                "one for each row of out_proj.weight", &out->bias);
}

static enum status take_gate(struct taking *taking)
{
    const struct parameters_plan *plan = taking->plan;
    const struct tensor *weight = find(taking, "W_gate.weight");
    const size_t heads = plan->kv_heads * plan->groups, width = plan->d_value * plan->groups;
    struct projection *gate = &taking->parameters->gate;
    find(taking, "W_gate.bias"); /* without its weight it is of no use, and no error */
    if (weight == NULL || !plan->has_out || plan->stacked)
        return STATUS_OK;
    gate->transposed = true;
    if (weight->rank != 2 || weight->shape[1] != plan->d_in || (weight->shape[0] != heads && weight->shape[0] != width))
        return wrong_shape(taking, "W_gate.weight", weight, width, plan->d_in,
                           "a row for each value column of all heads, or for each head");
    return keep(taking, "W_gate.weight", weight, &gate->weight)
               ? taking->error->status
               : take_list(taking, "W_gate.bias", weight->shape[0], "one for each row of W_gate.weight", &gate->bias);
}

/* Takes query, key and value stacked, as nn.MultiheadAttention stores them. */
static enum status take_in_proj(struct taking *taking, const struct tensor *weight)
{
    struct parameters_plan *plan = taking->plan;
    const size_t groups = plan->groups, rows = weight->shape[0];
    struct tensor whole, whole_bias = {0};
    char why[TEXT_PATH_BYTES + 96];
    snprintf(why, sizeof why, "the projections of inputs with %zu columns", plan->d_in);
    if (weight->rank != 2 || weight->shape[1] != plan->d_in || rows * groups % (groups + 2) != 0)
        return wrong_shape(taking, "in_proj_weight", weight, plan->d_in + 2 * plan->d_in / groups, plan->d_in, why);
    if (plan->d_key_in != plan->d_in)
        return error_usage(taking->error,
                           "%s: in_proj_weight has %zu columns for inputs and key inputs alike: these have %zu; "
                           "W_query, W_key and W_value may differ",
                           taking->input->source, plan->d_in, plan->d_key_in);
    if (keep(taking, "in_proj_weight", weight, &whole) ||
        take_list(taking, "in_proj_bias", rows, "one for each row of in_proj_weight", &whole_bias))
        return taking->error->status;
    plan->d_out = rows * groups / (groups + 2);
    plan->d_value = plan->d_out / groups;
    plan->qkv_bias = taking->has_bias = whole_bias.rank > 0;
    strcpy(taking->first, "in_proj_weight");
    for (int id = 0, first = 0; id < PROJECTION_COUNT; id++) {
        struct projection *projection = &taking->parameters->modules[0].projections[id];
        const size_t columns = parameters_columns(plan, (enum projection_id)id);
        *projection = (struct projection){.transposed = true, .weight = tensor_rows(&whole, (size_t)first, columns)};
        if (whole_bias.rank > 0)
            projection->bias = tensor_rows(&whole_bias, (size_t)first, columns);
        first += (int)columns;
    }
    taking->parameters->module_count = 1;
    return STATUS_OK;
}

static enum status take_modules(struct taking *taking)
{
    for (size_t module = 0; module < taking->plan->module_count; module++) {
        for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
            if (!has_latent(taking, id) && take_projection(taking, module, id) != STATUS_OK)
                return taking->error->status;
        taking->parameters->module_count++;
    }
    taking->plan->qkv_bias = taking->has_bias;
    return STATUS_OK;
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
    const struct tensor *found = find(taking, name);
    if (found == NULL)
        return STATUS_OK;
    if (plan->stacked && id != NORM_INPUTS)
        return error_usage(taking->error, "%s: %s does not go with --stacked, whose heads have no norm",
                           taking->input->source, name);
    if (fits(taking, id, found))
        return keep(taking, name, found, part);
    if (id == NORM_INPUTS)
        return wrong_shape(taking, name, found, plan->d_in, 0, "one for each column of the inputs");
    return error_usage(taking->error, "%s: %s is %s, expected %zu numbers for a head, or those of all %zu heads",
                       taking->input->source, name, SHAPE_TEXT(found), plan->d_out / plan->groups / plan->kv_heads,
                       heads);
}

static enum status take_norms(struct taking *taking)
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

static enum status take_relative_bias(struct taking *taking)
{
    static const char NAME[] = "relative_bias.weight";
    const struct tensor *found = find(taking, NAME);
    const size_t heads = taking->plan->kv_heads * taking->plan->groups;
    if (found == NULL)
        return STATUS_OK;
    if (found->rank != 2 || found->shape[1] != heads || found->shape[0] < 4 || found->shape[0] % 4 != 0)
        return wrong_shape(taking, NAME, found, 32, heads,
                           "a row for each bucket, in fours, and a column for each head");
    return keep(taking, NAME, found, &taking->parameters->relative_bias);
}

/* --- latent ------------------------------------------------------------------------------------------------------- */

/* Takes a projection of the latent; its bias is optional. */
static enum status take_step(struct taking *taking, const char *stem, size_t columns, struct projection *projection)
{
    char name[PARAMETER_NAME_BYTES];
    snprintf(name, sizeof name, "%s.weight", stem);
    const struct tensor *weight = find(taking, name);
    *projection = (struct projection){.transposed = true};
    if (weight == NULL)
        return error_usage(taking->error, "%s: parameters are missing: no %s", taking->input->source, name);
    if (weight->rank != 2 || weight->shape[1] != columns)
        return error_usage(taking->error, "%s: %s is %s, expected a matrix with %zu columns", taking->input->source,
                           name, SHAPE_TEXT(weight), columns);
    if (keep(taking, name, weight, &projection->weight) != STATUS_OK)
        return taking->error->status;
    snprintf(name, sizeof name, "%s.bias", stem);
    return take_list(taking, name, weight->shape[0], "one for each row of its weight", &projection->bias);
}

/* Takes the norm between the two projections, over at most `most` columns. */
static enum status take_step_norm(struct taking *taking, const char *name, size_t most, struct norm *norm)
{
    const struct parameters_plan *plan = taking->plan;
    const enum norm_kind said = plan->norms[NORM_QUERY], kind = said != NORM_KIND_COUNT ? said : NORM_RMS;
    const struct tensor *weight = find(taking, name);
    *norm = (struct norm){.kind = kind, .eps = parameters_eps(plan->norm_eps[NORM_QUERY], kind)};
    if (weight == NULL)
        return error_usage(taking->error, "%s: parameters are missing: no %s", taking->input->source, name);
    if (weight->rank != 1 || weight->shape[0] > most)
        return wrong_shape(taking, name, weight, most, 0, "at most one for each row of the step before it");
    return keep(taking, name, weight, &norm->weight);
}

static enum status take_query_steps(struct taking *taking, struct latent *latent)
{
    if (!has_latent(taking, PROJECTION_QUERY))
        return STATUS_OK;
    if (take_step(taking, "W_query_a", taking->plan->d_in, &latent->query_a) ||
        take_step_norm(taking, "query_a_norm.weight", latent->query_a.weight.shape[0], &latent->query_norm) ||
        take_step(taking, "W_query_b", latent->query_a.weight.shape[0], &latent->query_b))
        return taking->error->status;
    taking->plan->d_out = latent->query_b.weight.shape[0];
    if (latent->query_norm.weight.shape[0] == latent->query_a.weight.shape[0])
        return STATUS_OK;
    return wrong_shape(taking, "query_a_norm.weight", &latent->query_norm.weight, latent->query_a.weight.shape[0], 0,
                       "one for each row of W_query_a.weight");
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

static enum status take_latent(struct taking *taking)
{
    struct latent *latent = &taking->parameters->latent;
    *latent = (struct latent){0};
    if (take_query_steps(taking, latent) != STATUS_OK)
        return taking->error->status;
    if (!has_latent(taking, PROJECTION_KEY))
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

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* STATUS_USAGE: why this mechanism does not take a parameter of the file. */
static enum status left_over(const struct taking *taking, const char *name)
{
    const struct input_file *input = taking->input;
    const struct parameters_plan *plan = taking->plan;
    const char *why = "it belongs to attn multihead";
    char text[96];
    if (strncmp(name, "W_", 2) == 0 && plan->has_out) {
        why = "in_proj_weight holds the projections";
    } else if (strncmp(name, "heads.", 6) == 0 && plan->stacked) {
        snprintf(text, sizeof text, "of %zu head%s the last is heads.%zu", plan->module_count,
                 plan->module_count == 1 ? "" : "s", plan->module_count - 1);
        why = text;
    } else if (strncmp(name, "heads.", 6) == 0) {
        why = "separate heads need attn multihead --stacked";
    } else if (plan->stacked) {
        why = "stacked heads have heads.0.W_query and so on, and no output projection";
    }
    return error_usage(taking->error, "%s: %s does not belong here: %s", input->source, name, why);
}

/* Only split heads take in_proj_weight, nn.MultiheadAttention's three projections. in_proj_bias needs it. */
static enum status check_in_proj(const struct taking *taking)
{
    const bool weight = input_file_find(taking->input, "in_proj_weight") != NULL;
    if (weight && !taking->plan->has_out)
        return error_usage(taking->error, "%s: in_proj_weight does not belong here: it goes with attn multihead%s",
                           taking->input->source, taking->plan->stacked ? " without --stacked" : "");
    if (!weight && input_file_find(taking->input, "in_proj_bias") != NULL)
        return error_usage(taking->error, "%s: in_proj_bias is given, but in_proj_weight is missing",
                           taking->input->source);
    return STATUS_OK;
}

/* Rejects names with heads where the plan has none, and the reverse: a clearer message than a missing name. */
static enum status check_heads(const struct taking *taking)
{
    bool of_heads =
        input_file_find(taking->input, "heads.0.W_query") || input_file_find(taking->input, "heads.0.W_query.weight");
    bool plain = input_file_find(taking->input, "W_query") || input_file_find(taking->input, "W_query.weight");
    if (of_heads && !plain && !taking->plan->stacked)
        return error_usage(taking->error,
                           "%s: the parameters are those of stacked heads (heads.0.W_query ...); expected "
                           "W_query; they go with attn multihead --stacked",
                           taking->input->source);
    if (plain && !of_heads && taking->plan->stacked)
        return error_usage(taking->error,
                           "%s: the parameters are those of one module (W_query ...); expected "
                           "heads.0.W_query and so on; they do not go with --stacked",
                           taking->input->source);
    return STATUS_OK;
}

enum status parameters_take(struct parameters *parameters, struct parameters_plan *plan, const struct input_file *input,
                            const char *inputs_source, struct arena *arena, struct error *error)
{
    struct taking taking = {.parameters = parameters,
                            .plan = plan,
                            .input = input,
                            .inputs_source = inputs_source,
                            .arena = arena,
                            .error = error};
    *parameters = (struct parameters){.given = true, .source = input->source};
    parameters->modules = arena_allocate(arena, plan->module_count, sizeof parameters->modules[0], error);
    taking.taken = arena_allocate(arena, input->tensor_count, sizeof taking.taken[0], error);
    if (parameters->modules == NULL || taking.taken == NULL || check_heads(&taking) || check_in_proj(&taking))
        return error->status;
    memset(parameters->modules, 0, plan->module_count * sizeof parameters->modules[0]); /* with a latent some stay
                                                                                           empty */
    memset(taking.taken, 0, input->tensor_count * sizeof taking.taken[0]);
    plan->d_output = plan->d_out;
    const struct tensor *in_proj = plan->has_out ? find(&taking, "in_proj_weight") : NULL;
    enum status status = in_proj != NULL ? take_in_proj(&taking, in_proj) : take_modules(&taking);
    if (status != STATUS_OK || take_latent(&taking) || take_out(&taking) || take_norms(&taking) ||
        take_relative_bias(&taking) || take_gate(&taking))
        return error->status;
    for (size_t i = 0; i < input->tensor_count; i++)
        if (!taking.taken[i] && input_file_kind(input->tensors[i].name) == INPUT_FILE_PARAMETER)
            return left_over(&taking, input->tensors[i].name);
    return STATUS_OK;
}
