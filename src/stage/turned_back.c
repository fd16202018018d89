#include "stage/turned_back.h"

#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/operand_steps.h"

#include <stdio.h>

static enum projection_id id_of(enum stage stage)
{
    return stage_is_of_keys(stage) ? PROJECTION_KEY : PROJECTION_QUERY;
}

bool turned_back_is_all(const struct problem *problem, enum stage stage)
{
    const bool normed = stage == STAGE_GRAD_NORMED_QUERY || stage == STAGE_GRAD_NORMED_KEY;
    return normed || !operand_is_normed(problem, id_of(stage));
}

/* The pair whose first or second column it is, `which`, before they were turned; SIZE_MAX: it is not turned. */
static size_t pair_of(const struct rope *rope, size_t column, size_t *which)
{
    for (size_t pair = 0; pair < rope->columns / 2; pair++)
        for (*which = 0; *which < 2; ++*which)
            if (rope_pair(rope, pair).from[*which] == column)
                return pair;
    return SIZE_MAX;
}

/* A row of it. */
struct turned_back {
    enum stage from;
    size_t position;
    bool turns;
    char scale[DECIMAL_BYTES]; /* "": there is none */
};

static void write_term(struct explanation *e, const struct turned_back *row, double number, double turn)
{
    worked_line_term(&e->lines, explain_number(e, (int)row->from, number));
    if (row->turns)
        worked_line_times(&e->lines, explain_number(e, (int)row->from, turn));
    if (row->scale[0] != '\0')
        worked_line_times(&e->lines, row->scale);
}

/* a cos + b sin, or b cos - a sin, of the numbers that the pair became. */
static void write_column(struct explanation *e, enum stage stage, struct turned_back row, size_t column)
{
    const struct rope *rope = &e->problem->rope;
    size_t which;
    const size_t pair = row.turns ? pair_of(rope, column, &which) : SIZE_MAX;
    explain_line(e, EXPLAIN_LINES, "column %zu", column + 1);
    row.turns = pair != SIZE_MAX;
    if (row.turns) {
        const struct rope_turn turn = operand_turn(e->problem, row.position, pair);
        const struct rope_pair columns = rope_pair(rope, pair);
        const double other = e->operand[columns.to[!which]];
        write_term(e, &row, e->operand[columns.to[which]], turn.cosine);
        write_term(e, &row, which == 0 ? other : -other, turn.sine);
    } else {
        write_term(e, &row, e->operand[column], 1);
    }
    if (row.turns || row.scale[0] != '\0') {
        worked_line_relation(&e->lines);
        worked_line_term(&e->lines, explain_number(e, (int)stage, e->made[column]));
    } else {
        worked_line_words(&e->lines, ", not turned");
    }
    worked_line_end(&e->lines);
}

void turned_back_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = id_of(stage);
    const bool of_keys = stage_is_of_keys(stage);
    const struct explain_range columns = explain_columns(e, stage);
    struct explain_place of_query = place;
    struct turned_back row = {
        .from = of_keys ? STAGE_GRAD_KEY : STAGE_GRAD_QUERY,
        .position = operand_position(problem, id, place.item, of_keys ? place.row : problem->rows[place.row])};
    char what[64] = "";
    row.turns = operand_is_turned(problem, id) && row.position != SIZE_MAX;
    if (operand_is_scaled(problem, id))
        decimal_from_double(problem->query_scale, row.scale);
    if (of_keys) /* its head is one of key and value */
        of_query.head = place.head * (problem->heads / problem->kv_heads);
    explain_load(e, row.from, of_query, e->operand);
    explain_load_made(e, stage, of_query, e->made);
    if (row.turns)
        snprintf(what, sizeof what, "position %zu, by cosine and sine of the angles", row.position);
    explain_heading(e, stage, place, what);
    for (size_t column = columns.first; column < columns.end; column = explain_next(e, columns, column)) {
        write_column(e, stage, row, column);
        explain_gap(e, columns, column, "columns", NULL);
    }
}
