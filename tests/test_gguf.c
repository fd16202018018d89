/* SPDX-License-Identifier: MIT */
/* Every file of tests/gguf: the attention of a case of tests/layers, whose stages attn has from the case's checkpoint
 * and from the GGUF alike; and a module for each type of weights, whose output the gguf package's numbers give.
 *
 * A line of cases.txt is "NAME LAYER [OPTION]". */
#include "build/job_files.h"
#include "build/problem_create.h"
#include "check.h"
#include "read/load.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, WORDS = 12, CASES = 43 };

static const double NEAR = 1e-5, NEAR_OF_TYPES = 1e-6; /* of the largest number */

/* The largest difference of a table, as a share of the largest number; infinity where one cannot be compared. */
static double distance(struct made *made, const char *name, const struct tensor *expected)
{
    const size_t count = tensor_count(expected);
    const struct result_table *table = support_table(made, name);
    double *wanted = malloc(count * sizeof *wanted), *got = malloc(count * sizeof *got), largest = 0, away = 0;
    const size_t came = table != NULL ? support_table_numbers(made, table, got, count) : 0;
    tensor_load(expected, 0, count, wanted);
    for (size_t i = 0; i < came; i++) {
        const double off = fabs(got[i] - wanted[i]);
        largest = fmax(largest, fabs(wanted[i]));
        away = isnan(off) ? INFINITY : fmax(away, off);
    }
    free(wanted);
    free(got);
    return came == count && count > 0 ? away / largest : INFINITY;
}

/* Runs the words, ended by NULL, and compares all stages that they ask for. */
static void compare(char **words, const char *path, const char *only, double near)
{
    struct made made = {0};
    struct job_files files;
    struct input_file expected = {0};
    int count = 0;
    while (words[count] != NULL)
        count++;
    if (CHECK(load_file(path, INPUT_FILE_OF_RESULT, &made.arena, &expected, &made.error) == STATUS_OK, "%s",
              made.error.message) &&
        CHECK(options_parse(&made.options, count, words, &made.error) == STATUS_OK &&
                  job_files_read(&files, &made.options, &made.arena, &made.error) == STATUS_OK &&
                  problem_create(&made.problem, &made.options, &files, &made.arena, &made.error) == STATUS_OK &&
                  result_create(&made.result, &made.problem, &made.progress, false, &made.arena, &made.error) ==
                      STATUS_OK,
              "expected a result, got: %s", made.error.message))
        for (size_t i = 0; i < expected.tensor_count; i++) {
            const char *name = only != NULL ? only : expected.tensors[i].name;
            if (strcmp(name, "normed") == 0 && !made.options.residual)
                continue;
            const double away = distance(&made, name, &expected.tensors[i].tensor);
            CHECK(away <= near, "%s: %.2g of the largest away, expected at most %.0g", name, away, near);
        }
    arena_free(&made.arena);
}

static void check_case(const char *name, int layer, char *option, bool residual)
{
    char input[BYTES], weights[BYTES], number[32], expected[BYTES],
        stages[] = "--stages=normed,query,key,value,weights,context,output";
    snprintf(input, sizeof input, "tests/layers/%s/%s.npy", name, residual ? "residual" : "hidden");
    snprintf(weights, sizeof weights, "--weights=tests/gguf/%s.gguf", name);
    snprintf(expected, sizeof expected, "tests/layers/%s/expected.safetensors", name);
    snprintf(number, sizeof number, "--layer=%d", layer);
    FILE *file = fopen(input, "rb");
    if (file == NULL) /* a case without residual.npy */
        return;
    fclose(file);
    check_begin("%s from %s", weights, input);
    if (!residual)
        strcpy(stages, "--stages=query,key,value,weights,context,output");
    char *words[WORDS] = {"attn", "layer", input, weights, number, stages};
    size_t count = 6;
    if (residual)
        words[count++] = "--residual";
    words[count] = option[0] != '\0' ? option : NULL;
    compare(words, expected, NULL, NEAR);
}

static void check_type(const char *architecture, const char *type)
{
    char weights[BYTES], expected[BYTES];
    snprintf(weights, sizeof weights, "--weights=tests/gguf/type-%s-%s.gguf", architecture, type);
    snprintf(expected, sizeof expected, "tests/gguf/type-%s-%s.npy", architecture, type);
    check_begin("%s in %s", architecture, type);
    char input[BYTES];
    snprintf(input, sizeof input, "tests/gguf/type-hidden-%d.npy", strstr(type, "_K") != NULL ? 256 : 64);
    char *words[WORDS] = {"attn", "layer", input, weights, "--stages=output"};
    compare(words, expected, "output", NEAR_OF_TYPES);
}

int main(void)
{
    static const char *const TYPES[] = {"F32",  "F16",  "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0",
                                        "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "MXFP4"};
    char text[BYTES], name[BYTES], option[BYTES];
    int layer, cases = 0;
    FILE *list = fopen("tests/gguf/cases.txt", "r");
    check_begin("tests/gguf/cases.txt can be read");
    if (!CHECK(list != NULL, "expected a file"))
        return check_end();
    for (; fgets(text, sizeof text, list) != NULL; cases++) {
        option[0] = '\0';
        if (!CHECK(sscanf(text, "%95s %d %95s", name, &layer, option) >= 2, "expected a name and a layer: %s", text))
            continue;
        check_case(name, layer, option, false);
        check_case(name, layer, option, true);
    }
    fclose(list);
    check_begin("all cases were tried");
    CHECK(cases == CASES, "expected %d, got %d", CASES, cases);
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        check_type("llama", TYPES[i]);
        check_type("qwen2", TYPES[i]);
    }
    return check_end();
}
