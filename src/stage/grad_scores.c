/* The gradients by the scores, from the softmax back: weights x (grad_weights - delta), where delta is the sum of
 * weights x grad_weights over the row (a sink's value is 0, so it adds nothing); through the softcap, whose slope is
 * 1 - tanh^2, and the scale. */
#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/gradient.h"
#include "stage/scaled.h"

#include <math.h>
#include <stdio.h>
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

/* The size of grad_weights of one key by its terms. */
static double size_of(const struct attention_row *row, size_t key)
{
    const double *above = row->stages[STAGE_GRAD_CONTEXT], *value = row->value + key * row->problem->d_value;
    double squares = 0;
    for (size_t c = 0; c < row->problem->d_value; c++)
        squares += above[c] * above[c] * value[c] * value[c];
    return sqrt(squares);
}

void gradient_add_noise(const struct attention_row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS], *above = row->stages[STAGE_GRAD_WEIGHTS];
    double delta = 0, *masked = row->stages[STAGE_GRAD_MASKED];
    if (row->problem->noise == 0 || row->empty)
        return;
    for (size_t j = 0; j < row->problem->keys; j++)
        delta += weights[j] > 0 ? weights[j] * size_of(row, j) : 0;
    for (size_t j = 0; j < row->problem->keys; j++) {
        const bool up = dtype_bits(DTYPE_F32, above[j]) & 1; /* as good as by chance */
        if (weights[j] > 0)
            masked[j] += (up ? 1 : -1) * row->problem->noise * weights[j] * (size_of(row, j) + delta);
    }
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
    gradient_add_noise(row);
}

static void make_capped(const struct attention_row *row)
{
    memcpy(row->stages[STAGE_GRAD_CAPPED], row->stages[STAGE_GRAD_MASKED], row->problem->keys * sizeof(double));
}

static void make_scaled(const struct attention_row *row)
{
    const double *above = row->stages[STAGE_GRAD_CAPPED], *capped = row->stages[STAGE_CAPPED];
    for (size_t j = 0; j < row->problem->keys; j++) {
        const bool bends = caps(row->problem) && !row->empty && above[j] != 0;
        const double share = bends ? capped[j] / row->problem->softcap : 0;
        row->stages[STAGE_GRAD_SCALED][j] = above[j] * (1 - share * share);
    }
}

static void make_scores(const struct attention_row *row)
{
    for (size_t j = 0; j < row->problem->keys; j++)
        row->stages[STAGE_GRAD_SCORES][j] = row->stages[STAGE_GRAD_SCALED][j] * row->problem->scale;
}

/* --- explained --------------------------------------------------------------------------------------------------- */

/* The row's delta, from weights in `operand` and their gradients in `factor`. */
static double write_delta(struct explanation *e, struct explain_place place)
{
    static const struct gradient_term KINDS = {STAGE_WEIGHTS, STAGE_GRAD_WEIGHTS, STAGE_GRAD_WEIGHTS};
    const struct explain_range keys = {0, e->seen_count, false};
    double delta = 0;
    for (size_t i = 0; i < keys.end; i++)
        delta += e->operand[e->seen[i]] * e->factor[e->seen[i]];
    worked_line_begin_sum(&e->lines);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t next = explain_next(e, keys, i);
        double subtotal = 0;
        explain_key_line(e, EXPLAIN_LINES, place.item, e->seen[i]);
        gradient_write_term(e, &KINDS, e->operand[e->seen[i]], e->factor[e->seen[i]]);
        for (size_t j = i + 1; j < next; j++)
            subtotal += e->operand[e->seen[j]] * e->factor[e->seen[j]];
        explain_gap(e, keys, i, "terms", explain_number(e, STAGE_GRAD_WEIGHTS, subtotal));
    }
    worked_line_end_sum(&e->lines, EXPLAIN_LINES, explain_number(e, STAGE_GRAD_WEIGHTS, delta));
    if (e->problem->mask.sinks != NULL)
        explain_note(e, "(the sink has no value: it adds nothing)");
    return delta;
}

/* weight x (its gradient - delta) */
static void write_difference(struct explanation *e, struct explain_place place, enum stage stage, double delta,
                             size_t key)
{
    const double weight = e->operand[key], above = e->factor[key];
    explain_key_line(e, EXPLAIN_QUOTIENTS, place.item, key);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, weight));
    worked_line_open(&e->lines, WORKED_LINE_SUM, true);
    worked_line_term(&e->lines, explain_number(e, STAGE_GRAD_WEIGHTS, above));
    worked_line_minus(&e->lines, explain_number(e, STAGE_GRAD_WEIGHTS, delta));
    worked_line_close(&e->lines);
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, STAGE_WEIGHTS, weight));
    worked_line_times(&e->lines, explain_number(e, STAGE_GRAD_WEIGHTS, above - delta));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[key]));
    worked_line_end(&e->lines);
}

static void explain_softmax(struct explanation *e, enum stage stage, struct explain_place place)
{
    if (!gradient_begin(e, stage, place, "delta, the sum of weight x gradient"))
        return;
    explain_load(e, STAGE_WEIGHTS, place, e->operand);
    explain_load(e, STAGE_GRAD_WEIGHTS, place, e->factor);
    explain_load_made(e, stage, place, e->made);
    const double delta = write_delta(e, place);
    const struct explain_range keys = gradient_keys(e);
    explain_heading(e, stage, place, "weight x (its gradient - delta)");
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        write_difference(e, place, stage, delta, e->seen[i]);
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

/* Whichever is the first of them; the others keep its numbers, but for the softcap's slope. */
static void explain_through_mask(struct explanation *e, enum stage stage, struct explain_place place)
{
    const bool adds = mask_has_bias(&e->problem->mask);
    if (stage_before(e->problem, stage) == STAGE_GRAD_WEIGHTS)
        explain_softmax(e, stage, place);
    else
        gradient_kept(e, stage, place,
                      adds ? "what is added to a score has no part in its gradient"
                           : "the mask changes no score that is seen");
}

/* capped / softcap, the tanh on the way forward, and the slope there. */
static void explain_slopes(struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum stage before = stage_before(e->problem, stage);
    char softcap[DECIMAL_BYTES], share[EXPLAIN_NUMBER_BYTES];
    decimal_from_double(e->problem->softcap, softcap);
    if (!gradient_begin(e, stage, place, "the tanh, capped / softcap"))
        return;
    const struct explain_range keys = gradient_keys(e);
    explain_load(e, STAGE_CAPPED, place, e->operand);
    explain_load(e, before, place, e->factor);
    explain_load_made(e, stage, place, e->made);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        explain_key_line(e, EXPLAIN_LINES, place.item, e->seen[i]);
        worked_line_term(&e->lines, explain_number(e, STAGE_CAPPED, e->operand[e->seen[i]]));
        worked_line_over(&e->lines, softcap);
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, STAGE_CAPPED, e->operand[e->seen[i]] / e->problem->softcap));
        worked_line_end(&e->lines);
        explain_gap(e, keys, i, "keys", NULL);
    }
    explain_heading(e, stage, place, "gradient x (1 - tanh^2)");
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        const double tangent = e->operand[key] / e->problem->softcap;
        snprintf(share, sizeof share, "%s", explain_number(e, STAGE_CAPPED, tangent));
        explain_key_line(e, EXPLAIN_QUOTIENTS, place.item, key);
        worked_line_term(&e->lines, explain_number(e, (int)before, e->factor[key]));
        worked_line_open(&e->lines, WORKED_LINE_SUM, true);
        worked_line_term(&e->lines, "1");
        worked_line_minus(&e->lines, share);
        worked_line_times(&e->lines, share);
        worked_line_close(&e->lines);
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, (int)before, e->factor[key]));
        worked_line_times(&e->lines, explain_number(e, STAGE_CAPPED, 1 - tangent * tangent));
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[key]));
        worked_line_end(&e->lines);
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

static void explain_scaled(struct explanation *e, enum stage stage, struct explain_place place)
{
    if (caps(e->problem))
        explain_slopes(e, stage, place);
    else
        explain_through_mask(e, stage, place);
}

/* What the scale divides on the way forward it divides on the way back. */
static void explain_scores(struct explanation *e, enum stage stage, struct explain_place place)
{
    char what[EXPLAIN_NUMBER_BYTES];
    const struct scaled_scale scale = scaled_say(e, what, sizeof what);
    if (!gradient_begin(e, stage, place, what))
        return;
    const struct explain_range keys = gradient_keys(e);
    explain_load(e, STAGE_GRAD_SCALED, place, e->operand);
    explain_load_made(e, stage, place, e->made);
    for (size_t i = 0; i < keys.end; i = explain_next(e, keys, i)) {
        const size_t key = e->seen[i];
        explain_key_line(e, EXPLAIN_LINES, place.item, key);
        scaled_write(e, &scale, &(struct scaled_line){STAGE_GRAD_SCALED, (int)stage, e->operand[key], e->made[key]});
        explain_gap(e, keys, i, "keys", NULL);
    }
    gradient_end(e);
}

const struct stage_functions stage_grad_masked = {
    .applies = masks, .formula = formula, .make = make_masked, .explain = explain_softmax};
const struct stage_functions stage_grad_capped = {
    .applies = caps, .formula = formula, .make = make_capped, .explain = explain_through_mask};
const struct stage_functions stage_grad_scaled = {.formula = formula, .make = make_scaled, .explain = explain_scaled};
const struct stage_functions stage_grad_scores = {
    .formula = formula_scores, .make = make_scores, .explain = explain_scores};
