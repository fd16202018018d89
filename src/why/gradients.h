/* SPDX-License-Identifier: MIT */
/* The gradients of a guess, as in --grad: compute/ makes them from the guess's problem. */
#pragma once

#include "problem/problem.h"

struct mine;

/* The gradient with respect to a parameter: its name and shape. */
struct gradient {
    const char *name; /* "grad_W_query.weight" */
    size_t rank, shape[TENSOR_RANK];
};

/* Lists those of all parameters, in the arena, without computing them. STATUS_SYSTEM: out of memory. */
enum status gradients_list(const struct problem *problem, const struct gradient **gradients, size_t *count,
                           struct arena *arena, struct error *error);

/* Makes the gradients of the tables, each complete: made[i] (mine_whole); NULL for a table that is no gradient, or
 * whose parameter is missing. On one thread. STATUS_SYSTEM: out of memory. */
enum status gradients_make(const struct problem *problem, const struct mine *mine, const double **made,
                           struct arena *arena, struct error *error);
