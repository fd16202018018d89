/* SPDX-License-Identifier: MIT */
/* The kernels that the fused attention and the projections stand on: a row for each instruction set and dtype.
 *
 * kernel_body.h is one source, compiled for each instruction set in float and again in double; what works on other
 * units is a file of its own, isa_NAME.c. All are used by way of struct kernel. What lies in the lanes of a vector is
 * always independent of its neighbours: queries of a tile (attention) or columns of y (projections). So a query's
 * maximum, sum and mask are plain operations between vectors, and its result does not depend on which lane it sits in
 * or on what the other lanes hold.
 *
 * W is kernel->lanes. A number is a float or a double, as kernel->number says. Packed matrices have W columns; their
 * rows follow one another:
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
 * Scores of a head of more than 256 columns are sums of several such chains, of 256 columns each. A kernel of another
 * make (bfloat16 in pairs) has its own order of summation, as fixed as this one.
 *
 * Packed memory is aligned to KERNEL_ALIGNMENT; what is not packed is aligned to its type and is never written past its
 * end, nor read past it. A kernel never allocates, parses or prints, and cannot fail. */
#ifndef ATTN_KERNEL_KERNEL_H
#define ATTN_KERNEL_KERNEL_H

#include "base/error.h"
#include "model/mask.h"
#include "tensor/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of any kernel. */
enum {
    KERNEL_ALIGNMENT = 64,
    KERNEL_LEAST_LANES = 4,
    KERNEL_MOST_LANES = 32,
    KERNEL_KEYS = 192, /* of a block, at most; whole key_steps of every kernel */
};

/* A block of keys. What a kernel makes of them lies in `packed`. */
struct kernel_keys {
    const void *key;   /* (count, d), of the kernel's dtype, rows following one another */
    const void *value; /* (count, d_v) */
    size_t count;      /* 1 .. KERNEL_KEYS */
    size_t d, d_v;
    void *packed; /* keys_bytes(d, d_v), the kernel's own */
};

/* How scores become masked scores, logits to the base 2, in this order: factor or softcap, bias, ALiBi, and minus
 * infinity for forbidden keys. Arrays are of numbers. */
struct kernel_adjustment {
    bool capped;   /* score -> height x tanh(score x steepness); else */
    double factor; /* score -> score x factor */
    double steepness, height;
    const void *bias;     /* (keys, W) packed, or NULL: minus infinity forbids the key, else bias x log2(e) is added, or
                         the nearest number where that overflows. Neither NaN nor plus infinity */
    const void *slope;    /* (W): slope[lane] x |distance[lane] - (origin + j)| is taken off key j; NULL: nothing */
    const void *distance; /* (W), finite; unused where slope is NULL */
    size_t origin;
    const int32_t *first, *end; /* (W) keys first[lane] .. end[lane] - 1 are allowed, the others forbidden */
};

struct kernel {
    const char *name;     /* of the instruction set, as ATTN_ISA has it: "avx2" */
    enum dtype dtype;     /* of query, key and value: F32, F64, F16 or BF16 */
    enum dtype number;    /* of scores, weights, sums and context: F32 or F64 */
    size_t lanes;         /* W, KERNEL_LEAST_LANES .. KERNEL_MOST_LANES */
    size_t rows;          /* of the largest tile of sums */
    size_t task_queries;  /* that are worth a task: how often what `load` makes is used */
    size_t key_step;      /* of a block, parts are cut off at multiples of it; divides KERNEL_KEYS */
    bool prescales_query; /* pack_query may multiply by any factor; else by 1 or -1 alone, which is exact */
    bool one_part;        /* weights are rounded to a number of the dtype: faster, less exact */
    double weight_error;  /* relative, of a weight rounded to one or two parts of the dtype; 0: to a number */

    /* --- attention ---- */

    /* Bytes of a packed query, of what `load` makes of a block of keys, and of a packed context: multiples of
     * KERNEL_ALIGNMENT, or SIZE_MAX where no size_t holds them. */
    size_t (*query_bytes)(size_t d);
    size_t (*keys_bytes)(size_t d, size_t d_v);
    size_t (*context_bytes)(size_t d_v);

    /* The queries of a tile, in the kernel's own layout, which `scores` reads; 0 in the lanes from `count` on.
     *   query   (count, d) of the kernel's dtype, rows following one another; count is 1 .. W
     *   packed  query_bytes(d) written */
    void (*pack_query)(const void *query, size_t count, size_t d, double factor, void *packed);

    /* Whether all of `count` numbers of the kernel's dtype are finite. */
    bool (*finite)(const void *numbers, size_t count);

    /* Before the first use of a block: packed is made, of key and value; both stay readable until the last use. */
    void (*load)(const struct kernel_keys *keys);

    /* scores[j][lane] = key[first + j] . query[lane], minus infinity where j is not in from[lane] .. till[lane] - 1;
     * the lane's row maximum grows to the largest of them.
     *   first        a multiple of key_step; first + count is at most keys->count
     *   query        packed by pack_query
     *   from, till   (W) which of these keys each lane is allowed, or both NULL: all
     *   scores       (count, W) written; there is room for KERNEL_KEYS rows, which may be written too
     *   row_maximum  (W) updated; or NULL, with from and till NULL: the products alone, for `adjust` */
    void (*scores)(const struct kernel_keys *keys, size_t first, size_t count, const void *query, const int32_t *from,
                   const int32_t *till, void *scores, void *row_maximum);

    /* What the adjustment makes of scores; the row maximum grows as above. any_allowed becomes -1 once the lane has
     * been allowed a key, whatever the score of that; else it stays as it is.
     *   scores       (count, W) updated
     *   row_maximum  (W) updated
     *   any_allowed  (W) updated */
    void (*adjust)(const struct kernel_adjustment *adjustment, size_t count, void *scores, void *row_maximum,
                   int32_t *any_allowed);

    /* One step of the running softmax to the base 2, with next = row_maximum, or the lowest finite number where that is
     * minus infinity (a lane that has been allowed no key yet: minus infinity less itself would be NaN). Scores become
     * weights 2^((scores - next) factor), the sum so far shrinks by rescale = 2^((maximum - next) factor) and takes the
     * sum of the new weights in, and the running maximum becomes the next. The largest score weighs exactly 1, one of
     * minus infinity exactly 0, as does one whose weight is below 2^-125 (float) or 2^-1021 (double); where next is the
     * maximum, rescale is exactly 1. Where both are plus infinity the result is NaN.
     *
     * The difference comes before the product: so the error is relative to it, however large the scores are. The new
     * weights are summed apart from those so far: so the error grows with the number of steps, not of keys.
     *
     * logs, where it is not NULL, is the sum of weight x log2(weight), relative to the maximum as the sum is: none of
     * its terms is above 0, so that none takes digits from another.
     *   scores       (count, W), with room for KERNEL_KEYS rows, replaced by the weights in the kernel's own layout,
     *                which `values` reads; count may be 0
     *   factor       above 0
     *   row_maximum  (W) at least the maximum
     *   maximum      (W) the running one, updated
     *   sum          (W) updated
     *   logs         (W) updated, or NULL
     *   rescale      (W) written */
    void (*softmax)(void *scores, size_t count, double factor, const void *row_maximum, void *maximum, void *sum,
                    void *logs, void *rescale);

    /* context[c][lane] = context[c][lane] rescale[lane] + sum over j of value[first + j][c] weights[j][lane].
     *   first, count  as the scores were made
     *   weights       made by softmax
     *   rescale       (W)
     *   context       (d_v, W) updated */
    void (*values)(const struct kernel_keys *keys, size_t first, size_t count, const void *weights, const void *rescale,
                   void *context);

    /* total[c][lane] = total[c][lane] rescale[lane] + context[c][lane], and context becomes 0. Both (d_v, W). */
    void (*merge)(void *context, size_t d_v, const void *rescale, void *total);

    /* context[c][lane] /= sum[lane]; never minus zero. context (d_v, W), sum (W). */
    void (*normalise)(void *context, const void *sum, size_t d_v);

    /* rows[i][c] = context[c][lane + i] for the lanes from `lane` on.
     *   context  (d_v, W)
     *   rows     (count, d_v) numbers written, rows `stride` apart */
    void (*unpack)(const void *context, size_t lane, size_t count, size_t d_v, void *rows, size_t stride);

    /* What numbers of an attn_mask say. */
    mask_scanner *scan;

    /* packed[k][lane] = matrix[lane][k]; 0 in the lanes from `count` on.
     *   matrix  (count, d) numbers, rows `stride` apart; count <= W
     *   packed  (d, W) written */
    void (*pack)(const void *matrix, size_t stride, size_t count, size_t d, void *packed);

    /* --- projections: of the kernels whose dtype is their number; else NULL ---- */

    /* y[i][lane] += x[i] . panel[lane].
     *   x      (rows, depth) numbers, rows `stride` apart
     *   panel  (depth, W) packed
     *   y      (rows, W) updated */
    void (*project)(const void *x, size_t stride, size_t rows, size_t depth, const void *panel, void *y);

    /* --- backwards: of the same kernels; else NULL ---- */

    /* slopes[j][lane] = 1 - tanh(scores[j][lane] x steepness)^2: what the softcap multiplies gradients with.
     *   scores  (count, W) before they are adjusted
     *   slopes  (count, W) written */
    void (*cap_slopes)(const struct kernel_adjustment *adjustment, size_t count, const void *scores, void *slopes);

    /* Scores become weights, 2^(scores x factor - lse), exactly 0 as in softmax, and the gradient of each weight that
     * of its score, weight (gradient - delta) slope scale, exactly 0 where the weight is.
     *   scores  (count, W) replaced by the weights
     *   lse     (2, W) to the base 2, its first and its second part
     *   delta   (W)
     *   slopes  (count, W), or NULL: all 1
     *   grad    (count, W) updated */
    void (*differentiate)(void *scores, size_t count, double factor, const void *lse, const void *delta,
                          const void *slopes, double scale, void *grad);
};

/* The names that ATTN_ISA may have, whatever the processor: the instruction sets from the slowest on, by their number;
 * NULL behind the last. */
const char *kernel_isa(size_t index);

/* Whether an instruction set of that number is there: STATUS_USAGE says what is missing, and what this machine has. */
enum status kernel_check(const char *forced, struct error *error);

/* The fastest kernel for query, key and value of that dtype that the processor has, or the one of the instruction set
 * that `forced` names (NULL or "": not forced; callers pass the environment variable ATTN_ISA) or of the nearest slower
 * one that has a kernel for the dtype. one_part: with weights in one part, where that has a kernel of its own. NULL,
 * and error filled with STATUS_USAGE, where there is no instruction set of that name or the processor lacks it. */
const struct kernel *kernel_choose(const char *forced, enum dtype dtype, bool one_part, struct error *error);

/* Whether kernels take query, key and value of that dtype as they lie; else of what it is stored in. */
bool kernel_takes(enum dtype dtype);

/* All kernels that this program was built with, by number, NULL behind the last; and whether this processor has its
 * instruction set. */
const struct kernel *kernel_row(size_t index);
bool kernel_present(const struct kernel *kernel);

#endif
