/* The gradients by what the context is made of, back to the weights: grad_dropped = grad_context . value^T, and through
 * dropout. A key that is forbidden, and every key of an empty row, has the gradient 0: no weight of it can move. */
#include "base/decimal.h"
#include "stage/dropped.h"
#include "stage/gradient.h"

#include <math.h>

static bool drops(const struct problem *problem)
{
    return problem->dropout > 0;
}

static enum status check(const struct problem *problem, const char *place, struct error *error)
{
    return drops(problem) ? STATUS_OK
                          : error_usage(error,
                                        "%s: there is no 'grad_dropped' without dropout; expected grad_weights, or "
                                        "--dropout above 0",
                                        place);
}

static void formula_dropped(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)problem;
    (void)stage;
    text_add(text, "grad_context . value^T");
}

static void formula_weights(const struct problem *problem, enum stage stage, struct text *text)
{
    char dropout[DECIMAL_BYTES];
    decimal_from_double(problem->dropout, dropout);
    if (drops(problem))
        text_add(text, "grad_dropped / (1 - %s) where kept, else 0", dropout);
    else
        formula_dropped(problem, stage, text);
}

static void make_dropped(const struct attention_row *row)
{
    const size_t d = row->problem->d_value;
    const double *above = row->stages[STAGE_GRAD_CONTEXT];
    for (size_t j = 0; j < row->problem->keys; j++) {
        const double *value = row->value + j * d;
        double sum = 0;
        for (size_t c = 0; c < d && !row->empty && row->bias[j] > -INFINITY; c++)
            sum += above[c] * value[c];
        row->stages[STAGE_GRAD_DROPPED][j] = sum;
    }
}

static void make_weights(const struct attention_row *row)
{
    const double *dropped = row->stages[STAGE_GRAD_DROPPED], factor = 1 / (1 - row->problem->dropout);
    for (size_t j = 0; j < row->problem->keys; j++)
        row->stages[STAGE_GRAD_WEIGHTS][j] = row->kept == NULL ? dropped[j] : row->kept[j] ? dropped[j] * factor : 0;
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* grad_context . value of each key. */
static void explain_products(struct explanation *e, enum stage stage, struct explain_place place)
{
    if (!gradient_begin(e, stage, place, ""))
        return;
    const struct explain_range keys = gradient_keys(e);
    explain_load(e, STAGE_GRAD_CONTEXT, place, e->operand);
    explain_load_made(e, stage, place, e->made);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, key}, e->factor);
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        explain_dot(e, &(struct explain_dot){e->operand, e->factor, STAGE_GRAD_CONTEXT, STAGE_VALUE, (int)stage,
                                             e->problem->d_value, NULL, e->made[key], NULL});
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

/* What dropout does to a weight it does to its gradient. */
static void explain_weights(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    char share[DECIMAL_BYTES], what[WORKED_LINE_LABEL_BYTES];
    if (!drops(problem)) {
        explain_products(e, stage, place);
        return;
    }
    dropped_share(problem->dropout, share, sizeof share);
    dropped_say_share(problem->dropout, what, sizeof what);
    if (!gradient_begin(e, stage, place, what))
        return;
    const struct explain_range keys = gradient_keys(e);
    explain_load(e, STAGE_GRAD_DROPPED, place, e->operand);
    explain_load_made(e, stage, place, e->made);
    explain_load(e, stage, place, e->factor); /* last, so that `kept` is this row's */
    const bool *kept = e->source.kept_back(e->source.context, place.row);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        dropped_write(
            e, &(struct dropped_line){STAGE_GRAD_DROPPED, (int)stage, e->operand[key], e->made[key], share, kept[key]});
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

const struct stage_functions stage_grad_dropped = {
    .applies = drops, .check = check, .formula = formula_dropped, .make = make_dropped, .explain = explain_products};
const struct stage_functions stage_grad_weights = {
    .formula = formula_weights, .make = make_weights, .explain = explain_weights};
