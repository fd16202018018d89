/* Measures the fused path, on request: it reads lines from standard input and answers each with one line, so that a
 * script can measure it and its peers in turn.
 *
 *     attention ISA HEADS TOKENS D CAUSAL THREADS    GF/s of 4 H T^2 D operations, half where CAUSAL is 1
 *     masked ISA HEADS TOKENS D THREADS FEATURE      GF/s of a causal job, counted for the keys that its queries see, with
 *                                                    FEATURE: window (1024 keys), lengths (about half, not causal),
 *                                                    matrix (a boolean attn_mask), alibi, softcap, groups
 *     scratch ISA HEADS TOKENS D CAUSAL THREADS      bytes that the same job allocates
 *     project ISA ROWS D_IN D_OUT THREADS            GF/s of 2 ROWS D_IN D_OUT operations
 *     sgemm ROWS D_IN D_OUT THREADS                  the same by BLIS; "missing" where it was built without
 *     isas                                           the instruction sets that this processor has
 *
 * ISA "-" is the fastest. Each result is checked against sums in double before it is timed: an answer that begins with
 * "wrong" says what was found. A figure is the best of the runs that a short while allows. */
#include "fused.h"
#include "generator.h"

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
    struct generator generator;
    float *values = allocate(count);
    generator_seed(&generator, GENERATOR_TORCH, seed);
    generator_normal(&generator, values, count);
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

/* What the mask leaves of a query's keys, and adds to them: bias (Tk) written. */
static struct span see(const struct fused_job *job, size_t head, size_t row, double *bias)
{
    struct span span = {0, job->keys};
    if (job->mask != NULL)
        span = mask_span(job->mask, 0, row);
    if (job->mask != NULL)
        mask_bias(job->mask, 0, head, row, 0, job->keys, bias);
    return span;
}

/* The largest error of one row of one head. */
static double row_error(const struct fused_job *job, size_t head, size_t row)
{
    const size_t d = job->d, key_head = head / (job->group > 0 ? job->group : 1);
    const float *query = job->query + (head * job->queries + row) * d, *key = job->key + key_head * job->keys * d;
    const float *value = job->value + key_head * job->keys * d;
    const float *context = job->context + (head * job->queries + row) * d;
    double *sums = calloc(d, sizeof *sums), *bias = calloc(job->keys, sizeof *bias), total = 0, worst = 0;
    if (sums == NULL || bias == NULL)
        give_up("no memory");
    const struct span span = see(job, head, row, bias);
    for (size_t j = span.first; j < span.end; j++) {
        double score = 0;
        for (size_t k = 0; k < d; k++)
            score += (double)query[k] * key[j * d + k];
        score *= job->scale;
        if (job->softcap > 0)
            score = job->softcap * tanh(score / job->softcap);
        const double weight = exp(score + bias[j]); /* normals of these sizes overflow nothing */
        total += weight;
        for (size_t c = 0; c < d; c++)
            sums[c] += weight * value[j * d + c];
    }
    for (size_t c = 0; c < d; c++)
        if (!(fabs(sums[c] / total - context[c]) <= worst))
            worst = fabs(sums[c] / total - context[c]);
    free(sums);
    free(bias);
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

/* Of 4 H T^2 D the share that the queries see. */
static double operations(const struct fused_job *job)
{
    double keys = 0;
    for (size_t row = 0; row < job->queries; row++) {
        const struct span span = job->mask != NULL ? mask_span(job->mask, 0, row) : (struct span){0, job->keys};
        keys += (double)(span.end - span.first);
    }
    return 4.0 * (double)job->heads * keys * (double)job->d;
}

static struct mask open_mask(size_t tokens)
{
    return (struct mask){.queries = tokens, .keys = tokens, .left = -1, .right = -1, .masked_keys = tokens};
}

static void attend(struct fused_job *job, bool scratch)
{
    const size_t count = job->heads * job->queries * job->d;
    float *query = draw(count, 1), *key = draw(count, 2), *value = draw(count, 3), *context = allocate(count);
    job->query = query;
    job->key = key;
    job->value = value;
    job->context = context;
    job->scale = 1 / sqrt((double)job->d);
    if (scratch) {
        printf("%zu\n", fused_scratch_bytes(job));
    } else {
        run_attention(job);
        check_attention(job);
        printf("%.1f\n", operations(job) / best_of(run_attention, job) * 1e-9);
    }
    free(query), free(key), free(value), free(context);
}

static struct fused_job square_job(const char *isa, size_t heads, size_t tokens, size_t d, unsigned threads)
{
    return (struct fused_job){.heads = heads,
                              .queries = tokens,
                              .keys = tokens,
                              .d = d,
                              .d_v = d,
                              .threads = threads,
                              .kernel = find_kernel(isa)};
}

static void attention(const char *isa, size_t heads, size_t tokens, size_t d, bool causal, unsigned threads,
                      bool scratch)
{
    struct fused_job job = square_job(isa, heads, tokens, d, threads);
    struct mask mask = open_mask(tokens);
    mask.causal = true;
    job.mask = causal ? &mask : NULL;
    attend(&job, scratch);
}

/* A causal rule as a boolean matrix. */
static uint8_t *causal_matrix(size_t tokens)
{
    uint8_t *matrix = malloc(tokens * tokens);
    if (matrix == NULL)
        give_up("no memory");
    for (size_t i = 0; i < tokens; i++)
        for (size_t j = 0; j < tokens; j++)
            matrix[i * tokens + j] = j <= i;
    return matrix;
}

static void masked(const char *isa, size_t heads, size_t tokens, size_t d, unsigned threads, const char *feature)
{
    static const double SLOPE[64] = {0.01};
    const int64_t length = (int64_t)tokens / 2 + 7;
    struct fused_job job = square_job(isa, heads, tokens, d, threads);
    struct mask mask = open_mask(tokens);
    uint8_t *matrix = NULL;
    mask.causal = true;
    job.mask = &mask;
    if (strcmp(feature, "window") == 0) {
        mask.left = 1024;
    } else if (strcmp(feature, "lengths") == 0) {
        mask.causal = false;
        mask.lengths = &length;
    } else if (strcmp(feature, "matrix") == 0) {
        matrix = causal_matrix(tokens);
        mask.attn_mask = (struct tensor){.rank = 2, .shape = {tokens, tokens}, .dtype = DTYPE_BOOL, .data = matrix};
        mask.strides[2] = tokens;
        mask.strides[3] = 1;
    } else if (strcmp(feature, "alibi") == 0) {
        mask.alibi_slopes = SLOPE;
    } else if (strcmp(feature, "softcap") == 0) {
        job.softcap = 20;
    } else if (strcmp(feature, "groups") == 0) {
        job.group = heads;
    } else {
        give_up("this feature is unknown");
    }
    attend(&job, false);
    free(matrix);
}

/* --- projections ------------------------------------------------------------------------------------------------- */

struct product {
    struct fused_projection projection;
    bool blis;
};

static void run_product(void *job)
{
    const struct product *product = job;
    const struct fused_projection *projection = &product->projection;
    struct error error = {0};
#ifdef HAVE_BLIS
    const int m = (int)projection->d_out, n = (int)projection->rows, k = (int)projection->d_in;
    if (product->blis) { /* row-major y = x . W is column-major y^T = W^T . x^T */
        sgemm_("N", "N", &m, &n, &k, &(const float){1}, projection->weight, &m, projection->x, &k, &(const float){0},
               projection->y, &m);
        return;
    }
#endif
    if (fused_project(projection, &error) != STATUS_OK)
        give_up(error.message);
}

static void check_product(const struct fused_projection *projection)
{
    for (size_t i = 0; i < CHECKED_ROWS; i++) {
        const size_t row = i * (projection->rows - 1) / (CHECKED_ROWS - 1), d_in = projection->d_in;
        for (size_t j = 0; j < projection->d_out; j++) {
            double sum = 0;
            for (size_t k = 0; k < d_in; k++)
                sum += (double)projection->x[row * d_in + k] * projection->weight[k * projection->d_out + j];
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
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    struct error error = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (kernel_choose(names[i], &error) != NULL)
            printf("%s ", names[i]);
    printf("\n");
}

int main(void)
{
    char line[256], isa[16], feature[16];
    size_t a, b, c;
    int causal;
    unsigned threads;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "attention %15s %zu %zu %zu %d %u", isa, &a, &b, &c, &causal, &threads) == 6)
            attention(isa, a, b, c, causal != 0, threads, false);
        else if (sscanf(line, "scratch %15s %zu %zu %zu %d %u", isa, &a, &b, &c, &causal, &threads) == 6)
            attention(isa, a, b, c, causal != 0, threads, true);
        else if (sscanf(line, "masked %15s %zu %zu %zu %u %15s", isa, &a, &b, &c, &threads, feature) == 6)
            masked(isa, a, b, c, threads, feature);
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
