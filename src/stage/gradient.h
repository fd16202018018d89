/* SPDX-License-Identifier: MIT */
/* Explanations of the gradients of one row: the keys of its lines, and why a key has no line. */
#pragma once

#include "stage/stage.h"

/* Begins the lines of a row: lists its allowed keys in e->listed. False, with a note: no key is allowed, or the cell's
 * key is masked. */
bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* Lists the keys that have a line in e->listed: the cell's, or all. */
void gradient_list_keys(struct explanation *e);

/* Ends the lines: notes the keys that have none. */
void gradient_end(struct explanation *e);

/* Begins, writes lines over EXPLAIN_LISTED, and ends. */
double gradient_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                      const struct explain_lines *lines);

/* In grad_scores.c: moves each number of a row of grad_masked by a share, problem->noise, of its terms. Where
 * grad_weights equals delta only rounding errors remain, and moving the inputs does not show them. */
void gradient_add_noise(const struct attention_row *row);

/* Loads row `row` of a weight W in y = x . W to numbers (columns). */
void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers);
