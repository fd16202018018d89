/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the working dtype, and the roundings to it. */
#ifndef ATTN_PROBLEM_PROBLEM_ROUNDING_H
#define ATTN_PROBLEM_PROBLEM_ROUNDING_H

#include "model/family.h"
#include "model/rounding.h"
#include "tensor/dtype.h"

struct problem_rounding {
    enum dtype dtype;         /* the working dtype */
    enum dtype softmax_dtype; /* of the softmax; usually the same */
    enum rounding when;
    const struct family_row *family; /* of the model, or NULL */
};

#endif
