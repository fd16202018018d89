/* SPDX-License-Identifier: MIT */
/* Parts of a job: the queries of part K of N, and the job that a part belongs to. */
#pragma once

#include "problem/problem.h"

/* Narrows problem->rows to those of part K of N: the parts have all rows once, in order, each at least one, and cost
 * about the same (a row costs its allowed keys). K in 1 .. N, N at most problem->row_count. */
void shard_select(struct problem *problem, size_t part, size_t parts);

/* A hash of the job: mechanism, settings, stages, queries, inputs and parameters. All parts of a job have the same. */
uint64_t shard_job(const struct problem *problem);

/* libm_fingerprint of the functions that the job uses; 0: none. `fused`: the fused path made the context and lse. */
uint64_t shard_library(const struct problem *problem, bool fused);
