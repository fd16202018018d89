/* machine: any; flags: */
/* SPDX-License-Identifier: MIT */

/* What every such processor has: SSE2, with 16 registers, or NEON, with 32. */
#define ISA baseline
#ifdef __aarch64__
#include <arm_neon.h>
#ifdef DOUBLES
#define MULTIPLY_ADD(a, b, c) vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#else
#define MULTIPLY_ADD(a, b, c) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#endif
enum { VECTOR_BYTES = 16, VECTORS = 4, ROWS = 4 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2, ROWS = 6 };
#endif

#include "kernel/kernel_body.h"
