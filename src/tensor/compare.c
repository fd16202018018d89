#include "tensor/compare.h"

#include <math.h>

enum { CHUNK = 1024 };

/* The bits behind the point of a dtype's numbers, and their exponents where they are not subnormal. */
static const struct format {
    int fraction, lowest, highest;
} FORMATS[] = {
    [DTYPE_F64] = {52, -1022, 1023},
    [DTYPE_F32] = {23, -126, 127},
    [DTYPE_F16] = {10, -14, 15},
    [DTYPE_BF16] = {7, -126, 127},
};

/* In long double, squares of no double overflow or vanish (where it is wider, as on x86-64 and aarch64). */
struct sums {
    long double a, b, product, error; /* of a^2, b^2, a b, (a - b)^2 */
};

enum dtype compare_coarser(enum dtype a, enum dtype b)
{
    static const int COARSENESS[DTYPE_COUNT] = {
        [DTYPE_F64] = 0, [DTYPE_F32] = 1, [DTYPE_I64] = 1, [DTYPE_BOOL] = 1, [DTYPE_F16] = 2, [DTYPE_BF16] = 3};
    const enum dtype coarser = COARSENESS[a] > COARSENESS[b] ? a : b;
    return COARSENESS[coarser] == COARSENESS[DTYPE_F32] ? DTYPE_F32 : coarser;
}

/* Its place among the dtype's numbers from 0 on, which is 0; a number between two of them is rounded to the nearest. */
static uint64_t place_of(const struct format *format, double magnitude)
{
    const uint64_t infinity = (uint64_t)(format->highest - format->lowest + 2) << format->fraction;
    int exponent;
    if (magnitude == 0)
        return 0;
    frexp(magnitude, &exponent); /* magnitude = m x 2^exponent, 1/2 <= m < 1 */
    exponent = exponent - 1 > format->lowest ? exponent - 1 : format->lowest;
    if (exponent > format->highest)
        return infinity;
    const uint64_t steps = (uint64_t)nearbyint(ldexp(magnitude, format->fraction - exponent));
    return ((uint64_t)(exponent - format->lowest) << format->fraction) + steps;
}

uint64_t compare_ulps(enum dtype dtype, double a, double b)
{
    const struct format *format = &FORMATS[dtype];
    const uint64_t first = place_of(format, fabs(a)), second = place_of(format, fabs(b));
    if (signbit(a) != signbit(b))
        return first + second;
    return first > second ? first - second : second - first;
}

static void note_worst(struct comparison *comparison, size_t index, double a, double b)
{
    comparison->worst = index;
    comparison->worst_a = a;
    comparison->worst_b = b;
}

/* A pair where one is NaN or infinite. */
static void note_special(struct comparison *comparison, size_t index, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return;
    if (comparison->unmatched == 0)
        note_worst(comparison, index, a, b);
    comparison->unmatched++;
    comparison->outside++;
    comparison->hidden_a += isinf(a) && a < 0;
    comparison->hidden_b += isinf(b) && b < 0;
}

static void note_finite(struct comparison *comparison, struct compare_tolerance tolerance, size_t index, double a,
                        double b)
{
    const double error = fabs(a - b), relative = error / fabs(a);
    if (a == b)
        return;
    const uint64_t ulps = compare_ulps(tolerance.dtype, a, b);
    comparison->outside += !(error <= tolerance.absolute + tolerance.relative * fabs(a));
    comparison->relative = relative > comparison->relative ? relative : comparison->relative;
    comparison->ulps = ulps > comparison->ulps ? ulps : comparison->ulps;
    if (!(error > comparison->absolute))
        return;
    comparison->absolute = error;
    if (comparison->unmatched == 0)
        note_worst(comparison, index, a, b);
}

static void add_to_sums(struct sums *sums, double a, double b)
{
    const long double expected = a, got = b, error = expected - got;
    sums->a += expected * expected;
    sums->b += got * got;
    sums->product += expected * got;
    sums->error += error * error;
}

static void load(struct compare_side side, size_t first, size_t count, double *numbers)
{
    tensor_load(side.tensor, first, count, numbers);
    if (side.tensor->dtype == DTYPE_F64)
        dtype_round(side.dtype, numbers, count);
}

static void conclude(struct comparison *comparison, const struct sums *sums)
{
    comparison->nmse = (double)(sums->error / sums->a);
    comparison->ratio = (double)(sums->product / sums->a);
    comparison->cosine = (double)(sums->product / (sqrtl(sums->a) * sqrtl(sums->b)));
    if (sums->a == 0)
        comparison->nmse = comparison->ratio = sums->b == 0 ? 0 : (double)NAN;
    if (sums->a == 0 || sums->b == 0)
        comparison->cosine = sums->a == sums->b;
}

void compare_tensors(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance,
                     struct comparison *comparison)
{
    const size_t count = tensor_count(a.tensor);
    double expected[CHUNK], got[CHUNK];
    struct sums sums = {0};
    *comparison = (struct comparison){.count = count, .worst = count};
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        load(a, first, now, expected);
        load(b, first, now, got);
        for (size_t i = 0; i < now; i++) {
            if (!isfinite(expected[i]) || !isfinite(got[i])) {
                note_special(comparison, first + i, expected[i], got[i]);
                continue;
            }
            add_to_sums(&sums, expected[i], got[i]);
            note_finite(comparison, tolerance, first + i, expected[i], got[i]);
        }
    }
    conclude(comparison, &sums);
}

bool compare_departs(const struct comparison *comparison)
{
    return comparison->outside > 0 || comparison->nmse > COMPARE_LARGEST_NMSE;
}
