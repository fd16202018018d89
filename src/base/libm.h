/* SPDX-License-Identifier: MIT */
/* A fingerprint of how the C library's functions compute on this machine.
 *
 * A C library has several variants of a function, and chooses by the processor: glibc's exp, log and tanh have other
 * last bits where there is no FMA. libm_fingerprint infers the variant from results, not from the processor. */
#pragma once

#include <stdint.h>

/* A set of functions. The square root has the same bits everywhere. */
enum {
    LIBM_EXP = 1 << 0,
    LIBM_EXP2 = 1 << 1,
    LIBM_LOG = 1 << 2,
    LIBM_TANH = 1 << 3,
    LIBM_POW = 1 << 4,
    LIBM_COS = 1 << 5,
    LIBM_SIN = 1 << 6,
};

/* A hash of results that are hard to round: equal for the same variants. 0 for no function. */
uint64_t libm_fingerprint(unsigned functions);
