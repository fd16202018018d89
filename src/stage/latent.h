/* Query, key and value by way of a latent: struct latent of problem/parameters.h has the equations and their source. */
#ifndef ATTN_STAGE_LATENT_H
#define ATTN_STAGE_LATENT_H

#include "explain/explanation.h"

/* The matrices of a projection's two steps, as doubles: y = step . x. */
struct latent_step {
    double *first, *first_bias;   /* (d_in, columns of the first step), bias or NULL */
    double *second, *second_bias; /* (rank, columns of the second) */
};

/* Whether a latent makes this operand. */
bool latent_makes(const struct problem *problem, enum projection_id id);

/* STATUS_SYSTEM where memory is short. */
enum status latent_load(const struct problem *problem, enum projection_id id, struct latent_step *step,
                        struct arena *arena, struct error *error);

/* Doubles of scratch for a row. */
size_t latent_scratch(const struct problem *problem, enum projection_id id);

/* A row of inputs (d_in) -> the columns of all heads: (H, d), of value (H, d_v). Between the steps the latent is
 * rounded to the working dtype; the caller rounds y. */
void latent_row(const struct problem *problem, enum projection_id id, const struct latent_step *step, const double *x,
                double *scratch, double *y);

/* "W_query_b . norm(W_query_a . inputs)", and the arithmetic of a row's second step. */
void latent_formula(const struct problem *problem, enum stage stage, struct text *text);
void explain_latent(struct explanation *e, enum stage stage, struct explain_place place);

#endif
