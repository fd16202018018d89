/* SPDX-License-Identifier: MIT */
#include "base/system.h"
#include "cases/cases.h"

#include <stdlib.h>

/* In seconds: nobody fixes a kernel and runs it again in less. */
static const double SHORTEST_PAUSE = 5;

double case_written(const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0)
        return (double)NAN;
    const struct timespec written = system_written(&there);
    return (double)written.tv_sec + 1e-9 * (double)written.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* When the latest run began: after a pause between results that is longer than all other pauses together. Minus
 * infinity where there is no such pause: all results are of one run. Sorts `times`. */
static double find_begin(double *times, size_t count)
{
    double pause = 0, begin = -INFINITY;
    qsort(times, count, sizeof *times, by_time);
    for (size_t i = 1; i < count; i++)
        if (times[i] - times[i - 1] > pause) {
            pause = times[i] - times[i - 1];
            begin = times[i];
        }
    return pause >= SHORTEST_PAUSE && pause > times[count - 1] - times[0] - pause ? begin : -INFINITY;
}

enum status cases_find_earlier(struct cases_report *report, struct arena *arena, struct error *error)
{
    double *times = arena_allocate(arena, report->count, sizeof *times, error);
    size_t count = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    report->earlier = arena_allocate(arena, report->count, sizeof report->earlier[0], error);
    if (times == NULL || report->earlier == NULL)
        return error->status;
    for (size_t i = 0; i < report->count; i++)
        if (!isnan(report->checked[i].written))
            times[count++] = report->checked[i].written;
    const double begin = count > 0 ? find_begin(times, count) : -INFINITY;
    for (size_t i = 0; i < report->count; i++)
        if (report->checked[i].written < begin)
            report->earlier[report->earlier_count++] = report->checked[i].row->name;
    return STATUS_OK;
}
