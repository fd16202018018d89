/* SPDX-License-Identifier: MIT */
/* scores = query . key^T: Vaswani et al. 2017, "Attention Is All You Need", eq. 1. Grouped heads share a key: Ainslie
 * et al. 2023, "GQA", section 2.2. */
#include "stage/dot_products.h"
#include "stage/head.h"

/* --rounding operations has no scores: see scaled.c. */
static bool applies(const struct problem *problem)
{
    return problem->rounding.when != ROUNDING_OPERATIONS;
}

static void make(const struct attention_row *row)
{
    dot_twice(row->stages[STAGE_QUERY], row->problem->size.d_head, row->query);
    head_products(row, row->key, row->stages[STAGE_SCORES]);
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    explain_write(e, stage, place, "", &(struct explain_lines){.terms = EXPLAIN_DOT("query", "key", "made")});
}

const struct stage_functions stage_scores = {
    .applies = applies,
    .lack = "there is no 'scores' with --rounding operations, which scales query and key; expected "
            "'scaled'",
    .formula_words = "query . key^T",
    .make = make,
    .explain = explain};
