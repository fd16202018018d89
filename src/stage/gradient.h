/* SPDX-License-Identifier: MIT */
/* How the gradients of one row are explained: what its lines are about, and why a key has no line. */
#ifndef ATTN_STAGE_GRADIENT_H
#define ATTN_STAGE_GRADIENT_H

#include "stage/stage.h"

/* Begins the lines of a row: lists in e->listed the keys that it sees. False where no line follows, which is then said:
 * it sees none, or the key of a cell is masked. */
bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* The keys that have a line, into e->listed: a cell's own, or all that are there. */
void gradient_list_keys(struct explanation *e);

/* Ends them: a note of the keys that have none. */
void gradient_end(struct explanation *e);

/* All of these: begins, writes lines over EXPLAIN_LISTED, and ends. */
double gradient_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                      const struct explain_lines *lines);

/* In grad_scores.c: moves each number of a row of grad_masked by a share, problem->noise, of the terms that it is made
 * of: where grad_weights is delta nothing is left but what rounding leaves, however the numbers that are given are
 * moved. */
void gradient_add_noise(const struct attention_row *row);

/* Row `row` of a weight that is used as y = x . W, into numbers (columns). */
void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers);

#endif
