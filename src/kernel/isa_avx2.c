/* machine: x86_64; flags: -mavx2 -mfma */

/* 16 registers: 6 x 2 sums, 2 rows of B, a scalar. */
#define ISA avx2
enum { VECTOR_BYTES = 32, VECTORS = 2, ROWS = 6 };

#include "kernel/kernel_body.h"
