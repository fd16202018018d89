#include "stage/wrong.h"

#include "stage/stage.h"

#include <stdio.h>

/* What a number has become, where the stage before has one for it. */
static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const enum stage stage = line->stage;
    if (stage_has_columns(stage))
        snprintf(line->label, sizeof line->label, "head %zu", line->index + 1);
    else
        snprintf(line->label, sizeof line->label, "%s", stage_name(stage));
    if (line->over != EXPLAIN_KEYS || !stage_is_square(e->before))
        return true;
    const double before = explain_row(e, e->before, line->place, false)[line->index];
    const double made = explain_row(e, stage, line->place, true)[line->index];
    line->terms = "before";
    if (before == made)
        snprintf(line->words, sizeof line->words, ", as it was");
    else
        snprintf(line->words, sizeof line->words, " becomes %s", explain_number(e, (int)stage, made));
    return true;
}

void explain_wrong(struct explanation *e, enum stage stage, struct explain_place place)
{
    const bool of_heads = stage_is_of_mask(stage);
    const size_t index = of_heads ? place.head : place.row;
    explain_write(e, stage, place, "a mistake on purpose",
                  &(struct explain_lines){.over = stage_is_square(stage)                  ? EXPLAIN_KEYS
                                                  : of_heads || !stage_has_columns(stage) ? EXPLAIN_RANGE
                                                                                          : EXPLAIN_COLUMNS,
                                          .range = {index, index + 1, false},
                                          .terms = "made",
                                          .prepare = prepare});
    if (e->problem->has_cell)
        explain_note(e, "(the mistake may also use rows that are not shown here)");
}
