/* --grad, from query, key and value back to what they are made of: the scale, the rotation and the norm of query and
 * key, the projections, the norm of the inputs. All in double, a token after another, so every sum has one order.
 *
 *   B items of a batch, H heads, H_kv of key and value, T tokens, d and d_v columns of a head. */
#ifndef ATTN_COMPUTE_BACKWARD_OPERANDS_H
#define ATTN_COMPUTE_BACKWARD_OPERANDS_H

#include "problem/problem.h"

/* Gradients, of F64; rank 0 where there is nothing of it. */
struct backward_operands {
    struct tensor projected[PROJECTION_COUNT]; /* (B, H, Tq, d), (B, H_kv, Tk, d) where a step follows; none of value */
    struct tensor normed[PROJECTION_COUNT];    /* the same, where a norm has a step behind it */
    struct tensor inputs, key_inputs;          /* (B, Tq, d_in), (B, Tk, d_key_in): the latter where they are others */
    struct parameters parameters;              /* each tensor as the parameter itself is shaped */
};

/* Whether there is a way back to inputs and parameters: not by way of a latent, whose gradients are not made. */
bool backward_reaches_parameters(const struct problem *problem);

/* Makes all of them, those of out_proj and of T5's table not.
 *   problem  in double
 *   made     (B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v): the gradients by query, key and value
 * They live in the arena. STATUS_SYSTEM where memory is short. */
enum status backward_operands(struct backward_operands *gradients, const struct problem *problem,
                              const struct tensor made[PROJECTION_COUNT], struct arena *arena, struct error *error);

/* Adds a row's share to the gradients of out_proj.
 *   contexts  (H d_v) all heads of a token, as they are made
 *   output    (d_output) the gradient by its row of output */
void backward_out_proj(struct backward_operands *gradients, const double *contexts, const double *output);

#endif
