/* SPDX-License-Identifier: MIT */
/* Every task runs once, whatever the number of threads, and each thread has a number of its own; and the
 * room that work takes. */
#include "base/threads.h"
#include "check.h"
#include "kernel/work.h"

#include <stdatomic.h>

enum { MOST_TASKS = 1000, MOST_THREADS = 64 };

struct record {
    atomic_int runs[MOST_TASKS];
    atomic_int busy[MOST_THREADS];
    atomic_int shared; /* how often two tasks ran under one number at a time, or under one out of range */
    unsigned threads;
};

static void note(void *context, size_t task, unsigned thread)
{
    struct record *record = context;
    if (thread >= record->threads || atomic_fetch_add(&record->busy[thread], 1) != 0)
        atomic_fetch_add(&record->shared, 1);
    atomic_fetch_add(&record->runs[task], 1);
    if (thread < record->threads)
        atomic_fetch_sub(&record->busy[thread], 1);
}

static void check_run(unsigned threads, size_t tasks)
{
    struct record record = {.threads = threads > 0 ? threads : 1};
    check_begin("%u threads, %zu tasks", threads, tasks);
    threads_run(threads, tasks, note, &record);
    for (size_t i = 0; i < MOST_TASKS; i++)
        CHECK(record.runs[i] == (i < tasks), "task %zu: expected %d runs, got %d", i, i < tasks, record.runs[i]);
    CHECK(record.shared == 0, "expected a number of its own for each thread, got %d clashes", record.shared);
}

static void note_once(void *context, size_t task, unsigned thread)
{
    int *order = context;
    CHECK(thread == 0, "expected the calling thread alone, got thread %u", thread);
    CHECK(*order == (int)task, "expected task %d next, got %zu", *order, task);
    ++*order;
}

int main(void)
{
    static const unsigned threads[] = {0, 1, 2, 3, 7, MOST_THREADS};
    static const size_t tasks[] = {0, 1, 2, 5, MOST_TASKS};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++)
        for (size_t j = 0; j < sizeof tasks / sizeof tasks[0]; j++)
            check_run(threads[i], tasks[j]);
    int order = 0;
    check_begin("one thread takes the tasks in order");
    threads_run(1, 100, note_once, &order);
    check_begin("scratch beyond memory");
    CHECK(work_scratch_bytes(100, SIZE_MAX - 10, 1) == SIZE_MAX, "expected SIZE_MAX for a sum beyond it");
    CHECK(work_scratch_bytes(0, SIZE_MAX / 2, 3) == SIZE_MAX, "expected SIZE_MAX for a product beyond it");
    CHECK(work_scratch_bytes(0, SIZE_MAX - 1, 1) == SIZE_MAX, "expected SIZE_MAX for bytes beyond it");
    CHECK(work_scratch_bytes(1, 2, 3) >= 7, "expected room for 7 bytes");
    return check_end();
}
