/* machine: x86_64; flags: -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq -mamx-tile -mamx-bf16 */
/* SPDX-License-Identifier: MIT */

/* AMX: tiles of 16 rows of 64 bytes, and one instruction that multiplies two tiles of pairs of bfloat16 and adds the
 * product to a third, of floats. A is keys, or value transposed; B is query or weights, in the layout of
 * kernel_pairs.h; 32 x 32 sums are four tiles.
 *
 *                             B (pairs, 32)
 *                              [ 6 | 7 ]
 *     A (32, pairs)   [ 4 ]    [ 0 | 1 ]
 *                     [ 5 ]    [ 2 | 3 ]
 *
 * A consists of slabs, 32 rows of 32 numbers, one for each part:
 *
 *     key     for each 32 keys, for each 32 columns: rows are keys
 *     value   for each 32 keys, for each 32 columns: rows are columns
 *
 * with zeros after the last key and the last column. Sums take 32 columns or keys at a time, in ascending order.
 *
 * `load` configures the tiles of its thread, `unpack` releases them: call the multiplying functions, and softmax,
 * between. */

/* The processor puts the unit to sleep after 1000 to 2000 cycles, fewer than a softmax takes, and needs another 1000 to
 * wake it. It spoils only sums that are no longer needed. */
#define KEEP_AWAKE() _tile_dpbf16ps(0, 4, 6)

/* MemorySanitizer does not see the writes of a tile store. */
#define WRITTEN(memory, bytes) ((void)0)
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#undef WRITTEN
#define WRITTEN(memory, bytes) __msan_unpoison(memory, bytes)
#endif
#endif

#include "kernel/kernel_pairs.h"

enum { TILE_ROWS = 16, TILE_BYTES = 1024, SLAB_BYTES = 2 * TILE_BYTES, KEY_STEP = 32 };

_Static_assert((int)KERNEL_KEYS % (int)KEY_STEP == 0, "a block of keys is whole steps");

/* The operand of tileconfig: all eight tiles have full size. */
struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static const _Alignas(64) struct tile_shapes SHAPES = {
    .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

/* --- products ---------------------------------------------------------------------------------------------------- */

INLINE void multiply_tiles(void)
{
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

INLINE void load_a(const char *slab)
{
    _tile_loadd(4, slab, 64);
    _tile_loadd(5, slab + TILE_BYTES, 64);
}

INLINE void load_b(const char *rows, size_t stride)
{
    _tile_loadd(6, rows, stride);
    _tile_loadd(7, rows + VECTOR_BYTES, stride);
}

/* sums (32, 32) = A B, over all pairs of their parts.
 *   a  `count` times the slabs of all parts, a_step apart
 *   b  16 rows for each of them */
INLINE void multiply_slabs(size_t a_parts, size_t b_parts, const char *a, size_t a_step, const char *b, size_t count,
                           float *sums)
{
    const size_t stride = b_parts * PART_BYTES;
    __asm__ volatile("" ::: "memory"); /* the intrinsics do not tell the compiler that they read memory */
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < count; k++, a += a_step, b += TILE_ROWS * stride) {
        load_a(a);
        if (b_parts == 2) {
            load_b(b + PART_BYTES, stride);
            multiply_tiles();
        }
        load_b(b, stride);
        multiply_tiles();
        if (a_parts == 2) {
            load_a(a + SLAB_BYTES);
            multiply_tiles();
        }
        if (a_parts == 2 && b_parts == 2) {
            load_b(b + PART_BYTES, stride);
            multiply_tiles();
        }
    }
    _tile_stored(0, sums, PART_BYTES);
    _tile_stored(1, sums + VECTOR_LANES, PART_BYTES);
    _tile_stored(2, sums + (size_t)TILE_ROWS * LANES, PART_BYTES);
    _tile_stored(3, sums + (size_t)TILE_ROWS * LANES + VECTOR_LANES, PART_BYTES);
    WRITTEN(sums, (size_t)2 * TILE_ROWS * PART_BYTES);
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

static size_t slabs_of(size_t columns)
{
    return round_up(columns, COLUMNS) / COLUMNS;
}

static size_t key_bytes(size_t d, size_t parts)
{
    return KERNEL_KEYS / KEY_STEP * slabs_of(d) * parts * SLAB_BYTES;
}

/* How many numbers row `row` has from `column` on. */
static size_t rest_of_row(size_t row, size_t rows, size_t column, size_t columns)
{
    return row < rows ? columns - column : 0;
}

INLINE void load_key(bool two, const uint16_t *key, size_t count, size_t d, char *slab)
{
    for (size_t first = 0; first < count; first += KEY_STEP)
        for (size_t column = 0; column < d; column += COLUMNS, slab += (size_t)(two ? 2 : 1) * SLAB_BYTES)
            for (size_t i = 0; i < KEY_STEP; i++) {
                __m512i parts[MOST_PARTS];
                load_parts(two, key + (first + i) * d + column, rest_of_row(first + i, count, column, d), parts);
                _mm512_store_si512(slab + i * 64, parts[0]);
                if (two)
                    _mm512_store_si512(slab + SLAB_BYTES + i * 64, parts[1]);
            }
}

/* One part: rows[i] is row 2i of value and rows[16 + i] row 2i + 1. Joins pairs of the two four at a time, 0 - 3, 8 -
 * 11, 16 - 19, 24 - 27 in one vector, and 4 - 7, 12 - 15, and so on, in the other. */
INLINE void store_columns(const __m512i rows[2 * SQUARE], char *slab)
{
    __m512i low[SQUARE], high[SQUARE];
    for (size_t i = 0; i < SQUARE; i++) {
        low[i] = _mm512_unpacklo_epi16(rows[i], rows[SQUARE + i]);
        high[i] = _mm512_unpackhi_epi16(rows[i], rows[SQUARE + i]);
    }
    transpose_pairs(low);
    transpose_pairs(high);
    for (size_t i = 0; i < SQUARE; i++) {
        const size_t column = i / 4 * 8 + i % 4;
        _mm512_store_si512(slab + column * 64, low[i]);
        _mm512_store_si512(slab + (column + 4) * 64, high[i]);
    }
}

INLINE void load_value(bool two, const uint16_t *value, size_t count, size_t d_v, char *slab)
{
    for (size_t first = 0; first < count; first += KEY_STEP)
        for (size_t column = 0; column < d_v; column += COLUMNS, slab += (size_t)(two ? 2 : 1) * SLAB_BYTES) {
            __m512i rows[MOST_PARTS][KEY_STEP];
            for (size_t i = 0; i < KEY_STEP; i++) {
                const size_t row = first + i, place = i % 2 * SQUARE + i / 2;
                __m512i parts[MOST_PARTS];
                load_parts(two, value + row * d_v + column, rest_of_row(row, count, column, d_v), parts);
                rows[0][place] = parts[0];
                if (two)
                    rows[1][place] = parts[1];
            }
            store_columns(rows[0], slab);
            if (two)
                store_columns(rows[1], slab + SLAB_BYTES);
        }
}

INLINE void load_keys(size_t parts, const struct kernel_keys *keys)
{
    _tile_loadconfig(&SHAPES);
    load_key(parts == 2, keys->key, keys->count, keys->d, keys->packed);
    load_value(parts == 2, keys->value, keys->count, keys->d_v, (char *)keys->packed + key_bytes(keys->d, parts));
}

static void unpack_and_release(const void *context, size_t lane, size_t count, size_t d_v, void *rows, size_t stride)
{
    _tile_release();
    unpack(context, lane, count, d_v, rows, stride);
}

/* --- scores and values ------------------------------------------------------------------------------------------- */

/* Masks `count` rows, the first of them key `key`, and finds their row maximum. */
INLINE void keep_row_maximum(bool masked, size_t key, size_t count, const int32_t *from, const int32_t *till,
                             float *scores, float *row_maximum)
{
    UNROLLED (j, VECTORS) {
        vector *row = (vector *)scores + j;
        vector most = ((const vector *)row_maximum)[j];
        for (size_t i = 0; i < count; i++, row += VECTORS) {
            if (masked)
                *row = forbid(*row, key + i, from, till, j);
            most = (vector)_mm512_max_ps((__m512)*row, (__m512)most); /* of NaN and a number, returns the second:
                                                                         larger() */
        }
        ((vector *)row_maximum)[j] = most;
    }
}

INLINE void scores_of(size_t parts, const struct kernel_keys *keys, size_t first, size_t count, const void *query,
                      const int32_t *from, const int32_t *till, float *scores, float *row_maximum)
{
    const size_t slabs = slabs_of(keys->d), group = slabs * parts * SLAB_BYTES;
    const char *key = (const char *)keys->packed + first / KEY_STEP * group;
    for (size_t at = 0; at < count; at += KEY_STEP, key += group, scores += (size_t)KEY_STEP * LANES) {
        const size_t rows = count - at < KEY_STEP ? count - at : KEY_STEP;
        multiply_slabs(parts, parts, key, parts * SLAB_BYTES, query, slabs, scores);
        if (row_maximum != NULL && from != NULL)
            keep_row_maximum(true, at, rows, from, till, scores, row_maximum);
        else if (row_maximum != NULL)
            keep_row_maximum(false, at, rows, from, till, scores, row_maximum);
    }
}

INLINE void values_of(size_t parts, size_t weight_parts, const struct kernel_keys *keys, size_t first, size_t count,
                      const void *weights, const float *rescale, float *context)
{
    const size_t slabs = slabs_of(keys->d_v), group = slabs * parts * SLAB_BYTES;
    const char *value = (const char *)keys->packed + key_bytes(keys->d, parts) + first / KEY_STEP * group;
    const size_t groups = round_up(count, KEY_STEP) / KEY_STEP;
    const __m512 left = _mm512_load_ps(rescale), right = _mm512_load_ps(rescale + VECTOR_LANES);
    _Alignas(64) float sums[COLUMNS * LANES];
    for (size_t column = 0; column < keys->d_v; column += COLUMNS, value += parts * SLAB_BYTES) {
        const size_t columns = keys->d_v - column < COLUMNS ? keys->d_v - column : COLUMNS;
        multiply_slabs(parts, weight_parts, value, group, weights, groups, sums);
        for (size_t i = 0; i < columns; i++, context += LANES) {
            __m512 *row = (__m512 *)context;
            row[0] = _mm512_fmadd_ps(row[0], left, _mm512_load_ps(sums + i * LANES));
            row[1] = _mm512_fmadd_ps(row[1], right, _mm512_load_ps(sums + i * LANES + VECTOR_LANES));
        }
    }
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

/* The functions that kernels of one dtype share. */
#define OPERANDS(name, parts)                                                                                   \
    static size_t query_bytes_##name(size_t d)                                                                  \
    {                                                                                                           \
        return pairs_bytes(d, parts);                                                                           \
    }                                                                                                           \
    static size_t keys_bytes_##name(size_t d, size_t d_v)                                                       \
    {                                                                                                           \
        return d > MOST_COLUMNS || d_v > MOST_COLUMNS ? SIZE_MAX : key_bytes(d, parts) + key_bytes(d_v, parts); \
    }                                                                                                           \
    static void pack_##name(const void *query, size_t count, size_t d, double factor, void *packed)             \
    {                                                                                                           \
        pack_pairs((parts) == 2, query, count, d, factor, packed);                                              \
    }                                                                                                           \
    static void load_##name(const struct kernel_keys *keys)                                                     \
    {                                                                                                           \
        load_keys(parts, keys);                                                                                 \
    }                                                                                                           \
    static void scores_##name(const struct kernel_keys *keys, size_t first, size_t count, const void *query,    \
                              const int32_t *from, const int32_t *till, void *scores, void *row_maximum)        \
    {                                                                                                           \
        scores_of(parts, keys, first, count, query, from, till, scores, row_maximum);                           \
    }

/* name: of the table; operands: of the above. */
#define KERNEL(table, operands, parts, id, weight_parts, one)                                                      \
    static void softmax_##table(void *scores, size_t count, double factor, const void *row_maximum, void *maximum, \
                                void *sum, void *logs, void *rescale)                                              \
    {                                                                                                              \
        softmax_pairs(weight_parts, KEY_STEP, scores, count, factor, row_maximum, maximum, sum, logs, rescale);    \
    }                                                                                                              \
    static void values_##table(const struct kernel_keys *keys, size_t first, size_t count, const void *weights,    \
                               const void *rescale, void *context)                                                 \
    {                                                                                                              \
        values_of(parts, weight_parts, keys, first, count, weights, rescale, context);                             \
    }                                                                                                              \
    const struct kernel kernel_amx_##table = {                                                                     \
        .name = "amx",                                                                                             \
        .dtype = (id),                                                                                             \
        .number = DTYPE_F32,                                                                                       \
        KERNEL_PIECES,                                                                                             \
        .rows = COLUMNS,                                                                                           \
        .task_queries = 512,                                                                                       \
        .key_step = KEY_STEP,                                                                                      \
        .prescales_query = false,                                                                                  \
        .one_part = (one),                                                                                         \
        .weight_error = (weight_parts) == 1 ? 0x1p-8 : 0x1p-17,                                                    \
        .query_bytes = query_bytes_##operands,                                                                     \
        .keys_bytes = keys_bytes_##operands,                                                                       \
        .pack_query = pack_##operands,                                                                             \
        .finite = finite_##operands,                                                                               \
        .load = load_##operands,                                                                                   \
        .scores = scores_##operands,                                                                               \
        .softmax = softmax_##table,                                                                                \
        .values = values_##table,                                                                                  \
        .unpack = unpack_and_release,                                                                              \
    };

FINITE(finite_bf16, uint16_t, 1 << 15, 1 << 7)
FINITE(finite_f16, uint16_t, 1 << 15, 1 << 10)
OPERANDS(bf16, 1)
OPERANDS(f16, 2)
KERNEL(bf16, bf16, 1, DTYPE_BF16, 2, false)
KERNEL(bf16_one_part, bf16, 1, DTYPE_BF16, 1, true)
KERNEL(f16, f16, 2, DTYPE_F16, 2, false)
