/* SPDX-License-Identifier: MIT */
#include "heads/heads.h"

#include "base/hash.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_ONCE = 64 };
static const size_t NONE = SIZE_MAX;

/* What a row adds to the means; uniform is 0 where it does not count. */
struct row_sums {
    double sums[HEAD_MEASURES], uniform[HEAD_MEASURES], map[HEADS_MAP];
    bool counts;
};

struct scan {
    struct result *result;
    const struct problem *problem;
    const struct result_table *table;
    size_t matrix, item, head, first;
    size_t row_block, column_block; /* of the map */
    size_t *earlier, *slots, mask;  /* (Tk) the last earlier key with the same label, or NONE; NULL: no labels */
    double *weights, *bias;         /* (ROWS_AT_ONCE, Tk), (threads, Tk) */
    struct row_sums rows[ROWS_AT_ONCE];
};

/* The key that is the query's own token, or NONE. */
static size_t own_key(const struct problem *problem, size_t item, size_t query)
{
    const struct mask *mask = &problem->mask;
    const size_t first = problem->labels.first_query;
    if (problem->given.is_cross)
        return NONE;
    if (!mask->causal && mask->left < 0 && mask->right < 0)
        return first != SIZE_MAX ? first + query : NONE;
    const int64_t position = (int64_t)query + mask_offset(mask, item, query);
    return position >= 0 && (uint64_t)position < problem->size.keys ? (size_t)position : NONE;
}

/* Finds the earlier key of each label through a hash table of the last key, from 1, of each. */
static void list_earlier(struct scan *scan)
{
    const char **labels = problem_key_labels(scan->problem, scan->item);
    memset(scan->slots, 0, (scan->mask + 1) * sizeof *scan->slots);
    for (size_t key = 0; labels != NULL && key < scan->problem->size.keys; key++) {
        size_t at = (size_t)hash_text(HASH_START, labels[key]) & scan->mask;
        while (scan->slots[at] != 0 && strcmp(labels[scan->slots[at] - 1], labels[key]) != 0)
            at = (at + 1) & scan->mask;
        scan->earlier[key] = scan->slots[at] - 1;
        scan->slots[at] = key + 1;
    }
}

/* Adds a key that the mask allows. */
static void add_key(struct row_sums *row, enum head_measure measure, size_t key, const double *weights,
                    const double *bias, double uniform)
{
    if (key == NONE || isinf(bias[key]))
        return;
    row->sums[measure] += weights[key];
    row->uniform[measure] += uniform;
}

static void read_row(void *context, size_t i, unsigned thread)
{
    struct scan *scan = context;
    const struct mask *mask = &scan->problem->mask;
    const size_t query = scan->problem->chosen.rows[scan->first + i], keys = mask->keys;
    const size_t own = own_key(scan->problem, scan->item, query), start = mask_sequence(mask, query).first;
    const double *weights = scan->weights + i * keys;
    double *bias = scan->bias + thread * keys, allowed = 0;
    struct row_sums *row = &scan->rows[i];
    *row = (struct row_sums){.counts = !mask_row(mask, scan->item, scan->head, query, bias)};
    for (size_t key = 0; key < keys; key++) {
        double *largest = &row->map[key / scan->column_block];
        *largest = fmax(*largest, weights[key]);
        allowed += isinf(bias[key]) == 0;
    }
    row->counts = row->counts && (own == NONE || !isinf(bias[own]));
    if (!row->counts)
        return;
    row->sums[HEAD_ENTROPY] = result_sharpness(weights, keys).entropy;
    row->uniform[HEAD_ENTROPY] = log(allowed);
    add_key(row, HEAD_FIRST, own != start && start < keys ? start : NONE, weights, bias, 1 / allowed);
    add_key(row, HEAD_OWN, own, weights, bias, 1 / allowed);
    add_key(row, HEAD_PREVIOUS, own != NONE && own > 0 ? own - 1 : NONE, weights, bias, 1 / allowed);
    for (size_t same = own != NONE && scan->earlier != NULL ? own : NONE; same != NONE;) {
        same = scan->earlier[same];
        if (same == NONE || isinf(bias[same]))
            continue;
        add_key(row, HEAD_DUPLICATE, same, weights, bias, 1 / allowed);
        add_key(row, HEAD_INDUCTION, same + 1, weights, bias, 1 / allowed);
    }
}

static void add_row(const struct scan *scan, struct head_line *line, size_t i)
{
    const struct row_sums *row = &scan->rows[i];
    for (int measure = 0; measure < HEAD_MEASURES; measure++) {
        struct head_mean *mean = &line->means[measure];
        if (!row->counts || (measure != HEAD_ENTROPY && !(row->uniform[measure] > 0)))
            continue;
        mean->queries++; /* a running mean */
        mean->mean += (row->sums[measure] - mean->mean) / (double)mean->queries;
        mean->uniform += (row->uniform[measure] - mean->uniform) / (double)mean->queries;
    }
    double *map = line->map[(scan->first + i) / scan->row_block];
    for (size_t column = 0; column < HEADS_MAP && scan->item == 0; column++)
        map[column] = fmax(map[column], row->map[column]);
}

static enum status name_key(const struct scan *scan, bool of_keys, size_t index, struct head_key *key,
                            struct arena *arena, struct error *error)
{
    const char *label = problem_label(scan->problem, of_keys, scan->item, index, &key->position);
    key->label = label != NULL ? arena_copy(arena, label, error) : NULL;
    return error->status;
}

/* Lists the largest weights of a row; of equal ones the first. */
static enum status list_largest(struct scan *scan, struct head_line *line, size_t row, struct arena *arena,
                                struct error *error)
{
    const size_t keys = scan->problem->size.keys;
    result_row(scan->result, scan->table, scan->matrix, row, scan->weights);
    mask_row(&scan->problem->mask, scan->item, scan->head, scan->problem->chosen.rows[row], scan->bias);
    for (size_t largest; line->largest_count < HEADS_LARGEST; line->largest_count++) {
        largest = NONE;
        for (size_t key = 0; key < keys; key++)
            if (!isinf(scan->bias[key]) && (largest == NONE || scan->weights[key] > scan->weights[largest]))
                largest = key;
        if (largest == NONE)
            break;
        struct head_key *key = &line->largest[line->largest_count];
        key->weight = scan->weights[largest];
        scan->bias[largest] = -(double)INFINITY;
        if (name_key(scan, true, largest, key, arena, error) != STATUS_OK)
            return error->status;
    }
    return name_key(scan, false, row, &line->query, arena, error);
}

static enum status measure_matrix(struct scan *scan, struct head_line *line, unsigned threads, struct arena *arena,
                                  struct error *error)
{
    const size_t rows = scan->problem->chosen.row_count, keys = scan->problem->size.keys;
    size_t last = NONE, count;
    line->rows = (rows + scan->row_block - 1) / scan->row_block;
    line->columns = (keys + scan->column_block - 1) / scan->column_block;
    for (scan->first = 0; scan->first < rows; scan->first += count) {
        count = memory_smaller(ROWS_AT_ONCE, rows - scan->first);
        for (size_t i = 0; i < count; i++)
            result_row(scan->result, scan->table, scan->matrix, scan->first + i, scan->weights + i * keys);
        threads_run(threads, count, read_row, scan);
        for (size_t i = 0; i < count; i++) {
            add_row(scan, line, i);
            last = scan->rows[i].counts ? scan->first + i : last;
        }
    }
    return scan->item == 0 && last != NONE ? list_largest(scan, line, last, arena, error) : STATUS_OK;
}

enum status heads_measure(struct head_line *lines, struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const struct result_table *table = result_table_of(result, STAGE_WEIGHTS);
    const unsigned threads = result->attention.threads > 0 ? result->attention.threads : 1;
    const size_t keys = problem->size.keys, rows = problem->chosen.row_count;
    struct scan *scan = arena_allocate(arena, 1, sizeof *scan, error);
    size_t numbers;
    if (!memory_multiply(keys, memory_larger(ROWS_AT_ONCE, threads), &numbers))
        return error_system(error, 0, "not enough memory: too many keys");
    if (scan == NULL)
        return error->status;
    *scan = (struct scan){.result = result, .problem = problem, .table = table, .mask = 1};
    scan->row_block = (rows + HEADS_MAP - 1) / HEADS_MAP;
    scan->column_block = (keys + HEADS_MAP - 1) / HEADS_MAP;
    while (scan->mask < 2 * keys)
        scan->mask = 2 * scan->mask + 1;
    scan->weights = arena_allocate(arena, numbers, sizeof *scan->weights, error);
    scan->bias = arena_allocate(arena, numbers, sizeof *scan->bias, error);
    scan->slots = arena_allocate(arena, scan->mask + 1, sizeof *scan->slots, error);
    if (problem->labels.keys.texts != NULL)
        scan->earlier = arena_allocate(arena, keys, sizeof *scan->earlier, error);
    for (; error->status == STATUS_OK && scan->matrix < result_matrices(table); scan->matrix++) {
        result_place(table, scan->matrix, &scan->item, &scan->head);
        list_earlier(scan);
        measure_matrix(scan, &lines[scan->head], threads, arena, error);
    }
    return error->status;
}
