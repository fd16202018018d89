/* SPDX-License-Identifier: MIT */
/* Options and input files -> one validated attention problem. It checks every shape, those of parameters in
 * problem/parameters_take.c, all others in build_*.c; later code relies on that. */
#pragma once

#include "build/job_files.h"
#include "problem/problem.h"

/* Makes the problem from options and files. Settings of the inputs' file count where the command line sets none. The
 * problem points into the files and into the arena. STATUS_USAGE where something does not fit, STATUS_SYSTEM where
 * memory is short. */
enum status problem_create(struct problem *problem, const struct options *options, const struct job_files *files,
                           struct arena *arena, struct error *error);

/* Whether the mask is causal, by the mechanism and --causal; of cross-attention, or not. */
bool problem_asks_causal(const struct options *options, bool is_cross);
