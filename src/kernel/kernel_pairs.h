/* SPDX-License-Identifier: MIT */
/* Kernels whose unit multiplies pairs of bfloat16, adding a0 b0 + a1 b1 to a float. isa_amx.c and isa_avx512bf16.c
 * share this: packed queries and weights, and the softmax between them. W is 32.
 *
 * A 16-bit number is the exact sum of its parts, each a bfloat16: a bfloat16 is one part, a float16 two, its first 8
 * bits and the other 3. For a weight, a float, one part keeps 8 bits, two keep 17.
 *
 * A row of a packed query or of weights holds numbers 2k and 2k + 1 of each lane, part by part:
 *
 *     row k    part 0: lane 0 (2k, 2k + 1), lane 1 (2k, 2k + 1), ... lane 31    part 1: the same
 *
 * A zero completes an odd count. The unit flushes inputs and sums below 2^-126 to zero: a score that small may be off
 * by d x 2^-125, a number of the context by keys x 2^-125. No float16 is that small.
 *
 * Before including this, a file may define KEEP_AWAKE(), which the softmax runs now and then so that the unit stays
 * awake. */
#include <immintrin.h>

#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
enum { VECTOR_BYTES = 64, VECTORS = 2, ROWS = 8 };

#include "kernel/kernel_pieces.h"

enum {
    MOST_PARTS = 2,
    PART_BYTES = LANES * 4, /* of a part of a row */
    SQUARE = 16,            /* pairs in a vector */
    COLUMNS = 2 * SQUARE,   /* 16-bit numbers in a vector; rows are padded to multiples of it */
};

static size_t round_up(size_t count, size_t step)
{
    return (count + step - 1) / step * step;
}

/* --- parts ------------------------------------------------------------------------------------------------------- */

/* The float whose first 16 bits these are. */
INLINE __m512 high_half(__m512i bits)
{
    return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32((int32_t)0xffff0000)));
}

/* In each lane, the first 16 bits of `first`, then those of `second`: two bfloat16 of two floats. */
INLINE __m512i pair_up(__m512i first, __m512i second)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(first, 16), second);
}

/* The first 16 bits of 32 floats in a row. */
INLINE __m512i join_halves(__m512 first, __m512 second)
{
    static const uint16_t places[COLUMNS] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                             33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    return _mm512_permutex2var_epi16(_mm512_castps_si512(first), _mm512_loadu_si512(places),
                                     _mm512_castps_si512(second));
}

/* The parts of the first `count` of 32 16-bit numbers; the others are 0. two: they are float16. */
INLINE void load_parts(bool two, const uint16_t *numbers, size_t count, __m512i parts[MOST_PARTS])
{
    const __mmask32 there = count < COLUMNS ? (1U << count) - 1 : UINT32_MAX;
    parts[0] = _mm512_maskz_loadu_epi16(there, numbers);
    if (!two)
        return;
    const __m512 left = _mm512_cvtph_ps(_mm512_castsi512_si256(parts[0]));
    const __m512 right = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(parts[0], 1));
    const __m512 high_left = high_half(_mm512_castps_si512(left)), high_right = high_half(_mm512_castps_si512(right));
    parts[0] = join_halves(high_left, high_right);
    parts[1] = join_halves(left - high_left, right - high_right);
}

/* rows[j] pair i = rows[i] pair j, 16 x 16. */
INLINE void transpose_pairs(__m512i rows[SQUARE])
{
    __m512i half[SQUARE];
    for (size_t i = 0; i < SQUARE; i += 2) {
        half[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        half[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (size_t i = 0; i < SQUARE; i += 4) {
        rows[i] = _mm512_unpacklo_epi64(half[i], half[i + 2]);
        rows[i + 1] = _mm512_unpackhi_epi64(half[i], half[i + 2]);
        rows[i + 2] = _mm512_unpacklo_epi64(half[i + 1], half[i + 3]);
        rows[i + 3] = _mm512_unpackhi_epi64(half[i + 1], half[i + 3]);
    }
    for (size_t i = 0; i < 4; i++) {
        half[i] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0x88);
        half[i + 4] = _mm512_shuffle_i32x4(rows[i], rows[i + 4], 0xdd);
        half[i + 8] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0x88);
        half[i + 12] = _mm512_shuffle_i32x4(rows[i + 8], rows[i + 12], 0xdd);
    }
    for (size_t i = 0; i < 8; i++) {
        rows[i] = _mm512_shuffle_i32x4(half[i], half[i + 8], 0x88);
        rows[i + 8] = _mm512_shuffle_i32x4(half[i], half[i + 8], 0xdd);
    }
}

/* --- queries ----------------------------------------------------------------------------------------------------- */

/* All byte counts here return SIZE_MAX above this. */
static const size_t MOST_COLUMNS = SIZE_MAX / KERNEL_KEYS / 16;

static size_t pairs_bytes(size_t d, size_t parts)
{
    return d > MOST_COLUMNS ? SIZE_MAX : round_up(d, COLUMNS) / 2 * parts * PART_BYTES;
}

/* Lanes `lane` .. lane + 15, columns `column` .. column + 31. */
INLINE void pack_square(bool two, const uint16_t *query, size_t count, size_t d, size_t lane, size_t column,
                        __m512i sign, char *packed)
{
    const size_t parts = two ? 2 : 1;
    __m512i rows[MOST_PARTS][SQUARE], read[MOST_PARTS];
    for (size_t i = 0; i < SQUARE; i++) {
        load_parts(two, query + (lane + i) * d + column, lane + i < count ? d - column : 0, read);
        for (size_t part = 0; part < parts; part++)
            rows[part][i] = _mm512_xor_si512(read[part], sign);
    }
    for (size_t part = 0; part < parts; part++) {
        transpose_pairs(rows[part]);
        for (size_t i = 0; i < SQUARE; i++)
            _mm512_store_si512(packed + ((column / 2 + i) * parts + part) * PART_BYTES + lane * 4, rows[part][i]);
    }
}

/* factor is 1 or -1. */
INLINE void pack_pairs(bool two, const void *query, size_t count, size_t d, double factor, void *packed)
{
    const __m512i sign = _mm512_set1_epi16(factor < 0 ? INT16_MIN : 0);
    for (size_t lane = 0; lane < LANES; lane += SQUARE)
        for (size_t column = 0; column < d; column += COLUMNS)
            pack_square(two, query, count, d, lane, column, sign, packed);
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

/* 2^x for x <= 0, cheaper than exp2_vector: exactly 1 at 0 and exactly 0 below -125, within 8e-8 between; NaN stays
 * NaN. The remainder of x above a whole number goes through a polynomial, fitted as in exp2_near_zero. */
INLINE __m512 weight(__m512 x)
{
    const __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF);
    __m512 p = _mm512_set1_ps(0x1.e974fcp-10f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.277854p-7f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.c91ce6p-5f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.ebdb56p-3f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0x1.62e4bap-1f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(-125.0f), _CMP_NLT_UQ), p, x);
}

/* Turns two rows of scores into one row of pairs of weights, and adds the weights to the totals: with one part the
 * rounded weights, so that they sum to 1, with two the weights before the split. `logs`, a constant: adds each of these
 * times its logarithm to total_logs.
 *   scores   of the first row; the second is LANES further
 *   weights  the row of pairs */
INLINE void weigh_pair(size_t parts, bool logs, const float *scores, __m512 most, __m512 scale, char *weights,
                       __m512 total[2], __m512 total_logs[2])
{
    const __m512i half = _mm512_set1_epi32(0x8000);
    __m512i high[2], low[2];
    UNROLLED (i, 2) {
        const __m512 exponent = (_mm512_load_ps(scores + i * LANES) - most) * scale, exact = weight(exponent);
        high[i] = _mm512_add_epi32(_mm512_castps_si512(exact), half);
        const __m512 kept = high_half(high[i]);
        low[i] = _mm512_add_epi32(_mm512_castps_si512(exact - kept), half);
        const __m512 counted = parts == 1 ? kept : exact;
        total[i] += counted;
        if (logs)
            total_logs[i] = (__m512)multiply_add((vector)counted, finite_log((vector)exponent), (vector)total_logs[i]);
    }
    _mm512_store_si512(weights, pair_up(high[0], high[1]));
    if (parts == 2)
        _mm512_store_si512(weights + PART_BYTES, pair_up(low[0], low[1]));
}

/* Writes the weights over the scores: rows of pairs, for a multiple of `step` keys, with zeros after the last key. */
INLINE void softmax_rows(size_t parts, size_t step, bool has_logs, float *scores, size_t count, double factor,
                         const float *row_maximum, float *maximum, float *sum, float *logs, float *rescale)
{
    const __m512 scale = _mm512_set1_ps((float)factor);
    __m512 most[VECTORS], moved[VECTORS], total[VECTORS][2], total_logs[VECTORS][2];
    UNROLLED (j, VECTORS) {
        const size_t lane = j * VECTOR_LANES;
        most[j] =
            _mm512_max_ps(_mm512_set1_ps(-FLT_MAX), _mm512_load_ps(row_maximum + lane)); /* NaN stays: the second */
        total[j][0] = total[j][1] = total_logs[j][0] = total_logs[j][1] = _mm512_setzero_ps();
        moved[j] = (_mm512_load_ps(maximum + lane) - most[j]) * scale;
        _mm512_store_ps(rescale + lane, weight(moved[j]));
        _mm512_store_ps(maximum + lane, most[j]);
    }
    for (size_t lane = 0; lane < LANES && count % 2 == 1; lane++)
        scores[count * LANES + lane] = -INFINITY;
    char *row = (char *)scores;
    for (size_t i = 0; i < count; i += 2, row += parts * PART_BYTES) {
        UNROLLED (j, VECTORS)
            weigh_pair(parts, has_logs, scores + i * LANES + j * VECTOR_LANES, most[j], scale, row + j * VECTOR_BYTES,
                       total[j], total_logs[j]);
#ifdef KEEP_AWAKE
        if (i % 64 == 0)
            KEEP_AWAKE();
#endif
    }
    memset(row, 0, (round_up(count, step) - round_up(count, 2)) / 2 * parts * PART_BYTES);
    UNROLLED (j, VECTORS) {
        const size_t lane = j * VECTOR_LANES;
        const __m512 before = _mm512_load_ps(sum + lane), shrunk = _mm512_load_ps(rescale + lane);
        if (has_logs) {
            const vector of_logs = moved_logs((vector)_mm512_load_ps(logs + lane), (vector)before, (vector)moved[j]);
            _mm512_store_ps(logs + lane, _mm512_fmadd_ps((__m512)of_logs, shrunk, total_logs[j][0] + total_logs[j][1]));
        }
        _mm512_store_ps(sum + lane, _mm512_fmadd_ps(before, shrunk, total[j][0] + total[j][1]));
    }
}

INLINE void softmax_pairs(size_t parts, size_t step, float *scores, size_t count, double factor,
                          const float *row_maximum, float *maximum, float *sum, float *logs, float *rescale)
{
    if (logs != NULL)
        softmax_rows(parts, step, true, scores, count, factor, row_maximum, maximum, sum, logs, rescale);
    else
        softmax_rows(parts, step, false, scores, count, factor, row_maximum, maximum, sum, NULL, rescale);
}
