/* The gradients that are sums over queries: by key and value, sinks and attn_mask. compute/backward.c makes them. */
#include "stage/gradient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *of_group(const struct problem *problem)
{
    return problem->heads > problem->kv_heads ? ", summed over the heads of a group" : "";
}

static void formula_value(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "%s^T . grad_context%s", problem->dropout > 0 ? "dropped" : "weights", of_group(problem));
}

static void formula_key(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "grad_scores^T . query%s", of_group(problem));
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

/* --- explained --------------------------------------------------------------------------------------------------- */

/* --- by key and value --------------------------------------------------------------------------------------------- */

/* A number of the row of query, or of grad_context. */
static double number_of_row(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column)
{
    explain_load(e, (enum stage)sum->kinds.right_kind, gradient_place(e, sum, term), e->factor);
    return e->factor[column];
}

/* The queries of the heads that share this one of key and value and have a part in it, into e->seen; and by term their
 * grad_scores, or dropped, of the place's key, into e->operand. Returns how many have none. */
static size_t load_terms(struct explanation *e, const struct gradient_sum *sum, size_t key)
{
    const struct problem *problem = e->problem;
    const size_t count = problem->heads / problem->kv_heads * problem->row_count;
    e->seen_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place place = gradient_place(e, sum, term);
        if (!explain_adds(e, sum->stage, place, key))
            continue;
        explain_load(e, (enum stage)sum->kinds.left_kind, place, e->factor);
        e->operand[term] = e->factor[key];
        e->seen[e->seen_count++] = term;
    }
    return count - e->seen_count;
}

static void note_blind(struct explanation *e, const struct gradient_sum *sum, size_t blind)
{
    if (blind > 0)
        explain_note(e, "(%zu quer%s %s not see it: 0%s)", blind, blind == 1 ? "y" : "ies", blind == 1 ? "does" : "do",
                     sum->heads ? ", counted over the heads" : "");
}

/* Column by column; the place's head is one of key and value. */
static void explain_of_keys(struct explanation *e, enum stage stage, struct explain_place place,
                            const struct gradient_term *kinds)
{
    const size_t group = e->problem->heads / e->problem->kv_heads;
    const struct explain_range columns = explain_columns(e, stage);
    struct gradient_sum sum = {
        .stage = stage, .heads = group > 1, .kinds = *kinds, .first = {place.item, place.head * group, 0}};
    const struct explain_place of_query = {place.item, place.head * group, place.row};
    const size_t blind = load_terms(e, &sum, place.row);
    char what[64];
    explain_load_made(e, stage, of_query, e->made);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        snprintf(what, sizeof what, "column %zu", column + 1);
        explain_heading(e, stage, place, what);
        sum.result = e->made[column];
        if (e->seen_count > 0)
            gradient_write_sum(e, &sum, number_of_row, column);
        note_blind(e, &sum, blind);
        if (explain_next(e, columns, column) > column + 1)
            explain_note(e, "… %zu more columns …", explain_next(e, columns, column) - column - 1);
    }
}

static void explain_value(struct explanation *e, enum stage stage, struct explain_place place)
{
    const int weights = e->problem->dropout > 0 ? STAGE_DROPPED : STAGE_WEIGHTS;
    explain_of_keys(e, stage, place, &(struct gradient_term){weights, STAGE_GRAD_CONTEXT, STAGE_GRAD_VALUE});
}

static void explain_key(struct explanation *e, enum stage stage, struct explain_place place)
{
    static const struct gradient_term KINDS = {STAGE_GRAD_SCORES, STAGE_QUERY, STAGE_GRAD_KEY};
    explain_of_keys(e, stage, place, &KINDS);
}

/* --- by sinks ----------------------------------------------------------------------------------------------------- */

/* The share of a row that its sink takes: exp(sink - largest) over the sum of all exponentials. */
static double sink_weight(struct explanation *e, struct explain_place place)
{
    const double sink = e->problem->mask.sinks[place.head];
    double largest = sink, sum = 0;
    explain_load(e, STAGE_MASKED, place, e->factor);
    for (size_t i = 0; i < e->problem->keys; i++)
        largest = e->factor[i] > largest ? e->factor[i] : largest;
    for (size_t i = 0; i < e->problem->keys; i++)
        sum += exp(e->factor[i] - largest);
    return exp(sink - largest) / (sum + exp(sink - largest));
}

static double weight_of_row(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column)
{
    (void)column;
    return sink_weight(e, gradient_place(e, sum, term));
}

/* minus delta of each row that sees a key, by term, into e->operand. */
static void load_deltas(struct explanation *e, const struct gradient_sum *sum, size_t count)
{
    const size_t keys = e->problem->keys;
    e->seen_count = 0;
    for (size_t term = 0; term < count; term++) {
        const struct explain_place place = gradient_place(e, sum, term);
        double delta = 0;
        bool empty = true;
        explain_load(e, STAGE_WEIGHTS, place, e->factor);
        explain_load(e, STAGE_GRAD_WEIGHTS, place, e->made);
        for (size_t key = 0; key < keys; key++)
            if (explain_rule(e, place, key) == MASK_ALLOWS) {
                delta += e->factor[key] * e->made[key];
                empty = false;
            }
        e->operand[term] = 0 - delta;
        if (!empty)
            e->seen[e->seen_count++] = term;
    }
}

static void explain_sinks(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    struct gradient_sum sum = {.stage = stage,
                               .over_items = true,
                               .kinds = {STAGE_GRAD_WEIGHTS, STAGE_WEIGHTS, STAGE_GRAD_SINKS},
                               .first = {0, place.head, 0}};
    load_deltas(e, &sum, problem->items * problem->row_count);
    explain_load_made(e, stage, place, e->made);
    sum.result = e->made[place.head];
    explain_heading(e, stage, place, "minus delta x the share that the sink takes");
    if (e->seen_count > 0)
        gradient_write_sum(e, &sum, weight_of_row, 0);
    else
        explain_note(e, "no query sees a key: 0");
}

const struct stage_functions stage_grad_value = {.formula = formula_value, .explain = explain_value};
const struct stage_functions stage_grad_key = {.formula = formula_key, .explain = explain_key};
const struct stage_functions stage_grad_sinks = {
    .applies = has_sinks, .check = check_sinks, .formula = formula_sinks, .explain = explain_sinks};
const struct stage_functions stage_grad_alibi_slopes = {
    .applies = has_slopes, .check = check_slopes, .formula = formula_slopes};
const struct stage_functions stage_grad_attn_mask = {
    .applies = has_numbers, .check = check_attn_mask, .formula = formula_attn_mask};
