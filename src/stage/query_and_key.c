/* query and key as they meet in the scores: the projection, or what norm, rotation and scale make of it. The rotation's
 * equation and source are in model/rope.h. */
#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/normed.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <stdio.h>

/* --- in words ---------------------------------------------------------------------------------------------------- */

static void add_rotation(const struct problem *problem, struct text *text)
{
    const struct rope *rope = &problem->rope;
    text_add(text, ", turned by position in %s",
             rope->kind == ROPE_HALF    ? "halves"
             : rope->kind == ROPE_PAIRS ? "pairs"
                                        : "pairs, written as halves");
    if (rope->columns < rope->width)
        text_add(text, ", %s %zu columns", rope->first > 0 ? "the last" : "the first", rope->columns);
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    const enum projection_id id = projection_of(stage);
    char scale[DECIMAL_BYTES];
    if (!operand_has_steps(problem, id)) {
        projection_formula(problem, stage, text);
        return;
    }
    if (!operand_has_last_step(problem, id)) {
        normed_formula(problem, stage, stage_name(operand_before_last_step(problem, id)), text);
        return;
    }
    text_add(text, "%s", stage_name(operand_before_last_step(problem, id)));
    if (operand_is_turned(problem, id))
        add_rotation(problem, text);
    decimal_from_double(problem->query_scale, scale);
    if (operand_is_scaled(problem, id))
        text_add(text, "%s x %s", operand_is_turned(problem, id) ? "," : "", scale);
    if (problem->past > 0 && id == PROJECTION_KEY)
        text_add(text, "; the past as it is");
}

/* --- in numbers -------------------------------------------------------------------------------------------------- */

/* One row of query or key whose columns are turned, scaled, or both. */
struct turning {
    enum stage stage, from;
    enum projection_id id;
    size_t position;
    double scale; /* 1 where there is none */
};

/* "columns 1, 3   2 x 0.0100 = 0.0200, cosine 0.9998, sine 0.0200" */
static void write_pair(struct explanation *e, const struct turning *turning, size_t pair)
{
    const struct rope_turn turn = operand_turn(e->problem, turning->position, pair);
    const struct rope_pair columns = rope_pair(&e->problem->rope, pair);
    const double frequency = e->problem->rope.frequencies[pair];
    char words[WORKED_LINE_CELL_BYTES], number[EXPLAIN_NUMBER_BYTES];
    explain_line(e, EXPLAIN_LINES, "columns %zu, %zu", columns.from[0] + 1, columns.from[1] + 1);
    snprintf(words, sizeof words, "%zu", turning->position);
    worked_line_term(&e->lines, words);
    worked_line_times(&e->lines,
                      text_number(number, sizeof number, e->precision, text_wants_exponent(frequency), frequency));
    worked_line_relation(&e->lines);
    worked_line_term(&e->lines,
                     text_number(number, sizeof number, e->precision, text_wants_exponent(turn.angle), turn.angle));
    struct text sides = text_begin(words, sizeof words);
    text_add(&sides, ", cosine %s", text_number(number, sizeof number, e->precision, false, turn.cosine));
    text_add(&sides, ", sine %s", text_number(number, sizeof number, e->precision, false, turn.sine));
    worked_line_words(&e->lines, words);
    worked_line_end(&e->lines);
}

static void write_scale(struct explanation *e, const struct turning *turning)
{
    char scale[DECIMAL_BYTES];
    decimal_from_double(turning->scale, scale);
    if (turning->scale != 1)
        worked_line_times(&e->lines, scale);
}

/* a cos - b sin, or b cos + a sin. */
static void write_turned(struct explanation *e, const struct turning *turning, size_t pair, size_t which)
{
    const struct rope_pair columns = rope_pair(&e->problem->rope, pair);
    const struct rope_turn turn = operand_turn(e->problem, turning->position, pair);
    const double own = e->operand[columns.from[which]], other = e->operand[columns.from[!which]];
    worked_line_term(&e->lines, explain_number(e, (int)turning->from, own));
    worked_line_times(&e->lines, explain_number(e, (int)turning->from, turn.cosine));
    write_scale(e, turning);
    worked_line_term(&e->lines, explain_number(e, (int)turning->from, which == 0 ? -other : other));
    worked_line_times(&e->lines, explain_number(e, (int)turning->from, turn.sine));
    write_scale(e, turning);
}

static void write_column(struct explanation *e, const struct turning *turning, size_t column)
{
    size_t which;
    const bool turns = operand_is_turned(e->problem, turning->id) && turning->position != SIZE_MAX;
    const size_t pair = turns ? rope_pair_of(&e->problem->rope, column, &which) : SIZE_MAX;
    explain_line(e, EXPLAIN_QUOTIENTS, "column %zu", column + 1);
    if (pair != SIZE_MAX) {
        write_turned(e, turning, pair, which);
        worked_line_relation(&e->lines);
    } else if (turning->scale != 1) {
        worked_line_term(&e->lines, explain_number(e, (int)turning->from, e->operand[column]));
        write_scale(e, turning);
        worked_line_relation(&e->lines);
    }
    worked_line_term(&e->lines, explain_number(e, (int)turning->stage, e->made[column]));
    if (pair == SIZE_MAX && turning->scale == 1)
        worked_line_words(&e->lines, ", not turned");
    worked_line_end(&e->lines);
}

/* The pairs that the explained columns are of, each once. */
static void write_pairs(struct explanation *e, const struct turning *turning, struct explain_range columns)
{
    const size_t all = e->problem->rope.columns / 2;
    if (!operand_is_turned(e->problem, turning->id) || turning->position == SIZE_MAX)
        return;
    if (columns.end - columns.first == 1) {
        size_t which;
        const size_t pair = rope_pair_of(&e->problem->rope, columns.first, &which);
        if (pair != SIZE_MAX)
            write_pair(e, turning, pair);
        return;
    }
    const struct explain_range pairs = {0, all, false};
    for (size_t pair = 0; pair < all; pair = explain_next(e, pairs, pair)) {
        write_pair(e, turning, pair);
        explain_gap(e, pairs, pair, "pairs", NULL);
    }
}

/* "position 2, angle = position x frequency" */
static void say_angle(const struct problem *problem, const struct turning *turning, char *what, size_t size)
{
    struct text text = text_begin(what, size);
    if (turning->position == SIZE_MAX) {
        text_add(&text, "of the past, as it is");
    } else if (operand_is_turned(problem, turning->id)) {
        text_add(&text, "position %zu, angle = position x frequency", turning->position);
        if (problem->rope.attention != 1)
            text_add(&text, "; cosine, sine x %.6g", problem->rope.attention);
    }
}

static void explain_turned(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = projection_of(stage);
    const bool of_keys = stage_is_of_keys(stage);
    const struct explain_range columns = explain_columns(e, stage);
    const struct turning turning = {
        .stage = stage,
        .from = operand_before_last_step(problem, id),
        .id = id,
        .position = operand_position(problem, id, place.item, of_keys ? place.row : problem->rows[place.row]),
        .scale = operand_is_scaled(problem, id) ? problem->query_scale : 1,
    };
    struct explain_place of_query = place;
    char what[WORKED_LINE_LABEL_BYTES];
    if (of_keys) /* its head is one of key and value */
        of_query.head = place.head * (problem->heads / problem->kv_heads);
    explain_load(e, turning.from, of_query, e->operand);
    explain_load(e, stage, of_query, e->made);
    say_angle(problem, &turning, what, sizeof what);
    explain_heading(e, stage, place, what);
    write_pairs(e, &turning, columns);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        write_column(e, &turning, column);
        explain_gap(e, columns, column, "columns", NULL);
    }
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum projection_id id = projection_of(stage);
    if (!operand_has_steps(e->problem, id))
        projection_explain(e, stage, place);
    else if (operand_has_last_step(e->problem, id))
        explain_turned(e, stage, place);
    else
        normed_explain_heads(e, stage, place);
}

const struct stage_functions stage_query = {.formula = formula, .explain = explain};
const struct stage_functions stage_key = {.formula = formula, .explain = explain};
