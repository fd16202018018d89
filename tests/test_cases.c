/* SPDX-License-Identifier: MIT */
/* attn cases against kernels that are wrong on purpose, each in one way that people do get wrong: it is caught, and
 * named. The kernel is one in tiles, in float32, which reads the index and .npy as a program of somebody else does. */
#include "cases/cases.h"
#include "check.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TILE = 16, PATH_BYTES = 300, HEADER_BYTES = 128, LINE_BYTES = 512, WORDS = 16 };

/* What a kernel does wrong. */
enum fault {
    RIGHT,
    NO_MAXIMUM,
    ONE_AHEAD,
    HIDES_OWN,
    TAIL_COUNTED,
    GROUPS_TILED,
    NO_SCALE,
    WINDOW_LEFT,
    EMPTY_NAN,
    NOT_RESCALED,
    MASK_IGNORED,
    FAULTS,
};

/* What attn is to say of it, in this case. */
static const struct {
    const char *name, *in;
} NAMED[FAULTS] = {
    [NO_MAXIMUM] = {"softmax-overflow", "all-low"},
    [ONE_AHEAD] = {"mask-one-ahead", "causal-17"},
    [HIDES_OWN] = {"mask-hides-own", "causal-32"},
    [TAIL_COUNTED] = {"keys-padding-counted:16", "edge-17"},
    [GROUPS_TILED] = {"groups-tiled", "groups"},
    [NO_SCALE] = {"scale-missing", "edge-16"},
    [WINDOW_LEFT] = {"window-left-plus-1", "window"},
    [EMPTY_NAN] = {"empty-nan", "empty-rows"},
    [NOT_RESCALED] = {"tiles-context-not-rescaled:16", "rising"},
    [MASK_IGNORED] = {"attn-mask-missing", "first-block-masked"},
};

/* One row of the index, and its numbers. */
struct vector {
    char name[64], also[64];
    size_t items, heads, kv_heads, queries, keys, d, d_value;
    int causal;
    double scale;
    long left;
    float *query, *key, *value, *context;
    unsigned char *mask; /* (Tq, Tk), or NULL */
};

static char folder[] = "/tmp/attn_cases.XXXXXX";

/* The numbers of NAME/WHAT.npy, `size` bytes each; NULL where there is none. */
static void *read_npy(const struct vector *vector, const char *what, size_t count, size_t size)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/v/%s/%s.npy", folder, vector->name, what);
    FILE *file = fopen(path, "rb");
    void *numbers = malloc(count * size);
    if (file == NULL || numbers == NULL || fseek(file, HEADER_BYTES, SEEK_SET) != 0 ||
        fread(numbers, size, count, file) != count) {
        free(numbers);
        numbers = NULL;
    }
    if (file != NULL)
        fclose(file);
    return numbers;
}

static bool write_context(const struct vector *vector, size_t count)
{
    char path[PATH_BYTES], dict[HEADER_BYTES];
    snprintf(path, sizeof path, "%s/v/%s/context.npy", folder, vector->name);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu, %zu, %zu), }",
             vector->items, vector->heads, vector->queries, vector->d_value);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, HEADER_BYTES - 10, 0, dict);
    const bool whole = fwrite(vector->context, sizeof *vector->context, count, file) == count;
    return fclose(file) == 0 && whole;
}

static bool sees(const struct vector *vector, enum fault fault, size_t row, size_t key)
{
    const long i = (long)row, j = (long)key, left = vector->left + (fault == WINDOW_LEFT);
    if (vector->causal && j > i + (fault == ONE_AHEAD) - (fault == HIDES_OWN))
        return false;
    if (vector->left >= 0 && j < i - left)
        return false;
    return vector->mask == NULL || fault == MASK_IGNORED || vector->mask[row * vector->keys + key];
}

/* One query of one head: a running maximum, sum and context. */
static void attend(const struct vector *vector, enum fault fault, const float *query, const float *key,
                   const float *value, size_t row, float *context)
{
    const size_t d = vector->d, d_value = vector->d_value;
    const float scale = fault == NO_SCALE ? 1 : (float)vector->scale;
    const float start = fault == NO_MAXIMUM ? 0 : -INFINITY;
    float maximum = start, sum = 0;
    memset(context, 0, d_value * sizeof *context);
    for (size_t tile = 0; tile < vector->keys; tile += TILE) {
        float scores[TILE], largest = maximum;
        for (size_t i = 0; i < TILE; i++) {
            const bool padded = tile + i >= vector->keys;
            scores[i] = padded && fault == TAIL_COUNTED ? 0 : -INFINITY;
            if (padded || !sees(vector, fault, row, tile + i))
                continue;
            scores[i] = 0;
            for (size_t column = 0; column < d; column++)
                scores[i] += query[column] * key[(tile + i) * d + column];
            scores[i] *= scale;
        }
        for (size_t i = 0; i < TILE && fault != NO_MAXIMUM; i++)
            largest = fmaxf(largest, scores[i]);
        if (largest == -INFINITY)
            continue;
        const float factor = maximum == -INFINITY ? 0 : expf(maximum - largest);
        sum *= factor;
        for (size_t column = 0; column < d_value && fault != NOT_RESCALED; column++)
            context[column] *= factor;
        for (size_t i = 0; i < TILE; i++) {
            const float weight = expf(scores[i] - largest);
            sum += weight;
            for (size_t column = 0; column < d_value && tile + i < vector->keys && weight > 0; column++)
                context[column] += weight * value[(tile + i) * d_value + column];
        }
        maximum = largest;
    }
    for (size_t column = 0; column < d_value; column++)
        context[column] = sum > 0 || fault == EMPTY_NAN || fault == NO_MAXIMUM ? context[column] / sum : 0;
}

static void run_kernel(const struct vector *vector, enum fault fault)
{
    for (size_t head = 0; head < vector->items * vector->heads; head++) {
        const size_t item = head / vector->heads, own = head % vector->heads;
        const size_t shared = fault == GROUPS_TILED ? own % vector->kv_heads : own / (vector->heads / vector->kv_heads);
        const size_t of_keys = (item * vector->kv_heads + shared) * vector->keys;
        for (size_t row = 0; row < vector->queries; row++)
            attend(vector, fault, vector->query + (head * vector->queries + row) * vector->d,
                   vector->key + of_keys * vector->d, vector->value + of_keys * vector->d_value, row,
                   vector->context + (head * vector->queries + row) * vector->d_value);
    }
}

/* Whether the kernel can do that case; `left` of its window. */
static bool is_for_kernel(struct vector *vector)
{
    int end = 0;
    vector->left = -1;
    if (sscanf(vector->also, "window=%ld,0%n", &vector->left, &end) == 1)
        return end > 0 && vector->also[end] == '\0';
    return strcmp(vector->also, "-") == 0 || strcmp(vector->also, "attn_mask") == 0;
}

/* A wrong kernel is run where it is to be named; with ATTN_ALL on all, which takes a minute. */
static bool is_run(const struct vector *vector, enum fault fault)
{
    return fault == RIGHT || getenv("ATTN_ALL") != NULL || strcmp(vector->name, NAMED[fault].in) == 0 ||
           strcmp(vector->name, "one-token") == 0;
}

static void remove_context(const struct vector *vector)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/v/%s/context.npy", folder, vector->name);
    unlink(path);
}

/* One case; false where it is none for this kernel. */
static bool run_case(struct vector *vector, enum fault fault)
{
    remove_context(vector);
    const size_t keys = vector->items * vector->kv_heads * vector->keys;
    const size_t queries = vector->items * vector->heads * vector->queries;
    if (!is_run(vector, fault) || !is_for_kernel(vector) || strstr(vector->name, "mask-") != NULL)
        return false;
    vector->query = read_npy(vector, "query", queries * vector->d, sizeof(float));
    vector->key = read_npy(vector, "key", keys * vector->d, sizeof(float));
    vector->value = read_npy(vector, "value", keys * vector->d_value, sizeof(float));
    vector->mask = read_npy(vector, "attn_mask", vector->queries * vector->keys, 1);
    vector->context = calloc(queries * vector->d_value, sizeof(float));
    const bool read = vector->query != NULL && vector->key != NULL && vector->value != NULL && vector->context != NULL;
    if (CHECK(read, "%s: its inputs cannot be read", vector->name)) {
        run_kernel(vector, fault);
        CHECK(write_context(vector, queries * vector->d_value), "%s: cannot be written", vector->name);
    }
    free(vector->query);
    free(vector->key);
    free(vector->value);
    free(vector->mask);
    free(vector->context);
    return true;
}

/* All cases of the index that the kernel can do; how many they are. */
static size_t run_cases(enum fault fault)
{
    char path[PATH_BYTES], line[512];
    struct vector vector;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/v/" CASES_INDEX, folder);
    FILE *index = fopen(path, "r");
    while (CHECK(index != NULL, "no index") && fgets(line, sizeof line, index) != NULL)
        if (sscanf(line, "%63s %zu %zu %zu %zu %zu %zu %zu %d %lf %63s", vector.name, &vector.items, &vector.heads,
                   &vector.kv_heads, &vector.queries, &vector.keys, &vector.d, &vector.d_value, &vector.causal,
                   &vector.scale, vector.also) == 11)
            count += run_case(&vector, fault);
    if (index != NULL)
        fclose(index);
    return count;
}

/* The cases that `only` names, all if that is NULL. */
static void write_folder(const char *only)
{
    char path[PATH_BYTES], words[LINE_BYTES], *argv[WORDS] = {0};
    struct arena arena = {0};
    struct error error = {0};
    struct options options;
    struct output output;
    int count = 0;
    snprintf(words, sizeof words, "attn cases --heads 4 --d-head 8 --max-tokens %s %s %s",
             getenv("ATTN_QUICK") != NULL ? "65" : "129", only != NULL ? "--only" : "", only != NULL ? only : "");
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[count++] = word;
    snprintf(path, sizeof path, "%s/v", folder);
    argv[count++] = path;
    CHECK(options_parse(&options, count, argv, &error) == STATUS_OK, "%s", error.message);
    CHECK(output_open(&output, "/dev/null", &arena, &error) == STATUS_OK, "%s", error.message);
    CHECK(cases_write(&options, &output, &arena, &error) == STATUS_OK, "%s", error.message);
    arena_free(&arena);
}

/* What becomes of the kernel that is right: all that it wrote passes. */
static void check_right(const struct cases_report *report, size_t written)
{
    CHECK(report->of[CASE_PASSED] == written && report->of[CASE_FAILED] == 0, "passed %zu of %zu, failed %zu",
          report->of[CASE_PASSED], written, report->of[CASE_FAILED]);
    for (size_t i = 0; i < report->count; i++)
        CHECK(report->checked[i].verdict != CASE_FAILED, "%s: %s", report->checked[i].row->name,
              report->checked[i].reason);
}

/* What becomes of a wrong one: the case fails, by its name. */
static void check_wrong(const struct cases_report *report, enum fault fault)
{
    size_t found = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct case_checked *checked = &report->checked[i];
        if (strcmp(checked->row->name, NAMED[fault].in) != 0)
            continue;
        found++;
        CHECK(checked->verdict == CASE_FAILED, "%s passed", checked->row->name);
        CHECK(strcmp(checked->mistake, NAMED[fault].name) == 0, "%s is said to be '%s', expected %s",
              checked->row->name, checked->mistake, NAMED[fault].name);
    }
    CHECK(found == 1, "%zu cases are called %s", found, NAMED[fault].in);
}

static enum status check_folder(struct cases_report *report, char *path, struct arena *arena, struct error *error)
{
    static struct options options;
    char *argv[] = {(char[]){"attn"}, (char[]){"cases"}, (char[]){"--check"}, path, NULL};
    return options_parse(&options, 4, argv, error) || cases_open(report, &options, arena, error) ||
                   cases_check(report, &options, arena, error)
               ? error->status
               : STATUS_OK;
}

static void check_kernel(enum fault fault)
{
    char path[PATH_BYTES];
    struct arena arena = {0};
    struct error error = {0};
    struct cases_report report;
    check_begin("a kernel in tiles%s%s", fault == RIGHT ? "" : ", wrong: ", fault == RIGHT ? "" : NAMED[fault].name);
    const size_t written = run_cases(fault);
    snprintf(path, sizeof path, "%s/v", folder);
    CHECK(written > (fault == RIGHT ? 40 : 1), "%zu cases are for the kernel", written);
    if (CHECK(check_folder(&report, path, &arena, &error) == STATUS_OK, "%s", error.message)) {
        if (fault == RIGHT)
            check_right(&report, written);
        else
            check_wrong(&report, fault);
    }
    arena_free(&arena);
}

static void remove_folder(void)
{
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s/v", folder);
    CHECK(system(command) == 0, "cannot remove %s/v", folder);
}

int main(void)
{
    char only[LINE_BYTES] = "one-token";
    for (int fault = RIGHT + 1; fault < FAULTS; fault++)
        snprintf(only + strlen(only), sizeof only - strlen(only), ",%s", NAMED[fault].in);
    check_begin("a folder of cases");
    CHECK(mkdtemp(folder) != NULL, "cannot make %s", folder);
    if (getenv("ATTN_QUICK") != NULL)
        puts("ATTN_QUICK: cases of at most 65 tokens instead of 129");
    write_folder(NULL);
    check_kernel(RIGHT);
    if (getenv("ATTN_ALL") == NULL) {
        remove_folder();
        write_folder(only);
    }
    for (int fault = RIGHT + 1; fault < FAULTS; fault++)
        check_kernel((enum fault)fault);
    remove_folder();
    rmdir(folder);
    return check_end();
}
