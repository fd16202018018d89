/* SPDX-License-Identifier: MIT */
/* Rounding to the 16-bit dtypes: every one of their numbers, what lies between them, and the shortest decimals. */
#include "base/decimal.h"
#include "check.h"
#include "tensor/tensor.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 1 << 16, INFINITE_HALF = 0x7c00, INFINITE_BRAIN = 0x7f80 };

static double number_of(enum dtype dtype, uint16_t bits)
{
    const struct tensor tensor = {.rank = 1, .shape = {1}, .dtype = dtype, .data = &bits};
    double number;
    tensor_load(&tensor, 0, 1, &number);
    return number;
}

static double rounded(enum dtype dtype, double number)
{
    dtype_round(dtype, &number, 1);
    return number;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void check_patterns(enum dtype dtype)
{
    size_t wrong = 0;
    check_begin("%s: each number is itself rounded, and gives its own bits", dtype_name(dtype));
    for (unsigned bits = 0; bits < PATTERNS; bits++) {
        const double number = number_of(dtype, (uint16_t)bits);
        wrong += !same(rounded(dtype, number), number);
        wrong += !isnan(number) && dtype_bits(dtype, number) != bits;
        wrong += isnan(number) && !isnan(number_of(dtype, (uint16_t)dtype_bits(dtype, number)));
    }
    CHECK(wrong == 0, "%zu of %d numbers are wrong", wrong, PATTERNS);
}

/* Between two neighbours the middle goes to the one whose last bit is 0, all else to the nearer. */
static void check_between(enum dtype dtype, unsigned infinite)
{
    size_t wrong = 0;
    check_begin("%s: what lies between two numbers goes to the nearer, the middle to the even one", dtype_name(dtype));
    for (unsigned bits = 0; bits + 1 < infinite; bits++) {
        const double low = number_of(dtype, (uint16_t)bits), high = number_of(dtype, (uint16_t)(bits + 1));
        const double middle = low + (high - low) / 2, even = bits % 2 ? high : low;
        wrong += rounded(dtype, middle) != even || rounded(dtype, -middle) != -even;
        wrong += rounded(dtype, nextafter(middle, 0)) != low || rounded(dtype, nextafter(middle, high)) != high;
        wrong += dtype_bits(dtype, middle) != bits + bits % 2;
    }
    CHECK(wrong == 0, "%zu are wrong", wrong);
    const double largest = number_of(dtype, (uint16_t)(infinite - 1));
    const double step = largest - number_of(dtype, (uint16_t)(infinite - 2));
    check_begin("%s: from half a step above the largest number on it is infinite", dtype_name(dtype));
    CHECK(rounded(dtype, largest + step / 4) == largest, "a quarter of a step above %g was lost", largest);
    CHECK(rounded(dtype, largest + step / 2) == INFINITY, "half a step above %g was kept", largest);
    CHECK(rounded(dtype, -1e300) == -INFINITY && dtype_bits(dtype, -1e300) == (0x8000 | infinite), "-1e300 was kept");
}

static void check_decimals(enum dtype dtype, unsigned infinite)
{
    char text[DECIMAL_BYTES], shorter[DECIMAL_BYTES];
    size_t wrong = 0, longer = 0;
    check_begin("%s: the shortest decimal of each number reads back to it", dtype_name(dtype));
    for (unsigned bits = 1; bits < infinite; bits++) {
        const double number = number_of(dtype, (uint16_t)bits);
        wrong += dtype_decimal(dtype, number, text) == 0 || rounded(dtype, strtod(text, NULL)) != number;
        int digits = 0;
        for (const char *c = text; *c != '\0' && *c != 'e'; c++)
            digits += *c >= '0' && *c <= '9' && (digits > 0 || *c != '0');
        for (const char *c = text + strcspn(text, "e"); c > text && c[-1] == '0' && strchr(text, '.') == NULL; c--)
            digits--;
        if (digits > 1) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, number);
            longer += rounded(dtype, strtod(shorter, NULL)) == number;
        }
    }
    CHECK(wrong == 0 && longer == 0, "%zu do not read back, %zu are longer than they need to be", wrong, longer);
}

/* Whole numbers above 2^53 in a dtype: rounded once, not to a double first. */
static void check_wholes(enum dtype dtype, const int64_t *wholes, const double *expected, size_t count)
{
    struct arena arena = {0};
    struct error error = {0};
    struct tensor converted;
    const struct tensor tensor = {.rank = 1, .shape = {count}, .dtype = DTYPE_I64, .data = (void *)(uintptr_t)wholes};
    check_begin("whole numbers in %s are rounded once", dtype_name(dtype));
    if (CHECK(tensor_convert(&tensor, dtype, "file", "inputs", NULL, &converted, &arena, &error) == STATUS_OK,
              "expected numbers, got: %s", error.message))
        for (size_t i = 0; i < count; i++) {
            double number;
            tensor_load(&converted, i, 1, &number);
            CHECK(number == expected[i], "%lld: expected %a, got %a", (long long)wholes[i], expected[i], number);
        }
    arena_free(&arena);
}

/* 2^60 + 2^36 lies halfway between two float32; 2^53 + 1 halfway between two doubles. What lies beside the middle by
 * less than a double can tell goes to its own side. */
static void check_all_wholes(void)
{
    const int64_t middle = (INT64_C(1) << 60) + (INT64_C(1) << 36), step = INT64_C(1) << 37;
    const int64_t wholes[] = {middle,        middle + 1,        middle - 1,       -middle - 1,
                              middle + step, middle + step - 1, INT64_C(1) << 53, (INT64_C(1) << 53) + 1,
                              INT64_MAX,     INT64_MIN,         16777217,         7};
    const double singles[] = {0x1p60, 0x1p60 + 0x1p37, 0x1p60, -0x1p60 - 0x1p37, 0x1p60 + 0x1p38, 0x1p60 + 0x1p37,
                              0x1p53, 0x1p53,          0x1p63, -0x1p63,          16777216,        7};
    const double doubles[] = {0x1p60 + 0x1p36,
                              0x1p60 + 0x1p36,
                              0x1p60 + 0x1p36,
                              -0x1p60 - 0x1p36,
                              0x1p60 + 0x1p37 + 0x1p36,
                              0x1p60 + 0x1p37 + 0x1p36,
                              0x1p53,
                              0x1p53,
                              0x1p63,
                              -0x1p63,
                              16777217,
                              7};
    const int64_t half = (INT64_C(1) << 62) + (INT64_C(1) << 54); /* halfway between two bfloat16 */
    check_wholes(DTYPE_F32, wholes, singles, sizeof wholes / sizeof wholes[0]);
    check_wholes(DTYPE_F64, wholes, doubles, sizeof wholes / sizeof wholes[0]);
    check_wholes(DTYPE_BF16, (const int64_t[]){half, half + 1, -half - 1},
                 (const double[]){0x1p62, 0x1p62 + 0x1p55, -0x1p62 - 0x1p55}, 3);
}

static bool is_finite(enum dtype dtype, uint16_t bits)
{
    uint16_t alike[67]; /* more than a vector, and a rest */
    for (size_t i = 0; i < 67; i++)
        alike[i] = i == bits % 67U ? bits : 0x0101;
    return dtype_finite(dtype, alike, 67);
}

static void check_floats(enum dtype dtype)
{
    size_t wrong = 0, finite = 0;
    check_begin("%s: each number as a float, and whether it is finite", dtype_name(dtype));
    for (unsigned bits = 0; bits < PATTERNS; bits++) {
        const uint16_t code = (uint16_t)bits;
        const double number = number_of(dtype, code);
        float got;
        dtype_load_floats(dtype, &code, 1, &got);
        wrong += !same((double)got, number);
        finite += is_finite(dtype, code) != (isfinite(number) != 0);
    }
    CHECK(wrong == 0, "%zu of 65536 are another float", wrong);
    CHECK(finite == 0, "%zu of 65536 are taken for what they are not", finite);
}

static void check_ends_finite(void)
{
    const float floats[] = {FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -0.0F, INFINITY, -INFINITY, NAN, -NAN};
    const double doubles[] = {DBL_MAX,          -DBL_MAX,          DBL_TRUE_MIN, -0.0,
                              (double)INFINITY, -(double)INFINITY, (double)NAN,  -(double)NAN};
    check_begin("f32 and f64: whether the first and last numbers are finite");
    for (size_t i = 0; i < 8; i++) {
        CHECK(dtype_finite(DTYPE_F32, floats + i, 1) == (i < 4), "%g as f32", (double)floats[i]);
        CHECK(dtype_finite(DTYPE_F64, doubles + i, 1) == (i < 4), "%g as f64", doubles[i]);
    }
    CHECK(!dtype_finite(DTYPE_F32, floats, 8) && !dtype_finite(DTYPE_F64, doubles, 8), "some of eight are not");
}

/* The place of the first that is not finite, behind whole chunks of others. */
static void check_place(enum dtype dtype, uint16_t infinite)
{
    enum { COLUMNS = 10007 };
    static uint16_t numbers[COLUMNS];
    for (size_t at = 4090; at < COLUMNS; at += 1471) {
        struct tensor tensor = {.rank = 1, .shape = {COLUMNS}, .dtype = dtype, .data = numbers}, kept;
        struct arena arena = {0};
        struct error error = {0};
        char place[32];
        numbers[at] = infinite;
        check_begin("%s: number %zu is not finite", dtype_name(dtype), at + 1);
        snprintf(place, sizeof place, "number %zu: Inf", at + 1);
        CHECK(tensor_keep(&tensor, DTYPE_F32, "x", "w", &kept, &arena, &error) == STATUS_USAGE, "expected an error");
        CHECK(strstr(error.message, place) != NULL, "expected %s, got: %s", place, error.message);
        numbers[at] = 0;
        CHECK(tensor_keep(&tensor, DTYPE_F32, "x", "w", &kept, &arena, &error) == STATUS_OK &&
                  kept.data == (void *)numbers,
              "expected it to be kept");
        arena_free(&arena);
    }
}

/* As dtype_bits has it, whatever the bits of a NaN. */
static void check_stored(enum dtype dtype)
{
    enum { COUNT = 1000 };
    size_t wrong = 0;
    double numbers[COUNT];
    uint16_t stored[COUNT];
    check_begin("%s: each number stored, and what lies between two", dtype_name(dtype));
    for (unsigned bits = 0; bits < 2 * PATTERNS; bits++) {
        const double number = number_of(dtype, (uint16_t)(bits / 2));
        numbers[bits % COUNT] = bits % 2 ? number * (1 + 0x1p-12) : number;
        if (bits % COUNT != COUNT - 1)
            continue;
        dtype_store(dtype, numbers, COUNT, stored);
        for (size_t i = 0; i < COUNT; i++)
            wrong += stored[i] != dtype_bits(dtype, numbers[i]);
    }
    CHECK(wrong == 0, "%zu of %d are wrong", wrong, PATTERNS);
}

/* In the working dtype the tensor stays; in another one it is rounded into that, not into its storage. */
static void check_rounded(enum dtype dtype)
{
    double numbers[] = {1, -0.1, 1e-30, INFINITY};
    uint16_t expected[4];
    struct tensor tensor = {.rank = 2, .shape = {2, 2}, .dtype = DTYPE_F64, .data = numbers}, made, kept;
    struct arena arena = {0};
    struct error error = {0};
    bool finite = true;
    check_begin("%s: rounded into the dtype itself", dtype_name(dtype));
    dtype_store(dtype, numbers, 4, expected);
    CHECK(tensor_round(&tensor, dtype, "x", "w", NULL, &made, &arena, &error) == STATUS_USAGE, "expected an error");
    error = (struct error){0};
    CHECK(tensor_round(&tensor, dtype, "x", "w", &finite, &made, &arena, &error) == STATUS_OK && !finite &&
              made.dtype == dtype && memcmp(made.data, expected, sizeof expected) == 0,
          "expected other numbers");
    CHECK(tensor_round(&made, dtype, "x", "w", NULL, &kept, &arena, &error) == STATUS_OK && kept.data == made.data,
          "expected it to stay");
    arena_free(&arena);
}

/* One number among many, looked at by one thread or more. */
static void check_finite(enum dtype dtype, double spoilt)
{
    enum { COUNT = 3 << 20 };
    struct arena arena = {0};
    struct tensor tensor;
    check_begin("%s: one number in %d that is %g", dtype_name(dtype), COUNT - 1, spoilt);
    if (tensor_create(&tensor, dtype, 1, (const size_t[]){COUNT - 1}, &arena, NULL) != STATUS_OK)
        return;
    memset(tensor.data, 0, (COUNT - 1) * dtype_size(dtype));
    for (unsigned threads = 1; threads < 4; threads++) {
        CHECK(tensor_finite(&tensor, threads), "%u threads: expected all to be finite", threads);
        for (size_t at = 0; at < COUNT - 1; at += (COUNT - 2) / 7) {
            tensor_store(&tensor, at, 1, &spoilt);
            CHECK(!tensor_finite(&tensor, threads), "%u threads: number %zu was not seen", threads, at);
            tensor_store(&tensor, at, 1, &(double){1});
        }
    }
    arena_free(&arena);
}

int main(void)
{
    check_patterns(DTYPE_F16);
    check_patterns(DTYPE_BF16);
    check_between(DTYPE_F16, INFINITE_HALF);
    check_between(DTYPE_BF16, INFINITE_BRAIN);
    check_decimals(DTYPE_F16, INFINITE_HALF);
    check_decimals(DTYPE_BF16, INFINITE_BRAIN);
    check_all_wholes();
    check_begin("a rounded 0 keeps its sign");
    CHECK(signbit(rounded(DTYPE_F16, -1e-30)) && signbit(rounded(DTYPE_BF16, -0.0)), "the sign was lost");
    check_floats(DTYPE_F16);
    check_floats(DTYPE_BF16);
    check_ends_finite();
    check_place(DTYPE_F16, INFINITE_HALF);
    check_place(DTYPE_BF16, INFINITE_BRAIN);
    check_stored(DTYPE_F16);
    check_stored(DTYPE_BF16);
    check_rounded(DTYPE_F16);
    check_rounded(DTYPE_BF16);
    for (int dtype = 0; dtype_is_working((enum dtype)dtype); dtype++)
        check_finite((enum dtype)dtype,
                     dtype % 2 || !dtype_has_infinity((enum dtype)dtype) ? (double)NAN : -(double)INFINITY);
    return check_end();
}
