/* machine: x86_64; flags: -mavx2 -mfma */
/* SPDX-License-Identifier: MIT */

#include <immintrin.h>

/* 16 registers: 6 x 2 sums, 2 rows of B, a scalar. */
#define ISA avx2
#ifdef DOUBLES
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#else
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#endif
enum { VECTOR_BYTES = 32, VECTORS = 2, ROWS = 6 };

#include "kernel/kernel_body.h"
