/* SPDX-License-Identifier: MIT */
/* POSIX threads over a list of tasks. */
#pragma once

#include <stddef.h>

/* Calls run(context, task, thread) once for each task in 0 .. tasks and returns when all are done. Each thread takes
 * the next task as it finishes one, so tasks start in ascending order: put the heaviest first.
 *
 * The calling thread works too, as thread 0; the others have numbers below `threads`, by which a task finds its
 * scratch. One task, or `threads` of 0 or 1, starts no thread, and there are never more threads than tasks. Starting
 * and joining one costs about 0.1 ms; the caller asks for one thread where the work is less.
 *
 * It cannot fail: where the system refuses a thread or memory, fewer threads do the same tasks. The caller sees all
 * that the tasks wrote. */
void threads_run(unsigned threads, size_t tasks, void (*run)(void *context, size_t task, unsigned thread),
                 void *context);

/* How many processors this process may run on. */
unsigned threads_available(void);
