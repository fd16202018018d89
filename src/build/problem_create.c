#include "build/problem_create.h"

#include "build/build.h"

#include <math.h>

static enum status apply_settings(const struct build *build)
{
    const struct input_file *inputs = build->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->setting_count; i++)
        if (options_setting(build->options, &inputs->settings[i], inputs->source, build->error))
            return build->error->status;
    if (build->options->origin[OPTION_RANDOM] != ORIGIN_FILE || inputs->is_result)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: settings: random draws the inputs, and this file holds some; expected --random "
                       "in place of a file",
                       inputs->source);
}

/* --- inputs and tokens ------------------------------------------------------------------------------------------- */

static enum status take_inputs(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    char shape[TENSOR_SHAPE_BYTES];
    if (build->inputs == NULL) {
        problem->source = "--d-in";
        problem->d_in = (size_t)options->d_in;
        return STATUS_OK;
    }
    const struct file_tensor *found = input_file_find(build->inputs, "inputs");
    if (found == NULL)
        return error_usage(build->error, "%s: no \"inputs\"; expected an array of rows, one for each token",
                           build->inputs->source);
    const struct tensor *inputs = &found->tensor;
    if (inputs->rank < 2 || inputs->rank > 3)
        return error_usage(build->error, "%s: inputs is %s%s, expected T x d_in or B x T x d_in", build->inputs->source,
                           inputs->rank == 1 ? "a list of " : "", tensor_shape_text(inputs, shape));
    const size_t *axes = inputs->shape + inputs->rank - 2;
    problem->has_batch = inputs->rank == 3;
    problem->items = problem->has_batch ? inputs->shape[0] : 1;
    problem->queries = problem->keys = axes[0];
    problem->d_in = axes[1];
    if (options->origin[OPTION_DTYPE] == ORIGIN_DEFAULT && !build->inputs->is_text && dtype_is_working(inputs->dtype))
        problem->dtype = inputs->dtype;
    return tensor_convert(inputs, problem->dtype, build->inputs->source, "inputs", NULL, &problem->inputs, build->arena,
                          build->error);
}

static enum status take_tokens(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct input_file *inputs = build->inputs;
    if (inputs == NULL || inputs->tokens == NULL)
        return STATUS_OK;
    if (inputs->tokens_nested && !problem->has_batch)
        return error_usage(build->error, "%s: tokens is a list of lists, but inputs is no batch; expected a plain list",
                           inputs->source);
    if (inputs->tokens_nested && inputs->token_lists != problem->items)
        return error_usage(build->error,
                           "%s: tokens has %zu lists, expected %zu (as the items of inputs) or one plain "
                           "list",
                           inputs->source, inputs->token_lists, problem->items);
    if (inputs->tokens_per_list != problem->keys)
        return error_usage(build->error, "%s: tokens has %zu label%s, expected %zu (as the rows of %s)", inputs->source,
                           inputs->tokens_per_list, inputs->tokens_per_list == 1 ? "" : "s", problem->keys,
                           !problem_projects(problem) ? "key, with the past" : "inputs");
    problem->labels = inputs->tokens;
    problem->label_lists = inputs->token_lists;
    problem->labels_nested = inputs->tokens_nested;
    return STATUS_OK;
}

/* Queries are the same tokens as the keys, or the last of them; else they have no labels. */
static size_t first_query(const struct problem *problem)
{
    const struct mask *mask = &problem->mask;
    if (problem->queries == problem->keys)
        return 0;
    const bool last =
        mask->lengths == NULL && mask->offset > 0 && (uint64_t)mask->offset + problem->queries == problem->keys;
    return last ? (size_t)mask->offset : SIZE_MAX;
}

static enum status check_length(const struct build *build)
{
    const struct options *options = build->options;
    char place[BUILD_PLACE_BYTES];
    if (options->context_length == 0 || build->problem->keys <= options->context_length)
        return STATUS_OK;
    return error_usage(build->error, "%s: inputs has %zu tokens, more than %s %llu", build->inputs->source,
                       build->problem->keys, build_place(build, OPTION_CONTEXT_LENGTH, place, sizeof place),
                       (unsigned long long)options->context_length);
}

static bool is_causal(const struct build *build)
{
    const enum causality causality = MECHANISMS[build->problem->mechanism].causality;
    if (causality == CAUSALITY_NEVER || causality == CAUSALITY_ALWAYS || !build_said(build, OPTION_CAUSAL))
        return causality == CAUSALITY_ALWAYS || causality == CAUSALITY_UNLESS_SAID;
    return build->options->causal;
}

/* Where numbers come from, and how they are rounded. */
static void start_problem(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    problem->dtype = options->dtype;
    problem->rounding = options->rounding;
    problem->softcap = options->softcap;
    problem->dropout = options->dropout;
    problem->source = build->inputs != NULL ? build->inputs->source : "--d-in";
    problem->mask.causal = is_causal(build);
    torch_random_seed(&problem->generator, options->rng, options->seed);
    torch_random_skip(&problem->generator, options->skip);
}

static enum status set_scale(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    char place[BUILD_PLACE_BYTES];
    const double scale = build_said(build, OPTION_SCALE) ? options->scale : 1 / sqrt((double)problem->d_head);
    problem->scale = scale / options->temperature;
    if (isfinite(problem->scale))
        return STATUS_OK;
    return error_usage(build->error, "%s %g: the scale %g divided by it is no finite number; expected a larger one",
                       build_place(build, OPTION_TEMPERATURE, place, sizeof place), options->temperature, scale);
}

/* What is left once the sizes are known. */
static enum status finish_problem(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    if (set_scale(build) != STATUS_OK)
        return build->error->status;
    if (problem->rounding == ROUNDING_OPERATIONS && problem->scale < 0)
        return error_usage(build->error, "--rounding operations shares the root of the scale out to query and key; "
                                         "expected --scale from 0 on");
    if (options_format(options)->one_table && problem->beside_count > 0 && options->stages[0] == STAGE_INPUTS)
        return error_usage(build->error, "a .npy holds one table, but the input also has %s; expected .safetensors",
                           problem->beside[problem->beside_count - 1].name);
    if (options_format(options)->one_table && dtype_npy(problem->dtype) == NULL)
        return error_usage(build->error, "a .npy has no %s; expected .safetensors, or another --dtype",
                           dtype_title(problem->dtype));
    problem->softmax_dtype = build_said(build, OPTION_SOFTMAX_DTYPE) ? options->softmax_dtype : problem->dtype;
    if (build_said(build, OPTION_DROPOUT_SEED))
        torch_random_seed(&problem->generator, options->rng, options->dropout_seed);
    problem->first_query = first_query(problem);
    problem->explains = build_said(build, OPTION_EXPLAIN);
    problem->has_cell = options->cell != NULL;
    if (!problem->parameters_only && (take_tokens(build) || build_queries(build)))
        return build->error->status;
    if (problem->explains && problem->rounding == ROUNDING_OPERATIONS)
        return error_usage(build->error, "--explain shows stages that are computed exactly and rounded once; expected "
                                         "--rounding stages");
    if (problem->has_cell && build_cell(build) != STATUS_OK)
        return build->error->status;
    if (build_stages(build) || (!problem->parameters_only && (build_page(build) || build_path(build))))
        return build->error->status;
    return build_settings(build) || build_warnings(build) ? build->error->status : STATUS_OK;
}

/* The settings of a result say what its inputs lack already. */
static bool takes_out(const struct build *build)
{
    const bool done = build->options->origin[OPTION_WITHOUT] == ORIGIN_FILE && build->inputs->is_result;
    return build->options->without != NULL && !done;
}

enum status problem_create(struct problem *problem, const struct options *options, const struct input_file *inputs,
                           const struct input_file *weights, struct arena *arena, struct error *error)
{
    struct options merged = *options;
    const bool init = options->command == COMMAND_INIT;
    *problem = (struct problem){.mechanism = options->mechanism, .parameters_only = init};
    struct build build = {problem, &merged, inputs, weights, arena, error};
    struct input_file rest;
    if (apply_settings(&build) != STATUS_OK)
        return error->status;
    if (takes_out(&build)) {
        if (build_without(&build, &rest) != STATUS_OK)
            return error->status;
        build.inputs = &rest;
    }
    start_problem(&build);
    if (!problem_projects(problem)) {
        if (build_operands(&build) || build_names(&build))
            return error->status;
    } else if (build_names(&build) || take_inputs(&build) || (!init && check_length(&build)) ||
               build_parameters(&build)) {
        return error->status;
    }
    if (!init && (build_buffers(&build) || build_mask(&build)))
        return error->status;
    return finish_problem(&build);
}
