/* SPDX-License-Identifier: MIT */
/* All of query, key and value: projected in double or by the kernels, or as given; and the steps before them: the
 * layer's norm, then the norm and the rotation of query and key. */
#pragma once

#include "compute/reference.h"

/* Fills the tensors of attention->held that `stages` need and that have room. STATUS_SYSTEM: out of memory. */
enum status operands_make(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error);

/* Copies the selected queries' rows from a tensor of all, one matrix after another. */
void operands_gather(const struct attention *attention, const struct tensor *all, size_t matrices, size_t columns,
                     const struct tensor *gathered);
