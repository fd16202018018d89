/* SPDX-License-Identifier: MIT */
/* The dense projection on the vector kernels: query, key, value and output of a large job.
 *
 *   B items of a batch, T rows of each, d_in columns of x, d_out of y.
 *
 * The weight is packed into panels as wide as the kernel's lanes, a piece of it at a time, once for all rows; a
 * narrower one is widened on the way. A task is a block of rows and some panels. Every sum begins with the bias
 * and runs over the columns of x in ascending order, so that rows and threads change no bits; another instruction set
 * may give other ones.
 *
 * x, weight and bias must be finite. What overflows inside gives infinities or NaN in the numbers concerned. */
#ifndef ATTN_KERNEL_PROJECT_H
#define ATTN_KERNEL_PROJECT_H

#include "kernel/kernel.h"
#include "kernel/work.h"
#include "tensor/dtype.h"

/* y = x . W + bias. The strides (in numbers) put column h d_head + c of row i of item b at
 * y[b item_stride + h head_stride + i row_stride + c]; so heads are split on the way:
 *
 *     y                      d_head   row_stride   head_stride      item_stride
 *     (B, T, d_out)          d_out    d_out        0                T d_out
 *     (B, H, T, d_head)      d_head   d_head       T d_head         H T d_head
 */
struct project_job {
    const void *x;      /* (B, T, d_in) */
    const void *weight; /* (d_in, d_out), or (d_out, d_in) where transposed, of numbers that the kernel's can hold: */
    enum dtype weight_dtype;
    const void *bias;   /* (d_out), or NULL */
    void *y;            /* written by the strides below; does not overlap the rest */
    size_t items, rows; /* B, T */
    size_t d_in, d_out;
    bool transposed;
    size_t d_head, row_stride, head_stride, item_stride;
    unsigned threads;            /* at most; small jobs use one */
    const struct kernel *kernel; /* one that projects; x, bias and y are of its numbers */
    struct work_progress progress;
};

/* Writes the whole of y, or fails with STATUS_SYSTEM before it has written anything. The same bits for any subset of
 * the rows and any number of threads. Allocates and frees a packed piece of the weight, 8 MB a thread (or one
 * panel, where that is larger) but no more than the whole, and 32 KB a thread. Sizes are at least 1; y is written
 * fastest where it is aligned to KERNEL_ALIGNMENT. */
enum status project_compute(const struct project_job *projection, struct error *error);

#endif
