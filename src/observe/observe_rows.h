/* SPDX-License-Identifier: MIT */
/* The kinds of observations, the most specific first. A row: its identifier (its test is observe_ID), its name in JSON,
 * what it needs, and the kinds that say nothing more once it has said a line. */
#ifndef ATTN_OBSERVE_OBSERVE_ROWS_H
#define ATTN_OBSERVE_OBSERVE_ROWS_H

/* What a test needs: */
enum {
    OBSERVE_NEEDS_JOB = 1,     /* a problem, to make other tables of it */
    OBSERVE_NEEDS_WEIGHTS = 2, /* a table of weights: weights, dropped */
    OBSERVE_NEEDS_CONTEXT = 4, /* a context, before heads are joined by a projection */
};

#define OBSERVE_BIT(id) (UINT64_C(1) << OBSERVE_##id)

#define OBSERVE_ROWS(ROW)                                               \
    ROW(value, "value", 0, OBSERVE_BIT(copy) | OBSERVE_BIT(part_alone)) \
    ROW(copy, "copy", 0, OBSERVE_BIT(part_alone))                       \
    ROW(part_alone, "part", 0, 0)

#endif
