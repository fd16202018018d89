/* SPDX-License-Identifier: MIT */
/* Queries that grow with their position, so that the weights of long inputs stay sharp: Llama 4, Ministral 3. */
#ifndef ATTN_MODEL_GROWTH_H
#define ATTN_MODEL_GROWTH_H

#include <stddef.h>

/* A query at position p is multiplied by 1 + by ln(1 + floor((p + ahead) / every)). by 0: none grows. */
struct query_growth {
    double by;
    size_t every, ahead; /* every: at least 1; ahead: 0, or 1 where positions count from 1 */
};

#endif
