/* SPDX-License-Identifier: MIT */
#include "stage/explained.h"

#include <stdio.h>

static bool prepare_masked(struct explanation *e, struct explain_lines *line)
{
    char rule[WORKED_LINE_CELL_BYTES / 2];
    masked_rule(e, line->place, line->index, rule, sizeof rule);
    snprintf(line->words, sizeof line->words, "masked: 0, since %s", rule);
    return true;
}

bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what)
{
    explain_list_allowed(e, place);
    if (e->listed_count == 0) {
        explain_heading(e, stage, place, "every key is masked: 0, no weight can change");
        return false;
    }
    if (!explain_one_key(e) || explain_rule(e, place, explain_keys(e).first) == MASK_ALLOWS) {
        explain_heading(e, stage, place, what);
        return true;
    }
    explain_write(e, stage, place, "", &(struct explain_lines){.terms = "", .prepare = prepare_masked});
    return false;
}

void gradient_list_keys(struct explanation *e)
{
    if (explain_one_key(e))
        explain_list_one(e, explain_keys(e).first);
}

void gradient_end(struct explanation *e)
{
    if (!explain_one_key(e))
        explain_note_masked(e, "0");
}

double gradient_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                      const struct explain_lines *lines)
{
    if (!gradient_begin(e, stage, place, heading))
        return 0;
    gradient_list_keys(e);
    const double sum = explain_write(e, stage, place, NULL, lines);
    gradient_end(e);
    return sum;
}

void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers)
{
    const struct tensor *weight = &projection->weight;
    if (!projection->transposed) {
        tensor_load(weight, row * columns, columns, numbers);
        return;
    }
    for (size_t column = 0; column < columns; column++)
        tensor_load(weight, column * weight->shape[1] + row, 1, numbers + column);
}
