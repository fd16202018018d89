/* SPDX-License-Identifier: MIT */
/* Measures the fused path, on request: it reads lines from standard input and answers each with one line, so that a
 * script can measure it and its peers in turn.
 *
 * attention KERNEL DTYPE HEADS TOKENS D KIND THREADS
 *
 *     GF/s of 4 H D operations for each key that a query sees: KIND is whole, causal, past, window, lengths, boolean,
 *     float, alibi, softcap
 *
 * backward KERNEL DTYPE HEADS TOKENS D KIND THREADS
 *
 *     the same of the backward pass alone, of 10 H D operations
 *
 * scratch KERNEL DTYPE HEADS TOKENS D KIND THREADS
 *
 *     bytes that the same job allocates
 *
 * project ISA ROWS D_IN D_OUT THREADS
 *
 *     GF/s of 2 ROWS D_IN D_OUT operations, in float32
 *
 * sgemm ROWS D_IN D_OUT THREADS
 *
 *     the same by BLIS; "missing" where it was built without
 *
 * draw DTYPE CASE FOLDER
 *
 *     makes query, key and value of a case of the accuracy, and their exact context; writes the numbers as they lie
 *     into FOLDER/query, key, value, and answers with DTYPE HEADS QUERIES KEYS D. CASE is normal, tenfold, constant,
 *     million
 *
 * error KERNEL
 *
 *     of the case: the largest error of the context, before it is rounded to the dtype and as it comes out, as a share
 *     of the largest number of the exact one
 *
 * compare FILE
 *
 *     the same of a context that another has written, as it lies
 *
 * kernels DTYPE
 *
 *     the KERNELs that this processor has for it
 *
 * isas, absent
 *
 *     the instruction sets that this processor has, and has not
 *
 * KERNEL is an instruction set, or "-" for the fastest; with "/fast16" behind it, with weights in one part. The answer
 * is "missing" where there is no such kernel. Each result is checked against sums in double before it is timed: an
 * answer that begins with "wrong" says what was found. A figure is the best of the runs that a short while allows. */
#include "base/threads.h"
#include "kernel/fused.h"
#include "kernel/fused_backward.h"
#include "kernel/project.h"
#include "model/torch_random.h"
#include "stage/stage.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_BLIS
void bli_thread_set_num_threads(long threads);
void sgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb, const float *beta,
            float *c, const int *ldc);
#endif

static const double SECONDS = 0.25;
enum { CHECKED_ROWS = 16, DRAWN_AT_ONCE = 1 << 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(getenv("BENCH_PROCESSOR_TIME") != NULL ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void give_up(const char *what)
{
    printf("wrong: %s\n", what);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL)
        give_up("no memory");
    return memory;
}

/* `count` normal numbers times a factor, rounded to the dtype, as they lie in
 * memory. */
static void *draw_as(enum dtype dtype, size_t count, uint64_t seed, double factor)
{
    static float drawn[DRAWN_AT_ONCE];
    static double numbers[DRAWN_AT_ONCE];
    struct torch_random generator;
    char *values = allocate(count * dtype_size(dtype));
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, seed);
    for (size_t first = 0, some; first < count; first += some) {
        some = count - first < DRAWN_AT_ONCE ? count - first : DRAWN_AT_ONCE;
        torch_random_normal(&generator, drawn, some);
        for (size_t i = 0; i < some; i++)
            numbers[i] = drawn[i] * factor;
        dtype_encode(dtype, numbers, some, (unsigned char *)values + first * dtype_size(dtype));
    }
    return values;
}

static float *draw(size_t count, uint64_t seed)
{
    return draw_as(DTYPE_F32, count, seed, 1);
}

/* Seconds of the best run. */
static double best_of(void (*run)(void *job), void *job)
{
    double best = INFINITY, begin = now();
    do {
        const double start = now();
        run(job);
        const double seconds = now() - start;
        best = seconds < best ? seconds : best;
    } while (now() - begin < SECONDS);
    return best;
}

/* The kernel of that name; where there is none, the answer is "missing" and the
 * result NULL. */
static const struct kernel *find_kernel(const char *name, enum dtype dtype)
{
    struct error error = {0};
    char isa[32];
    const size_t length = strcspn(name, "/");
    const bool one_part = name[length] == '/', free_choice = name[0] == '-';
    snprintf(isa, sizeof isa, "%.*s", (int)length, name);
    const struct kernel *kernel = kernel_choose(free_choice ? NULL : isa, dtype, one_part, &error);
    if (kernel == NULL)
        give_up(error.message);
    if (kernel->one_part == one_part && (free_choice || strcmp(kernel->name, isa) == 0))
        return kernel;
    printf("missing\n");
    return NULL;
}

static enum dtype find_dtype(const char *name)
{
    const enum dtype dtype = dtype_find(dtype_name, name);
    if (dtype == DTYPE_COUNT || !dtype_is_working(dtype))
        give_up("this dtype is unknown");
    return dtype;
}

/* --- attention
 * ---------------------------------------------------------------------------------------------------
 */

struct operands {
    enum dtype dtype;
    size_t heads, queries, keys, d;
    void *query, *key, *value; /* (heads, queries, d), (heads, keys, d) twice */
};

/* Row `row` of a matrix of rows of d numbers. */
static void load_row(enum dtype dtype, const void *matrix, size_t row, size_t d, double *numbers)
{
    dtype_load(dtype, (const char *)matrix + row * d * dtype_size(dtype), d, numbers);
}

static void run_attention(void *job)
{
    struct error error = {0};
    if (fused_context(job, &error) != STATUS_OK)
        give_up(error.message);
}

/* sums[c], the context of a query of a head under the job's mask, and the
 * factor of its scores. */
static void exact_row(const struct operands *operands, const struct fused_job *job, size_t head, size_t row,
                      long double *sums)
{
    const size_t d = operands->d;
    const struct span span = job->mask != NULL ? mask_span(job->mask, 0, row) : (struct span){.end = operands->keys};
    double *query = allocate(3 * d * sizeof *query), *key = query + d, *value = key + d, bias = 0;
    long double total = 0;
    load_row(operands->dtype, operands->query, head * operands->queries + row, d, query);
    memset(sums, 0, d * sizeof *sums);
    for (size_t j = span.first; j < span.end; j++) {
        long double score = 0;
        load_row(operands->dtype, operands->key, head * operands->keys + j, d, key);
        load_row(operands->dtype, operands->value, head * operands->keys + j, d, value);
        for (size_t k = 0; k < d; k++)
            score += (long double)query[k] * key[k];
        score *= job->scale;
        if (job->mask != NULL)
            mask_bias(job->mask, 0, head, row, j, 1, &bias);
        score = job->softcap > 0 ? job->softcap * tanhl(score / job->softcap) : score;
        const long double weight = expl(score + bias); /* what is drawn here overflows nothing */
        total += weight;
        for (size_t c = 0; c < d; c++)
            sums[c] += weight * value[c];
    }
    for (size_t c = 0; c < d; c++)
        sums[c] /= total;
    free(query);
}

/* What a kernel may be off, where numbers have unit variance. */
static double tolerance(const struct kernel *kernel)
{
    return kernel->one_part ? 2e-3 : kernel->number == DTYPE_F64 ? 4e-15 : 2e-6;
}

static void check_attention(const struct operands *operands, const struct fused_job *job)
{
    const size_t d = operands->d;
    long double *exact = allocate(d * sizeof *exact);
    double *got = allocate(d * sizeof *got);
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (job->queries - 1) / (CHECKED_ROWS - 1), head = i % job->heads;
        exact_row(operands, job, head, row, exact);
        load_row(job->kernel->number, job->context, head * job->queries + row, d, got);
        for (size_t c = 0; c < d; c++)
            if (!(fabsl(exact[c] - got[c]) <= tolerance(job->kernel)))
                give_up("a row of the context differs from the sums in double");
    }
    free(exact), free(got);
}

/* A causal attn_mask, (T, T), of that dtype: BOOL, F32 or F64. */
static struct tensor causal_tensor(enum dtype dtype, size_t tokens)
{
    void *data = allocate(tokens * tokens * dtype_size(dtype));
    for (size_t i = 0; i < tokens * tokens; i++)
        if (dtype == DTYPE_BOOL)
            ((uint8_t *)data)[i] = i % tokens <= i / tokens;
        else
            ((float *)data)[i] = i % tokens <= i / tokens ? 0 : -INFINITY;
    return (struct tensor){.rank = 2, .shape = {tokens, tokens}, .dtype = dtype, .data = data};
}

/* The mask of that kind, for a kernel of these numbers; the operations of 4 H D that its keys are go to
 * *pairs. */
static struct mask make_mask(const char *kind, enum dtype number, size_t tokens, size_t heads, double *pairs)
{
    static int64_t length;
    static double slopes[64];
    struct mask mask = {.queries = tokens, .keys = tokens, .left = -1, .right = -1, .masked_keys = tokens};
    const bool boolean = strcmp(kind, "boolean") == 0, given = boolean || strcmp(kind, "float") == 0;
    mask.causal = strcmp(kind, "whole") != 0 && strcmp(kind, "softcap") != 0 && strcmp(kind, "lengths") != 0;
    mask.offset = strcmp(kind, "past") == 0 ? (int64_t)tokens / 7 : 0;
    mask.left = strcmp(kind, "window") == 0 ? 1024 : -1;
    length = (int64_t)(tokens - tokens / 7);
    mask.lengths = strcmp(kind, "lengths") == 0 ? &length : NULL;
    for (size_t head = 0; head < heads && head < 64; head++)
        slopes[head] = exp2(-8.0 * (double)(head + 1) / (double)heads);
    mask.alibi_slopes = strcmp(kind, "alibi") == 0 ? slopes : NULL;
    *pairs = 0;
    for (size_t i = 0; i < tokens; i++)
        *pairs += (double)(mask_span(&mask, 0, i).end - mask_span(&mask, 0, i).first);
    mask.causal = mask.causal && !given;
    if (given)
        mask.attn_mask = causal_tensor(boolean ? DTYPE_BOOL : number, tokens);
    mask.strides[2] = tokens;
    mask.strides[3] = 1;
    return mask;
}

static struct operands draw_operands(enum dtype dtype, size_t heads, size_t queries, size_t keys, size_t d,
                                     double factor)
{
    return (struct operands){.dtype = dtype,
                             .heads = heads,
                             .queries = queries,
                             .keys = keys,
                             .d = d,
                             .query = draw_as(dtype, heads * queries * d, 1, factor),
                             .key = draw_as(dtype, heads * keys * d, 2, 1),
                             .value = draw_as(dtype, heads * keys * d, 3, 1)};
}

/* A job with room for its context, which the caller frees. */
static struct fused_job job_of(const struct operands *operands, const struct kernel *kernel)
{
    return (struct fused_job){
        .query = operands->query,
        .key = operands->key,
        .value = operands->value,
        .context = allocate(operands->heads * operands->queries * operands->d * dtype_size(kernel->number)),
        .heads = operands->heads,
        .queries = operands->queries,
        .keys = operands->keys,
        .d = operands->d,
        .d_v = operands->d,
        .scale = 1 / sqrt((double)operands->d),
        .kernel = kernel};
}

static void free_operands(struct operands *operands)
{
    free(operands->query), free(operands->key), free(operands->value);
    *operands = (struct operands){0};
}

/* The backward pass of a job whose context and lse are there, with room for its gradients. */
static struct fused_backward_job backward_of(const struct operands *operands, const struct fused_job *job,
                                             const void *grad_context)
{
    const size_t size = dtype_size(operands->dtype), queries = operands->heads * operands->queries * operands->d,
                 keys = operands->heads * operands->keys * operands->d;
    return (struct fused_backward_job){.forward = job,
                                       .lse = job->statistics->numbers,
                                       .grad_context = grad_context,
                                       .grad_query = allocate(queries * size),
                                       .grad_key = allocate(keys * size),
                                       .grad_value = allocate(keys * size)};
}

static void free_backward(const struct fused_backward_job *job)
{
    free(job->grad_query), free(job->grad_key), free(job->grad_value);
}

static void run_backward(void *job)
{
    struct error error = {0};
    if (fused_backward(job, &error) != STATUS_OK)
        give_up(error.message);
}

struct request {
    char kernel[32], dtype[8], kind[16];
    size_t heads, tokens, d;
    unsigned threads;
};

/* Row `row` of grad_query of a head, in double; what is drawn here overflows nothing. */
static void exact_grad_query(const struct operands *operands, const struct fused_backward_job *job, size_t head,
                             size_t row, double *sums)
{
    const size_t d = job->forward->d, at = head * job->forward->queries + row, size = 6 * d;
    const struct span span =
        job->forward->mask != NULL ? mask_span(job->forward->mask, 0, row) : (struct span){.end = job->forward->keys};
    double *query = allocate(size * sizeof *query), *key = query + d, *value = key + d, *grad = value + d, bias = 0;
    double *weighted = grad + d, *means = weighted + d, total = 0, delta = 0;
    memset(weighted, 0, 2 * d * sizeof *weighted);
    load_row(operands->dtype, operands->query, at, d, query);
    load_row(operands->dtype, job->grad_context, at, d, grad);
    for (size_t j = span.first; j < span.end; j++) {
        double score = 0, change = 0;
        load_row(operands->dtype, operands->key, head * operands->keys + j, d, key);
        load_row(operands->dtype, operands->value, head * operands->keys + j, d, value);
        for (size_t k = 0; k < d; k++) {
            score += query[k] * key[k];
            change += grad[k] * value[k];
        }
        score *= job->forward->scale;
        const double share = job->forward->softcap > 0 ? tanh(score / job->forward->softcap) : 0;
        if (job->forward->mask != NULL)
            mask_bias(job->forward->mask, 0, head, row, j, 1, &bias);
        const double weight = exp((job->forward->softcap > 0 ? job->forward->softcap * share : score) + bias);
        const double slope = weight * (1 - share * share) * job->forward->scale;
        total += weight;
        delta += weight * change;
        for (size_t k = 0; k < d; k++) {
            weighted[k] += slope * change * key[k];
            means[k] += slope * key[k];
        }
    }
    for (size_t k = 0; k < d; k++)
        sums[k] = (weighted[k] - means[k] * delta / total) / total;
    free(query);
}

static void check_backward(const struct operands *operands, const struct fused_backward_job *job)
{
    const size_t d = job->forward->d;
    double *exact = allocate(2 * d * sizeof *exact), *got = exact + d;
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (job->forward->queries - 1) / (CHECKED_ROWS - 1), head = i % job->forward->heads;
        exact_grad_query(operands, job, head, row, exact);
        load_row(job->forward->kernel->number, job->grad_query, head * job->forward->queries + row, d, got);
        for (size_t c = 0; c < d; c++)
            if (!(fabs(exact[c] - got[c]) <= tolerance(job->forward->kernel)))
                give_up("a row of grad_query differs from the sums in double");
    }
    free(exact);
}

enum measure { ATTENTION, BACKWARD, SCRATCH };

static void measure_backward(const struct operands *operands, struct fused_job *forward, double pairs)
{
    const size_t rows = forward->heads * forward->queries, d = forward->d;
    void *grad_context = draw_as(operands->dtype, rows * d, 4, 1);
    struct fused_statistic lse = stage_statistic(STAGE_LSE);
    lse.dtype = DTYPE_F64;
    lse.numbers = allocate(rows * sizeof(double));
    forward->statistics = &lse;
    forward->statistic_count = 1;
    run_attention(forward);
    struct fused_backward_job job = backward_of(operands, forward, grad_context);
    run_backward(&job);
    check_backward(operands, &job);
    printf("%.1f\n", 10.0 * (double)(forward->heads * d) * pairs / best_of(run_backward, &job) * 1e-9);
    free_backward(&job), free(lse.numbers), free(grad_context);
}

static void attention(const struct request *request, enum measure measure)
{
    const enum dtype dtype = find_dtype(request->dtype);
    const struct kernel *kernel = find_kernel(request->kernel, dtype);
    if (kernel == NULL)
        return;
    double pairs;
    const struct mask mask = make_mask(request->kind, kernel->number, request->tokens, request->heads, &pairs);
    struct operands operands = draw_operands(dtype, request->heads, request->tokens, request->tokens, request->d, 1);
    struct fused_job job = job_of(&operands, kernel);
    job.mask = &mask;
    job.softcap = strcmp(request->kind, "softcap") == 0 ? 30 : 0;
    job.threads = request->threads;
    if (measure == SCRATCH) {
        printf("%zu\n", fused_scratch_bytes(&job));
    } else if (measure == BACKWARD && kernel->differentiate == NULL) {
        printf("missing\n");
    } else if (measure == BACKWARD) {
        measure_backward(&operands, &job, pairs);
    } else {
        run_attention(&job);
        check_attention(&operands, &job);
        printf("%.1f\n", 4.0 * (double)(job.heads * job.d) * pairs / best_of(run_attention, &job) * 1e-9);
    }
    free(job.context), free(mask.attn_mask.data);
    free_operands(&operands);
}

/* --- accuracy
 * ----------------------------------------------------------------------------------------------------
 */

static struct {
    struct operands operands;
    long double *exact; /* (heads, queries, d) */
    double largest;
} accuracy;

static void write_file(const char *folder, const char *name, const void *bytes, size_t length)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        give_up("a file cannot be written");
}

/* The context is the value that all keys have. */
static void constant_task(void *context, size_t task, unsigned thread)
{
    const struct operands *operands = &accuracy.operands;
    double *value = allocate(operands->d * sizeof *value);
    (void)context, (void)thread;
    load_row(operands->dtype, operands->value, 0, operands->d, value);
    for (size_t c = 0; c < operands->d; c++)
        accuracy.exact[task * operands->d + c] = value[c];
    free(value);
}

static void exact_task(void *context, size_t task, unsigned thread)
{
    const struct operands *operands = &accuracy.operands;
    (void)thread;
    exact_row(operands, context, task / operands->queries, task % operands->queries,
              accuracy.exact + task * operands->d);
}

static void draw_case(const char *dtype_word, const char *name, const char *folder)
{
    const bool million = strcmp(name, "million") == 0;
    const enum dtype dtype = find_dtype(dtype_word);
    const size_t size = dtype_size(dtype);
    struct operands *operands = &accuracy.operands;
    free_operands(operands), free(accuracy.exact);
    *operands = draw_operands(dtype, million ? 1 : 2, million ? 4 : 512, million ? 1000000 : 2048, 64,
                              strcmp(name, "tenfold") == 0 ? 10 : 1);
    const size_t d = operands->d, rows = operands->heads * operands->queries, keys = operands->heads * operands->keys;
    const bool constant = strcmp(name, "constant") == 0;
    for (size_t j = 1; constant && j < keys; j++)
        memcpy((char *)operands->value + j * d * size, operands->value, d * size);
    accuracy.exact = allocate(rows * d * sizeof *accuracy.exact);
    struct fused_job job = {.scale = 1 / sqrt((double)d)};
    threads_run(2, rows, constant ? constant_task : exact_task, &job);
    accuracy.largest = 0;
    for (size_t i = 0; i < rows * d; i++)
        accuracy.largest = fmax(accuracy.largest, fabs((double)accuracy.exact[i]));
    write_file(folder, "query", operands->query, rows * d * size);
    write_file(folder, "key", operands->key, keys * d * size);
    write_file(folder, "value", operands->value, keys * d * size);
    printf("%s %zu %zu %zu %zu\n", dtype_word, operands->heads, operands->queries, operands->keys, d);
}

/* The largest error of a context as a share of the largest number: of numbers
 * of `stored`, rounded to `rounded`. */
static double error_of(enum dtype stored, const void *context, enum dtype rounded)
{
    const size_t d = accuracy.operands.d, rows = accuracy.operands.heads * accuracy.operands.queries;
    double *numbers = allocate(d * sizeof *numbers);
    long double worst = 0;
    for (size_t row = 0; row < rows; row++) {
        load_row(stored, context, row, d, numbers);
        dtype_round(rounded, numbers, d);
        for (size_t c = 0; c < d; c++) {
            const long double off = fabsl(accuracy.exact[row * d + c] - numbers[c]);
            worst = off <= worst ? worst : off; /* NaN stays */
        }
    }
    free(numbers);
    if (!(worst < 0.1 * accuracy.largest))
        give_up("the context is nowhere near the exact one");
    return (double)worst / accuracy.largest;
}

static void error_of_kernel(const char *name)
{
    const enum dtype dtype = accuracy.operands.dtype;
    const struct kernel *kernel = find_kernel(name, dtype);
    if (kernel == NULL)
        return;
    struct fused_job job = job_of(&accuracy.operands, kernel);
    job.threads = 2;
    run_attention(&job);
    printf("%.2e %.2e\n", error_of(kernel->number, job.context, kernel->number),
           error_of(kernel->number, job.context, dtype));
    free(job.context);
}

static void error_of_file(const char *path)
{
    const struct operands *operands = &accuracy.operands;
    const size_t bytes = operands->heads * operands->queries * operands->d * dtype_size(operands->dtype);
    void *context = allocate(bytes);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(context, 1, bytes, file) != bytes)
        give_up("a context cannot be read");
    fclose(file);
    printf("%.2e\n", error_of(operands->dtype, context, operands->dtype));
    free(context);
}

/* --- projections
 * -------------------------------------------------------------------------------------------------
 */

struct product {
    struct project_job projection;
    bool blis;
};

static void run_product(void *job)
{
    const struct product *product = job;
    const struct project_job *projection = &product->projection;
    struct error error = {0};
#ifdef HAVE_BLIS
    const int m = (int)projection->d_out, n = (int)projection->rows, k = (int)projection->d_in;
    if (product->blis) { /* row-major y = x . W is column-major y^T = W^T . x^T */
        sgemm_("N", "N", &m, &n, &k, &(const float){1}, projection->weight, &m, projection->x, &k, &(const float){0},
               projection->y, &m);
        return;
    }
#endif
    if (project_compute(projection, &error) != STATUS_OK)
        give_up(error.message);
}

static void check_product(const struct project_job *projection)
{
    const float *x = projection->x, *weight = projection->weight, *y = projection->y;
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (projection->rows - 1) / (CHECKED_ROWS - 1), d_in = projection->d_in;
        for (size_t j = 0; j < projection->d_out; j++) {
            double sum = 0;
            for (size_t k = 0; k < d_in; k++)
                sum += (double)x[row * d_in + k] * weight[k * projection->d_out + j];
            if (!(fabs(sum - y[row * projection->d_out + j]) <= 1e-6 * (double)d_in))
                give_up("a product differs from the sum in double");
        }
    }
}

static void project(const char *isa, size_t rows, size_t d_in, size_t d_out, unsigned threads, bool blis)
{
    float *x = draw(rows * d_in, 1), *weight = draw(d_in * d_out, 2), *y = allocate(rows * d_out * sizeof *y);
    struct product product = {.blis = blis,
                              .projection = {.x = x,
                                             .weight = weight,
                                             .weight_dtype = DTYPE_F32,
                                             .y = y,
                                             .items = 1,
                                             .rows = rows,
                                             .d_in = d_in,
                                             .d_out = d_out,
                                             .d_head = d_out,
                                             .row_stride = d_out,
                                             .threads = threads,
                                             .kernel = find_kernel(isa, DTYPE_F32)}};
    run_product(&product);
    check_product(&product.projection);
    const double operations = 2.0 * (double)rows * (double)d_in * (double)d_out;
    printf("%.1f\n", operations / best_of(run_product, &product) * 1e-9);
    free(x), free(weight), free(y);
}

static void sgemm(size_t rows, size_t d_in, size_t d_out, unsigned threads)
{
#ifdef HAVE_BLIS
    bli_thread_set_num_threads((long)threads);
    project("-", rows, d_in, d_out, threads, true);
#else
    (void)rows, (void)d_in, (void)d_out, (void)threads;
    printf("missing\n");
#endif
}

static void list_isas(bool present)
{
    struct error error = {0};
    for (size_t i = 0; kernel_isa(i) != NULL; i++)
        if ((kernel_check(kernel_isa(i), &error) == STATUS_OK) == present)
            printf("%s ", kernel_isa(i));
    printf("\n");
}

static void list_kernels(enum dtype dtype)
{
    for (size_t i = 0; kernel_row(i) != NULL; i++)
        if (kernel_row(i)->dtype == dtype && kernel_present(kernel_row(i)))
            printf("%s%s ", kernel_row(i)->name, kernel_row(i)->one_part ? "/fast16" : "");
    printf("\n");
}

int main(void)
{
    char line[600], isa[32], dtype[8], folder[512];
    size_t a, b, c;
    unsigned threads;
    struct request request;
    while (fgets(line, sizeof line, stdin) != NULL) {
        char what[16] = "";
        if (sscanf(line, "%15s %31s %7s %zu %zu %zu %15s %u", what, request.kernel, request.dtype, &request.heads,
                   &request.tokens, &request.d, request.kind, &request.threads) == 8)
            attention(&request, strcmp(what, "scratch") == 0    ? SCRATCH
                                : strcmp(what, "backward") == 0 ? BACKWARD
                                                                : ATTENTION);
        else if (sscanf(line, "project %31s %zu %zu %zu %u", isa, &a, &b, &c, &threads) == 5)
            project(isa, a, b, c, threads, false);
        else if (sscanf(line, "sgemm %zu %zu %zu %u", &a, &b, &c, &threads) == 4)
            sgemm(a, b, c, threads);
        else if (sscanf(line, "draw %7s %31s %511s", dtype, isa, folder) == 3)
            draw_case(dtype, isa, folder);
        else if (sscanf(line, "error %31s", isa) == 1)
            error_of_kernel(isa);
        else if (sscanf(line, "compare %511s", folder) == 1)
            error_of_file(folder);
        else if (sscanf(line, "kernels %7s", dtype) == 1)
            list_kernels(find_dtype(dtype));
        else if (strcmp(line, "isas\n") == 0 || strcmp(line, "absent\n") == 0)
            list_isas(line[0] == 'i');
        else
            give_up("this request is unknown");
        fflush(stdout);
    }
    free_operands(&accuracy.operands), free(accuracy.exact);
    return 0;
}
