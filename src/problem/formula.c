#include "problem/formula.h"

#include "base/decimal.h"
#include "base/text.h"

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

static void projection_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    if (!problem_projects(problem)) {
        text_add(text, problem->has_past && stage != STAGE_QUERY ? "the past, then the given" : "given");
        return;
    }
    const enum projection_id id = (enum projection_id)(stage - STAGE_QUERY);
    const char *of_heads = problem->plan.stacked ? " of each head" : problem->has_heads ? ", cut into heads" : "";
    char name[PARAMETER_NAME_BYTES], bias[PARAMETER_NAME_BYTES + 8] = "";
    parameters_name(name, 0, false, id, "");
    if (problem->plan.qkv_bias)
        snprintf(bias, sizeof bias, " + %s.bias", name);
    text_add(text, "inputs . %s%s%s%s", name, storage_text(&problem->parameters, id), bias, of_heads);
}

static void scale_formula(const struct problem *problem, struct text *text)
{
    char scale[DECIMAL_BYTES];
    if (problem->rounding == ROUNDING_OPERATIONS) {
        text_add(text, "(query x root) . (key x root)^T, root^2 the scale");
        return;
    }
    if (problem->scale == 1 / sqrt((double)problem->d_head)) {
        text_add(text, "scores / sqrt(%zu)", problem->d_head);
        return;
    }
    decimal_from_double(problem->scale, scale);
    text_add(text, "scores x %s", scale);
}

static void cap_formula(const struct problem *problem, struct text *text)
{
    char softcap[DECIMAL_BYTES];
    decimal_from_double(problem->softcap, softcap);
    if (problem->softcap > 0)
        text_add(text, "%s x tanh(scaled / %s)", softcap, softcap);
    else
        text_add(text, "scaled, no softcap");
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

/* The first rule is introduced, each one more is joined to those before it. */
static const char *before_rule(size_t *rules)
{
    return (*rules)++ == 0 ? ", -inf where " : " or ";
}

/* What forbids a key; where the position of a query among the keys is not its own number, that is said. */
static void add_rules(const struct mask *mask, struct text *text)
{
    const char *query = mask->lengths != NULL || mask->offset != 0 ? "query's position" : "query";
    size_t rules = 0;
    if (mask->attn_mask.rank > 0 && dtype_is_boolean(mask->attn_mask.dtype))
        text_add(text, "%sattn_mask is %s", before_rule(&rules), mask->true_drops ? "true" : "false");
    if (mask->causal || mask->right == 0)
        text_add(text, "%skey > %s", before_rule(&rules), query);
    else if (mask->right > 0)
        text_add(text, "%skey > %s + %lld", before_rule(&rules), query, (long long)mask->right);
    if (mask->left >= 0)
        text_add(text, "%skey < %s", before_rule(&rules), query);
    if (mask->left > 0)
        text_add(text, " - %lld", (long long)mask->left);
    if (mask->lengths != NULL)
        text_add(text, "%skey > length", before_rule(&rules));
}

static void mask_formula(const struct problem *problem, struct text *text)
{
    const struct mask *mask = &problem->mask;
    const bool added = mask->attn_mask.rank > 0 && !dtype_is_boolean(mask->attn_mask.dtype);
    text_add(text, "%s%s%s%s", before_mask(problem), problem->masks ? "" : ", no mask", added ? " + attn_mask" : "",
             mask->alibi_slopes != NULL ? " - slope |key - query|" : "");
    add_rules(mask, text);
}

/* scores and what becomes of them before the softmax. */
static void score_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    if (stage == STAGE_SCORES)
        text_add(text, "query . key^T");
    else if (stage == STAGE_SCALED)
        scale_formula(problem, text);
    else if (stage == STAGE_CAPPED)
        cap_formula(problem, text);
    else
        mask_formula(problem, text);
}

static void drop_formula(const struct problem *problem, struct text *text)
{
    char dropout[DECIMAL_BYTES];
    decimal_from_double(problem->dropout, dropout);
    text_add(text, "weights / (1 - %s) where kept, else 0", dropout);
}

static const char *output_formula(const struct problem *problem)
{
    if (problem->plan.stacked)
        return "heads side by side";
    return problem->parameters.out.bias.rank > 0 ? "heads . out_proj.weight^T + out_proj.bias"
                                                 : "heads . out_proj.weight^T";
}

/* The softmax and what is made of it. */
static void weight_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const bool sinks = problem->mask.sinks != NULL;
    if (stage == STAGE_WEIGHTS)
        text_add(text, "softmax(%s)%s", before_softmax(problem), sinks ? ", a sink in the sum" : "");
    else if (stage == STAGE_DROPPED)
        drop_formula(problem, text);
    else if (stage == STAGE_CONTEXT)
        text_add(text, "%s . value", problem->dropout > 0 ? "dropped" : "weights");
    else if (stage == STAGE_OUTPUT)
        text_add(text, "%s", output_formula(problem));
    else
        text_add(text, "log(sum(exp(%s)))%s", before_softmax(problem), sinks ? ", the sink too" : "");
}

void formula_of_stage(const struct problem *problem, enum stage stage, char *formula, size_t size)
{
    struct text text = text_begin(formula, size);
    if (stage <= STAGE_VALUE)
        projection_formula(problem, stage, &text);
    else if (stage <= STAGE_MASKED)
        score_formula(problem, stage, &text);
    else if (stage <= STAGE_LSE)
        weight_formula(problem, stage, &text);
    else if (stage < STAGE_COUNT)
        text_add(&text, stage == STAGE_PRESENT_KEY ? "key" : "value");
}
