/* SPDX-License-Identifier: MIT */
/* query, key and value: inputs . W + bias; and output, the heads put together again. */
#ifndef ATTN_STAGE_PROJECTIONS_H
#define ATTN_STAGE_PROJECTIONS_H

#include "explain/terms.h"

/* y = x . W + bias, one row, not rounded; but x . W is where the problem's family adds the bias to it rounded.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   y       (d_out) written */
void projection_row(const struct problem *problem, const double *x, const double *weight, const double *bias, double *y,
                    size_t d_in, size_t d_out);

/* The backward pass, of the gradient with respect to y to that by x; a 0 above gives nothing, whatever the weight is.
 *   above  (d_out)
 *   x      (d_in) to which it is added */
void projection_back(const double *above, const double *weight, double *x, size_t d_in, size_t d_out);

/* A weight in double as y = x . W reads it, (d_in, d_out), whichever way it is stored; and a bias, (d_out), or NULL
 * where the projection has none. STATUS_SYSTEM where memory is short. */
enum status projection_weight(const struct projection *projection, double **weight, struct arena *arena,
                              struct error *error);

/* The same of columns first .. first + count of y, (d_in, count). */
enum status projection_columns(const struct projection *projection, size_t first, size_t count, double **weight,
                               struct arena *arena, struct error *error);

enum status projection_bias(const struct projection *projection, double **bias, struct arena *arena,
                            struct error *error);

/* In output.c: one row of it, rounded to the working dtype.
 *   context  (H d_v) the heads side by side
 *   weight   (H d_v, d_out) out_proj as y = x . W; NULL: the heads side by side are the output
 *   bias     (d_out), or NULL
 *   output   (d_out, or H d_v) written */
void output_row(const struct problem *problem, const double *context, const double *weight, const double *bias,
                double *output);

/* The functions of a stage that a projection makes, whatever follows it: stage/stage.h. */
void projection_formula(const struct problem *problem, enum stage stage, struct text *text);
void projection_explain(struct explanation *e, enum stage stage, struct explain_place place);

/* The row that a row of a projection is made of into e->operand (d_in), and which stage's it is. Of normed, whose table
 * has the queries that were asked for alone, the row is made anew. */
enum stage projection_load_source(struct explanation *e, enum stage stage, struct explain_place place);

#endif
