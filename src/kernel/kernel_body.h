/* The kernels: one source, compiled once for each instruction set. A set is a file isa_NAME.c and a row in
 * kernel_choose.c. The first line of the file is for the Makefile: the machine, as the compiler's -dumpmachine begins,
 * or "any", and the flags. The rest says, before it includes this:
 *
 *   ISA           NAME; the table of functions is kernel_NAME
 *   VECTOR_BYTES  of a vector
 *   VECTORS       side by side; so many vectors of lanes make W
 *   ROWS          of the largest tile of sums
 *   MULTIPLY_ADD  (a, b, c): a x b + c of vectors, rounded once; not said where the set has no such instruction
 *
 * ROWS x VECTORS sums, VECTORS rows of B and one broadcast scalar must fit the registers. */
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

enum { VECTOR_LANES = VECTOR_BYTES / (int)sizeof(float), LANES = VECTORS * VECTOR_LANES };

_Static_assert((int)LANES <= (int)KERNEL_MOST_LANES, "callers size their rows of lanes by KERNEL_MOST_LANES");
_Static_assert(4 <= ROWS && ROWS <= 8, "tiles of 4 rows are always there, and no loop over more than 8 is unrolled");
_Static_assert((int)LANES >= (int)KERNEL_LEAST_LANES, "callers count their tiles of lanes by KERNEL_LEAST_LANES");
_Static_assert((int)KERNEL_KEY_STEP % (int)ROWS == 0, "a step of keys is whole tiles");

typedef float vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t integers __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t naturals __attribute__((vector_size(VECTOR_BYTES), may_alias)); /* may wrap around */

static const float LOG2_E = 0x1.715476p+0f;

#define INLINE static inline __attribute__((always_inline))

/* For i in 0 .. count, a constant of at most 8: what is unrolled as a whole keeps its array of vectors in registers. */
#ifdef __clang__
/* NOLINTNEXTLINE(bugprone-macro-parentheses): i is the name that it declares */
#define UNROLLED(i, count) _Pragma("clang loop unroll(full)") for (size_t i = 0; i < (count); i++)
#else
#define UNROLLED(i, count) _Pragma("GCC unroll 8") for (size_t i = 0; i < (count); i++)
#endif

/* {0} + scalar would be an addition: it must turn minus zero into zero. */
INLINE vector broadcast(float scalar)
{
    return scalar - (vector){0};
}

/* a x b + c, the only place where a product and a sum may share a rounding: left to the compiler, the same sum would be
 * rounded once in one tile and twice in another. */
INLINE vector multiply_add(vector a, vector b, vector c)
{
#ifdef MULTIPLY_ADD
    return (vector)MULTIPLY_ADD(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE vector select_vector(integers mask, vector yes, vector no)
{
    return (vector)(((integers)yes & mask) | ((integers)no & ~mask));
}

/* Written on whole vectors: a loop over lanes is turned into scalars where it is inlined into unrolled code. */
INLINE vector larger(vector a, vector b)
{
    return select_vector(a > b, a, b);
}

/* 2^x for x < 1, exactly 1 at 0 and exactly 0 below -125; relative error below 1.8e-7; NaN stays NaN.
 *
 * The sum with 1.5 x 2^23 leaves round(x) in the low bits of the mantissa; what remains, within 1/2, goes through a
 * polynomial of least relative error (Remez's problem with the constant held at 1, solved by Lawson's reweighting),
 * and round(x) is added to its exponent. */
INLINE vector exp2_vector(vector x)
{
    const vector magic = broadcast(0x1.8p23f);
    const vector shifted = x + magic;
    const vector f = x - (shifted - magic);
    vector p = broadcast(0x1.5bba14p-10f);
    p = multiply_add(p, f, broadcast(0x1.3cea88p-7f));
    p = multiply_add(p, f, broadcast(0x1.c6b752p-5f));
    p = multiply_add(p, f, broadcast(0x1.ebf9bcp-3f));
    p = multiply_add(p, f, broadcast(0x1.62e42ap-1f));
    p = multiply_add(p, f, broadcast(1.0f));
    const naturals scaled = (naturals)p + ((naturals)shifted << 23);
    return (vector)(scaled & ~(naturals)(x < broadcast(-125.0f)));
}

/* height tanh(x), within 4e-7 of its value also where that is small, never beyond the height, and exactly that from
 * where tanh is 1 in a float; NaN stays NaN.
 *
 * x times a quotient of polynomials in its square, of least relative error up to 9.02 (by Lawson's reweighting of the
 * problem made linear); no term of it is negative, so that none takes digits from another. */
INLINE vector tanh_vector(vector x, vector height)
{
    const naturals sign = (naturals)x & (naturals)broadcast(-0.0f);
    const vector size = (vector)((naturals)x ^ sign), square = x * x;
    vector p = broadcast(0x1.cb4bcep-27f);
    p = multiply_add(p, square, broadcast(0x1.59ebfep-16f));
    p = multiply_add(p, square, broadcast(0x1.ca4066p-9f));
    p = multiply_add(p, square, broadcast(0x1.120dc6p-3f));
    p = multiply_add(p, square, broadcast(0x1.000000p+0f));
    vector q = broadcast(0x1.a1c88ep-21f);
    q = multiply_add(q, square, broadcast(0x1.589fccp-12f));
    q = multiply_add(q, square, broadcast(0x1.a8017ep-6f));
    q = multiply_add(q, square, broadcast(0x1.de5c2cp-2f));
    q = multiply_add(q, square, broadcast(1.0f));
    const vector quotient = size * p / q;
    const integers one = (size > broadcast(9.02f)) | (quotient > broadcast(1.0f));
    return (vector)((naturals)select_vector(one, height, quotient * height) | sign);
}

/* sums[i][.] = sum over k of a[i x row_stride + k x column_stride] b[k][.], k ascending.
 *   a     (rows, depth) by its strides; rows is a constant where this is inlined, at most ROWS
 *   b     (depth, LANES) packed
 *   sums  (rows, VECTORS) written */
INLINE void multiply(size_t rows, const float *a, size_t row_stride, size_t column_stride, const float *b, size_t depth,
                     vector sums[ROWS][VECTORS])
{
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            sums[i][j] = (vector){0};
    for (size_t k = 0; k < depth; k++, a += column_stride, b += LANES) {
        vector columns[VECTORS];
        UNROLLED (j, VECTORS)
            columns[j] = ((const vector *)b)[j];
        UNROLLED (i, rows) {
            const vector scalar = broadcast(a[i * row_stride]);
            UNROLLED (j, VECTORS)
                sums[i][j] = multiply_add(scalar, columns[j], sums[i][j]);
        }
    }
}

/* Calls part(rows, first) for tiles that cover 0 .. count, each with a constant number of rows: as many as fit, then
 * 4, 2 and 1, so that an odd shape does not crawl row by row. */
#define FOR_TILES(count, part)                                   \
    do {                                                         \
        size_t tile_first = 0;                                   \
        for (; tile_first + ROWS <= (count); tile_first += ROWS) \
            part(ROWS, tile_first);                              \
        for (; tile_first + 4 <= (count); tile_first += 4)       \
            part(4, tile_first);                                 \
        for (; tile_first + 2 <= (count); tile_first += 2)       \
            part(2, tile_first);                                 \
        for (; tile_first < (count); tile_first++)               \
            part(1, tile_first);                                 \
    } while (0)

/* --- packing ----------------------------------------------------------------------------------------------------- */

typedef float quad __attribute__((vector_size(16), may_alias));
typedef quad unaligned_quad __attribute__((aligned(4)));

#ifdef __clang__
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (int32_t __attribute__((vector_size(16)))){i, j, k, l})
#endif

/* to[j][i] = from[i][j], 4 x 4; the rows are the given strides apart. */
INLINE void transpose_4x4(const float *from, size_t from_stride, float *to, size_t to_stride)
{
    quad rows[4];
    UNROLLED (i, 4)
        rows[i] = *(const unaligned_quad *)(from + i * from_stride);
    const quad low_01 = SHUFFLE(rows[0], rows[1], 0, 4, 1, 5), high_01 = SHUFFLE(rows[0], rows[1], 2, 6, 3, 7);
    const quad low_23 = SHUFFLE(rows[2], rows[3], 0, 4, 1, 5), high_23 = SHUFFLE(rows[2], rows[3], 2, 6, 3, 7);
    *(unaligned_quad *)to = SHUFFLE(low_01, low_23, 0, 1, 4, 5);
    *(unaligned_quad *)(to + to_stride) = SHUFFLE(low_01, low_23, 2, 3, 6, 7);
    *(unaligned_quad *)(to + 2 * to_stride) = SHUFFLE(high_01, high_23, 0, 1, 4, 5);
    *(unaligned_quad *)(to + 3 * to_stride) = SHUFFLE(high_01, high_23, 2, 3, 6, 7);
}

/* to[j][i] = from[i][j] for a matrix of (rows, columns), in squares as far as they go. */
static void transpose(const float *from, size_t from_stride, size_t rows, size_t columns, float *to, size_t to_stride)
{
    for (size_t i = 0; i < rows; i += 4) {
        size_t j = 0;
        for (; i + 4 <= rows && j + 4 <= columns; j += 4)
            transpose_4x4(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
        for (; j < columns; j++)
            for (size_t row = i; row < rows && row < i + 4; row++)
                to[j * to_stride + row] = from[row * from_stride + j];
    }
}

static void pack_f32(const float *matrix, size_t stride, size_t count, size_t d, float factor, float *packed)
{
    transpose(matrix, stride, count, d, packed, LANES);
    for (size_t k = 0; k < d && count < LANES; k++)
        for (size_t lane = count; lane < LANES; lane++)
            packed[k * LANES + lane] = 0;
    for (size_t i = 0; i < d * VECTORS && factor != 1; i++)
        ((vector *)packed)[i] *= broadcast(factor);
}

static void unpack_f32(float *packed, const float *sum, size_t count, size_t d, float *rows, size_t stride)
{
    for (size_t c = 0; c < d; c++)
        UNROLLED (j, VECTORS) {
            vector *part = (vector *)(packed + c * LANES) + j;
            *part = *part / ((const vector *)sum)[j] + broadcast(0.0f); /* minus zero becomes zero */
        }
    transpose(packed, LANES, d, count, rows, stride);
}

/* --- scores ------------------------------------------------------------------------------------------------------ */

/* sums[i] = the larger of sums[i] and sums[i + step], for every second i of that step. */
INLINE void keep_larger(size_t rows, size_t step, vector sums[ROWS][VECTORS])
{
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            if (i % (2 * step) == 0 && i + step < rows)
                sums[i][j] = larger(sums[i + step][j], sums[i][j]);
}

/* Minus infinity in the lanes that key `key` lies outside of. */
INLINE vector forbid(vector scores, size_t key, const int32_t *first, const int32_t *end, size_t j)
{
    const integers index = (int32_t)key - (integers){0};
    const integers seen = (index >= ((const integers *)first)[j]) & (index < ((const integers *)end)[j]);
    return select_vector(seen, scores, broadcast(-INFINITY));
}

/* Columns of key and query that are summed in one chain: the error of sums that do not cancel grows with its length. Of
 * a wider head the sums of such stretches are added up. So many keys go through all of them together that their scores
 * and a stretch of the query stay in the first cache. */
enum { STRETCH = 256, STRETCH_KEYS = 24 };

/* A stretch of `depth` columns; its sums are added to what scores holds where `add` says so. The rest as in the table,
 * but that a row of key is d long. */
INLINE void scores_tile(size_t rows, size_t at, const float *key, size_t d, const float *query, size_t depth, bool add,
                        const int32_t *first, const int32_t *end, float *scores, float *peak)
{
    vector sums[ROWS][VECTORS];
    multiply(rows, key + at * d, d, 1, query, depth, sums);
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
    if (peak == NULL)
        return;
    /* The largest by pairs, in sums[0]: one after another, each would wait for the one before. */
    keep_larger(rows, 1, sums);
    keep_larger(rows, 2, sums);
    keep_larger(rows, 4, sums);
    UNROLLED (j, VECTORS)
        ((vector *)peak)[j] = larger(sums[0][j], ((const vector *)peak)[j]);
}

/* Keys from .. from + count through all stretches; the last one masks and finds the peak. */
static void score_keys(const float *key, size_t from, size_t count, size_t d, const float *query, const int32_t *first,
                       const int32_t *end, float *scores, float *peak)
{
#define WHOLE(rows, at) scores_tile(rows, from + (at), key, d, query, depth, k > 0, NULL, NULL, scores, peak)
#define MASKED(rows, at) scores_tile(rows, from + (at), key, d, query, depth, k > 0, first, end, scores, peak)
#define PRODUCTS(rows, at) scores_tile(rows, from + (at), key, d, query, depth, k > 0, NULL, NULL, scores, NULL)
    for (size_t k = 0, depth; k < d; k += depth, key += depth, query += depth * LANES) {
        depth = d - k < STRETCH ? d - k : STRETCH;
        if (peak == NULL || k + depth < d)
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

static void scores_f32(const float *key, size_t keys, size_t d, const float *query, const int32_t *first,
                       const int32_t *end, float *scores, float *peak)
{
    const size_t most = d > STRETCH ? STRETCH_KEYS : keys;
    for (size_t from = 0; from < keys; from += most)
        score_keys(key, from, keys - from < most ? keys - from : most, d, query, first, end, scores, peak);
}

/* --- adjustment -------------------------------------------------------------------------------------------------- */

/* A number that overflowed becomes the nearest that did not; no NaN comes here. */
INLINE vector held(vector number)
{
    const vector most = broadcast(FLT_MAX);
    return larger(select_vector(number < most, number, most), -most);
}

/* capped, biased and sloped are constants where this is inlined: a feature that is not there costs nothing. */
INLINE void adjust(bool capped, bool biased, bool sloped, const struct kernel_adjustment *adjustment, size_t keys,
                   float *scores, float *peak, int32_t *seen)
{
    const naturals magnitude = ~(naturals)broadcast(-0.0f);
    for (size_t j = 0; j < VECTORS; j++) {
        const integers first = ((const integers *)adjustment->first)[j], end = ((const integers *)adjustment->end)[j];
        const vector distance = sloped ? ((const vector *)adjustment->distance)[j] : (vector){0};
        vector most = ((const vector *)peak)[j];
        integers any = ((const integers *)seen)[j];
        vector *row = (vector *)scores + j;
        for (size_t i = 0; i < keys; i++, row += VECTORS) {
            const integers index = (int32_t)i - (integers){0};
            integers allowed = (index >= first) & (index < end);
            vector score = *row;
            if (capped)
                score = tanh_vector(score * broadcast(adjustment->steepness), broadcast(adjustment->height));
            if (biased) {
                /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): biased says that there is one */
                const vector bias = ((const vector *)(adjustment->bias + i * LANES))[j];
                allowed &= bias > broadcast(-INFINITY);
                score += held(bias * broadcast(LOG2_E));
            }
            if (sloped) {
                const vector away = distance - broadcast((float)(adjustment->origin + i));
                score = multiply_add((vector)((naturals)away & magnitude), broadcast(-adjustment->slope), score);
            }
            any |= allowed;
            *row = select_vector(allowed, score, broadcast(-INFINITY));
            most = larger(*row, most);
        }
        ((vector *)peak)[j] = most;
        ((integers *)seen)[j] = any;
    }
}

static void adjust_f32(const struct kernel_adjustment *adjustment, size_t keys, float *scores, float *peak,
                       int32_t *seen)
{
    const int kind = 4 * adjustment->capped + 2 * (adjustment->bias != NULL) + (adjustment->slope != 0);
    switch (kind) {
#define KIND(capped, biased, sloped)                                          \
    case 4 * (capped) + 2 * (biased) + (sloped):                              \
        adjust(capped, biased, sloped, adjustment, keys, scores, peak, seen); \
        break
        KIND(0, 0, 0);
        KIND(0, 0, 1);
        KIND(0, 1, 0);
        KIND(0, 1, 1);
        KIND(1, 0, 0);
        KIND(1, 0, 1);
        KIND(1, 1, 0);
        KIND(1, 1, 1);
#undef KIND
    default:
        break;
    }
}

/* --- softmax ----------------------------------------------------------------------------------------------------- */

/* So many partial sums of weights: key i goes to the one of i modulo SUMS. Errors of equal additions grow with the
 * length of the longest chain. */
enum { SUMS = 4 };

/* Row i of scores becomes weights, which go to one of the sums. */
INLINE void weigh_row(float *scores, size_t i, vector scale, const vector most[VECTORS], vector total[VECTORS])
{
    UNROLLED (j, VECTORS) {
        vector *row = (vector *)(scores + i * LANES) + j;
        *row = exp2_vector((*row - most[j]) * scale);
        total[j] += *row;
    }
}

static void softmax_f32(float *scores, size_t keys, float factor, const float *next, float *maximum, float *sum,
                        float *rescale)
{
    const vector scale = broadcast(factor);
    vector most[VECTORS], total[SUMS][VECTORS];
    UNROLLED (j, VECTORS) {
        most[j] = ((const vector *)next)[j];
        UNROLLED (k, SUMS)
            total[k][j] = (vector){0};
        ((vector *)rescale)[j] = exp2_vector((((const vector *)maximum)[j] - most[j]) * scale);
        ((vector *)maximum)[j] = most[j];
    }
    size_t i = 0;
    for (; i + SUMS <= keys; i += SUMS)
        UNROLLED (k, SUMS)
            weigh_row(scores, i + k, scale, most, total[k]);
    UNROLLED (k, SUMS)
        if (i + k < keys)
            weigh_row(scores, i + k, scale, most, total[k]);
    UNROLLED (j, VECTORS) {
        vector *whole = (vector *)sum + j;
        *whole = multiply_add(*whole, ((const vector *)rescale)[j],
                              (total[0][j] + total[1][j]) + (total[2][j] + total[3][j]));
    }
}

/* --- values ------------------------------------------------------------------------------------------------------ */

INLINE void values_tile(size_t rows, size_t first, const float *value, size_t keys, size_t d, const float *weights,
                        const float *rescale, float *context)
{
    vector sums[ROWS][VECTORS];
    multiply(rows, value + first, 1, d, weights, keys, sums);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS) {
            vector *sum = (vector *)(context + (first + i) * LANES) + j;
            *sum = multiply_add(*sum, ((const vector *)rescale)[j], sums[i][j]);
        }
}

static void values_f32(const float *value, size_t keys, size_t d, const float *weights, const float *rescale,
                       float *context)
{
#define PART(rows, first) values_tile(rows, first, value, keys, d, weights, rescale, context)
    FOR_TILES(d, PART);
#undef PART
}

/* --- projections ------------------------------------------------------------------------------------------------- */

INLINE void project_tile(size_t rows, size_t first, const float *x, size_t stride, size_t depth, const float *panel,
                         float *y)
{
    vector sums[ROWS][VECTORS];
    multiply(rows, x + first * stride, stride, 1, panel, depth, sums);
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            ((vector *)(y + (first + i) * LANES))[j] += sums[i][j];
}

static void project_f32(const float *x, size_t stride, size_t rows, size_t depth, const float *panel, float *y)
{
#define PART(tile_rows, first) project_tile(tile_rows, first, x, stride, depth, panel, y)
    FOR_TILES(rows, PART);
#undef PART
}

#define JOINED(left, right) left##right
#define TABLE_OF(isa) JOINED(kernel_, isa)
#define TEXT(name) #name
#define TEXT_OF(isa) TEXT(isa)

const struct kernel TABLE_OF(ISA) = {
    .name = TEXT_OF(ISA),
    .lanes = LANES,
    .rows = ROWS,
    .pack = pack_f32,
    .scores = scores_f32,
    .adjust = adjust_f32,
    .softmax = softmax_f32,
    .values = values_f32,
    .unpack = unpack_f32,
    .project = project_f32,
};
