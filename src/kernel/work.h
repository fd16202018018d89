/* SPDX-License-Identifier: MIT */
/* The work of fused.c, fused_backward.c and project.c: scratch, threads and progress. */
#pragma once

#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Progress: the calling thread calls report(context, share), with share growing from 0 to 1, after each of its tasks
 * (some milliseconds) and at the end. report may be NULL. */
struct work_progress {
    void (*report)(void *context, double share);
    void *context;
};

/* Starts with `progress` and `total` set. */
struct work_counter {
    const struct work_progress *progress;
    double total; /* in the unit of the amounts */
    atomic_uint_least64_t done;
};

/* Adds `amount` to the work done. Thread 0, the caller's, reports for all. */
void work_count(struct work_counter *counter, uint64_t amount, unsigned thread);

/* Reports that all is done. */
void work_end(const struct work_progress *progress);

/* `threads`, or 1 if the work is not worth a second one. */
unsigned work_threads(unsigned threads, double multiply_adds);

/* shared + threads x own, in bytes, and room to align the start; SIZE_MAX on overflow. */
size_t work_scratch_bytes(size_t shared, size_t own, unsigned threads);

/* Allocates `bytes` from the arena, aligned to KERNEL_ALIGNMENT; NULL and error as arena_allocate. */
void *work_scratch(struct arena *arena, size_t bytes, struct error *error);

/* a x b x size bytes, rounded up to keep what follows aligned; SIZE_MAX on overflow. */
size_t work_bytes(size_t a, size_t b, size_t size);

/* a / b, rounded up. */
static inline size_t work_ceil_divide(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}
