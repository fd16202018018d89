/* SPDX-License-Identifier: MIT */
/* The rotation and the scale on query, explained: what they make of query and key, and of gradients on the way back. */
#ifndef ATTN_STAGE_TURNED_H
#define ATTN_STAGE_TURNED_H

#include "explain/terms.h"

/* Whether a gradient before them is no more than that: no norm lies on the way, too. */
bool turned_back_is_all(const struct problem *problem, enum stage stage);

void turned_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
