/* SPDX-License-Identifier: MIT */
/* The fused path backwards: the gradients of query, key and value, in memory that grows with T d, not T x T.
 *
 *   H query heads (the items of a batch are just more heads), Tq queries, Tk keys, d columns of query and key, d_v of
 *   value. `group` consecutive query heads read one key head, whose gradients are sums over them.
 *
 * For row i, with the gradient g of its context, in the terms of fused.h:
 *
 *     weight_j        = exp(masked_j - lse)                  recomputed, tile by tile
 *     grad_value_j   += weight_j g
 *     grad_masked_j   = weight_j (g . value_j - g . context)
 *     grad_scores_j   = grad_masked_j x (1 - tanh^2 of the softcap) x scale
 *     grad_query_i    = sum over j of grad_scores_j key_j
 *     grad_key_j     += grad_scores_j query_i
 *
 * (Dao et al. 2022, "FlashAttention", algorithm 4.) A tile is W queries and a block of keys; a tile computes its five
 * products once. Queries and keys have the same number of parts, whatever the number of threads. A round pairs each
 * part of the keys with a different part of the queries, so no two of its tasks add to the same sums. The rounds run
 * one after another:
 *
 *     round r:  keys of part k, queries of part (r - k) modulo the parts
 *
 * So the sums have one order, and the bits are the same for any number of threads. If there are as many key heads as
 * threads, each thread does a head alone. The code skips tiles that the mask forbids; a forbidden key adds exactly 0 to
 * its own gradient and to the query's. */
#pragma once

#include "kernel/lanes.h"

/* The caller keeps ownership of everything; outputs must not overlap the rest. Arrays hold the kernel's numbers, finite
 * but for the context and lse of empty rows. */
struct fused_backward_job {
    const struct fused_job
        *forward;             /* with its context, (H, Tq, d_v), no positions, and a kernel with `differentiate` */
    const double *lse;        /* (H, Tq): as fused_context makes it from that job, exact_lse */
    const void *grad_context; /* (H, Tq, d_v) */
    void *grad_query;         /* (H, Tq, d) written */
    void *grad_key;           /* (H / group, Tk, d) written */
    void *grad_value;         /* (H / group, Tk, d_v) written */
    double *grad_sinks;       /* (H) written, the sum of each head's rows, if the mask has sinks; or NULL */
};

/* Writes all gradients, or fails with STATUS_SYSTEM before it writes anything: out of memory for the scratch of
 * fused_backward_scratch_bytes(job), which it allocates and frees.
 *
 * The weights of an empty row are constants: the row adds nothing to grad_query, grad_key and grad_sinks. It adds g /
 * Tk to each grad_value if they are means, and NaN if they are NaN. Other rows whose lse is infinite or NaN, since
 * their scores overflowed, have gradients of NaN. */
enum status fused_backward(const struct fused_backward_job *job, struct error *error);

/* The bytes that fused_backward allocates: less than 200 KB per thread, and for as many key heads as threads about five
 * times their queries plus key and value, if d = d_v is a multiple of W. SIZE_MAX: no size_t holds it. */
size_t fused_backward_scratch_bytes(const struct fused_backward_job *job);
