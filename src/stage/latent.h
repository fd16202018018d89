/* SPDX-License-Identifier: MIT */
/* Query, key and value through a latent: struct latent of problem/parameters.h has the equations and their source. */
#pragma once

#include "explain/terms.h"

/* The matrices of a projection's two steps, as doubles: y = step . x. */
struct latent_step {
    double *first, *first_bias;   /* (d_in, columns of the first step), bias or NULL */
    double *second, *second_bias; /* (rank, columns of the second) */
};

/* Whether a latent makes this operand. */
bool latent_makes(const struct problem *problem, enum projection_id id);

/* Loads the step's matrices. STATUS_SYSTEM: out of memory. */
enum status latent_load(const struct problem *problem, enum projection_id id, struct latent_step *step,
                        struct arena *arena, struct error *error);

/* Doubles of scratch for a row. */
size_t latent_scratch(const struct problem *problem, enum projection_id id);

/* A row of inputs (d_in) -> the columns of all heads: (H, d), of value (H, d_v). Rounds the latent to the working dtype
 * between the steps; the caller rounds y. */
void latent_row(const struct problem *problem, enum projection_id id, const struct latent_step *step, const double *x,
                double *scratch, double *y);

struct latent_widths {
    size_t first, second, rank;
};

struct latent_widths latent_widths(const struct problem *problem, enum projection_id id);

/* The projections and the norm of an operand, from the parameters or their gradients. */
const struct projection *latent_first(const struct latent *latent, enum projection_id id);
const struct projection *latent_second(const struct latent *latent, enum projection_id id);
const struct norm *latent_norm(const struct latent *latent, enum projection_id id);

/* The backward pass of a row; scratch must be as latent_row left it: the columns of the first step, then the normed
 * latent.
 *   above      (H d), of value (H d_v): the gradient with respect to the columns of all heads
 *   own        (columns of the second step) written, the gradient with respect to them; 0 for another operand's
 *   narrow     (columns of the first step) written, the gradient with respect to them
 *   by_weight  (rank) written: the share of this row in the gradient with respect to the norm's weights; by_bias (rank)
 *              is scratch */
void latent_back(const struct problem *problem, enum projection_id id, const struct latent_step *step,
                 const double *scratch, const double *above, double *own, double *narrow, double *by_weight,
                 double *by_bias);

/* Writes "W_query_b . norm(W_query_a . inputs)", and explains a row's second step. */
void latent_formula(const struct problem *problem, enum stage stage, struct text *text);
void explain_latent(struct explanation *e, enum stage stage, struct explain_place place);
