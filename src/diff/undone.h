/* SPDX-License-Identifier: MIT */
/* A stage that departs while one made from it agrees: what that is, where the numbers tell it. */
#ifndef ATTN_DIFF_UNDONE_H
#define ATTN_DIFF_UNDONE_H

#include "diff/pair.h"

/* What makes no difference to the stage that agrees. */
enum undone {
    UNDONE_UNKNOWN,
    UNDONE_ORDER,  /* scale or mask were applied sooner or later */
    UNDONE_SHIFT,  /* each row has another number added to it */
    UNDONE_HIDDEN, /* another number stands for minus infinity */
    UNDONE_FACTOR, /* all numbers are so many times the others */
    UNDONE_COUNT,
};

enum { UNDONE_BYTES = 160 };

/* What the departing stage differs in: "B's are masked, A's are not" into text (UNDONE_BYTES); ""
 * where it is UNDONE_UNKNOWN. */
enum undone diff_undone(const struct diff *diff, const struct diff_stage *stage, char *text);

/* B / A where all finite numbers are that many times the others, and a pair departs otherwise by minus infinity alone;
 * else 1. */
double diff_factor(const struct comparison *comparison);

#endif
