/* SPDX-License-Identifier: MIT */
/* The functions of the C library that numbers go through, as they compute here.
 *
 * A C library has several variants of a function, and chooses by the processor: glibc's exp, log and tanh have other
 * last bits where there is no FMA. Which one it chose is asked of the results, not of the processor. */
#ifndef ATTN_BASE_LIBM_H
#define ATTN_BASE_LIBM_H

#include <stdint.h>

/* A set of functions. The square root is the same bits everywhere. */
enum {
    LIBM_EXP = 1 << 0,
    LIBM_EXP2 = 1 << 1,
    LIBM_LOG = 1 << 2,
    LIBM_TANH = 1 << 3,
    LIBM_POW = 1 << 4,
    LIBM_COS = 1 << 5,
    LIBM_SIN = 1 << 6,
};

/* 64 bits of what they come to where a result is hard to round: the same where they are the same variants. 0 for no
 * function. */
uint64_t libm_fingerprint(unsigned functions);

#endif
