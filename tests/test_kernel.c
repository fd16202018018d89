/* SPDX-License-Identifier: MIT */
/* Each kernel of each instruction set whose numbers are those of query, key and value against the same sums in double, on
 * shapes that are no multiple of a tile: in float, and in double where test_kernel_f64.c includes this. */
#include "check.h"
#include "kernel/kernel.h"
#include "model/torch_random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40, MOST_DEPTH = 534, LANES = KERNEL_MOST_LANES, GUARD = 64 };

static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 40};
static const size_t depths[] = {1, 3, 8, 40, 64, 72, 128, 256, 257, 531};

#ifdef DOUBLES
typedef double number;
#define OWN DTYPE_F64
#define NUMBER_MAX DBL_MAX
static const double UNIT = 0x1p-52, LEAST = -1021; /* of the numbers; what 2^x is 0 below */
#else
typedef float number;
#define OWN DTYPE_F32
#define NUMBER_MAX FLT_MAX
static const double UNIT = 0x1p-23, LEAST = -125;
#endif

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static _Alignas(KERNEL_ALIGNMENT) number packed[MOST_DEPTH * LANES], output[MOST_DEPTH * LANES + GUARD];
static _Alignas(KERNEL_ALIGNMENT) number peak[LANES], maximum[LANES], sum[LANES], rescale[LANES];
static _Alignas(KERNEL_ALIGNMENT) number bias[MOST_ROWS * LANES], distance[LANES], slope[LANES];
static _Alignas(KERNEL_ALIGNMENT) int32_t first[LANES], end[LANES], seen[LANES];
static number matrix[MOST_ROWS * MOST_DEPTH], rows[MOST_ROWS * MOST_DEPTH + GUARD];

static void draw(number *values, size_t count, uint64_t seed)
{
    struct torch_random generator;
    static float drawn[MOST_ROWS * MOST_DEPTH];
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, seed);
    torch_random_normal(&generator, drawn, count);
    for (size_t i = 0; i < count; i++)
        values[i] = (number)(drawn[i] * (1 + 0x1p-30)); /* in double, more digits than a float has */
}

static void fill(number *values, size_t count, double value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (number)value;
}

/* Within so many units in the last place of 1. */
static bool near(double expected, double got, double tolerance)
{
    return fabs(expected - got) <= tolerance;
}

/* --- the kernels ------------------------------------------------------------------------------------------------- */

static void check_pack(const struct kernel *kernel)
{
    check_begin("%s: pack, then unpack", kernel->name);
    const size_t lanes = kernel->lanes;
    const number factor = (number)0.12345679;
    draw(matrix, COUNT(matrix), 1);
    for (size_t i = 0; i < COUNT(depths); i++)
        for (size_t count = 1; count <= lanes; count++) {
            const size_t d = depths[i], stride = d + count % 3;
            fill(output, COUNT(output), 7);
            kernel->pack_query(matrix, count, d, factor, output);
            for (size_t k = 0; k < d; k++)
                for (size_t lane = 0; lane < lanes; lane++) {
                    const number expected = lane < count ? matrix[lane * d + k] * factor : 0;
                    const number got = output[k * lanes + lane];
                    CHECK(expected == got, "(%zu, %zu): expected %.17g, got %.17g", k, lane, expected, got);
                }
            CHECK(output[d * lanes] == 7, "%zu x %zu: pack_query wrote past the end", d, count);
            CHECK(kernel->query_bytes(d) >= d * lanes * sizeof *output, "d %zu: query_bytes is too small", d);
            fill(output, COUNT(output), 7);
            kernel->pack(matrix, stride, count, d, output);
            CHECK(output[d * lanes] == 7, "%zu x %zu: pack wrote past the end", d, count);
            fill(sum, lanes, 1);
            fill(rows, COUNT(rows), 7);
            kernel->normalise(output, sum, d);
            const size_t begin = count > 2 ? 2 : 0; /* some lanes alone */
            kernel->unpack(output, begin, count - begin, d, rows, stride);
            for (size_t k = 0; k < (count - begin - 1) * stride + d; k++) {
                const number expected = k % stride < d ? matrix[begin * stride + k] : 7;
                CHECK(rows[k] == expected, "unpacked %zu: expected %.17g, got %.17g", k, expected, rows[k]);
            }
            CHECK(rows[(count - begin - 1) * stride + d] == 7, "%zu x %zu: unpack wrote past the end", d, count);
            fill(output, d * lanes, -0.0);
            kernel->normalise(output, sum, d);
            CHECK(!signbit(output[0]), "expected zero, got minus zero");
        }
}

static void check_merge(const struct kernel *kernel)
{
    check_begin("%s: a context joins those before it", kernel->name);
    const size_t count = 7 * kernel->lanes;
    for (size_t lane = 0; lane < kernel->lanes; lane++)
        rescale[lane] = (number)lane / 8;
    for (size_t i = 0; i < count; i++) {
        packed[i] = (number)i;
        output[i] = (number)(i % 5);
    }
    fill(output + count, 1, 9);
    kernel->merge(packed, 7, rescale, output);
    for (size_t i = 0; i < count; i++)
        CHECK(packed[i] == 0 && output[i] == (number)(i % 5) * rescale[i % kernel->lanes] + (number)i,
              "%zu: expected 0 and the sum, got %g and %g", i, packed[i], output[i]);
    CHECK(output[count] == 9, "merge wrote past the end");
}

static void run_scores(const struct kernel *kernel, size_t keys, size_t d, bool masked, number *row, number *most)
{
    const struct kernel_keys block = {.key = matrix, .value = matrix, .count = keys, .d = d, .d_v = d};
    kernel->load(&block);
    kernel->scores(&block, 0, keys, packed, masked ? first : NULL, masked ? end : NULL, row, most);
}

/* Lane i is allowed keys i / 3 to i - 1; one that no key is left for keeps its peak. */
static void check_scores(const struct kernel *kernel, size_t keys, size_t d, bool masked)
{
    const size_t lanes = kernel->lanes;
    for (size_t lane = 0; lane < lanes; lane++) {
        first[lane] = (int32_t)lane / 3;
        end[lane] = (int32_t)lane;
    }
    fill(peak, lanes, -1);
    fill(output, COUNT(output), 7);
    run_scores(kernel, keys, d, masked, output, peak);
    for (size_t lane = 0; lane < lanes; lane++) {
        double most = -1;
        for (size_t j = 0; j < keys; j++) {
            double expected = 0;
            for (size_t k = 0; k < d; k++)
                expected += (double)matrix[j * d + k] * packed[k * lanes + lane];
            if (masked && (j >= lane || j < lane / 3))
                expected = -INFINITY;
            const double got = output[j * lanes + lane];
            CHECK(expected == got || near(expected, got, 40 * UNIT * sqrt((double)d)),
                  "%zu keys, d %zu, (%zu, %zu): expected %.9g, got %.9g", keys, d, j, lane, expected, got);
            most = got > most ? got : most;
        }
        CHECK(peak[lane] == (number)most, "%zu keys, lane %zu: expected a peak of %.9g, got %.9g", keys, lane, most,
              peak[lane]);
    }
    CHECK(output[keys * lanes] == 7, "%zu keys: scores wrote past the end", keys);
}

/* The products alone are those of the scores, bit for bit. */
static void check_bare_scores(const struct kernel *kernel, size_t keys, size_t d)
{
    static number whole[MOST_ROWS * LANES];
    run_scores(kernel, keys, d, false, output, peak);
    memcpy(whole, output, keys * kernel->lanes * sizeof *whole);
    fill(output, COUNT(output), 7);
    run_scores(kernel, keys, d, false, output, NULL);
    CHECK(memcmp(whole, output, keys * kernel->lanes * sizeof *whole) == 0, "%zu keys, d %zu: other products", keys, d);
    CHECK(output[keys * kernel->lanes] == 7, "%zu keys: scores wrote past the end", keys);
}

static void check_values(const struct kernel *kernel, size_t keys, size_t d)
{
    const size_t lanes = kernel->lanes;
    for (size_t lane = 0; lane < lanes; lane++)
        rescale[lane] = (number)lane / 8;
    fill(output, COUNT(output), 2);
    const struct kernel_keys block = {.key = matrix, .value = matrix, .count = keys, .d = d, .d_v = d};
    kernel->values(&block, 0, keys, packed, rescale, output);
    for (size_t c = 0; c < d; c++)
        for (size_t lane = 0; lane < lanes; lane++) {
            double expected = 2.0 * rescale[lane];
            for (size_t j = 0; j < keys; j++)
                expected += (double)matrix[j * d + c] * packed[j * lanes + lane];
            CHECK(near(expected, output[c * lanes + lane], 200 * UNIT),
                  "%zu keys, d %zu, (%zu, %zu): expected %.9g, got %.9g", keys, d, c, lane, expected,
                  output[c * lanes + lane]);
        }
    CHECK(output[d * lanes] == 2, "%zu keys: values wrote past the end", keys);
}

/* Small integers: every sum is exact in either, whatever the order. */
static void check_project(const struct kernel *kernel, size_t count, size_t depth)
{
    const size_t lanes = kernel->lanes;
    for (size_t i = 0; i < COUNT(matrix); i++)
        matrix[i] = (number)((int)(i * 7 % 31) - 15);
    for (size_t i = 0; i < COUNT(packed); i++)
        packed[i] = (number)((int)(i * 5 % 29) - 14);
    fill(output, COUNT(output), 3);
    kernel->project(matrix, depth, count, depth, packed, output);
    for (size_t i = 0; i < count; i++)
        for (size_t lane = 0; lane < lanes; lane++) {
            double expected = 3;
            for (size_t k = 0; k < depth; k++)
                expected += (double)matrix[i * depth + k] * packed[k * lanes + lane];
            CHECK(output[i * lanes + lane] == (number)expected, "%zu x %zu, (%zu, %zu): expected %.0f, got %.9g", count,
                  depth, i, lane, expected, output[i * lanes + lane]);
        }
    CHECK(output[count * lanes] == 3, "%zu x %zu: project wrote past the end", count, depth);
}

static void check_products(const struct kernel *kernel)
{
    draw(matrix, COUNT(matrix), 2);
    draw(packed, COUNT(packed), 3);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(depths); j++) {
            check_begin("%s: scores of %zu keys, d %zu", kernel->name, sizes[i], depths[j]);
            check_scores(kernel, sizes[i], depths[j], false);
            check_scores(kernel, sizes[i], depths[j], true);
            check_bare_scores(kernel, sizes[i], depths[j]);
            check_begin("%s: values of %zu keys, d %zu", kernel->name, sizes[i], depths[j]);
            check_values(kernel, sizes[i], depths[j]);
        }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(depths); j++) {
            check_begin("%s: %zu rows of x, %zu columns", kernel->name, sizes[i], depths[j]);
            check_project(kernel, sizes[i], depths[j]);
        }
}

/* --- the softmax ------------------------------------------------------------------------------------------------- */

/* Rounding by a magic constant is wrong by up to 30 % where -ffast-math cancels it: this is the test that says so. */
static void check_exponentials(const struct kernel *kernel)
{
    const double most = OWN == DTYPE_F32 ? 1.8e-7 : 3.2e-16, step = OWN == DTYPE_F32 ? 0.00390625 : 0.01171875;
    check_begin("%s: 2^x is within %.2g over its whole range", kernel->name, most);
    const size_t lanes = kernel->lanes;
    double worst = 0, at = 0;
    fill(peak, lanes, 0);
    for (double x = 0; x > LEAST; x -= step * (double)MOST_ROWS) {
        for (size_t i = 0; i < MOST_ROWS * lanes; i++)
            output[i] = (number)(x - step * (double)i / (double)lanes);
        memcpy(packed, output, MOST_ROWS * lanes * sizeof *packed);
        fill(maximum, lanes, 0);
        fill(sum, lanes, 0);
        kernel->softmax(output, MOST_ROWS, 1, peak, maximum, sum, NULL, rescale);
        for (size_t i = 0; i < MOST_ROWS * lanes && packed[i] >= LEAST; i++) {
            const double away = fabs(output[i] / exp2(packed[i]) - 1), error = isnan(away) ? INFINITY : away;
            if (error > worst)
                worst = error, at = packed[i];
        }
    }
    CHECK(worst <= most, "expected at most %.3g, got %.3g at %.9g", most, worst, at);
}

static void check_softmax(const struct kernel *kernel)
{
    const double scores[] = {0, -INFINITY, LEAST - 0.5, -1e30, -1};
    const double weights[] = {1, 0, 0, 0, 0.5};
    const size_t lanes = kernel->lanes;
    check_begin("%s: a running softmax: exact ones and zeros", kernel->name);
    for (size_t i = 0; i < COUNT(scores); i++)
        fill(output + i * lanes, lanes, (scores[i] + 5) / 2);
    fill(peak, lanes, 2.5);
    fill(maximum, lanes, -INFINITY);
    fill(sum, lanes, 0);
    kernel->softmax(output, COUNT(scores), 2, peak, maximum, sum, NULL, rescale);
    for (size_t i = 0; i < COUNT(scores) * lanes; i++)
        CHECK(near(weights[i / lanes], output[i], UNIT * (weights[i / lanes] == 0.5)),
              "weight %zu: expected %g, got %.9g", i / lanes, weights[i / lanes], output[i]);
    CHECK(maximum[0] == 2.5 && near(1.5, sum[0], 2 * UNIT) && rescale[0] == 0,
          "expected maximum 2.5, sum 1.5, rescale 0, got %g, %.9g, %g", maximum[0], sum[0], rescale[0]);
    const number before = sum[lanes - 1];
    kernel->softmax(output, 0, 2, peak, maximum, sum, NULL, rescale);
    CHECK(rescale[lanes - 1] == 1 && sum[lanes - 1] == before,
          "no new key: expected rescale 1 and sum %.9g, got %.9g, %.9g", before, rescale[lanes - 1], sum[lanes - 1]);
    check_begin("%s: a running softmax: lanes that saw nothing", kernel->name);
    fill(peak, lanes, -INFINITY);
    fill(maximum, lanes, -INFINITY);
    fill(sum, lanes, 0);
    fill(output, lanes, -INFINITY);
    kernel->softmax(output, 1, 2, peak, maximum, sum, NULL, rescale);
    CHECK(output[0] == 0 && sum[0] == 0 && maximum[0] == -NUMBER_MAX, "expected 0, 0 and the lowest, got %g, %g, %g",
          output[0], sum[0], maximum[0]);
    fill(peak, lanes, NAN);
    fill(output, lanes, 1);
    kernel->softmax(output, 1, 2, peak, maximum, sum, NULL, rescale);
    CHECK(isnan(output[0]) && isnan(sum[0]), "NaN: expected NaN, got weight %g, sum %g", output[0], sum[0]);
}

/* --- the adjustment ---------------------------------------------------------------------------------------------- */

static void allow_all(const struct kernel *kernel, size_t keys)
{
    for (size_t lane = 0; lane < kernel->lanes; lane++) {
        first[lane] = 0;
        end[lane] = (int32_t)keys;
    }
}

/* tanh of numbers that grow by a small part each, from the smallest to where it is 1, and its mirror. */
static void check_tanh(const struct kernel *kernel)
{
    const double within = OWN == DTYPE_F32 ? 4e-7 : 1e-15, one = OWN == DTYPE_F32 ? 9.1 : 20;
    check_begin("%s: tanh is within %.2g of its value, odd, and reaches 1", kernel->name, within);
    const size_t lanes = kernel->lanes, count = MOST_ROWS * lanes;
    const struct kernel_adjustment adjustment = {
        .capped = true, .steepness = 1, .height = 1, .first = first, .end = end};
    double worst = 0, at = 0, x = 0x1p-126;
    allow_all(kernel, MOST_ROWS);
    while (x < 25) {
        for (size_t i = 0; i < count; i++) {
            packed[i] = output[i] = (number)(i % 2 ? -x : x);
            x *= i % 2 ? 1.000597 : 1;
        }
        kernel->adjust(&adjustment, MOST_ROWS, output, peak, seen);
        for (size_t i = 0; i < count; i++) {
            const double expected = tanh(packed[i]), away = fabs(output[i] / expected - 1);
            const double error = isnan(away) ? INFINITY : away;
            if (error > worst)
                worst = error, at = packed[i];
            CHECK(output[i] == -output[i ^ 1], "tanh(%g): expected an odd function, got %a and %a", packed[i],
                  output[i], output[i ^ 1]);
            CHECK(fabs(packed[i]) < one || fabs(output[i]) == 1, "tanh(%g): expected 1, got %a", packed[i], output[i]);
            CHECK(fabs(output[i]) <= 1, "tanh(%g): expected at most 1, got %a", packed[i], output[i]);
        }
    }
    CHECK(worst <= within, "expected at most %.3g, got %.3g at %.17g", within, worst, at);
}

static void check_tanh_ends(const struct kernel *kernel)
{
    static const double scores[] = {0, INFINITY, -INFINITY, 3e38, -3e38, 1e-42};
    static const double expected[] = {0, 5, -5, 5, -5, 5e-42};
    check_begin("%s: a softcap at the ends", kernel->name);
    const struct kernel_adjustment adjustment = {
        .capped = true, .steepness = 1, .height = 5, .first = first, .end = end};
    allow_all(kernel, COUNT(scores) + 1);
    for (size_t i = 0; i < COUNT(scores); i++)
        fill(output + i * kernel->lanes, kernel->lanes, scores[i]);
    fill(output + COUNT(scores) * kernel->lanes, kernel->lanes, NAN);
    kernel->adjust(&adjustment, COUNT(scores) + 1, output, peak, seen);
    for (size_t i = 0; i < COUNT(scores); i++)
        CHECK(near(expected[i], output[i * kernel->lanes], 1e-44), "%g: expected %g, got %g", scores[i], expected[i],
              output[i * kernel->lanes]);
    CHECK(isnan(output[COUNT(scores) * kernel->lanes]), "expected NaN, got %g", output[COUNT(scores) * kernel->lanes]);
}

/* One element in double. */
static double adjusted(const struct kernel_adjustment *adjustment, size_t j, size_t lane, size_t lanes, double score)
{
    const number *row = adjustment->bias != NULL ? (const number *)adjustment->bias + j * lanes : NULL;
    if ((int32_t)j < first[lane] || (int32_t)j >= end[lane] || (row != NULL && row[lane] == -INFINITY))
        return -INFINITY;
    if (adjustment->capped)
        score = adjustment->height * tanh(score * adjustment->steepness);
    else
        score *= adjustment->factor;
    if (row != NULL)
        score += row[lane] * 1.4426950408889634;
    if (adjustment->slope != NULL)
        score -= slope[lane] * fabs((double)distance[lane] - (double)(adjustment->origin + j));
    return score;
}

static void check_adjustment(const struct kernel *kernel, const struct kernel_adjustment *adjustment, size_t keys)
{
    const size_t lanes = kernel->lanes;
    draw(output, keys * lanes, 5);
    memcpy(packed, output, keys * lanes * sizeof *packed);
    fill(output + keys * lanes, 1, 7);
    fill(peak, lanes, -3);
    memset(seen, 0, sizeof seen);
    kernel->adjust(adjustment, keys, output, peak, seen);
    for (size_t lane = 0; lane < lanes; lane++) {
        number most = -3;
        bool any = false;
        for (size_t j = 0; j < keys; j++) {
            const double expected = adjusted(adjustment, j, lane, lanes, packed[j * lanes + lane]);
            const number got = output[j * lanes + lane];
            CHECK(expected == got || near(expected, got, 40 * UNIT), "(%zu, %zu): expected %.9g, got %.9g", j, lane,
                  expected, got);
            any = any || expected > -INFINITY;
            most = got > most ? got : most;
        }
        CHECK(peak[lane] == most, "lane %zu: expected a peak of %g, got %g", lane, most, peak[lane]);
        CHECK(seen[lane] == -any, "lane %zu: expected seen %d, got %d", lane, -any, seen[lane]);
    }
    CHECK(output[keys * lanes] == 7, "%zu keys: adjust wrote past the end", keys);
}

static void check_adjustments(const struct kernel *kernel)
{
    const size_t lanes = kernel->lanes;
    draw(bias, COUNT(bias), 6);
    for (size_t i = 0; i < COUNT(bias); i++)
        bias[i] = bias[i] > 1 || i % lanes == 5 ? -INFINITY : bias[i];
    for (size_t lane = 0; lane < lanes; lane++) {
        first[lane] = (int32_t)lane / 3;
        end[lane] = (int32_t)lane;
        distance[lane] = (number)lane - 3;
        slope[lane] = (number)0.25 + (number)lane / 64;
    }
    for (int kind = 0; kind < 8; kind++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            const struct kernel_adjustment adjustment = {.capped = kind & 1,
                                                         .factor = sizes[i] % 2 ? 1 : 0.75,
                                                         .steepness = 0.5,
                                                         .height = 2.5,
                                                         .bias = kind & 2 ? bias : NULL,
                                                         .slope = kind & 4 ? slope : NULL,
                                                         .distance = distance,
                                                         .origin = 7,
                                                         .first = first,
                                                         .end = end};
            check_begin("%s: %zu scores adjusted,%s%s%s spans", kernel->name, sizes[i], kind & 1 ? " softcap," : "",
                        kind & 2 ? " bias," : "", kind & 4 ? " slope," : "");
            check_adjustment(kernel, &adjustment, sizes[i]);
        }
}

/* A forbidden key is erased whatever its score was; the largest biases stay finite; NaN is kept. */
static void check_adjusted_ends(const struct kernel *kernel)
{
    static const double scores[] = {NAN, INFINITY, 1, 1, NAN, -INFINITY};
    static const double biases[] = {-INFINITY, -INFINITY, -NUMBER_MAX, NUMBER_MAX, 0, 0};
    static const double expected[] = {-INFINITY, -INFINITY, -NUMBER_MAX, NUMBER_MAX, NAN, -INFINITY};
    check_begin("%s: scores adjusted at the ends", kernel->name);
    const size_t lanes = kernel->lanes;
    const struct kernel_adjustment adjustment = {.factor = 1, .bias = bias, .first = first, .end = end};
    allow_all(kernel, COUNT(scores));
    for (size_t i = 0; i < COUNT(scores); i++) {
        fill(output + i * lanes, lanes, scores[i]);
        fill(bias + i * lanes, lanes, biases[i]);
    }
    kernel->adjust(&adjustment, COUNT(scores), output, peak, seen);
    for (size_t i = 0; i < COUNT(scores) * lanes; i++)
        CHECK(isnan(expected[i / lanes]) ? isnan(output[i]) : output[i] == expected[i / lanes],
              "%g with bias %g: expected %g, got %g", scores[i / lanes], biases[i / lanes], expected[i / lanes],
              output[i]);
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

static void check_choice(void)
{
    struct error error = {0};
    check_begin("choice: not forced");
    const struct kernel *kernel = kernel_choose(NULL, OWN, false, &error);
    CHECK(kernel != NULL && kernel_choose("", OWN, false, &error) == kernel, "expected a kernel, twice the same");
    check_begin("choice: the baseline is always there");
    kernel = kernel_choose("baseline", OWN, false, &error);
    CHECK_TEXT("baseline", kernel != NULL ? kernel->name : NULL);
    check_begin("choice: each dtype has one, or says that it has none and what it is stored in has one");
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (dtype_is_working((enum dtype)dtype)) {
            kernel = kernel_choose(NULL, (enum dtype)dtype, true, &error);
            if (!kernel_takes((enum dtype)dtype)) {
                CHECK(kernel == NULL && error.status == STATUS_USAGE && kernel_takes(dtype_storage((enum dtype)dtype)),
                      "%s: expected an error", dtype_name((enum dtype)dtype));
                error = (struct error){0};
                continue;
            }
            CHECK(kernel != NULL && kernel->dtype == (enum dtype)dtype &&
                      kernel->number == dtype_storage(kernel->dtype),
                  "%s: expected a kernel of that dtype", dtype_name((enum dtype)dtype));
        }
    check_begin("choice: an unknown name");
    CHECK(kernel_choose("avx", OWN, false, &error) == NULL && error.status == STATUS_USAGE,
          "expected STATUS_USAGE, got %d", error.status);
    CHECK(strncmp(error.message, "ATTN_ISA: unknown instruction set 'avx'; expected baseline", 58) == 0,
          "expected baseline and others, got: %s", error.message);
}

/* Runs of 0, of minus 0 and of minus infinity, and one of them with a stranger at each place; the same as the last of
 * three rows. */
static void check_scan(const struct kernel *kernel)
{
    static const double entries[] = {0, -0.0, -INFINITY, 1, -1, -NUMBER_MAX, -0x1p-149, 0x1p-126};
    static const unsigned says[COUNT(entries)] = {MASK_SAYS_PLAIN, MASK_SAYS_PLAIN, MASK_SAYS_FORBIDDEN,
                                                  MASK_SAYS_MORE,  MASK_SAYS_MORE,  MASK_SAYS_MORE,
                                                  MASK_SAYS_MORE,  MASK_SAYS_MORE};
    number *const run = rows + 1; /* aligned to its type alone, and the ends say something else */
    check_begin("%s: scans of numbers", kernel->name);
    for (size_t count = 1; count < 150; count++)
        for (size_t most = 0; most < 3; most++)
            for (size_t other = 0; other < COUNT(entries); other++)
                for (size_t at = 0; at < count; at++) {
                    fill(rows, count + 2, 1);
                    fill(run, count, entries[most]);
                    run[at] = (number)entries[other];
                    const unsigned alone = count == 1 || says[other] == says[most] ? says[other] : MASK_SAYS_MORE;
                    const unsigned got = kernel->scan(run, 0, 1, count);
                    CHECK(got == alone, "%zu of %g, %g at %zu: expected %u, got %u", count, entries[most],
                          entries[other], at, alone, got);
                    const size_t stride = count + 2; /* what is between rows says something else */
                    number *const last = run + 2 * stride;
                    fill(rows, 3 * stride, 1);
                    for (size_t row = 0; row < 3; row++)
                        fill(run + row * stride, count, entries[most]);
                    last[at] = (number)entries[other];
                    const unsigned of_rows = says[other] == says[most] ? says[most] : MASK_SAYS_MORE;
                    const unsigned got_rows = kernel->scan(run, stride, 3, count);
                    CHECK(got_rows == of_rows, "3 rows of %zu of %g, %g at %zu: expected %u, got %u", count,
                          entries[most], entries[other], at, of_rows, got_rows);
                }
}

static void check_kernels(const char *name)
{
    struct error error = {0};
    check_begin("choice: %s forced", name);
    const struct kernel *kernel = kernel_choose(name, OWN, false, &error);
    if (kernel == NULL) {
        CHECK(error.status == STATUS_USAGE, "expected STATUS_USAGE, got %d", error.status);
        check_skip(error.message);
        return;
    }
    if (strcmp(kernel->name, name) != 0) { /* one that has kernels for numbers of 16 bits alone */
        CHECK(kernel_choose(name, DTYPE_BF16, false, &error)->number == DTYPE_F32, "%s: expected a kernel", name);
        return;
    }
    CHECK(kernel->dtype == OWN && kernel->number == OWN, "expected numbers of %s", dtype_name(OWN));
    CHECK(kernel->lanes >= KERNEL_LEAST_LANES && kernel->lanes <= KERNEL_MOST_LANES && kernel->rows > 0,
          "expected %d to %d lanes, got %zu", KERNEL_LEAST_LANES, KERNEL_MOST_LANES, kernel->lanes);
    CHECK(KERNEL_KEYS % kernel->key_step == 0, "a block is no whole number of steps of %zu", kernel->key_step);
    check_pack(kernel);
    check_merge(kernel);
    check_scan(kernel);
    check_products(kernel);
    check_exponentials(kernel);
    check_softmax(kernel);
    check_tanh(kernel);
    check_tanh_ends(kernel);
    check_adjustments(kernel);
    check_adjusted_ends(kernel);
}

int main(void)
{
    check_choice();
    for (size_t i = 0; kernel_isa(i) != NULL; i++)
        check_kernels(kernel_isa(i));
    return check_end();
}
