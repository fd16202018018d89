/* SPDX-License-Identifier: MIT */
/* Makes what whole processes are measured on, checks what they made of it, and is the peer that only reads it:
 *
 *     files make FILE DTYPE HEADS KEY_HEADS QUERIES KEYS D            a .safetensors of query, key and value
 *     files check FILE DTYPE HEADS KEY_HEADS QUERIES KEYS D CAUSAL    the context, the last numbers of FILE: some rows of
 *                                                                     it against sums in double; CAUSAL is 0 or 1
 *     files pair A B COUNT                                            two .npy of float32; each number of B is the next
 *                                                                     above A's
 *     files map FILE THREADS                                          the seconds of reading a mapped file whole
 *     files read FILE                                                 the same by read(2)
 *
 * A file is one run of drawn numbers again and again, of a length that puts no two rows of 128 at the same place in it.
 * Exits 1 where something is wrong, and says what. */
#include "base/threads.h"
#include "model/torch_random.h"
#include "tensor/dtype.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUN = 1000003, CHECKED_ROWS = 8, PIECE = 1 << 20 };

static const double TWICE_ROUNDED = 2e-6; /* what the sums of the fused path may be off, before the result is rounded */

struct job {
    enum dtype dtype;
    size_t heads, key_heads, queries, keys, d;
    double *run; /* (RUN) numbers of the dtype */
};

static void give_up(const char *what)
{
    fprintf(stderr, "files: %s\n", what);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL)
        give_up("no memory");
    return memory;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double *draw_run(enum dtype dtype)
{
    struct torch_random generator;
    float *values = allocate(RUN * sizeof *values);
    double *run = allocate(RUN * sizeof *run);
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, 1);
    torch_random_normal(&generator, values, RUN);
    for (size_t i = 0; i < RUN; i++)
        run[i] = values[i];
    dtype_round(dtype, run, RUN);
    free(values);
    return run;
}

static struct job job_from(char **words)
{
    struct job job = {.dtype = dtype_find(dtype_name, words[0])};
    size_t *const sizes[] = {&job.heads, &job.key_heads, &job.queries, &job.keys, &job.d};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if ((*sizes[i] = strtoul(words[i + 1], NULL, 10)) == 0)
            give_up("a size is no number above 0");
    if (job.dtype == DTYPE_COUNT || !dtype_is_working(job.dtype))
        give_up("this dtype is unknown");
    job.run = draw_run(job.dtype);
    return job;
}

/* --- make and pair ----------------------------------------------------------------------------------------------- */

static FILE *begin(const char *path, const unsigned char *header, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(header, 1, length, file) != length)
        give_up("a file cannot be written");
    return file;
}

/* `count` numbers, the run again and again; then the end of the file. */
static void write_runs(FILE *file, enum dtype dtype, const double *run, size_t count)
{
    const size_t size = dtype_size(dtype);
    unsigned char *bytes = allocate(RUN * size);
    dtype_encode(dtype, run, RUN, bytes);
    for (size_t some; count > 0; count -= some) {
        some = count < RUN ? count : RUN;
        if (fwrite(bytes, size, some, file) != some)
            give_up("a file cannot be written");
    }
    if (fclose(file) != 0)
        give_up("a file cannot be written");
    free(bytes);
}

/* Appends a tensor to the header in `text`; returns where its numbers end. */
static size_t describe(char *text, size_t room, const char *name, const struct job *job, size_t heads, size_t rows,
                       size_t begins)
{
    const size_t length = strlen(text), ends = begins + heads * rows * job->d * dtype_size(job->dtype);
    snprintf(text + length, room - length,
             "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu,%zu],\"data_offsets\":[%zu,%zu]}", begins == 0 ? "{" : ",",
             name, dtype_safetensors(job->dtype), heads, rows, job->d, begins, ends);
    return ends;
}

static void make(const char *path, const struct job *job)
{
    enum { ROOM = 504 };
    unsigned char header[8 + ROOM + 1] = {0};
    char *text = (char *)header + 8;
    size_t end = describe(text, ROOM, "query", job, job->heads, job->queries, 0);
    end = describe(text, ROOM, "key", job, job->key_heads, job->keys, end);
    end = describe(text, ROOM, "value", job, job->key_heads, job->keys, end);
    const size_t length = strlen(text);
    memset(text + length, ' ', ROOM - length);
    text[length] = '}';
    header[0] = ROOM & 0xff;
    header[1] = ROOM >> 8;
    write_runs(begin(path, header, 8 + ROOM), job->dtype, job->run, end / dtype_size(job->dtype));
}

static void pair(const char *a, const char *b, size_t count)
{
    enum { LENGTH = 128, BEFORE = 10 };
    char header[LENGTH + 1] = "\x93NUMPY\x01_v"; /* 118 bytes follow the tenth */
    double *run = draw_run(DTYPE_F32);
    header[7] = 0;
    header[8] = LENGTH - BEFORE;
    header[9] = 0;
    snprintf(header + BEFORE, LENGTH - BEFORE, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu,), }", count);
    const size_t length = BEFORE + strlen(header + BEFORE);
    memset(header + length, ' ', LENGTH - length);
    header[LENGTH - 1] = '\n';
    write_runs(begin(a, (unsigned char *)header, LENGTH), DTYPE_F32, run, count);
    for (size_t i = 0; i < RUN; i++)
        run[i] = nextafterf((float)run[i], INFINITY);
    write_runs(begin(b, (unsigned char *)header, LENGTH), DTYPE_F32, run, count);
    free(run);
}

/* --- check ------------------------------------------------------------------------------------------------------- */

/* sums[c], the context of one query in double; `first` is where the file has query, key and value. */
static void exact_row(const struct job *job, size_t query, size_t key, size_t value, size_t keys, double *sums)
{
    const double scale = 1 / sqrt((double)job->d);
    double total = 0;
    memset(sums, 0, job->d * sizeof *sums);
    for (size_t j = 0; j < keys; j++) {
        double score = 0;
        for (size_t k = 0; k < job->d; k++)
            score += job->run[(query + k) % RUN] * job->run[(key + j * job->d + k) % RUN];
        const double weight = exp(score * scale); /* normals overflow nothing */
        total += weight;
        for (size_t c = 0; c < job->d; c++)
            sums[c] += weight * job->run[(value + j * job->d + c) % RUN];
    }
    for (size_t c = 0; c < job->d; c++)
        sums[c] /= total;
}

static void check_row(const struct job *job, const unsigned char *context, size_t head, size_t row, bool causal)
{
    const size_t d = job->d, at = (head * job->queries + row) * d, of_keys = job->key_heads * job->keys * d;
    const size_t key = job->heads * job->queries * d + head / (job->heads / job->key_heads) * job->keys * d;
    const double rounding = ldexp(1, -dtype_precision(job->dtype));
    double *sums = allocate(2 * d * sizeof *sums), *got = sums + d;
    exact_row(job, at, key, key + of_keys, causal ? row + 1 : job->keys, sums);
    dtype_load(job->dtype, context + at * dtype_size(job->dtype), d, got);
    for (size_t c = 0; c < d; c++)
        if (!(fabs(sums[c] - got[c]) <= TWICE_ROUNDED + rounding * fabs(sums[c]))) {
            fprintf(stderr, "files: context of head %zu, query %zu, column %zu: expected %.9g, got %.9g\n", head, row,
                    c, sums[c], got[c]);
            exit(1);
        }
    free(sums);
}

static void check(const char *path, const struct job *job, bool causal)
{
    const size_t bytes = job->heads * job->queries * job->d * dtype_size(job->dtype);
    unsigned char *context = allocate(bytes);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, -(long)bytes, SEEK_END) != 0 || fread(context, 1, bytes, file) != bytes)
        give_up("the result cannot be read");
    fclose(file);
    for (size_t i = 0; i < CHECKED_ROWS; i++)
        check_row(job, context, i * (job->heads - 1) / (CHECKED_ROWS - 1),
                  (i * 5 % CHECKED_ROWS) * (job->queries - 1) / (CHECKED_ROWS - 1), causal);
    free(context);
}

/* --- read -------------------------------------------------------------------------------------------------------- */

struct reading {
    const unsigned char *bytes;
    size_t length;
};

static uint64_t folded(const unsigned char *bytes, size_t length)
{
    uint64_t lanes[16] = {0}, words[16];
    for (size_t i = 0; i + sizeof words <= length; i += sizeof words) {
        memcpy(words, bytes + i, sizeof words);
        for (size_t lane = 0; lane < 16; lane++)
            lanes[lane] ^= words[lane];
    }
    for (size_t lane = 1; lane < 16; lane++)
        lanes[0] ^= lanes[lane];
    return lanes[0];
}

static void read_piece(void *context, size_t task, unsigned thread)
{
    static volatile uint64_t results[256];
    const struct reading *reading = context;
    const size_t from = task * PIECE, left = reading->length - from;
    results[thread % 256] ^= folded(reading->bytes + from, left < PIECE ? left : PIECE);
}

static void map_file(int file, size_t length, unsigned threads)
{
    const void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        give_up("the file cannot be mapped");
    struct reading reading = {bytes, length};
    threads_run(threads, (length + PIECE - 1) / PIECE, read_piece, &reading);
}

static void read_file(int file)
{
    unsigned char *piece = allocate(PIECE);
    while (read(file, piece, PIECE) > 0)
        continue;
    free(piece);
}

static void read_whole(const char *path, unsigned threads)
{
    struct stat about;
    const double start = now();
    const int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0)
        give_up("the file cannot be opened");
    if (threads > 0)
        map_file(file, (size_t)about.st_size, threads);
    else
        read_file(file);
    printf("%.4f\n", now() - start);
    close(file);
}

int main(int argc, char **argv)
{
    const char *command = argc > 2 ? argv[1] : "";
    if (argc == 9 && strcmp(command, "make") == 0) {
        struct job job = job_from(argv + 3);
        make(argv[2], &job);
        free(job.run);
    } else if (argc == 10 && strcmp(command, "check") == 0) {
        struct job job = job_from(argv + 3);
        check(argv[2], &job, strcmp(argv[9], "1") == 0);
        free(job.run);
    } else if (argc == 5 && strcmp(command, "pair") == 0) {
        pair(argv[2], argv[3], strtoul(argv[4], NULL, 10));
    } else if (argc == 4 && strcmp(command, "map") == 0) {
        read_whole(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    } else if (argc == 3 && strcmp(command, "read") == 0) {
        read_whole(argv[2], 0);
    } else {
        give_up("this command line is unknown");
    }
    return 0;
}
