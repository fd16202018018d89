/* SPDX-License-Identifier: MIT */
/* --grad: the backward pass, from the gradient with respect to the last stage to those by all before it.
 *
 * What the fused path takes is backward_fused.h's. All else is computed in double from the numbers that are given, the
 * stages of the forward pass too, as if --dtype were f64; so a gradient is rounded once, where it is shown. T x T
 * gradients are rows on demand. Those that are sums over queries are made in one pass over the rows, each sum in the
 * order of the rows, so its bits are the same for any number of threads; what is held is O(T d).
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#ifndef ATTN_COMPUTE_BACKWARD_H
#define ATTN_COMPUTE_BACKWARD_H

#include "compute/backward_operands.h"
#include "compute/row_stream.h"
#include "compute/streamed_output.h"

struct backward {
    struct problem problem; /* the same in double, by the reference */
    /* held: besides query, key and value grad_output (B, Tq, columns), grad_context (B, H, Tq, d_v), grad_query
     * (B, H, Tq, d), grad_key (B, H_kv, Tk, d), grad_value (B, H_kv, Tk, d_v), grad_sinks and grad_alibi_slopes (H),
     * and grad_attn_mask as it was given */
    struct streamed_output streamed; /* none */
    struct attention attention;
    struct row_stream rows;
    struct tensor contexts;            /* (B, H, Tq, d_v) as they are made, where out_proj has a gradient */
    struct tensor relative_bias;       /* the gradient with respect to T5's table */
    struct backward_operands operands; /* by what query, key and value are made of, where that is asked for */
};

/* Bytes of all that will be held for these gradients, so that memory that is short is said before any work. */
double backward_bytes(const struct problem *problem, uint64_t stages);

/* Makes those of the gradients that are asked for and are held whole, and has all memory that rows will need.
 * STATUS_SYSTEM where memory is short. The problem must outlive it. */
enum status backward_create(struct backward *backward, const struct problem *problem, uint64_t stages,
                            struct progress *progress, struct arena *arena, struct error *error);

/* Row `row` of a T x T gradient, (Tk), of one head of one item; also of what such a row is made of, in the forward
 * pass: T x T, or held whole. The head is one of query. */
void backward_row(struct backward *backward, enum stage stage, size_t item, size_t head, size_t row, double *numbers);

/* What dropout keeps, (Tk), of the row of grad_weights that was asked for last. */
const bool *backward_kept(const struct backward *backward, size_t row);

#endif
