/* SPDX-License-Identifier: MIT */
/* The norms of query and key, in words and numbers; `query` and `key` are these where no rotation follows. */
#ifndef ATTN_STAGE_NORMED_H
#define ATTN_STAGE_NORMED_H

#include "stage/stage.h"

/* "x / sqrt(mean square + 1e-06) x query_norm.weight", x as it is called. */
void normed_formula(const struct problem *problem, enum stage stage, const char *from, struct text *text);

/* The arithmetic of a row of normed_query or normed_key, or of query and key where they are that. */
void normed_explain_heads(struct explanation *e, enum stage stage, struct explain_place place);

#endif
