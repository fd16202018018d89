/* SPDX-License-Identifier: MIT */
/* A model of words around the heads: positions and their sum with the inputs; residual, logits and probabilities. It
 * has no norm and no MLP, so from the weights on it is linear up to the logits. */
#include "stage/words.h"

#include "stage/explained.h"
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
    text_add(text, problem->given.learns_positions ? "rows of position_embedding"
                                                   : "sin and cos of position / 10000^(2i / d)");
}

/* --- from the output to the next word ----------------------------------------------------------------------------- */

bool words_follow(const struct problem *problem)
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
    if (words->inputs != NULL)
        tensor_load(words->inputs, words->token * d_in, d_in, residual);
    for (size_t i = 0; i < d_in; i++)
        residual[i] = words->inputs != NULL ? residual[i] + output[i] : output[i];
}

/* Writes exp(logit - largest) of each word, (V); returns their sum. */
static double exponentials(const double *logits, size_t count, double *largest, double *powers)
{
    double sum = 0;
    *largest = -INFINITY;
    for (size_t i = 0; i < count; i++)
        *largest = fmax(*largest, logits[i]);
    for (size_t i = 0; i < count; i++)
        sum += powers[i] = exp(logits[i] - *largest);
    return sum;
}

static void make_probabilities(const struct words_row *words, const double *logits, double *probabilities)
{
    const size_t count = words->problem->size.words;
    double largest;
    const double sum = exponentials(logits, count, &largest, probabilities);
    for (size_t i = 0; i < count; i++)
        probabilities[i] /= sum;
}

void words_row_make(const struct words_row *words, enum stage stage, const double *before, double *row)
{
    const struct problem *problem = words->problem;
    if (stage == STAGE_RESIDUAL)
        make_residual(words, before, row);
    else if (stage == STAGE_LOGITS)
        projection_row(problem, before, words->unembedding, words->bias, row, problem->size.d_in, problem->size.words);
    else
        make_probabilities(words, before, row);
    dtype_round(problem_stage_dtype(problem, stage), row, problem_columns(problem, stage));
}

static void explain_embedded(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const size_t d_in = problem->size.d_in, token = problem->chosen.rows[place.row];
    tensor_load(&problem->given.bare, (place.item * problem->size.queries + token) * d_in, d_in, e->operand);
    explain_write(e, stage, place, "",
                  &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                          .terms = "a + positions = made",
                                          .given = {explain_numbers(STAGE_INPUTS, e->operand)}});
}

static void explain_residual(struct explanation *e, enum stage stage, struct explain_place place)
{
    projection_load_inputs(e, place.item, e->problem->chosen.rows[place.row]);
    explain_write(e, stage, place, "",
                  &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                          .terms = "a + before = made",
                                          .given = {explain_numbers(STAGE_INPUTS, e->operand)}});
}

static void name_word(const struct explanation *e, struct explain_lines *line)
{
    const char **words = e->problem->labels.words.texts;
    if (words != NULL)
        text_shown(words[line->index], EXPLAIN_LABEL_COLUMNS, line->label, sizeof line->label);
}

static bool prepare_logit(struct explanation *e, struct explain_lines *line)
{
    name_word(e, line);
    return explain_prepare_projected(e, line);
}

/* The parts of a logit, which is linear in the residual; the heads come after FIRST_HEAD. */
enum { OF_INPUTS, OF_POSITIONS, FIRST_HEAD };

/* Loads what a unit of each column of the residual adds to the logit, (d_in). */
static void load_direction(const struct explanation *e, double *direction)
{
    explain_load_weight(&e->problem->parameters.words.unembedding, e->problem->chosen.cell.column, direction);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* What the value of each allowed key of the head adds to the logit at a weight of 1, (Tk), into e->factor; lists the
 * keys. Returns the sum with their weights. */
static double load_shares(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const size_t d = problem->size.d_value, d_in = problem->size.d_in;
    double sum = 0;
    load_direction(e, e->factor);
    for (size_t k = 0; k < d; k++) {
        e->made[k] = e->factor[place.head * d + k];
        if (problem->plan.has_out) {
            gradient_load_row(&problem->parameters.out, place.head * d + k, d_in, e->operand);
            e->made[k] = dot(e->operand, e->factor, d_in);
        }
    }
    for (size_t k = 0; k < d; k++)
        e->made[k] *= problem_gate(problem, place.item * problem->size.queries + problem->chosen.rows[place.row],
                                   place.head * d + k);
    explain_list_weighed(e, place);
    for (size_t i = 0; i < e->listed_count; i++) {
        const size_t key = e->listed[i];
        const double *weights = explain_row(e, stage_before(problem, STAGE_CONTEXT), place, false);
        explain_load(e, STAGE_VALUE, (struct explain_place){place.item, place.head, key}, e->operand);
        e->factor[key] = dot(e->operand, e->made, d);
        sum += weights[key] * e->factor[key];
    }
    return problem_leaves_out(problem, place.head) ? 0 : sum;
}

static bool prepare_part(struct explanation *e, struct explain_lines *line)
{
    const struct problem *problem = e->problem;
    const struct projection *out = &problem->parameters.out, *unembedding = &problem->parameters.words.unembedding;
    const size_t d_in = problem->size.d_in, heads = problem->size.heads, part = line->index;
    const size_t token = problem->chosen.rows[line->place.row];
    const struct tensor *rows = part == OF_INPUTS            ? &problem->given.bare
                                : part == OF_POSITIONS       ? &problem->given.positions
                                : part == FIRST_HEAD + heads ? &out->bias
                                                             : NULL;
    double share = 0;
    _Static_assert(sizeof line->label >= PROBLEM_HEAD_BYTES, "a label has room for the name of a head");
    if (part > FIRST_HEAD + heads) {
        snprintf(line->label, sizeof line->label, "unembedding_bias");
        share = explain_load_bias(unembedding, problem->chosen.cell.column);
    } else if (rows == NULL) {
        problem_head_text(&problem->labels.heads, part - FIRST_HEAD, line->label);
        share = load_shares(e, (struct explain_place){line->place.item, part - FIRST_HEAD, line->place.row});
    } else if (rows->rank > 0) {
        const size_t row = part == OF_INPUTS      ? line->place.item * problem->size.queries + token
                           : part == OF_POSITIONS ? token
                                                  : 0;
        snprintf(line->label, sizeof line->label, "%s",
                 part == OF_INPUTS      ? "inputs"
                 : part == OF_POSITIONS ? "positions"
                                        : "out_proj.bias");
        tensor_load(rows, row * d_in, d_in, e->operand);
        load_direction(e, e->factor);
        share = dot(e->operand, e->factor, d_in);
    }
    line->given[0] = explain_value((int)line->stage, share);
    return rows == NULL || rows->rank > 0;
}

/* Sorts the listed keys by what they add, the largest first. */
static void sort_listed(struct explanation *e, const double *weights)
{
    for (size_t i = 1; i < e->listed_count; i++) {
        const size_t key = e->listed[i];
        size_t to = i;
        for (; to > 0 && weights[e->listed[to - 1]] * e->factor[e->listed[to - 1]] < weights[key] * e->factor[key];
             to--)
            e->listed[to] = e->listed[to - 1];
        e->listed[to] = key;
    }
}

/* A logit as a sum of its parts, then what each head brings from each token. */
static void explain_logit(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const bool biased = problem->parameters.words.unembedding.bias.rank > 0, drops = problem->drop.share > 0;
    const char *const word =
        problem->labels.words.texts != NULL ? problem->labels.words.texts[problem->chosen.cell.column] : "";
    char heading[128];
    snprintf(heading, sizeof heading, "what each part of the residual adds%s%.60s", word[0] != '\0' ? " to " : "",
             word);
    explain_write_sum(e, stage, place, heading,
                      &(struct explain_lines){.over = EXPLAIN_RANGE,
                                              .range = {0, FIRST_HEAD + problem->size.heads + 1 + biased, false},
                                              .what = "parts",
                                              .terms = "a",
                                              .prepare = prepare_part},
                      explain_row(e, stage, place, true)[problem->chosen.cell.column]);
    for (size_t head = 0; head < problem->size.heads; head++) {
        if (problem_leaves_out(problem, head))
            continue;
        const struct explain_place of_head = {place.item, head, place.row};
        const double sum = load_shares(e, of_head);
        sort_listed(e, explain_row(e, stage_before(problem, STAGE_CONTEXT), of_head, false));
        snprintf(heading, sizeof heading, "head %zu: weight x what the token's value adds", head + 1);
        explain_heading(e, stage, place, heading);
        explain_write_sum(e, stage, of_head, NULL,
                          &(struct explain_lines){.over = EXPLAIN_LISTED,
                                                  .group = EXPLAIN_QUOTIENTS,
                                                  .terms = drops ? "dropped x a = [dropped x a]made"
                                                                 : "weights x a = [weights x a]made",
                                                  .given = {explain_numbers((int)stage, e->factor)}},
                          sum);
    }
}

static void explain_logits(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    if (problem->chosen.has_cell && problem->mistake.wrong == 0) { /* else the parts do not add up to it */
        explain_logit(e, stage, place);
        return;
    }
    explain_load(e, STAGE_RESIDUAL, place, e->operand);
    explain_projected(e, stage, place, "",
                      &(struct explain_projection){.projection = &problem->parameters.words.unembedding,
                                                   .d_in = problem->size.d_in,
                                                   .weight_kind = EXPLAIN_WEIGHTS + PROJECTION_COUNT,
                                                   .x_kind = STAGE_RESIDUAL},
                      prepare_logit);
}

static bool prepare_word(struct explanation *e, struct explain_lines *line)
{
    name_word(e, line);
    return true;
}

static void explain_probabilities(struct explanation *e, enum stage stage, struct explain_place place)
{
    double largest;
    char heading[128];
    explain_load(e, STAGE_LOGITS, place, e->operand);
    const double sum = exponentials(e->operand, e->problem->size.words, &largest, e->factor);
    explain_write(
        e, stage, place, "exp(logit - largest)",
        &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                .terms = "exp(logits - a) = b",
                                .given = {explain_value(STAGE_LOGITS, largest), explain_numbers((int)stage, e->factor)},
                                .prepare = prepare_word});
    snprintf(heading, sizeof heading, "divided by the sum of all, %s", explain_number(e, (int)stage, sum));
    explain_write(
        e, stage, place, heading,
        &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                .group = EXPLAIN_QUOTIENTS,
                                .terms = "a / b = made",
                                .given = {explain_numbers((int)stage, e->factor), explain_value((int)stage, sum)},
                                .prepare = prepare_word});
}

#define NO_POSITIONS "nothing is added to the inputs; type --add-positions sinusoidal, or learned"
#define NO_UNEMBEDDING "the next word needs an unembedding; give an input with one, and a vocabulary"

const struct stage_functions stage_positions = {
    .applies = has_positions, .lack = NO_POSITIONS, .formula = formula_of_positions};
const struct stage_functions stage_embedded = {
    .applies = has_positions, .lack = NO_POSITIONS, .formula_words = "inputs + positions", .explain = explain_embedded};
const struct stage_functions stage_residual = {
    .applies = words_follow, .lack = NO_UNEMBEDDING, .formula = formula_of_residual, .explain = explain_residual};
const struct stage_functions stage_logits = {
    .applies = words_follow, .lack = NO_UNEMBEDDING, .formula = formula_of_logits, .explain = explain_logits};
const struct stage_functions stage_probabilities = {.applies = words_follow,
                                                    .lack = NO_UNEMBEDDING,
                                                    .formula_words = "softmax(logits)",
                                                    .explain = explain_probabilities};
