/* When numbers are rounded to the working dtype. */
#ifndef ATTN_MODEL_ROUNDING_H
#define ATTN_MODEL_ROUNDING_H

#include "base/choice.h"

/* Once, as a stage is stored; or after every operation, as ONNX's reference does. */
#define ROUNDINGS(ROW) ROW(ROUNDING_STAGES, "stages") ROW(ROUNDING_OPERATIONS, "operations")

enum rounding { ROUNDINGS(CHOICE_ID) };

#endif
