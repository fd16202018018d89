/* SPDX-License-Identifier: MIT */
/* The pieces of kernels, for floats or doubles: vectors, 2^x and tanh, tiles of sums, transposition, and operations on
 * packed scores and contexts, (rows, W). Every function is static; each isa_NAME.c builds its kernels from them. Before
 * including this, it defines:
 *
 *   VECTOR_BYTES  of a vector
 *   VECTORS       side by side that make W lanes
 *   ROWS          of the largest tile of sums
 *   MULTIPLY_ADD  (a, b, c): a x b + c of vectors, rounded once; undefined if the set has no such instruction
 *   LARGER        (a, b): a where it is above b, else b, also where one is NaN; defined only for an instruction
 *                 that the compiler does not find by itself
 *   REMAINDER     (x): x less the nearest whole number, ties to even; defined together with TIMES_POWER
 *   TIMES_POWER   (p, n, x, least): p x 2^n for a whole n, 0 where x is below least
 *   DOUBLES       for doubles; else numbers are floats
 *
 * ROWS x VECTORS sums, VECTORS rows of B and one broadcast scalar must fit the registers. */
#include "kernel/kernel.h"
#include "kernel/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef DOUBLES
typedef double number;
typedef int64_t whole;
typedef uint64_t natural;
#define NUMBER_MAX DBL_MAX
#else
typedef float number;
typedef int32_t whole;
typedef uint32_t natural;
#define NUMBER_MAX FLT_MAX
#endif

enum { VECTOR_LANES = VECTOR_BYTES / (int)sizeof(number), LANES = VECTORS * VECTOR_LANES };

_Static_assert((int)LANES <= (int)KERNEL_MOST_LANES, "callers size their rows of lanes by KERNEL_MOST_LANES");
_Static_assert(4 <= ROWS && ROWS <= 12, "tiles of 4 rows are always there, and no loop over more than 12 is unrolled");
_Static_assert((int)LANES >= (int)KERNEL_LEAST_LANES, "callers count their tiles of lanes by KERNEL_LEAST_LANES");

typedef number vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef whole integers __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef natural naturals __attribute__((vector_size(VECTOR_BYTES), may_alias)); /* may wrap around */
typedef int32_t marks
    __attribute__((vector_size(4 * VECTOR_LANES), may_alias)); /* 32 bits per lane, whatever the number */

#define INLINE static inline __attribute__((always_inline))

/* For i in 0 .. count, a constant of at most 12: full unrolling keeps an array of vectors in registers. */
#ifdef __clang__
/* NOLINTNEXTLINE(bugprone-macro-parentheses): i is the name that it declares */
#define UNROLLED(i, count) _Pragma("clang loop unroll(full)") for (size_t i = 0; i < (count); i++)
#define IN_FOURS _Pragma("clang loop unroll_count(4)")
#else
#define UNROLLED(i, count) _Pragma("GCC unroll 12") for (size_t i = 0; i < (count); i++)
#define IN_FOURS _Pragma("GCC unroll 4")
#endif

/* {0} + scalar would be an addition, which turns minus zero into zero. */
INLINE vector broadcast(number scalar)
{
    return scalar - (vector){0};
}

/* a x b + c, the only fusing of a product and a sum: the compiler would round the same sum once in one tile and twice
 * in another. */
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

/* On vectors, since compilers turn a loop over lanes into scalars when they inline it into unrolled code. */
INLINE vector larger(vector a, vector b)
{
#ifdef LARGER
    return (vector)LARGER(a, b);
#else
    return select_vector(a > b, a, b);
#endif
}

/* Loads vector j of a row of marks; store_marks stores it. */
INLINE integers load_marks(const int32_t *row, size_t j)
{
    return __builtin_convertvector(((const marks *)row)[j], integers);
}

INLINE void store_marks(integers lanes, int32_t *row, size_t j)
{
    ((marks *)row)[j] = __builtin_convertvector(lanes, marks);
}

INLINE vector exp2_vector(vector x);

#ifdef DOUBLES
#include "kernel/functions_f64.h"
#else
#include "kernel/functions_f32.h"
#endif

/* 2^x for x < 1, exactly 1 at 0 and exactly 0 below LEAST_EXPONENT, as exact as exp2_near_zero; NaN stays NaN.
 *
 * Adding 1.5 x 2^MANTISSA_BITS leaves round(x) in the low bits of the mantissa. The remainder, within 1/2, goes through
 * a polynomial, and round(x) is added to the exponent. REMAINDER and TIMES_POWER give the same bits. */
INLINE vector exp2_vector(vector x)
{
    const vector least = broadcast(LEAST_EXPONENT);
#ifdef REMAINDER
    const vector f = (vector)REMAINDER(x);
#else
    const vector magic = broadcast((number)((natural)3 << (MANTISSA_BITS - 1)));
    const vector shifted = x + magic;
    const vector f = x - (shifted - magic);
#endif
    const vector p = exp2_near_zero(f);
#ifdef TIMES_POWER
    return (vector)TIMES_POWER(p, x - f, x, least);
#else
    const naturals scaled = (naturals)p + ((naturals)shifted << MANTISSA_BITS);
    return (vector)(scaled & ~(naturals)(x < least));
#endif
}

/* The base-2 logarithm of a weight, from its exponent: finite where the weight is 0. The weight keeps any NaN. */
INLINE vector finite_log(vector exponent)
{
    return larger(exponent, broadcast(LEAST_EXPONENT));
}

/* The sum of weight x log2(weight) for rescaling all weights by 2^step, before that rescaling; `sum` is that of the
 * weights. */
INLINE vector moved_logs(vector logs, vector sum, vector step)
{
    return multiply_add(sum, finite_log(step), logs);
}

/* sums[i][.] = sum over k of a[i x row_stride + k x column_stride] b[k][.], k ascending.
 *   a     (rows, depth) by its strides; rows is a constant where this is inlined, at most ROWS
 *   b     (depth, LANES) packed
 *   sums  (rows, VECTORS) written
 *   next  if `ahead`, a constant: the address to prefetch, `step` bytes further for each
 *         k; may be invalid */
INLINE void multiply(size_t rows, const number *a, size_t row_stride, size_t column_stride, const number *b,
                     size_t depth, vector sums[ROWS][VECTORS], bool ahead, const char *next, size_t step)
{
    UNROLLED (i, rows)
        UNROLLED (j, VECTORS)
            sums[i][j] = (vector){0};
    /* Processors predict the end of a short loop, but not of a long one. */
    IN_FOURS
    for (size_t k = 0; k < depth; k++, a += column_stride, b += LANES) {
        if (ahead) {
            __builtin_prefetch(next, 0, 2);
            next += step;
        }
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

enum { TILE_OF_8 = ROWS > 8 ? 8 : 0 };

/* Calls part(rows, first) for tiles that cover 0 .. count, each with a constant number of rows: ROWS while they fit,
 * then 8 (if less), 4, 2 and 1, so that odd shapes stay fast. 16 are 8 + 8, not 12 + 4. */
#define FOR_TILES(count, part)                                                                                   \
    do {                                                                                                         \
        size_t tile_first = 0;                                                                                   \
        for (; tile_first + ROWS <= (count) && !(TILE_OF_8 > 0 && (count)-tile_first == 16); tile_first += ROWS) \
            part(ROWS, tile_first);                                                                              \
        for (; TILE_OF_8 > 0 && tile_first + TILE_OF_8 <= (count); tile_first += TILE_OF_8)                      \
            part(TILE_OF_8, tile_first);                                                                         \
        for (; tile_first + 4 <= (count); tile_first += 4)                                                       \
            part(4, tile_first);                                                                                 \
        for (; tile_first + 2 <= (count); tile_first += 2)                                                       \
            part(2, tile_first);                                                                                 \
        for (; tile_first < (count); tile_first++)                                                               \
            part(1, tile_first);                                                                                 \
    } while (0)

/* --- packing ----------------------------------------------------------------------------------------------------- */

typedef number quad __attribute__((vector_size(4 * sizeof(number)), may_alias));
typedef quad unaligned_quad __attribute__((aligned(sizeof(number))));

#ifdef __clang__
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE(a, b, i, j, k, l) \
    __builtin_shuffle(a, b, (whole __attribute__((vector_size(4 * sizeof(whole))))){i, j, k, l})
#endif

/* to[j][i] = from[i][j], 4 x 4; the strides are of rows. */
INLINE void transpose_4x4(const number *from, size_t from_stride, number *to, size_t to_stride)
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

/* to[j][i] = from[i][j] for a matrix (rows, columns), in 4 x 4 squares and a remainder. */
static void transpose(const number *from, size_t from_stride, size_t rows, size_t columns, number *to, size_t to_stride)
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

/* Whether all are finite, by their bits: adding 1 to the exponent of a non-finite number carries into its sign. */
#define FINITE(name, type, sign, one)                                                        \
    static bool name(const void *numbers, size_t count)                                      \
    {                                                                                        \
        type beyond = 0;                                                                     \
        for (size_t i = 0; i < count; i++)                                                   \
            beyond |= (type)((((const type *)numbers)[i] & (type)((sign)-1)) + (type)(one)); \
        return (beyond & (sign)) == 0;                                                       \
    }

/* `pack` of struct kernel, times a factor. */
INLINE void pack_numbers(const number *matrix, size_t stride, size_t count, size_t d, number factor, number *packed)
{
    transpose(matrix, stride, count, d, packed, LANES);
    for (size_t k = 0; k < d && count < LANES; k++)
        for (size_t lane = count; lane < LANES; lane++)
            packed[k * LANES + lane] = 0;
    for (size_t i = 0; i < d * VECTORS && factor != 1; i++)
        ((vector *)packed)[i] *= broadcast(factor);
}

static void pack(const void *matrix, size_t stride, size_t count, size_t d, void *packed)
{
    pack_numbers(matrix, stride, count, d, 1, packed);
}

static void merge(void *context, size_t d_v, const void *rescale, void *total)
{
    vector *from = context, *to = total;
    for (size_t c = 0; c < d_v; c++, from += VECTORS, to += VECTORS)
        UNROLLED (j, VECTORS) {
            to[j] = to[j] * ((const vector *)rescale)[j] + from[j];
            from[j] = (vector){0};
        }
}

static void normalise(void *context, const void *sum, size_t d_v)
{
    vector *row = context;
    for (size_t c = 0; c < d_v; c++, row += VECTORS)
        UNROLLED (j, VECTORS)
            row[j] = row[j] / ((const vector *)sum)[j] + broadcast((number)0); /* minus zero becomes zero */
}

static void unpack(const void *context, size_t lane, size_t count, size_t d_v, void *rows, size_t stride)
{
    /* A row is new memory: asked for all at once, its lines do not come one by one. */
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < d_v; c += KERNEL_ALIGNMENT / sizeof(number))
            __builtin_prefetch((const number *)rows + i * stride + c, 1, 3);
    transpose((const number *)context + lane, LANES, d_v, count, rows, stride);
}

/* Bytes of so many rows of W numbers. */
static size_t packed_bytes(size_t rows)
{
    return work_bytes(rows, LANES, sizeof(number));
}

/* Minus infinity in the lanes whose range excludes `key`. */
INLINE vector forbid(vector scores, size_t key, const int32_t *first, const int32_t *end, size_t j)
{
    const integers index = (whole)key - (integers){0};
    const integers allowed = (index >= load_marks(first, j)) & (index < load_marks(end, j));
    return select_vector(allowed, scores, broadcast(-INFINITY));
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

/* Compares bits, which is faster: zero has none besides the sign. All rows at once: the processor asks for the next one
 * while it waits for memory. */
static unsigned scan(const void *numbers, size_t stride, size_t rows, size_t count)
{
    const naturals infinity = (naturals)broadcast(-INFINITY);
    naturals biased = {0}, allowed = {0}, lanes; /* bits of any number; bits that differ from minus infinity's */
    natural any_biased = 0, any_allowed = 0, bits;
    for (size_t i = 0; i < rows; i++) {
        const number *row = (const number *)numbers + i * stride;
        size_t j = 0;
        for (; j + VECTOR_LANES <= count; j += VECTOR_LANES) {
            memcpy(&lanes, row + j, sizeof lanes);
            biased |= lanes;
            allowed |= lanes ^ infinity;
        }
        for (; j < count; j++) {
            memcpy(&bits, row + j, sizeof bits);
            any_biased |= bits;
            any_allowed |= bits ^ infinity[0];
        }
    }
    for (size_t lane = 0; lane < VECTOR_LANES; lane++) {
        any_biased |= biased[lane];
        any_allowed |= allowed[lane];
    }
    return (natural)(any_biased << 1) == 0 ? MASK_SAYS_PLAIN : any_allowed == 0 ? MASK_SAYS_FORBIDDEN : MASK_SAYS_MORE;
}

/* --- adjustment -------------------------------------------------------------------------------------------------- */

/* Replaces an infinity by the nearest finite number; x is never NaN. */
INLINE vector held(vector x)
{
    const vector most = broadcast(NUMBER_MAX);
    return larger(select_vector(x < most, x, most), -most);
}

/* capped, biased and sloped are constants at each call: an absent feature costs nothing. */
INLINE void adjust_numbers(bool capped, bool biased, bool sloped, const struct kernel_adjustment *adjustment,
                           size_t keys, number *scores, number *row_maximum, int32_t *any_allowed)
{
    const naturals magnitude = ~(naturals)broadcast(-0.0f);
    const vector factor = broadcast((number)adjustment->factor);
    const vector steepness = broadcast((number)fmin(adjustment->steepness, NUMBER_MAX));
    const vector height = broadcast((number)adjustment->height);
    for (size_t j = 0; j < VECTORS; j++) {
        const integers first = load_marks(adjustment->first, j), end = load_marks(adjustment->end, j);
        const vector distance = sloped ? ((const vector *)adjustment->distance)[j] : (vector){0};
        const vector slope = sloped ? -((const vector *)adjustment->slope)[j] : (vector){0};
        vector most = ((const vector *)row_maximum)[j];
        integers any = load_marks(any_allowed, j);
        vector *row = (vector *)scores + j;
        for (size_t i = 0; i < keys; i++, row += VECTORS) {
            const integers index = (whole)i - (integers){0};
            integers allowed = (index >= first) & (index < end);
            vector score = *row;
            if (capped)
                score = tanh_vector(score * steepness, height);
            else
                score *= factor;
            if (biased) {
                /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): biased says that there is one */
                const vector bias = ((const vector *)adjustment->bias)[i * VECTORS + j];
                allowed &= bias > broadcast(-INFINITY);
                score += held(bias * broadcast((number)LOG2_E));
            }
            if (sloped) {
                const vector away = distance - broadcast((number)(adjustment->origin + i));
                score = multiply_add((vector)((naturals)away & magnitude), slope, score);
            }
            any |= allowed;
            *row = select_vector(allowed, score, broadcast(-INFINITY));
            most = larger(*row, most);
        }
        ((vector *)row_maximum)[j] = most;
        store_marks(any, any_allowed, j);
    }
}

static void adjust(const struct kernel_adjustment *adjustment, size_t count, void *scores, void *row_maximum,
                   int32_t *any_allowed)
{
    const int kind = 4 * adjustment->capped + 2 * (adjustment->bias != NULL) + (adjustment->slope != NULL);
    switch (kind) {
#define KIND(capped, biased, sloped)                                                                 \
    case 4 * (capped) + 2 * (biased) + (sloped):                                                     \
        adjust_numbers(capped, biased, sloped, adjustment, count, scores, row_maximum, any_allowed); \
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

/* The fields that every table shares. */
#define KERNEL_PIECES                                                                                        \
    .lanes = LANES, .context_bytes = packed_bytes, .adjust = adjust, .merge = merge, .normalise = normalise, \
    .scan = scan, .pack = pack
