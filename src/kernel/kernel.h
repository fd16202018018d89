/* SPDX-License-Identifier: MIT */
/* The kernels of fused attention and projections: one row per instruction set and dtype.
 *
 * kernel_body.h is one source, compiled for each instruction set in float and again in double; kernels for other units
 * have their own isa_NAME.c. Callers use all through struct kernel. The lanes of a vector are independent: queries of a
 * tile (attention) or columns of y (projections). So a query's maximum, sum and mask are plain operations between
 * vectors, and its result depends neither on its lane nor on the other lanes.
 *
 * W is kernel->lanes. A number is a float or a double, as kernel->number says. Packed matrices have W columns and
 * contiguous rows:
 *
 *     rows of (W, d), given                  packed (d, W)
 *
 *     lane 0   a0 a1 a2 ... a(d-1)           a0 b0 c0 ... 0     <- one row: one k for every lane
 *     lane 1   b0 b1 b2 ... b(d-1)    ->     a1 b1 c1 ... 0
 *     lane 2   c0 c1 c2 ... c(d-1)           a2 b2 c2 ... 0
 *     (unused lanes)                         ...
 *
 * One multiplication serves all: it broadcasts scalars of A, reads rows of packed B as vectors, and keeps a tile of
 * sums, kernel->rows x W, in registers while k runs over the depth:
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
 * Each sum is one chain over k in ascending order in every tile, so any cut of the rows gives the same bits. Scores of
 * a head of more than 256 columns are sums of several such chains, of 256 columns each. Kernels on pairs of bfloat16
 * have another, equally fixed order of summation.
 *
 * Packed memory is aligned to KERNEL_ALIGNMENT. Other arrays are aligned to their type; a kernel neither reads nor
 * writes past their end. A kernel never allocates, parses or prints, and cannot fail. */
#pragma once

#include "base/error.h"
#include "model/mask.h"
#include "tensor/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of every kernel. */
enum {
    KERNEL_ALIGNMENT = 64,
    KERNEL_LEAST_LANES = 4,
    KERNEL_MOST_LANES = 32,
    KERNEL_KEYS = 192, /* of a block, at most; a multiple of every kernel's key_step */
};

/* A block of keys. `packed` holds what a kernel makes of them. */
struct kernel_keys {
    const void *key;   /* (count, d), of the kernel's dtype, contiguous */
    const void *value; /* (count, d_v) */
    size_t count;      /* 1 .. KERNEL_KEYS */
    size_t d, d_v;
    ptrdiff_t ahead; /* rows from `key` to those of the block to prefetch, which need not exist; 0: none */
    void *packed;    /* keys_bytes(d, d_v), in the kernel's layout */
};

/* Turns scores into masked scores, logits to the base 2, in this order: factor or softcap, bias, ALiBi, and minus
 * infinity for forbidden keys. Arrays hold numbers. */
struct kernel_adjustment {
    bool capped;   /* score -> height x tanh(score x steepness); else */
    double factor; /* score -> score x factor */
    double steepness, height;
    const void *bias;     /* (keys, W) packed, or NULL: minus infinity forbids the key; else adds bias x log2(e), or the
                             nearest finite number. Neither NaN nor plus infinity */
    const void *slope;    /* (W): subtracts slope[lane] x |distance[lane] - (origin + j)| from key j; NULL: nothing */
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
    size_t task_queries;  /* of a worthwhile task: how often it uses what `load` makes */
    size_t key_step;      /* callers cut blocks at multiples of it; divides KERNEL_KEYS */
    bool prescales_query; /* pack_query accepts any factor; else only 1 or -1, which is exact */
    bool one_part;        /* rounds weights to a number of the dtype: faster, less exact */
    double weight_error;  /* relative error of a weight in one or two parts of the dtype; 0: a number */

    /* --- attention ---- */

    /* Bytes of a packed query, of what `load` makes of a block of keys, and of a packed context: multiples of
     * KERNEL_ALIGNMENT, or SIZE_MAX: no size_t holds them. */
    size_t (*query_bytes)(size_t d);
    size_t (*keys_bytes)(size_t d, size_t d_v);
    size_t (*context_bytes)(size_t d_v);

    /* Packs the queries of a tile in the kernel's layout, for `scores`; 0 in the lanes from `count` on.
     *   query   (count, d) of the kernel's dtype, contiguous; count is 1 .. W
     *   packed  query_bytes(d) written */
    void (*pack_query)(const void *query, size_t count, size_t d, double factor, void *packed);

    /* Whether all of `count` numbers of the kernel's dtype are finite. */
    bool (*finite)(const void *numbers, size_t count);

    /* Before the first use of a block: makes `packed` from key and value; both must stay readable until the last
     * use. */
    void (*load)(const struct kernel_keys *keys);

    /* scores[j][lane] = key[first + j] . query[lane], minus infinity where j is not in from[lane] .. till[lane] - 1;
     * raises the lane's row maximum to the largest of them.
     *   first        a multiple of key_step; first + count is at most keys->count
     *   query        packed by pack_query
     *   from, till   (W) each lane's allowed keys among these; both NULL: all
     *   scores       (count, W) written, with room for KERNEL_KEYS rows, which it may write, too
     *   row_maximum  (W) updated; or NULL, with from and till NULL: only the products, for `adjust` */
    void (*scores)(const struct kernel_keys *keys, size_t first, size_t count, const void *query, const int32_t *from,
                   const int32_t *till, void *scores, void *row_maximum);

    /* Applies the adjustment to scores, and raises the row maximum as above. Sets any_allowed to -1 if the lane is
     * allowed a key, whatever its score; else leaves it.
     *   scores       (count, W) updated
     *   row_maximum  (W) updated
     *   any_allowed  (W) updated */
    void (*adjust)(const struct kernel_adjustment *adjustment, size_t count, void *scores, void *row_maximum,
                   int32_t *any_allowed);

    /* One step of the running softmax to the base 2, with next = row_maximum, or the lowest finite number where that is
     * minus infinity (a lane without an allowed key yet: minus infinity less itself would be NaN). Scores become
     * weights 2^((scores - next) factor); the sum becomes sum x rescale, with rescale = 2^((maximum - next) factor),
     * plus the sum of the new weights; maximum becomes next. The largest score weighs exactly 1. A score of minus
     * infinity weighs exactly 0, as does one whose weight is below 2^-125 (float) or 2^-1021 (double). If next is the
     * maximum, rescale is exactly 1; if both are plus infinity, the result is NaN.
     *
     * The difference comes before the product, so the error is relative to it, however large the scores are. The step
     * sums its own weights apart, so the error grows with the number of steps, not of keys.
     *
     * logs, if not NULL, is the sum of weight x log2(weight), relative to the maximum as the sum is: no term is above
     * 0, so no digits cancel.
     *   scores       (count, W), with room for KERNEL_KEYS rows; replaced by the weights in the kernel's layout,
     *                for `values`; count may be 0
     *   factor       above 0
     *   row_maximum  (W) at least the maximum
     *   maximum      (W) the running one, updated
     *   sum          (W) updated
     *   logs         (W) updated, or NULL
     *   rescale      (W) written */
    void (*softmax)(void *scores, size_t count, double factor, const void *row_maximum, void *maximum, void *sum,
                    void *logs, void *rescale);

    /* context[c][lane] = context[c][lane] rescale[lane] + sum over j of value[first + j][c] weights[j][lane].
     *   first, count  as for `scores`
     *   weights       from `softmax`
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

    /* The MASK_SAYS bits of numbers of attn_mask. */
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

    /* slopes[j][lane] = 1 - tanh(scores[j][lane] x steepness)^2, the softcap's factor of gradients.
     *   scores  (count, W) before `adjust`
     *   slopes  (count, W) written */
    void (*cap_slopes)(const struct kernel_adjustment *adjustment, size_t count, const void *scores, void *slopes);

    /* Turns scores into weights, 2^(scores x factor - lse), exactly 0 as in softmax; and each weight's gradient into
     * its score's, weight (gradient - delta) slope scale, exactly 0 where the weight is.
     *   scores  (count, W) replaced by the weights
     *   lse     (2, W) to the base 2, in two parts
     *   delta   (W)
     *   slopes  (count, W), or NULL: all 1
     *   grad    (count, W) updated */
    void (*differentiate)(void *scores, size_t count, double factor, const void *lse, const void *delta,
                          const void *slopes, double scale, void *grad);
};

/* The names that ATTN_ISA accepts on any processor: the instruction sets by index, the slowest first; NULL after the
 * last. */
const char *kernel_isa(size_t index);

/* STATUS_USAGE if `forced` names no instruction set, or one that this processor lacks: says which it has. */
enum status kernel_check(const char *forced, struct error *error);

/* The processor's fastest kernel for query, key and value of that dtype. `forced` (the environment variable ATTN_ISA;
 * NULL or "": none) names an instruction set instead; without a kernel for the dtype, the nearest slower one counts.
 * one_part: with weights in one part, if such a kernel exists. NULL, with STATUS_USAGE in error, if the name is unknown
 * or the processor lacks the set. */
const struct kernel *kernel_choose(const char *forced, enum dtype dtype, bool one_part, struct error *error);

/* Whether kernels take query, key and value of that dtype directly; else they take its storage dtype. */
bool kernel_takes(enum dtype dtype);

/* All kernels in this build, by index, NULL after the last; and whether this processor has the kernel's instruction
 * set. */
const struct kernel *kernel_row(size_t index);
bool kernel_present(const struct kernel *kernel);
