/* SPDX-License-Identifier: MIT */
/* A small problem drawn from the bytes, through every way of computing it: the reference, the fused path of each
 * instruction set that the machine has, and both of them one query at a time.
 *
 * One query at a time gives the same bits. The fused path may depart from the reference by what their roundings allow, a
 * bound that is worked out from the operands (see `tolerance`): a logit may be off by a share of the largest that there
 * can be, a weight by twice that share, the context by that share of the largest value, but by no more than MOST_SHARE of
 * it. f16 and bf16 would allow more where logits are large: theirs are drawn small (see `shrink`). What came was a tenth
 * of what was allowed. */
#include "build/problem_create.h"
#include "fuzz.h"

#include "compute/result.h"
#include "model/stage_id.h"
#include "model/torch_random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double MOST_SHARE = 0x1p-4;

enum { WORDS = 40, WORD_BYTES = 64, TENSORS = 10, TABLES = 8, MOST_ITEMS = 3, MOST_WORK = 1 << 13 };

/* What the bytes choose. */
struct choice {
    const uint8_t *at, *end;
    bool sdpa;
    enum dtype dtype;
    size_t items, kv_heads, group, queries, keys, past, d, d_v, d_in;
    double factor; /* of the operands */
    double mask_most, slope_most;
    double scale, softcap;
    struct torch_random generator;
    struct input_file input;
    struct file_tensor tensors[TENSORS];
    char words[WORDS][WORD_BYTES]; /* the command line, but for what differs from path to path */
    int word_count;
};

/* One result. */
struct made {
    struct arena arena;
    struct error error;
    struct options options;
    struct problem problem;
    struct progress progress;
    struct result result;
    double *numbers[TABLES]; /* of each table, whole */
};

static unsigned choose(struct choice *choice, unsigned count)
{
    return choice->at < choice->end ? *choice->at++ % count : 0;
}

static void add_word(struct choice *choice, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(struct choice *choice, const char *format, ...)
{
    va_list arguments;
    if (choice->word_count == WORDS)
        abort();
    va_start(arguments, format);
    vsnprintf(choice->words[choice->word_count++], WORD_BYTES, format, arguments);
    va_end(arguments);
}

/* --- the problem ------------------------------------------------------------------------------------------------- */

static struct tensor *add_tensor(struct choice *choice, const char *name, enum dtype dtype, size_t rank,
                                 const size_t *shape, struct arena *arena)
{
    struct error error;
    struct file_tensor *named = &choice->tensors[choice->input.tensor_count++];
    *named = (struct file_tensor){.name = name};
    if (tensor_create(&named->tensor, dtype, rank, shape, arena, &error) != STATUS_OK)
        abort();
    return &named->tensor;
}

static float draw(struct choice *choice)
{
    float number;
    torch_random_uniform(&choice->generator, -2, 2, &number, 1);
    return number;
}

static void add_drawn(struct choice *choice, const char *name, size_t rank, const size_t *shape, struct arena *arena)
{
    const struct tensor *tensor = add_tensor(choice, name, DTYPE_F32, rank, shape, arena);
    for (size_t i = 0; i < tensor_count(tensor); i++)
        ((float *)tensor->data)[i] = draw(choice) * (float)choice->factor;
}

/* The axes that the bytes choose are broadcast; the last one may be short. */
static void add_attn_mask(struct choice *choice, struct arena *arena)
{
    const unsigned kind = choose(choice, 4), axes = choose(choice, 16);
    const size_t whole[] = {choice->items, choice->kv_heads * choice->group, choice->queries,
                            choice->past + choice->keys};
    size_t shape[4];
    if (kind < 2)
        return;
    for (int i = 0; i < 4; i++)
        shape[i] = axes >> i & 1 ? whole[i] : 1;
    if (shape[3] > 2 && choose(choice, 4) == 1)
        shape[3]--;
    const struct tensor *mask = add_tensor(choice, "attn_mask", kind == 2 ? DTYPE_BOOL : DTYPE_F32, 4, shape, arena);
    for (size_t i = 0; i < tensor_count(mask); i++) {
        const float number = draw(choice);
        if (kind == 2)
            ((uint8_t *)mask->data)[i] = number > -0.5f;
        else
            ((float *)mask->data)[i] = number > 1 ? -INFINITY : number;
    }
    choice->mask_most = kind == 3 ? 2 : 0;
    if (choose(choice, 2) == 1)
        add_word(choice, "--mask-true"), add_word(choice, "drop");
}

static void add_lists(struct choice *choice, struct arena *arena)
{
    const size_t heads = choice->kv_heads * choice->group;
    const double factor = choice->factor;
    choice->factor = 1;
    if (choose(choice, 3) == 1)
        add_drawn(choice, "sinks", 1, &heads, arena);
    if (choose(choice, 3) == 1) {
        add_drawn(choice, "alibi_slopes", 1, &heads, arena);
        choice->slope_most = 2;
    }
    choice->factor = factor;
}

static int64_t *add_whole(struct choice *choice, const char *name, size_t count, struct arena *arena)
{
    return add_tensor(choice, name, DTYPE_I64, 1, &count, arena)->data;
}

/* Where `count` sequences of all tokens begin, and the end. */
static void cut(struct choice *choice, int64_t *starts, size_t count, size_t tokens)
{
    starts[0] = 0;
    for (size_t i = 1; i <= count; i++)
        starts[i] = i == count ? (int64_t)tokens
                               : starts[i - 1] + choose(choice, (unsigned)(tokens - (size_t)starts[i - 1]) + 1);
}

/* A cache of which the pages of the table are read, as far as the lengths say; NaN elsewhere. */
static void add_cache(struct choice *choice, const char *name, const struct tensor *table, const int64_t *lengths,
                      size_t size, size_t columns, struct arena *arena)
{
    const size_t items = table->shape[0], per_item = table->shape[1], token = choice->kv_heads * columns;
    const int64_t *pages = table->data;
    size_t count = 1;
    for (size_t i = 0; i < items * per_item; i++)
        count += pages[i] >= 0;
    const struct tensor *cache =
        add_tensor(choice, name, DTYPE_F32, 4, (const size_t[]){count, size, choice->kv_heads, columns}, arena);
    float *numbers = cache->data;
    for (size_t i = 0; i < tensor_count(cache); i++)
        numbers[i] = NAN;
    for (size_t item = 0; item < items; item++)
        for (size_t at = 0; at < (size_t)lengths[item] * token; at++)
            numbers[((size_t)pages[item * per_item + at / token / size] * size) * token + at % (size * token)] =
                draw(choice) * (float)choice->factor;
}

static void add_pages(struct choice *choice, const int64_t *lengths, size_t items, struct arena *arena)
{
    const size_t size = 1 + choose(choice, 8);
    size_t longest = 0, pages = 0;
    for (size_t i = 0; i < items; i++)
        longest = lengths[i] > (int64_t)longest ? (size_t)lengths[i] : longest;
    const size_t per_item = longest / size + 1;
    const struct tensor *table =
        add_tensor(choice, "block_table", DTYPE_I64, 2, (const size_t[]){items, per_item}, arena);
    for (size_t i = items * per_item; i-- > 0;) /* the last one first */
        ((int64_t *)table->data)[i] = (int64_t)(i % per_item * size) < lengths[i / per_item] ? (int64_t)pages++ : -1;
    add_cache(choice, "key_cache", table, lengths, size, choice->d, arena);
    add_cache(choice, "value_cache", table, lengths, size, choice->d_v, arena);
}

/* Sequences that are packed, with their keys so, too, or in pages. */
static void add_sequences(struct choice *choice, bool in_pages, struct arena *arena)
{
    const size_t heads = choice->kv_heads * choice->group, count = 1 + choose(choice, MOST_ITEMS);
    int64_t starts[MOST_ITEMS + 1], lengths[MOST_ITEMS];
    choice->items = 1;
    add_drawn(choice, "query", 3, (const size_t[]){choice->queries, heads, choice->d}, arena);
    cut(choice, add_whole(choice, "cu_seqlens_q", count + 1, arena), count, choice->queries);
    cut(choice, starts, count, choice->keys);
    for (size_t i = 0; i < count; i++)
        lengths[i] = starts[i + 1] - starts[i];
    if (in_pages && choose(choice, 2) == 1)
        memcpy(add_whole(choice, "kv_lengths", count, arena), lengths, count * sizeof *lengths);
    else
        memcpy(add_whole(choice, "cu_seqlens_k", count + 1, arena), starts, (count + 1) * sizeof *starts);
    if (in_pages) {
        add_pages(choice, lengths, count, arena);
        return;
    }
    add_drawn(choice, "key", 3, (const size_t[]){choice->keys, choice->kv_heads, choice->d}, arena);
    add_drawn(choice, "value", 3, (const size_t[]){choice->keys, choice->kv_heads, choice->d_v}, arena);
}

static void add_items_in_pages(struct choice *choice, struct arena *arena)
{
    const size_t heads = choice->kv_heads * choice->group;
    add_drawn(choice, "query", 4, (const size_t[]){choice->items, choice->queries, heads, choice->d}, arena);
    int64_t *lengths = add_whole(choice, "kv_lengths", choice->items, arena);
    for (size_t i = 0; i < choice->items; i++)
        lengths[i] = i == 0 ? (int64_t)choice->keys : choose(choice, (unsigned)choice->keys + 1);
    add_pages(choice, lengths, choice->items, arena);
}

static void add_operands(struct choice *choice, struct arena *arena)
{
    const size_t heads = choice->kv_heads * choice->group, b = choice->items, h = choice->kv_heads;
    const unsigned lies = choose(choice, 8);
    if (lies == 1 || lies == 2) {
        add_sequences(choice, lies == 2, arena);
        return;
    }
    if (lies == 3) {
        add_items_in_pages(choice, arena);
        return;
    }
    add_drawn(choice, "query", 4, (const size_t[]){b, heads, choice->queries, choice->d}, arena);
    add_drawn(choice, "key", 4, (const size_t[]){b, h, choice->keys, choice->d}, arena);
    add_drawn(choice, "value", 4, (const size_t[]){b, h, choice->keys, choice->d_v}, arena);
    const unsigned cache = choose(choice, 4);
    if (cache == 1) {
        choice->past = 1 + choose(choice, 40);
        add_drawn(choice, "past_key", 4, (const size_t[]){b, h, choice->past, choice->d}, arena);
        add_drawn(choice, "past_value", 4, (const size_t[]){b, h, choice->past, choice->d_v}, arena);
    } else if (cache == 2) {
        const struct tensor *lengths = add_tensor(choice, "kv_lengths", DTYPE_I64, 1, &b, arena);
        for (size_t i = 0; i < b; i++)
            ((int64_t *)lengths->data)[i] = choose(choice, (unsigned)choice->keys + 1);
    } else if (choose(choice, 3) == 1) {
        add_word(choice, "--align"), add_word(choice, "bottom-right");
    }
}

/* The command, the sizes and the operands. */
static void choose_mechanism(struct choice *choice, struct arena *arena)
{
    static const double FACTORS[] = {1, 1, 0.01, 3};
    static const char *const NAMES[] = {"sdpa", "sdpa", "sdpa", "self", "causal", "multihead", "multihead"};
    const unsigned mechanism = choose(choice, 7);
    choice->sdpa = mechanism < 3;
    choice->items = 1 + choose(choice, 2);
    choice->kv_heads = 1 + choose(choice, 3);
    choice->group = 1 + choose(choice, 3);
    choice->queries = 1 + choose(choice, 24);
    choice->keys = 1 + choose(choice, 255);
    choice->d = 1 + choose(choice, 20);
    choice->d_v = 1 + choose(choice, 20);
    const size_t rows = choice->items * choice->kv_heads * choice->group * choice->queries;
    while (choice->keys > 1 && rows * choice->keys * (choice->d + choice->d_v) > MOST_WORK)
        choice->keys = (choice->keys + 1) / 2;
    choice->factor = FACTORS[choose(choice, 4)];
    torch_random_seed(&choice->generator, TORCH_RANDOM_VECTOR, choose(choice, 256));
    add_word(choice, "attn"), add_word(choice, "%s", NAMES[mechanism]);
    if (choice->sdpa) {
        if (choose(choice, 2) == 1)
            add_word(choice, "--causal");
        add_operands(choice, arena);
        return;
    }
    if (mechanism < 5)
        choice->kv_heads = choice->group = 1;
    choice->d_in = 1 + choose(choice, 12);
    choice->keys = choice->queries;
    choice->d_v = choice->d;
    const size_t heads = choice->kv_heads * choice->group;
    add_word(choice, "--d-out"), add_word(choice, "%zu", mechanism == 6 ? choice->d : heads * choice->d);
    if (mechanism >= 5)
        add_word(choice, "--heads"), add_word(choice, "%zu", heads);
    if (mechanism == 5)
        add_word(choice, "--kv-heads"), add_word(choice, "%zu", choice->kv_heads);
    if (mechanism == 6)
        add_word(choice, "--stacked");
    if (choose(choice, 2) == 1)
        add_word(choice, "--qkv-bias");
    add_drawn(choice, "inputs", 3, (const size_t[]){choice->items, choice->queries, choice->d_in}, arena);
}

/* What the product, the mask and ALiBi each add to a logit of a narrow dtype is kept so small that the rounding of the logit
 * is small, too: what they are made from is multiplied by less than 1. */
static void shrink(struct choice *choice)
{
    static const double LARGEST[] = {
        [DTYPE_F32] = INFINITY, [DTYPE_F64] = INFINITY, [DTYPE_F16] = 4, [DTYPE_BF16] = 0.5};
    const double largest = LARGEST[choice->dtype], d = (double)choice->d;
    const double given = 2 * choice->factor, projected = given * sqrt((double)choice->d_in) + 1;
    const struct {
        const char *name;
        double factor;
    } parts[] = {
        {"query", largest / (d * given * given * choice->scale)},
        {"inputs", sqrt(largest / (d * projected * projected * choice->scale))},
        {"attn_mask", largest / choice->mask_most},
        {"alibi_slopes", largest / (choice->slope_most * (double)(choice->keys + choice->past))},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct file_tensor *named = input_file_find(&choice->input, parts[i].name);
        for (size_t j = 0; named != NULL && parts[i].factor < 1 && j < tensor_count(&named->tensor); j++)
            ((float *)named->tensor.data)[j] *= (float)parts[i].factor;
    }
    choice->mask_most = fmin(choice->mask_most, largest);
    choice->slope_most = fmin(choice->slope_most, largest / (double)(choice->keys + choice->past));
}

/* The mask and what is made of the scores. */
static void choose_options(struct choice *choice, struct arena *arena)
{
    static const char *const SCALES[] = {NULL, NULL, "0", "-0.7", "0.1", "2"};
    static const char *const SOFTCAPS[] = {NULL, NULL, "0.5", "30"};
    static const char *const EMPTY[] = {NULL, "nan", "mean"};
    static const char *const DTYPES[] = {"f32", "f32", "f16", "bf16", "f64"};
    static const enum dtype MEANT[] = {DTYPE_F32, DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64};
    const char *scale = SCALES[choose(choice, 6)], *softcap = SOFTCAPS[choose(choice, 4)];
    const char *empty = EMPTY[choose(choice, 3)];
    const unsigned dtype = choose(choice, 5), window = choose(choice, 3);
    choice->dtype = MEANT[dtype];
    choice->scale = scale != NULL ? fabs(atof(scale)) : 1 / sqrt((double)choice->d);
    choice->softcap = softcap != NULL ? atof(softcap) : 0;
    add_word(choice, "--dtype"), add_word(choice, "%s", DTYPES[dtype]);
    if (scale != NULL)
        add_word(choice, "--scale"), add_word(choice, "%s", scale);
    if (softcap != NULL)
        add_word(choice, "--softcap"), add_word(choice, "%s", softcap);
    if (empty != NULL)
        add_word(choice, "--empty-row"), add_word(choice, "%s", empty);
    if (window > 0) {
        const int left = (int)choose(choice, 40) - 1, right = (int)choose(choice, 40) - 1;
        add_word(choice, "--window"), add_word(choice, "%d,%d", left, right);
    }
    if (choose(choice, 4) == 1)
        add_word(choice, "--dropout"), add_word(choice, "0.3");
    add_attn_mask(choice, arena);
    add_lists(choice, arena);
    input_file_sort(&choice->input);
    shrink(choice);
}

/* --- one way of computing it ------------------------------------------------------------------------------------- */

/* Every number of every table. */
static void load(struct made *made)
{
    for (size_t i = 0; i < made->result.table_count; i++) {
        const struct result_table *table = &made->result.tables[i];
        const size_t rows = result_rows(table), columns = result_columns(table), all = result_matrices(table) * rows;
        made->numbers[i] = arena_allocate(&made->arena, all * columns, sizeof made->numbers[i][0], NULL);
        for (size_t row = 0; row < all; row++)
            result_row(&made->result, table, row / rows, row % rows, made->numbers[i] + row * columns);
    }
}

static enum status make(struct made *made, const struct choice *choice, const char *kernel, const char *stages,
                        size_t query)
{
    char words[WORDS + 8][WORD_BYTES], *list[WORDS + 9];
    const int given = choice->word_count;
    int count = given;
    *made = (struct made){0};
    memcpy(words, choice->words, sizeof choice->words);
    snprintf(words[count++], WORD_BYTES, "--kernel=%s", kernel);
    snprintf(words[count++], WORD_BYTES, "--threads=1");
    snprintf(words[count++], WORD_BYTES, "--stages=%s", stages);
    if (query > 0)
        snprintf(words[count++], WORD_BYTES, "--query=%zu", query);
    for (int i = 0; i < count; i++)
        list[i] = words[i];
    list[count] = NULL;
    if (options_parse(&made->options, count, list, &made->error) != STATUS_OK)
        abort(); /* every line that is built here is one that people may write */
    made->options.query = query > 0 ? strchr(words[count - 1], '=') + 1 : NULL;
    const struct job_files files = {.inputs = &choice->input};
    if (problem_create(&made->problem, &made->options, &files, &made->arena, &made->error))
        return made->error.status;
    if (result_create(&made->result, &made->problem, &made->progress, false, &made->arena, &made->error) != STATUS_OK)
        return made->error.status;
    load(made);
    return STATUS_OK;
}

/* The table of that name, or SIZE_MAX. */
static size_t find(const struct made *made, const char *name)
{
    for (size_t i = 0; i < made->result.table_count; i++)
        if (strcmp(made->result.tables[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

static size_t count_numbers(const struct result_table *table)
{
    return result_matrices(table) * result_rows(table) * result_columns(table);
}

/* The largest magnitude in a table of that name; 0 where there is none. */
static double largest(const struct made *made, const char *name)
{
    const size_t table = find(made, name);
    double most = 0;
    for (size_t i = 0; table != SIZE_MAX && i < count_numbers(&made->result.tables[table]); i++)
        most = fmax(most, isfinite(made->numbers[table][i]) ? fabs(made->numbers[table][i]) : 0);
    return most;
}

/* --- what may differ --------------------------------------------------------------------------------------------- */

/* How far context, lse and output of the fused path may be from those of the reference. */
struct tolerance {
    double context, lse, output;
};

static struct tolerance find_tolerance(const struct choice *choice, const struct made *reference)
{
    static const double ROUNDINGS[] = {
        [DTYPE_F32] = 0x1p-23, [DTYPE_F64] = 0x1p-23, [DTYPE_F16] = 0x1p-10, [DTYPE_BF16] = 0x1p-7};
    const double rounding = ROUNDINGS[choice->dtype], single = 0x1p-23;
    const double query = largest(reference, "query"), key = largest(reference, "key");
    const double value = largest(reference, "value"), d = (double)choice->d;
    const double keys = (double)(choice->keys + choice->past);
    /* Projections: the reference rounds them once to the dtype, the fused path sums them in float32. */
    const double projected = choice->sdpa
                                 ? 0
                                 : rounding * fmax(query, fmax(key, value)) +
                                       single * (double)choice->d_in * (double)choice->d_in * 2 * choice->factor;
    const double product = d * query * key * choice->scale;
    const double bias = choice->mask_most + choice->slope_most * keys;
    const double logit = 4 * rounding * (product + bias + fmin(product, choice->softcap)) +
                         single * (d + 8) * (product + bias) +
                         d * choice->scale * projected * (query + key + projected);
    const double share = fmin(expm1(2 * logit) + 8 * rounding + single * keys, MOST_SHARE);
    struct tolerance tolerance = {.context = value * share + projected + 1e-30,
                                  .lse = logit + (4 * rounding + single * keys) * (1 + largest(reference, "lse"))};
    /* No weight of the output projection is larger than 1 / sqrt(columns). */
    const double columns = (double)(choice->kv_heads * choice->group) * d;
    tolerance.output = sqrt(columns) * (tolerance.context + single * columns * (value + 1)) +
                       4 * rounding * largest(reference, "output");
    return tolerance;
}

static void fail(const struct choice *choice, const char *path, const char *name, size_t at, double expected,
                 double got, double tolerance)
{
    for (int i = 0; i < choice->word_count; i++)
        fprintf(stderr, "%s ", choice->words[i]);
    fprintf(stderr, "\n%s: %s: number %zu: expected %.9g, got %.9g, tolerance %g\n", path, name, at, expected, got,
            tolerance);
    abort();
}

static bool agree(double a, double b, double tolerance)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance;
}

static void compare(const struct choice *choice, const char *isa, const struct made *expected, const struct made *got,
                    const char *name, double tolerance)
{
    const size_t a = find(expected, name), b = find(got, name);
    if ((a == SIZE_MAX) != (b == SIZE_MAX))
        abort();
    for (size_t i = 0; a != SIZE_MAX && i < count_numbers(&expected->result.tables[a]); i++)
        if (!agree(expected->numbers[a][i], got->numbers[b][i], tolerance))
            fail(choice, isa, name, i, expected->numbers[a][i], got->numbers[b][i], tolerance);
}

/* The rows of query `query` (from 1) are, computed alone, the same bits in each table. */
static void compare_alone(const struct choice *choice, const char *kernel, const char *stages, const struct made *whole,
                          size_t query)
{
    struct made alone;
    if (make(&alone, choice, kernel, stages, query) != STATUS_OK)
        abort(); /* the whole had a result */
    for (size_t i = 0; i < alone.result.table_count; i++) {
        const struct result_table *table = &whole->result.tables[i];
        const bool of_keys = stage_is_of_keys(table->stage), lse = !stage_has_columns(table->stage);
        const size_t columns = lse ? 1 : result_columns(table);
        const size_t rows = lse ? result_columns(table) : result_rows(table);
        for (size_t at = 0; !of_keys && at < count_numbers(&alone.result.tables[i]); at++) {
            const double expected = whole->numbers[i][(at / columns * rows + query - 1) * columns + at % columns];
            if (!agree(expected, alone.numbers[i][at], 0))
                fail(choice, "one query at a time", table->name, at, expected, alone.numbers[i][at], 0);
        }
    }
    arena_free(&alone.arena);
}

static void compare_rows(struct choice *choice, const char *kernel, const char *stages, const struct made *whole)
{
    const size_t queries = whole->problem.size.queries;
    compare_alone(choice, kernel, stages, whole, 1);
    compare_alone(choice, kernel, stages, whole, queries);
    compare_alone(choice, kernel, stages, whole, 1 + choose(choice, (unsigned)queries));
}

static void check_fused(struct choice *choice, const char *isa, const struct made *reference,
                        struct tolerance tolerance, const char *stages)
{
    struct made fused;
    struct error error = {0};
    if (kernel_check(isa, &error) != STATUS_OK)
        return;
    setenv("ATTN_ISA", isa, 1);
    if (make(&fused, choice, "fused", stages, 0) == STATUS_OK) {
        compare(choice, isa, reference, &fused, "context", tolerance.context);
        compare(choice, isa, reference, &fused, "lse", tolerance.lse);
        compare(choice, isa, reference, &fused, "output", tolerance.output);
        compare_rows(choice, "fused", stages, &fused);
    } else if (strncmp(fused.error.message, "--kernel fused: ", 16) != 0) {
        abort(); /* it may refuse what it cannot do, and says so */
    }
    unsetenv("ATTN_ISA");
    arena_free(&fused.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct choice choice = {.at = bytes, .end = bytes + length};
    struct arena arena = {0};
    struct made reference;
    choice.input = (struct input_file){.source = "case", .is_text = true, .tensors = choice.tensors};
    choose_mechanism(&choice, &arena);
    choose_options(&choice, &arena);
    const bool has_output = strcmp(choice.words[1], "multihead") == 0;
    const char *all =
        has_output ? "query,key,value,masked,weights,lse,context,output" : "query,key,value,masked,weights,lse,context";
    const char *fused = has_output ? "lse,context,output" : "lse,context";
    const enum status status = make(&reference, &choice, "reference", all, 0);
    if (status == STATUS_OK) {
        const struct tolerance tolerance = find_tolerance(&choice, &reference);
        compare_rows(&choice, "reference", all, &reference);
        for (size_t i = 0; kernel_isa(i) != NULL; i++)
            check_fused(&choice, kernel_isa(i), &reference, tolerance, fused);
    } else if (reference.error.status != status || reference.error.message[0] == '\0') {
        abort();
    }
    arena_free(&reference.arena);
    arena_free(&arena);
    return 0;
}
