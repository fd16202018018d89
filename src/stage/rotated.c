/* SPDX-License-Identifier: MIT */
#include "stage/explained.h"

#include "base/decimal.h"
#include "explain/terms.h"
#include "model/stage_id.h"
#include "stage/operand_steps.h"

#include <math.h>
#include <stdio.h>

/* A row of query or key, or its gradient, with its columns rotated, scaled, or both. */
struct rotating {
    int from; /* the source stage */
    size_t position;
    bool back, rotates;
    enum projection_id id;
    size_t first;              /* column of all heads */
    char scale[DECIMAL_BYTES]; /* "": none */
    char numbers[3][EXPLAIN_NUMBER_BYTES];
};

static enum projection_id id_of(enum stage stage)
{
    return stage_is_of_keys(stage) ? PROJECTION_KEY : PROJECTION_QUERY;
}

bool rotated_back_is_all(const struct problem *problem, enum stage stage)
{
    const bool normed = stage == STAGE_GRAD_NORMED_QUERY || stage == STAGE_GRAD_NORMED_KEY;
    return (normed && !operand_norm_is_last(problem, id_of(stage))) || !operand_is_normed(problem, id_of(stage));
}

/* "columns 1, 3   2 x 0.0100 = 0.0200, cosine 0.9998, sine 0.0200" */
static bool prepare_pair(struct explanation *e, struct explain_lines *line)
{
    struct rotating *rotating = line->context;
    const struct rope_turn turn = operand_turn(e->problem, rotating->position, line->index);
    const struct rope_pair columns = rope_pair(&e->problem->rotation.rope, line->index);
    const struct rope *rope = &e->problem->rotation.rope;
    const double frequency = rope->frequencies[line->index],
                 at = rope_coordinate(rope, rotating->position, line->index);
    const size_t axis = rope_axis(&rope->axes, rope->columns / 2, line->index).axis;
    char cosine[EXPLAIN_NUMBER_BYTES], sine[EXPLAIN_NUMBER_BYTES];
    snprintf(line->label, sizeof line->label, "columns %zu, %zu%s%.1s", columns.from[0] + 1, columns.from[1] + 1,
             rope->coordinates != NULL ? " by " : "", rope->coordinates != NULL ? &ROPE_AXIS_LETTERS[axis] : "");
    snprintf(rotating->numbers[0], EXPLAIN_NUMBER_BYTES, "%.*g", at == floor(at) ? 10 : 6, at);
    text_number(rotating->numbers[1], EXPLAIN_NUMBER_BYTES, e->precision, text_wants_exponent(frequency), frequency);
    text_number(rotating->numbers[2], EXPLAIN_NUMBER_BYTES, e->precision, text_wants_exponent(fabs(turn.angle)),
                turn.angle);
    snprintf(line->words, sizeof line->words, ", cosine %s, sine %s",
             text_number(cosine, sizeof cosine, e->precision, false, turn.cosine),
             text_number(sine, sizeof sine, e->precision, false, turn.sine));
    return true;
}

/* Writes the pairs of the explained columns, each once. */
static void write_pairs(struct explanation *e, enum stage stage, struct explain_place place, struct rotating *rotating)
{
    const struct explain_range columns = explain_columns(e, stage);
    struct explain_lines lines = {.over = EXPLAIN_RANGE,
                                  .range = {0, e->problem->rotation.rope.columns / 2, false},
                                  .what = "pairs",
                                  .terms = "a x b = c",
                                  .given = {explain_text(rotating->numbers[0], 0),
                                            explain_text(rotating->numbers[1], 0),
                                            explain_text(rotating->numbers[2], 0)},
                                  .prepare = prepare_pair,
                                  .context = rotating};
    size_t which;
    if (columns.end - columns.first == 1) {
        lines.range.first = rope_pair_of(&e->problem->rotation.rope, rotating->back, columns.first, &which);
        lines.range.end = memory_smaller(lines.range.end, lines.range.first + 1);
    }
    explain_write(e, stage, place, NULL, &lines);
}

/* Explains a cos - b sin, or b cos + a sin, of the pair in stage `from`; with the signs of sin exchanged in the
 * backward pass. */
static bool prepare_column(struct explanation *e, struct explain_lines *line)
{
    struct rotating *rotating = line->context;
    size_t which;
    const struct rope *rope = &e->problem->rotation.rope;
    const size_t pair = rotating->rotates ? rope_pair_of(rope, rotating->back, line->index, &which) : SIZE_MAX;
    const bool scales = rotating->scale[0] != '\0';
    if (operand_norm_is_last(e->problem, rotating->id)) {
        const double factor =
            operand_factor(e->problem, rotating->id, rotating->position, rotating->first + line->index);
        text_number(rotating->scale, sizeof rotating->scale, e->precision, text_wants_exponent(factor), factor);
    }
    if (scales)
        line->given[4] = explain_text(rotating->scale, 0);
    if (pair == SIZE_MAX) {
        line->given[0] = explain_numbers(rotating->from, e->operand);
        line->terms = scales ? "a x e = made" : rotating->back ? "a" : "made";
        snprintf(line->words, sizeof line->words, "%s", scales ? "" : ", not rotated");
        return true;
    }
    const struct rope_turn turn = operand_turn(e->problem, rotating->position, pair);
    const struct rope_pair columns = rope_pair(rope, pair);
    const size_t *read = rotating->back ? columns.to : columns.from;
    const double other = e->operand[read[!which]];
    line->given[0] = explain_value(rotating->from, e->operand[read[which]]);
    line->given[1] = explain_value(rotating->from, (which == 0) != rotating->back ? -other : other);
    line->given[2] = explain_value(rotating->from, turn.cosine);
    line->given[3] = explain_value(rotating->from, turn.sine);
    return true;
}

/* "position 2, angle = position x frequency" */
static void say_angle(const struct problem *problem, const struct rotating *rotating, char *heading, size_t size)
{
    const struct query_growth *growth = &problem->scaling.growth;
    struct text text = text_begin(heading, size);
    if (rotating->rotates && problem->rotation.rope.coordinates == NULL)
        text_add(&text, "position %zu, ", rotating->position);
    if (rotating->rotates)
        text_add(&text, "%s", rotating->back ? "by cosine and sine of the angles" : "angle = position x frequency");
    else if (rotating->position == SIZE_MAX && !rotating->back)
        text_add(&text, "%s", problem->rotation.past > 0 ? "from the past, unchanged" : "not rotated");
    if (rotating->rotates && !rotating->back && problem->rotation.rope.attention != 1)
        text_add(&text, "; cosine, sine x %.6g", problem->rotation.rope.attention);
    if (rotating->id == PROJECTION_QUERY && growth->by != 0)
        text_add(&text, "%sgrowth 1 + %g ln(1 + floor(%zu / %zu))", rotating->rotates ? "; " : "", growth->by,
                 rotating->position + growth->ahead, growth->every);
}

void rotated_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = id_of(stage);
    const bool of_keys = stage_is_of_keys(stage);
    struct rotating rotating = {
        .from = (int)(!e->back  ? operand_before_last_step(problem, id)
                      : of_keys ? STAGE_GRAD_KEY
                                : STAGE_GRAD_QUERY),
        .position = operand_position(problem, id, place.item, of_keys ? place.row : problem->chosen.rows[place.row]),
        .back = e->back,
        .id = id,
        .first = place.head * problem->size.d_head};
    struct explain_place of_query = place;
    char heading[WORKED_LINE_LABEL_BYTES];
    rotating.rotates = operand_is_rotated(problem, id) && rotating.position != SIZE_MAX;
    const double factor = operand_factor(problem, id, rotating.position, rotating.first);
    if (operand_is_scaled(problem, id) && (e->back || factor != 1 || operand_norm_is_last(problem, id)))
        decimal_from_double(factor, rotating.scale);
    if (id == PROJECTION_QUERY && problem->scaling.growth.by != 0)
        text_number(rotating.scale, sizeof rotating.scale, e->precision, text_wants_exponent(factor), factor);
    say_angle(problem, &rotating, heading, sizeof heading);
    if (of_keys) /* its head is a key head */
        of_query.head *= problem->size.heads / problem->size.kv_heads;
    explain_load(e, (enum stage)rotating.from, of_query, e->operand);
    explain_heading(e, stage, place, heading);
    if (rotating.rotates && !e->back)
        write_pairs(e, stage, place, &rotating);
    explain_write(e, stage, place, NULL,
                  &(struct explain_lines){.over = EXPLAIN_COLUMNS,
                                          .group = e->back ? EXPLAIN_LINES : EXPLAIN_QUOTIENTS,
                                          .terms = "a x c x e + b x d x e = made",
                                          .prepare = prepare_column,
                                          .context = &rotating});
}
