/* SPDX-License-Identifier: MIT */
/* Caches in pages: what lies beyond a length is never touched. Each page of a cache is a page of memory of its own, and
 * those that no item reads may not be read: a step into them ends the program. */
#include "build/problem_create.h"
#include "check.h"
#include "support.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ITEMS = 2, QUERIES = 2, PER_ITEM = 3, PAGES = 6, D = 4 };

/* Pages 4 and 1 are read, of page 1 one token; 3 serves both. */
static const int32_t TABLE[ITEMS * PER_ITEM] = {3, 4, 99, 3, 1, -1};

/* A cache of (PAGES, tokens, 1, D): numbers in what is read, NaN in the tail of a page, no access elsewhere. */
static float *make_cache(size_t tokens, size_t tail_page, size_t tail)
{
    const size_t page = tokens * D * sizeof(float);
    float *cache = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cache == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < PAGES * tokens * D; i++)
        cache[i] = (float)(i % 13) / 8;
    for (size_t i = tail * D; i < tokens * D; i++)
        cache[tail_page * tokens * D + i] = NAN;
    for (size_t i = 0; i < PAGES; i++)
        if (i != 3 && i != 4 && i != 1)
            CHECK(mprotect((char *)cache + i * page, page, PROT_NONE) == 0, "page %zu stays readable", i);
    return cache;
}

static struct file_tensor named(const char *name, enum dtype dtype, size_t rank, const size_t *shape, const void *data)
{
    struct file_tensor tensor = {.name = name,
                                 .tensor = {.rank = rank, .dtype = dtype, .data = (void *)(uintptr_t)data}};
    memcpy(tensor.tensor.shape, shape, rank * sizeof *shape);
    return tensor;
}

/* The context as it is, all its numbers finite. */
static void check_run(const char *line, const struct input_file *inputs, const float *key, size_t tokens)
{
    char words[128], *list[16];
    struct made made = {0};
    int count = 0;
    double numbers[ITEMS * QUERIES * D];
    check_begin("%s", line);
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        list[count++] = word;
    list[count] = NULL;
    if (CHECK(options_parse(&made.options, count, list, &made.error) == STATUS_OK, "%s", made.error.message) &&
        CHECK(problem_create(&made.problem, &made.options, &(struct job_files){.inputs = inputs}, &made.arena,
                             &made.error) == STATUS_OK &&
                  result_create(&made.result, &made.problem, &made.progress, false, &made.arena, &made.error) ==
                      STATUS_OK,
              "%s", made.error.message)) {
        const struct result_table *context = support_table(&made, "context"),
                                  *caches = support_table(&made, "key_cache");
        const size_t came = support_table_numbers(&made, context, numbers, ITEMS * QUERIES * D);
        CHECK(came == ITEMS * QUERIES * D, "expected %d numbers, got %zu", ITEMS * QUERIES * D, came);
        for (size_t i = 0; i < came; i++)
            CHECK(isfinite(numbers[i]), "context[%zu]: expected a finite number, got %g", i, numbers[i]);
        if (CHECK(caches != NULL, "expected the cache as an input again")) {
            CHECK(caches->shape[0] == 3, "expected the 3 pages that are read, got %zu", caches->shape[0]);
            double first;
            tensor_load(caches->tensor, 1, 1, &first);
            CHECK(first == (double)key[3 * tokens * D + 1], "expected page 3 first, which is used first");
        }
    }
    arena_free(&made.arena);
}

int main(void)
{
    const size_t tokens = (size_t)sysconf(_SC_PAGESIZE) / sizeof(float) / D, cache[] = {PAGES, tokens, 1, D};
    const int64_t lengths[] = {(int64_t)(2 * tokens), (int64_t)tokens + 1};
    float query[ITEMS * QUERIES * D], *key = make_cache(tokens, 1, 1), *value = make_cache(tokens, 1, 1);
    check_begin("room for caches");
    if (!CHECK(key != NULL && value != NULL, "expected memory"))
        return check_end();
    for (size_t i = 0; i < ITEMS * QUERIES * D; i++)
        query[i] = (float)(i % 5) / 4;
    struct file_tensor tensors[] = {
        named("block_table", DTYPE_I32, 2, (const size_t[]){ITEMS, PER_ITEM}, TABLE),
        named("key_cache", DTYPE_F32, 4, cache, key),
        named("kv_lengths", DTYPE_I64, 1, (const size_t[]){ITEMS}, lengths),
        named("query", DTYPE_F32, 4, (const size_t[]){ITEMS, QUERIES, 1, D}, query),
        named("value_cache", DTYPE_F32, 4, cache, value),
    };
    const struct input_file inputs = {
        .source = "test", .tensors = tensors, .tensor_count = sizeof tensors / sizeof tensors[0]};
    check_run("attn sdpa x --stages inputs,context --kernel reference", &inputs, key, tokens);
    check_run("attn sdpa x --stages inputs,context --kernel fused", &inputs, key, tokens);
    check_run("attn sdpa x --stages inputs,context --causal --dtype f64", &inputs, key, tokens);
    const int32_t starts[] = {0, 1, ITEMS * QUERIES};
    struct file_tensor packed[] = {
        tensors[0], named("cu_seqlens_q", DTYPE_I32, 1, (const size_t[]){ITEMS + 1}, starts),     tensors[1],
        tensors[2], named("query", DTYPE_F32, 3, (const size_t[]){ITEMS * QUERIES, 1, D}, query), tensors[4],
    };
    const struct input_file sequences = {
        .source = "test", .tensors = packed, .tensor_count = sizeof packed / sizeof packed[0]};
    check_run("attn sdpa x --stages inputs,context --kernel reference", &sequences, key, tokens);
    check_run("attn sdpa x --stages inputs,context --causal --kernel fused", &sequences, key, tokens);
    munmap(key, PAGES * tokens * D * sizeof *key);
    munmap(value, PAGES * tokens * D * sizeof *value);
    return check_end();
}
