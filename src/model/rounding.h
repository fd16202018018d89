/* SPDX-License-Identifier: MIT */
/* When to round to the working dtype. */
#pragma once

#include "base/choice.h"

/* Once, as a stage is stored; after every operation, as ONNX's reference does; or where the model's own code in
 * transformers does, as the row of its family says. */
/* clang-format off */
#define ROUNDINGS(ROW) \
    ROW(ROUNDING_STAGES, "stages") ROW(ROUNDING_OPERATIONS, "operations") ROW(ROUNDING_TRANSFORMERS, "transformers")
/* clang-format on */

enum rounding { ROUNDINGS(CHOICE_ID) };
