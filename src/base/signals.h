/* SPDX-License-Identifier: MIT */
/* The signals that end a program, without those that say it is broken: what is unfinished is removed before they do. */
#ifndef ATTN_BASE_SIGNALS_H
#define ATTN_BASE_SIGNALS_H

#include <signal.h>

enum { SIGNALS_COUNT = 11 };
extern const int SIGNALS[SIGNALS_COUNT];

/* From now on they wait; `before` is the mask that sigprocmask(SIG_SETMASK) brings back. */
void signals_hold(sigset_t *before);

#endif
