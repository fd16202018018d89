/* SPDX-License-Identifier: MIT */
/* The gate of the contexts. */
#pragma once

#include "problem/problem.h"

/* What makes a gate of inputs . W_gate^T; gate_sigmoid is the right one. */
typedef double gate_function(double x);
gate_function gate_sigmoid;

/* Makes given.gate (B, H, Tq, d_v) of the inputs in the working dtype, if the parameters have a gate. It lives in the
 * arena. STATUS_SYSTEM: out of memory. */
enum status gate_make(struct problem *problem, gate_function *function, struct arena *arena, struct error *error);
