#include "stage/wrong.h"

#include "stage/stage.h"

#include <stdio.h>

/* What a number has become. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const bool one = !stage_has_columns((enum stage)line->operands[1].kind);
    snprintf(line->label, sizeof line->label, one ? "lse" : "head %zu", line->index + 1);
    if (line->operands[0].from == EXPLAIN_ABSENT)
        line->terms = "b";
    else if (e->operand[line->index] == e->factor[line->index])
        snprintf(line->words, sizeof line->words, ", as it was");
    else
        snprintf(line->words, sizeof line->words, " becomes %s",
                 explain_number(e, line->operands[1].kind, e->factor[line->index]));
    return true;
}

void explain_wrong(struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum stage before = stage_before(e->problem, stage);
    const bool square = stage_is_square(stage), of_heads = STAGES[stage].columns == STAGE_COLUMNS_MASK;
    const size_t index = of_heads ? place.head : place.row;
    explain_write(
        e, stage, place,
        &(struct explain_lines){
            .heading = "a mistake on purpose",
            .over = square                                  ? EXPLAIN_KEYS
                    : of_heads || !stage_has_columns(stage) ? EXPLAIN_RANGE
                                                            : EXPLAIN_COLUMNS,
            .range = {index, index + 1, false},
            .terms = "a",
            .operands = {{square && stage_is_square(before) ? EXPLAIN_ROW : EXPLAIN_ABSENT, .kind = (int)before},
                         {EXPLAIN_MADE, .kind = (int)stage}},
            .prepare = prepare});
    if (e->problem->has_cell)
        explain_note(e, "(the mistake may also use rows that are not shown here)");
}
