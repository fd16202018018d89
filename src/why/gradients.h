/* SPDX-License-Identifier: MIT */
/* The gradients of a guess, as --grad has them: made by compute/, from the guess's problem. */
#ifndef ATTN_WHY_GRADIENTS_H
#define ATTN_WHY_GRADIENTS_H

#include "problem/problem.h"

struct mine;

/* The gradient with respect to a parameter: what it is called, and its shape. */
struct gradient {
    const char *name; /* "grad_W_query.weight" */
    size_t rank, shape[TENSOR_RANK];
};

/* Those of all parameters, in the arena, none made. STATUS_SYSTEM where memory is short. */
enum status gradients_list(const struct problem *problem, const struct gradient **gradients, size_t *count,
                           struct arena *arena, struct error *error);

/* Makes the gradients that the tables are, each whole: made[i] (mine_whole), NULL of a table that is none, or whose
 * parameter is not there. By one thread. STATUS_SYSTEM where memory is short. */
enum status gradients_make(const struct problem *problem, const struct mine *mine, const double **made,
                           struct arena *arena, struct error *error);

#endif
