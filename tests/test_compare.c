/* SPDX-License-Identifier: MIT */
/* How far two tensors are apart: every metric on numbers whose answer is known by hand. */
#include "check.h"
#include "tensor/compare.h"

#include <math.h>
#include <string.h>

enum { MOST = 4096, MANY = 150000 /* so many that threads share them */ };

static const double NOT = (double)NAN, MORE = (double)INFINITY;

static uint32_t random_bits(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* --- ULPs -------------------------------------------------------------------------------------------------------- */

static const struct {
    enum dtype dtype;
    double a, b;
    uint64_t ulps;
} DISTANCES[] = {
    {DTYPE_F64, 1, 1, 0},
    {DTYPE_F64, 1, 0x1.0000000000001p0, 1},
    {DTYPE_F64, 1, 0x1.fffffffffffffp-1, 1},
    {DTYPE_F64, 1, 2, UINT64_C(1) << 52},
    {DTYPE_F64, 0, 0x1p-1074, 1},
    {DTYPE_F64, -0x1p-1074, 0x1p-1074, 2},
    {DTYPE_F64, 0x1p-1022, 0x0.fffffffffffffp-1022, 1}, /* the smallest normal number, the largest subnormal one */
    {DTYPE_F64, -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, 2 * UINT64_C(0x7fefffffffffffff)},
    {DTYPE_F32, 1, 0x1.000002p0, 1},
    {DTYPE_F32, 0x1.000002p0, 1, 1},
    {DTYPE_F32, -1, -0x1.000004p0, 2},
    {DTYPE_F32, 1, 0x1.fffffep-1, 1},
    {DTYPE_F32, 0x1.fffffep0, 2, 1},
    {DTYPE_F32, 0.0, -0.0, 0},
    {DTYPE_F32, -0.0, 0x1p-149, 1},
    {DTYPE_F32, -0x1p-149, 0x1p-149, 2},
    {DTYPE_F32, -1, 1, 2 * UINT64_C(0x3f800000)},
    {DTYPE_F32, 0x1p-126, 0x1.fffffcp-127, 1},
    {DTYPE_F32, 0, 0x1.fffffep127, 0x7f7fffff},
    {DTYPE_F32, 1, 1 + 0x1p-25, 0},                 /* rounds back to 1 */
    {DTYPE_F32, 1, 1 + 0x1p-24, 0},                 /* a tie: to even */
    {DTYPE_F32, 0x1.000002p0, 0x1.000003p0, 1},     /* a tie: away from the odd one */
    {DTYPE_F32, 0x1.fffffep127, 1e300, 1},          /* infinity is the next one */
    {DTYPE_F32, 0x1.fffffep127, 0x1.ffffffp127, 1}, /* and what rounds to it */
    {DTYPE_F16, 1, 0x1.004p0, 1},
    {DTYPE_F16, 1, 2, 1024},
    {DTYPE_F16, 0, 0x1p-24, 1},
    {DTYPE_F16, -0x1p-24, 0x1p-24, 2},
    {DTYPE_F16, 0, 0x1p-14, 1024},
    {DTYPE_F16, 0, 65504, 0x7bff},
    {DTYPE_F16, 65504, 1e6, 1},
    {DTYPE_F16, 0.1, 0.1f, 0},
    {DTYPE_BF16, 1, 0x1.02p0, 1},
    {DTYPE_BF16, 1, 2, 128},
    {DTYPE_BF16, 0, 0x1p-133, 1},
    {DTYPE_BF16, -0x1p-133, 0x1p-133, 2},
    {DTYPE_BF16, 0, 0x1.fep127, 0x7f7f},
    {DTYPE_BF16, 1, 1.003, 0},
};

static void check_ulps(void)
{
    for (size_t i = 0; i < sizeof DISTANCES / sizeof DISTANCES[0]; i++) {
        const double a = DISTANCES[i].a, b = DISTANCES[i].b;
        check_begin("ulps in %s from %a to %a", dtype_name(DISTANCES[i].dtype), a, b);
        const uint64_t there = compare_ulps(DISTANCES[i].dtype, a, b), back = compare_ulps(DISTANCES[i].dtype, b, a);
        CHECK(there == DISTANCES[i].ulps, "expected %llu, got %llu", (unsigned long long)DISTANCES[i].ulps,
              (unsigned long long)there);
        CHECK(there == back, "expected the same the other way round, got %llu", (unsigned long long)back);
    }
}

/* The place of a float among all floats is its bits, so the distance of two is the difference of theirs. */
static void check_ulps_by_bits(void)
{
    check_begin("ulps in f32 are differences of bits");
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 0x1d2e3) {
        float number;
        memcpy(&number, &bits, sizeof number);
        const uint64_t ulps = compare_ulps(DTYPE_F32, 0, (double)number);
        CHECK(ulps == bits, "%a: expected %u, got %llu", (double)number, bits, (unsigned long long)ulps);
    }
    check_begin("ulps in f16 and bf16 are differences of bits");
    for (uint16_t bits = 0; bits < 0x7f80; bits++) {
        const struct tensor half = {.rank = 1, .shape = {1}, .dtype = DTYPE_F16, .data = &bits};
        const struct tensor brain = {.rank = 1, .shape = {1}, .dtype = DTYPE_BF16, .data = &bits};
        double number;
        tensor_load(&half, 0, 1, &number);
        CHECK(bits >= 0x7c00 || compare_ulps(DTYPE_F16, 0, number) == bits, "f16: %a, expected %u", number, bits);
        tensor_load(&brain, 0, 1, &number);
        CHECK(compare_ulps(DTYPE_BF16, 0, number) == bits, "bf16: %a, expected %u", number, bits);
    }
}

/* Two ways to the same number: what dtype_bits says, and what is done for many at once. */
static void check_places(void)
{
    static const enum dtype DTYPES[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    for (size_t i = 0; i < sizeof DTYPES / sizeof DTYPES[0]; i++) {
        const enum dtype dtype = DTYPES[i];
        const uint64_t sign = UINT64_C(1) << (8 * dtype_size(dtype) - 1);
        check_begin("places of random numbers in %s are their bits", dtype_name(dtype));
        for (int trial = 0; trial < 20000; trial++) {
            const double limit = trial % 2 ? dtype_smallest(dtype) * 0x1p12 : dtype_largest(dtype) * 1.01;
            double number = ldexp((double)random_bits(), -32) * limit, rounded = number;
            dtype_round(dtype, &rounded, 1);
            if (trial % 3 == 0 && isfinite(rounded)) /* ties, and next to them */
                number = rounded + (trial % 9 / 3 + 1) * 0.25 *
                                       fmax(dtype_smallest(dtype), rounded * ldexp(1, 1 - dtype_precision(dtype)));
            uint64_t place;
            if (!isfinite(number))
                continue;
            dtype_places(dtype, &number, 1, &place);
            const uint64_t bits = dtype_bits(dtype, number) & (sign - 1);
            CHECK(place == bits, "%a: expected %llu, got %llu", number, (unsigned long long)bits,
                  (unsigned long long)place);
        }
    }
}

/* --- whole tensors ----------------------------------------------------------------------------------------------- */

/* Doubles that stand for the dtype, as JSON's do, within the tolerance. */
static struct comparison compare_as(enum dtype dtype, size_t count, const double *a, const double *b, double absolute,
                                    double relative)
{
    double expected[MOST], got[MOST];
    struct comparison comparison;
    memcpy(expected, a, count * sizeof *a);
    memcpy(got, b, count * sizeof *b);
    const struct tensor first = {.rank = 1, .shape = {count}, .dtype = DTYPE_F64, .data = expected};
    const struct tensor second = {.rank = 1, .shape = {count}, .dtype = DTYPE_F64, .data = got};
    compare_tensors((struct compare_side){&first, dtype, NULL}, (struct compare_side){&second, dtype, NULL},
                    (struct compare_tolerance){dtype, absolute, relative, false}, 1, &comparison);
    return comparison;
}

static struct comparison compare_pairs(size_t count, const double *a, const double *b, double absolute, double relative)
{
    return compare_as(DTYPE_F64, count, a, b, absolute, relative);
}

#define CHECK_NUMBER(expected, got) \
    CHECK((expected) == (got), #got ": expected %.17g, got %.17g", (double)(expected), (double)(got))
#define CHECK_NEAR(expected, got) \
    CHECK(fabs((expected) - (got)) <= 1e-15 * fabs(expected), #got ": expected %.17g, got %.17g", (expected), (got))

static void check_errors(void)
{
    static const double A[] = {1, -2, 0, 4}, B[] = {1, -2.5, 0.25, 5};
    struct comparison c = compare_pairs(4, A, B, 0.25, 0.125);
    check_begin("the errors of four numbers");
    CHECK_NUMBER(4, c.count);
    CHECK_NUMBER(1, c.outside); /* 0.5 = 0.25 + 0.125 x 2 and 0.25 are just inside */
    CHECK_NUMBER(0, c.unmatched);
    CHECK_NUMBER(3, c.unequal); /* within the tolerance or not */
    CHECK_NUMBER(1, c.absolute);
    CHECK(isinf(c.relative), "relative: expected infinity, since 0 became 0.25, got %g", c.relative);
    CHECK_NUMBER(3, c.worst);
    CHECK_NUMBER(4, c.worst_a);
    CHECK_NUMBER(5, c.worst_b);
    CHECK_NEAR(1.3125 / 21, c.nmse);
    CHECK_NEAR(26 / 21.0, c.ratio);
    CHECK_NEAR(26 / sqrt(21 * 32.3125), c.cosine);
    CHECK(compare_departs(&c), "expected a departure");

    check_begin("a relative error without a zero");
    c = compare_pairs(2, (const double[]){2, 4}, (const double[]){2.5, 4.5}, 0.5, 0);
    CHECK_NUMBER(0.25, c.relative);
    CHECK_NUMBER(0, c.outside);
    CHECK(c.worst == 0, "expected the first of two equal errors, got pair %zu", c.worst);

    check_begin("equal numbers, and zeros of either sign");
    c = compare_pairs(3, (const double[]){1e300, 0.0, -3}, (const double[]){1e300, -0.0, -3}, 0, 0);
    CHECK_NUMBER(0, c.outside + c.ulps + c.unequal);
    CHECK_NUMBER(0, c.absolute + c.relative + c.nmse);
    CHECK_NUMBER(1, c.cosine);
    CHECK_NUMBER(3, c.worst);
    CHECK(!compare_departs(&c), "expected no departure");
}

static void check_special(void)
{
    const double same[] = {NOT, MORE, -MORE, 1};
    struct comparison c = compare_pairs(4, same, same, 0, 0);
    check_begin("NaN and infinities that meet their like");
    CHECK_NUMBER(0, c.outside + c.unmatched + c.hidden_a + c.hidden_b + c.unequal);
    CHECK_NUMBER(-MORE, c.most_for_hidden);
    CHECK_NUMBER(0, c.nmse);
    CHECK_NUMBER(1, c.cosine);
    CHECK(!compare_departs(&c), "expected no departure");

    check_begin("NaN and infinities that do not");
    c = compare_pairs(7, (const double[]){9, NOT, 1, MORE, -MORE, -MORE, 2},
                      (const double[]){1, 1, NOT, -MORE, 3, MORE, -MORE}, 1e9, 1e9);
    CHECK_NUMBER(6, c.outside);
    CHECK_NUMBER(6, c.unmatched);
    CHECK_NUMBER(7, c.unequal);
    CHECK_NUMBER(2, c.hidden_a);
    CHECK_NUMBER(2, c.hidden_b);
    CHECK_NUMBER(8, c.absolute); /* of the one finite pair */
    CHECK(c.worst == 1 && isnan(c.worst_a) && c.worst_b == 1, "expected the first of them, got pair %zu", c.worst);
    CHECK(compare_departs(&c), "expected a departure");

    check_begin("the largest number that stands for minus infinity, whichever side has it");
    c = compare_pairs(4, (const double[]){-MORE, -7, -MORE, 9}, (const double[]){-1e9, -MORE, -MORE, 8}, 0, 0);
    CHECK_NUMBER(-7, c.most_for_hidden);
    c = compare_pairs(2, (const double[]){-MORE, NOT}, (const double[]){NOT, 5}, 0, 0);
    CHECK_NUMBER(-MORE, c.most_for_hidden);

    check_begin("a worst pair that comes before the first unmatched one gives way");
    c = compare_pairs(2, (const double[]){0, -MORE}, (const double[]){100, 0}, 0, 0);
    CHECK_NUMBER(1, c.worst);
    CHECK_NUMBER(100, c.absolute);
}

static void check_zeros(void)
{
    static const double ZEROS[3] = {0}, NUMBERS[3] = {1e-9, -1e-9, 0};
    check_begin("nothing but zeros");
    struct comparison c = compare_pairs(3, ZEROS, ZEROS, 0, 0);
    CHECK_NUMBER(0, c.nmse);
    CHECK_NUMBER(1, c.cosine);

    check_begin("zeros expected, small numbers found: the tolerance alone decides");
    c = compare_pairs(3, ZEROS, NUMBERS, 1e-8, 0);
    CHECK(isnan(c.nmse), "nmse: expected NaN, got %g", c.nmse);
    CHECK_NUMBER(0, c.cosine);
    CHECK(!compare_departs(&c), "expected no departure");
    c = compare_pairs(3, ZEROS, NUMBERS, 1e-10, 0);
    CHECK_NUMBER(2, c.outside);

    check_begin("small numbers expected, zeros found");
    c = compare_pairs(3, NUMBERS, ZEROS, 1e-8, 0);
    CHECK_NUMBER(1, c.nmse);
    CHECK_NUMBER(0, c.cosine);
    CHECK_NUMBER(0, c.outside);
    CHECK(compare_departs(&c), "expected a departure by nmse alone");
}

static void check_sums(void)
{
    static double a[MOST], b[MOST];
    for (size_t i = 0; i < MOST; i++) {
        a[i] = i % 2 ? 1e-7 : -1e-7;
        b[i] = i % 4 < 2 ? 1e-7 : -1e-7;
    }
    check_begin("uncorrelated but small");
    struct comparison c = compare_as(DTYPE_F32, MOST, a, b, 1e-5, 1.3e-6);
    CHECK_NUMBER(0, c.outside);
    CHECK_NEAR(2.0, c.nmse);
    CHECK_NUMBER(0, c.cosine);
    CHECK(compare_departs(&c), "expected a departure by nmse");

    check_begin("a factor, over more than one chunk");
    for (size_t i = 0; i < MOST; i++)
        b[i] = a[i] * 0.125;
    c = compare_pairs(MOST, a, b, 1, 0);
    CHECK_NUMBER(0.125, c.ratio);
    CHECK_NUMBER(1, c.cosine);
    CHECK_NEAR(0.765625, c.nmse);

    check_begin("squares beyond the range of a double");
    c = compare_pairs(2, (const double[]){3e200, 4e200}, (const double[]){3e200, 4.5e200}, 0, 1);
    CHECK(fabs(c.nmse - 0.01) < 1e-12, "nmse: expected 0.01, got %g", c.nmse);
    c = compare_pairs(2, (const double[]){3e-200, 4e-200}, (const double[]){3e-200, 4.5e-200}, 0, 1);
    CHECK(fabs(c.nmse - 0.01) < 1e-12, "nmse: expected 0.01, got %g", c.nmse);

    check_begin("the worst pair of the last chunk");
    memcpy(b, a, sizeof a);
    b[MOST - 2] = 1;
    c = compare_pairs(MOST, a, b, 0, 0);
    CHECK_NUMBER(MOST - 2, c.worst);
    CHECK_NUMBER(1, c.outside);
}

/* --- dtypes ------------------------------------------------------------------------------------------------------ */

static void check_dtypes(void)
{
    static const enum dtype ORDER[] = {DTYPE_F64, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    check_begin("the coarser dtype");
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            CHECK(compare_coarser(ORDER[i], ORDER[j]) == ORDER[i > j ? i : j], "%s and %s", dtype_name(ORDER[i]),
                  dtype_name(ORDER[j]));
    CHECK(compare_coarser(DTYPE_I64, DTYPE_BOOL) == DTYPE_F32, "expected whole numbers to count as f32");
    CHECK(compare_coarser(DTYPE_F64, DTYPE_I64) == DTYPE_F32, "expected whole numbers to count as f32");
    CHECK(compare_coarser(DTYPE_BOOL, DTYPE_F16) == DTYPE_F16, "expected f16 to be coarser than truth values");

    check_begin("decimals that stand for f32 are rounded to it");
    struct comparison c = compare_as(DTYPE_F32, 1, (const double[]){0.1}, (const double[]){0.1f}, 0, 0);
    CHECK_NUMBER(0, c.absolute);

    check_begin("f16 against f32: ulps are f16's");
    const uint16_t halves[] = {0x3c00, 0x7c00, 0xfc00, 0x8001};
    const float floats[] = {1.0009765625f, INFINITY, -INFINITY, -0x1p-24f};
    const struct tensor a = {.rank = 1, .shape = {4}, .dtype = DTYPE_F16, .data = (void *)(uintptr_t)halves};
    const struct tensor b = {.rank = 1, .shape = {4}, .dtype = DTYPE_F32, .data = (void *)(uintptr_t)floats};
    compare_tensors((struct compare_side){&a, DTYPE_F16, NULL}, (struct compare_side){&b, DTYPE_F32, NULL},
                    (struct compare_tolerance){DTYPE_F16, 1e-5, 1e-3, false}, 1, &c);
    CHECK_NUMBER(1, c.ulps);
    CHECK_NUMBER(0x1p-10, c.absolute);
    CHECK_NUMBER(0, c.outside);
    CHECK_NUMBER(0, c.unmatched);
}

/* Numbers of which the last digit is known, against a result without. */
static struct comparison compare_printed(size_t count, const double *result, const double *shown, const int16_t *digits,
                                         const int16_t *digits_too, bool given)
{
    double expected[MOST], got[MOST];
    struct comparison comparison;
    memcpy(expected, result, count * sizeof *result);
    memcpy(got, shown, count * sizeof *shown);
    const struct tensor a = {.rank = 1, .shape = {count}, .dtype = DTYPE_F64, .data = expected};
    const struct tensor b = {.rank = 1, .shape = {count}, .dtype = DTYPE_F64, .data = got};
    compare_tensors((struct compare_side){&a, DTYPE_F64, digits_too}, (struct compare_side){&b, DTYPE_F64, digits},
                    (struct compare_tolerance){DTYPE_F64, 1e-7, 1e-7, given}, 1, &comparison);
    return comparison;
}

static void check_printed(void)
{
    const double result[] = {0.125, 0.0249}, shown[] = {0.12, 0.02}, beyond[] = {0.12, 0.0199};
    const int16_t two[] = {-2, -2}, none[] = {INT16_MIN, INT16_MIN}, ten[] = {-10, -10};

    check_begin("printed: half a unit of the last digit, a tie too");
    struct comparison c = compare_printed(2, result, shown, two, NULL, false);
    CHECK_NUMBER(0, c.outside);
    CHECK_NUMBER(0.005, c.printed);
    CHECK(c.nmse > COMPARE_LARGEST_NMSE, "expected the nmse of all of the error, got %g", c.nmse);
    CHECK(!compare_departs(&c), "expected what rounding explains not to depart, nmse_beyond is %g", c.nmse_beyond);

    check_begin("printed: not more than half a unit");
    c = compare_printed(2, result, (const double[]){0.12, 0.0198}, two, NULL, false);
    CHECK_NUMBER(1, c.outside);
    c = compare_printed(2, result, beyond, two, NULL, false);
    CHECK_NUMBER(0, c.outside);

    check_begin("printed: the sum of both sides");
    c = compare_printed(2, (const double[]){0.12, 0.02}, (const double[]){0.13, 0.03}, two, two, false);
    CHECK_NUMBER(0, c.outside);
    CHECK_NUMBER(0.01, c.printed);

    check_begin("printed: nothing where the tolerance was given, where numbers are exact or have many digits");
    const int16_t *digits[] = {two, none, ten};
    for (size_t i = 0; i < 3; i++) {
        c = compare_printed(2, result, shown, digits[i], NULL, i == 0);
        CHECK_NUMBER(2, c.outside);
        CHECK_NUMBER(0, c.printed);
        CHECK(i < 2 ? c.nmse_beyond == c.nmse : c.nmse_beyond < c.nmse && c.nmse_beyond > 0.999 * c.nmse,
              "expected an nmse_beyond of %g, got %g", c.nmse, c.nmse_beyond);
    }

    check_begin("printed: numbers below the tolerance, whose digits explain all of their nmse");
    const int16_t eight[] = {-8, -8};
    c = compare_printed(2, (const double[]){1.4e-8, 0.6e-8}, (const double[]){1e-8, 1e-8}, eight, NULL, false);
    CHECK_NUMBER(0, c.printed);
    CHECK(c.nmse > COMPARE_LARGEST_NMSE && !compare_departs(&c), "expected them to agree, nmse %g, beyond %g", c.nmse,
          c.nmse_beyond);
    c = compare_printed(2, (const double[]){1.4e-8, 0.6e-8}, (const double[]){3e-8, 0}, eight, NULL, false);
    CHECK(compare_departs(&c), "expected more than half a unit to depart, nmse_beyond %g", c.nmse_beyond);
}

/* --- pair by pair ------------------------------------------------------------------------------------------------ */

/* The definitions of compare.h, one pair after the other. */
static void note_pair(struct comparison *c, struct compare_tolerance tolerance, double printed, size_t i, double a,
                      double b)
{
    const bool finite = isfinite(a) && isfinite(b);
    const double error = fabs(a - b);
    if (a == b || (isnan(a) && isnan(b)))
        return;
    c->unequal++;
    c->outside += !finite || error > tolerance.absolute + tolerance.relative * fabs(a) + printed;
    if ((!finite && c->unmatched == 0) || (finite && c->unmatched == 0 && error > c->absolute)) {
        c->worst = i;
        c->worst_a = a;
        c->worst_b = b;
    }
    if (finite) {
        const uint64_t ulps = compare_ulps(tolerance.dtype, a, b);
        c->ulps = ulps > c->ulps ? ulps : c->ulps;
        c->printed = fmax(c->printed, printed);
        c->absolute = fmax(c->absolute, error);
        c->relative = fmax(c->relative, error / fabs(a));
        return;
    }
    c->unmatched++;
    c->hidden_a += a == -MORE;
    c->hidden_b += b == -MORE;
    if ((a == -MORE || b == -MORE) && fmax(a, b) > c->most_for_hidden)
        c->most_for_hidden = fmax(a, b);
}

static double half_unit(const int16_t *digits, size_t i)
{
    return digits == NULL || digits[i] == INT16_MIN ? 0 : 0.5 * pow(10, digits[i]);
}

static void compare_plainly(struct compare_side side_a, struct compare_side side_b, struct compare_tolerance tolerance,
                            struct comparison *c)
{
    long double square_a = 0, square_b = 0, product = 0, errors = 0, beyond = 0;
    const size_t count = tensor_count(side_a.tensor);
    *c = (struct comparison){.count = count, .worst = count, .most_for_hidden = -MORE};
    for (size_t i = 0; i < count; i++) {
        const double units = half_unit(side_a.last_digit, i) + half_unit(side_b.last_digit, i);
        const double printed = units > tolerance.absolute ? units : 0;
        double a, b;
        tensor_load(side_a.tensor, i, 1, &a);
        tensor_load(side_b.tensor, i, 1, &b);
        if (side_a.tensor->dtype == DTYPE_F64)
            dtype_round(side_a.dtype, &a, 1);
        if (side_b.tensor->dtype == DTYPE_F64)
            dtype_round(side_b.dtype, &b, 1);
        note_pair(c, tolerance, printed, i, a, b);
        if (!isfinite(a) || !isfinite(b))
            continue;
        const long double error = (long double)a - b, left = fmaxl(fabsl(error) - units, 0);
        square_a += (long double)a * a;
        square_b += (long double)b * b;
        product += (long double)a * b;
        errors += error * error;
        beyond += left * left;
    }
    const double none = square_b == 0 ? 0 : NOT;
    c->nmse = square_a > 0 ? (double)(errors / square_a) : none;
    c->nmse_beyond = square_a > 0 ? (double)(beyond / square_a) : none;
    c->ratio = square_a > 0 ? (double)(product / square_a) : none;
    c->cosine =
        square_a > 0 && square_b > 0 ? (double)(product / (sqrtl(square_a) * sqrtl(square_b))) : square_a == square_b;
}

/* What a test draws: numbers of both tensors, of every magnitude, those of b often the same as a's. */
struct drawn {
    double a[MANY], b[MANY];
    uint64_t memory_a[MANY], memory_b[MANY]; /* the same in their dtypes */
    int16_t digits[MANY];
};

static double draw_number(bool special)
{
    static const double SPECIAL[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e300, 5e-324};
    if (special && random_bits() % 50 == 0)
        return SPECIAL[random_bits() % 7];
    return ldexp((double)random_bits() - 0x1p31, (int)(random_bits() % 40) - 60);
}

/* Of `differ` numbers in 2^16 b's is another one, but for whole stretches that are the same. */
static void draw(struct drawn *drawn, size_t count, unsigned differ, bool special)
{
    for (size_t i = 0; i < count; i++) {
        drawn->a[i] = drawn->b[i] = draw_number(special);
        drawn->digits[i] = random_bits() % 2 ? INT16_MIN : (int16_t)(-(int)(random_bits() % 8));
        if (random_bits() % 65536 < differ && i / 3000 % 3 != 1)
            drawn->b[i] = random_bits() % 2 ? drawn->a[i] * (1 + 0x1p-20) : draw_number(special);
    }
}

static struct tensor as_dtype(enum dtype dtype, const double *numbers, size_t count, void *memory)
{
    dtype_encode(dtype, numbers, count, memory);
    const struct tensor tensor = {.rank = 1, .shape = {count}, .dtype = dtype, .data = memory};
    return tensor;
}

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_same(const struct comparison *expected, const struct comparison *got, unsigned threads)
{
    CHECK(expected->unequal == got->unequal && expected->outside == got->outside &&
              expected->unmatched == got->unmatched && expected->hidden_a == got->hidden_a &&
              expected->hidden_b == got->hidden_b && expected->ulps == got->ulps && expected->count == got->count,
          "%u threads: expected %zu unequal, %zu outside, %zu unmatched, %llu ulps, got %zu, %zu, %zu, %llu", threads,
          expected->unequal, expected->outside, expected->unmatched, (unsigned long long)expected->ulps, got->unequal,
          got->outside, got->unmatched, (unsigned long long)got->ulps);
    CHECK(expected->worst == got->worst && same_number(expected->worst_a, got->worst_a) &&
              same_number(expected->worst_b, got->worst_b),
          "%u threads: expected the worst to be pair %zu, got %zu", threads, expected->worst, got->worst);
    const double numbers[][2] = {
        {expected->absolute, got->absolute}, {expected->relative, got->relative},
        {expected->printed, got->printed},   {expected->most_for_hidden, got->most_for_hidden},
        {expected->nmse, got->nmse},         {expected->nmse_beyond, got->nmse_beyond},
        {expected->cosine, got->cosine},     {expected->ratio, got->ratio},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        CHECK(same_number(numbers[i][0], numbers[i][1]), "%u threads: number %zu: expected %a, got %a", threads, i,
              numbers[i][0], numbers[i][1]);
}

/* The same bits, whatever is skipped and whoever looks at it. */
static void check_pair(struct drawn *drawn, size_t count, enum dtype of_a, enum dtype of_b, bool printed)
{
    const struct tensor in_a = as_dtype(of_a, drawn->a, count, drawn->memory_a),
                        in_b = as_dtype(of_b, drawn->b, count, drawn->memory_b);
    const enum dtype as_a = of_a == DTYPE_F64 && count % 2 ? DTYPE_F32 : of_a, coarser = compare_coarser(as_a, of_b);
    const struct compare_side a = {&in_a, as_a, NULL}, b = {&in_b, of_b, printed ? drawn->digits : NULL};
    const struct compare_tolerance tolerance = {coarser, dtype_absolute_tolerance(coarser),
                                                dtype_relative_tolerance(coarser), false};
    struct comparison expected, got;
    compare_plainly(a, b, tolerance, &expected);
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        compare_tensors(a, b, tolerance, threads, &got);
        check_same(&expected, &got, threads);
    }
    compare_counts(a, b, tolerance, &got);
    CHECK(got.unequal == expected.unequal && got.outside == expected.outside && got.worst == expected.worst,
          "counts alone: expected %zu unequal, %zu outside, got %zu, %zu", expected.unequal, expected.outside,
          got.unequal, got.outside);
}

static void check_random(void)
{
    static struct drawn drawn;
    static const enum dtype DTYPES[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16, DTYPE_BOOL};
    static const unsigned DIFFER[] = {0, 3, 65536};
    static const size_t COUNTS[] = {1, 1025, MANY};
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++)
        for (size_t differ = 0; differ < 6; differ++)
            for (size_t dtypes = 0; dtypes < 25; dtypes++) {
                const enum dtype a = DTYPES[dtypes % 5], b = DTYPES[dtypes / 5];
                const size_t count = COUNTS[i];
                if (count > 1025 && (dtypes + differ) % 6 != 0) /* all dtypes, and all six, but not with each other */
                    continue;
                check_begin("%zu numbers in %s and %s, %u of 65536 differ%s", count, dtype_name(a), dtype_name(b),
                            DIFFER[differ % 3], differ < 3 ? "" : ", NaN and infinities among them");
                draw(&drawn, count, DIFFER[differ % 3], differ >= 3);
                check_pair(&drawn, count, a, b, dtypes % 4 == 3);
            }
}

int main(void)
{
    check_random();
    check_places();
    check_printed();
    check_ulps();
    check_ulps_by_bits();
    check_errors();
    check_special();
    check_zeros();
    check_sums();
    check_dtypes();
    return check_end();
}
