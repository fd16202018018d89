/* scores = query . key^T: Vaswani et al. 2017, "Attention Is All You Need", eq. 1. Grouped heads share a key: Ainslie
 * et al. 2023, "GQA", section 2.2. */
#include "stage/dot_products.h"
#include "stage/head.h"

/* With every operation rounded there are no scores: scaled.c says why. */
static bool applies(const struct problem *problem)
{
    return problem->rounding != ROUNDING_OPERATIONS;
}

static enum status check(const struct problem *problem, const char *place, struct error *error)
{
    return applies(problem) ? STATUS_OK
                            : error_usage(error,
                                          "%s: there is no 'scores' with --rounding operations, which shares the "
                                          "scale out to query and key; expected 'scaled'",
                                          place);
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem, (void)stage;
    text_add(text, "query . key^T");
}

static void make(const struct attention_row *row)
{
    dot_twice(row->stages[STAGE_QUERY], row->problem->d_head, row->query);
    head_products(row, row->key, row->stages[STAGE_SCORES]);
}

/* query . key of each key. */
static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range keys = explain_keys(e);
    explain_load(e, STAGE_QUERY, place, e->operand);
    explain_load(e, stage, place, e->made);
    explain_heading(e, stage, place, "");
    for (size_t key = keys.first; key < keys.end; key = explain_next(e, keys, key)) {
        explain_load(e, STAGE_KEY, (struct explain_place){place.item, place.head, key}, e->factor);
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        explain_dot(e, &(struct explain_dot){e->operand, e->factor, STAGE_QUERY, STAGE_KEY, (int)stage,
                                             e->problem->d_head, NULL, e->made[key], NULL});
        explain_gap(e, keys, key, "keys", NULL);
    }
}

const struct stage_functions stage_scores = {
    .applies = applies, .check = check, .formula = formula, .make = make, .explain = explain};
