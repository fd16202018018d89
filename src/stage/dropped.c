/* SPDX-License-Identifier: MIT */
/* dropped = weights / (1 - p) where kept, else 0: Srivastava et al. 2014, "Dropout", section 10 (inverted), as
 * torch.nn.functional.dropout has it. */
#include "base/decimal.h"
#include "model/stage_id.h"
#include "stage/explained.h"
#include "stage/stage.h"

#include <stdio.h>
#include <string.h>

static bool applies(const struct problem *problem)
{
    return problem->drop.share > 0;
}

static void formula(const struct problem *problem, enum stage stage, struct text *text)
{
    (void)stage;
    text_add(text, "weights / (1 - %s) where kept, else 0",
             decimal_text(problem->drop.share, (char[DECIMAL_BYTES]){0}));
}

/* In float32 it multiplies by the rounded factor, as PyTorch does. */
static void make(const struct attention_row *row)
{
    const struct problem *problem = row->problem;
    const double *weights = row->stages[STAGE_WEIGHTS];
    double *dropped = row->stages[STAGE_DROPPED], factor = 1 / (1 - problem->drop.share);
    if (row->kept == NULL) {
        memcpy(dropped, weights, problem->size.keys * sizeof *dropped);
        return;
    }
    dtype_round(dtype_storage(problem->rounding.dtype), &factor, 1);
    for (size_t j = 0; j < problem->size.keys; j++)
        dropped[j] = weights[j] * (row->kept[j] ? factor : 0);
}

/* Writes 1 - dropout with the decimals of dropout to share; and "1 - 0.2 = 0.8" to heading. */
static void say_share(double dropout, char share[DECIMAL_BYTES], char *heading, size_t size)
{
    const char *shortest = decimal_text(dropout, (char[DECIMAL_BYTES]){0});
    const char *point = strchr(shortest, '.');
    const bool plain = point != NULL && strchr(shortest, 'e') == NULL;
    snprintf(share, DECIMAL_BYTES, plain ? "%.*f" : "%.*g", plain ? (int)strlen(point + 1) : 17, 1 - dropout);
    snprintf(heading, size, "1 - %s = %s", shortest, share);
}

static bool prepare(struct explanation *e, struct explain_lines *line)
{
    const bool *kept = e->source.kept(e->source.context, line->place.row, e->back);
    if (!kept[line->index]) {
        line->terms = "";
        snprintf(line->words, sizeof line->words, "dropped: 0");
    }
    return true;
}

void dropped_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    char share[DECIMAL_BYTES], heading[WORKED_LINE_LABEL_BYTES];
    say_share(e->problem->drop.share, share, heading, sizeof heading);
    explain_row(e, e->before, place, false);
    explain_row(e, stage, place, true);
    explain_load(e, stage, place, e->made); /* last, so that kept is that of this row */
    (e->back ? gradient_write : explain_write)(e, stage, place, heading,
                                               &(struct explain_lines){.over = EXPLAIN_LISTED,
                                                                       .terms = "before / a = made",
                                                                       .given = {explain_text(share, 0)},
                                                                       .prepare = prepare});
}

static void explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const bool one = problem->chosen.has_cell && stage_is_square(problem->chosen.cell.stage);
    if (!applies(problem)) {
        explain_kept(e, stage, place, "nothing is dropped: unchanged");
        return;
    }
    explain_list_weighed(e, place);
    if (one)
        explain_list_one(e, problem->chosen.cell.column);
    dropped_explain(e, stage, place);
    if (!one)
        explain_note_masked(e, "weight 0");
}

const struct stage_functions stage_dropped = {.applies = applies,
                                              .lack =
                                                  "there is no 'dropped' without dropout; expected --dropout above 0",
                                              .formula = formula,
                                              .make = make,
                                              .explain = explain};
