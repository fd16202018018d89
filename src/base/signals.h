/* SPDX-License-Identifier: MIT */
/* The signals that end a program, except those that report a bug. attn removes unfinished files before they do. */
#ifndef ATTN_BASE_SIGNALS_H
#define ATTN_BASE_SIGNALS_H

#include <signal.h>

enum { SIGNALS_COUNT = 11 };
extern const int SIGNALS[SIGNALS_COUNT];

/* Blocks them; sigprocmask(SIG_SETMASK) restores `before`. */
void signals_hold(sigset_t *before);

#endif
