/* SPDX-License-Identifier: MIT */
/* What attn says of wrong tables (src/observe): each is made here from right numbers, by an attention of its own, and
 * the lines are compared. Right tables have no line. */
#include "check.h"
#include "observe/observe.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- attention, in double ---------------------------------------------------------------------------------------- */

struct sizes {
    size_t items, heads, kv_heads, queries, keys, d, d_value;
    bool causal;
};

/* A job and its right tables, each (items, heads, rows, columns). */
struct job {
    struct sizes size;
    double *query, *key, *value, *scaled, *weights, *context;
    struct made made;
};

static uint64_t state;

/* Between -1 and 1. */
static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-52 - 1;
}

static double *numbers(size_t count)
{
    double *list = calloc(count, sizeof *list);
    if (list == NULL)
        abort();
    return list;
}

static double *drawn(size_t count)
{
    double *list = numbers(count);
    for (size_t i = 0; i < count; i++)
        list[i] = (double)(float)(2 * draw());
    return list;
}

/* One query of a head, with the keys from `first` to below `end`. */
static void attend(const struct job *job, const double *query, size_t kv, size_t first, size_t end, double *scaled,
                   double *weights, double *context)
{
    const struct sizes *size = &job->size;
    const double *key = job->key + kv * size->keys * size->d, *value = job->value + kv * size->keys * size->d_value;
    const double scale = 1 / sqrt((double)size->d);
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < size->keys; j++) {
        scaled[j] = 0;
        for (size_t c = 0; c < size->d; c++)
            scaled[j] += scale * query[c] * key[j * size->d + c];
        if (j >= first && j < end)
            most = fmax(most, scaled[j]);
    }
    for (size_t j = 0; j < size->keys; j++)
        sum += weights[j] = j >= first && j < end ? exp(scaled[j] - most) : 0;
    for (size_t c = 0; c < size->d_value; c++)
        context[c] = 0;
    for (size_t j = 0; j < size->keys; j++) {
        weights[j] /= sum;
        for (size_t c = 0; c < size->d_value; c++)
            context[c] += weights[j] * value[j * size->d_value + c];
    }
}

static void attend_row(const struct job *job, size_t line, size_t first, size_t end, double *scaled, double *weights,
                       double *context)
{
    const struct sizes *size = &job->size;
    const size_t head = line / size->queries;
    const size_t kv = head / size->heads * size->kv_heads + head % size->heads / (size->heads / size->kv_heads);
    attend(job, job->query + line * size->d, kv, first, end, scaled, weights, context);
}

static size_t keys_of(const struct sizes *size, size_t line)
{
    return size->causal ? line % size->queries + 1 : size->keys;
}

/* Adds "name": [[[[...]]]] to a JSON text. */
static char *add_json(char *at, const char *name, const double *list, const size_t shape[4])
{
    size_t i = 0;
    at += sprintf(at, "%c\"%s\": ", at[-1] == '\0' ? '{' : ',', name);
    for (size_t b = 0; b < shape[0]; b++)
        for (size_t h = 0; h < shape[1]; h++)
            for (size_t r = 0; r < shape[2]; r++)
                for (size_t c = 0; c < shape[3]; c++, i++) {
                    const bool first[] = {i == 0, h + r + c == 0, r + c == 0, c == 0};
                    at += sprintf(at, "%s", i > 0 ? "," : "");
                    for (size_t k = 0; k < 4; k++)
                        at += first[k] ? sprintf(at, "[") : 0;
                    at += sprintf(at, "%.9g", list[i]);
                    const bool last[] = {c + 1 == shape[3], c + 1 == shape[3] && r + 1 == shape[2],
                                         c + 1 == shape[3] && r + 1 == shape[2] && h + 1 == shape[1],
                                         i + 1 == shape[0] * shape[1] * shape[2] * shape[3]};
                    for (size_t k = 0; k < 4; k++)
                        at += last[k] ? sprintf(at, "]") : 0;
                }
    return at;
}

static void job_make(struct job *job, struct sizes size)
{
    const size_t lines = size.items * size.heads * size.queries, kv = size.items * size.kv_heads * size.keys;
    char *json = malloc(32 * (lines * size.d + kv * (size.d + size.d_value)) + 100);
    *job = (struct job){.size = size};
    job->query = drawn(lines * size.d);
    job->key = drawn(kv * size.d);
    job->value = drawn(kv * size.d_value);
    job->scaled = numbers(lines * size.keys);
    job->weights = numbers(lines * size.keys);
    job->context = numbers(lines * size.d_value);
    for (size_t i = 0; i < lines; i++)
        attend_row(job, i, 0, keys_of(&size, i), job->scaled + i * size.keys, job->weights + i * size.keys,
                   job->context + i * size.d_value);
    json[0] = '\0';
    char *at = add_json(json + 1, "query", job->query, (size_t[]){size.items, size.heads, size.queries, size.d});
    at = add_json(at, "key", job->key, (size_t[]){size.items, size.kv_heads, size.keys, size.d});
    at = add_json(at, "value", job->value, (size_t[]){size.items, size.kv_heads, size.keys, size.d_value});
    strcpy(at, "}");
    CHECK(support_make(&job->made, size.causal ? "sdpa --causal" : "sdpa", json + 1) == STATUS_OK, "%s",
          job->made.error.message);
    free(json);
}

static void job_free(struct job *job)
{
    free(job->query);
    free(job->key);
    free(job->value);
    free(job->scaled);
    free(job->weights);
    free(job->context);
    arena_free(&job->made.arena);
}

/* --- a table ----------------------------------------------------------------------------------------------------- */

struct table {
    struct job *job;
    enum stage stage;
    size_t size[4], count;
    double *right, *mine, *tolerance;
};

/* A copy of the right table, to be made wrong. */
static struct table table_of(struct job *job, enum stage stage)
{
    const struct sizes *size = &job->size;
    const bool square = stage != STAGE_CONTEXT;
    struct table table = {job,
                          stage,
                          {size->items, size->heads, size->queries, square ? size->keys : size->d_value},
                          1,
                          stage == STAGE_CONTEXT   ? job->context
                          : stage == STAGE_WEIGHTS ? job->weights
                                                   : job->scaled,
                          NULL,
                          NULL};
    for (size_t i = 0; i < 4; i++)
        table.count *= table.size[i];
    table.mine = numbers(table.count);
    table.tolerance = numbers(table.count);
    for (size_t i = 0; i < table.count; i++) {
        table.mine[i] = table.right[i];
        table.tolerance[i] = 4e-6 * (fabs(table.right[i]) + 0.1);
    }
    return table;
}

/* Number i as (item, head, row, column). */
static double *at(struct table *table, size_t item, size_t head, size_t row, size_t column)
{
    return table->mine + ((item * table->size[1] + head) * table->size[2] + row) * table->size[3] + column;
}

static void describe(struct table *table, struct observations *list)
{
    struct made *made = &table->job->made;
    struct observed observed = {.right = {.stage = table->stage, .numbers = table->right},
                                .mine = table->mine,
                                .tolerance = table->tolerance,
                                .most_rms = 0.5,
                                .dtype = DTYPE_F64, /* of the job: its numbers may be kept in float32 */
                                .problem = &made->problem,
                                .arena = &made->arena,
                                .error = &made->error};
    memcpy(observed.right.size, table->size, sizeof table->size);
    CHECK(observe(&observed, list) == STATUS_OK, "%s", made->error.message);
}

/* Whether a kind only says what holds for nearly any wrong table. */
static bool is_property(const char *name)
{
    static const char *const NAMES[] = {"sums", "negative", "masked", "hull"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    return false;
}

/* Ends a table: its first line is this one, with that place; NULL: it has none, but properties. */
static void expect(struct table *table, const char *name, const char *where, const char *text)
{
    struct observations list;
    check_begin("%s: %s", stage_name(table->stage), text != NULL ? text : "right");
    describe(table, &list);
    size_t count = list.count;
    while (text == NULL && count > 0 && is_property(list.lines[count - 1].name))
        count--;
    CHECK_TEXT(text, count > 0 ? list.lines[0].text : NULL);
    if (text != NULL && list.count > 0) {
        CHECK_TEXT(name, list.lines[0].name);
        CHECK_TEXT(where, list.lines[0].where);
    }
    for (size_t i = 1; i < list.count; i++)
        printf("  and: %s\n", list.lines[i].text);
    free(table->mine);
    free(table->tolerance);
}

static const struct sizes WIDE = {2, 4, 2, 64, 64, 8, 8, true}, SMALL = {1, 2, 2, 6, 6, 4, 3, true},
                          PLAIN = {1, 3, 3, 12, 20, 6, 5, false};

static void copy_row(struct table *table, size_t to, size_t from)
{
    for (size_t i = 0; i < table->size[0]; i++)
        for (size_t h = 0; h < table->size[1]; h++)
            for (size_t c = 0; c < table->size[3]; c++)
                *at(table, i, h, to, c) = table->right[at(table, i, h, from, c) - table->mine];
}

static void test_parts(void)
{
    struct job job;
    struct table t;
    job_make(&job, WIDE);
    t = table_of(&job, STAGE_CONTEXT);
    expect(&t, NULL, NULL, NULL);
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t r = 32; r < 48; r++)
        copy_row(&t, r, r - 16);
    expect(&t, "copy", "rows 33 to 48", "rows 33 to 48 are those of rows 17 to 32; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t r = 0; r < 64; r++)
        copy_row(&t, r, 63 - r);
    expect(&t, "copy", "", "the rows are in reverse order");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t r = 0; r < 64; r++)
        copy_row(&t, r, (r + 61) % 64);
    expect(&t, "copy", "", "the rows are rolled by 3: row 1 is row 62");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < 2; i++)
        memcpy(at(&t, i, 1, 0, 0), t.right + (at(&t, i, 0, 0, 0) - t.mine), 64 * 8 * sizeof(double));
    expect(&t, "copy", "head 2", "head 2 is head 1; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    memset(at(&t, 1, 2, 40, 0), 0, 8 * 8 * sizeof(double));
    expect(&t, "value", "item 2, head 3, rows 41 to 48 (a tile of 8)",
           "item 2, head 3, rows 41 to 48 (a tile of 8) are all 0; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count; i++)
        if (i / 8 % 64 % 16 != 15)
            t.mine[i] += 0.01 * draw();
    expect(&t, "part", "the rows whose number of keys is no multiple of 16",
           "the rows whose number of keys is no multiple of 16 are wrong; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count; i++)
        if (i / 8 % 64 > 31)
            t.mine[i] += 0.01 * draw();
    expect(&t, "part", "rows 33 to 64 (a tile of 32)", "rows 33 to 64 (a tile of 32) are wrong; all others are right");
    t = table_of(&job, STAGE_WEIGHTS);
    for (size_t i = 0; i < t.count; i++)
        if (i % 64 == 5 && t.mine[i] > 0)
            t.mine[i] = NAN;
    expect(&t, "value", "rows 6 to 64, key 6", "rows 6 to 64, key 6 is NaN; all others are right");
    job_free(&job);
}

/* Numbers of other heads and rows: added, or in place of all. And rows of zeros, which any masked keys have. */
static void test_others(void)
{
    static const struct sizes ODD = {1, 2, 2, 28, 28, 4, 4, true};
    struct job job;
    struct table t;
    job_make(&job, ODD);
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count / 2; i++)
        t.mine[t.count / 2 + i] += 0.5 * t.right[i];
    expect(&t, "plus", "head 2",
           "head 2 is the right numbers plus 1/2 times those of the head before; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 4; i < t.count; i++)
        t.mine[i] -= i / 4 % 28 > 0 ? t.right[i - 4] : 0;
    expect(&t, "plus", "rows 2 to 28",
           "rows 2 to 28 are the right numbers minus those of the row before; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 4; i < t.count; i++)
        t.mine[i] += i / 4 % 28 > 0 ? t.mine[i - 4] : 0;
    expect(&t, "plus", "rows 2 to 28",
           "rows 2 to 28 are the right numbers plus those of all rows before; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count / 2; i++)
        t.mine[i] = t.mine[t.count / 2 + i] = (t.right[i] + t.right[t.count / 2 + i]) / 2;
    expect(&t, "alike", "", "all heads are the same");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] += i / 4 % 28 >= 16 ? draw() : 0;
    expect(&t, "part", "rows 17 to 28 (the rest after tiles of 16)",
           "rows 17 to 28 (the rest after tiles of 16) are wrong; all others are right");
    t = table_of(&job, STAGE_WEIGHTS);
    for (size_t h = 0; h < 2; h++)
        memset(at(&t, 0, h, 8, 0), 0, (size_t)4 * 28 * sizeof(double));
    expect(&t, "value", "rows 9 to 12", "rows 9 to 12 are all 0; all others are right");
    job_free(&job);
}

/* Makes a head's rows with the keys of one head of key, and the values of another. */
static void read_heads(struct table *table, size_t head, size_t of_keys, size_t of_values)
{
    const struct job *job = table->job;
    const struct sizes *size = &job->size;
    double *scaled = numbers(size->keys), *weights = numbers(size->keys), *context = numbers(size->d_value);
    for (size_t b = 0; b < size->items; b++)
        for (size_t r = 0; r < size->queries; r++) {
            const size_t line = (b * size->heads + head) * size->queries + r;
            const double *value = job->value + (b * size->kv_heads + of_values) * size->keys * size->d_value;
            attend(job, job->query + line * size->d, b * size->kv_heads + of_keys, 0, keys_of(size, line), scaled,
                   weights, context);
            for (size_t c = 0; c < table->size[3]; c++) {
                double *number = at(table, b, head, r, c);
                *number = table->stage == STAGE_WEIGHTS ? weights[c] : 0;
                for (size_t j = 0; j < size->keys && table->stage != STAGE_WEIGHTS; j++)
                    *number += weights[j] * value[j * size->d_value + c];
            }
        }
    free(scaled);
    free(weights);
    free(context);
}

static void test_heads(void)
{
    struct job job;
    struct table t;
    job_make(&job, WIDE);
    t = table_of(&job, STAGE_WEIGHTS);
    read_heads(&t, 2, 0, 1);
    expect(&t, "heads", "head 3, rows 2 to 64",
           "head 3, rows 2 to 64 are right with the keys of key head 1, not 2; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    read_heads(&t, 1, 1, 0);
    expect(&t, "heads", "head 2, rows 2 to 64",
           "head 2, rows 2 to 64 are right with the keys of key head 2, not 1; all others are right");
    t = table_of(&job, STAGE_CONTEXT);
    for (size_t h = 0; h < 4; h++)
        read_heads(&t, h, h / 2, 1 - h / 2);
    expect(&t, "heads", "", "all numbers are right with the values of key heads 1 further on");
    job_free(&job);
    job_make(&job, PLAIN);
    t = table_of(&job, STAGE_CONTEXT);
    read_heads(&t, 2, 0, 0);
    expect(&t, "heads", "head 3", "head 3 is right with the keys and values of head 1, not 3; all others are right");
    job_free(&job);
}

/* How a kernel misreads column c of key j: the source of the number; SIZE_MAX: 0. */
static size_t first_six(size_t j, size_t c)
{
    return c < 6 ? j * 8 + c : SIZE_MAX;
}

static size_t pairs_exchanged(size_t j, size_t c)
{
    return j * 8 + (c ^ 2);
}

static size_t first_exchanged(size_t j, size_t c)
{
    return j * 8 + (c < 2 ? 1 - c : c);
}

static size_t transposed(size_t j, size_t c)
{
    return (j / 4 * 4 + c % 4) * 8 + c / 4 * 4 + j % 4;
}

/* Makes all rows of a context of WIDE with keys or values that are misread, and puts the right ones back. */
static void misread(struct table *table, double *operand, size_t (*source)(size_t j, size_t c))
{
    const struct sizes *size = &table->job->size;
    const size_t block = size->keys * 8, count = size->items * size->kv_heads * block;
    double *right = numbers(count);
    memcpy(right, operand, count * sizeof *right);
    for (size_t i = 0; i < count; i++) {
        const size_t from = source(i % block / 8, i % 8);
        operand[i] = from == SIZE_MAX ? 0 : right[i / block * block + from];
    }
    for (size_t h = 0; h < size->heads; h++)
        read_heads(table, h, h / 2, h / 2);
    memcpy(operand, right, count * sizeof *right);
    free(right);
}

static void test_columns(void)
{
    static const struct {
        enum stage stage;
        bool of_values;
        size_t (*source)(size_t j, size_t c);
        const char *where, *text;
    } MISREAD[] = {
        {STAGE_CONTEXT, false, first_six, "rows 2 to 64",
         "rows 2 to 64 are right for the first 6 columns of query and key alone; all others are right"},
        {STAGE_WEIGHTS, false, pairs_exchanged, "rows 2 to 64",
         "rows 2 to 64 are right if in each 4 columns of the keys the halves change places; all others are right"},
        {STAGE_CONTEXT, false, first_exchanged, "rows 2 to 64",
         "rows 2 to 64 are right if in the first 2 columns of the keys the halves change places; all others are right"},
        {STAGE_CONTEXT, false, transposed, "rows 2 to 64",
         "rows 2 to 64 are right if the keys are transposed in square tiles of 4; all others are right"},
        {STAGE_CONTEXT, true, transposed, "", "all numbers are right if the values are transposed in square tiles of 4"},
    };
    struct job job;
    job_make(&job, WIDE);
    for (size_t i = 0; i < sizeof MISREAD / sizeof MISREAD[0]; i++) {
        struct table t = table_of(&job, MISREAD[i].stage);
        misread(&t, MISREAD[i].of_values ? job.value : job.key, MISREAD[i].source);
        expect(&t, "columns", MISREAD[i].where, MISREAD[i].text);
    }
    job_free(&job);
}

/* A norm after the stage, with a weight for each column, also with a bias, or without. */
static void test_normed(void)
{
    struct job job;
    struct table t;
    job_make(&job, WIDE);
    for (size_t way = 0; way < 6; way++) {
        t = table_of(&job, STAGE_CONTEXT);
        double weights[] = {1, -0.5, 2, 0.25, 1.5, 3, -1, 0.75}, mean, squares;
        for (size_t i = 0; i < t.count; i += 8) {
            mean = squares = 0;
            for (size_t c = 0; c < 8 && way >= 3; c++)
                mean += t.right[i + c] / 8;
            for (size_t c = 0; c < 8; c++)
                squares += (t.right[i + c] - mean) * (t.right[i + c] - mean) / 8;
            for (size_t c = 0; c < 8; c++)
                t.mine[i + c] = (t.right[i + c] - mean) / sqrt(squares + 1e-5) * (way % 3 > 0 ? weights[c] : 1) +
                                (way % 3 == 2 ? (double)c / 4 : 0);
        }
        expect(&t, "normed", "",
               way < 3 ? "all numbers are the right numbers after an RMSNorm"
                       : "all numbers are the right numbers after a LayerNorm");
    }
    job_free(&job);
}

/* A table of all right numbers, of which each is then changed. */
static void test_factors(struct job *job, enum stage stage)
{
    const struct sizes *size = &job->size;
    struct table t = table_of(job, stage);
    char text[200], sentence[300];
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] *= 1.5;
    expect(&t, "factor", "", "all numbers are 1.5 times the right numbers");
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] *= -1;
    expect(&t, "factor", "", "all numbers are minus the right numbers");
    t = table_of(job, stage);
    for (size_t c = 0; c < t.size[3]; c++)
        *at(&t, 0, 1, 2, c) *= 0.125;
    snprintf(text, sizeof text, "%shead 2, row 3", size->items > 1 ? "item 1, " : "");
    snprintf(sentence, sizeof sentence, "%s is 1/8 times the right numbers; all others are right", text);
    expect(&t, "factor", text, sentence);
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] *= 1.25 + 0.25 * (double)(i / t.size[3] / t.size[2] % t.size[1]);
    snprintf(text, sizeof text, "all numbers are the right numbers, each head times its own number, from 1.25 to %g",
             1 + 0.25 * (double)size->heads);
    expect(&t, "own_factor", "", text);
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] *= i / t.size[3] < 2 ? 0.75 + (double)(i / t.size[3]) : 1.2 + 0.4 * sin((double)(i / t.size[3]));
    expect(&t, "own_factor", "",
           "all numbers are the right numbers, each row times its own number, from 0.75 to 1.75: the rows are "
           "not divided by their own sums");
}

static void test_terms(struct job *job, enum stage stage)
{
    struct table t = table_of(job, stage);
    expect(&t, NULL, NULL, NULL);
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] += 0.25;
    expect(&t, "offset", "", "all numbers are the right numbers plus 1/4");
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] = (double)(float)(round(100 * t.mine[i]) / 100);
    expect(&t, "rounded", "", "all numbers are right, but rounded to 2 decimals");
    t = table_of(job, stage);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] += draw();
    expect(&t, NULL, NULL, NULL);
}

/* Of as many queries as keys. */
static void test_squares(struct job *job)
{
    const struct sizes *size = &job->size;
    const size_t block = size->keys * size->d_value, group = size->heads / size->kv_heads;
    struct table t = table_of(job, STAGE_CONTEXT);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] += 0.1 * job->value[i / block / group * block + i % block];
    expect(&t, "plus", "", "all numbers are the right numbers plus 1/10 times value");
    t = table_of(job, STAGE_WEIGHTS);
    for (size_t i = 0; i < t.count; i++)
        t.mine[i] = t.right[i / (size->keys * size->keys) * size->keys * size->keys + i % size->keys * size->keys +
                            i / size->keys % size->keys];
    expect(&t, "order", "", "all numbers are transposed: rows and keys are exchanged");
}

static void test_axes(struct job *job)
{
    const struct sizes *size = &job->size;
    struct table t = table_of(job, STAGE_CONTEXT);
    char text[200];
    for (size_t h = 0; h < size->heads; h++)
        for (size_t r = 0; r < size->queries; r++)
            for (size_t c = 0; c < t.size[3]; c++)
                t.mine[(r * size->heads + h) * t.size[3] + c] = t.right[(h * size->queries + r) * t.size[3] + c];
    snprintf(text, sizeof text,
             "%s right, but written in the order row, head, column and read in the order head, row, column%s",
             size->items > 1 ? "item 1 is" : "all numbers are", size->items > 1 ? "; all others are right" : "");
    expect(&t, "order", size->items > 1 ? "item 1" : "", text);
}

static void test_relations(const struct sizes size)
{
    static const enum stage STAGES_OF[] = {STAGE_CONTEXT, STAGE_WEIGHTS};
    struct job job;
    job_make(&job, size);
    for (size_t s = 0; s < 2; s++) {
        test_factors(&job, STAGES_OF[s]);
        test_terms(&job, STAGES_OF[s]);
    }
    if (size.queries == size.keys)
        test_squares(&job);
    test_axes(&job);
    job_free(&job);
}

/* Keys `first` to below `end` of a row with that many. */
typedef void keys_of_row(size_t keys, size_t *first, size_t *end);

static void whole_tiles(size_t keys, size_t *first, size_t *end)
{
    *first = 0;
    *end = keys < 16 ? keys : keys / 16 * 16;
}

static void but_last(size_t keys, size_t *first, size_t *end)
{
    *first = 0;
    *end = keys > 3 ? keys - 3 : keys;
}

static void but_first(size_t keys, size_t *first, size_t *end)
{
    *first = keys > 2 ? 2 : 0;
    *end = keys;
}

static void one_more(size_t keys, size_t *first, size_t *end)
{
    *first = 0;
    *end = keys < 64 ? keys + 1 : keys;
}

static void to_tile_end(size_t keys, size_t *first, size_t *end)
{
    *first = 0;
    *end = (keys + 15) / 16 * 16;
}

static void test_keys(void)
{
    static const struct {
        keys_of_row *keys;
        const char *where, *text;
    } CASES[] = {
        {whole_tiles, NULL, "right for the keys of whole tiles of 16, without the rest; all others are right"},
        {but_last, "rows 4 to 64", "right without the last 3 of their keys; all others are right"},
        {but_first, "rows 3 to 64", "right without the first 2 of their keys; all others are right"},
        {one_more, "rows 1 to 63", "right with the first of the later keys; all others are right"},
        {to_tile_end, NULL, "right with all later keys to the end of a tile of 16; all others are right"},
    };
    struct job job;
    job_make(&job, WIDE);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        for (int square = 0; square < 2; square++) {
            struct table t = table_of(&job, square ? STAGE_WEIGHTS : STAGE_CONTEXT);
            double scaled[64], weights[64], context[8];
            for (size_t line = 0; line < t.count / t.size[3]; line++) {
                size_t first, end;
                CASES[i].keys(keys_of(&job.size, line), &first, &end);
                attend_row(&job, line, first, end, scaled, weights, context);
                memcpy(t.mine + line * t.size[3], square ? weights : context, t.size[3] * sizeof(double));
            }
            struct observations list;
            check_begin("%s: %s", stage_name(t.stage), CASES[i].text);
            describe(&t, &list);
            size_t at = 0; /* behind the offset of the queries, which may give the same */
            while (at < list.count && strcmp(list.lines[at].name, "keys") != 0)
                at++;
            const char *text = at < list.count ? strstr(list.lines[at].text, " right ") : NULL;
            CHECK_TEXT(CASES[i].text, text != NULL ? text + 1 : NULL);
            if (CASES[i].where != NULL && at < list.count)
                CHECK_TEXT(CASES[i].where, list.lines[at].where);
            free(t.mine);
            free(t.tolerance);
        }
    job_free(&job);
}

/* Right tables, rounded to a dtype or printed, have no line; random wrong ones none that names a cause. */
static void test_right(void)
{
    static const enum dtype DTYPES[] = {DTYPE_F64, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    static const struct sizes SIZES[] = {{1, 1, 1, 1, 1, 1, 1, false},
                                         {1, 1, 1, 2, 2, 2, 1, true},
                                         {1, 2, 1, 5, 9, 4, 4, false},
                                         {2, 2, 2, 16, 16, 4, 4, true},
                                         {1, 2, 2, 40, 40, 8, 3, true}};
    for (size_t s = 0; s < sizeof SIZES / sizeof SIZES[0]; s++) {
        struct job job;
        check_begin("a job");
        job_make(&job, SIZES[s]);
        for (size_t d = 0; d < 8; d++) {
            struct table t = table_of(&job, d % 2 ? STAGE_WEIGHTS : STAGE_CONTEXT);
            const double share = pow(2, -dtype_precision(DTYPES[d / 2]));
            struct observations list;
            for (size_t i = 0; i < t.count; i++) {
                t.tolerance[i] = 4 * share * (fabs(t.right[i]) + 0.01);
                t.mine[i] += share * draw() * fabs(t.mine[i]);
                dtype_round(DTYPES[d / 2], &t.mine[i], 1);
            }
            check_begin("right: %s in %s, %zu numbers", stage_name(t.stage), dtype_name(DTYPES[d / 2]), t.count);
            describe(&t, &list);
            CHECK(list.count == 0, "%s", list.lines[0].text);
            for (size_t i = 0; i < t.count; i++) /* wrong, by chance */
                t.mine[i] += (0.1 + fabs(t.right[i])) * draw();
            describe(&t, &list);
            for (size_t i = 0; i < list.count; i++)
                CHECK(strcmp(list.lines[i].name, "part") == 0 || is_property(list.lines[i].name), "by chance: %s",
                      list.lines[i].text);
            free(t.mine);
            free(t.tolerance);
        }
        job_free(&job);
    }
}

int main(void)
{
    test_parts();
    test_others();
    test_heads();
    test_columns();
    test_normed();
    test_relations(SMALL);
    if (getenv("ATTN_QUICK") == NULL) {
        test_relations(PLAIN);
        test_relations(WIDE);
    } else {
        puts("ATTN_QUICK: relations in small jobs alone");
    }
    test_keys();
    test_right();
    return check_end();
}
