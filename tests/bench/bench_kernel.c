/* Measures the fused path, on request: it reads lines from standard input and answers each with one line, so that a
 * script can measure it and its peers in turn.
 *
 *     attention ISA HEADS TOKENS D CAUSAL THREADS    GF/s of 4 H T^2 D operations, half where CAUSAL is 1
 *     scratch ISA HEADS TOKENS D CAUSAL THREADS      bytes that the same job allocates
 *     masked ISA HEADS TOKENS D KIND THREADS         GF/s of 4 H D operations for each key that a query sees: KIND is
 *                                                    whole, causal, past, window, lengths, boolean, float, alibi, softcap
 *     project ISA ROWS D_IN D_OUT THREADS            GF/s of 2 ROWS D_IN D_OUT operations
 *     sgemm ROWS D_IN D_OUT THREADS                  the same by BLIS; "missing" where it was built without
 *     isas                                           the instruction sets that this processor has
 *
 * ISA "-" is the fastest. Each result is checked against sums in double before it is timed: an answer that begins with
 * "wrong" says what was found. A figure is the best of the runs that a short while allows. */
#include "kernel/fused.h"
#include "kernel/project.h"
#include "model/torch_random.h"

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

static const double SECONDS = 0.5;
enum { LEAST_RUNS = 2, CHECKED_ROWS = 16 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void give_up(const char *what)
{
    printf("wrong: %s\n", what);
    exit(1);
}

static float *allocate(size_t count)
{
    float *values = aligned_alloc(64, (count * sizeof *values + 63) / 64 * 64);
    if (values == NULL)
        give_up("no memory");
    return values;
}

static float *draw(size_t count, uint64_t seed)
{
    struct torch_random generator;
    float *values = allocate(count);
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, seed);
    torch_random_normal(&generator, values, count);
    return values;
}

/* Seconds of the best run. */
static double best_of(void (*run)(void *job), void *job)
{
    double best = INFINITY, begin = now();
    for (int runs = 0; runs < LEAST_RUNS || now() - begin < SECONDS; runs++) {
        const double start = now();
        run(job);
        const double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static const struct kernel *find_kernel(const char *isa)
{
    struct error error = {0};
    const struct kernel *kernel = kernel_choose(strcmp(isa, "-") == 0 ? NULL : isa, &error);
    if (kernel == NULL)
        give_up(error.message);
    return kernel;
}

/* --- attention --------------------------------------------------------------------------------------------------- */

static void run_attention(void *job)
{
    struct error error = {0};
    if (fused_context(job, &error) != STATUS_OK)
        give_up(error.message);
}

/* The largest error of one row of one head. */
static double row_error(const struct fused_job *job, size_t head, size_t row)
{
    const size_t d = job->d;
    const struct span span = mask_span(job->mask, 0, row);
    const float *query = job->query + (head * job->queries + row) * d, *key = job->key + head * job->keys * d;
    const float *value = job->value + head * job->keys * d, *context = job->context + (head * job->queries + row) * d;
    double *sums = calloc(d, sizeof *sums), total = 0, worst = 0;
    if (sums == NULL)
        give_up("no memory");
    for (size_t j = span.first; j < span.end; j++) {
        double score = 0, bias;
        for (size_t k = 0; k < d; k++)
            score += (double)query[k] * key[j * d + k] * job->scale;
        mask_bias(job->mask, 0, head, row, j, 1, &bias);
        score = job->softcap > 0 ? job->softcap * tanh(score / job->softcap) : score;
        const double weight = exp(score + bias); /* normals of these sizes overflow nothing */
        total += weight;
        for (size_t c = 0; c < d; c++)
            sums[c] += weight * value[j * d + c];
    }
    for (size_t c = 0; c < d; c++)
        if (!(fabs(sums[c] / total - context[c]) <= worst))
            worst = fabs(sums[c] / total - context[c]);
    free(sums);
    return worst;
}

static void check_attention(const struct fused_job *job)
{
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (job->queries - 1) / (CHECKED_ROWS - 1), head = i % job->heads;
        if (!(row_error(job, head, row) <= 2e-6))
            give_up("a row of the context differs from the sums in double by more than 2e-6");
    }
}

/* A causal attn_mask, (T, T), of that dtype: F32 or BOOL. */
static struct tensor causal_tensor(enum dtype dtype, size_t tokens)
{
    float *data = allocate(tokens * tokens);
    for (size_t i = 0; i < tokens * tokens; i++)
        if (dtype == DTYPE_BOOL)
            ((uint8_t *)data)[i] = i % tokens <= i / tokens;
        else
            data[i] = i % tokens <= i / tokens ? 0 : -INFINITY;
    return (struct tensor){.rank = 2, .shape = {tokens, tokens}, .dtype = dtype, .data = data};
}

/* The mask of that kind; the operations of 4 H D that its keys are go to *pairs. */
static struct mask make_mask(const char *kind, size_t tokens, size_t heads, double *pairs)
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
        mask.attn_mask = causal_tensor(boolean ? DTYPE_BOOL : DTYPE_F32, tokens);
    mask.strides[2] = tokens;
    mask.strides[3] = 1;
    return mask;
}

static void attention(const char *isa, size_t heads, size_t tokens, size_t d, const char *kind, unsigned threads,
                      bool scratch)
{
    const size_t count = heads * tokens * d;
    double pairs;
    float *query = draw(count, 1), *key = draw(count, 2), *value = draw(count, 3), *context = allocate(count);
    const struct mask mask = make_mask(kind, tokens, heads, &pairs);
    struct fused_job job = {.query = query,
                            .key = key,
                            .value = value,
                            .context = context,
                            .heads = heads,
                            .queries = tokens,
                            .keys = tokens,
                            .d = d,
                            .d_v = d,
                            .mask = &mask,
                            .scale = 1 / sqrt((double)d),
                            .softcap = strcmp(kind, "softcap") == 0 ? 30 : 0,
                            .threads = threads,
                            .kernel = find_kernel(isa)};
    if (scratch) {
        printf("%zu\n", fused_scratch_bytes(&job));
    } else {
        run_attention(&job);
        check_attention(&job);
        printf("%.1f\n", 4.0 * (double)(heads * d) * pairs / best_of(run_attention, &job) * 1e-9);
    }
    free(query), free(key), free(value), free(context), free(mask.attn_mask.data);
}

/* --- projections ------------------------------------------------------------------------------------------------- */

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
    const float *weight = projection->weight;
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (projection->rows - 1) / (CHECKED_ROWS - 1), d_in = projection->d_in;
        for (size_t j = 0; j < projection->d_out; j++) {
            double sum = 0;
            for (size_t k = 0; k < d_in; k++)
                sum += (double)projection->x[row * d_in + k] * weight[k * projection->d_out + j];
            if (!(fabs(sum - projection->y[row * projection->d_out + j]) <= 1e-6 * (double)d_in))
                give_up("a product differs from the sum in double");
        }
    }
}

static void project(const char *isa, size_t rows, size_t d_in, size_t d_out, unsigned threads, bool blis)
{
    float *x = draw(rows * d_in, 1), *weight = draw(d_in * d_out, 2), *y = allocate(rows * d_out);
    struct product product = {.blis = blis,
                              .projection = {.x = x,
                                             .weight = weight,
                                             .y = y,
                                             .items = 1,
                                             .rows = rows,
                                             .d_in = d_in,
                                             .d_out = d_out,
                                             .d_head = d_out,
                                             .row_stride = d_out,
                                             .threads = threads,
                                             .kernel = find_kernel(isa)}};
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

static void list_isas(void)
{
    struct error error = {0};
    for (size_t i = 0; kernel_isa(i) != NULL; i++)
        if (kernel_choose(kernel_isa(i), &error) != NULL)
            printf("%s ", kernel_isa(i));
    printf("\n");
}

int main(void)
{
    char line[256], isa[16], kind[16];
    size_t a, b, c;
    int causal;
    unsigned threads;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "attention %15s %zu %zu %zu %d %u", isa, &a, &b, &c, &causal, &threads) == 6)
            attention(isa, a, b, c, causal != 0 ? "causal" : "whole", threads, false);
        else if (sscanf(line, "scratch %15s %zu %zu %zu %d %u", isa, &a, &b, &c, &causal, &threads) == 6)
            attention(isa, a, b, c, causal != 0 ? "causal" : "whole", threads, true);
        else if (sscanf(line, "masked %15s %zu %zu %zu %15s %u", isa, &a, &b, &c, kind, &threads) == 6)
            attention(isa, a, b, c, kind, threads, false);
        else if (sscanf(line, "project %15s %zu %zu %zu %u", isa, &a, &b, &c, &threads) == 5)
            project(isa, a, b, c, threads, false);
        else if (sscanf(line, "sgemm %zu %zu %zu %u", &a, &b, &c, &threads) == 4)
            sgemm(a, b, c, threads);
        else if (strcmp(line, "isas\n") == 0)
            list_isas();
        else
            give_up("this request is unknown");
        fflush(stdout);
    }
    return 0;
}
