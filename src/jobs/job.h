/* SPDX-License-Identifier: MIT */
/* The end of a job: its stages, computed and written. */
#ifndef ATTN_JOBS_JOB_H
#define ATTN_JOBS_JOB_H

#include "build/problem_create.h"

/* STATUS_USAGE where the problem cannot be computed as the options ask. */
enum status job_check(const struct options *options, const struct problem *problem, struct error *error);

/* Computes the problem, writes its result or its steps to the open output, and closes it. STATUS_DIFFERENT where
 * --steps finds a difference. */
enum status job_run(const struct options *options, struct problem *problem, struct output *output, struct arena *arena,
                    struct error *error);

#endif
