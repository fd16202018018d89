/* machine: x86_64; flags: -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx512bf16 */
/* SPDX-License-Identifier: MIT */

/* AVX-512 with VDPBF16PS: one instruction multiplies 16 pairs of bfloat16 and adds them to 16 floats. As in
 * kernel_body.h, a tile of sums stays in registers and scalars of A are broadcast, here as pairs:
 *
 *     key     (count, pairs of columns): the given rows, padded to full pairs
 *     value   (pairs of rows, d_v): rows 2k and 2k + 1, interleaved */
#include "kernel/kernel_pairs.h"

enum { KEY_STEP = 24 };

_Static_assert((int)KEY_STEP % (int)ROWS == 0 && (int)KEY_STEP % 2 == 0, "a step of keys is whole tiles and pairs");
_Static_assert((int)KERNEL_KEYS % (int)KEY_STEP == 0, "a block of keys is whole steps");

static size_t pairs_of(size_t count)
{
    return (count + 1) / 2;
}

/* --- products ---------------------------------------------------------------------------------------------------- */

/* sums[i][.] = sum over k of a[i x row_stride + k x column_stride] times each part of row k of b.
 *   a     (rows, depth) pairs by their strides; rows is a constant where this is inlined, at most ROWS
 *   b     (depth, LANES) pairs, of each part
 *   sums  (rows, VECTORS) written */
INLINE void multiply_pairs(size_t rows, size_t parts, const uint32_t *a, size_t row_stride, size_t column_stride,
                           const char *b, size_t depth, __m512 sums[ROWS][VECTORS])
{
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            sums[i][j] = _mm512_setzero_ps();
    for (size_t k = 0; k < depth; k++, a += column_stride, b += parts * PART_BYTES) {
        __m512i columns[VECTORS * MOST_PARTS];
        UNROLLED (j, VECTORS * parts)
            columns[j] = _mm512_load_si512(b + j * VECTOR_BYTES);
        UNROLLED (i, rows) {
            const __m512i pair = _mm512_set1_epi32((int32_t)a[i * row_stride]);
            UNROLLED (j, VECTORS * parts)
                sums[i][j % VECTORS] = _mm512_dpbf16_ps(sums[i][j % VECTORS], (__m512bh)pair, (__m512bh)columns[j]);
        }
    }
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

static size_t query_bytes(size_t d)
{
    return pairs_bytes(d, 1);
}

static size_t key_bytes(size_t d)
{
    return KERNEL_KEYS * round_up(pairs_of(d), SQUARE) * sizeof(uint32_t);
}

static size_t keys_bytes(size_t d, size_t d_v)
{
    return d > MOST_COLUMNS || d_v > MOST_COLUMNS
               ? SIZE_MAX
               : key_bytes(d) + KERNEL_KEYS / 2 * round_up(d_v, SQUARE) * sizeof(uint32_t);
}

static void pack_query(const void *query, size_t count, size_t d, double factor, void *packed)
{
    pack_pairs(false, query, count, d, factor, packed);
}

/* Interleaves two rows of value, the second NULL if there is none, to one of pairs. */
static void interleave(const uint16_t *first, const uint16_t *second, size_t d_v, uint32_t *pairs)
{
    for (size_t c = 0; c < d_v; c++)
        pairs[c] = first[c] | (second != NULL ? (uint32_t)second[c] << 16 : 0);
}

static void load(const struct kernel_keys *keys)
{
    const uint16_t *key = keys->key, *value = keys->value;
    const size_t width = round_up(pairs_of(keys->d), SQUARE), d_v = keys->d_v;
    uint32_t *to = keys->packed;
    for (size_t i = 0; i < keys->count; i++, to += width) {
        to[pairs_of(keys->d) - 1] = 0;
        memcpy(to, key + i * keys->d, keys->d * sizeof *key);
    }
    to = (uint32_t *)(void *)((char *)keys->packed + key_bytes(keys->d));
    for (size_t i = 0; i < keys->count; i += 2, to += d_v)
        interleave(value + i * d_v, i + 1 < keys->count ? value + (i + 1) * d_v : NULL, d_v, to);
}

/* --- scores ------------------------------------------------------------------------------------------------------ */

INLINE void scores_tile(size_t rows, size_t at, const uint32_t *key, size_t width, const void *query, size_t depth,
                        const int32_t *from, const int32_t *till, float *scores, float *row_maximum)
{
    __m512 sums[ROWS][VECTORS];
    multiply_pairs(rows, 1, key + at * width, width, 1, query, depth, sums);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS) {
            if (from != NULL)
                sums[i][j] = (__m512)forbid((vector)sums[i][j], at + i, from, till, j);
            _mm512_store_ps(scores + (at + i) * LANES + j * VECTOR_LANES, sums[i][j]);
        }
    if (row_maximum != NULL)
        UNROLLED (i, rows)
            UNROLLED (j, VECTORS) { /* of NaN and a number, returns the second: larger() */
                float *most = row_maximum + j * VECTOR_LANES;
                _mm512_store_ps(most, _mm512_max_ps(sums[i][j], _mm512_load_ps(most)));
            }
}

static void scores(const struct kernel_keys *keys, size_t first, size_t count, const void *query, const int32_t *from,
                   const int32_t *till, void *scores, void *row_maximum)
{
    const size_t depth = pairs_of(keys->d), width = round_up(depth, SQUARE);
    const uint32_t *key = (const uint32_t *)keys->packed + first * width;
#define WHOLE(rows, at) scores_tile(rows, at, key, width, query, depth, NULL, NULL, scores, row_maximum)
#define MASKED(rows, at) scores_tile(rows, at, key, width, query, depth, from, till, scores, row_maximum)
    if (from == NULL)
        FOR_TILES(count, WHOLE);
    else
        FOR_TILES(count, MASKED);
#undef WHOLE
#undef MASKED
}

/* --- values ------------------------------------------------------------------------------------------------------ */

INLINE void values_tile(size_t rows, size_t first, size_t parts, const uint32_t *value, size_t pairs, size_t d_v,
                        const void *weights, const float *rescale, float *context)
{
    __m512 sums[ROWS][VECTORS];
    multiply_pairs(rows, parts, value + first, 1, d_v, weights, pairs, sums);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS) {
            float *sum = context + (first + i) * LANES + j * VECTOR_LANES;
            const __m512 shrunk = _mm512_load_ps(rescale + j * VECTOR_LANES);
            _mm512_store_ps(sum, _mm512_fmadd_ps(_mm512_load_ps(sum), shrunk, sums[i][j]));
        }
}

INLINE void values_of(size_t parts, const struct kernel_keys *keys, size_t first, size_t count, const void *weights,
                      const void *rescale, void *context)
{
    const uint32_t *value = (const uint32_t *)(const void *)((const char *)keys->packed + key_bytes(keys->d));
    value += first / 2 * keys->d_v;
#define PART(rows, column) \
    values_tile(rows, column, parts, value, pairs_of(count), keys->d_v, weights, rescale, context)
    FOR_TILES(keys->d_v, PART);
#undef PART
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

FINITE(finite_bf16, uint16_t, 1 << 15, 1 << 7)

#define KERNEL(table, parts)                                                                                       \
    static void softmax_##table(void *scores, size_t count, double factor, const void *row_maximum, void *maximum, \
                                void *sum, void *logs, void *rescale)                                              \
    {                                                                                                              \
        softmax_pairs(parts, 2, scores, count, factor, row_maximum, maximum, sum, logs, rescale);                  \
    }                                                                                                              \
    static void values_##table(const struct kernel_keys *keys, size_t first, size_t count, const void *weights,    \
                               const void *rescale, void *context)                                                 \
    {                                                                                                              \
        values_of(parts, keys, first, count, weights, rescale, context);                                           \
    }                                                                                                              \
    const struct kernel kernel_avx512bf16_##table = {                                                              \
        .name = "avx512bf16",                                                                                      \
        .dtype = DTYPE_BF16,                                                                                       \
        .number = DTYPE_F32,                                                                                       \
        KERNEL_PIECES,                                                                                             \
        .rows = ROWS,                                                                                              \
        .task_queries = 128,                                                                                       \
        .key_step = KEY_STEP,                                                                                      \
        .prescales_query = false,                                                                                  \
        .one_part = (parts) == 1,                                                                                  \
        .weight_error = (parts) == 1 ? 0x1p-8 : 0x1p-17,                                                           \
        .query_bytes = query_bytes,                                                                                \
        .keys_bytes = keys_bytes,                                                                                  \
        .pack_query = pack_query,                                                                                  \
        .finite = finite_bf16,                                                                                     \
        .load = load,                                                                                              \
        .scores = scores,                                                                                          \
        .softmax = softmax_##table,                                                                                \
        .values = values_##table,                                                                                  \
        .unpack = unpack,                                                                                          \
    };

KERNEL(bf16, 2)
KERNEL(bf16_one_part, 1)
