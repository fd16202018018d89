#include "stage/wrong.h"

#include "model/stage_id.h"
#include "stage/stage.h"

#include <stdio.h>

/* Whether the row before it has a number for each of its own. */
static bool goes_on_from(enum stage before, enum stage stage)
{
    return stage_is_square(before) && stage_is_square(stage);
}

static void write_number(struct explanation *e, enum stage before, enum stage stage, size_t index)
{
    char number[EXPLAIN_NUMBER_BYTES];
    snprintf(number, sizeof number, "%s", explain_number(e, (int)stage, e->made[index]));
    if (goes_on_from(before, stage)) {
        worked_line_term(&e->lines, explain_number(e, (int)before, e->operand[index]));
        worked_line_words(&e->lines, e->operand[index] == e->made[index] ? ", as it was" : " becomes ");
        if (e->operand[index] != e->made[index])
            worked_line_words(&e->lines, number);
    } else {
        worked_line_term(&e->lines, number);
    }
    worked_line_end(&e->lines);
}

void explain_wrong(struct explanation *e, enum stage stage, struct explain_place place)
{
    const enum stage before = stage_before(e->problem, stage);
    const bool square = stage_is_square(stage), one = !stage_has_columns(stage);
    const bool of_heads = stage_is_of_mask(stage);
    const struct explain_range all = one        ? (struct explain_range){place.row, place.row + 1, false}
                                     : of_heads ? (struct explain_range){place.head, place.head + 1, false}
                                     : square   ? explain_keys(e)
                                                : explain_columns(e, stage);
    if (goes_on_from(before, stage))
        explain_load(e, before, place, e->operand);
    struct explain_place of_query = place;
    if (stage_is_of_keys(stage)) /* its head is one of key and value */
        of_query.head *= e->problem->heads / e->problem->kv_heads;
    explain_load_made(e, stage, of_query, e->made);
    explain_heading(e, stage, place, "a mistake on purpose");
    for (size_t i = all.first; i < all.end; i = explain_next(e, all, i)) {
        if (square)
            explain_key_line(e, EXPLAIN_LINES, place.item, i);
        else if (one)
            explain_line(e, EXPLAIN_LINES, "%s", stage_name(stage));
        else if (of_heads)
            explain_line(e, EXPLAIN_LINES, "head %zu", i + 1);
        else
            explain_line(e, EXPLAIN_LINES, "column %zu", i + 1);
        write_number(e, before, stage, i);
        explain_gap(e, all, i, square ? "keys" : "columns", NULL);
    }
    if (e->problem->has_cell)
        explain_note(e, "(the mistake may also use rows that are not shown here)");
}
