/* SPDX-License-Identifier: MIT */
/* The norm of a row; its kinds and their sources are in model/norm.h. */
#pragma once

#include "problem/problem.h"

/* A norm before its weight: y = (x - mean) x factor; mean is 0 except for a layer norm. */
struct norm_terms {
    double mean, factor;
};

struct norm_terms norm_terms(const struct norm *norm, const double *x, size_t count);

/* y = norm of x, (count) each, which may be the same; its weights begin at `first` of the norm's. With --rounding
 * transformers it rounds as the family does; the caller rounds y. */
void norm_row(const struct problem *problem, const struct norm *norm, size_t first, const double *x, size_t count,
              double *y);

/* The backward pass of a norm of x, (count): a zero gradient gives zero, whatever x is.
 *   above               (count) the gradient with respect to y, replaced by that with respect to x
 *   by_weight, by_bias  (count) written: the share of this row in the gradients with respect to weights and biases */
void norm_back(const struct norm *norm, size_t first, const double *x, size_t count, double *above, double *by_weight,
               double *by_bias);

/* Applies the layer's own norm to a row of the inputs in place: x (d_in), rounded to the working dtype. */
void norm_input_row(const struct problem *problem, double *x);

/* The factor of column i, weight or 1 + weight as the kind says, and its bias; 1 and 0 without. */
double norm_weight(const struct norm *norm, size_t i);
double norm_bias(const struct norm *norm, size_t i);
