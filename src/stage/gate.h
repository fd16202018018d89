/* SPDX-License-Identifier: MIT */
/* The gate of the contexts. */
#ifndef ATTN_STAGE_GATE_H
#define ATTN_STAGE_GATE_H

#include "problem/problem.h"

/* Makes given.gate (B, H, Tq, d_v) of the inputs in the working dtype, if the parameters have a gate. It lives in the
 * arena. STATUS_SYSTEM: out of memory. */
enum status gate_make(struct problem *problem, struct arena *arena, struct error *error);

#endif
