/* SPDX-License-Identifier: MIT */
/* An attention kernel in tiles, forward and backward, as a program of somebody else: float32 sums, one pass over the
 * keys with a running maximum, two splits of long rows that are merged. kernel.c has it, with one bug at a time, and
 * kernel_bugs.h says what each bug is. It shares nothing with attn but the numbers of a case. */
#ifndef ATTN_TESTS_CASES_KERNEL_H
#define ATTN_TESTS_CASES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of `columns` numbers: number c of row t of head h of item b is at b item + h head + t row + c. */
struct kernel_rows {
    float *numbers;
    size_t count, item, head, row;
};

struct tiled {
    int bug; /* 0: none */
    /* How it computes: keys and queries of a tile, keys of a split, exp2 with log2 e in the scale, weights rounded to
     * the dtype before they meet the values; bits that a number of the dtype keeps. */
    size_t tile_keys, tile_rows, split;
    bool base_2, rounds_weights;
    int bits;
    /* The job. */
    size_t items, heads, kv_heads, queries, keys, d, d_value;
    struct kernel_rows query, key, value, context, lse, gradient; /* the gradient with respect to the context */
    struct kernel_rows grad_query, grad_key, grad_value;
    float *grad_sinks;
    bool causal, bottom_right, top_left; /* neither: top-left, or of sequences and lengths bottom-right */
    long left, right;                    /* of the window; -1: unbounded */
    float scale, softcap;
    const float *slopes, *sinks;           /* (H), or NULL */
    const float *mask;                     /* added to the scores, minus infinity where it forbids; or NULL */
    size_t mask_item, mask_head, mask_row; /* its strides; 0: one for all */
    size_t mask_count;
    bool mask_is_boolean;
    const int64_t *lengths;                   /* (B), or NULL */
    const int64_t *query_starts, *key_starts; /* (S + 1), or NULL */
    size_t sequences;
    const int64_t *table; /* (B, pages of an item), or NULL */
    size_t page, per_item;
};

/* Writes context, lse if it has room for it, and the gradients if there is one with respect to the context. */
void kernel_run(struct tiled *kernel);

#endif
