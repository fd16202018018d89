/* SPDX-License-Identifier: MIT */
/* The lanes of a tile of the fused path, forwards and backwards: which query of which head each is, and what the mask
 * does to its keys.
 *
 *   W is the kernel's lanes. */
#pragma once

#include "kernel/fused.h"

struct lanes {
    size_t item, head; /* the first head, counted in its item */
    size_t first;      /* its first query */
    size_t queries;    /* of a head */
    size_t count;      /* lanes in use, one head after another */
};

/* The query and the head of a lane; an unused lane repeats the last used one. */
static inline size_t lanes_query(const struct lanes *lanes, size_t lane)
{
    return lanes->first + memory_smaller(lane, lanes->count - 1) % lanes->queries;
}

static inline size_t lanes_head(const struct lanes *lanes, size_t lane)
{
    return memory_smaller(lane, lanes->count - 1) / lanes->queries;
}

/* The query as the mask counts it. */
static inline size_t lanes_position(const struct fused_job *job, size_t query)
{
    return job->positions != NULL ? job->positions[query] : query;
}

/* The keys that the mask's rules of position allow a query of an item. Neither end decreases from one query to the
 * next. */
static inline struct span lanes_span(const struct fused_job *job, size_t item, size_t query)
{
    return job->mask == NULL ? (struct span){0, job->keys} : mask_span(job->mask, item, lanes_position(job, query));
}

/* Whether the mask has attn_mask or rules of single keys. */
static inline bool lanes_are_biased(const struct fused_job *job)
{
    return job->mask != NULL && (job->mask->attn_mask.rank > 0 || mask_has_cells(job->mask));
}

/* Makes the adjustment one of the softcap, of scores times `scale`. False, and no change: there is none, or it changes
 * no logit that a softmax can tell apart. */
bool lanes_cap(const struct fused_job *job, double scale, struct kernel_adjustment *adjustment);

/* Converts a number per lane to the kernel's numbers. */
static inline void lanes_put(const struct fused_job *job, const double *numbers, void *row)
{
    dtype_store(job->kernel->number, numbers, job->kernel->lanes, row);
}

/* Marks each lane's span among `count` keys from key `first` on, from[lane] .. till[lane] - 1, (W) each; false: no lane
 * has any. `bounded` is false where every span holds all of them. */
bool lanes_mark(const struct fused_job *job, const struct lanes *lanes, bool bounded, size_t first, size_t count,
                int32_t *from, int32_t *till);

/* Writes each lane's slope of ALiBi, and the distance of its position from key `start`, (W) numbers each. */
void lanes_measure(const struct fused_job *job, const struct lanes *lanes, size_t start, void *slope, void *distance);

/* Writes to bias (count) what attn_mask, unless `plain`, and T5's table add to the scores of a lane, in the kernel's
 * numbers, for `count` keys from key `first` on. */
void lanes_load_bias(const struct fused_job *job, const struct lanes *lanes, size_t lane, size_t first, size_t count,
                     bool plain, void *bias);
