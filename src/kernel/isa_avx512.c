/* machine: x86_64; flags: -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq */
/* SPDX-License-Identifier: MIT */

#include <immintrin.h>

/* 32 registers: 12 x 2 sums, 2 rows of B, a scalar. */
#define ISA avx512
#ifdef DOUBLES
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define LARGER(a, b) _mm512_max_pd((__m512d)(a), (__m512d)(b))
#define REMAINDER(x) _mm512_reduce_pd((__m512d)(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define TIMES_POWER(p, n, x, least) \
    _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask((__m512d)(x), (__m512d)(least), _CMP_NLT_UQ), (__m512d)(p), (__m512d)(n))
#else
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define LARGER(a, b) _mm512_max_ps((__m512)(a), (__m512)(b))
#define REMAINDER(x) _mm512_reduce_ps((__m512)(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define TIMES_POWER(p, n, x, least) \
    _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask((__m512)(x), (__m512)(least), _CMP_NLT_UQ), (__m512)(p), (__m512)(n))
#endif
enum { VECTOR_BYTES = 64, VECTORS = 2, ROWS = 12 };

#include "kernel/kernel_body.h"
