/* SPDX-License-Identifier: MIT */
/* The gradients of the fused path against the equations in double, of each kernel that can: every feature of a mask
 * alone and in pairs, on shapes that are no multiple of anything; and that their bits do not depend on threads. Here
 * are the kernels whose numbers are floats, and in test_fused_backward_f64.c, which includes this, those in double. */
#include "check.h"
#include "kernel/fused.h"
#include "kernel/fused_backward.h"
#include "model/torch_random.h"
#include "stage/stage.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#ifdef DOUBLES
typedef double number;
static const enum dtype NUMBER = DTYPE_F64;
static const double TOLERANCE = 1.2e-14, EPSILON = DBL_EPSILON;
#else
typedef float number;
static const enum dtype NUMBER = DTYPE_F32;
static const double TOLERANCE = 2e-6, EPSILON = FLT_EPSILON;
#endif

/* Of every array: the largest shape; and the most keys. */
enum { ROOM = 160000, KEYS = 1200, MASK_ROOM = 1 << 20, ITEM_HEADS = 2, ITEMS = 2, HEADS = ITEMS * ITEM_HEADS };

enum {
    CAUSAL = 1 << 0,
    WINDOW = 1 << 1,
    LENGTHS = 1 << 2,
    PAST = 1 << 3,
    BOOLEANS = 1 << 4,
    FLOATS = 1 << 5,
    ALIBI = 1 << 6,
    SINKS = 1 << 7,
    SOFTCAP = 1 << 8,
    GROUPS = 1 << 9,
    MEAN = 1 << 10,
    NOT_A_NUMBER = 1 << 11,
    RELATIVE = 1 << 12, /* T5's table */
    NEGATIVE = 1 << 13, /* scale */
    SEQUENCES = 1 << 14,
    FEATURES = 15
};

static const char *const feature_names[FEATURES] = {
    "causal",  "window",  "lengths",    "past",      "boolean mask",  "float mask",     "ALiBi",     "sinks",
    "softcap", "grouped", "empty mean", "empty NaN", "relative bias", "negative scale", "sequences",
};

struct shape {
    size_t queries, keys, d, d_v;
};

static number query[ROOM], key[ROOM], value[ROOM], grad_context[ROOM], context[ROOM];
static double lse[ROOM];
static double sinks[ITEM_HEADS] = {0.5, -2}, slopes[ITEM_HEADS] = {0.5, 0.01};
static number mask_floats[MASK_ROOM];
static uint8_t mask_booleans[MASK_ROOM];

/* Gradients as the kernel writes them, and once more in double. */
struct gradients {
    number query[ROOM], key[ROOM], value[ROOM];
    double sinks[HEADS];
};
static struct gradients got, again;
static struct {
    double query[ROOM], key[ROOM], value[ROOM], sinks[HEADS];
    bool takes_part[HEADS * KEYS], is_seen[HEADS * KEYS]; /* rows of query, rows of key */
} truth;

static void draw_inputs(uint64_t seed)
{
    static float drawn[ROOM];
    number *const arrays[] = {query, key, value, grad_context};
    struct torch_random generator;
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, seed);
    for (size_t a = 0; a < COUNT(arrays); a++) {
        torch_random_normal(&generator, drawn, ROOM);
        for (size_t i = 0; i < ROOM; i++)
            arrays[a][i] = (number)drawn[i];
    }
}

/* --- masks ------------------------------------------------------------------------------------------------------- */

/* Numbers that forbid, or add nothing to, whole blocks of some rows, all keys of others, and a third of the rest. */
static number mask_number(size_t row, size_t column)
{
    const size_t random = (row * 2654435761u + column * 40503u) >> 3;
    if (row % 16 == 7 || (row / 40 + column / 192) % 3 == 1)
        return -INFINITY;
    if ((row / 40 + column / 192) % 3 == 2)
        return 0;
    return random % 3 == 0 ? -INFINITY : random % 3 == 1 ? 0 : (number)(random % 101) / 64 - 1;
}

/* An attn_mask (Tq, Tk), or (H, Tq, Tk). */
static void set_attn_mask(struct mask *mask, enum dtype dtype, size_t heads)
{
    const size_t count = heads * mask->queries * mask->keys;
    mask->attn_mask = (struct tensor){.rank = MASK_RANK,
                                      .shape = {1, heads, mask->queries, mask->keys},
                                      .dtype = dtype,
                                      .data = dtype == DTYPE_BOOL ? (void *)mask_booleans : (void *)mask_floats};
    mask->strides[1] = heads > 1 ? mask->queries * mask->keys : 0;
    mask->strides[2] = mask->keys;
    mask->strides[3] = 1;
    if (!CHECK(count <= MASK_ROOM, "a mask of %zu numbers", count))
        exit(1);
    for (size_t i = 0; i < count; i++) {
        mask_floats[i] = mask_number(i / mask->keys, i % mask->keys);
        mask_booleans[i] = mask_floats[i] > -INFINITY ? 1 : 0;
    }
}

/* T5's table of eight buckets. */
static void set_relative(struct mask *mask)
{
    enum { BUCKETS = 8, FARTHEST = 20 };
    static double table[BUCKETS * ITEM_HEADS];
    static uint32_t buckets[2 * FARTHEST + 1];
    for (size_t i = 0; i < COUNT(table); i++)
        table[i] = (double)(i * 7 % 11) / 4 - 1;
    mask->relative = table;
    mask->heads = ITEM_HEADS;
    mask->buckets = BUCKETS;
    mask->relative_distance = FARTHEST;
    mask->both_ways = !mask->causal;
    for (size_t i = 0; i < COUNT(buckets); i++)
        buckets[i] = (uint32_t)mask_bucket(mask, (int64_t)i - FARTHEST);
    mask->bucket_of = buckets;
}

/* Four sequences: the second is of keys alone, the third of queries alone, which see nothing. */
static void set_sequences(struct mask *mask, bool from_end)
{
    static int64_t queries[5], keys[5];
    static size_t of_query[KEYS];
    const int64_t tq = (int64_t)mask->queries, tk = (int64_t)mask->keys;
    memcpy(queries, (int64_t[]){0, tq / 4, tq / 4, tq * 2 / 3, tq}, sizeof queries);
    memcpy(keys, (int64_t[]){0, tk / 3, tk / 2, tk / 2, tk}, sizeof keys);
    for (size_t s = 0; s < 4; s++)
        for (int64_t i = queries[s]; i < queries[s + 1]; i++)
            of_query[i] = s;
    mask->sequences = (struct mask_sequences){4, queries, keys, of_query, from_end};
}

static struct mask make_mask(unsigned features, const struct shape *shape, unsigned variant)
{
    static int64_t lengths[ITEMS];
    struct mask mask = {
        .queries = shape->queries, .keys = shape->keys, .left = -1, .right = -1, .masked_keys = shape->keys};
    mask.causal = features & CAUSAL;
    if (features & WINDOW) {
        mask.left = (int64_t[]){5, 60, 0}[variant % 3];
        mask.right = (int64_t[]){3, 40, -1}[variant % 3];
    }
    if (features & PAST)
        mask.offset = (int64_t[]){(int64_t)shape->keys - (int64_t)shape->queries, 7, -9}[variant % 3];
    if (features & SEQUENCES)
        set_sequences(&mask, variant % 2);
    else if (features & LENGTHS) {
        lengths[0] = (int64_t)(shape->keys * (variant % 3) / 3);
        lengths[1] = (int64_t)shape->keys;
        mask.lengths = lengths;
    }
    if (features & (BOOLEANS | FLOATS))
        set_attn_mask(&mask, features & BOOLEANS ? DTYPE_BOOL : NUMBER, 1 + variant % 2);
    mask.alibi_slopes = features & ALIBI ? slopes : NULL;
    if (features & RELATIVE)
        set_relative(&mask);
    mask.sinks = features & SINKS ? sinks : NULL;
    mask.empty_row = features & MEAN ? EMPTY_ROW_MEAN : features & NOT_A_NUMBER ? EMPTY_ROW_NAN : EMPTY_ROW_ZERO;
    return mask;
}

/* --- jobs -------------------------------------------------------------------------------------------------------- */

static struct fused_job make_job(unsigned features, const struct shape *shape, unsigned variant,
                                 const struct mask *mask)
{
    const double scale = 1 / sqrt((double)shape->d);
    return (struct fused_job){.query = query,
                              .key = key,
                              .value = value,
                              .context = context,
                              .heads = HEADS,
                              .group = features & GROUPS ? (variant % 2 ? HEADS : 2) : 1,
                              .heads_per_item = ITEM_HEADS,
                              .queries = shape->queries,
                              .keys = shape->keys,
                              .d = shape->d,
                              .d_v = shape->d_v,
                              .mask = mask,
                              .scale = features & NEGATIVE ? -scale : scale,
                              .softcap = features & SOFTCAP ? (variant % 2 ? 1.5 : 30) : 0};
}

static struct fused_backward_job backward_of(const struct fused_job *forward, struct gradients *gradients)
{
    return (struct fused_backward_job){
        .forward = forward,
        .lse = lse,
        .grad_context = grad_context,
        .grad_query = gradients->query,
        .grad_key = gradients->key,
        .grad_value = gradients->value,
        .grad_sinks = forward->mask != NULL && forward->mask->sinks != NULL ? gradients->sinks : NULL};
}

static void run(const struct fused_job *job, unsigned threads, struct gradients *gradients)
{
    struct error error = {0};
    struct fused_statistic statistic = stage_statistic(STAGE_LSE);
    statistic.dtype = DTYPE_F64;
    statistic.numbers = lse;
    struct fused_job forward = *job;
    forward.statistics = &statistic;
    forward.statistic_count = 1;
    forward.threads = 1;
    memset(gradients, 0xff, sizeof *gradients);
    CHECK(fused_context(&forward, &error) == STATUS_OK, "expected a context, got: %s", error.message);
    forward.threads = threads;
    const struct fused_backward_job back = backward_of(&forward, gradients);
    CHECK(fused_backward(&back, &error) == STATUS_OK, "expected gradients, got: %s", error.message);
}

/* --- the equations in double ------------------------------------------------------------------------------------- */

/* One row: its weights, what the softcap multiplies gradients with, and the weight of the sink. */
struct row {
    struct span span;
    double weights[KEYS], slopes[KEYS], sink;
    bool empty;
};

static double dot(const number *a, const number *b, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (double)a[k] * b[k];
    return sum;
}

static void make_logits(const struct fused_job *job, size_t head, size_t i, struct row *row)
{
    const struct mask *mask = job->mask;
    static double bias[KEYS];
    const size_t item = head / ITEM_HEADS, key_head = head / job->group;
    row->span = mask_span(mask, item, i);
    row->empty = true;
    if (row->span.first < row->span.end)
        mask_bias(mask, item, head % ITEM_HEADS, i, row->span.first, row->span.end - row->span.first, bias);
    for (size_t j = row->span.first; j < row->span.end; j++) {
        double score = job->scale * dot(query + (head * job->queries + i) * job->d,
                                        key + (key_head * job->keys + j) * job->d, job->d);
        const double share = job->softcap > 0 ? tanh(score / job->softcap) : 0;
        score = job->softcap > 0 ? job->softcap * share : score;
        row->slopes[j] = 1 - share * share;
        row->weights[j] = score + bias[j - row->span.first];
        row->empty = row->empty && !(bias[j - row->span.first] > -INFINITY);
    }
}

static void make_weights(const struct fused_job *job, size_t head, struct row *row)
{
    const double *sink = job->mask->sinks == NULL ? NULL : &job->mask->sinks[head % ITEM_HEADS];
    double most = sink != NULL ? *sink : -INFINITY, sum = 0;
    for (size_t j = row->span.first; j < row->span.end; j++)
        most = fmax(most, row->weights[j]);
    row->sink = sink != NULL ? exp(*sink - most) : 0;
    for (size_t j = row->span.first; j < row->span.end; j++)
        sum += row->weights[j] = exp(row->weights[j] - most);
    for (size_t j = row->span.first; j < row->span.end; j++)
        row->weights[j] /= sum + row->sink;
    row->sink /= sum + row->sink;
}

/* The weights of an empty row are constants. */
static void truth_empty(const struct fused_job *job, size_t head, const number *grad)
{
    const size_t first_key = head / job->group * job->keys;
    double *values = truth.value + first_key * job->d_v;
    if (job->mask->empty_row == EMPTY_ROW_ZERO)
        return;
    for (size_t j = 0; j < job->keys; j++)
        for (size_t c = 0; c < job->d_v; c++)
            values[j * job->d_v + c] +=
                job->mask->empty_row == EMPTY_ROW_NAN ? (double)NAN : grad[c] / (double)job->keys;
}

static void truth_row(const struct fused_job *job, size_t head, size_t i)
{
    static struct row row;
    static double changes[KEYS];
    const size_t d = job->d, at = head * job->queries + i, first_key = head / job->group * job->keys;
    const number *grad = grad_context + at * job->d_v;
    double delta = 0;
    make_logits(job, head, i, &row);
    if (row.empty) {
        truth_empty(job, head, grad);
        return;
    }
    make_weights(job, head, &row);
    for (size_t j = row.span.first; j < row.span.end; j++) {
        changes[j] = dot(grad, value + (first_key + j) * job->d_v, job->d_v);
        delta += row.weights[j] * changes[j];
    }
    truth.sinks[head] -= row.sink * delta;
    truth.takes_part[at] = true;
    for (size_t j = row.span.first; j < row.span.end; j++) {
        const double change = row.weights[j] * (changes[j] - delta) * row.slopes[j] * job->scale;
        truth.is_seen[first_key + j] = truth.is_seen[first_key + j] || row.weights[j] > 0;
        for (size_t c = 0; c < job->d_v; c++)
            truth.value[(first_key + j) * job->d_v + c] += row.weights[j] * grad[c];
        for (size_t k = 0; k < d; k++) {
            truth.query[at * d + k] += change * key[(first_key + j) * d + k];
            truth.key[(first_key + j) * d + k] += change * query[at * d + k];
        }
    }
}

static void make_truth(const struct fused_job *job)
{
    memset(&truth, 0, sizeof truth);
    for (size_t head = 0; head < job->heads; head++)
        for (size_t i = 0; i < job->queries; i++)
            truth_row(job, head, i);
}

/* --- checks ------------------------------------------------------------------------------------------------------ */

/* What sums err by, in double those here too; narrow heads have large logits, as in test_fused.c. Beside that a logit
 * to which a distance or a bias is added is rounded twice, which is a relative error of its weight; a weight that
 * counts has one about as large as lse. */
static double tolerance_of(const struct fused_job *job)
{
    double largest = 0;
    for (size_t i = 0; i < job->heads * job->queries; i++)
        largest = isfinite(lse[i]) ? fmax(largest, fabs(lse[i])) : largest;
    return (job->d >= 8 ? 1 : 3) * TOLERANCE + largest * EPSILON;
}

/* The error is a share of the table's largest number, or of 1, as its terms are where they cancel; rows that nothing
 * takes part in are exactly 0. */
static void check_near(const struct fused_job *job, const double *expected, const number *numbers, const bool *rows,
                       size_t count, size_t columns, const char *what)
{
    double worst = 0, largest = 1;
    size_t at = 0;
    for (size_t i = 0; i < count * columns; i++) {
        const bool same = isnan(expected[i]) ? isnan(numbers[i]) : expected[i] == numbers[i];
        const bool exact = expected[i] == 0 && !rows[i / columns];
        const double away = fabs(expected[i] - numbers[i]), error = same ? 0 : exact || isnan(away) ? INFINITY : away;
        largest = fmax(largest, fabs(expected[i]));
        if (error > worst)
            worst = error, at = i;
    }
    CHECK(worst <= tolerance_of(job) * largest,
          "%s: number %zu of grad_%s: expected %.17g, got %.17g, off by %.2g of the largest", job->kernel->name, at,
          what, expected[at], (double)numbers[at], worst / largest);
}

static void check_truth(const struct fused_job *job)
{
    const size_t queries = job->heads * job->queries, keys = job->heads / job->group * job->keys;
    check_near(job, truth.query, got.query, truth.takes_part, queries, job->d, "query");
    check_near(job, truth.key, got.key, truth.is_seen, keys, job->d, "key");
    check_near(job, truth.value, got.value, truth.is_seen, keys, job->d_v, "value");
    for (size_t head = 0; job->mask != NULL && job->mask->sinks != NULL && head < job->heads; head++)
        CHECK(fabs(truth.sinks[head] - got.sinks[head]) <= tolerance_of(job) * fmax(1, fabs(truth.sinks[head])),
              "%s: grad_sinks of head %zu: expected %.9g, got %.9g", job->kernel->name, head, truth.sinks[head],
              got.sinks[head]);
}

static void check_threads(struct fused_job *job)
{
    for (unsigned threads = 2; threads <= 3; threads++) {
        run(job, threads, &again);
        CHECK(memcmp(&got, &again, sizeof got) == 0, "%s: %u threads: other bits than one", job->kernel->name, threads);
    }
}

static void check_case(unsigned features, const struct shape *shape, unsigned variant)
{
    char names[200] = "";
    size_t kernels = 0;
    for (size_t i = 0; i < FEATURES; i++)
        if (features >> i & 1)
            snprintf(names + strlen(names), sizeof names - strlen(names), ", %s", feature_names[i]);
    check_begin("%zu queries, %zu keys, d %zu, d_v %zu%s, variant %u", shape->queries, shape->keys, shape->d,
                shape->d_v, names, variant);
    const struct mask mask = make_mask(features, shape, variant);
    struct fused_job job = make_job(features, shape, variant, &mask);
    make_truth(&job);
    for (size_t i = 0; kernel_row(i) != NULL; i++) {
        job.kernel = kernel_row(i);
        if (job.kernel->dtype != NUMBER || job.kernel->differentiate == NULL || !kernel_present(job.kernel))
            continue;
        run(&job, 1, &got);
        check_truth(&job);
        check_threads(&job);
        kernels++;
    }
    CHECK(kernels > 0, "expected a kernel that differentiates");
}

/* The last two are long enough for several threads. ATTN_QUICK: each feature and half of the pairs on one shape, and long inputs with all features at once, or none but for the longest. */
static void check_pairs(bool quick)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 1},     {17, 193, 40, 3}, {33, 33, 64, 64}, {65, 15, 40, 8},
        {193, 65, 8, 33}, {70, 210, 3, 40}, {2, 200, 16, 8},  {129, 230, 24, 8},
    };
    unsigned turn = 0;
    for (unsigned a = 0; a < FEATURES; a++)
        for (unsigned b = a; b < FEATURES; b++, turn++)
            for (unsigned more = quick && a != b && turn % 2 ? 1 : 0; more < (quick ? 1 : 2); more++)
                check_case(1u << a | 1u << b, &shapes[(turn + 5 * more) % COUNT(shapes)], turn + more);
}

/* Several parts of queries and keys, and rounds of tasks. */
static void check_parts(bool quick)
{
    static const struct shape shapes[] = {{1000, 1000, 40, 24}, {300, 1100, 16, 33}, {1100, 70, 8, 8}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (unsigned kind = quick && i == 0 ? 7 : 0; kind < 8; kind += quick ? 7 : 1)
            check_case((kind & 1 ? CAUSAL : 0) | (kind & 2 ? GROUPS : 0) | (kind & 4 ? SEQUENCES : 0), &shapes[i],
                       kind);
}

static void check_scratch(void)
{
    check_begin("the scratch grows with the tokens, and sizes that no memory has are told");
    const struct shape shape = {1000, 1000, 64, 64};
    struct error error = {0};
    struct fused_job job = make_job(0, &shape, 0, NULL);
    const struct fused_backward_job back = backward_of(&job, &got);
    job.heads = job.heads_per_item = 1;
    job.kernel = kernel_choose(NULL, NUMBER, false, &error);
    const size_t once = fused_backward_scratch_bytes(&back);
    job.queries = job.keys = 4000;
    const size_t more = fused_backward_scratch_bytes(&back);
    CHECK(once > 0 && more < 4 * once, "expected less than %zu bytes, got %zu", 4 * once, more);
    job.keys = SIZE_MAX / 8;
    CHECK(fused_backward_scratch_bytes(&back) == SIZE_MAX, "expected SIZE_MAX, got %zu",
          fused_backward_scratch_bytes(&back));
    CHECK(fused_backward(&back, &error) == STATUS_SYSTEM, "expected no memory, got: %s", error.message);
}

int main(void)
{
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: each feature and half of the pairs on one shape instead of two, long inputs with all "
             "features or none, the "
             "longest with all");
    draw_inputs(1);
    check_pairs(quick);
    check_parts(quick);
    check_scratch();
    return check_end();
}
