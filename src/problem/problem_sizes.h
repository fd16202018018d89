/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): sizes: B items of a batch, H heads, H_kv heads of key and value, Tq
 * queries, Tk keys. */
#ifndef ATTN_PROBLEM_PROBLEM_SIZES_H
#define ATTN_PROBLEM_PROBLEM_SIZES_H

#include <stdbool.h>
#include <stddef.h>

struct problem_sizes {
    bool has_batch;    /* the input had a batch axis; else B = 1 */
    bool has_heads;    /* multihead, or sdpa with an axis of heads; else H = 1 */
    bool heads_packed; /* sdpa: the heads are packed in query, (B, Tq, H d), and in context */
    size_t items, heads, kv_heads, queries, keys; /* B, H, H_kv, Tq, Tk; H_kv divides H */
    size_t d_in, d_head, d_value;                 /* d_in (not for sdpa), d, d_v */
    size_t d_key_in;                              /* columns of key_inputs */
    size_t words;                                 /* columns of the unembedding; 0: none */
};

#endif
