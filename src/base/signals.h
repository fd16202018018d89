/* SPDX-License-Identifier: MIT */
/* The signals that end a program, except those that report a bug. attn removes unfinished files before they do. */
#pragma once

#include <signal.h>

enum { SIGNALS_COUNT = 11 };
extern const int SIGNALS[SIGNALS_COUNT];

/* Blocks them; sigprocmask(SIG_SETMASK) restores `before`. */
void signals_hold(sigset_t *before);
