/* The gradients by the scores, from the softmax back: weights x (grad_weights - delta), where delta is the sum of
 * weights x grad_weights over the row (a sink's value is 0, so it adds nothing); through the softcap, whose slope is
 * 1 - tanh^2, and the scale. */
#include "base/decimal.h"
#include "stage/stage.h"

#include <math.h>
#include <string.h>

static bool masks(const struct problem *problem)
{
    return stage_applies(problem, STAGE_MASKED);
}

static bool caps(const struct problem *problem)
{
    return problem->softcap > 0;
}

/* Whichever is the first of them that is there comes from the softmax. */
static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum stage before = stage_before(problem, stage);
    char softcap[DECIMAL_BYTES];
    decimal_from_double(problem->softcap, softcap);
    if (before == STAGE_GRAD_WEIGHTS)
        text_add(text, "weights x (grad_weights - delta), delta = sum(weights x grad_weights)");
    else if (stage == STAGE_GRAD_SCALED && caps(problem))
        text_add(text, "%s x (1 - (capped / %s)^2)", stage_name(before), softcap);
    else
        text_add(text, "%s", stage_name(before));
}

static void formula_scores(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    char scale[DECIMAL_BYTES];
    decimal_from_double(problem->scale, scale);
    if (problem->scale == 1 / sqrt((double)problem->d_head))
        text_add(text, "grad_scaled / sqrt(%zu)", problem->d_head);
    else
        text_add(text, "grad_scaled x %s", scale);
}

static void make_masked(const struct attention_row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    double delta = 0;
    for (size_t j = 0; j < row->problem->keys && !row->empty; j++)
        if (row->bias[j] > -INFINITY)
            delta += weights[j] * above[j];
    for (size_t j = 0; j < row->problem->keys; j++)
        row->stages[STAGE_GRAD_MASKED][j] =
            row->empty || row->bias[j] == -INFINITY ? 0 : weights[j] * (above[j] - delta);
}

static void make_capped(const struct attention_row *row)
{
    memcpy(row->stages[STAGE_GRAD_CAPPED], row->stages[STAGE_GRAD_MASKED], row->problem->keys * sizeof(double));
}

static void make_scaled(const struct attention_row *row)
{
    const double *above = row->stages[STAGE_GRAD_CAPPED], *capped = row->stages[STAGE_CAPPED];
    for (size_t j = 0; j < row->problem->keys; j++) {
        const bool bends = caps(row->problem) && !row->empty && row->bias[j] > -INFINITY;
        const double share = bends ? capped[j] / row->problem->softcap : 0;
        row->stages[STAGE_GRAD_SCALED][j] = above[j] * (1 - share * share);
    }
}

static void make_scores(const struct attention_row *row)
{
    for (size_t j = 0; j < row->problem->keys; j++)
        row->stages[STAGE_GRAD_SCORES][j] = row->stages[STAGE_GRAD_SCALED][j] * row->problem->scale;
}

const struct stage_functions stage_grad_masked = {.applies = masks, .formula = formula, .make = make_masked};
const struct stage_functions stage_grad_capped = {.applies = caps, .formula = formula, .make = make_capped};
const struct stage_functions stage_grad_scaled = {.formula = formula, .make = make_scaled};
const struct stage_functions stage_grad_scores = {.formula = formula_scores, .make = make_scores};
