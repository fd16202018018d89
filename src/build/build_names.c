/* SPDX-License-Identifier: MIT */
#include "build/build.h"
#include "model/stage_id.h"

#include <string.h>

/* --weights may be a result, whose stages are recomputed and whose other tensors are for its mechanism. */
static enum status check_name_of_weights(const struct build *build, const char *name, unsigned kind)
{
    const struct input_file *weights = build->weights;
    const bool passed = kind & (INPUT_FILE_PARAMETER | INPUT_FILE_BUFFER | INPUT_FILE_INPUTS | INPUT_FILE_KEYS |
                                INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_IGNORED | INPUT_FILE_WORDS);
    if (passed || weights->is_result || build->layer != NULL)
        return STATUS_OK;
    return error_usage(build->error, "%s: %s is not a parameter, and --weights takes only parameters; %s",
                       weights->source, name,
                       kind & INPUT_FILE_MASKING ? "put it into the input" : "expected names such as W_query");
}

static enum status refuse_stage(const struct build *build, const char *name)
{
    const bool given = !problem_projects(build->problem);
    return error_usage(build->error,
                       "%s: %s is a stage, which %s computes; expected %s, or a whole result with its key \"attn\"",
                       build->inputs->source, name, MECHANISMS[build->problem->mechanism].name,
                       given ? "query, key and value" : "parameters such as W_query");
}

static enum status check_name_of_module(const struct build *build, const char *name, unsigned kind)
{
    const char *source = build->inputs->source, *mechanism = MECHANISMS[build->problem->mechanism].name;
    const enum stage stage = stage_find(name, strlen(name));
    if (kind & INPUT_FILE_WORDS && MECHANISMS[build->problem->mechanism].opens)
        return error_usage(build->error, "%s: %s does not belong here: a layer reads hidden states, not words", source,
                           name);
    if (kind & INPUT_FILE_CACHE)
        return error_usage(build->error, "%s: %s belongs to attn sdpa; %s computes key and value from its inputs",
                           source, name, mechanism);
    if (kind & INPUT_FILE_OPERAND)
        return error_usage(build->error,
                           "%s: %s is a stage, which %s computes; expected W_%s or W_%s.weight, or attn sdpa, which "
                           "takes it as it is",
                           source, name, mechanism, stage_name(stage), stage_name(stage));
    return kind == INPUT_FILE_STAGE ? refuse_stage(build, name) : STATUS_OK;
}

static enum status check_name(const struct build *build, const struct input_file *input, const char *name)
{
    const unsigned kind = input_file_kind(name);
    if (input == build->weights)
        return check_name_of_weights(build, name, kind);
    if (input->is_result)
        return STATUS_OK;
    if (strcmp(name, "layout") == 0 || strcmp(name, "lacks") == 0)
        return error_usage(build->error, "%s: %s belongs to a result; expected the key \"attn\" too", input->source,
                           name);
    if (problem_projects(build->problem))
        return check_name_of_module(build, name, kind);
    if (kind & (INPUT_FILE_INPUTS | INPUT_FILE_KEYS | INPUT_FILE_PARAMETER | INPUT_FILE_WORDS))
        return error_usage(build->error,
                           "%s: %s does not belong here: sdpa takes query, key and value and has no parameters",
                           input->source, name);
    return kind == INPUT_FILE_STAGE ? refuse_stage(build, name) : STATUS_OK;
}

static enum status check_names(const struct build *build, const struct input_file *input)
{
    for (size_t i = 0; i < input->passed_count; i++)
        if (check_name(build, input, input->passed[i]) != STATUS_OK)
            return build->error->status;
    for (size_t i = 0; i < input->tensor_count; i++)
        if (check_name(build, input, input->tensors[i].name) != STATUS_OK)
            return build->error->status;
    return STATUS_OK;
}

enum status build_names(const struct build *build)
{
    const struct input_file *inputs = build->inputs;
    const char *mechanism = MECHANISMS[build->problem->mechanism].name;
    if (inputs != NULL && check_names(build, inputs) != STATUS_OK)
        return build->error->status;
    if (inputs != NULL && !inputs->is_result && inputs->mechanism != NULL && strcmp(inputs->mechanism, mechanism) != 0)
        return error_usage(build->error, "%s: mechanism is '%.40s', but you typed attn %s; expected the same",
                           inputs->source, inputs->mechanism, mechanism);
    return build->weights != NULL ? check_names(build, build->weights) : STATUS_OK;
}
