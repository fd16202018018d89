#include "problem_create.h"

#include "making.h"

#include <math.h>

static enum status apply_settings(const struct making *making)
{
    const struct bundle *inputs = making->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->setting_count; i++)
        if (options_setting(making->options, &inputs->settings[i], inputs->source, making->error) != STATUS_OK)
            return making->error->status;
    return STATUS_OK;
}

/* --- inputs and tokens ------------------------------------------------------------------------------------------- */

static enum status take_inputs(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    char shape[TENSOR_SHAPE_BYTES];
    if (making->inputs == NULL) {
        problem->source = "--d-in";
        problem->d_in = (size_t)options->d_in;
        return STATUS_OK;
    }
    const struct bundle_tensor *found = bundle_find(making->inputs, "inputs");
    if (found == NULL)
        return error_usage(making->error, "%s: no \"inputs\"; expected an array of rows, one for each token",
                           making->inputs->source);
    const struct tensor *inputs = &found->tensor;
    if (inputs->rank < 2 || inputs->rank > 3)
        return error_usage(making->error, "%s: inputs is %s%s, expected T x d_in or B x T x d_in",
                           making->inputs->source, inputs->rank == 1 ? "a list of " : "",
                           tensor_shape_text(inputs, shape));
    const size_t *axes = inputs->shape + inputs->rank - 2;
    problem->has_batch = inputs->rank == 3;
    problem->items = problem->has_batch ? inputs->shape[0] : 1;
    problem->queries = problem->keys = axes[0];
    problem->d_in = axes[1];
    if (options->origin[OPTION_DTYPE] == ORIGIN_DEFAULT && !making->inputs->is_text && inputs->dtype < DTYPE_I64)
        problem->dtype = inputs->dtype;
    return tensor_convert(inputs, problem->dtype, making->inputs->source, "inputs", NULL, &problem->inputs,
                          making->arena, making->error);
}

static enum status take_tokens(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct bundle *inputs = making->inputs;
    if (inputs == NULL || inputs->tokens == NULL)
        return STATUS_OK;
    if (inputs->tokens_nested && !problem->has_batch)
        return error_usage(making->error,
                           "%s: tokens is a list of lists, but inputs is no batch; expected a plain list",
                           inputs->source);
    if (inputs->tokens_nested && inputs->token_lists != problem->items)
        return error_usage(making->error,
                           "%s: tokens has %zu lists, expected %zu (as the items of inputs) or one plain "
                           "list",
                           inputs->source, inputs->token_lists, problem->items);
    if (inputs->tokens_per_list != problem->keys)
        return error_usage(making->error, "%s: tokens has %zu label%s, expected %zu (as the rows of %s)",
                           inputs->source, inputs->tokens_per_list, inputs->tokens_per_list == 1 ? "" : "s",
                           problem->keys, problem->mechanism == COMMAND_SDPA ? "key, with the past" : "inputs");
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

static enum status check_length(const struct making *making)
{
    const struct options *options = making->options;
    char place[MAKING_PLACE_BYTES];
    if (options->context_length == 0 || making->problem->keys <= options->context_length)
        return STATUS_OK;
    return error_usage(making->error, "%s: inputs has %zu tokens, more than %s %llu", making->inputs->source,
                       making->problem->keys, making_place(making, OPTION_CONTEXT_LENGTH, place, sizeof place),
                       (unsigned long long)options->context_length);
}

/* Where numbers come from, and how they are rounded. */
static void start_problem(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->dtype = (enum dtype)options->dtype;
    problem->rounding = (enum rounding)options->rounding;
    problem->softcap = options->softcap;
    problem->dropout = options->dropout;
    problem->source = making->inputs != NULL ? making->inputs->source : "--d-in";
    problem->mask.causal =
        problem->mechanism == COMMAND_CAUSAL || (problem->mechanism == COMMAND_MULTIHEAD && options->causal) ||
        (problem->mechanism == COMMAND_SDPA && options->causal && making_said(making, OPTION_CAUSAL));
    generator_seed(&problem->generator, (enum generator_build)options->rng, options->seed);
    generator_skip(&problem->generator, options->skip);
}

/* What is left once the sizes are known. */
static enum status finish_problem(const struct making *making)
{
    struct problem *problem = making->problem;
    const struct options *options = making->options;
    problem->scale = making_said(making, OPTION_SCALE) ? options->scale : 1 / sqrt((double)problem->d_head);
    if (problem->rounding == ROUNDING_OPERATIONS && problem->scale < 0)
        return error_usage(making->error, "--rounding operations shares the root of the scale out to query and key; "
                                          "expected --scale from 0 on");
    if (options->format == FORMAT_NPY && problem->beside_count > 0 && options->stages[0] == STAGE_INPUTS)
        return error_usage(making->error, "a .npy holds one table, but the input also has %s; expected .safetensors",
                           problem->beside[problem->beside_count - 1].name);
    if (options->format == FORMAT_NPY && problem->dtype == DTYPE_BF16)
        return error_usage(making->error, "a .npy has no bfloat16; expected .safetensors, or another --dtype");
    problem->softmax_dtype =
        making_said(making, OPTION_SOFTMAX_DTYPE) ? (enum dtype)options->softmax_dtype : problem->dtype;
    if (making_said(making, OPTION_DROPOUT_SEED))
        generator_seed(&problem->generator, (enum generator_build)options->rng, options->dropout_seed);
    problem->first_query = first_query(problem);
    problem->explains = making_said(making, OPTION_EXPLAIN);
    problem->has_cell = options->cell != NULL;
    if (!problem->parameters_only && (take_tokens(making) || making_queries(making)))
        return making->error->status;
    if (problem->explains && problem->rounding == ROUNDING_OPERATIONS)
        return error_usage(making->error, "--explain shows stages that are computed exactly and rounded once; expected "
                                          "--rounding stages");
    if (problem->has_cell && making_cell(making) != STATUS_OK)
        return making->error->status;
    if (making_stages(making) || (!problem->parameters_only && (making_page(making) || making_path(making))))
        return making->error->status;
    return making_settings(making) || making_warnings(making) ? making->error->status : STATUS_OK;
}

enum status problem_create(struct problem *problem, struct options *options, const struct bundle *inputs,
                           const struct bundle *weights, struct progress *progress, struct arena *arena,
                           struct error *error)
{
    const struct making making = {problem, options, inputs, weights, arena, error};
    const bool init = options->command == COMMAND_INIT;
    *problem = (struct problem){
        .mechanism = init ? options->topic : options->command, .parameters_only = init, .progress = progress};
    if (apply_settings(&making) != STATUS_OK)
        return error->status;
    start_problem(&making);
    if (problem->mechanism == COMMAND_SDPA) {
        if (making_operands(&making) || making_names(&making))
            return error->status;
    } else if (making_names(&making) || take_inputs(&making) || (!init && check_length(&making)) ||
               making_parameters(&making)) {
        return error->status;
    }
    if (!init && (making_buffers(&making) || making_mask(&making)))
        return error->status;
    return finish_problem(&making);
}
