/* SPDX-License-Identifier: MIT */
/* --grad on the fused path: kernel/fused_backward.h makes the gradients of query, key and value in the numbers of its
 * kernel; the rest of the backward pass goes on in double. Memory grows with T d. */
#pragma once

#include "compute/reference.h"

/* From grad_context (B, H, Tq, d_v) adds to what `back` holds, all F64 and 0: grad_query, grad_key, grad_value, and
 * grad_sinks if it has a rank; writes contexts (B, H, Tq, d_v) if it has a rank. *made is false if the reference has to
 * do it: query, key, value or grad_context is not finite, or a gradient overflowed. STATUS_USAGE: the same, but
 * --kernel asked for the fused path; STATUS_SYSTEM: out of memory. */
enum status backward_fused(const struct attention *back, const struct tensor *contexts, const struct problem *problem,
                           bool *made, struct error *error);
