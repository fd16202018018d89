/* SPDX-License-Identifier: MIT */
#include "base/signals.h"

#include <stddef.h>

const int SIGNALS[SIGNALS_COUNT] = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                    SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ};

void signals_hold(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        sigaddset(&set, SIGNALS[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}
