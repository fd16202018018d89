#include "tensor/compare.h"

#include <math.h>

enum { CHUNK = 1024 };

/* In long double, squares of no double overflow or vanish (where it is wider, as on x86-64 and aarch64). */
struct sums {
    long double a, b, product, error, beyond; /* of a^2, b^2, a b, (a - b)^2, and what of it no rounding explains */
};

enum dtype compare_coarser(enum dtype a, enum dtype b)
{
    a = dtype_is_working(a) ? a : DTYPE_F32;
    b = dtype_is_working(b) ? b : DTYPE_F32;
    return dtype_precision(a) < dtype_precision(b) ? a : b;
}

uint64_t compare_ulps(enum dtype dtype, double a, double b)
{
    const uint64_t first = dtype_bits(dtype, fabs(a)), second = dtype_bits(dtype, fabs(b));
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
    comparison->unequal++;
    comparison->unmatched++;
    comparison->outside++;
    comparison->hidden_a += isinf(a) && a < 0;
    comparison->hidden_b += isinf(b) && b < 0;
    if ((isinf(a) && a < 0) || (isinf(b) && b < 0))
        comparison->most_for_hidden = fmax(comparison->most_for_hidden, fmax(a, b));
}

static double half_unit(const struct compare_side *side, size_t index)
{
    const int digit = side->last_digit != NULL ? side->last_digit[index] : INT16_MIN;
    return digit == INT16_MIN ? 0 : 0.5 * pow(10, digit);
}

static void note_finite(struct comparison *comparison, struct compare_tolerance tolerance, double printed, size_t index,
                        double a, double b)
{
    const double error = fabs(a - b), relative = error / fabs(a);
    if (a == b)
        return;
    comparison->unequal++;
    const uint64_t ulps = compare_ulps(tolerance.dtype, a, b);
    comparison->outside += !(error <= tolerance.absolute + tolerance.relative * fabs(a) + printed);
    comparison->printed = fmax(comparison->printed, printed);
    comparison->relative = relative > comparison->relative ? relative : comparison->relative;
    comparison->ulps = ulps > comparison->ulps ? ulps : comparison->ulps;
    if (!(error > comparison->absolute))
        return;
    comparison->absolute = error;
    if (comparison->unmatched == 0)
        note_worst(comparison, index, a, b);
}

static void add_to_sums(struct sums *sums, double printed, double a, double b)
{
    const long double expected = a, got = b, error = expected - got, beyond = fmaxl(fabsl(error) - printed, 0);
    sums->a += expected * expected;
    sums->b += got * got;
    sums->product += expected * got;
    sums->error += error * error;
    sums->beyond += beyond * beyond;
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
    comparison->nmse_beyond = (double)(sums->beyond / sums->a);
    comparison->ratio = (double)(sums->product / sums->a);
    comparison->cosine = (double)(sums->product / (sqrtl(sums->a) * sqrtl(sums->b)));
    if (sums->a == 0)
        comparison->nmse = comparison->nmse_beyond = comparison->ratio = sums->b == 0 ? 0 : (double)NAN;
    if (sums->a == 0 || sums->b == 0)
        comparison->cosine = sums->a == sums->b;
}

void compare_tensors(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance,
                     struct comparison *comparison)
{
    const size_t count = tensor_count(a.tensor);
    double expected[CHUNK], got[CHUNK];
    struct sums sums = {0};
    *comparison = (struct comparison){.count = count, .worst = count, .most_for_hidden = -INFINITY};
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        load(a, first, now, expected);
        load(b, first, now, got);
        for (size_t i = 0; i < now; i++) {
            if (!isfinite(expected[i]) || !isfinite(got[i])) {
                note_special(comparison, first + i, expected[i], got[i]);
                continue;
            }
            const double units = half_unit(&a, first + i) + half_unit(&b, first + i);
            const double printed = !tolerance.given && units > tolerance.absolute ? units : 0;
            add_to_sums(&sums, printed, expected[i], got[i]);
            note_finite(comparison, tolerance, printed, first + i, expected[i], got[i]);
        }
    }
    conclude(comparison, &sums);
}

bool compare_departs(const struct comparison *comparison)
{
    return comparison->outside > 0 || comparison->nmse_beyond > COMPARE_LARGEST_NMSE;
}
