/* SPDX-License-Identifier: MIT */
#include "model/mask.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t mask_offset(const struct mask *mask, size_t item, size_t query)
{
    const struct mask_sequences *sequences = &mask->sequences;
    if (sequences->count == 0)
        return mask->lengths != NULL ? mask->lengths[item] - (int64_t)mask->queries : mask->offset;
    const size_t edge = sequences->of_query[query] + (sequences->from_end ? 1 : 0);
    return sequences->key_starts[edge] - sequences->query_starts[edge];
}

struct span mask_sequence(const struct mask *mask, size_t query)
{
    if (mask->sequences.count == 0)
        return (struct span){0, mask->keys};
    const int64_t *starts = mask->sequences.key_starts + mask->sequences.of_query[query];
    return (struct span){(size_t)starts[0], (size_t)starts[1]};
}

bool mask_sequences_differ(const struct mask *mask)
{
    const struct mask_sequences *sequences = &mask->sequences;
    return sequences->count > 0 && memcmp(sequences->query_starts, sequences->key_starts,
                                          (sequences->count + 1) * sizeof sequences->key_starts[0]) != 0;
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

#define DECLARED(id, name, ...) extern const struct mask_functions mask_##name;
#define MASK_ROW(id, name, ...) [MASK_##id] = {.functions = &mask_##name, __VA_ARGS__},

MASK_ROWS(DECLARED)

const struct mask_row MASKS[MASK_RULE_COUNT] = {MASK_ROWS(MASK_ROW)};

enum mask_rule mask_reads(const char *name)
{
    enum mask_rule rule = 0;
    while (rule < MASK_RULE_COUNT && (MASKS[rule].tensor == NULL || strcmp(MASKS[rule].tensor, name) != 0))
        rule++;
    return rule;
}

bool mask_applies(const struct mask *mask, enum mask_rule rule)
{
    return MASKS[rule].functions->applies(mask);
}

bool mask_has_rules(const struct mask *mask)
{
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++)
        if (MASKS[rule].functions->reach != NULL && mask_applies(mask, rule))
            return true;
    return false;
}

bool mask_is_given(const struct mask *mask)
{
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++)
        if (mask->given[rule].number != 0 || mask->given[rule].ids != NULL)
            return true;
    return false;
}

enum mask_rule mask_lifting(const struct mask *mask)
{
    enum mask_rule rule = 0;
    while (rule < MASK_RULE_COUNT && (MASKS[rule].functions->lift == NULL || !mask_applies(mask, rule)))
        rule++;
    return rule;
}

bool mask_has_cells(const struct mask *mask)
{
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++)
        if (mask->given[rule].scattered)
            return true;
    return false;
}

static bool forbids_cell(const struct mask *mask, const struct mask_query *of, size_t key)
{
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++)
        if (mask->given[rule].scattered && MASKS[rule].functions->forbids(mask, of, key))
            return true;
    return false;
}

struct mask_query mask_query_of(const struct mask *mask, size_t item, size_t query)
{
    struct mask_query of = {item, query, (int64_t)query + mask_offset(mask, item, query), {INT64_MAX, INT64_MIN}};
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_functions *functions = MASKS[rule].functions;
        if (functions->lift == NULL || !functions->applies(mask))
            continue;
        const struct mask_reach lifted = functions->lift(mask, &of);
        of.lifted.first = lifted.first < of.lifted.first ? lifted.first : of.lifted.first;
        of.lifted.end = lifted.end > of.lifted.end ? lifted.end : of.lifted.end;
    }
    return of;
}

static size_t clamp(int64_t key, struct span keys)
{
    return key < (int64_t)keys.first ? keys.first : (uint64_t)key < keys.end ? (size_t)key : keys.end;
}

/* Intersects the span with the reach of the rules that bound the keys (`bounds`), or of the others. */
static struct span narrow(const struct mask *mask, const struct mask_query *of, bool bounds, struct span there)
{
    struct span span = there;
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_functions *functions = MASKS[rule].functions;
        if (MASKS[rule].bounds != bounds || functions->reach == NULL || !functions->applies(mask))
            continue;
        const struct mask_reach reach = functions->reach(mask, of);
        const size_t first = clamp(reach.first, there), end = clamp(reach.end, there);
        span.first = first > span.first ? first : span.first;
        span.end = end < span.end ? end : span.end;
    }
    return span;
}

struct span mask_span(const struct mask *mask, size_t item, size_t query)
{
    const struct mask_query of = mask_query_of(mask, item, query);
    struct span there = {0, mask->masked_keys < mask->keys ? mask->masked_keys : mask->keys};
    there = narrow(mask, &of, true, there);
    there.first = there.first < there.end ? there.first : there.end;
    struct span span = narrow(mask, &of, false, there);
    span.end = span.end > span.first ? span.end : span.first;
    return span;
}

/* An id and where it is. */
struct placed {
    int64_t id;
    size_t key;
};

static int compare_ids(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return one->key < other->key ? -1 : one->key > other->key;
}

/* Writes the runs of one list, sorted by id; returns the number of ids. */
static size_t list_runs(const struct placed *placed, size_t count, struct span *runs, bool *scattered)
{
    size_t distinct = 0;
    for (size_t first = 0, end; first < count; first = end, distinct++) {
        for (end = first + 1; end < count && placed[end].id == placed[first].id;)
            end++;
        const struct span run = {placed[first].key, placed[end - 1].key + 1};
        *scattered = *scattered || run.end - run.first != end - first;
        for (size_t i = first; i < end; i++)
            runs[placed[i].key] = run;
    }
    return distinct;
}

enum status mask_list_runs(struct mask_given *given, struct arena *arena, struct error *error)
{
    struct arena scratch = {0};
    struct placed *placed = arena_allocate(&scratch, given->count, sizeof *placed, error);
    struct span *runs = arena_allocate(arena, given->lists * given->count, sizeof *runs, error);
    for (size_t list = 0; list < given->lists && placed != NULL && runs != NULL; list++) {
        for (size_t key = 0; key < given->count; key++)
            placed[key] = (struct placed){given->ids[list * given->count + key], key};
        qsort(placed, given->count, sizeof *placed, compare_ids);
        const size_t distinct = list_runs(placed, given->count, runs + list * given->count, &given->scattered);
        given->distinct = distinct > given->distinct ? distinct : given->distinct;
    }
    given->runs = runs;
    arena_free(&scratch);
    return placed == NULL || runs == NULL ? error->status : STATUS_OK;
}

bool mask_has_bias(const struct mask *mask)
{
    return mask->attn_mask.rank > 0 || mask->alibi_slopes != NULL || mask->relative != NULL || mask_has_cells(mask);
}

/* Half of the buckets hold one distance each, the others grow logarithmically. */
size_t mask_bucket(const struct mask *mask, int64_t distance)
{
    size_t buckets = mask->buckets, first = 0;
    if (mask->both_ways) {
        buckets /= 2;
        first = distance > 0 ? buckets : 0;
    } else if (distance > 0) {
        distance = 0;
    }
    const size_t half = buckets / 2;
    const double far = fabs((double)distance), single = (double)half;
    if (far < single)
        return first + (size_t)far;
    const double rest = (double)buckets - single;
    const double at = single + floor(log(far / single) / log((double)mask->relative_distance / single) * rest);
    return first + (at < (double)buckets - 1 ? (size_t)at : buckets - 1);
}

/* Computes each logarithm once. */
enum status mask_list_buckets(struct mask *mask, struct arena *arena, struct error *error)
{
    const int64_t most = mask->relative_distance;
    uint32_t *buckets = arena_allocate(arena, 2 * (size_t)most + 1, sizeof *buckets, error);
    for (int64_t distance = -most; distance <= most && buckets != NULL; distance++)
        buckets[distance + most] = (uint32_t)mask_bucket(mask, distance);
    mask->bucket_of = buckets;
    return buckets == NULL ? error->status : STATUS_OK;
}

/* T5's bias of a head at a distance. */
static double relative_number(const struct mask *mask, size_t head, int64_t distance)
{
    const int64_t most = mask->relative_distance;
    const int64_t near = distance < -most ? -most : distance > most ? most : distance;
    return mask->relative[mask->bucket_of[near + most] * mask->heads + head];
}

/* Numbers converted at a time between double and the dtype of a bias. */
enum { RUN = 64 };

void mask_add_relative(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
                       enum dtype number, void *bias)
{
    const int64_t distance = (int64_t)first - (int64_t)query - mask_offset(mask, item, query);
    const double largest = dtype_largest(number);
    double before[RUN], added[RUN];
    char *at = bias;
    for (size_t done = 0, run; done < count; done += run, at += run * dtype_size(number)) {
        run = count - done < RUN ? count - done : RUN;
        for (size_t i = 0; i < run; i++)
            added[i] = relative_number(mask, head, distance + (int64_t)(done + i));
        dtype_round(number, added, run);
        dtype_load(number, at, run, before);
        for (size_t i = 0; i < run; i++)
            added[i] = before[i] == -INFINITY ? before[i] : fmax(-largest, fmin(largest, before[i] + added[i]));
        dtype_store(number, added, run, at);
    }
}

static double mask_number(const struct mask *mask, size_t at)
{
    double number;
    tensor_load(&mask->attn_mask, at, 1, &number);
    if (!dtype_is_boolean(mask->attn_mask.dtype))
        return number;
    return (number != 0) == mask->true_drops ? -INFINITY : 0;
}

double mask_place(const struct mask *mask, size_t item, size_t query, size_t key)
{
    const double position = (double)((int64_t)query + mask_offset(mask, item, query));
    switch (mask->places.from) {
    case MASK_FROM_FIRST:
        return (double)mask_sequence(mask, query).first - (double)key;
    case MASK_FROM_LAST:
        return (double)mask_sequence(mask, query).end - 1 - (double)key;
    default:
        return fabs((double)key - position);
    }
}

/* What ALiBi subtracts. */
static double penalty(const struct mask *mask, double slope, double place)
{
    double product = slope * place;
    if (!mask->places.rounds)
        return product;
    dtype_round(mask->places.product, &product, 1);
    product /= mask->places.root;
    dtype_round(mask->places.quotient, &product, 1);
    return product;
}

/* The first element of a query's row in attn_mask. */
static size_t row_start(const struct mask *mask, size_t item, size_t head, size_t query)
{
    return item * mask->strides[0] + head * mask->strides[1] + query * mask->strides[2];
}

void mask_bias(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               double *bias)
{
    const size_t row = row_start(mask, item, head, query), stride = mask->strides[3];
    const struct mask_query of = mask_query_of(mask, item, query);
    const bool cells = mask_has_cells(mask);
    for (size_t i = 0; i < count; i++) {
        bias[i] = 0;
        if (mask->attn_mask.rank > 0)
            bias[i] = first + i < mask->masked_keys ? mask_number(mask, row + (first + i) * stride) : -INFINITY;
        /* Only a forbidden key has minus infinity: a penalty that no double holds stops at the lowest number. */
        if (mask->alibi_slopes != NULL && bias[i] != -INFINITY)
            bias[i] = fmax(-DBL_MAX,
                           bias[i] - penalty(mask, mask->alibi_slopes[head], mask_place(mask, item, query, first + i)));
        if (mask->relative != NULL)
            bias[i] += relative_number(mask, head, (int64_t)(first + i) - of.position);
        if (cells && forbids_cell(mask, &of, first + i))
            bias[i] = -INFINITY;
    }
}

bool mask_row(const struct mask *mask, size_t item, size_t head, size_t query, double *bias)
{
    const struct span span = mask_span(mask, item, query);
    bool empty = true;
    for (size_t key = 0; key < mask->keys; key++)
        bias[key] = key >= span.first && key < span.end ? 0 : -INFINITY;
    if (mask_has_bias(mask))
        mask_bias(mask, item, head, query, span.first, span.end - span.first, bias + span.first);
    for (size_t key = span.first; key < span.end && empty; key++)
        empty = bias[key] == -INFINITY;
    return empty;
}

enum mask_rule mask_rule_of(const struct mask *mask, size_t item, size_t head, size_t query, size_t key)
{
    const struct mask_query of = mask_query_of(mask, item, query);
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_functions *functions = MASKS[rule].functions;
        if (functions->reach == NULL || !functions->applies(mask))
            continue;
        const struct mask_reach reach = functions->reach(mask, &of);
        if ((int64_t)key < reach.first || (int64_t)key >= reach.end ||
            (mask->given[rule].scattered && functions->forbids(mask, &of, key)))
            return rule;
    }
    if (key >= mask->masked_keys)
        return MASK_SHORT;
    double bias;
    mask_bias(mask, item, head, query, key, 1, &bias);
    return bias == -INFINITY ? MASK_ENTRY : MASK_ALLOWS;
}

bool mask_forbids(const struct mask *mask, size_t item, size_t head, size_t query, size_t key)
{
    const struct span span = mask_span(mask, item, query);
    double bias;
    if (key < span.first || key >= span.end)
        return true;
    mask_bias(mask, item, head, query, key, 1, &bias);
    return bias == -INFINITY;
}

bool mask_is_empty(const struct mask *mask, size_t item, size_t head, size_t query)
{
    const struct span span = mask_span(mask, item, query);
    size_t key = span.first;
    while (key < span.end && mask_forbids(mask, item, head, query, key))
        key++;
    return key == span.end;
}

/* --- attn_mask and rules of single keys, a run of keys at a time ------------------------------------------------- */

enum { CACHE_LINE = 64 };

/* Compilers vectorise the inner loop. */
static unsigned scan_booleans(const uint8_t *booleans, size_t stride, size_t rows, size_t count, bool true_drops)
{
    uint8_t some_true = 0, some_false = 0;
    for (size_t i = 0; i < rows && (some_true == 0 || some_false == 0); i++)
        for (size_t j = 0; j < count; j++) {
            some_true |= booleans[i * stride + j];
            some_false |= booleans[i * stride + j] == 0;
        }
    const unsigned of_true = true_drops ? MASK_SAYS_FORBIDDEN : MASK_SAYS_PLAIN;
    const unsigned of_false = true_drops ? MASK_SAYS_PLAIN : MASK_SAYS_FORBIDDEN;
    return (some_true ? of_true : 0) | (some_false ? of_false : 0);
}

static const void *number_at(const struct mask *mask, size_t at)
{
    return (const char *)mask->attn_mask.data + at * dtype_size(mask->attn_mask.dtype);
}

/* The MASK_SAYS bits of rules of single keys for runs of keys. */
static unsigned scan_cells(const struct mask *mask, size_t item, size_t query, size_t rows, size_t first, size_t count)
{
    const unsigned both = MASK_SAYS_PLAIN | MASK_SAYS_FORBIDDEN;
    unsigned says = 0;
    for (size_t row = 0; row < rows && says != both; row++) {
        const struct mask_query of = mask_query_of(mask, item, query + row);
        for (size_t i = 0; i < count && says != both; i++)
            says |= forbids_cell(mask, &of, first + i) ? MASK_SAYS_FORBIDDEN : MASK_SAYS_PLAIN;
    }
    return says;
}

static unsigned scan_attn_mask(const struct mask *mask, mask_scanner *scan, size_t item, size_t head, size_t query,
                               size_t rows, size_t first, size_t count)
{
    const size_t stride = mask->strides[3], numbers = stride == 0 ? 1 : count;
    const void *row = number_at(mask, row_start(mask, item, head, query) + first * stride);
    return dtype_is_boolean(mask->attn_mask.dtype)
               ? scan_booleans(row, mask->strides[2], rows, numbers, mask->true_drops)
               : scan(row, mask->strides[2], rows, numbers);
}

unsigned mask_scan(const struct mask *mask, mask_scanner *scan, size_t item, size_t head, size_t query, size_t rows,
                   size_t first, size_t count)
{
    const unsigned cells = mask_has_cells(mask) ? scan_cells(mask, item, query, rows, first, count) : MASK_SAYS_PLAIN;
    if (mask->attn_mask.rank == 0 || cells == MASK_SAYS_FORBIDDEN)
        return cells;
    const unsigned says = scan_attn_mask(mask, scan, item, head, query, rows, first, count);
    if (cells == MASK_SAYS_PLAIN || says == MASK_SAYS_FORBIDDEN)
        return says;
    return MASK_SAYS_MORE; /* each of the two forbids some */
}

static void load_booleans(const uint8_t *booleans, size_t count, bool true_drops, enum dtype number, void *bias)
{
    for (size_t i = 0; i < count && number == DTYPE_F32; i++)
        ((float *)bias)[i] = (booleans[i] != 0) == true_drops ? -INFINITY : 0;
    for (size_t i = 0; i < count && number == DTYPE_F64; i++)
        ((double *)bias)[i] = (booleans[i] != 0) == true_drops ? -INFINITY : 0;
}

static void load_attn_mask(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
                           enum dtype number, void *bias)
{
    const size_t stride = mask->strides[3], numbers = stride == 0 ? 1 : count, size = dtype_size(number);
    const void *row = number_at(mask, row_start(mask, item, head, query) + first * stride);
    if (dtype_is_boolean(mask->attn_mask.dtype))
        load_booleans(row, numbers, mask->true_drops, number, bias);
    else
        memcpy(bias, row, numbers * size);
    for (size_t i = numbers; i < count; i++)
        memcpy((char *)bias + i * size, bias, size);
}

void mask_load(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               enum dtype number, void *bias)
{
    const size_t size = dtype_size(number);
    if (mask->attn_mask.rank > 0)
        load_attn_mask(mask, item, head, query, first, count, number, bias);
    else
        memset(bias, 0, count * size);
    if (!mask_has_cells(mask))
        return;
    const struct mask_query of = mask_query_of(mask, item, query);
    for (size_t i = 0; i < count; i++)
        if (forbids_cell(mask, &of, first + i))
            dtype_store(number, &(double){-INFINITY}, 1, (char *)bias + i * size);
}

void mask_prefetch(const struct mask *mask, size_t item, size_t head, size_t query, size_t rows, size_t first,
                   size_t count)
{
    if (mask->attn_mask.rank == 0 || mask->strides[3] == 0)
        return;
    const size_t size = dtype_size(mask->attn_mask.dtype);
    for (size_t i = 0; i < rows; i++) {
        const char *row = number_at(mask, row_start(mask, item, head, query + i) + first);
        for (size_t done = 0; done < count * size; done += CACHE_LINE)
            __builtin_prefetch(row + done, 0, 2);
    }
}
