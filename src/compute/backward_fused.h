/* SPDX-License-Identifier: MIT */
/* --grad by the fused path: the gradients of query, key and value from kernel/fused_backward.h, in the numbers of its
 * kernel; what lies before them goes on from there in double. In memory that grows with T d. */
#ifndef ATTN_COMPUTE_BACKWARD_FUSED_H
#define ATTN_COMPUTE_BACKWARD_FUSED_H

#include "compute/reference.h"

/* Where *made is true afterwards, adds to what `back` holds, all F64 and 0: grad_query, grad_key, grad_value, and
 * grad_sinks where that has a rank, from grad_context (B, H, Tq, d_v); and writes contexts (B, H, Tq, d_v) where that
 * has one. It is false where the reference has to do it: query, key, value or grad_context is not finite, or a gradient
 * overflowed on the way. STATUS_USAGE where that is so and --kernel asked for the fused path; STATUS_SYSTEM where
 * memory is short. */
enum status backward_fused(const struct attention *back, const struct tensor *contexts, const struct problem *problem,
                           bool *made, struct error *error);

#endif
