/* SPDX-License-Identifier: MIT */
#include "build/build.h"
#include "build/job_files.h"

/* Whether an option that differs from the parameters is an error: with --weights a setting of the inputs' file is none,
 * since the command line wins. */
static bool contradicts(const struct build *build, enum option_id id, bool differs)
{
    const enum origin origin = build->options->origin[id];
    return differs && (origin == ORIGIN_COMMAND_LINE || (origin == ORIGIN_FILE && build->weights == NULL));
}

/* Rejects hidden states of another model, before a message blames a weight of this one. */
static enum status check_width(const struct build *build)
{
    static const char *const FIRST[] = {"W_query.weight", "W_query_a.weight"};
    const struct file_tensor *query = NULL;
    if (build->layer == NULL || build->weights == NULL)
        return STATUS_OK;
    for (size_t i = 0; i < 2 && query == NULL; i++)
        query = input_file_find(build->weights, FIRST[i]);
    if (query == NULL || query->tensor.shape[1] == build->problem->size.d_in)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: hidden states of %zu columns, but %s of %s reads %zu; expected those of this model",
                       build->problem->given.source, build->problem->size.d_in, build->layer->module->path,
                       build->weights->source, query->tensor.shape[1]);
}

static enum status take_parameters(const struct build *build, const struct input_file *input)
{
    struct problem *problem = build->problem;
    struct parameters_plan *plan = &problem->plan;
    const struct options *options = build->options;
    if (check_width(build) != STATUS_OK)
        return build->error->status;
    if (parameters_take(&problem->parameters, plan, input, problem->given.source, build->arena, build->error) !=
        STATUS_OK)
        return build->error->status;
    if (contradicts(build, OPTION_D_OUT, options->d_out != plan->d_out))
        return error_usage(build->error,
                           "%s %llu does not fit the parameters in %s, whose projections make %zu column%s",
                           BUILD_PLACE(build, OPTION_D_OUT), (unsigned long long)options->d_out, input->source,
                           plan->d_out, plan->d_out == 1 ? "" : "s");
    if (contradicts(build, OPTION_QKV_BIAS, options->qkv_bias != plan->qkv_bias))
        return error_usage(build->error, "%s does not fit the parameters in %s, whose projections have %s",
                           BUILD_PLACE(build, OPTION_QKV_BIAS), input->source, plan->qkv_bias ? "biases" : "no biases");
    return STATUS_OK;
}

/* Split heads share the columns of one projection. */
static enum status check_division(const struct build *build)
{
    const struct problem *problem = build->problem;
    const size_t d_out = problem->plan.d_out, heads = problem->size.heads;
    const enum origin origin = build->options->origin[OPTION_D_OUT];
    char advice[96], what[BUILD_PLACE_BYTES + 64];
    if (problem->plan.stacked || d_out % heads == 0)
        return STATUS_OK;
    size_t below = d_out / heads * heads;
    if (below == 0)
        snprintf(advice, sizeof advice, "--d-out %zu, or --stacked", heads);
    else
        snprintf(advice, sizeof advice, "--d-out %zu or %zu, or --stacked", below, below + heads);
    if (problem->parameters.given)
        snprintf(what, sizeof what, "d_out %zu of the parameters in %s", d_out, problem->parameters.source);
    else if (origin == ORIGIN_DEFAULT)
        snprintf(what, sizeof what, "d_out %zu (the width of the inputs)", d_out);
    else
        snprintf(what, sizeof what, "%s %zu", BUILD_PLACE(build, OPTION_D_OUT), d_out);
    return error_usage(build->error,
                       "%s is not a multiple of %s %zu: each head gets the same number of columns; try %s", what,
                       BUILD_PLACE(build, OPTION_HEADS), heads, problem->parameters.given ? "other --heads" : advice);
}

/* Checks that each head of key and value serves equally many query heads; stacked heads share none. */
static enum status check_groups(const struct build *build)
{
    const struct problem *problem = build->problem;
    const char *kv_place = BUILD_PLACE(build, OPTION_KV_HEADS);
    if (build->options->stacked && problem->size.kv_heads != problem->size.heads)
        return error_usage(build->error, "%s %zu does not go with --stacked, where each head has its own key and value",
                           kv_place, problem->size.kv_heads);
    if (problem->size.heads % problem->size.kv_heads == 0)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s %zu is not a multiple of %s %zu: each key head serves the same number of query heads",
                       BUILD_PLACE(build, OPTION_HEADS), problem->size.heads, kv_place, problem->size.kv_heads);
}

/* Sets the kinds of norms, NORM_KIND_COUNT where the parameters decide, and eps, below 0 where the kind does. */
static void plan_norms(const struct build *build)
{
    const struct options *options = build->options;
    struct parameters_plan *plan = &build->problem->plan;
    const double eps = options_said(options, OPTION_NORM_EPS) ? options->norm_eps : -1;
    plan->norms[NORM_INPUTS] = options_said(options, OPTION_NORM) ? options->norm : NORM_KIND_COUNT;
    plan->norm_eps[NORM_INPUTS] = eps;
    for (int id = NORM_QUERY; id <= NORM_VALUE; id++) {
        plan->norms[id] = id == NORM_VALUE                        ? options->value_norm
                          : options_said(options, OPTION_QK_NORM) ? options->qk_norm
                                                                  : NORM_KIND_COUNT;
        plan->norm_eps[id] = options_said(options, OPTION_QK_NORM_EPS) ? options->qk_norm_eps : eps;
    }
}

static enum status plan_parameters(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    const bool multihead = MECHANISMS[problem->mechanism].splits;
    if (multihead && options->heads == 0)
        return error_usage(build->error,
                           "multihead needs the number of heads: type --heads N, or set \"heads\" in the settings");
    problem->size.has_heads = multihead;
    problem->size.heads = multihead ? (size_t)options->heads : 1;
    problem->size.kv_heads = multihead && options->kv_heads > 0 ? (size_t)options->kv_heads : problem->size.heads;
    if (check_groups(build) != STATUS_OK)
        return build->error->status;
    const size_t d_out = options->d_out != 0 ? (size_t)options->d_out : problem->size.d_in;
    const char *order = build_draw_order(build);
    const bool out_first = order != NULL && order[0] == 'o';
    problem->plan = (struct parameters_plan){
        .d_in = problem->size.d_in,
        .d_out = d_out,
        .d_value = d_out / (problem->size.heads / problem->size.kv_heads),
        .d_output = d_out,
        .d_key_in = problem->size.d_key_in,
        .keys_source = build->keys != NULL ? build->keys->source : NULL,
        .groups = problem->size.heads / problem->size.kv_heads,
        .kv_heads = problem->size.kv_heads,
        .module_count = options->stacked ? problem->size.heads : 1,
        .stacked = options->stacked,
        .has_out = multihead && !options->stacked,
        .qkv_bias = options->qkv_bias,
        .init = options->init,
        .dtype = problem->rounding.dtype,
        .order = out_first ? order + 1 : order,
        .out_first = out_first,
        .as_matrix = problem->parameters_only && options_said(options, OPTION_AS)
                         ? options->as == ORIENTATION_MATRIX
                         : !INIT_ROWS[options->init].transposed,
    };
    plan_norms(build);
    return STATUS_OK;
}

/* nn.MultiheadAttention has as many columns as its inputs, and an output projection. */
static enum status check_mha(const struct build *build)
{
    const struct parameters_plan *plan = &build->problem->plan;
    if (plan->has_out && plan->groups == 1 && plan->d_out == plan->d_in)
        return STATUS_OK;
    for (size_t i = 0; i < build->options->mistake_count; i++)
        if (build->options->mistakes[i].id == MISTAKE_DRAW_INIT)
            return error_usage(build->error, "%s: draw-init cannot be made here: this is no nn.MultiheadAttention",
                               BUILD_PLACE(build, OPTION_MISTAKE));
    return error_usage(build->error,
                       "%s mha needs multihead with --d-out %zu, the width of the inputs, without --stacked or "
                       "--kv-heads, as nn.MultiheadAttention is",
                       BUILD_PLACE(build, OPTION_INIT), plan->d_in);
}

enum status build_parameters(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    const struct input_file *input = build->weights != NULL ? build->weights : build->inputs;
    const bool given = input != NULL && !problem->parameters_only && parameters_present(input);
    const enum mechanism of_result =
        build->inputs != NULL && build->inputs->is_result ? mechanism_find(build->inputs->mechanism) : MECHANISM_COUNT;
    if (of_result != MECHANISM_COUNT && MECHANISMS[of_result].opens && !given)
        return error_usage(build->error,
                           "%s is a result of layer, and its parameters are in the checkpoint; type attn "
                           "layer with --weights MODEL and --layer N, or a result with --stages inputs,parameters",
                           build->inputs->source);
    if (MECHANISMS[problem->mechanism].opens && !given)
        return error_usage(build->error, JOB_FILES_NO_CHECKPOINT);
    if (build->weights != NULL && !given)
        return error_usage(build->error, "%s: no parameters; expected W_query, W_key and W_value", input->source);
    if (plan_parameters(build) != STATUS_OK || (given && take_parameters(build, input) != STATUS_OK))
        return build->error->status;
    if (!given && options->qkv_bias && options->init != INIT_LINEAR)
        return error_usage(build->error, "%s needs --init linear: no other way to draw has a bias",
                           BUILD_PLACE(build, OPTION_QKV_BIAS));
    if (!given && options->init == INIT_MHA && check_mha(build) != STATUS_OK)
        return build->error->status;
    if (check_division(build) != STATUS_OK)
        return build->error->status;
    problem->size.d_head = problem->plan.stacked ? problem->plan.d_out : problem->plan.d_out / problem->size.heads;
    problem->size.d_value =
        problem->plan.stacked ? problem->size.d_head : problem->plan.d_value / problem->size.kv_heads;
    const bool last = problem->rounding.family != NULL && problem->rounding.family->rounding.norm_last;
    for (int id = NORM_QUERY; id <= NORM_KEY; id++)
        problem->parameters.norms[id].last = last && problem->parameters.norms[id].weight.rank > 0;
    if (!given)
        return parameters_draw(&problem->parameters, &problem->plan, &problem->drop.generator, build->arena,
                               build->error);
    if (options->dropout > 0 && !options_said(options, OPTION_DROPOUT_SEED))
        return parameters_pass(&problem->plan, &problem->drop.generator, build->error);
    return STATUS_OK;
}
