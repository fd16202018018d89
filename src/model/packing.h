/* SPDX-License-Identifier: MIT */
/* How the query, key and value of a module lie in its weights. */
#ifndef ATTN_MODEL_PACKING_H
#define ATTN_MODEL_PACKING_H

#include "base/choice.h"

/* separate: three weights. blocks: one, the rows of all queries, then those of all keys, then those of all values.
 * groups: one, and in it head of keys by head of keys: its queries, its key, its value. */
#define PACKINGS(ROW) ROW(PACKING_SEPARATE, "separate") ROW(PACKING_BLOCKS, "blocks") ROW(PACKING_GROUPS, "groups")
enum packing { PACKINGS(CHOICE_ID) PACKING_COUNT };

#endif
