/* machine: any; flags: */

/* What every processor of the kind can do: SSE2, with 16 registers, or NEON, with 32. */
#define ISA baseline
#ifdef __aarch64__
#include <arm_neon.h>
#define MULTIPLY_ADD(a, b, c) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
enum { VECTOR_BYTES = 16, VECTORS = 4, ROWS = 4 };
#else
enum { VECTOR_BYTES = 16, VECTORS = 2, ROWS = 6 };
#endif

#include "kernel/kernel_body.h"
