/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the inputs of projections, or a given query, key and value. */
#ifndef ATTN_PROBLEM_PROBLEM_GIVEN_H
#define ATTN_PROBLEM_PROBLEM_GIVEN_H

#include "tensor/tensor.h"

#include <stdint.h>

/* What an input has beside `inputs`: attn_mask, alibi_slopes, sinks; and all that sdpa is given: query, key, value,
 * past_key, past_value, kv_lengths, cu_seqlens_q, cu_seqlens_k, block_table, key_cache, value_cache. */
enum { INPUT_TENSORS = 14 };

struct input_tensor {
    const char *name;
    struct tensor tensor; /* rounded to the working dtype; boolean and whole numbers as they are */
};

/* Key and value in pages, as the file has them: what a mistake may read otherwise. */
struct problem_pages {
    size_t count, size, per_item; /* pages of the caches, tokens of a page, pages of an item */
    size_t items;                 /* rows of the table: B, or the sequences */
    const int64_t *table;         /* (items, per_item) pages of the caches; -1: none that there is */
    const size_t *lengths;        /* (items) tokens that are read */
    const int64_t *starts;        /* (items + 1) where sequences begin among the keys; NULL: there are none */
    struct tensor caches[3];      /* by enum projection_id, (count, size, H_kv, columns); none of query */
};

struct problem_given {
    const char *source;       /* where the inputs came from */
    struct tensor inputs;     /* (B, Tq, d_in); rank 0 for sdpa */
    struct tensor key_inputs; /* (B, Tk, d_key_in): the inputs, or */
    bool is_cross;            /* those of cross-attention */
    bool residual;            /* the inputs are the residual stream: their norm comes first */
    double clip;              /* query, key and value lie within +-clip; 0: as they are */
    /* sdpa, and a step of others: query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v), past included;
     * in the working dtype itself, as they lie in a file of that dtype */
    struct tensor operands[3];
    const struct problem_pages *pages;         /* that key and value lie in; or NULL */
    const char *not_finite;                    /* which of them holds NaN or infinity, as far as is known; NULL: none */
    struct input_tensor others[INPUT_TENSORS]; /* for a result to be an input again */
    size_t other_count;
};

#endif
