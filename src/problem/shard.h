/* Parts of a job: which queries belong to the K-th of N, and what a part is part of. */
#ifndef ATTN_PROBLEM_SHARD_H
#define ATTN_PROBLEM_SHARD_H

#include "problem/problem.h"

/* Narrows problem->rows to those of part K of N: the parts hold all rows once, in order, each at least one, and cost
 * about the same (a causal row costs as many keys as it sees). K in 1 .. N, N at most problem->row_count. */
void shard_select(struct problem *problem, size_t part, size_t parts);

/* 64 bits of the job: mechanism, settings, stages, queries, inputs and parameters. Parts of one job have the same. */
uint64_t shard_job(const struct problem *problem);

#endif
