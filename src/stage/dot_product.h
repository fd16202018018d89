/* What scores are made of, and nothing else in the inner loop. */
#ifndef ATTN_STAGE_DOT_PRODUCT_H
#define ATTN_STAGE_DOT_PRODUCT_H

#include <stddef.h>

/* query . key of one pair, (d) each; four sums run side by side, so that each addition need not wait for the last. */
static inline double dot_product(const double *query, const double *key, size_t d)
{
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= d; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            sums[lane] += query[i + lane] * key[i + lane];
    for (; i < d; i++)
        sums[0] += query[i] * key[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#endif
