/* SPDX-License-Identifier: MIT */
/* What dropout does to a weight it does to its gradient. */
#ifndef ATTN_STAGE_DROPPED_H
#define ATTN_STAGE_DROPPED_H

#include "explain/terms.h"

/* The keys in e->seen, of the weights or their gradients: each over the share that is kept, or dropped. */
void dropped_explain(struct explanation *e, enum stage stage, struct explain_place place);

#endif
