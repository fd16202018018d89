/* SPDX-License-Identifier: MIT */
/* Every case of tests/golden/{onnx,sdpa,torch-multihead,float64,varlen}: an input with its settings in NAME.safetensors, what
 * others made of it in NAME.expected.safetensors. A line of cases.txt is "NAME STAGES RTOL ATOL". */
#include "build/job_files.h"
#include "build/problem_create.h"
#include "check.h"
#include "read/load.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, NAME_BYTES = 96, ONNX_HALVES = 11 };

static const struct {
    const char *folder, *mechanism;
    size_t cases;
} SUITES[] = {{"onnx", "sdpa", 93},
              {"sdpa", "sdpa", 45},
              {"torch-multihead", "multihead", 10},
              {"float64", "sdpa", 12},
              {"varlen", "sdpa", 60}};

/* How near a case must come: |got - expected| <= atol + rtol |expected|. */
struct tolerance {
    double relative, absolute;
};

/* The case's input through the program's own way, all but main. */
static enum status make_case(struct made *made, struct job_files *load, const char *path, const char *mechanism,
                             const char *stages)
{
    char *words[] = {"attn", (char *)mechanism, (char *)path, "--stages", (char *)stages, NULL};
    *made = (struct made){0};
    if (options_parse(&made->options, 5, words, &made->error) ||
        job_files_read(load, &made->options, &made->arena, &made->error) ||
        problem_create(&made->problem, &made->options, &(struct job_files){.inputs = load->inputs}, &made->arena,
                       &made->error))
        return made->error.status;
    return result_create(&made->result, &made->problem, &made->progress, false, &made->arena, &made->error);
}

static bool same_shape(const struct result_table *table, const struct tensor *expected)
{
    struct tensor got = {.rank = table->rank};
    char expected_text[TENSOR_SHAPE_BYTES], got_text[TENSOR_SHAPE_BYTES];
    memcpy(got.shape, table->shape, sizeof table->shape);
    const bool same =
        got.rank == expected->rank && memcmp(got.shape, expected->shape, got.rank * sizeof got.shape[0]) == 0;
    return CHECK(same, "%s: expected %s, got %s", table->name, tensor_shape_text(expected, expected_text),
                 tensor_shape_text(&got, got_text));
}

static bool near(double expected, double got, struct tolerance tolerance)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (isinf(expected) || isinf(got))
        return expected == got;
    return fabs(got - expected) <= tolerance.absolute + tolerance.relative * fabs(expected);
}

static void compare(struct made *made, const struct result_table *table, const struct tensor *expected,
                    struct tolerance tolerance)
{
    const size_t count = tensor_count(expected);
    double *wanted = malloc(count * sizeof *wanted), *got = malloc(count * sizeof *got);
    const size_t came = support_table_numbers(made, table, got, count);
    tensor_load(expected, 0, count, wanted);
    if (CHECK(came == count, "%s: expected %zu numbers, got %zu", table->name, count, came))
        for (size_t i = 0; i < count; i++)
            CHECK(near(wanted[i], got[i], tolerance), "%s[%zu]: expected %.17g, got %.17g", table->name, i, wanted[i],
                  got[i]);
    free(wanted);
    free(got);
}

/* Every tensor of the expected file, and as many stages as were asked for. Returns whether the case is of a half dtype. */
static bool check_case(const char *path, const char *mechanism, const char *stages, struct tolerance tolerance,
                       bool exact_halves)
{
    struct made made;
    struct job_files load;
    struct input_file expected = {0};
    char answer[LINE_BYTES];
    bool half = false;
    snprintf(answer, sizeof answer, "%.*s.expected.safetensors", (int)(strlen(path) - strlen(".safetensors")), path);
    if (CHECK(make_case(&made, &load, path, mechanism, stages) == STATUS_OK, "expected a result, got: %s",
              made.error.message) &&
        CHECK(load_file(answer, INPUT_FILE_OF_RESULT, &made.arena, &expected, &made.error) == STATUS_OK, "%s",
              made.error.message)) {
        half = made.problem.rounding.dtype == DTYPE_F16 || made.problem.rounding.dtype == DTYPE_BF16;
        CHECK(expected.tensor_count > 0 && expected.tensor_count == made.result.table_count,
              "expected %zu tables, got %zu", expected.tensor_count, made.result.table_count);
        for (size_t i = 0; i < expected.tensor_count; i++) {
            const struct tensor *tensor = &expected.tensors[i].tensor;
            const struct result_table *table = support_table(&made, expected.tensors[i].name);
            if (CHECK(table != NULL, "expected a table '%s', got none", expected.tensors[i].name) &&
                same_shape(table, tensor))
                compare(&made, table, tensor, half && exact_halves ? (struct tolerance){0, 0} : tolerance);
        }
    }
    arena_free(&made.arena);
    return half;
}

static void check_suite(const char *folder, const char *mechanism, size_t cases)
{
    char path[LINE_BYTES], name[NAME_BYTES], stages[NAME_BYTES], line[LINE_BYTES];
    struct tolerance tolerance;
    const bool onnx = strcmp(folder, "onnx") == 0;
    size_t count = 0, halves = 0;
    snprintf(path, sizeof path, "tests/golden/%s/cases.txt", folder);
    FILE *list = fopen(path, "r");
    check_begin("%s can be read", path);
    if (!CHECK(list != NULL, "expected a file"))
        return;
    while (fgets(line, sizeof line, list) != NULL) {
        const int words = sscanf(line, "%95s %95s %lf %lf", name, stages, &tolerance.relative, &tolerance.absolute);
        check_begin("%s: %s", folder, name);
        if (!CHECK(words == 4, "expected a name, stages and two tolerances, got: %s", line))
            continue;
        snprintf(path, sizeof path, "tests/golden/%s/%s.safetensors", folder, name);
        halves += check_case(path, mechanism, stages, tolerance, onnx);
        count++;
    }
    fclose(list);
    check_begin("%s: all cases were compared", folder);
    CHECK(count == cases, "expected %zu cases, got %zu", cases, count);
    CHECK(!onnx || halves == ONNX_HALVES, "expected %d cases in float16 or bfloat16, got %zu", ONNX_HALVES, halves);
}

int main(void)
{
    for (size_t i = 0; i < sizeof SUITES / sizeof SUITES[0]; i++)
        check_suite(SUITES[i].folder, SUITES[i].mechanism, SUITES[i].cases);
    return check_end();
}
