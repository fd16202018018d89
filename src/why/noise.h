/* SPDX-License-Identifier: MIT */
/* How far rounding may move a result: computes the job again with its inputs moved by a unit in the dtype's last place.
 * A result that hardly depends on them moves little; a small difference of large terms moves as much as the terms. */
#pragma once

#include "problem/problem.h"

/* How often to compute it again: fewer times with large projections. */
unsigned noise_runs(const struct problem *problem);

/* One unit in the last place, relative to a number: 2^-23 for float32, and for float64, too, since few people give all
 * its digits. */
double noise_unit(enum dtype dtype);

/* Copies the problem and moves every number of its inputs, parameters, masks and gradient by `share` of it: up, down
 * or, for about half of them, not at all, depending on run 0 .. noise_runs - 1. The copy lives in the arena and shares
 * unmoved data with the problem. STATUS_SYSTEM: out of memory. */
enum status noise_move(struct problem *moved, const struct problem *problem, double share, unsigned run,
                       struct arena *arena, struct error *error);
