#include "write/explain/explain_stages.h"

#include "base/decimal.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

/* "sqrt(2) ≈ 1.4142" into words; returns where the root begins, as it is divided by. */
static const char *write_root(const struct explanation *e, char *words, size_t size)
{
    const size_t d = e->result->problem->d_head;
    const double root = sqrt((double)d);
    const bool whole = root == floor(root);
    struct text text = text_begin(words, size);
    text_add(&text, "sqrt(%zu) %s ", d, whole ? "=" : "≈");
    const char *start = words + text.length;
    text_add(&text, "%.*f", whole ? 0 : e->precision, root);
    return start;
}

static void write_scaled(struct explanation *e, const char *root, const char *scale, size_t key)
{
    worked_line_term(&e->lines, explain_number(e, STAGE_SCORES, e->operand[key]));
    if (root != NULL)
        worked_line_over(&e->lines, root);
    else
        worked_line_times(&e->lines, scale);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_SCALED, e->made[key]));
    worked_line_end(&e->lines);
}

void explain_scaled(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->result->problem;
    const struct explain_range keys = explain_keys(e);
    const bool by_root = problem->scale == 1 / sqrt((double)problem->d_head);
    char scale[DECIMAL_BYTES], what[EXPLAIN_NUMBER_BYTES];
    const char *root = write_root(e, what, sizeof what);
    decimal_from_double(problem->scale, scale);
    explain_load(e, STAGE_SCORES, place, e->operand);
    explain_load(e, STAGE_SCALED, place, e->made);
    explain_heading(e, STAGE_SCALED, place, by_root ? what : "");
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_scaled(e, by_root ? root : NULL, scale, key);
        explain_gap(e, keys, key, "keys", NULL);
    }
}

static void write_capped(struct explanation *e, const char *softcap, size_t key)
{
    const double argument = e->operand[key] / e->result->problem->softcap;
    worked_line_term(&e->lines, softcap);
    worked_line_open(&e->lines, WORKED_LINE_TANH, true);
    worked_line_term(&e->lines, explain_number(e, STAGE_SCALED, e->operand[key]));
    worked_line_over(&e->lines, softcap);
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, softcap);
    worked_line_open(&e->lines, WORKED_LINE_TANH, true);
    worked_line_term(&e->lines, explain_number(e, STAGE_CAPPED, argument));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, softcap);
    worked_line_times(&e->lines, explain_number(e, STAGE_CAPPED, tanh(argument)));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_CAPPED, e->made[key]));
    worked_line_end(&e->lines);
}

/* A stage that does nothing here: each number is that of the stage before it. */
static void write_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *why)
{
    const struct explain_range keys = explain_keys(e);
    explain_load(e, stage, place, e->made);
    explain_heading(e, stage, place, why);
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[key]));
        worked_line_end(&e->lines);
        explain_gap(e, keys, key, "keys", NULL);
    }
}

void explain_capped(struct explanation *e, struct explain_place place)
{
    const struct explain_range keys = explain_keys(e);
    char softcap[DECIMAL_BYTES];
    if (e->result->problem->softcap == 0) {
        write_kept(e, STAGE_CAPPED, place, "there is no softcap, so as they were");
        return;
    }
    decimal_from_double(e->result->problem->softcap, softcap);
    explain_load(e, STAGE_SCALED, place, e->operand);
    explain_load(e, STAGE_CAPPED, place, e->made);
    explain_heading(e, STAGE_CAPPED, place, "");
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_capped(e, softcap, key);
        explain_gap(e, keys, key, "keys", NULL);
    }
}

/* --- the mask ----------------------------------------------------------------------------------------------------- */

/* "-inf: key 3 > query 2", into text. */
static void write_rule(const struct explanation *e, struct explain_place place, size_t key, char *text, size_t size)
{
    const struct problem *problem = e->result->problem;
    const struct mask *mask = &problem->mask;
    const long long position = (long long)problem->rows[place.row] + (long long)mask_offset(mask, place.item) + 1;
    const char *who = mask->lengths != NULL || mask->offset != 0 ? "the query's place" : "query";
    const size_t at = key + 1;
    switch (mask_rule_of(mask, place.item, place.head, problem->rows[place.row], key)) {
    case MASK_CAUSAL:
        snprintf(text, size, "-inf: key %zu > %s %lld", at, who, position);
        break;
    case MASK_LEFT:
        snprintf(text, size, "-inf: key %zu < %s %lld - %lld, outside the window", at, who, position,
                 (long long)mask->left);
        break;
    case MASK_RIGHT:
        snprintf(text, size, "-inf: key %zu > %s %lld + %lld, outside the window", at, who, position,
                 (long long)mask->right);
        break;
    case MASK_LENGTH: /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are lengths, or it is not this one */
        snprintf(text, size, "-inf: key %zu > length %lld", at, (long long)mask->lengths[place.item]);
        break;
    case MASK_SHORT:
        snprintf(text, size, "-inf: attn_mask ends at key %zu", mask->masked_keys);
        break;
    default:
        snprintf(text, size, "-inf: attn_mask is %s here",
                 !dtype_is_boolean(mask->attn_mask.dtype) ? "-inf"
                 : mask->true_drops                       ? "true"
                                                          : "false");
    }
}

/* The score, what attn_mask adds, and what ALiBi takes away: slope x distance. */
static void write_bias(struct explanation *e, struct explain_place place, size_t key)
{
    const struct problem *problem = e->result->problem;
    struct mask of_entries = problem->mask;
    const size_t query = problem->rows[place.row];
    const long long distance =
        llabs((long long)key - (long long)query - (long long)mask_offset(&problem->mask, place.item));
    char text[DECIMAL_BYTES];
    double bias;
    of_entries.alibi_slopes = NULL;
    mask_bias(&of_entries, place.item, place.head, query, key, 1, &bias);
    if (of_entries.attn_mask.rank > 0 && !dtype_is_boolean(of_entries.attn_mask.dtype))
        worked_line_term(&e->lines, explain_number(e, STAGE_MASKED, bias));
    if (problem->mask.alibi_slopes == NULL)
        return;
    worked_line_term(&e->lines, explain_number(e, STAGE_MASKED, -problem->mask.alibi_slopes[place.head]));
    snprintf(text, sizeof text, "%lld", distance);
    worked_line_times(&e->lines, text);
}

static void write_masked(struct explanation *e, struct explain_place place, size_t key)
{
    const struct problem *problem = e->result->problem;
    const struct mask *mask = &problem->mask;
    const bool adds =
        mask->alibi_slopes != NULL || (mask->attn_mask.rank > 0 && !dtype_is_boolean(mask->attn_mask.dtype));
    char why[WORKED_LINE_CELL_BYTES];
    if (explain_rule(e, place, key) != MASK_ALLOWS) {
        write_rule(e, place, key, why, sizeof why);
        worked_line_words(&e->lines, why);
        return;
    }
    worked_line_term(&e->lines, explain_number(e, (int)explain_before_mask(problem), e->operand[key]));
    if (!adds) {
        worked_line_words(&e->lines, ", seen");
        return;
    }
    write_bias(e, place, key);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_MASKED, e->made[key]));
}

void explain_masked(struct explanation *e, struct explain_place place)
{
    const struct explain_range keys = explain_keys(e);
    if (!e->result->problem->masks) {
        write_kept(e, STAGE_MASKED, place, "there is no mask, so as they were");
        return;
    }
    explain_load(e, explain_before_mask(e->result->problem), place, e->operand);
    explain_load(e, STAGE_MASKED, place, e->made);
    explain_heading(e, STAGE_MASKED, place, "");
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        write_masked(e, place, key);
        worked_line_end(&e->lines);
        explain_gap(e, keys, key, "keys", NULL);
    }
}
