/* SPDX-License-Identifier: MIT */
/* Gradients with respect to parameters: sums over tokens, of which some at a time have their rows side by side. Each
 * number of a gradient adds its tokens one after another, so its bits are the same for any number of threads. */
#ifndef ATTN_COMPUTE_BACKWARD_SUMS_H
#define ATTN_COMPUTE_BACKWARD_SUMS_H

#include "problem/problem.h"

/* y = x . weight + bias, and where in the room of a token its x, (d_in), and the gradient with respect to its y,
 * (d_out), lie. */
struct backward_product {
    const struct projection *gradient;
    size_t x, above;
};

/* A norm, and where in the room of a token what it adds lies: for each of the `count` columns that were normed, which
 * may be those of several heads that share a weight. */
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

/* Has as many rooms of `room` numbers as are worth while for so many tokens. STATUS_SYSTEM where memory is short. */
enum status backward_sums_create(struct backward_sums *sums, size_t room, size_t tokens, struct arena *arena,
                                 struct error *error);

/* The bytes of these rooms. */
double backward_sums_bytes(size_t room, size_t tokens);

/* Adds what the first `tokens` rooms hold to the gradients. What comes from above as 0 adds nothing, whatever x is. */
void backward_sums_add(const struct backward_sums *sums, const struct problem *problem, size_t tokens);

#endif
