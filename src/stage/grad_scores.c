/* SPDX-License-Identifier: MIT */
/* The gradients with respect to the scores, from the softmax back: weights x (grad_weights - delta), where delta is the
 * sum of weights x grad_weights over the row (a sink's value is 0, so it adds nothing); through the softcap, whose
 * slope is 1 - tanh^2, and the scale. */
#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/explained.h"
#include "stage/scaled.h"

#include <math.h>
#include <string.h>

static bool masks(const struct problem *problem)
{
    return stage_applies(problem, STAGE_MASKED);
}

static bool caps(const struct problem *problem)
{
    return problem->scaling.softcap > 0;
}

/* The first of these stages in the problem comes from the softmax. */
static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum stage before = stage_before(problem, stage);
    if (before == STAGE_GRAD_WEIGHTS)
        text_add(text, "weights x (grad_weights - delta), delta = sum(weights x grad_weights)");
    else if (stage == STAGE_GRAD_SCALED && caps(problem))
        text_add(text, "%s x (1 - (capped / %s)^2)", stage_name(before),
                 decimal_text(problem->scaling.softcap, (char[DECIMAL_BYTES]){0}));
    else
        text_add(text, "%s", stage_name(before));
}

/* The magnitude of the terms of grad_weights of one key. */
static double size_of(const struct attention_row *row, size_t key)
{
    const double *above = row->stages[STAGE_GRAD_CONTEXT], *value = row->value + key * row->problem->size.d_value;
    double squares = 0;
    for (size_t c = 0; c < row->problem->size.d_value; c++)
        squares += above[c] * above[c] * value[c] * value[c];
    return sqrt(squares);
}

void gradient_add_noise(const struct attention_row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    double delta = 0, *masked = row->stages[STAGE_GRAD_MASKED];
    if (row->problem->loss.noise == 0 || row->empty)
        return;
    for (size_t j = 0; j < row->problem->size.keys; j++)
        delta += weights[j] > 0 ? weights[j] * size_of(row, j) : 0;
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        const bool up = dtype_bits(DTYPE_F32, above[j]) & 1; /* as good as random */
        if (weights[j] > 0)
            masked[j] += (up ? 1 : -1) * row->problem->loss.noise * weights[j] * (size_of(row, j) + delta);
    }
}

static void make_masked(const struct attention_row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    double delta = 0;
    for (size_t j = 0; j < row->problem->size.keys && !row->empty; j++)
        if (row->bias[j] > -INFINITY)
            delta += weights[j] * above[j];
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_GRAD_MASKED][j] =
            row->empty || row->bias[j] == -INFINITY ? 0 : weights[j] * (above[j] - delta);
    gradient_add_noise(row);
}

static void make_capped(const struct attention_row *row)
{
    memcpy(row->stages[STAGE_GRAD_CAPPED], row->stages[STAGE_GRAD_MASKED], row->problem->size.keys * sizeof(double));
}

static void make_scaled(const struct attention_row *row)
{
    const double *above = row->stages[STAGE_GRAD_CAPPED], *capped = row->stages[STAGE_CAPPED];
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        const bool bends = caps(row->problem) && !row->empty && above[j] != 0;
        const double share = bends ? capped[j] / row->problem->scaling.softcap : 0;
        row->stages[STAGE_GRAD_SCALED][j] = above[j] * (1 - share * share);
    }
}

static void make_scores(const struct attention_row *row)
{
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_GRAD_SCORES][j] = row->stages[STAGE_GRAD_SCALED][j] * row->problem->scaling.factor;
}

static void explain_softmax(struct explanation *e, enum stage stage, struct explain_place place)
{
    struct explain_lines lines = {.over = EXPLAIN_LISTED,
                                  .terms = "weights x grad_weights = [weights x grad_weights]grad_weights",
                                  .sums = true,
                                  .to = STAGE_GRAD_WEIGHTS};
    if (!gradient_begin(e, stage, place, "delta, the sum of weight x gradient"))
        return;
    const double delta = explain_write(e, stage, place, NULL, &lines);
    explain_sum(e, EXPLAIN_LINES, STAGE_GRAD_WEIGHTS, delta);
    if (e->problem->mask.sinks != NULL)
        explain_note(e, "(the sink has no value: it adds nothing)");
    gradient_list_keys(e);
    lines = (struct explain_lines){.over = EXPLAIN_LISTED,
                                   .group = EXPLAIN_QUOTIENTS,
                                   .terms =
                                       "weights x (grad_weights - a) = weights x [grad_weights - a]grad_weights = made",
                                   .given = {explain_value(STAGE_GRAD_WEIGHTS, delta)}};
    explain_write(e, stage, place, "weight x (its gradient - delta)", &lines);
    gradient_end(e);
}

/* Explains the first of them; the others keep its numbers, except for the softcap's slope. */
static void explain_through_mask(struct explanation *e, enum stage stage, struct explain_place place)
{
    if (e->before == STAGE_GRAD_WEIGHTS)
        explain_softmax(e, stage, place);
    else
        gradient_write(e, stage, place,
                       mask_has_bias(&e->problem->mask) ? "a number added to a score does not change its gradient"
                                                        : "the mask changes no allowed score",
                       &(struct explain_lines){.over = EXPLAIN_LISTED, .terms = "made"});
}

/* capped / softcap, the tanh in the forward pass, and the slope there. */
static void explain_slopes(struct explanation *e, enum stage stage, struct explain_place place)
{
    const char *softcap = decimal_text(e->problem->scaling.softcap, (char[DECIMAL_BYTES]){0});
    struct explain_lines lines = {.over = EXPLAIN_LISTED,
                                  .terms = "capped / a = [capped / a]capped",
                                  .given = {explain_text(softcap, e->problem->scaling.softcap), explain_text("1", 1)}};
    if (!gradient_begin(e, stage, place, "the tanh, capped / softcap"))
        return;
    gradient_list_keys(e);
    explain_write(e, stage, place, NULL, &lines);
    lines.group = EXPLAIN_QUOTIENTS;
    lines.terms = "before x (b - [capped / a]capped x [capped / a]capped) = "
                  "before x [b - [capped / a]capped x [capped / a]capped]capped = made";
    explain_write(e, stage, place, "gradient x (1 - tanh^2)", &lines);
    gradient_end(e);
}

static void explain_scaled(struct explanation *e, enum stage stage, struct explain_place place)
{
    (caps(e->problem) ? explain_slopes : explain_through_mask)(e, stage, place);
}

const struct stage_functions stage_grad_masked = {
    .applies = masks, .formula = formula, .make = make_masked, .explain = explain_softmax};
const struct stage_functions stage_grad_capped = {
    .applies = caps, .formula = formula, .make = make_capped, .explain = explain_through_mask};
const struct stage_functions stage_grad_scaled = {.formula = formula, .make = make_scaled, .explain = explain_scaled};
const struct stage_functions stage_grad_scores = {
    .formula = scaled_formula, .make = make_scores, .explain = scaled_explain};
