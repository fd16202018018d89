/* SPDX-License-Identifier: MIT */
/* The raw streams of PyTorch's generator, from tests/golden/generator-streams*.json and dropout-mkl.json. */
#include "check.h"
#include "model/torch_random.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1024 };

static double expected[ROOM];

static size_t load(const cJSON *object, const char *key)
{
    return support_numbers(cJSON_GetObjectItemCaseSensitive(object, key), expected, ROOM);
}

static void check_floats(const char *what, const double *wanted, const float *numbers, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        CHECK(fabs(numbers[i] - (float)wanted[i]) <= tolerance, "%s[%zu]: expected %.9g, got %.9g", what, i, wanted[i],
              numbers[i]);
}

static void check_normals(const cJSON *streams, enum torch_random_build build, uint64_t seed)
{
    struct torch_random generator;
    float numbers[ROOM];
    check_begin("seed %llu: randn of 7, then 7", (unsigned long long)seed);
    CHECK(load(streams, "randn_7_then_7") == 14, "expected 14 numbers");
    torch_random_seed(&generator, build, seed);
    torch_random_normal(&generator, numbers, 7);
    torch_random_normal(&generator, numbers + 7, 7);
    check_floats("randn_7_then_7", expected, numbers, 14, 0);
    for (size_t count = 16; count <= 40; count += 24) {
        char key[16];
        snprintf(key, sizeof key, "randn_%zu", count);
        check_begin("seed %llu: %s", (unsigned long long)seed, key);
        CHECK(load(streams, key) == count, "expected %zu numbers", count);
        torch_random_seed(&generator, build, seed);
        torch_random_normal(&generator, numbers, count);
        check_floats(key, expected, numbers, count, 2e-6);
    }
}

static void check_uniforms(const cJSON *streams, enum torch_random_build build, uint64_t seed)
{
    struct torch_random generator;
    float numbers[ROOM];
    check_begin("seed %llu: rand of 700", (unsigned long long)seed);
    CHECK(load(streams, "rand_700") == 700, "expected 700 numbers");
    torch_random_seed(&generator, build, seed);
    torch_random_uniform(&generator, 0, 1, numbers, 700);
    check_floats("rand_700", expected, numbers, 700, 0);

    check_begin("seed %llu: skipping 100 draws, then rand", (unsigned long long)seed);
    torch_random_seed(&generator, build, seed);
    torch_random_skip(&generator, 100);
    torch_random_uniform(&generator, 0, 1, numbers, 600);
    check_floats("rand_700 from 100 on", expected + 100, numbers, 600, 0);
}

static void check_linear(const cJSON *streams, enum torch_random_build build, uint64_t seed)
{
    const cJSON *linear = cJSON_GetObjectItemCaseSensitive(streams, "linear_40_to_3");
    struct torch_random generator;
    float numbers[ROOM];
    const float weight_bound = (float)(sqrt(3.0) * (sqrt(2.0 / 6) / sqrt(40.0)));
    const float bias_bound = (float)(1 / sqrt(40.0));
    check_begin("seed %llu: nn.Linear(40, 3)", (unsigned long long)seed);
    torch_random_seed(&generator, build, seed);
    torch_random_uniform(&generator, -weight_bound, weight_bound, numbers, 120);
    CHECK(load(linear, "weight") == 120, "expected 120 numbers");
    check_floats("weight", expected, numbers, 120, 0);
    torch_random_uniform(&generator, -bias_bound, bias_bound, numbers, 3);
    CHECK(load(linear, "bias") == 3, "expected 3 numbers");
    check_floats("bias", expected, numbers, 3, 0);
}

static void check_dropout(const cJSON *kept_list, enum torch_random_build build, uint64_t seed, double dropout)
{
    struct torch_random generator;
    bool kept[ROOM];
    const size_t count = support_numbers(kept_list, expected, ROOM);
    check_begin("seed %llu: dropout %g keeps", (unsigned long long)seed, dropout);
    CHECK(count == 200, "expected 200 places, got %zu", count);
    torch_random_seed(&generator, build, seed);
    torch_random_dropout_begin(&generator);
    torch_random_dropout(&generator, dropout, kept, 77); /* in two parts: one call's elements run on */
    torch_random_dropout(&generator, dropout, kept + 77, count - 77);
    for (size_t i = 0; i < count; i++)
        CHECK(kept[i] == (expected[i] != 0), "[%zu]: expected %g, got %d", i, expected[i], kept[i]);
}

/* Draws `count` outputs, one by one. */
static void step(struct torch_random *generator, size_t count)
{
    float numbers[ROOM];
    for (size_t now; count > 0; count -= now) {
        now = count < ROOM ? count : ROOM;
        torch_random_uniform(generator, 0, 1, numbers, now);
    }
}

/* More than two blocks of outputs are the same. */
static void check_same(struct torch_random *a, struct torch_random *b)
{
    enum { OUTPUTS = 2 * TORCH_RANDOM_WORDS + 2 };
    static float first[OUTPUTS], second[OUTPUTS];
    torch_random_uniform(a, 0, 1, first, OUTPUTS);
    torch_random_uniform(b, 0, 1, second, OUTPUTS);
    for (size_t i = 0; i < OUTPUTS; i++)
        CHECK(first[i] == second[i], "[%zu]: expected %.9g, got %.9g", i, first[i], second[i]);
}

/* What is skipped, near or far, is what is drawn, wherever in a block it begins and ends. */
static void check_skips(const size_t *first, size_t first_count, const size_t *counts, size_t count)
{
    for (size_t i = 0; i < first_count; i++)
        for (size_t j = 0; j < count; j++) {
            struct torch_random skipped, stepped;
            check_begin("%zu drawn, then %zu skipped", first[i], counts[j]);
            torch_random_seed(&skipped, TORCH_RANDOM_VECTOR, 789 + j);
            step(&skipped, first[i]);
            stepped = skipped;
            step(&stepped, counts[j]);
            torch_random_skip(&skipped, counts[j]);
            check_same(&stepped, &skipped);
        }
}

static void check_all_skips(void)
{
    static const size_t FIRST[] = {0, 624, 100, 1, 623, 1000};
    static const size_t NEAR[] = {0, 1, 623, 624, 625, 1247, 1248, 100000};
    static const size_t FAR[] = {8388608, 8388609, 8389056, 8389057, 9999999};
    check_skips(FIRST, 6, NEAR, sizeof NEAR / sizeof NEAR[0]);
    check_skips(FIRST, 3, FAR, sizeof FAR / sizeof FAR[0]);
}

/* The most that --skip takes: what steps came to once, in some seconds; and in parts. */
static void check_farthest(void)
{
    const float wanted[] = {0.226453602f, 0.203518093f, 0.310220957f};
    float numbers[3];
    struct torch_random whole, parts;
    check_begin("2^32 - 1 outputs are skipped");
    torch_random_seed(&whole, TORCH_RANDOM_VECTOR, 5);
    torch_random_skip(&whole, UINT32_MAX);
    parts = whole;
    torch_random_uniform(&parts, 0, 1, numbers, 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(numbers[i] == wanted[i], "[%zu]: expected %.9g, got %.9g", i, wanted[i], numbers[i]);
    check_begin("so they are in three parts");
    torch_random_seed(&parts, TORCH_RANDOM_VECTOR, 5);
    torch_random_skip(&parts, 3000000000);
    torch_random_skip(&parts, 77);
    torch_random_skip(&parts, UINT32_MAX - 3000000077);
    check_same(&whole, &parts);
}

static void check_streams(const char *path, enum torch_random_build build)
{
    cJSON *file = support_json(path);
    for (const cJSON *streams = file->child; streams != NULL; streams = streams->next) {
        const uint64_t seed = strtoull(streams->string, NULL, 10);
        check_uniforms(streams, build, seed);
        check_normals(streams, build, seed);
        check_linear(streams, build, seed);
        check_dropout(cJSON_GetObjectItemCaseSensitive(streams, "dropout_0.3_kept_200"), build, seed, 0.3);
    }
    cJSON_Delete(file);
}

int main(void)
{
    check_streams("tests/golden/generator-streams.json", TORCH_RANDOM_VECTOR);
    check_streams("tests/golden/generator-streams-scalar.json", TORCH_RANDOM_SCALAR);
    cJSON *file = support_json("tests/golden/dropout-mkl.json");
    for (const cJSON *kept = file->child; kept != NULL; kept = kept->next)
        check_dropout(kept, TORCH_RANDOM_MKL, strtoull(kept->string, NULL, 10), 0.5);
    cJSON_Delete(file);
    check_all_skips();
    check_farthest();
    return check_end();
}
