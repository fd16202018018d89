/* SPDX-License-Identifier: MIT */
/* Gradients with respect to parameters: sums over tokens, some tokens at a time. Each number of a gradient adds its
 * tokens in order, so its bits are the same for any number of threads. */
#pragma once

#include "problem/problem.h"

/* y = x . weight + bias, and the offsets in a token's room of x (d_in) and of the gradient with respect to y
 * (d_out). */
struct backward_product {
    const struct projection *gradient;
    size_t x, above;
};

/* A norm, and the offsets in a token's room of what it adds: for each of `count` normalised columns, which may be those
 * of several heads that share a weight. */
struct backward_norm {
    const struct norm *gradient;
    size_t by_weight, by_bias, count;
};

enum { BACKWARD_NORMS = 3 };

struct backward_sums {
    struct backward_product *products;
    size_t product_count;
    struct backward_norm norms[BACKWARD_NORMS];
    size_t norm_count;
    double *rooms; /* (tokens_at_once, room) */
    size_t room, tokens_at_once;
};

/* Allocates rooms of `room` numbers, as many as pay for so many tokens. STATUS_SYSTEM: out of memory. */
enum status backward_sums_create(struct backward_sums *sums, size_t room, size_t tokens, struct arena *arena,
                                 struct error *error);

double backward_sums_bytes(size_t room, size_t tokens);

/* Adds the first `tokens` rooms to the gradients. A gradient of 0 from above adds nothing, whatever x is. */
void backward_sums_add(const struct backward_sums *sums, const struct problem *problem, size_t tokens);
