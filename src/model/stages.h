/* SPDX-License-Identifier: MIT */
/* The facts of a stage that hold for every problem; the rows are in stage_rows.h. src/stage/ has a file for each stage:
 * when it applies, its formula and its arithmetic.
 *
 * Dimensions: B items of a batch, H heads of query, H_kv of key and value, Tq queries, Tk keys, d columns of a head of
 * query and key, d_v of value. T x T is Tq x Tk where queries and keys are not the same tokens. */
#pragma once

#include "model/stage_id.h"

#include <stdbool.h>
#include <stdint.h>

enum { STAGE_ALIASES = 2 };

/* What the columns of a stage are. */
enum stage_columns {
    STAGE_COLUMNS_D,          /* (…, d) */
    STAGE_COLUMNS_D_VALUE,    /* (…, d_v) */
    STAGE_COLUMNS_KEYS,       /* (…, Tk): it is T x T */
    STAGE_COLUMNS_D_IN,       /* (…, d_in) */
    STAGE_COLUMNS_D_KEY_IN,   /* (…, d_key_in) */
    STAGE_COLUMNS_OUTPUT,     /* those of all heads side by side, or of the output projection */
    STAGE_COLUMNS_WORDS,      /* one for each word of the vocabulary */
    STAGE_COLUMNS_MASK,       /* those of attn_mask, as its other axes */
    STAGE_COLUMNS_HEADS,      /* one for each head, and no other axis: sinks, slopes */
    STAGE_COLUMNS_PARAMETERS, /* one table per parameter, by name */
    STAGE_COLUMNS_OTHER,      /* of no stage */
    STAGE_COLUMNS_NONE,       /* one number for each query of each head: a row statistic */
};

struct stage_row {
    const char *name;
    const char *aliases[STAGE_ALIASES]; /* other names, read but never written; NULL where fewer */
    const char *foreign;                /* other people's names for it: suggest_knows; or NULL */
    uint64_t from;                      /* the stages it is made from, inputs and key inputs included */
    enum stage_columns columns;
    unsigned libm;    /* the functions of base/libm.h that it calls, besides those of the stages it is made from */
    uint64_t packed;  /* sdpa: the stage whose table it becomes with packed heads, as a set; or none */
    bool of_keys;     /* its rows are those of key and value, (B, H_kv, Tk, …); else (B, H, Tq, …) */
    bool joins_heads; /* its rows are those of all heads, (B, Tq, …) */
    bool operand;     /* an input of scaled dot-product attention */
    bool repeats;     /* its numbers are those of the stage that it is made from */
    bool whole_shape; /* it has axes of items and heads even where their size is 1 */
    bool shares;      /* its numbers are shares of a row, at least 0 */
    bool of_words;    /* the way from the output to the next word; its row is made from that of the stage before */
    bool on_demand;   /* shown only if --stages names it */
    bool infinite;    /* minus infinity marks a forbidden key */
    bool sums_square; /* a sum over T x T gradients, which the fused path never forms */
    bool backward;    /* a gradient, of --grad */
    bool on_page;     /* src/write/html/page has its equation */
    const char *help; /* a line of help */
    const char *hint; /* what to look at if it is wrong and those before it agree; or NULL */
};

/* Includes rows for the other names of --stages, and one for STAGE_NAMES, none. */
extern const struct stage_row STAGES[STAGE_NAMES + 1];
