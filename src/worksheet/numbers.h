/* SPDX-License-Identifier: MIT */
/* Whole numbers for a calculation by hand, drawn from a seed: inputs and weight matrices, or query, key and value.
 *
 * They are drawn until they are easy: query, key, value, scores and scaled are small whole numbers; the scores of a
 * query differ, by at most NUMBERS_SPREAD; no given row or column is all zeros, and no two given rows are the same. If
 * you round every number to two decimals and go on with those, you get the weights and the context of rounding at the
 * end, or differ by 0.01 at most. Nothing depends on the machine.
 *
 *   B items, T tokens, H heads, H_kv heads of key and value, d columns of a head of query and key, d_v of value. */
#pragma once

#include "base/memory.h"
#include "model/torch_random.h"

enum {
    NUMBERS_LARGEST = 3, /* magnitude of scaled */
    NUMBERS_SPREAD = 3,  /* of the scaled scores of a row; so there are four powers of e */
    NUMBERS_MOST = 12,   /* tokens, and columns of any table */
    NUMBERS_HEADS = 8,   /* and items */
};

enum numbers_table { NUMBERS_QUERY, NUMBERS_KEY, NUMBERS_VALUE, NUMBERS_TABLES };

struct numbers_plan {
    bool projects;                           /* there are inputs and matrices; else query, key and value themselves */
    size_t items, tokens, d_in;              /* B, T */
    size_t heads, kv_heads, d_head, d_value; /* H, H_kv, d, d_v */
    size_t d_output;                         /* rows of out_proj, (d_output, H d_v); 0: there is none */
    bool has_bias, causal;
    double scale;
};

struct numbers {
    float *inputs;                  /* (B, T, d_in) */
    float *weights[NUMBERS_TABLES]; /* by head: (H, d_in, d), (H_kv, d_in, d), (H_kv, d_in, d_v) */
    float *biases[NUMBERS_TABLES];  /* (H, d), (H_kv, d), (H_kv, d_v); all 0 without a bias */
    float *made[NUMBERS_TABLES];    /* query (B, H, T, d), key (B, H_kv, T, d), value (B, H_kv, T, d_v) */
    float *out;                     /* (d_output, H d_v) */
    bool strict;                    /* while they are looked for: weights by hand are the same, no two rows of inputs,
                                       columns of a matrix or heads are multiples of each other */
    bool easy;                      /* they are, in all that is said above; else whole and small, no more */
};

/* Draws the next ones. STATUS_SYSTEM where memory is short. */
enum status numbers_draw(struct numbers *numbers, const struct numbers_plan *plan, struct torch_random *generator,
                         struct arena *arena, struct error *error);

/* Whether all given numbers are the same. */
bool numbers_same(const struct numbers *a, const struct numbers *b, const struct numbers_plan *plan);
