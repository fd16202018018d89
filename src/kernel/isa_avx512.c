/* machine: x86_64; flags: -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq */

#include <immintrin.h>

/* 32 registers: 8 x 2 sums, 2 rows of B, a scalar. */
#define ISA avx512
#ifdef DOUBLES
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define LARGER(a, b) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#else
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define LARGER(a, b) _mm512_max_ps((__m512)(a), (__m512)(b))
#endif
enum { VECTOR_BYTES = 64, VECTORS = 2, ROWS = 8 };

#include "kernel/kernel_body.h"
