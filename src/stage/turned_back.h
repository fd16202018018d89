/* The gradient by query and key before the rotation and the scale on query, explained: each pair turned back. */
#ifndef ATTN_STAGE_TURNED_BACK_H
#define ATTN_STAGE_TURNED_BACK_H

#include "explain/explanation.h"

/* Whether the stage is no more than that: no norm lies on the way, too. */
bool turned_back_is_all(const struct problem *problem, enum stage stage);

void turned_back_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
