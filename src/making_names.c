#include "making.h"

#include <string.h>

/* The stages of a result are recomputed, and what else it holds is that of its own mechanism. */
static enum status check_name_of_weights(const struct making *making, const char *name, unsigned kind)
{
    const struct bundle *weights = making->weights;
    const bool passed =
        kind & (BUNDLE_PARAMETER | BUNDLE_BUFFER | BUNDLE_INPUTS | BUNDLE_TOKENS | BUNDLE_SETTINGS | BUNDLE_IGNORED);
    if (passed || weights->is_result)
        return STATUS_OK;
    return error_usage(making->error, "%s: %s is no parameter, and --weights takes nothing else; %s", weights->source,
                       name, kind & BUNDLE_MASKING ? "expected it in the input" : "expected names such as W_query");
}

static enum status refuse_stage(const struct making *making, const char *name)
{
    const bool given = making->problem->mechanism == COMMAND_SDPA;
    return error_usage(making->error,
                       "%s: %s is a stage, which %s computes; expected %s, or a result, which says \"attn\"",
                       making->inputs->source, name, command_name(making->problem->mechanism),
                       given ? "query, key and value" : "parameters such as W_query");
}

/* sdpa takes what the others compute. */
static enum status check_name_of_sdpa(const struct making *making, const char *name, unsigned kind)
{
    if (kind & (BUNDLE_INPUTS | BUNDLE_PARAMETER))
        return error_usage(making->error, "%s: %s has no place here: sdpa takes query, key and value as they are",
                           making->inputs->source, name);
    return kind == BUNDLE_STAGE ? refuse_stage(making, name) : STATUS_OK;
}

static enum status check_name_of_module(const struct making *making, const char *name, unsigned kind)
{
    const char *source = making->inputs->source, *mechanism = command_name(making->problem->mechanism);
    if (kind & BUNDLE_CACHE)
        return error_usage(making->error, "%s: %s belongs to attn sdpa; %s makes key and value of its inputs", source,
                           name, mechanism);
    if (kind & BUNDLE_OPERAND)
        return error_usage(making->error,
                           "%s: %s is a stage, which %s computes; expected W_%s or W_%s.weight, or attn sdpa, which "
                           "takes it as it is",
                           source, name, mechanism, name, name);
    if (strcmp(name, "layout") == 0 || strcmp(name, "lacks") == 0)
        return error_usage(making->error, "%s: %s is what a result says of itself; expected \"attn\" beside it", source,
                           name);
    return kind == BUNDLE_STAGE ? refuse_stage(making, name) : STATUS_OK;
}

static enum status check_name(const struct making *making, const struct bundle *bundle, const char *name)
{
    const unsigned kind = bundle_kind(name);
    if (bundle == making->weights)
        return check_name_of_weights(making, name, kind);
    if (bundle->is_result)
        return STATUS_OK;
    return making->problem->mechanism == COMMAND_SDPA ? check_name_of_sdpa(making, name, kind)
                                                      : check_name_of_module(making, name, kind);
}

static enum status check_names(const struct making *making, const struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->passed_count; i++)
        if (check_name(making, bundle, bundle->passed[i]) != STATUS_OK)
            return making->error->status;
    for (size_t i = 0; i < bundle->tensor_count; i++)
        if (check_name(making, bundle, bundle->tensors[i].name) != STATUS_OK)
            return making->error->status;
    return STATUS_OK;
}

/* The command decides the mechanism; a file that asks for another one is told so. */
static enum status check_mechanism(const struct making *making)
{
    const struct bundle *inputs = making->inputs;
    const char *mechanism = command_name(making->problem->mechanism);
    if (inputs->is_result || inputs->mechanism == NULL || strcmp(inputs->mechanism, mechanism) == 0)
        return STATUS_OK;
    return error_usage(making->error, "%s: mechanism is '%.40s', but the command says %s; expected them to be the same",
                       inputs->source, inputs->mechanism, mechanism);
}

enum status making_names(const struct making *making)
{
    if (making->inputs != NULL && (check_names(making, making->inputs) || check_mechanism(making)))
        return making->error->status;
    return making->weights != NULL ? check_names(making, making->weights) : STATUS_OK;
}
