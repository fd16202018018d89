/* SPDX-License-Identifier: MIT */
/* masked = capped + bias, minus infinity where the mask forbids a key: Vaswani et al. 2017, section 3.2.3; attn_mask as
 * in PyTorch's scaled_dot_product_attention, slopes as in Press et al. 2022, "ALiBi", section 3. */
#include "stage/explained.h"

#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/stage.h"

#include <math.h>
#include <stdio.h>

static bool applies(const struct problem *problem)
{
    return problem->masks;
}

static bool adds_numbers(const struct mask *mask)
{
    return mask->attn_mask.rank > 0 && !dtype_is_boolean(mask->attn_mask.dtype);
}

/* The words before the first rule, and before each further one. */
static const char *before_rule(size_t *rules)
{
    return (*rules)++ == 0 ? ", -inf where " : " or ";
}

/* Whether the position of some query differs from its index. */
static bool is_moved(const struct mask *mask)
{
    return mask->lengths != NULL || mask->offset != 0 || mask_sequences_differ(mask);
}

/* Adds the keys that rules exempt from rules of position: after the query, or before it as well. */
static void add_lifted(const struct mask *mask, bool before, struct text *text)
{
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_functions *functions = MASKS[rule].functions;
        if (functions->unless != NULL && functions->applies(mask) && (!before || !functions->after_alone))
            text_add(text, "%s", functions->unless);
    }
}

/* Adds what forbids a key, and says where a query's position differs from its index. */
static void add_rules(const struct mask *mask, struct text *text)
{
    char before[100], after[100];
    struct text lifted[] = {text_begin(before, sizeof before), text_begin(after, sizeof after)};
    add_lifted(mask, true, &lifted[0]);
    add_lifted(mask, false, &lifted[1]);
    const struct mask_words words = {is_moved(mask) ? "query's position" : "query", before, after};
    size_t rules = 0;
    if (mask->attn_mask.rank > 0 && dtype_is_boolean(mask->attn_mask.dtype))
        text_add(text, "%sattn_mask is %s", before_rule(&rules), mask->true_drops ? "true" : "false");
    for (int i = 1; i <= MASK_RULE_COUNT; i++) { /* the first row last */
        const struct mask_functions *functions = MASKS[i % MASK_RULE_COUNT].functions;
        char said[160];
        struct text rule = text_begin(said, sizeof said);
        if (functions->rule_words != NULL && functions->applies(mask))
            text_add(&rule, "%s", functions->rule_words);
        if (functions->rule != NULL && functions->applies(mask))
            functions->rule(mask, &words, &rule);
        if (said[0] != '\0')
            text_add(text, "%s%s", before_rule(&rules), said);
    }
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    static const char *const ALIBI[] = {[MASK_FROM_QUERY] = " - slope |key - query|",
                                        [MASK_FROM_FIRST] = " + slope (key - 1)",
                                        [MASK_FROM_LAST] = " - slope (keys - key)"};
    const struct mask *mask = &problem->mask;
    text_add(text, "%s%s%s%s%s", stage_name(stage_before(problem, stage)), problem->masks ? "" : ", no mask",
             adds_numbers(mask) ? " + attn_mask" : "", mask->alibi_slopes != NULL ? ALIBI[mask->places.from] : "",
             mask->relative != NULL ? " + relative_bias of the distance" : "");
    add_rules(mask, text);
}

/* Minus infinity for a forbidden key, whatever its score. A sum that would round to minus infinity stays at the dtype's
 * lowest number, as masks of lowest numbers intend: rounding never forbids an allowed key. */
static void make(const struct attention_row *row)
{
    const double lowest = -dtype_largest(problem_stage_dtype(row->problem, STAGE_MASKED));
    const double *capped = row->stages[STAGE_CAPPED], *bias = row->bias;
    double *masked = row->stages[STAGE_MASKED];
    const size_t keys = row->problem->size.keys;
    for (size_t j = 0; j < row->allowed.first; j++)
        masked[j] = -INFINITY;
    for (size_t j = row->allowed.first; j < row->allowed.end; j++) {
        const double sum = capped[j] + bias[j];
        masked[j] = bias[j] == -INFINITY                                   ? -INFINITY
                    : bias[j] < 0 && capped[j] > -INFINITY && sum < lowest ? lowest
                                                                           : sum;
    }
    for (size_t j = row->allowed.end; j < keys; j++)
        masked[j] = -INFINITY;
}

void masked_rule(const struct explanation *e, struct explain_place place, size_t key, char *text, size_t size)
{
    const struct problem *problem = e->problem;
    const struct mask *mask = &problem->mask;
    const size_t query = problem->chosen.rows[place.row];
    const struct mask_query of = mask_query_of(mask, place.item, query);
    const char *who = is_moved(mask) ? "the query's position" : "query";
    if (problem->mistake.mask_made) {
        snprintf(text, size, "the mistake in the mask masks it");
        return;
    }
    const enum mask_rule rule = mask_rule_of(mask, place.item, place.head, query, key);
    struct text reason = text_begin(text, size);
    if (rule < MASK_RULE_COUNT)
        MASKS[rule].functions->reason(mask, &of, key, who, &reason);
    else if (rule == MASK_SHORT)
        text_add(&reason, "attn_mask ends at key %zu", mask->masked_keys);
    else
        text_add(&reason, "attn_mask is %s here",
                 !dtype_is_boolean(mask->attn_mask.dtype) ? "-inf"
                 : mask->true_drops                       ? "true"
                                                          : "false");
}

/* Whether the mask adds anything to the score of an allowed key. */
static bool adds(const struct mask *mask)
{
    return adds_numbers(mask) || mask->alibi_slopes != NULL || mask->relative != NULL;
}

/* Explains what attn_mask adds, a; ALiBi subtracts, b x c; and T5's table adds, d. The context is scratch for c. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const struct mask *mask = &e->problem->mask;
    const struct explain_place place = line->place;
    const size_t query = e->problem->chosen.rows[place.row], key = line->index;
    if (explain_rule(e, place, key) != MASK_ALLOWS) {
        struct text words = text_begin(line->words, sizeof line->words);
        text_add(&words, "-inf: ");
        masked_rule(e, place, key, words.bytes + words.length, words.size - words.length);
        line->terms = "";
        return true;
    }
    if (adds_numbers(mask)) {
        struct mask entries = *mask;
        entries.alibi_slopes = NULL;
        entries.relative = NULL;
        line->given[0] = explain_value(STAGE_MASKED, 0);
        mask_bias(&entries, place.item, place.head, query, key, 1, &line->given[0].value);
    }
    if (mask->alibi_slopes != NULL) {
        const double at = mask_place(mask, place.item, query, key);
        const double slope = mask->alibi_slopes[place.head] / (mask->places.rounds ? mask->places.root : 1);
        snprintf(line->context, DECIMAL_BYTES, "%.0f", fabs(at));
        line->given[1] = explain_value(STAGE_MASKED, copysign(slope, -at));
        line->given[2] = explain_text(line->context, 0);
    }
    if (mask->relative != NULL) {
        const long long distance = (long long)key - (long long)query - (long long)mask_offset(mask, place.item, query);
        const size_t bucket = mask_bucket(mask, distance);
        line->given[3] = explain_value(STAGE_MASKED, mask->relative[bucket * mask->heads + place.head]);
        snprintf(line->words, sizeof line->words, ", distance %lld: row %zu of relative_bias", distance, bucket + 1);
    }
    if (!adds(mask))
        snprintf(line->words, sizeof line->words, ", allowed");
    return true;
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    char at[DECIMAL_BYTES];
    if (applies(e->problem))
        explain_write(
            e, stage, place, "",
            &(struct explain_lines){.terms = adds(&e->problem->mask) ? "before + a + b x c + d = made" : "before",
                                    .prepare = prepare,
                                    .context = at});
    else
        explain_kept(e, stage, place, "there is no mask: unchanged");
}

const struct stage_functions stage_masked = {.applies = applies, .formula = formula, .make = make, .explain = explain};
