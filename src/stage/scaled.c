/* SPDX-License-Identifier: MIT */
/* scaled = scores x scale: Vaswani et al. 2017, section 3.2.1. */
#include "stage/scaled.h"

#include "base/decimal.h"
#include "stage/dot_products.h"
#include "stage/explained.h"
#include "stage/head.h"

#include <math.h>
#include <stdio.h>

/* Whether the scale is 1 / sqrt(d), which formulas write as such. */
static bool is_root(const struct problem *problem)
{
    return problem->scaling.factor == 1 / sqrt((double)problem->size.d_head);
}

void scaled_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const char *before = stage_name(stage_before(problem, stage));
    if (stage == STAGE_SCALED && scaled_has_roots(problem))
        text_add(text, "(query x root) . (key x root)^T, where root^2 is the scale");
    else if (is_root(problem))
        text_add(text, "%s / sqrt(%zu)", before, problem->size.d_head);
    else
        text_add(text, "%s x %s", before, decimal_text(problem->scaling.factor, (char[DECIMAL_BYTES]){0}));
}

bool scaled_has_roots(const struct problem *problem)
{
    return problem->rounding.when == ROUNDING_OPERATIONS;
}

void scaled_operand(const struct problem *problem, double *numbers, size_t count)
{
    const double root = stage_rounded(problem->rounding.dtype, sqrt(problem->scaling.factor));
    for (size_t i = 0; i < count; i++)
        numbers[i] *= root;
    dtype_round(problem->rounding.dtype, numbers, count);
}

/* With --rounding operations (query x root) . (key x root)^T, with root = sqrt(scale): rounds root, both products and
 * the sum. The head has its keys prescaled. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const double *scores = row->stages[STAGE_SCORES], scale = problem->scaling.factor;
    double *scaled = row->stages[STAGE_SCALED];
    if (scaled_has_roots(problem)) {
        dot_twice(row->stages[STAGE_QUERY], problem->size.d_head, row->query);
        scaled_operand(problem, row->query, 2 * problem->size.d_head);
        head_products(row, row->prescaled_key, scaled);
        return;
    }
    for (size_t j = row->computed.first; j < row->computed.end; j++)
        scaled[j] = scores[j] * scale;
}

void scaled_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const size_t d = e->problem->size.d_head;
    const double root = sqrt((double)d);
    const bool whole = root == floor(root), divides = is_root(e->problem);
    char number[DECIMAL_BYTES], heading[EXPLAIN_NUMBER_BYTES] = "";
    snprintf(number, sizeof number, "%.*f", whole ? 0 : e->precision, root);
    if (divides)
        snprintf(heading, sizeof heading, "sqrt(%zu) %s %s", d, whole ? "=" : "≈", number);
    else
        decimal_from_double(e->problem->scaling.factor, number);
    const struct explain_lines lines = {.over = e->back ? EXPLAIN_LISTED : EXPLAIN_KEYS,
                                        .terms = divides ? "before / a = made" : "before x a = made",
                                        .given = {explain_text(number, 0)}};
    (e->back ? gradient_write : explain_write)(e, stage, place, heading, &lines);
}

const struct stage_functions stage_scaled = {.formula = scaled_formula, .make = make, .explain = scaled_explain};
