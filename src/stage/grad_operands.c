/* The gradients at both ends of the rows: what is given, and what they come to. Those by key, value, sinks and
 * attn_mask are sums over queries, which compute/backward.c makes. */
#include "stage/dot_products.h"
#include "stage/stage.h"

#include <string.h>

static bool splits(const struct problem *problem)
{
    return problem_last_stage(problem) == STAGE_OUTPUT;
}

static enum status check_output(const struct problem *problem, const char *place, struct error *error)
{
    return splits(problem)
               ? STATUS_OK
               : error_usage(error, "%s: %s has no 'grad_output', it ends at 'context'; expected grad_context", place,
                             MECHANISMS[problem->mechanism].name);
}

static void formula_output(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s", problem->grad.rank > 0 ? "as given" : "ones");
}

static void formula_context(const struct problem *problem, enum stage stage, struct text *text)
{
    if (!splits(problem))
        formula_output(problem, stage, text);
    else
        text_add(text, "%s",
                 problem->plan.has_out ? "grad_output . out_proj.weight, cut into heads"
                                       : "grad_output, cut into heads");
}

static const char *of_group(const struct problem *problem)
{
    return problem->heads > problem->kv_heads ? ", summed over the heads of a group" : "";
}

static void formula_value(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s^T . grad_context%s", problem->dropout > 0 ? "dropped" : "weights", of_group(problem));
}

static void formula_query(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "grad_scores . key");
}

static void formula_key(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "grad_scores^T . query%s", of_group(problem));
}

/* The keys lie in panels, one beside the other. */
static void make_query(const struct attention_row *row)
{
    const size_t d = row->problem->d_head;
    const double *scores = row->stages[STAGE_GRAD_SCORES];
    double *made = row->stages[STAGE_GRAD_QUERY];
    memset(made, 0, d * sizeof *made);
    for (size_t j = 0; j < row->problem->keys; j++) {
        const double *key = row->key + j / DOT_KEYS * DOT_KEYS * d + j % DOT_KEYS;
        for (size_t k = 0; k < d && scores[j] != 0; k++)
            made[k] += scores[j] * key[k * DOT_KEYS];
    }
}

/* --- what the mask has of its own --------------------------------------------------------------------------------- */

static bool has_sinks(const struct problem *problem)
{
    return problem->mask.sinks != NULL;
}

static enum status check_sinks(const struct problem *problem, const char *place, struct error *error)
{
    return has_sinks(problem) ? STATUS_OK
                              : error_usage(error, "%s: there are no sinks; expected \"sinks\" in the input", place);
}

static void formula_sinks(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "- sum(exp(sink - lse) x delta) over the queries, delta = sum(weights x grad_weights)");
}

/* Those that --alibi makes are no input. */
static bool has_slopes(const struct problem *problem)
{
    size_t i = 0;
    while (i < problem->beside_count && strcmp(problem->beside[i].name, "alibi_slopes") != 0)
        i++;
    return i < problem->beside_count;
}

static enum status check_slopes(const struct problem *problem, const char *place, struct error *error)
{
    return has_slopes(problem)
               ? STATUS_OK
               : error_usage(error, "%s: there are no slopes that were given; expected \"alibi_slopes\" in the input",
                             place);
}

static void formula_slopes(const struct problem *problem, enum stage stage, struct text *text)
{
    static const char *const PLACES[] = {[MASK_FROM_QUERY] = "- sum(grad_masked x |key - query|)",
                                         [MASK_FROM_FIRST] = "sum(grad_masked x (key - 1))",
                                         [MASK_FROM_LAST] = "- sum(grad_masked x (keys - key))"};
    (void)stage;
    text_add(text, "%s", PLACES[problem->mask.places.from]);
}

static bool has_numbers(const struct problem *problem)
{
    return problem->mask.attn_mask.rank > 0 && problem->mask.attn_mask.dtype != DTYPE_BOOL;
}

static enum status check_attn_mask(const struct problem *problem, const char *place, struct error *error)
{
    return has_numbers(problem)
               ? STATUS_OK
               : error_usage(error, "%s: there is no attn_mask of numbers, and no other has a gradient", place);
}

static void formula_attn_mask(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "grad_masked, summed over the axes along which attn_mask is broadcast");
}

const struct stage_functions stage_grad_output = {.applies = splits, .check = check_output, .formula = formula_output};
const struct stage_functions stage_grad_context = {.formula = formula_context};
const struct stage_functions stage_grad_value = {.formula = formula_value};
const struct stage_functions stage_grad_query = {.formula = formula_query, .make = make_query};
const struct stage_functions stage_grad_key = {.formula = formula_key};
const struct stage_functions stage_grad_sinks = {.applies = has_sinks, .check = check_sinks, .formula = formula_sinks};
const struct stage_functions stage_grad_alibi_slopes = {
    .applies = has_slopes, .check = check_slopes, .formula = formula_slopes};
const struct stage_functions stage_grad_attn_mask = {
    .applies = has_numbers, .check = check_attn_mask, .formula = formula_attn_mask};
