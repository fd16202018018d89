/* SPDX-License-Identifier: MIT */
/* query, key and value, held whole: projected in double or on the kernels, or as they were given; and what lies
 * before them: the layer's norm, then the norm and the rotation of query and key. */
#ifndef ATTN_COMPUTE_OPERANDS_H
#define ATTN_COMPUTE_OPERANDS_H

#include "compute/reference.h"

/* Fills those of attention->held that `stages` need and that there is room for. STATUS_SYSTEM where memory is short. */
enum status operands_make(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* The rows of queries that are asked for, of a tensor of all of them, one matrix after another. */
void operands_gather(const struct attention *attention, const struct tensor *all, size_t matrices, size_t columns,
                     const struct tensor *gathered);

#endif
