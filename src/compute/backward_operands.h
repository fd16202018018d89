/* SPDX-License-Identifier: MIT */
/* --grad, from query, key and value back to inputs and parameters: through the scale, rotation and norm of query and
 * key, the projections and the norm of the inputs. In double, tokens on all threads; every sum takes them in order.
 *
 *   B items of a batch, H heads, H_kv of key and value, T tokens, d and d_v columns of a head. */
#pragma once

#include "compute/backward_sums.h"

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
