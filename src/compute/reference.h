/* SPDX-License-Identifier: MIT */
/* The reference: one row through the stages, whose equations are in src/stage/.
 *
 * Each stage is computed in double from the stages before it as they are stored, and rounded once to the working
 * dtype as it is stored itself; with --rounding operations every operation on the way is rounded too. query, key and
 * value are held whole; a T x T stage is made a row at a time, so that it is never held.
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tk keys, S queries asked for, d_in columns of the inputs,
 *   d columns of one head of query and key, d_v of value. */
#ifndef ATTN_COMPUTE_REFERENCE_H
#define ATTN_COMPUTE_REFERENCE_H

#include "base/progress.h"
#include "compute/streamed_output.h"
#include "stage/head.h"

/* What one row needs on its way; a thread has its own. setup.c lays it out. */
struct attention_scratch {
    double *query;             /* (2 d) query, each number twice */
    double *bias;              /* (Tk) what the mask adds to the present row; minus infinity: the key is forbidden */
    double *cast;              /* (Tk) masked in the dtype of the softmax */
    double *rows[STAGE_COUNT]; /* the present row, rounded, of each stage that is made row by row, and of query */
};

/* Made by setup_attention, from its first five. */
struct attention {
    const struct problem *problem;
    struct progress *progress;        /* where the work tells how far it is */
    const size_t *positions;          /* (S) the queries that will be asked for, from 0, ascending */
    size_t computed_rows;             /* S */
    double extra_bytes;               /* bytes that the backward pass will hold besides, for the forecast */
    struct streamed_output *streamed; /* where rows of the context go as they are made */
    bool fused;                       /* context, output and row statistics are made by the fused path */
    double *exact_lse;                /* (B, H, S) lse of the fused path before it is rounded; or NULL */
    /* By stage, what is held whole; else rank 0. query (B, H, S, d), key (B, H_kv, Tk, d) and value (B, H_kv, Tk, d_v),
     * rounded to the working dtype, where a stage asked for needs them; row statistics (B, H, S); and where the fused
     * path has made them, not yet rounded, output (B, S, columns) and, unless streamed, context (B, H, S, d_v). */
    struct tensor held[STAGE_COUNT];
    uint64_t made;            /* those of them that have their numbers: whatever makes one sets its bit */
    struct tensor sources[2]; /* (B, Tq, d_in), (B, Tk, d_key_in): what query, and key and value, are made of */
    struct head *head;        /* whose rows are made at present, key and value as doubles; NULL where none are */
    bool *kept;               /* (B, H, S, Tk) of the plain path: what dropout keeps; else NULL */
    double *out_weight;       /* (H d, d_out) out_proj as y = x . W; or NULL */
    double *out_bias;         /* (d_out); or NULL */
    struct attention_scratch *scratch; /* (threads) */
    unsigned threads;                  /* that are worth while for its rows, */
    unsigned output_threads;           /* and for out_proj */
};

/* Before rows of a head of an item are made: its key and value, as these stages need them. Not while rows are made. */
void reference_begin(const struct attention *attention, size_t item, size_t head, uint64_t stages);

/* Slot `slot` of that head through what these stages are made of, row by row; the row of each that was asked for lies
 * in scratch->rows[stage] until the next call with that scratch. `kept` (Tk) says which weights dropout keeps; NULL:
 * all, unscaled. Threads may do it at the same time, each with its own scratch. */
void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, uint64_t stages, const bool *kept);

/* output = the heads' context side by side (H d_v), through out_proj where there is one, into output (its columns).
 * Threads may do it at the same time. */
void reference_output(const struct attention *attention, const double *context, double *output);

#endif
