/* SPDX-License-Identifier: MIT */
/* Parts of a job: the queries of part K of N, and the job that a part belongs to. */
#ifndef ATTN_PROBLEM_SHARD_H
#define ATTN_PROBLEM_SHARD_H

#include "problem/problem.h"

/* Narrows problem->rows to those of part K of N: the parts hold all rows once, in order, each at least one, and cost
 * about the same (a causal row costs as many keys as it sees). K in 1 .. N, N at most problem->row_count. */
void shard_select(struct problem *problem, size_t part, size_t parts);

/* 64 bits of the job: mechanism, settings, stages, queries, inputs and parameters. Parts of one job have the same. */
uint64_t shard_job(const struct problem *problem);

/* 64 bits of the functions of the C library that numbers of the job go through, as they compute here; 0 where there are
 * none. `fused`: the context and lse were made by the fused path. */
uint64_t shard_library(const struct problem *problem, bool fused);

#endif
