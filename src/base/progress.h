/* SPDX-License-Identifier: MIT */
/* A bar on standard error for work that takes longer than a second: the share done, the rate, the time left.
 *
 *     attn: context [##########----------]  50 %  32768 of 65536 rows  23405 rows/s  1 s left
 *
 * Only the calling thread draws it, at most ten times a second, and erases it at the end of the work. */
#pragma once

#include <stdbool.h>

struct progress {
    bool wanted;      /* false: never draw */
    bool at_once;     /* draw before the first second too, and keep the last bar */
    double started;   /* seconds; when the present work began */
    double drawn;     /* when it was last drawn */
    const char *name; /* of the present work, or NULL */
    double total;     /* its rows */
    bool shown;       /* a bar is on the screen */
    bool complete;    /* it is full */
};

/* With `always` draws at once, wherever standard error goes; else only on a terminal, after a second. Never draws where
 * `wanted` is false. */
void progress_start(struct progress *progress, bool wanted, bool always);

/* Starts work of `rows` rows under that name, and ends the previous work. */
void progress_begin(struct progress *progress, const char *name, double rows);

void progress_update(struct progress *progress, double done);

void progress_end(struct progress *progress);

/* Ends the work and draws nothing from now on, for example before a result goes to the same terminal. */
void progress_stop(struct progress *progress);
