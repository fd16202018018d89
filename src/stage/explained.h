/* SPDX-License-Identifier: MIT */
/* What several stages explain alike, or ask of each other. */
#ifndef ATTN_STAGE_EXPLAINED_H
#define ATTN_STAGE_EXPLAINED_H

#include "stage/stage.h"

/* In dropped.c: the keys in e->listed, of weights or their gradients: each over the share that is kept, or dropped. */
void dropped_explain(struct explanation *e, enum stage stage, struct explain_place place);

/* In masked.c: "key 3 > query 2", why the place's query does not see the key, into text (size bytes). */
void masked_rule(const struct explanation *e, struct explain_place place, size_t key, char *text, size_t size);

/* In normed.c: "x / sqrt(mean square + 1e-06) x query_norm.weight", x as it is called; and the arithmetic of a row of
 * normed_query or normed_key, or of query and key where no rotation follows and they are that. */
void normed_formula(const struct problem *problem, enum stage stage, const char *from, struct text *text);
void normed_explain_heads(struct explanation *e, enum stage stage, struct explain_place place);

/* In rotated.c: what the rotation, and the scale on query, make of query and key, and of gradients in the backward
 * pass; and whether a gradient before them is no more than that: no norm lies on the way, too. */
void rotated_explain(struct explanation *e, enum stage stage, struct explain_place place);
bool rotated_back_is_all(const struct problem *problem, enum stage stage);

#endif
