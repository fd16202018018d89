/* SPDX-License-Identifier: MIT */
/* Options and input files -> one validated attention problem. Every shape is checked here: those of parameters in
 * problem/parameters.c, all others in build_*.c. What comes after relies on it. */
#ifndef ATTN_BUILD_PROBLEM_CREATE_H
#define ATTN_BUILD_PROBLEM_CREATE_H

#include "build/job_files.h"
#include "problem/problem.h"

/* Makes the problem of the options and the files. The settings of the inputs' file count where the command line says
 * nothing. The problem points into the files and into the arena.
 * STATUS_USAGE where something does not fit, STATUS_SYSTEM where memory is short. */
enum status problem_create(struct problem *problem, const struct options *options, const struct job_files *files,
                           struct arena *arena, struct error *error);

#endif
