/* SPDX-License-Identifier: MIT */
/* What is known of a stage: the rows are in stage_rows.h. What a row says holds for every problem;
 * when a stage applies, its formula and its arithmetic are in src/stage/, a file for each.
 *
 * Dimensions: B items of a batch, H heads of query, H_kv of key and value, Tq queries, Tk keys, d columns of a head of
 * query and key, d_v of value. T x T is Tq x Tk where queries and keys are not the same tokens. */
#ifndef ATTN_MODEL_STAGES_H
#define ATTN_MODEL_STAGES_H

#include "model/stage_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAGE_ALIASES = 2 };

/* What a stage has columns of. */
enum stage_columns {
    STAGE_COLUMNS_D,          /* (…, d) */
    STAGE_COLUMNS_D_VALUE,    /* (…, d_v) */
    STAGE_COLUMNS_KEYS,       /* (…, Tk): it is T x T */
    STAGE_COLUMNS_D_IN,       /* (…, d_in) */
    STAGE_COLUMNS_D_KEY_IN,   /* (…, d_key_in) */
    STAGE_COLUMNS_OUTPUT,     /* those of all heads side by side, or of the output projection */
    STAGE_COLUMNS_MASK,       /* those of attn_mask, as its other axes */
    STAGE_COLUMNS_HEADS,      /* one for each head, and no other axis: as sinks and slopes */
    STAGE_COLUMNS_PARAMETERS, /* it is as many tables as there are parameters, by their names */
    STAGE_COLUMNS_OTHER,      /* of no stage */
    STAGE_COLUMNS_NONE,       /* one number for each query of each head: a row statistic */
};

struct stage_row {
    const char *name;
    const char *aliases[STAGE_ALIASES]; /* other names that are read, never written; NULL where there are fewer */
    const char *foreign;                /* what others call it: suggest_knows; or NULL */
    uint64_t from;                      /* what it is made from, inputs and key inputs included */
    enum stage_columns columns;
    unsigned libm; /* the functions of base/libm.h that its numbers go through, beside those of what it is made from */
    uint64_t packed;  /* sdpa: the stage whose table it has where the heads lie side by side, as a set; or none */
    bool of_keys;     /* its rows are those of key and value, (B, H_kv, Tk, …); else (B, H, Tq, …) */
    bool joins_heads; /* its rows are those of all heads, (B, Tq, …) */
    bool operand;     /* scaled dot-product attention takes it, so `sdpa` is given it */
    bool repeats;     /* its numbers are those of the stage that it is made from */
    bool whole_shape; /* it has the axes of items and heads even where the problem has one of them */
    bool shares;      /* its numbers are shares of a row: from 0 on, not around it */
    bool on_demand;   /* shown only where --stages names it */
    bool infinite;    /* minus infinity says that a key is forbidden */
    bool sums_square; /* it is summed over gradients that are T x T, which the fused path never forms */
    bool backward;    /* it is a gradient with respect to what it is named after: of --grad */
    bool on_page;     /* the page's script (src/write/html/page) has its equation */
    const char *help; /* what it is, in a line */
    const char *hint; /* what to look at where it departs and those before it agree; or NULL */
};

/* With a row for the other names of --stages, and one for none of them, STAGE_NAMES. */
extern const struct stage_row STAGES[STAGE_NAMES + 1];

#endif
