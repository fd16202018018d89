/* SPDX-License-Identifier: MIT */
/* What reference.c needs before its first row: memory; query, key and value, projected in double or on the kernels,
 * or as they were given; row statistics; and what the fused path makes as a whole.
 *
 * B items of a batch, H heads, S queries asked for. */
#ifndef ATTN_COMPUTE_SETUP_H
#define ATTN_COMPUTE_SETUP_H

#include "compute/reference.h"

/* Prepares what the stages (closed under stage_closure) need. Of the attention only what it is made from is set. What
 * is held comes from the arena. STATUS_SYSTEM where memory is short, said before the work starts; STATUS_USAGE where
 * the fused path was asked for and query, key or value is not finite. */
enum status setup_attention(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* Whether so many bytes are there. The system promises more than it has: what cannot be is said before the work starts,
 * with both sizes, by STATUS_SYSTEM. */
enum status setup_room(double needed, struct error *error);

/* How many threads are worth while for so much work. */
unsigned setup_threads(const struct problem *problem, double multiply_adds);

#endif
