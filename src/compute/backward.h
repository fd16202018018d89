/* SPDX-License-Identifier: MIT */
/* --grad: the backward pass, from the gradient with respect to the last stage to those with respect to all before it.
 *
 * backward_fused.c has the part of the fused path. All else is computed in double from the given numbers, the stages of
 * the forward pass too, as if --dtype were f64; so each gradient is rounded once, for output. T x T gradients are rows
 * on demand. One pass over the rows makes the sums over queries, each in the order of the rows, so the bits are the
 * same for any number of threads. Memory is O(T d).
 *
 *   B items of a batch, H heads, H_kv heads of key and value, Tq queries, Tk keys, d and d_v columns of a head. */
#pragma once

#include "compute/backward_operands.h"
#include "compute/row_stream.h"

struct backward {
    struct problem problem; /* the same in double, by the reference */
    /* held, besides query, key and value: grad_output (B, Tq, columns), grad_context and grad_gate (B, H, Tq, d_v),
     * grad_query (B, H, Tq, d), grad_key (B, H_kv, Tk, d), grad_value (B, H_kv, Tk, d_v), grad_sinks and
     * grad_alibi_slopes (H), and grad_attn_mask with the shape of attn_mask */
    struct attention attention;
    struct row_stream rows;
    struct tensor contexts;            /* (B, H, Tq, d_v), if out_proj or a gate has a gradient */
    struct tensor relative_bias;       /* the gradient with respect to T5's table */
    struct backward_operands operands; /* with respect to what query, key and value are made of */
};

/* Bytes that these gradients will hold, to report a lack of memory before any work. */
double backward_bytes(const struct problem *problem, uint64_t stages);

/* Makes the requested gradients that are held, and allocates all memory that rows will need. STATUS_SYSTEM: out of
 * memory. The problem must outlive it. */
enum status backward_create(struct backward *backward, const struct problem *problem, uint64_t stages,
                            struct progress *progress, struct arena *arena, struct error *error);

/* Row `row` of a T x T gradient, (Tk), of one query head of one item; also of the stages that it is made from, forward
 * ones included. */
void backward_row(struct backward *backward, enum stage stage, size_t item, size_t head, size_t row, double *numbers);
