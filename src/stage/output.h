/* SPDX-License-Identifier: MIT */
/* output: the heads put together again. */
#ifndef ATTN_STAGE_OUTPUT_H
#define ATTN_STAGE_OUTPUT_H

#include "problem/problem.h"

/* One row of it, rounded to the working dtype.
 *   context  (H d_v) the heads side by side
 *   weight   (H d_v, d_out) out_proj as y = x . W; NULL: the heads side by side are the output
 *   bias     (d_out), or NULL
 *   output   (d_out, or H d_v) written */
void output_row(const struct problem *problem, const double *context, const double *weight, const double *bias,
                double *output);

#endif
