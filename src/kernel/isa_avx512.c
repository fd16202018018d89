/* machine: x86_64; flags: -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq */

/* 32 registers: 8 x 2 sums, 2 rows of B, a scalar. */
#define ISA avx512
enum { VECTOR_BYTES = 64, VECTORS = 2, ROWS = 8 };

#include "kernel/kernel_body.h"
