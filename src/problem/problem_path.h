/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): how attn computes it. */
#ifndef ATTN_PROBLEM_PROBLEM_PATH_H
#define ATTN_PROBLEM_PROBLEM_PATH_H

#include "kernel/kernel.h"

#include <stdbool.h>

struct problem_path {
    unsigned threads;
    const struct kernel *kernel;    /* of attention, for query, key and value as stored: the processor's best, */
    const struct kernel *projector; /* of projections; both by ATTN_ISA if set */
    bool fused;                     /* the fused path makes context, output and lse, if key and value are finite */
    bool fused_backward;            /* and grad_query, grad_key and grad_value, if grad_context is finite too */
    const char *forced;      /* the word of --kernel that forces the fused path, where overflow is an error; or NULL */
    bool kernel_projections; /* kernels compute the projections */
};

#endif
