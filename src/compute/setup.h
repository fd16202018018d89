/* SPDX-License-Identifier: MIT */
/* Prepares reference.c: memory; query, key and value, projected in double or by the kernels, or as given; row
 * statistics; and all that the fused path makes.
 *
 * B items of a batch, H heads, S selected queries. */
#pragma once

#include "compute/reference.h"

/* Prepares what the stages (closed under stage_closure) need. The caller sets only the first five fields of the
 * attention. The arena owns the held tensors. STATUS_SYSTEM, before the work starts: out of memory; STATUS_USAGE:
 * --kernel asked for the fused path, and query, key or value is not finite. */
enum status setup_attention(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* Fails with STATUS_SYSTEM and both sizes if the system lacks so many bytes. Systems promise more memory than they
 * have, so attn asks before the work starts. */
enum status setup_room(double needed, struct error *error);

/* How many threads so much work is worth. */
unsigned setup_threads(const struct problem *problem, double multiply_adds);
