#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_start(struct progress *progress, bool wanted, bool always)
{
    *progress = (struct progress){.wanted = wanted && (always || isatty(STDERR_FILENO)), .at_once = always};
}

void progress_begin(struct progress *progress, const char *name, double rows)
{
    progress_end(progress);
    progress->name = name;
    progress->total = rows;
    progress->complete = false;
    progress->started = now();
    progress->drawn = progress->at_once ? 0 : progress->started + 0.9;
}

static void draw(struct progress *progress, double done, double seconds)
{
    char bar[BAR + 1] = "";
    const double share = progress->total > 0 ? done / progress->total : 1;
    const double rate = seconds > 0 ? done / seconds : 0;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(share * BAR) ? '#' : '-';
    fprintf(stderr, "\rattn: %s [%s] %3.0f %%  %.0f of %.0f rows", progress->name, bar, share * 100, done,
            progress->total);
    if (rate > 0)
        fprintf(stderr, "  %.0f rows/s  %.0f s left", rate, (progress->total - done) / rate);
    fputs("\033[K", stderr);
    fflush(stderr);
    progress->shown = true;
}

void progress_update(struct progress *progress, double done)
{
    if (!progress->wanted || progress->name == NULL || progress->complete)
        return;
    const double time = now();
    if (time - progress->drawn < 0.1 && done < progress->total)
        return;
    if (done >= progress->total && !progress->shown && !progress->at_once)
        return;
    progress->drawn = time;
    progress->complete = done >= progress->total;
    draw(progress, done, time - progress->started);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs(progress->at_once ? "\n" : "\r\033[K", stderr);
    progress->shown = false;
    progress->name = NULL;
}
