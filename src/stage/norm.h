/* SPDX-License-Identifier: MIT */
/* The norm of a row; its kinds and their sources are in model/norm.h. */
#ifndef ATTN_STAGE_NORM_H
#define ATTN_STAGE_NORM_H

#include "problem/problem.h"

/* What a norm makes of a row before the weight: y = (x - mean) x factor. mean is 0 but for a layer norm. */
struct norm_terms {
    double mean, factor;
};

struct norm_terms norm_terms(const struct norm *norm, const double *x, size_t count);

/* y = norm of x, (count) each, which may be the same; its weights begin at `first` of the norm's. Where the problem
 * rounds as transformers does, that of its family is followed; the caller rounds y. */
void norm_row(const struct problem *problem, const struct norm *norm, size_t first, const double *x, size_t count,
              double *y);

/* The backward pass of a norm of x, (count): a row that nothing comes back to gives nothing, whatever x is.
 *   above               (count) the gradient with respect to what was made of x; that by x is written in its place
 *   by_weight, by_bias  (count) written: the share of this row in the gradients with respect to weights and biases */
void norm_back(const struct norm *norm, size_t first, const double *x, size_t count, double *above, double *by_weight,
               double *by_bias);

/* The layer's own norm of a row of the inputs, in its place: x (d_in), rounded to the working dtype. */
void norm_input_row(const struct problem *problem, double *x);

/* What column i is multiplied with, 1 + weight where the kind says so, and its bias; 1 and 0 where there is none. */
double norm_weight(const struct norm *norm, size_t i);
double norm_bias(const struct norm *norm, size_t i);

#endif
