/* SPDX-License-Identifier: MIT */
/* --grad, from query, key and value back to what they are made of: the scale, the rotation and the norm of query and
 * key, the projections, the norm of the inputs. All in double, the tokens on all threads; every sum
 * goes over them in their order.
 *
 *   B items of a batch, H heads, H_kv of key and value, T tokens, d and d_v columns of a head. */
#ifndef ATTN_COMPUTE_BACKWARD_OPERANDS_H
#define ATTN_COMPUTE_BACKWARD_OPERANDS_H

#include "compute/backward_sums.h"

/* Gradients, of F64; rank 0 where there is nothing of it. */
struct backward_operands {
    struct tensor projected[PROJECTION_COUNT]; /* (B, H, Tq, d), (B, H_kv, Tk, d) where a step follows; none of value */
    struct tensor normed[PROJECTION_COUNT];    /* the same, where a norm has a step behind it */
    struct tensor inputs, key_inputs;          /* (B, Tq, d_in), (B, Tk, d_key_in): the latter where they are others */
    struct parameters parameters;              /* each tensor as the parameter itself is shaped */
};

/* Bytes of all of them, and of the room in which they are made. */
double backward_operands_bytes(const struct problem *problem);

/* Makes all of them, those of out_proj and of T5's table not.
 *   problem  in double
 *   made     (B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v): the gradients with respect to query, key and value
 * They live in the arena. STATUS_SYSTEM where memory is short. */
enum status backward_operands(struct backward_operands *gradients, const struct problem *problem,
                              const struct tensor made[PROJECTION_COUNT], struct arena *arena, struct error *error);

#endif
