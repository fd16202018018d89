/* SPDX-License-Identifier: MIT */
#include "kernel/work.h"

#include "kernel/kernel.h"

enum { SMALL_WORK = 1 << 23 /* multiply-adds that take about as long as a thread needs to start */ };

void work_count(struct work_counter *counter, uint64_t amount, unsigned thread)
{
    const uint64_t done = atomic_fetch_add_explicit(&counter->done, amount, memory_order_relaxed) + amount;
    if (thread == 0 && counter->progress->report != NULL)
        counter->progress->report(counter->progress->context, (double)done / counter->total);
}

void work_end(const struct work_progress *progress)
{
    if (progress->report != NULL)
        progress->report(progress->context, 1);
}

unsigned work_threads(unsigned threads, double multiply_adds)
{
    return threads > 1 && multiply_adds >= (double)SMALL_WORK ? threads : 1;
}

size_t work_scratch_bytes(size_t shared, size_t own, unsigned threads)
{
    return memory_sum(memory_sum(memory_product(own, threads), shared), KERNEL_ALIGNMENT);
}

void *work_scratch(struct arena *arena, size_t bytes, struct error *error)
{
    char *memory = arena_allocate(arena, bytes, 1, error);
    if (memory == NULL)
        return NULL;
    return memory + (KERNEL_ALIGNMENT - (uintptr_t)memory % KERNEL_ALIGNMENT) % KERNEL_ALIGNMENT;
}

size_t work_bytes(size_t a, size_t b, size_t size)
{
    const size_t bytes = memory_product(memory_product(a, b), size);
    return bytes > SIZE_MAX - KERNEL_ALIGNMENT ? SIZE_MAX
                                               : work_ceil_divide(bytes, KERNEL_ALIGNMENT) * KERNEL_ALIGNMENT;
}
