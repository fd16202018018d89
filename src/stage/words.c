/* SPDX-License-Identifier: MIT */
/* A model of words around the heads: positions and their sum with the inputs; residual, logits and probabilities. It
 * has no norm and no MLP, so from the weights on it is linear up to the logits. */
#include "stage/words.h"

#include "stage/projections.h"
#include "stage/stage.h"

#include <math.h>

/* --- before the heads --------------------------------------------------------------------------------------------- */

static bool has_positions(const struct problem *problem)
{
    return problem->given.positions.rank > 0;
}

static void formula_of_positions(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    const bool learned = problem->given.positions.data == problem->parameters.words.positions.data;
    text_add(text, learned ? "rows of position_embedding" : "sin and cos of position / 10000^(2i / d)");
}

/* --- from the output to the next word ----------------------------------------------------------------------------- */

static bool has_unembedding(const struct problem *problem)
{
    return problem->size.words > 0;
}

static void formula_of_residual(const struct problem *problem, enum stage stage, struct text *text)
{
    text_add(text, "%s + %s", has_positions(problem) ? "embedded" : "inputs", stage_name(stage_before(problem, stage)));
}

static void formula_of_logits(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    const bool biased = problem->parameters.words.unembedding.bias.rank > 0;
    text_add(text, "residual . unembedding%s", biased ? " + unembedding_bias" : "");
}

static void make_residual(const struct words_row *words, const double *output, double *residual)
{
    const size_t d_in = words->problem->size.d_in;
    tensor_load(&words->problem->given.inputs, words->token * d_in, d_in, residual);
    for (size_t i = 0; i < d_in; i++)
        residual[i] += output[i];
}

static void make_logits(const struct words_row *words, const double *residual, double *logits)
{
    const struct problem_sizes *size = &words->problem->size;
    projection_row(words->problem, residual, words->unembedding, words->bias, logits, size->d_in, size->words);
}

static void make_probabilities(const struct words_row *words, const double *logits, double *probabilities)
{
    const size_t count = words->problem->size.words;
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, logits[i]);
    for (size_t i = 0; i < count; i++)
        sum += probabilities[i] = exp(logits[i] - largest);
    for (size_t i = 0; i < count; i++)
        probabilities[i] /= sum;
}

void words_row_make(const struct words_row *words, enum stage stage, const double *before, double *row)
{
    const struct problem *problem = words->problem;
    if (stage == STAGE_RESIDUAL)
        make_residual(words, before, row);
    else if (stage == STAGE_LOGITS)
        make_logits(words, before, row);
    else
        make_probabilities(words, before, row);
    dtype_round(problem_stage_dtype(problem, stage), row, problem_columns(problem, stage));
}

#define NO_POSITIONS "nothing is added to the inputs; type --add-positions sinusoidal, or learned"
#define NO_UNEMBEDDING "the next word needs an unembedding; give an input with one, and a vocabulary"

const struct stage_functions stage_positions = {
    .applies = has_positions, .lack = NO_POSITIONS, .formula = formula_of_positions};
const struct stage_functions stage_embedded = {
    .applies = has_positions, .lack = NO_POSITIONS, .formula_words = "inputs + positions"};
const struct stage_functions stage_residual = {
    .applies = has_unembedding, .lack = NO_UNEMBEDDING, .formula = formula_of_residual};
const struct stage_functions stage_logits = {
    .applies = has_unembedding, .lack = NO_UNEMBEDDING, .formula = formula_of_logits};
const struct stage_functions stage_probabilities = {
    .applies = has_unembedding, .lack = NO_UNEMBEDDING, .formula_words = "softmax(logits)"};
