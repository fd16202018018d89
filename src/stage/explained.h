/* SPDX-License-Identifier: MIT */
/* Explanations that several stages share. */
#pragma once

#include "stage/stage.h"

/* In dropped.c: explains the keys in e->listed, weights or gradients: each divided by the kept share, or dropped. */
void dropped_explain(struct explanation *e, enum stage stage, struct explain_place place);

/* In masked.c: writes why the mask forbids the place's query this key, "key 3 > query 2", to text (size bytes). */
void masked_rule(const struct explanation *e, struct explain_place place, size_t key, char *text, size_t size);

/* In normed.c: "x / sqrt(mean square + 1e-06) x query_norm.weight", with the name of x; and explains a row of
 * normed_query or normed_key, or of query and key if no rotation follows. */
void normed_formula(const struct problem *problem, enum stage stage, const char *from, struct text *text);
void normed_explain_heads(struct explanation *e, enum stage stage, struct explain_place place);

/* In rotated.c: explains the rotation and the scale of query and key, and of their gradients; and whether a gradient
 * comes from these alone, without a norm. */
void rotated_explain(struct explanation *e, enum stage stage, struct explain_place place);
bool rotated_back_is_all(const struct problem *problem, enum stage stage);

/* --- gradients of one row: the keys of its lines, and why a key has no line --------------------------------------- */

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
