/* SPDX-License-Identifier: MIT */
/* query, key and value: inputs . W + bias; and output, the heads joined again. */
#pragma once

#include "explain/terms.h"

/* y = x . W + bias, one row, not rounded; but rounds x . W if the family does so before adding the bias.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   y       (d_out) written */
void projection_row(const struct problem *problem, const double *x, const double *weight, const double *bias, double *y,
                    size_t d_in, size_t d_out);

/* Some columns of a projection, y = x . W + bias. */
struct projection_part {
    const double *weight; /* (d_in, stride) the first of `count` columns */
    const double *bias;   /* (count), or NULL */
    size_t stride, count;
};

/* The same for many rows, which read each weight once for eight of them: x (rows, d_in), y (rows, y_stride). */
void projection_rows(const struct problem *problem, const double *x, size_t rows, size_t d_in,
                     const struct projection_part *part, double *y, size_t y_stride);

/* The backward pass from the gradient with respect to y to that with respect to x; a 0 above adds nothing, whatever the
 * weight is.
 *   above  (d_out)
 *   x      (d_in) updated */
void projection_back(const double *above, const double *weight, double *x, size_t d_in, size_t d_out);

/* Loads a weight in double as (d_in, d_out), whichever way it is stored; and a bias, (d_out), or NULL if the projection
 * has none. STATUS_SYSTEM: out of memory. */
enum status projection_weight(const struct projection *projection, double **weight, struct arena *arena,
                              struct error *error);

/* The same for columns first .. first + count of y, (d_in, count). */
enum status projection_columns(const struct projection *projection, size_t first, size_t count, double **weight,
                               struct arena *arena, struct error *error);

enum status projection_bias(const struct projection *projection, double **bias, struct arena *arena,
                            struct error *error);

/* In output.c: makes one row of output, rounded to the working dtype.
 *   context  (H d_v) the heads side by side
 *   weight   (H d_v, d_out) out_proj as y = x . W; NULL: the heads side by side are the output
 *   bias     (d_out), or NULL
 *   output   (d_out, or H d_v) written */
void output_row(const struct problem *problem, const double *context, const double *weight, const double *bias,
                double *output);

/* Functions for struct stage_functions of a stage that a projection makes. */
void projection_formula(const struct problem *problem, enum stage stage, struct text *text);
void projection_explain(struct explanation *e, enum stage stage, struct explain_place place);

/* Loads the inputs of a token, positions added, to e->operand (d_in). */
void projection_load_inputs(struct explanation *e, size_t item, size_t token);

/* Loads the source row of a projection's row to e->operand (d_in); returns its stage. It recomputes a row of normed,
 * whose table has only the selected queries. */
enum stage projection_load_source(struct explanation *e, enum stage stage, struct explain_place place);
