/* SPDX-License-Identifier: MIT */
/* Takes the parameters of a file, itself the projections. */
#include "problem/taking.h"

#include "base/text.h"

#include <string.h>

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
        return taking_keep(taking, name, tensor, &projection->weight);
    if (d_out == source && (strcmp(taking->first, name) == 0 || d_in == wanted))
        return wrong_side(taking, projection, id, name, tensor);
    if (d_in == source)
        return taking_wrong_shape(taking, name, tensor, rows, columns, width_text(taking, id, why, sizeof why));
    const bool of_keys = id != PROJECTION_QUERY && plan->keys_source != NULL;
    snprintf(why, sizeof why, "%s in %s have %zu column%s", of_keys ? "the inputs of keys" : "inputs",
             of_keys ? plan->keys_source : taking->inputs_source, source, source == 1 ? "" : "s");
    return taking_wrong_shape(taking, name, tensor, rows, columns, why);
}

static enum status take_bias(struct taking *taking, enum projection_id id, struct projection *projection,
                             const char *name, const struct tensor *tensor)
{
    char why[TEXT_PATH_BYTES + 96];
    taking->has_bias = taking->has_bias || tensor != NULL;
    if (tensor == NULL)
        return STATUS_OK;
    if (tensor->rank != 1 || tensor->shape[0] != parameters_columns(taking->plan, id))
        return taking_wrong_shape(taking, name, tensor, parameters_columns(taking->plan, id), 0,
                                  width_text(taking, id, why, sizeof why));
    return taking_keep(taking, name, tensor, &projection->bias);
}

static enum status take_projection(struct taking *taking, size_t module, enum projection_id id)
{
    char matrix_name[PARAMETER_NAME_BYTES], linear_name[PARAMETER_NAME_BYTES], bias_name[PARAMETER_NAME_BYTES];
    const bool stacked = taking->plan->stacked;
    struct projection *projection = &taking->parameters->modules[module].projections[id];
    parameters_name(matrix_name, module, stacked, id, "");
    parameters_name(linear_name, module, stacked, id, LINEAR);
    parameters_name(bias_name, module, stacked, id, ".bias");
    const struct tensor *matrix = taking_find(taking, matrix_name);
    const struct tensor *linear = taking_find(taking, linear_name);
    *projection = (struct projection){.transposed = linear != NULL};
    if (matrix != NULL && linear != NULL)
        return error_usage(taking->error, "%s: %s and %s are both given; leave one out", taking->input->source,
                           matrix_name, linear_name);
    if (matrix == NULL && linear == NULL)
        return error_usage(taking->error, "%s: parameters are missing: neither %s nor %s is given",
                           taking->input->source, matrix_name, linear_name);
    enum status status =
        take_weight(taking, id, projection, linear ? linear_name : matrix_name, linear ? linear : matrix);
    if (status != STATUS_OK)
        return status;
    return take_bias(taking, id, projection, bias_name, taking_find(taking, bias_name));
}

static enum status take_out(struct taking *taking)
{
    const char *names[] = {"out_proj.weight", "out_proj.bias"};
    const size_t width = taking->plan->d_value * taking->plan->groups;
    char why[TEXT_PATH_BYTES + 96];
    struct projection *out = &taking->parameters->out;
    const struct tensor *found[2];
    *out = (struct projection){.transposed = true};
    if (!taking->plan->has_out)
        return STATUS_OK;
    for (int i = 0; i < 2; i++)
        found[i] = taking_find(taking, names[i]);
    if (found[0] == NULL)
        return error_usage(taking->error,
                           "%s: parameters are missing: split heads have an output projection, but %s is not given",
                           taking->input->source, names[0]);
    if (found[0]->rank != 2 || found[0]->shape[1] != width) {
        const size_t heads = taking->plan->kv_heads * taking->plan->groups;
        snprintf(why, sizeof why, "%zu head%s of value side by side make %zu column%s", heads, heads == 1 ? "" : "s",
                 width, width == 1 ? "" : "s");
        return taking_wrong_shape(taking, names[0], found[0], found[0]->rank == 2 ? found[0]->shape[0] : width, width,
                                  why);
    }
    taking->plan->d_output = found[0]->shape[0];
    if (found[1] != NULL && (found[1]->rank != 1 || found[1]->shape[0] != taking->plan->d_output))
        return taking_wrong_shape(taking, names[1], found[1], taking->plan->d_output, 0,
                                  "one for each row of out_proj.weight");
    if (taking_keep(taking, names[0], found[0], &out->weight) != STATUS_OK)
        return taking->error->status;
    return found[1] != NULL ? taking_keep(taking, names[1], found[1], &out->bias) : STATUS_OK;
}

static enum status take_gate(struct taking *taking)
{
    const struct parameters_plan *plan = taking->plan;
    const struct tensor *weight = taking_find(taking, "W_gate.weight"), *bias = taking_find(taking, "W_gate.bias");
    const size_t heads = plan->kv_heads * plan->groups, width = plan->d_value * plan->groups;
    struct projection *gate = &taking->parameters->gate;
    if (weight == NULL || !plan->has_out || plan->stacked)
        return STATUS_OK;
    gate->transposed = true;
    if (weight->rank != 2 || weight->shape[1] != plan->d_in || (weight->shape[0] != heads && weight->shape[0] != width))
        return taking_wrong_shape(taking, "W_gate.weight", weight, width, plan->d_in,
                                  "a row for each value column of all heads, or for each head");
    if (bias != NULL && (bias->rank != 1 || bias->shape[0] != weight->shape[0]))
        return taking_wrong_shape(taking, "W_gate.bias", bias, weight->shape[0], 0,
                                  "one for each row of W_gate.weight");
    if (taking_keep(taking, "W_gate.weight", weight, &gate->weight) != STATUS_OK)
        return taking->error->status;
    return bias != NULL ? taking_keep(taking, "W_gate.bias", bias, &gate->bias) : STATUS_OK;
}

/* Takes query, key and value stacked, as nn.MultiheadAttention stores them. */
static enum status take_in_proj(struct taking *taking, const struct tensor *weight, const struct tensor *bias)
{
    struct parameters_plan *plan = taking->plan;
    const size_t groups = plan->groups, rows = weight->shape[0];
    struct tensor whole, whole_bias;
    char why[TEXT_PATH_BYTES + 96];
    snprintf(why, sizeof why, "the projections of inputs with %zu columns", plan->d_in);
    if (weight->rank != 2 || weight->shape[1] != plan->d_in || rows * groups % (groups + 2) != 0)
        return taking_wrong_shape(taking, "in_proj_weight", weight, plan->d_in + 2 * plan->d_in / groups, plan->d_in,
                                  why);
    if (plan->d_key_in != plan->d_in)
        return error_usage(taking->error,
                           "%s: in_proj_weight has %zu columns for inputs and key inputs alike: these have %zu; "
                           "W_query, W_key and W_value may differ",
                           taking->input->source, plan->d_in, plan->d_key_in);
    if (bias != NULL && (bias->rank != 1 || bias->shape[0] != rows))
        return taking_wrong_shape(taking, "in_proj_bias", bias, rows, 0, "one for each row of in_proj_weight");
    plan->d_out = rows * groups / (groups + 2);
    plan->d_value = plan->d_out / groups;
    plan->qkv_bias = taking->has_bias = bias != NULL;
    strcpy(taking->first, "in_proj_weight");
    if (taking_keep(taking, "in_proj_weight", weight, &whole) ||
        (bias != NULL && taking_keep(taking, "in_proj_bias", bias, &whole_bias)))
        return taking->error->status;
    for (int id = 0, first = 0; id < PROJECTION_COUNT; id++) {
        struct projection *projection = &taking->parameters->modules[0].projections[id];
        const size_t columns = parameters_columns(plan, (enum projection_id)id);
        *projection = (struct projection){.transposed = true, .weight = tensor_rows(&whole, (size_t)first, columns)};
        if (bias != NULL)
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
            if (!taking_has_latent(taking, id) && take_projection(taking, module, id) != STATUS_OK)
                return taking->error->status;
        taking->parameters->module_count++;
    }
    taking->plan->qkv_bias = taking->has_bias;
    return STATUS_OK;
}

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
    const struct tensor *in_proj = plan->has_out ? taking_find(&taking, "in_proj_weight") : NULL;
    enum status status =
        in_proj != NULL ? take_in_proj(&taking, in_proj, taking_find(&taking, "in_proj_bias")) : take_modules(&taking);
    if (status != STATUS_OK || taking_latent(&taking) || take_out(&taking) || taking_norms(&taking) ||
        taking_relative_bias(&taking) || take_gate(&taking))
        return error->status;
    for (size_t i = 0; i < input->tensor_count; i++)
        if (!taking.taken[i] && input_file_kind(input->tensors[i].name) == INPUT_FILE_PARAMETER)
            return left_over(&taking, input->tensors[i].name);
    return STATUS_OK;
}
