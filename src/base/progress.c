/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 20, LEAST_BAR = 5, FIGURES_BYTES = 160 };

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

/* Draws one line that never reaches the terminal's edge: the bar gets the columns that the figures leave. */
static void draw(struct progress *progress, double done, double seconds)
{
    char bar[BAR + 4] = "", figures[FIGURES_BYTES];
    const double share = progress->total > 0 ? done / progress->total : 1;
    const double rate = seconds > 0 ? done / seconds : 0;
    struct text text = text_begin(figures, sizeof figures);
    text_add(&text, " %3.0f %%  %.0f of %.0f rows", share * 100, done, progress->total);
    if (rate > 0)
        text_add(&text, "  %.0f rows/s  %.0f s left", rate, (progress->total - done) / rate);
    struct winsize size;
    const bool sized = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const size_t columns = (sized ? size.ws_col : 80U) - 1, before = strlen("attn: ") + strlen(progress->name);
    const size_t taken = before + text.length;
    const size_t room = memory_left(columns, taken + 3), width = room < BAR ? room : BAR;
    if (width >= LEAST_BAR) {
        memset(bar, '-', width + 3);
        memset(bar + 2, '#', (size_t)(share * (double)width));
        bar[0] = ' ';
        bar[1] = '[';
        bar[width + 2] = ']';
    }
    fprintf(stderr, "\rattn: %s%s%.*s\033[K", progress->name, bar,
            (int)memory_smaller(text.length, memory_left(columns, before)), figures);
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

void progress_stop(struct progress *progress)
{
    progress_end(progress);
    progress->wanted = false;
}
