/* The vector kernels that the fused attention and the projections stand on.
 *
 * kernel_body.h is one source, compiled once for each instruction set; each object exports one table of functions. What
 * lies in the lanes of a vector is always independent of its neighbours: queries of a tile (attention) or columns of y
 * (projections). So a query's maximum, sum and mask are plain operations between vectors, and its result does not
 * depend on which lane it sits in or on what the other lanes hold.
 *
 * W is kernel->lanes. Packed matrices have W columns; their rows follow one another:
 *
 *     rows of (W, d), given                  packed (d, W)
 *
 *     lane 0   a0 a1 a2 ... a(d-1)           a0 b0 c0 ... 0     <- one row: one k for every lane
 *     lane 1   b0 b1 b2 ... b(d-1)    ->     a1 b1 c1 ... 0
 *     lane 2   c0 c1 c2 ... c(d-1)           a2 b2 c2 ... 0
 *     (lanes that nothing was given for)     ...
 *
 * One multiplication serves all: scalars of A are broadcast, rows of packed B are read as vectors, and a tile of sums,
 * kernel->rows x W, stays in registers while k runs over the whole depth:
 *
 *                          B packed (depth, W)
 *                           [ . . . . W . . ]  k
 *     A (rows, depth)       [ . . . . . . . ]
 *     [ . . k . . ]      -> [ sums (rows, W)]      sums[i][lane] += A[i][k] B[k][lane],  k = 0, 1, 2, ...
 *
 *     scores    A = rows of key                    B = query, packed           sums = scores, transposed
 *     values    A = value, read by columns         B = weights, as they lie    sums = context, transposed
 *     project   A = rows of x                      B = a panel of the weight   sums = y
 *
 * Each sum is one chain over k in ascending order, whatever tile it falls in: the same bits for any cut of the rows.
 * Scores of a head of more than 256 columns are sums of several such chains, of 256 columns each.
 *
 * Packed memory is aligned to KERNEL_ALIGNMENT; what is not packed needs no alignment and is never written past its
 * end, nor read past it. A kernel never allocates, parses or prints, and cannot fail. */
#ifndef ATTN_KERNEL_KERNEL_H
#define ATTN_KERNEL_KERNEL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of any kernel. Keys are handed out in steps that are whole tiles of each. */
enum { KERNEL_ALIGNMENT = 64, KERNEL_LEAST_LANES = 8, KERNEL_MOST_LANES = 32, KERNEL_KEY_STEP = 24 };

/* How scores become masked scores, logits to the base 2, in this order: softcap, bias, ALiBi, and minus infinity for
 * forbidden keys. */
struct kernel_adjustment {
    bool capped; /* score -> height x tanh(score x steepness) */
    float steepness, height;
    const float *bias; /* (keys, W) packed, or NULL: minus infinity forbids the key, else bias x log2(e) is added, or
                          the nearest number where that overflows. Neither NaN nor plus infinity */
    float slope;       /* slope x |distance[lane] - (origin + j)| is taken off key j; 0: nothing */
    const float *distance; /* (W), finite; unused where slope is 0 */
    size_t origin;
    const int32_t *first, *end; /* (W) keys first[lane] .. end[lane] - 1 are allowed, the others forbidden */
};

struct kernel {
    const char *name; /* of the instruction set, as ATTN_ISA has it: "avx2" */
    size_t lanes;     /* W, KERNEL_LEAST_LANES .. KERNEL_MOST_LANES */
    size_t rows;      /* of the largest tile of sums */

    /* packed[k][lane] = matrix[lane][k] x factor; 0 in the lanes from `count` on.
     *   matrix  (count, d), rows `stride` apart; count <= W
     *   packed  (d, W) written */
    void (*pack)(const float *matrix, size_t stride, size_t count, size_t d, float factor, float *packed);

    /* scores[j][lane] = key[j] . query[lane], minus infinity where j is not in first[lane] .. end[lane] - 1; the lane's
     * peak grows to the largest of them.
     *   key         (keys, d)
     *   query       (d, W) packed
     *   first, end  (W) which of these keys each lane may see, or both NULL: all
     *   scores      (keys, W) written, packed
     *   peak        (W) updated; or NULL, with first and end NULL: the products alone, for `adjust` */
    void (*scores)(const float *key, size_t keys, size_t d, const float *query, const int32_t *first,
                   const int32_t *end, float *scores, float *peak);

    /* What the adjustment makes of scores; the peak grows as above. A lane is seen, -1, once it has been allowed a key,
     * whatever the score of that; else seen stays as it is.
     *   scores  (keys, W) updated, packed
     *   peak    (W) updated
     *   seen    (W) updated */
    void (*adjust)(const struct kernel_adjustment *adjustment, size_t keys, float *scores, float *peak, int32_t *seen);

    /* One step of the running softmax to the base 2: scores become weights 2^((scores - next) factor), the sum so far
     * shrinks by rescale = 2^((maximum - next) factor) and takes the sum of the new weights in, and the maximum becomes
     * the next. The largest score weighs exactly 1, one of minus infinity exactly 0, as does one whose weight is below
     * 2^-125; where next is the maximum, rescale is exactly 1. Where both are minus infinity the result is NaN.
     *
     * The difference comes before the product: so the error is relative to it, however large the scores are. The new
     * weights are summed apart from those so far: so the error grows with the number of steps, not of keys.
     *   scores   (keys, W) replaced by the weights
     *   factor   above 0
     *   next     (W) at least the maximum
     *   maximum  (W) updated
     *   sum      (W) updated
     *   rescale  (W) written */
    void (*softmax)(float *scores, size_t keys, float factor, const float *next, float *maximum, float *sum,
                    float *rescale);

    /* context[c][lane] = context[c][lane] rescale[lane] + sum over j of value[j][c] weights[j][lane].
     *   value    (keys, d)
     *   weights  (keys, W) packed
     *   rescale  (W)
     *   context  (d, W) updated, packed */
    void (*values)(const float *value, size_t keys, size_t d, const float *weights, const float *rescale,
                   float *context);

    /* rows[lane][c] = packed[c][lane] / sum[lane] for the first `count` lanes; never minus zero.
     *   packed  (d, W) destroyed
     *   sum     (W)
     *   rows    (count, d) written, rows `stride` apart */
    void (*unpack)(float *packed, const float *sum, size_t count, size_t d, float *rows, size_t stride);

    /* y[i][lane] += x[i] . panel[lane].
     *   x      (rows, depth), rows `stride` apart
     *   panel  (depth, W) packed
     *   y      (rows, W) updated, packed */
    void (*project)(const float *x, size_t stride, size_t rows, size_t depth, const float *panel, float *y);
};

/* The names that ATTN_ISA may have, whatever the processor: the instruction sets from the slowest on, by their number;
 * NULL behind the last. */
const char *kernel_isa(size_t index);

/* The fastest kernel that the processor has, or the one that `forced` names (NULL or "": not forced; callers pass
 * the environment variable ATTN_ISA). NULL, and error filled with STATUS_USAGE, where there is no kernel of that name
 * or the processor lacks it. */
const struct kernel *kernel_choose(const char *forced, struct error *error);

#endif
