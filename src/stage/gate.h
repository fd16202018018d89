/* SPDX-License-Identifier: MIT */
/* The gate of the contexts. */
#ifndef ATTN_STAGE_GATE_H
#define ATTN_STAGE_GATE_H

#include "problem/problem.h"

/* What makes a gate of inputs . W_gate^T; gate_sigmoid is the right one. */
typedef double gate_function(double x);
gate_function gate_sigmoid;

/* Makes given.gate, in the arena, if the parameters have one. STATUS_SYSTEM: out of memory. */
enum status gate_make(struct problem *problem, gate_function *function, unsigned threads, struct arena *arena,
                      struct error *error);

#endif
