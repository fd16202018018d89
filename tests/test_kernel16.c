/* SPDX-License-Identifier: MIT */
/* Each kernel for query, key and value of 16 bits, step by step, in the layouts that are its own: on whole numbers and
 * powers of two, where all products, weights and sums are exact; on every finite number of its dtype; on shapes that
 * are no multiple of a tile. Behind every array lies a guard. */
#include "check.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = KERNEL_MOST_LANES, MOST_D = 257, GUARD = 64, TESTED_D = 10, TESTED_COUNTS = 9 };

static const size_t depths[TESTED_D] = {1, 2, 3, 16, 31, 32, 33, 64, 65, MOST_D};
static const size_t counts[TESTED_COUNTS] = {1, 2, 31, 32, 33, 63, 95, 191, KERNEL_KEYS};

/* Given to the kernel, and what it is worth. */
static uint16_t query[LANES * MOST_D], key[KERNEL_KEYS * MOST_D], value[KERNEL_KEYS * MOST_D];
static double query_worth[LANES * MOST_D], key_worth[KERNEL_KEYS * MOST_D], value_worth[KERNEL_KEYS * MOST_D];

/* The kernel's own; packed arrays are as long as it says, and the guard. */
static _Alignas(KERNEL_ALIGNMENT) float scores[KERNEL_KEYS * LANES + GUARD], context[MOST_D * LANES + GUARD];
static _Alignas(KERNEL_ALIGNMENT) float again[MOST_D * LANES], rows[LANES * MOST_D + GUARD];
static _Alignas(KERNEL_ALIGNMENT) float peak[LANES], maximum[LANES], sum[LANES], rescale[LANES];
static _Alignas(KERNEL_ALIGNMENT) int32_t from[LANES], till[LANES];

static void fill(float *numbers, size_t count, float number)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = number;
}

static void begin_test(const struct kernel *kernel, const char *what)
{
    check_begin("%s, %s%s: %s", kernel->name, dtype_name(kernel->dtype), kernel->one_part ? ", one part" : "", what);
}

static void narrow(const struct kernel *kernel, const double *worth, size_t count, uint16_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint16_t)dtype_bits(kernel->dtype, worth[i]);
}

/* --- memory with a guard ----------------------------------------------------------------------------------------- */

enum { GUARD_BYTE = 0x5a };

static unsigned char *take(size_t bytes)
{
    const size_t whole = (bytes + GUARD + KERNEL_ALIGNMENT - 1) / KERNEL_ALIGNMENT * KERNEL_ALIGNMENT;
    unsigned char *memory = aligned_alloc(KERNEL_ALIGNMENT, whole);
    if (memory == NULL)
        abort();
    memset(memory, GUARD_BYTE, whole);
    return memory;
}

static void give(unsigned char *memory, size_t bytes, const char *name)
{
    size_t i = 0;
    while (i < GUARD && memory[bytes + i] == GUARD_BYTE)
        i++;
    CHECK(i == GUARD, "%s: a write %zu bytes behind its end", name, i);
    free(memory);
}

/* A kernel with a tile of queries and a block of keys. */
struct setting {
    const struct kernel *kernel;
    struct kernel_keys keys;
    unsigned char *query, *packed;
};

static struct setting begin(const struct kernel *kernel, size_t queries, size_t count, size_t d, size_t d_v,
                            double sign)
{
    struct setting setting = {.kernel = kernel,
                              .keys = {.key = key, .value = value, .count = count, .d = d, .d_v = d_v},
                              .query = take(kernel->query_bytes(d)),
                              .packed = take(kernel->keys_bytes(d, d_v))};
    setting.keys.packed = setting.packed;
    kernel->pack_query(query, queries, d, sign, setting.query);
    kernel->load(&setting.keys);
    fill(scores, sizeof scores / sizeof *scores, 7);
    fill(context, sizeof context / sizeof *context, 0);
    context[d_v * kernel->lanes] = 7;
    fill(peak, LANES, -INFINITY);
    fill(maximum, LANES, -INFINITY);
    fill(sum, LANES, 0);
    return setting;
}

static void end(const struct setting *setting)
{
    const size_t d = setting->keys.d, d_v = setting->keys.d_v;
    CHECK(scores[KERNEL_KEYS * setting->kernel->lanes] == 7, "scores: a write behind the end");
    CHECK(context[d_v * setting->kernel->lanes] == 7, "context: a write behind the end");
    setting->kernel->unpack(context, 0, setting->kernel->lanes, d_v, rows, d_v);
    give(setting->query, setting->kernel->query_bytes(d), "query");
    give(setting->packed, setting->kernel->keys_bytes(d, d_v), "keys");
}

/* --- whole numbers ----------------------------------------------------------------------------------------------- */

/* Whole numbers of at most 4, in no order. */
static void draw(const struct kernel *kernel, size_t count, unsigned seed, double *worth, uint16_t *numbers)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        worth[i] = (double)(seed >> 29) - 4;
    }
    narrow(kernel, worth, count, numbers);
}

static double product(size_t j, size_t lane, size_t d)
{
    double expected = 0;
    for (size_t c = 0; c < d; c++)
        expected += query_worth[lane * d + c] * key_worth[j * d + c];
    return expected;
}

/* Keys first .. first + count against `queries` of them; lane i is allowed keys i / 3 to 5 i - 1. */
static void check_scores(const struct setting *setting, size_t queries, size_t first, size_t count, bool masked,
                         double sign)
{
    const size_t lanes = setting->kernel->lanes;
    for (size_t lane = 0; lane < lanes; lane++) {
        from[lane] = (int32_t)lane / 3;
        till[lane] = (int32_t)lane * 5;
    }
    fill(peak, LANES, -1e30f);
    setting->kernel->scores(&setting->keys, first, count, setting->query, masked ? from : NULL, masked ? till : NULL,
                            scores, peak);
    for (size_t lane = 0; lane < lanes; lane++) {
        double most = -1e30;
        for (size_t j = 0; j < count; j++) {
            double expected = lane < queries ? sign * product(first + j, lane, setting->keys.d) : 0;
            if (masked && (j < lane / 3 || j >= lane * 5))
                expected = -INFINITY;
            const double got = scores[j * lanes + lane];
            CHECK(expected == got, "d %zu, keys %zu to %zu, (%zu, %zu): expected %g, got %g", setting->keys.d, first,
                  first + count, j, lane, expected, got);
            most = expected > most ? expected : most;
        }
        CHECK(peak[lane] == (float)most, "lane %zu: expected a peak of %g, got %g", lane, most, peak[lane]);
    }
}

static void check_all_scores(const struct kernel *kernel)
{
    begin_test(kernel, "scores of whole numbers");
    draw(kernel, LANES * MOST_D, 1, query_worth, query);
    draw(kernel, KERNEL_KEYS * MOST_D, 2, key_worth, key);
    for (size_t i = 0; i < TESTED_D * TESTED_COUNTS; i++) {
        const size_t d = depths[i / TESTED_COUNTS], count = counts[i % TESTED_COUNTS];
        const size_t queries = 1 + i % kernel->lanes;
        const double sign = i % 2 == 0 ? 1 : -1;
        const struct setting setting = begin(kernel, queries, count, d, 1, sign);
        check_scores(&setting, queries, 0, count, false, sign);
        check_scores(&setting, queries, 0, count, true, sign);
        const size_t last = (count - 1) / kernel->key_step * kernel->key_step;
        check_scores(&setting, queries, last, count - last, i % 3 == 0, sign);
        end(&setting);
    }
}

/* One column: two numbers with all their bits, whose product a float holds. */
static void check_products(const struct kernel *kernel)
{
    begin_test(kernel, "products of numbers with all their bits");
    const size_t lanes = kernel->lanes;
    for (size_t i = 0; i < lanes; i++)
        query_worth[i] = 1 + (double)(i * 797 % 1021) / 1021;
    for (size_t i = 0; i < KERNEL_KEYS; i++)
        key_worth[i] = -1 - (double)(i * 601 % 1019) / 1019;
    dtype_round(kernel->dtype, query_worth, lanes);
    dtype_round(kernel->dtype, key_worth, KERNEL_KEYS);
    narrow(kernel, query_worth, lanes, query);
    narrow(kernel, key_worth, KERNEL_KEYS, key);
    const struct setting setting = begin(kernel, lanes, KERNEL_KEYS, 1, 1, 1);
    kernel->scores(&setting.keys, 0, KERNEL_KEYS, setting.query, NULL, NULL, scores, NULL);
    for (size_t i = 0; i < KERNEL_KEYS * lanes; i++) {
        const double expected = query_worth[i % lanes] * key_worth[i / lanes];
        CHECK(expected == scores[i], "expected %.17g, got %.9g", expected, scores[i]);
    }
    end(&setting);
}

/* --- weights that are powers of two ------------------------------------------------------------------------------ */

/* Key j weighs 2^-((j + lane) % 7) to a lane, the largest of a block 1; the context so far counts for a half. */
static void check_values(const struct kernel *kernel, size_t first, size_t count, size_t d_v)
{
    const struct setting setting = begin(kernel, 1, first + count, 1, d_v, 1);
    const size_t lanes = kernel->lanes;
    for (size_t i = 0; i < count * lanes; i++)
        scores[i] = -(float)((i / lanes + i % lanes) % 7);
    fill(context, d_v * lanes, 6);
    fill(sum, LANES, 4);
    fill(maximum, LANES, -1);
    fill(peak, LANES, 0);
    kernel->softmax(scores, count, 1, peak, maximum, sum, NULL, rescale);
    kernel->values(&setting.keys, first, count, scores, rescale, context);
    for (size_t lane = 0; lane < lanes; lane++) {
        double whole = 2;
        for (size_t j = 0; j < count; j++)
            whole += 1.0 / (1 << (j + lane) % 7);
        CHECK(sum[lane] == (float)whole && rescale[lane] == 0.5f && maximum[lane] == 0,
              "%zu keys: expected a sum of %g and 0.5, got %g and %g", count, whole, sum[lane], rescale[lane]);
        for (size_t c = 0; c < d_v; c++) {
            double expected = 3;
            for (size_t j = 0; j < count; j++)
                expected += value_worth[(first + j) * d_v + c] / (double)(1 << (j + lane) % 7);
            CHECK(context[c * lanes + lane] == (float)expected, "keys %zu to %zu, d_v %zu: expected %g, got %g", first,
                  first + count, d_v, expected, context[c * lanes + lane]);
        }
    }
    end(&setting);
}

static void check_all_values(const struct kernel *kernel)
{
    begin_test(kernel, "values by weights that are powers of two");
    draw(kernel, KERNEL_KEYS * MOST_D, 3, value_worth, value);
    for (size_t i = 0; i < TESTED_D * TESTED_COUNTS; i++) {
        const size_t d_v = depths[i / TESTED_COUNTS], count = counts[i % TESTED_COUNTS];
        const size_t last = (count - 1) / kernel->key_step * kernel->key_step;
        check_values(kernel, 0, count, d_v);
        check_values(kernel, last, count - last, d_v);
    }
}

/* --- any weights ------------------------------------------------------------------------------------------------- */

/* value is the identity: the context is the weights. */
static void check_weights(const struct kernel *kernel)
{
    begin_test(kernel, "weights as exact as it says");
    const size_t lanes = kernel->lanes, count = KERNEL_KEYS;
    for (size_t i = 0; i < count * count; i++)
        value_worth[i] = i % (count + 1) == 0;
    narrow(kernel, value_worth, count * count, value);
    const struct setting setting = begin(kernel, 1, count, 1, count, 1);
    static float logits[KERNEL_KEYS * LANES];
    for (size_t i = 0; i < count * lanes; i++)
        logits[i] = scores[i] = i % 11 == 10 ? -INFINITY : -(float)(i * 7919 % 10007) / 500;
    fill(peak, LANES, 0.001f);
    kernel->softmax(scores, count, 1.75, peak, maximum, sum, NULL, rescale);
    kernel->values(&setting.keys, 0, count, scores, rescale, context);
    for (size_t lane = 0; lane < lanes; lane++) {
        double kept = 0;
        for (size_t j = 0; j < count; j++) {
            const float difference = logits[j * lanes + lane] - 0.001f;
            const double expected = exp2((double)(difference * 1.75f)), got = context[j * lanes + lane];
            CHECK(fabs(got - expected) <= expected * (kernel->weight_error + 2e-7),
                  "key %zu, lane %zu: expected a weight of %.9g, got %.9g", j, lane, expected, got);
            kept += got;
        }
        CHECK(fabs(sum[lane] - kept) <= kept * (kernel->one_part ? 1e-6 : kernel->weight_error + 1e-6),
              "lane %zu: expected a sum of %.9g, got %.9g", lane, kept, sum[lane]);
    }
    end(&setting);
}

/* Keys that are cut off and keys that weigh nothing leave the same bits. */
static void check_cut(const struct kernel *kernel)
{
    begin_test(kernel, "keys that are not seen change no bits");
    const size_t lanes = kernel->lanes, d = 33, d_v = 65;
    draw(kernel, LANES * MOST_D, 4, query_worth, query);
    draw(kernel, KERNEL_KEYS * MOST_D, 5, key_worth, key);
    draw(kernel, KERNEL_KEYS * MOST_D, 6, value_worth, value);
    for (size_t cut = 1; cut < KERNEL_KEYS; cut += 10)
        for (unsigned whole = 0; whole < 2; whole++) {
            const struct setting setting = begin(kernel, lanes, whole ? KERNEL_KEYS : cut, d, d_v, 1);
            const size_t count = setting.keys.count;
            for (size_t lane = 0; lane < lanes; lane++) {
                from[lane] = 0;
                till[lane] = (int32_t)cut;
            }
            kernel->scores(&setting.keys, 0, count, setting.query, from, till, scores, peak);
            kernel->softmax(scores, count, 0.123, peak, maximum, sum, NULL, rescale);
            kernel->values(&setting.keys, 0, count, scores, rescale, context);
            if (whole)
                CHECK(memcmp(again, context, d_v * lanes * sizeof *again) == 0, "%zu keys: other bits", cut);
            memcpy(again, context, d_v * lanes * sizeof *again);
            end(&setting);
        }
}

/* --- every number ------------------------------------------------------------------------------------------------ */

/* As it is, or 0 where the kernel's unit takes a bfloat16 below 2^-126 for that. */
static bool is_number(const struct kernel *kernel, double expected, double got)
{
    return expected == got || (kernel->weight_error > 0 && fabs(expected) < 0x1p-126 && got == 0);
}

/* Up to 192 numbers from the code `code` on: as keys, times 1, and as values, of weight 1. */
static void check_codes(const struct kernel *kernel, unsigned code)
{
    size_t count = 0;
    for (; count < KERNEL_KEYS && code + count < 0x10000; count++)
        key[count] = (uint16_t)(code + count);
    dtype_load(kernel->dtype, key, count, key_worth);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(key_worth[i]))
            key[i] = 0, key_worth[i] = 0;
    memcpy(value, key, count * sizeof *key);
    const double one = 1;
    narrow(kernel, &one, 1, query);
    struct setting setting = begin(kernel, 1, count, 1, 1, 1);
    kernel->scores(&setting.keys, 0, count, setting.query, NULL, NULL, scores, NULL);
    for (size_t i = 0; i < count; i++)
        CHECK(is_number(kernel, key_worth[i], scores[i * kernel->lanes]), "%.9g as a key: got %.9g", key_worth[i],
              scores[i * kernel->lanes]);
    setting.keys.count = 1;
    setting.keys.d_v = count;
    unsigned char *packed = take(kernel->keys_bytes(1, count));
    setting.keys.packed = packed;
    kernel->load(&setting.keys);
    fill(scores, LANES, 0);
    fill(peak, LANES, 0);
    fill(context, KERNEL_KEYS * LANES, 0);
    kernel->softmax(scores, 1, 1, peak, maximum, sum, NULL, rescale);
    kernel->values(&setting.keys, 0, 1, scores, rescale, context);
    for (size_t i = 0; i < count; i++)
        CHECK(is_number(kernel, key_worth[i], context[i * kernel->lanes]), "%.9g as a value: got %.9g", key_worth[i],
              context[i * kernel->lanes]);
    give(packed, kernel->keys_bytes(1, count), "keys");
    setting.keys.d_v = 1;
    setting.keys.packed = setting.packed;
    context[kernel->lanes] = 7;
    end(&setting);
}

static void check_every_number(const struct kernel *kernel)
{
    begin_test(kernel, "every number");
    for (unsigned code = 0; code < 0x10000; code += KERNEL_KEYS)
        check_codes(kernel, code);
}

static void check_sizes(const struct kernel *kernel)
{
    begin_test(kernel, "sizes that no memory holds");
    const size_t most = SIZE_MAX - 63;
    CHECK(kernel->query_bytes(most) == SIZE_MAX, "query_bytes: expected SIZE_MAX");
    CHECK(kernel->keys_bytes(most, 1) == SIZE_MAX, "keys_bytes of d: expected SIZE_MAX");
    CHECK(kernel->keys_bytes(1, most) == SIZE_MAX, "keys_bytes of d_v: expected SIZE_MAX");
    CHECK(kernel->context_bytes(most) == SIZE_MAX, "context_bytes: expected SIZE_MAX");
    CHECK(kernel->query_bytes(20000) % KERNEL_ALIGNMENT == 0 && kernel->keys_bytes(3, 7) % KERNEL_ALIGNMENT == 0,
          "expected multiples of %d", KERNEL_ALIGNMENT);
}

int main(void)
{
    for (size_t i = 0; kernel_row(i) != NULL; i++) {
        const struct kernel *kernel = kernel_row(i);
        struct error error = {0};
        if (dtype_size(kernel->dtype) != 2)
            continue;
        if (kernel_check(kernel->name, &error) != STATUS_OK) {
            begin_test(kernel, "all of it");
            check_skip(error.message);
            continue;
        }
        check_all_scores(kernel);
        check_products(kernel);
        check_all_values(kernel);
        check_weights(kernel);
        check_cut(kernel);
        check_every_number(kernel);
        check_sizes(kernel);
    }
    return check_end();
}
