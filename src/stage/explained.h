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
