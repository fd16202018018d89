/* SPDX-License-Identifier: MIT */
/* The gradients from the context back to the weights: grad_dropped = grad_context . value^T, and through dropout.
 * Forbidden keys, and all keys of an empty row, have the gradient 0: their weights are constant. */
#include "base/decimal.h"
#include "stage/explained.h"

#include <math.h>

static bool drops(const struct problem *problem)
{
    return problem->drop.share > 0;
}

static void formula_weights(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    if (drops(problem))
        text_add(text, "grad_dropped / (1 - %s) where kept, else 0",
                 decimal_text(problem->drop.share, (char[DECIMAL_BYTES]){0}));
    else
        text_add(text, "grad_context . value^T");
}

static void make_dropped(const struct attention_row *row)
{
    const size_t d = row->problem->size.d_value;
    const double *above = row->stages[STAGE_GRAD_CONTEXT];
    for (size_t j = 0; j < row->problem->size.keys; j++) {
        const double *value = row->value + j * d;
        double sum = 0;
        for (size_t c = 0; c < d && !row->empty && row->bias[j] > -INFINITY; c++)
            sum += above[c] * value[c];
        row->stages[STAGE_GRAD_DROPPED][j] = sum;
    }
}

static void make_weights(const struct attention_row *row)
{
    const double *dropped = row->stages[STAGE_GRAD_DROPPED], factor = 1 / (1 - row->problem->drop.share);
    for (size_t j = 0; j < row->problem->size.keys; j++)
        row->stages[STAGE_GRAD_WEIGHTS][j] = row->kept == NULL ? dropped[j] : row->kept[j] ? dropped[j] * factor : 0;
}

static void explain_products(struct explanation *e, enum stage stage, struct explain_place place)
{
    gradient_write(
        e, stage, place, "",
        &(struct explain_lines){.over = EXPLAIN_LISTED, .terms = EXPLAIN_DOT("grad_context", "value", "made")});
}

static void explain_weights(struct explanation *e, enum stage stage, struct explain_place place)
{
    (drops(e->problem) ? dropped_explain : explain_products)(e, stage, place);
}

const struct stage_functions stage_grad_dropped = {
    .applies = drops,
    .lack = "there is no 'grad_dropped' without dropout; expected grad_weights, or --dropout above 0",
    .formula_words = "grad_context . value^T",
    .make = make_dropped,
    .explain = explain_products};
const struct stage_functions stage_grad_weights = {
    .formula = formula_weights, .make = make_weights, .explain = explain_weights};
