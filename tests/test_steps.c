/* SPDX-License-Identifier: MIT */
/* Jobs done in steps: every row has the bits of the whole pass, whatever the mechanism, the mask, the dtype, the path
 * and the sizes of the steps; what is read and kept is counted once more, key by key; what must differ differs; and the
 * cache writes as ONNX's TensorScatter does. */
#include "build/job_files.h"
#include "build/problem_create.h"
#include "check.h"
#include "steps/steps.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40, DONE = 1648 }; /* of 1664: dropout is the reference's alone */

/* --- the same bits ------------------------------------------------------------------------------------------------ */

#define PAST                                                                                                      \
    "{\"query\": [[[[1, 0], [0.3, 1], [1, 1]]]], \"key\": [[[[1, 0.2], [0, 1], [1, 2]]]], \"value\": [[[[1, 2], " \
    "[3, 4], [5, 6]]]], \"past_key\": [[[[2, 1], [1, 1.1]]]], \"past_value\": [[[[7, 8], [9, 1]]]]}"
#define LENGTHS                                                                                                      \
    "{\"query\": [[[[1, 0], [0, 1]]], [[[1, 1], [2, 1]]]], \"key\": [[[[1, 0], [0, 1], [1, 2], [3, 1]]], [[[1, 0], " \
    "[0, 1], [1, 2], [3, 1]]]], \"value\": [[[[1, 2], [3, 4], [5, 6], [1, 1]]], [[[1, 2], [3, 4], [5, 6], [1, "      \
    "1]]]], \"kv_lengths\": [3, 4]}"
#define MASKED                                                                                                       \
    "{\"query\": [[1, 0], [0.3, 1], [1, 1], [2, 1]], \"key\": [[1, 0.2], [0, 1], [1, 2], [1, 1]], \"value\": [[1], " \
    "[3], [5], [7]], \"sinks\": [0.5], \"attn_mask\": [[0, 0, 0, 0], [0.5, 1, 0, 0], [-1, 2, 0.25, 0], [0, -2, 1, "  \
    "3]]}"
#define EMPTY                                                                                                   \
    "{\"query\": [[1, 0], [0.3, 1], [1, 1]], \"key\": [[1, 0.2], [0, 1], [1, 2]], \"value\": [[1], [3], [5]], " \
    "\"attn_mask\": [[true, false, true], [false, false, true], [true, true, false]]}"
#define NOT_FINITE                                                                                              \
    "{\"query\": [[1, 0], [0.3, 1], [1, 1]], \"key\": [[1, 0.2], [0, 1], [\"NaN\", 2]], \"value\": [[1], [3], " \
    "[\"Infinity\"]]}"

static const struct {
    const char *line, *json;
} JOBS[] = {
    {"causal --random 9x5 -d 7", NULL},
    {"causal --random 2x70x5 -d 16 --qkv-bias", NULL},
    {"causal --random 33x5 -d 8 --rope half --rope-columns 4", NULL},
    {"causal --random 33x5 -d 8 --rope pairs --positions 3,5-36", NULL},
    {"causal --random 33x5 -d 8 --query-growth 0.5,4,1", NULL},
    {"multihead --random 33x16 -H 4 --kv-heads 2 --rope half --scale-on query --query-growth 0.7,5", NULL},
    {"causal --random 20x5 --residual --norm layer --softcap 3", NULL},
    {"multihead --random 20x12 -H 4 --kv-heads 2", NULL},
    {"multihead --random 20x12 -H 4 --kv-heads 1 --window 5,0 --alibi slopes", NULL},
    {"multihead --random 2x20x12 -H 3 --stacked --window 0,0", NULL},
    {"multihead --random 20x12 -H 3 --window 3,2 --scale-on query --rope half", NULL},
    {"multihead --random 20x12 -H 2 --clip 0.1 --qk-norm rms --rope half --rope-scaling linear:factor=4", NULL},
    {"layer tests/layers/qwen3-next/residual.npy --weights=tests/layers/qwen3-next --layer=1 --residual", NULL},
    {"layer tests/layers/afmoe/hidden.npy --weights=tests/layers/afmoe --layer=1", NULL},
    {"layer tests/layers/gemma-4-sliding/hidden.npy --weights=tests/layers/gemma-4-sliding --layer=0", NULL},
    {"sdpa --random 2x3x40x8 --causal", NULL},
    {"sdpa --random 2x40x24 -H 3 --causal --window 30,0", NULL},
    {"sdpa --causal", PAST},
    {"sdpa --causal --rope half --window 1,0", PAST},
    {"sdpa --causal --query-growth 0.5,2", PAST},
    {"sdpa --causal --rope half --query-growth 0.5,2,1", LENGTHS},
    {"sdpa --causal --alibi slopes", LENGTHS},
    {"sdpa --causal --rope pairs --window 2,0", LENGTHS},
    {"sdpa --causal", MASKED},
    {"sdpa --causal --empty-row nan", EMPTY},
    {"sdpa --causal", NOT_FINITE},
};

static const char *const DTYPES[] = {"f32", "f64", "bf16", "f16"};
static const char *const WAYS[] = {"", " --kernel fused", " --rounding operations", " -t 3"};
static const char *const CUTS[] = {"", " --prefill 2", " --chunk 3", " --prefill 1 --chunk 2"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The problem of a command line whose inputs are drawn. */
static enum status draw(struct made *made, const char *line)
{
    static struct job_files files;
    static char text[SUPPORT_LINE_BYTES];
    char *words[WORDS] = {"attn"};
    int count = 1;
    *made = (struct made){0};
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word != NULL && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    return options_parse(&made->options, count, words, &made->error) ||
                   job_files_read(&files, &made->options, &made->arena, &made->error) ||
                   problem_create(&made->problem, &made->options, &files, &made->arena, &made->error)
               ? made->error.status
               : STATUS_OK;
}

/* The steps of a command line; the caller frees made->arena. */
static bool make(struct made *made, struct steps *steps, const char *line, const char *json)
{
    return (json != NULL ? support_make(made, line, json) : draw(made, line)) == STATUS_OK &&
           steps_check(&made->options, &made->problem, &made->error) == STATUS_OK &&
           steps_make(steps, &made->options, &made->problem, &made->progress, &made->arena, &made->error) == STATUS_OK;
}

/* Whether a key of an item is in the way of no rule but attn_mask. */
static bool is_seen(const struct problem *problem, size_t item, size_t query, size_t key)
{
    const enum mask_rule rule = mask_rule_of(&problem->mask, item, 0, query, key);
    return rule == MASK_ALLOWS || rule == MASK_ENTRY;
}

/* Keys of an item below `end` that a query of first .. last sees. */
static size_t count_seen(const struct problem *problem, size_t item, size_t first, size_t last, size_t end)
{
    size_t count = 0;
    for (size_t key = 0; key < end; key++) {
        bool seen = false;
        for (size_t query = first; query < last && !seen; query++)
            seen = is_seen(problem, item, query, key);
        count += seen;
    }
    return count;
}

/* What a step reads, and what the next queries need of it, key by key. */
static void check_counts(const struct problem *problem, const struct step *step, const char *line)
{
    const size_t numbers = problem->size.kv_heads * (problem->size.d_head + problem->size.d_value);
    size_t read = 0, kept = 0;
    for (size_t item = 0; item < problem->size.items; item++) {
        const size_t start = (size_t)mask_offset(&problem->mask, item, 0) + step->first,
                     end = start + step->end - step->first;
        read += numbers * count_seen(problem, item, step->first, step->end, start);
        kept += numbers * count_seen(problem, item, step->end, problem->size.queries, end);
    }
    CHECK(step->read == read, "%s: queries %zu to %zu: expected %zu numbers read, got %zu", line, step->first + 1,
          step->end, read, step->read);
    CHECK(step->end == problem->size.queries || step->kept == kept,
          "%s: queries %zu to %zu: expected %zu numbers kept, got %zu", line, step->first + 1, step->end, kept,
          step->kept);
}

/* The steps follow one another and are as long as was asked. */
static void check_cut(const struct made *made, const struct steps *steps, const char *line)
{
    const size_t chunk = (size_t)made->options.chunk;
    const size_t prefill = made->options.prefill > 0 ? (size_t)made->options.prefill : chunk;
    size_t first = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const size_t left = made->problem.size.queries - first, most = i == 0 ? prefill : chunk;
        CHECK(steps->steps[i].first == first && steps->steps[i].end == first + memory_smaller(left, most),
              "%s: step %zu is %zu to %zu", line, i + 1, steps->steps[i].first, steps->steps[i].end);
        first = steps->steps[i].end;
    }
    CHECK(first == made->problem.size.queries, "%s: expected %zu queries, got %zu", line, made->problem.size.queries,
          first);
}

/* Returns whether the job was one, and not refused by the path or the rounding that was asked for. */
static bool check_job(const char *line, const char *json)
{
    static struct made made;
    struct steps steps;
    made = (struct made){0};
    const bool done = make(&made, &steps, line, json);
    if (done) {
        CHECK(steps.total.same == steps.total.rows && steps.total.rows > 0 && steps.total.largest == 0,
              "%s: %zu of %zu rows have the same bits, off by %g", line, steps.total.same, steps.total.rows,
              steps.total.largest);
        check_cut(&made, &steps, line);
        for (size_t i = 0; i < steps.count; i++)
            check_counts(&made.problem, &steps.steps[i], line);
    } else {
        CHECK(strstr(made.error.message, "--kernel fused") != NULL ||
                  strstr(made.error.message, "--rounding operations") != NULL,
              "%s: %s", line, made.error.message);
    }
    arena_free(&made.arena);
    return done;
}

static void check_jobs(void)
{
    size_t done = 0;
    check_begin("every row has the bits of the whole pass");
    for (size_t job = 0; job < COUNT(JOBS); job++)
        for (size_t dtype = 0; dtype < COUNT(DTYPES); dtype++)
            for (size_t way = 0; way < COUNT(WAYS); way++)
                for (size_t cut = 0; cut < COUNT(CUTS); cut++) {
                    char line[SUPPORT_LINE_BYTES];
                    const size_t length = strcspn(JOBS[job].line, " ");
                    snprintf(line, sizeof line, "%.*s --steps%s --dtype %s%s%s", (int)length, JOBS[job].line,
                             JOBS[job].line + length, DTYPES[dtype], WAYS[way], CUTS[cut]);
                    done += check_job(line, JOBS[job].json);
                }
    CHECK(done == DONE, "expected %d jobs to be done, got %zu", DONE, done);
}

/* Large jobs: tiles of the fused path begin and end elsewhere in a step. */
static void check_long(void)
{
    static const char *const LINES[] = {
        "sdpa --steps --random 2x300x32 --causal --kernel fused --chunk 7",
        "sdpa --steps --random 2x300x32 --causal --kernel fused --prefill 129 --chunk 64 --window 100,0",
        "sdpa --steps --random 1x300x16 --causal --kernel fused --softcap 5 --alibi slopes --chunk 31",
        "sdpa --steps --random 1x300x32 --causal --kernel fast16 --dtype bf16 --chunk 13",
        "multihead --steps --random 260x64 -H 8 --kv-heads 2 --kernel fused --chunk 9",
    };
    check_begin("the same of long ones, on the fused path");
    for (size_t i = 0; i < COUNT(LINES); i++)
        CHECK(check_job(LINES[i], NULL), "%s: not done", LINES[i]);
}

/* --- other bits --------------------------------------------------------------------------------------------------- */

/* A row without a key: the mean is that of the keys so far. */
static void check_mean(void)
{
    static struct made made;
    struct steps steps;
    check_begin("the mean of an empty row is that of the keys so far");
    made = (struct made){0};
    if (CHECK(make(&made, &steps, "sdpa --steps --causal --empty-row mean", EMPTY), "%s", made.error.message))
        CHECK(steps.total.same == 2 && steps.steps[1].same == 0 && steps.total.largest == 1,
              "%zu rows are the same, the other off by %g", steps.total.same, steps.total.largest);
    arena_free(&made.arena);
}

/* A rotation that goes by the length of the text turns the first keys otherwise in the whole pass. */
static void check_difference(void)
{
    static struct made made;
    struct steps steps;
    check_begin("a rotation that goes by the length gives other rows");
    made = (struct made){0};
    if (CHECK(
            make(&made, &steps, "causal --steps --random 12x8 --rope half --rope-scaling dynamic:factor=2,old=6", NULL),
            "%s", made.error.message))
        CHECK(steps.total.same == 1 && steps.total.rows == 12 && steps.total.largest > 1e-4 && steps.total.largest < 10,
              "%zu of %zu rows are the same, the others off by %g", steps.total.same, steps.total.rows,
              steps.total.largest);
    arena_free(&made.arena);
}

/* --- ONNX --------------------------------------------------------------------------------------------------------- */

/* (B, heads, rows, columns) of nested lists. */
static struct tensor tensor_of(const cJSON *item, struct arena *arena)
{
    struct tensor tensor = {.dtype = DTYPE_F64};
    for (const cJSON *at = item; cJSON_IsArray(at) && tensor.rank < TENSOR_RANK; at = at->child)
        tensor.shape[tensor.rank++] = (size_t)cJSON_GetArraySize(at);
    const size_t count = tensor_count(&tensor);
    tensor.data = arena_allocate(arena, count, sizeof(double), NULL);
    CHECK(support_numbers(item, tensor.data, count) == count, "expected %zu numbers", count);
    return tensor;
}

/* A ring of as many slots as the cache has rows, which is filled with the past: linear and circular are the same. */
static void check_case(const cJSON *item)
{
    struct arena arena = {0};
    struct error error = {0};
    struct tensor cache;
    double indices[TENSOR_RANK];
    check_begin("ONNX: %s", cJSON_GetObjectItemCaseSensitive(item, "name")->valuestring);
    const struct tensor past = tensor_of(cJSON_GetObjectItemCaseSensitive(item, "past_cache"), &arena);
    const struct tensor update = tensor_of(cJSON_GetObjectItemCaseSensitive(item, "update"), &arena);
    const struct tensor present = tensor_of(cJSON_GetObjectItemCaseSensitive(item, "present_cache"), &arena);
    const size_t items = support_numbers(cJSON_GetObjectItemCaseSensitive(item, "write_indices"), indices, TENSOR_RANK);
    CHECK(items == past.shape[0] && past.rank == 4 && update.rank == 4, "expected %zu items, got %zu", past.shape[0],
          items);
    if (CHECK(tensor_create(&cache, past.dtype, 4, past.shape, &arena, &error) == STATUS_OK, "%s", error.message)) {
        for (size_t i = 0; i < items; i++) {
            steps_copy_rows(&past, 0, &cache, 0, past.shape[2], i);
            steps_copy_rows(&update, 0, &cache, (size_t)indices[i], update.shape[2], i);
        }
        CHECK(memcmp(cache.data, present.data, tensor_count(&present) * sizeof(double)) == 0, "expected present_cache");
    }
    arena_free(&arena);
}

static void check_onnx(void)
{
    cJSON *cases = support_json("tests/golden/onnx-scatter/cases.json");
    for (const cJSON *item = cases->child; item != NULL; item = item->next)
        check_case(item);
    check_begin("every case of TensorScatter");
    CHECK(cJSON_GetArraySize(cases) == 3, "expected 3 cases, got %d", cJSON_GetArraySize(cases));
    cJSON_Delete(cases);
}

int main(void)
{
    check_jobs();
    check_long();
    check_difference();
    check_mean();
    check_onnx();
    return check_end();
}
