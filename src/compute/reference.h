/* SPDX-License-Identifier: MIT */
/* The reference: one row through the stages, whose equations are in src/stage/.
 *
 * Computes each stage in double from the stored stages before it, and rounds it once to the working dtype when it
 * stores it; --rounding operations rounds every operation, too. Holds query, key and value; makes T x T stages a row at
 * a time, so never holds one.
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tk keys, S selected queries, d_in columns of the inputs,
 *   d columns of one head of query and key, d_v of value. */
#pragma once

#include "base/output.h"
#include "base/progress.h"
#include "stage/head.h"

#include <stdatomic.h>

/* Scratch for one row, per thread. setup.c allocates it. */
struct attention_scratch {
    double *query;             /* (2 d) query, each number twice */
    double *bias;              /* (Tk) what the mask adds to the current row; minus infinity: forbids the key */
    double *cast;              /* (Tk) masked in the dtype of the softmax */
    double *rows[STAGE_COUNT]; /* the current row, rounded, of each stage made by row, and of query */
};

/* Streams a long context to a file: each thread writes its rows at their offset while others compute. Nothing holds
 * them. */
struct streamed_output {
    const struct output *output; /* NULL: no stream, the writer writes held rows later */
    uint64_t offset;             /* of the table in the file */
    enum dtype made, dtype;      /* of the computed numbers, and of the file's */
    bool begun;                  /* all rows come through the stream */
    atomic_int code;             /* errno of a failed write, or 0 */
};

/* setup_attention fills it, from its first six fields. */
struct attention {
    const struct problem *problem;
    struct progress *progress;       /* of the work */
    const size_t *positions;         /* (S) the selected queries, from 0, ascending */
    size_t computed_rows;            /* S */
    double extra_bytes;              /* bytes that the backward pass will hold besides, for the memory check */
    struct streamed_output streamed; /* takes rows of the context as they are made; a writer sets it before */
    bool fused;                      /* the fused path makes context, output and row statistics */
    double *exact_lse;               /* (B, H, S) lse of the fused path before rounding; or NULL */
    /* By stage, the held tensors; else rank 0. query (B, H, S, d), key (B, H_kv, Tk, d) and value (B, H_kv, Tk, d_v),
     * rounded to the working dtype, if a stage needs them; row statistics (B, H, S); and from the fused path, not yet
     * rounded, output (B, S, columns) and, unless streamed, context (B, H, S, d_v). */
    struct tensor held[STAGE_COUNT];
    uint64_t made;                     /* the filled ones: whatever makes one sets its bit */
    struct tensor sources[2];          /* (B, Tq, d_in) source of query; (B, Tk, d_key_in) of key and value */
    struct head *head;                 /* the current head, key and value as doubles; NULL: no rows */
    bool *kept;                        /* (B, H, S, Tk) plain path: what dropout keeps; else NULL */
    double *out_weight;                /* (H d, d_out) out_proj as y = x . W; or NULL */
    double *out_bias;                  /* (d_out); or NULL */
    double *unembedding;               /* (d_in, V); or NULL */
    double *unembedding_bias;          /* (V); or NULL */
    struct attention_scratch *scratch; /* (threads) */
    unsigned threads;                  /* worth using for its rows, */
    unsigned output_threads;           /* and for out_proj */
};

/* Loads key and value of a head of an item, as these stages need them. Call before its rows, never during them. */
void reference_begin(const struct attention *attention, size_t item, size_t head, uint64_t stages);

/* Makes row `slot` of that head of these stages and those they are made from; scratch->rows[stage] holds each until the
 * next call with that scratch. `kept` (Tk) says which weights dropout keeps; NULL: all, unscaled. Threads may call it
 * at the same time, each with its own scratch. */
void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, uint64_t stages, const bool *kept);
