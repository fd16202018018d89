/* query, key and value: inputs . W + bias. */
#ifndef ATTN_STAGE_PROJECTIONS_H
#define ATTN_STAGE_PROJECTIONS_H

#include <stddef.h>

/* y = x . W + bias, one row.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   y       (d_out) written */
void projection_row(const double *x, const double *weight, const double *bias, double *y, size_t d_in, size_t d_out);

#endif
