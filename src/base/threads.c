/* SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include "base/system.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct work {
    size_t tasks;
    void (*run)(void *context, size_t task, unsigned thread);
    void *context;
    atomic_size_t next;
};

struct worker {
    pthread_t handle;
    unsigned thread;
    struct work *work;
};

/* pthread_create and pthread_join already make what one thread wrote visible to the others; the counter only gives out
 * numbers. */
static void take_tasks(struct work *work, unsigned thread)
{
    for (;;) {
        size_t task = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (task >= work->tasks)
            return;
        work->run(work->context, task, thread);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    take_tasks(worker->work, worker->thread);
    return NULL;
}

void threads_run(unsigned threads, size_t tasks, void (*run)(void *context, size_t task, unsigned thread),
                 void *context)
{
    struct work work = {.tasks = tasks, .run = run, .context = context};
    atomic_init(&work.next, 0);
    if (threads > tasks)
        threads = (unsigned)tasks;
    struct worker *workers = threads > 1 ? calloc(threads - 1, sizeof *workers) : NULL;
    unsigned started = 0;
    while (workers != NULL && started < threads - 1) {
        workers[started] = (struct worker){.thread = started + 1, .work = &work};
        if (pthread_create(&workers[started].handle, NULL, worker_main, &workers[started]) != 0)
            break;
        started++;
    }
    take_tasks(&work, 0);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].handle, NULL);
    free(workers);
}

unsigned threads_available(void)
{
    return system_processors();
}
