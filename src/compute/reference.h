/* The reference: the equations of attention, one stage after another, made to be read.
 *
 * Each stage is computed in double from the stages before it as they are stored, and rounded once to the working dtype as
 * it is stored itself; with --rounding operations every operation on the way is rounded too. query, key and value are
 * held whole; a T x T stage is made a row at a time, so that it is never held.
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tk keys, S queries asked for, d_in columns of the inputs,
 *   d columns of one head of query and key, d_v of value.
 *
 * The equations are those of Vaswani et al. 2017, "Attention Is All You Need", eq. 1 and section 3.2.2; grouped heads
 * those of Ainslie et al. 2023, "GQA", section 2.2; the softcap that of Gemma Team 2024, "Gemma 2", section 2. */
#ifndef ATTN_COMPUTE_REFERENCE_H
#define ATTN_COMPUTE_REFERENCE_H

#include "base/progress.h"
#include "problem/problem.h"

/* What one row needs on its way; a thread has its own. setup.c lays it out. */
struct attention_scratch {
    double *operand;           /* (d or d_v) a row of key or value, as doubles */
    double *scaled_query;      /* (d) query x root of the scale */
    double *bias;              /* (Tk) what the mask adds to the present row; minus infinity: the key is forbidden */
    bool empty;                /* it forbids all */
    double *cast;              /* (Tk) masked in the dtype of the softmax */
    double *rows[STAGE_COUNT]; /* (Tk) the present row of each T x T stage, rounded; context: (d_v); query: (d) */
};

/* Made by setup_attention. */
struct attention {
    const struct problem *problem;
    struct progress *progress; /* where the work tells how far it is */
    const size_t *positions;   /* (S) the queries that will be asked for, from 0, ascending */
    size_t slots;              /* S */
    bool fused;                /* context, output and lse are made by the fused path */
    struct tensor query;       /* (B, H, S, d) rounded to the working dtype; rank 0 where no stage asked for needs it */
    struct tensor key;         /* (B, H_kv, Tk, d); or rank 0 */
    struct tensor value;       /* (B, H_kv, Tk, d_v); or rank 0 */
    struct tensor context;     /* (B, H, S, d_v) where the fused path has made it, not yet rounded; or rank 0 */
    struct tensor output;      /* (B, S, columns) likewise */
    struct tensor lse;         /* (B, H, S); or rank 0 */
    double *out_weight;        /* (H d, d_out) out_proj as y = x . W; or NULL */
    double *out_bias;          /* (d_out); or NULL */
    struct attention_scratch *scratch; /* (threads) */
    unsigned threads;                  /* that are worth while for its rows, */
    unsigned output_threads;           /* and for out_proj */
};

/* Slot `slot` of one head of one item through the stages from scores to `last`, which may be context; each lies in
 * scratch->rows[stage] until the next call with that scratch. `kept` (Tk) says which weights dropout keeps; NULL: all,
 * unscaled. Threads may do it at the same time, each with its own scratch. */
void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, enum stage last, const bool *kept);

/* lse of that row, rounded to the working dtype. */
double reference_lse(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                     size_t slot);

/* output = the heads' context side by side (H d_v), through out_proj where there is one, into output (its columns).
 * Threads may do it at the same time. */
void reference_output(const struct attention *attention, const double *context, double *output);

/* y = x . W + bias, one row.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   y       (d_out) written */
void reference_project(const double *x, const double *weight, const double *bias, double *y, size_t d_in, size_t d_out);

#endif
