/* SPDX-License-Identifier: MIT */
/* The vector kernels: one source, which the Makefile compiles for each instruction set in float, and again in double
 * (with DOUBLES). A set is a file isa_NAME.c and a row in kernel_choose.c. The Makefile reads the file's first line:
 * the machine, as the compiler's -dumpmachine begins, or "any", and the flags. The rest defines ISA, its NAME, and the
 * macros of kernel_pieces.h, before it includes this. The tables of functions are kernel_NAME_f32 and kernel_NAME_f64;
 * kernel_NAME_bf16 and kernel_NAME_f16 widen their numbers to float first. */
#include "kernel/kernel_pieces.h"

enum { KEY_STEP = 24 };

_Static_assert((int)KEY_STEP % (int)ROWS == 0, "a step of keys is whole tiles");
_Static_assert((int)KERNEL_KEYS % (int)KEY_STEP == 0, "a block of keys is whole steps");

/* Whether to prefetch the next block of keys: narrower vectors have no time for it. */
enum { ASKS_AHEAD = VECTOR_BYTES >= 64 };

/* The address of the same row `ahead` rows later, which may be no row; `stride` numbers per row. */
INLINE const char *later(const number *row, ptrdiff_t ahead, size_t stride)
{
    return (const char *)((uintptr_t)row + (uintptr_t)ahead * stride * sizeof *row);
}

/* --- scores ------------------------------------------------------------------------------------------------------ */

/* sums[i] = the larger of sums[i] and sums[i + step], for i = 0, 2 step, 4 step, ... */
INLINE void keep_larger(size_t rows, size_t step, vector sums[ROWS][VECTORS])
{
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            if (i % (2 * step) == 0 && i + step < rows)
                sums[i][j] = larger(sums[i + step][j], sums[i][j]);
}

/* STRETCH: columns of key and query summed in one chain, since errors grow with its length; wider heads add up such
 * sums. STRETCH_KEYS: keys that go through all stretches together, so that their scores and a stretch of the query stay
 * in the L1 cache. */
enum { STRETCH = 256, STRETCH_KEYS = 24 };

/* Scores of a stretch of `depth` columns; `add`: added to what scores holds. The rest is as in struct kernel, with rows
 * of key d apart. */
INLINE void scores_tile(size_t rows, size_t at, const number *key, size_t d, ptrdiff_t ahead, const number *query,
                        size_t depth, bool add, const int32_t *first, const int32_t *end, number *scores,
                        number *row_maximum)
{
    vector sums[ROWS][VECTORS];
    const number *keys = key + at * d;
    multiply(rows, keys, d, 1, query, depth, sums, ASKS_AHEAD, later(keys, ahead, d), rows * sizeof *keys);
    if (add)
        UNROLLED (i, rows)
            UNROLLED (j, VECTORS)
                sums[i][j] += ((const vector *)(scores + (at + i) * LANES))[j];
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS) {
            if (first != NULL)
                sums[i][j] = forbid(sums[i][j], at + i, first, end, j);
            ((vector *)(scores + (at + i) * LANES))[j] = sums[i][j];
        }
    if (row_maximum == NULL)
        return;
    /* The largest by pairs, in sums[0]: a chain would wait at each step. */
    keep_larger(rows, 1, sums);
    keep_larger(rows, 2, sums);
    keep_larger(rows, 4, sums);
    keep_larger(rows, 8, sums);
    UNROLLED (j, VECTORS)
        ((vector *)row_maximum)[j] = larger(sums[0][j], ((const vector *)row_maximum)[j]);
}

/* Scores of keys from .. from + count through all stretches; the last stretch masks and finds the row maximum. */
static void score_keys(const number *key, size_t from, size_t count, size_t d, ptrdiff_t ahead, const number *query,
                       const int32_t *first, const int32_t *end, number *scores, number *row_maximum)
{
#define WHOLE(rows, at) \
    scores_tile(rows, from + (at), key, d, ahead, query, depth, k > 0, NULL, NULL, scores, row_maximum)
#define MASKED(rows, at) \
    scores_tile(rows, from + (at), key, d, ahead, query, depth, k > 0, first, end, scores, row_maximum)
#define PRODUCTS(rows, at) scores_tile(rows, from + (at), key, d, ahead, query, depth, k > 0, NULL, NULL, scores, NULL)
    for (size_t k = 0, depth; k < d; k += depth, key += depth, query += depth * LANES) {
        depth = d - k < STRETCH ? d - k : STRETCH;
        if (row_maximum == NULL || k + depth < d)
            FOR_TILES(count, PRODUCTS);
        else if (first == NULL)
            FOR_TILES(count, WHOLE);
        else
            FOR_TILES(count, MASKED);
    }
#undef WHOLE
#undef MASKED
#undef PRODUCTS
}

static void scores_of(const number *key, size_t keys, size_t d, ptrdiff_t ahead, const number *query,
                      const int32_t *from, const int32_t *till, number *scores, number *row_maximum)
{
    const size_t most = d > STRETCH ? STRETCH_KEYS : keys;
    for (size_t first = 0; first < keys; first += most)
        score_keys(key, first, keys - first < most ? keys - first : most, d, ahead, query, from, till, scores,
                   row_maximum);
}

static void scores(const struct kernel_keys *keys, size_t first, size_t count, const void *query, const int32_t *from,
                   const int32_t *till, void *scores, void *row_maximum)
{
    scores_of((const number *)keys->key + first * keys->d, count, keys->d, keys->ahead, query, from, till, scores,
              row_maximum);
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

/* Partial sums of weights: key i goes to sum i modulo SUMS, since errors grow with the length of the chain. */
enum { SUMS = 4 };

/* Turns row i of scores into weights and adds them to one of the sums; `logs`, a constant: also weight x log2(weight)
 * to another. */
INLINE void weigh_row(bool logs, void *scores, size_t i, vector scale, const vector most[VECTORS],
                      vector total[VECTORS], vector total_logs[VECTORS])
{
    UNROLLED (j, VECTORS) {
        vector *row = (vector *)scores + i * VECTORS + j;
        const vector exponent = (*row - most[j]) * scale;
        *row = exp2_vector(exponent);
        total[j] += *row;
        if (logs)
            total_logs[j] = multiply_add(*row, finite_log(exponent), total_logs[j]);
    }
}

INLINE vector joined(vector total[SUMS][VECTORS], size_t j)
{
    return (total[0][j] + total[1][j]) + (total[2][j] + total[3][j]);
}

INLINE void softmax_rows(bool has_logs, void *scores, size_t count, double factor, const void *row_maximum,
                         void *maximum, void *sum, void *logs, void *rescale)
{
    const vector scale = broadcast((number)factor), lowest = broadcast(-NUMBER_MAX);
    vector most[VECTORS], step[VECTORS], total[SUMS][VECTORS], total_logs[SUMS][VECTORS];
    UNROLLED (j, VECTORS) {
        const vector next = ((const vector *)row_maximum)[j];
        most[j] = select_vector(next < lowest, lowest, next);
        UNROLLED (k, SUMS)
            total[k][j] = total_logs[k][j] = (vector){0};
        step[j] = (((const vector *)maximum)[j] - most[j]) * scale;
        ((vector *)rescale)[j] = exp2_vector(step[j]);
        ((vector *)maximum)[j] = most[j];
    }
    size_t i = 0;
    for (; i + SUMS <= count; i += SUMS)
        UNROLLED (k, SUMS)
            weigh_row(has_logs, scores, i + k, scale, most, total[k], total_logs[k]);
    UNROLLED (k, SUMS)
        if (i + k < count)
            weigh_row(has_logs, scores, i + k, scale, most, total[k], total_logs[k]);
    UNROLLED (j, VECTORS) {
        const vector shrunk = ((const vector *)rescale)[j];
        vector *all = (vector *)sum + j;
        if (has_logs) {
            vector *of_logs = (vector *)logs + j;
            *of_logs = multiply_add(moved_logs(*of_logs, *all, step[j]), shrunk, joined(total_logs, j));
        }
        *all = multiply_add(*all, shrunk, joined(total, j));
    }
}

static void softmax(void *scores, size_t count, double factor, const void *row_maximum, void *maximum, void *sum,
                    void *logs, void *rescale)
{
    if (logs != NULL)
        softmax_rows(true, scores, count, factor, row_maximum, maximum, sum, logs, rescale);
    else
        softmax_rows(false, scores, count, factor, row_maximum, maximum, sum, NULL, rescale);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

INLINE void values_tile(size_t rows, size_t first, const number *value, size_t keys, size_t d, ptrdiff_t ahead,
                        const number *weights, const number *rescale, number *context)
{
    vector sums[ROWS][VECTORS];
    multiply(rows, value + first, 1, d, weights, keys, sums, ASKS_AHEAD, later(value + first, ahead, d),
             d * sizeof *value);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS) {
            vector *sum = (vector *)(context + (first + i) * LANES) + j;
            *sum = multiply_add(*sum, ((const vector *)rescale)[j], sums[i][j]);
        }
}

static void values_of(const number *value, size_t keys, size_t d_v, ptrdiff_t ahead, const number *weights,
                      const number *rescale, number *context)
{
#define PART(rows, first) values_tile(rows, first, value, keys, d_v, ahead, weights, rescale, context)
    FOR_TILES(d_v, PART);
#undef PART
}

static void values(const struct kernel_keys *keys, size_t first, size_t count, const void *weights, const void *rescale,
                   void *context)
{
    values_of((const number *)keys->value + first * keys->d_v, count, keys->d_v, keys->ahead, weights, rescale,
              context);
}

/* --- projections ------------------------------------------------------------------------------------------------- */

INLINE void project_tile(size_t rows, size_t first, const number *x, size_t stride, size_t depth, const number *panel,
                         number *y)
{
    vector sums[ROWS][VECTORS];
    multiply(rows, x + first * stride, stride, 1, panel, depth, sums, false, NULL, 0);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            ((vector *)(y + (first + i) * LANES))[j] += sums[i][j];
}

static void project(const void *x, size_t stride, size_t rows, size_t depth, const void *panel, void *y)
{
#define PART(tile_rows, first) project_tile(tile_rows, first, x, stride, depth, panel, y)
    FOR_TILES(rows, PART);
#undef PART
}

/* --- backwards --------------------------------------------------------------------------------------------------- */

static void cap_slopes(const struct kernel_adjustment *adjustment, size_t count, const void *scores, void *slopes)
{
    const vector steepness = broadcast((number)fmin(adjustment->steepness, NUMBER_MAX)), one = broadcast(1);
    for (size_t i = 0; i < count * VECTORS; i++) {
        const vector share = tanh_vector(((const vector *)scores)[i] * steepness, one);
        ((vector *)slopes)[i] = (one - share) * (one + share);
    }
}

/* capped is a constant where this is inlined. */
INLINE void differentiate_rows(bool capped, void *scores, size_t count, number factor, const void *lse,
                               const void *delta, const void *slopes, number scale, void *grad)
{
    vector base[VECTORS], rest[VECTORS], mean[VECTORS];
    UNROLLED (j, VECTORS) {
        base[j] = -((const vector *)lse)[j];
        rest[j] = ((const vector *)lse)[VECTORS + j];
        mean[j] = ((const vector *)delta)[j];
    }
    vector *score = scores, *gradient = grad;
    for (size_t i = 0; i < count; i++, score += VECTORS, gradient += VECTORS)
        UNROLLED (j, VECTORS) {
            const vector weight = exp2_vector(multiply_add(score[j], broadcast(factor), base[j]) - rest[j]);
            vector change = weight * (gradient[j] - mean[j]) * broadcast(scale);
            if (capped)
                change *= ((const vector *)slopes)[i * VECTORS + j];
            score[j] = weight;
            gradient[j] = select_vector(weight == (vector){0}, (vector){0}, change);
        }
}

static void differentiate(void *scores, size_t count, double factor, const void *lse, const void *delta,
                          const void *slopes, double scale, void *grad)
{
    if (slopes != NULL)
        differentiate_rows(true, scores, count, (number)factor, lse, delta, slopes, (number)scale, grad);
    else
        differentiate_rows(false, scores, count, (number)factor, lse, delta, slopes, (number)scale, grad);
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

static void pack_query(const void *query, size_t count, size_t d, double factor, void *packed)
{
    pack_numbers(query, d, count, d, (number)factor, packed);
}

/* This kernel packs no keys. */
static size_t no_bytes(size_t d, size_t d_v)
{
    (void)d, (void)d_v;
    return 0;
}

static void load_nothing(const struct kernel_keys *keys)
{
    (void)keys;
}

#define JOINED(left, right, end) left##right##end
#define TABLE_OF(isa, dtype) JOINED(kernel_, isa, dtype)
#define TEXT(name) #name
#define TEXT_OF(isa) TEXT(isa)

/* The fields that all tables of this source share. */
#define VECTOR_KERNEL                                                                                 \
    KERNEL_PIECES, .name = TEXT_OF(ISA), .rows = ROWS, .key_step = KEY_STEP, .prescales_query = true, \
                   .softmax = softmax, .unpack = unpack

#ifdef DOUBLES
#define OWN(isa) TABLE_OF(isa, _f64)
#define OWN_DTYPE DTYPE_F64
FINITE(finite_own, uint64_t, UINT64_C(1) << 63, UINT64_C(1) << 52)
#else
#define OWN(isa) TABLE_OF(isa, _f32)
#define OWN_DTYPE DTYPE_F32
FINITE(finite_own, uint32_t, UINT32_C(1) << 31, 1 << 23)
#endif

const struct kernel OWN(ISA) = {
    VECTOR_KERNEL,
    .finite = finite_own,
    .dtype = OWN_DTYPE,
    .number = OWN_DTYPE,
    .task_queries = 128,
    .query_bytes = packed_bytes,
    .keys_bytes = no_bytes,
    .pack_query = pack_query,
    .load = load_nothing,
    .scores = scores,
    .values = values,
    .project = project,
    .cap_slopes = cap_slopes,
    .differentiate = differentiate,
};

/* --- numbers of 16 bits, widened --------------------------------------------------------------------------------- */

#ifndef DOUBLES

/* A bfloat16 is the upper half of a float. */
INLINE float widen_bf16(uint16_t bits)
{
    const uint32_t code = (uint32_t)bits << 16;
    float wide;
    memcpy(&wide, &code, sizeof wide);
    return wide;
}

/* Exponent and fraction shifted up are the float divided by 2^112, also for subnormal numbers. */
INLINE float widen_f16(uint16_t bits)
{
    const uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13;
    float wide;
    memcpy(&wide, &magnitude, sizeof wide);
    wide *= 0x1p112f;
    return bits & 0x8000 ? -wide : wide;
}

/* A packed query, then room for its widened rows. */
static size_t widened_query_bytes(size_t d)
{
    return memory_product(packed_bytes(d), 2);
}

static size_t widened_keys_bytes(size_t d, size_t d_v)
{
    return memory_product(memory_sum(d, d_v), KERNEL_KEYS * sizeof(float));
}

static struct kernel_keys widened(const struct kernel_keys *keys)
{
    struct kernel_keys wide = *keys;
    wide.key = keys->packed;
    wide.value = (float *)keys->packed + keys->count * keys->d;
    wide.ahead = 0;
    return wide;
}

static void scores_widened(const struct kernel_keys *keys, size_t first, size_t count, const void *query,
                           const int32_t *from, const int32_t *till, void *rows, void *row_maximum)
{
    const struct kernel_keys wide = widened(keys);
    scores(&wide, first, count, query, from, till, rows, row_maximum);
}

static void values_widened(const struct kernel_keys *keys, size_t first, size_t count, const void *weights,
                           const void *rescale, void *context)
{
    const struct kernel_keys wide = widened(keys);
    values(&wide, first, count, weights, rescale, context);
}

/* A 16-bit dtype: the functions that widen its rows, and its table. */
#define WIDENED(name, id, one)                                                                                 \
    static void widen_all_##name(const void *from, size_t count, float *to)                                    \
    {                                                                                                          \
        for (size_t i = 0; i < count; i++)                                                                     \
            to[i] = widen_##name(((const uint16_t *)from)[i]);                                                 \
    }                                                                                                          \
                                                                                                               \
    static void pack_##name(const void *query, size_t count, size_t d, double factor, void *packed)            \
    {                                                                                                          \
        float *rows = (float *)packed + packed_bytes(d) / sizeof(float);                                       \
        widen_all_##name(query, count *d, rows);                                                               \
        pack_numbers(rows, d, count, d, (float)factor, packed);                                                \
    }                                                                                                          \
                                                                                                               \
    static void load_##name(const struct kernel_keys *keys)                                                    \
    {                                                                                                          \
        widen_all_##name(keys->key, keys->count * keys->d, keys->packed);                                      \
        widen_all_##name(keys->value, keys->count * keys->d_v, (float *)keys->packed + keys->count * keys->d); \
    }                                                                                                          \
                                                                                                               \
    FINITE(finite_##name, uint16_t, 1 << 15, one)                                                              \
    const struct kernel TABLE_OF(ISA, _##name) = {                                                             \
        VECTOR_KERNEL,                                                                                         \
        .dtype = (id),                                                                                         \
        .number = DTYPE_F32,                                                                                   \
        .task_queries = 256,                                                                                   \
        .query_bytes = widened_query_bytes,                                                                    \
        .keys_bytes = widened_keys_bytes,                                                                      \
        .pack_query = pack_##name,                                                                             \
        .finite = finite_##name,                                                                               \
        .load = load_##name,                                                                                   \
        .scores = scores_widened,                                                                              \
        .values = values_widened,                                                                              \
    };

WIDENED(bf16, DTYPE_BF16, 1 << 7)
WIDENED(f16, DTYPE_F16, 1 << 10)

#endif
