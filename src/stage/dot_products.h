/* SPDX-License-Identifier: MIT */
/* The inner loop of scores. Keys lie side by side, two at a time in a vector; each has its own sums, whatever its
 * neighbour. */
#pragma once

#include <stddef.h>

/* Two doubles; every machine adds and multiplies them as it does one. Needs only the alignment of a double. */
typedef double dot_pair __attribute__((vector_size(16), aligned(8), may_alias));

enum {
    DOT_KEYS = 4, /* keys in a panel */
    DOT_PAIRS = DOT_KEYS / 2,
    DOT_SUMS = 4, /* per key, so that an addition need not wait for the last */
};

/* Writes each number twice: numbers (d) -> pairs (2 d). */
static inline void dot_twice(const double *numbers, size_t d, double *pairs)
{
    for (size_t k = 0; k < d; k++)
        pairs[2 * k] = pairs[2 * k + 1] = numbers[k];
}

/* query . key of the keys of one panel. Product k goes to sum k % DOT_SUMS of its key, products after the last full
 * four to sum 0.
 *   query     (2 d) from dot_twice
 *   panel     (d, DOT_KEYS)
 *   products  (DOT_KEYS) written */
static inline void dot_products(const double *query, const double *panel, size_t d, double *restrict products)
{
    const dot_pair *twice = (const dot_pair *)query, *keys = (const dot_pair *)panel;
    dot_pair sums[DOT_SUMS][DOT_PAIRS] = {{{0}}};
    size_t k = 0;
    for (; k + DOT_SUMS <= d; k += DOT_SUMS)
        for (size_t sum = 0; sum < DOT_SUMS; sum++)
            for (size_t pair = 0; pair < DOT_PAIRS; pair++)
                sums[sum][pair] += twice[k + sum] * keys[(k + sum) * DOT_PAIRS + pair];
    for (; k < d; k++)
        for (size_t pair = 0; pair < DOT_PAIRS; pair++)
            sums[0][pair] += twice[k] * keys[k * DOT_PAIRS + pair];
    for (size_t pair = 0; pair < DOT_PAIRS; pair++)
        ((dot_pair *)products)[pair] = (sums[0][pair] + sums[1][pair]) + (sums[2][pair] + sums[3][pair]);
}
