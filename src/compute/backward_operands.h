/* SPDX-License-Identifier: MIT */
/* --grad, from query, key and value back to inputs and parameters: through the scale, rotation and norm of query and
 * key, the projections and the norm of the inputs. In double, tokens on all threads; every sum takes them in order.
 *
 *   B items of a batch, H heads, H_kv of key and value, T tokens, d and d_v columns of a head. */
#pragma once

#include "compute/reference.h"

/* Gradients, of F64; rank 0: none. */
struct backward_operands {
    struct tensor projected[PROJECTION_COUNT]; /* (B, H, Tq, d), (B, H_kv, Tk, d) if a step follows; none of value */
    struct tensor normed[PROJECTION_COUNT];    /* the same, if a step follows a norm */
    struct tensor inputs, key_inputs;          /* (B, Tq, d_in); (B, Tk, d_key_in) for cross-attention */
    struct parameters parameters;              /* each with the shape of its parameter */
};

/* Bytes of these gradients and of the room for making them. */
double backward_operands_bytes(const struct problem *problem);

/* Makes all of them but those of out_proj and T5's table.
 *   problem  in double
 *   made     (B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v): the gradients with respect to query, key and value
 *   gate     (B, H, Tq, d_v) the same for the gate; rank 0: none
 * They live in the arena. STATUS_SYSTEM: out of memory. */
enum status backward_operands(struct backward_operands *gradients, const struct problem *problem,
                              const struct tensor made[PROJECTION_COUNT], const struct tensor *gate,
                              struct arena *arena, struct error *error);

/* --- the fused path: from the context to query, key and value ----------------------------------------------------- */

/* kernel/fused_backward.h makes the gradients of query, key and value in the numbers of its kernel; the rest of the
 * backward pass goes on in double. Memory grows with T d.
 * From grad_context (B, H, Tq, d_v) adds to what `back` holds, all F64 and 0: grad_query, grad_key, grad_value, and
 * grad_sinks if it has a rank; writes contexts (B, H, Tq, d_v) if it has a rank. *made is false if the reference has to
 * do it: query, key, value or grad_context is not finite, or a gradient overflowed. STATUS_USAGE: the same, but
 * --kernel asked for the fused path; STATUS_SYSTEM: out of memory. */
enum status backward_fused(const struct attention *back, const struct tensor *contexts, const struct problem *problem,
                           bool *made, struct error *error);

/* --- sums over tokens --------------------------------------------------------------------------------------------- */

/* Gradients with respect to parameters: sums over tokens, some tokens at a time. Each number of a gradient adds its
 * tokens in order, so its bits are the same for any number of threads. */

/* y = x . weight + bias, and the offsets in a token's room of x (d_in) and of the gradient with respect to y
 * (d_out). */
struct backward_product {
    const struct projection *gradient;
    size_t x, above;
};

/* A norm, and the offsets in a token's room of what it adds: for each of `count` normalised columns, which may be those
 * of several heads that share a weight. */
struct backward_norm {
    const struct norm *gradient;
    size_t by_weight, by_bias, count;
};

enum { BACKWARD_NORMS = 3 };

struct backward_sums {
    struct backward_product *products;
    size_t product_count;
    struct backward_norm norms[BACKWARD_NORMS];
    size_t norm_count;
    double *rooms; /* (tokens_at_once, room) */
    size_t room, tokens_at_once;
};

/* Allocates rooms of `room` numbers, as many as pay for so many tokens. STATUS_SYSTEM: out of memory. */
enum status backward_sums_create(struct backward_sums *sums, size_t room, size_t tokens, struct arena *arena,
                                 struct error *error);

double backward_sums_bytes(size_t room, size_t tokens);

/* Adds the first `tokens` rooms to the gradients. A gradient of 0 from above adds nothing, whatever x is. */
void backward_sums_add(const struct backward_sums *sums, const struct problem *problem, size_t tokens);
