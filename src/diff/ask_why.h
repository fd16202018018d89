/* SPDX-License-Identifier: MIT */
/* Where diff ends, attn why goes on: the command line that asks which mistake makes B of what A is computed from. */
#ifndef ATTN_DIFF_ASK_WHY_H
#define ATTN_DIFF_ASK_WHY_H

#include "diff/diff.h"

/* Adds "attn why causal expected.json --mine mine.json", where a stage departs that no later one makes up for, and
 * neither settings, sources nor tokens tell why. A is a result that can be computed again, without a mistake, and both
 * are files. Else, or where it does not fit, it is false. */
bool diff_ask_why(const struct diff *diff, const struct options *options, struct text *line);

#endif
