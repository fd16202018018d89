#include "formula.h"

#include "decimal.h"

#include <math.h>
#include <stdio.h>

/* "W^T" where all modules store it so; a file may give one head's W as it is and another's transposed. */
static const char *storage_text(const struct parameters *parameters, enum projection_id id)
{
    size_t transposed = 0;
    for (size_t module = 0; module < parameters->module_count; module++)
        transposed += parameters->modules[module].projections[id].transposed;
    return transposed == 0 ? "" : transposed == parameters->module_count ? ".weight^T" : " or .weight^T";
}

static void projection_formula(const struct problem *problem, enum stage stage, char *text, size_t size)
{
    if (problem->mechanism == COMMAND_SDPA) {
        snprintf(text, size, problem->has_past && stage != STAGE_QUERY ? "the past, then the given" : "given");
        return;
    }
    const enum projection_id id = (enum projection_id)(stage - STAGE_QUERY);
    const char *of_heads = problem->plan.stacked ? " of each head" : problem->has_heads ? ", cut into heads" : "";
    char name[PARAMETER_NAME_BYTES], bias[PARAMETER_NAME_BYTES + 8] = "";
    parameters_name(name, 0, false, id, "");
    if (problem->plan.qkv_bias)
        snprintf(bias, sizeof bias, " + %s.bias", name);
    snprintf(text, size, "inputs . %s%s%s%s", name, storage_text(&problem->parameters, id), bias, of_heads);
}

static void scale_formula(const struct problem *problem, char *text, size_t size)
{
    char scale[DECIMAL_BYTES];
    if (problem->rounding == ROUNDING_OPERATIONS) {
        snprintf(text, size, "(query x root) . (key x root)^T, root^2 the scale");
        return;
    }
    if (problem->scale == 1 / sqrt((double)problem->d_head)) {
        snprintf(text, size, "scores / sqrt(%zu)", problem->d_head);
        return;
    }
    decimal_from_double(problem->scale, scale);
    snprintf(text, size, "scores x %s", scale);
}

static void cap_formula(const struct problem *problem, char *text, size_t size)
{
    char softcap[DECIMAL_BYTES];
    decimal_from_double(problem->softcap, softcap);
    if (problem->softcap > 0)
        snprintf(text, size, "%s x tanh(scaled / %s)", softcap, softcap);
    else
        snprintf(text, size, "scaled, no softcap");
}

/* The stage that the mask works on, and that of the softmax. */
static const char *before_mask(const struct problem *problem)
{
    return problem->softcap > 0 ? "capped" : "scaled";
}

static const char *before_softmax(const struct problem *problem)
{
    return problem->masks ? "masked" : before_mask(problem);
}

/* What forbids a key; where the position of a query among the keys is not its own number, that is said. */
struct rule {
    bool acts;
    char words[48];
};

enum { RULES = 5 };

static void list_rules(const struct mask *mask, struct rule rules[RULES])
{
    const char *query = mask->lengths != NULL || mask->offset != 0 ? "query's position" : "query";
    const bool boolean = mask->attn_mask.rank > 0 && mask->attn_mask.dtype == DTYPE_BOOL;
    rules[0].acts = boolean;
    snprintf(rules[0].words, sizeof rules[0].words, "attn_mask is %s", mask->true_drops ? "true" : "false");
    rules[1].acts = mask->causal || mask->right == 0;
    snprintf(rules[1].words, sizeof rules[1].words, "key > %s", query);
    rules[2].acts = mask->right > 0 && !mask->causal;
    snprintf(rules[2].words, sizeof rules[2].words, "key > %s + %lld", query, (long long)mask->right);
    rules[3].acts = mask->left >= 0;
    snprintf(rules[3].words, sizeof rules[3].words, mask->left > 0 ? "key < %s - %lld" : "key < %s", query,
             (long long)mask->left);
    rules[4].acts = mask->lengths != NULL;
    snprintf(rules[4].words, sizeof rules[4].words, "key > length");
}

static void mask_formula(const struct problem *problem, char *text, size_t size)
{
    const struct mask *mask = &problem->mask;
    const bool added = mask->attn_mask.rank > 0 && mask->attn_mask.dtype != DTYPE_BOOL;
    struct rule rules[RULES];
    const char *joint = ", -inf where ";
    size_t length =
        (size_t)snprintf(text, size, "%s%s%s%s", before_mask(problem), problem->masks ? "" : ", no mask",
                         added ? " + attn_mask" : "", mask->alibi_slopes != NULL ? " - slope |key - query|" : "");
    list_rules(mask, rules);
    for (size_t i = 0; i < RULES; i++)
        if (rules[i].acts) {
            length += (size_t)snprintf(text + length, size - length, "%s%s", joint, rules[i].words);
            joint = " or ";
        }
}

/* scores and what becomes of them before the softmax. */
static void score_formula(const struct problem *problem, enum stage stage, char *text, size_t size)
{
    if (stage == STAGE_SCORES)
        snprintf(text, size, "query . key^T");
    else if (stage == STAGE_SCALED)
        scale_formula(problem, text, size);
    else if (stage == STAGE_CAPPED)
        cap_formula(problem, text, size);
    else
        mask_formula(problem, text, size);
}

static void drop_formula(const struct problem *problem, char *text, size_t size)
{
    char dropout[DECIMAL_BYTES];
    decimal_from_double(problem->dropout, dropout);
    snprintf(text, size, "weights / (1 - %s) where kept, else 0", dropout);
}

static const char *output_formula(const struct problem *problem)
{
    if (problem->plan.stacked)
        return "heads side by side";
    return problem->parameters.out.bias.rank > 0 ? "heads . out_proj.weight^T + out_proj.bias"
                                                 : "heads . out_proj.weight^T";
}

/* The softmax and what is made of it. */
static void weight_formula(const struct problem *problem, enum stage stage, char *text, size_t size)
{
    const bool sinks = problem->mask.sinks != NULL;
    if (stage == STAGE_WEIGHTS)
        snprintf(text, size, "softmax(%s)%s", before_softmax(problem), sinks ? ", a sink in the sum" : "");
    else if (stage == STAGE_DROPPED)
        drop_formula(problem, text, size);
    else if (stage == STAGE_CONTEXT)
        snprintf(text, size, "%s . value", problem->dropout > 0 ? "dropped" : "weights");
    else if (stage == STAGE_OUTPUT)
        snprintf(text, size, "%s", output_formula(problem));
    else
        snprintf(text, size, "log(sum(exp(%s)))%s", before_softmax(problem), sinks ? ", the sink too" : "");
}

void formula_of_stage(const struct problem *problem, enum stage stage, char *text, size_t size)
{
    if (stage <= STAGE_VALUE)
        projection_formula(problem, stage, text, size);
    else if (stage <= STAGE_MASKED)
        score_formula(problem, stage, text, size);
    else if (stage <= STAGE_LSE)
        weight_formula(problem, stage, text, size);
    else if (stage < STAGE_COUNT)
        snprintf(text, size, stage == STAGE_PRESENT_KEY ? "key" : "value");
    else
        text[0] = '\0';
}
