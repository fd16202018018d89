/* SPDX-License-Identifier: MIT */
/* Prepares reference.c: memory; query, key and value, projected in double or by the kernels, or as given; row
 * statistics; and all that the fused path makes.
 *
 * B items of a batch, H heads, S selected queries. */
#pragma once

#include "compute/reference.h"

/* Prepares what the stages (closed under stage_closure) need. The caller sets only the first six fields of the
 * attention. The arena owns the held tensors. STATUS_SYSTEM, before the work starts: out of memory; STATUS_USAGE:
 * --kernel asked for the fused path, and query, key or value is not finite. */
enum status setup_attention(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* Fills the tensors of attention->held that `stages` need and that have room, with all of query, key and value:
 * projected in double or by the kernels, or as given; and the steps before them: the layer's norm, then the norm and
 * the rotation of query and key. STATUS_SYSTEM: out of memory. */
enum status operands_make(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* Copies the selected queries' rows from a tensor of all, one matrix after another. */
void operands_gather(const struct attention *attention, const struct tensor *all, size_t matrices, size_t columns,
                     const struct tensor *gathered);

/* For mistakes that no problem can express: fills `attention` by mistake/plain.h with all of these stages, a set closed
 * under stage_closure, of the problem's rows. STATUS_SYSTEM: out of memory. */
enum status plain_path(struct attention *attention, const struct problem *problem, uint64_t stages, struct arena *arena,
                       struct error *error);

/* Fails with STATUS_SYSTEM and both sizes if the system lacks so many bytes. Systems promise more memory than they
 * have, so attn asks before the work starts. */
enum status setup_room(double needed, struct error *error);

/* How many threads so much work is worth. */
unsigned setup_threads(const struct problem *problem, double multiply_adds);
