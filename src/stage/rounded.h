/* SPDX-License-Identifier: MIT */
/* One operation, rounded: what the variants for --rounding operations are made of. */
#ifndef ATTN_STAGE_ROUNDED_H
#define ATTN_STAGE_ROUNDED_H

#include "tensor/tensor.h"

static inline double rounded(enum dtype dtype, double number)
{
    dtype_round(dtype, &number, 1);
    return number;
}

#endif
