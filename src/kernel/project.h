/* SPDX-License-Identifier: MIT */
/* The dense projection with the vector kernels: query, key, value and output of a large job.
 *
 *   B items of a batch, T rows of each, d_in columns of x, d_out of y.
 *
 * Packs the weight into panels as wide as the kernel's lanes, a piece at a time, once for all rows; widens a narrower
 * one. A task is a block of rows and some panels; of few rows and a transposed weight, a panel, packed by its thread.
 * Every sum begins with the bias and runs over the columns of x in ascending order, so rows and threads change no bits;
 * another instruction set may.
 *
 * x, weight and bias must be finite. An overflow inside gives infinities or NaN in the numbers concerned. */
#pragma once

#include "kernel/kernel.h"
#include "kernel/work.h"
#include "tensor/dtype.h"

/* y = x . W + bias. The strides (in numbers) put column h d_head + c of row i of item b at y[b item_stride + h
 * head_stride + i row_stride + c]; this can split heads:
 *
 *     y                      d_head   row_stride   head_stride      item_stride
 *     (B, T, d_out)          d_out    d_out        0                T d_out
 *     (B, H, T, d_head)      d_head   d_head       T d_head         H T d_head
 */
struct project_job {
    const void *x;      /* (B, T, d_in) */
    const void *weight; /* (d_in, d_out), or (d_out, d_in) if transposed, of a dtype that fits the kernel's numbers: */
    enum dtype weight_dtype;
    const void *bias;   /* (d_out), or NULL */
    void *y;            /* written by the strides; must not overlap the rest */
    size_t items, rows; /* B, T */
    size_t d_in, d_out;
    bool transposed;
    size_t d_head, row_stride, head_stride, item_stride;
    unsigned threads;            /* at most; small jobs use one */
    const struct kernel *kernel; /* one with `project`; x, bias and y hold its numbers */
    struct work_progress progress;
};

/* Writes all of y, or fails with STATUS_SYSTEM before it writes anything. Allocates and frees a packed piece of the
 * weight, 8 MB per thread (or one panel, if larger) but no more than the weight, and 32 KB per thread. Sizes are at
 * least 1; fastest with y aligned to KERNEL_ALIGNMENT. */
enum status project_compute(const struct project_job *projection, struct error *error);
