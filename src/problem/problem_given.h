/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the inputs of projections, or a given query, key and value. */
#ifndef ATTN_PROBLEM_PROBLEM_GIVEN_H
#define ATTN_PROBLEM_PROBLEM_GIVEN_H

#include "tensor/tensor.h"

#include <stdint.h>

/* Tensors of an input except `inputs`: attn_mask, alibi_slopes, sinks; for sdpa query, key, value, past_key,
 * past_value, kv_lengths, cu_seqlens_q, cu_seqlens_k, block_table, key_cache, value_cache. */
enum { INPUT_TENSORS = 14 };

struct input_tensor {
    const char *name;
    struct tensor tensor; /* rounded to the working dtype, unless boolean or whole */
};

/* Key and value in pages, as in the file, for mistakes. */
struct problem_pages {
    size_t count, size, per_item; /* pages of a cache, tokens of a page, pages of an item */
    size_t items;                 /* rows of the table: B, or the sequences */
    const int64_t *table;         /* (items, per_item) pages of the caches; -1: no such page */
    const size_t *lengths;        /* (items) tokens that attn reads */
    const int64_t *starts;        /* (items + 1) where sequences begin among the keys; NULL: none */
    struct tensor caches[3];      /* by enum projection_id, (count, size, H_kv, columns); not for query */
};

struct problem_given {
    const char *source;       /* the origin of the inputs */
    struct tensor inputs;     /* (B, Tq, d_in) with the positions added; rank 0 for sdpa */
    struct tensor bare;       /* the same before they are added: "inputs" of a result */
    struct tensor positions;  /* (Tq, d_in) what is added; rank 0: nothing */
    bool learns_positions;    /* these are rows of position_embedding, given or drawn; else sines */
    struct tensor key_inputs; /* (B, Tk, d_key_in): the inputs, */
    bool is_cross;            /* or those of cross-attention */
    bool residual;            /* the inputs are the residual stream: a norm comes first */
    const bool *heads_out;    /* (H) those that --without-heads leaves out of the output; or NULL */
    struct tensor gate;       /* (B, H, Tq, d_v) by which it multiplies the contexts; rank 0: none */
    double clip;              /* limits query, key and value to +-clip; 0: no limit */
    /* sdpa, and steps of other mechanisms: query (B, H, Tq, d), key (B, H_kv, Tk, d), value (B, H_kv, Tk, d_v), with
     * the past, in the working dtype itself */
    struct tensor operands[3];
    const struct problem_pages *pages;         /* of key and value; or NULL */
    const char *not_finite;                    /* a known one with NaN or infinity; or NULL */
    struct input_tensor others[INPUT_TENSORS]; /* so that a result can be an input again */
    size_t other_count;
};

#endif
