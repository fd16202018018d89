/* SPDX-License-Identifier: MIT */
/* How far rounding may move a result: the numbers that a job is given, moved by a unit of a dtype's last place, and
 * what is made of them then. What hardly depends on them moves little; a small difference of large terms moves as the
 * terms do. */
#ifndef ATTN_WHY_NOISE_H
#define ATTN_WHY_NOISE_H

#include "problem/problem.h"

/* How often it is computed again. */
enum { NOISE_RUNS = 8 };

/* One unit of the last place, as a share of a number: 2^-23 of float32, and of float64, too, since few people hold all
 * of its digits. */
double noise_unit(enum dtype dtype);

/* A copy of the problem in which every number of its inputs, parameters, masks and gradient is moved by such a share of
 * it: up, down or, of every second one, not at all. Run 0 to NOISE_RUNS - 1 say which. The copy lives in the arena and
 * shares with the problem what is not moved. STATUS_SYSTEM where memory is short. */
enum status noise_move(struct problem *moved, const struct problem *problem, double share, unsigned run,
                       struct arena *arena, struct error *error);

#endif
