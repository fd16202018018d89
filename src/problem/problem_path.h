/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): what computes a job. */
#ifndef ATTN_PROBLEM_PROBLEM_PATH_H
#define ATTN_PROBLEM_PROBLEM_PATH_H

#include "kernel/kernel.h"

#include <stdbool.h>

struct problem_path {
    unsigned threads;
    const struct kernel *kernel;    /* of attention, on query, key and value as they lie: what the processor has, */
    const struct kernel *projector; /* and of projections; or what ATTN_ISA names */
    bool fused;                     /* the fused path makes context, output and lse, if key and value are finite */
    bool fused_backward;            /* and grad_query, grad_key and grad_value, if grad_context is, too */
    const char *forced;      /* --kernel's word where it asked for the fused path: an overflow is then an error */
    bool kernel_projections; /* projections by the kernels */
};

#endif
