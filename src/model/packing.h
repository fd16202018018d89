/* SPDX-License-Identifier: MIT */
/* How a module's weights hold query, key and value. */
#pragma once

#include "base/choice.h"

/* separate: three weights. blocks: one weight, the rows of all queries, then of all keys, then of all values. groups:
 * one weight, for each head of keys: its queries, its key, its value. */
#define PACKINGS(ROW) ROW(PACKING_SEPARATE, "separate") ROW(PACKING_BLOCKS, "blocks") ROW(PACKING_GROUPS, "groups")
enum packing { PACKINGS(CHOICE_ID) PACKING_COUNT };
