/* SPDX-License-Identifier: MIT */
/* A bar on standard error for work that takes longer than a second: the share done, the rate, the time left.
 *
 *     attn: context [##########----------]  50 %  32768 of 65536 rows  23405 rows/s  1 s left
 *
 * It is drawn from the calling thread alone, at most ten times a second, and wiped away at the end of the work. */
#ifndef ATTN_BASE_PROGRESS_H
#define ATTN_BASE_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool wanted;      /* false: nothing is ever drawn */
    bool at_once;     /* before the first second, too; and the last bar stays */
    double started;   /* seconds; when the present work began, and */
    double drawn;     /* when it was last drawn */
    const char *name; /* of the present work, or NULL */
    double total;     /* its rows */
    bool shown;       /* a bar is on the screen */
    bool complete;    /* and it is full */
};

/* `always` draws wherever standard error goes, at once; otherwise on a terminal alone, after a second; never where
 * `wanted` is false. */
void progress_start(struct progress *progress, bool wanted, bool always);

/* Work of that name and so many rows begins; what went before has ended. */
void progress_begin(struct progress *progress, const char *name, double rows);

/* So many of its rows are done. */
void progress_update(struct progress *progress, double done);

/* No work is under way any more. */
void progress_end(struct progress *progress);

/* The same, and nothing is drawn from now on: a result that goes to a terminal is not to be drawn over. */
void progress_stop(struct progress *progress);

#endif
