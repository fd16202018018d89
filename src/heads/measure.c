/* SPDX-License-Identifier: MIT */
#include "heads/heads.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

enum { ROWS_AT_ONCE = 64 };
static const size_t NONE = SIZE_MAX;

/* What a row adds to the means; uniform is 0 where it does not count. */
struct row_sums {
    bool counts;
    double sums[HEAD_MEASURES], uniform[HEAD_MEASURES], map[HEADS_MAP];
    struct head_key largest[HEADS_LARGEST]; /* without labels; 0: none */
};

struct scan {
    const struct problem *problem;
    size_t item, first;
    size_t row_block, column_block; /* of the map */
    size_t *earlier, *slots, mask;  /* (Tk) the last earlier key with the same label, or NONE; NULL: no labels */
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
    for (size_t key = 0; labels != NULL && scan->earlier != NULL && key < scan->problem->size.keys; key++) {
        size_t at = (size_t)hash_text(HASH_START, labels[key]) & scan->mask;
        while (scan->slots[at] != 0 && strcmp(labels[scan->slots[at] - 1], labels[key]) != 0)
            at = (at + 1) & scan->mask;
        scan->earlier[key] = scan->slots[at] - 1;
        scan->slots[at] = key + 1;
    }
}

/* Keeps the key among the largest; of equal ones the first. */
static void rank_key(struct row_sums *row, size_t key, double weight)
{
    struct head_key added = {.position = key + 1, .weight = weight};
    bool moved = false;
    for (size_t i = 0; i < HEADS_LARGEST; i++)
        if (moved || row->largest[i].position == 0 || added.weight > row->largest[i].weight) {
            const struct head_key next = row->largest[i];
            row->largest[i] = added;
            added = next;
            moved = true;
        }
}

/* Adds a key that the mask allows. */
static void add_key(struct row_sums *row, enum head_measure measure, size_t key, double uniform,
                    const struct attention_scratch *scratch)
{
    if (key == NONE || isinf(scratch->bias[key]))
        return;
    row->sums[measure] += scratch->rows[STAGE_WEIGHTS][key];
    row->uniform[measure] += uniform;
}

static void read_row(void *context, size_t i, const struct attention_scratch *scratch)
{
    struct scan *scan = context;
    const double *weights = scratch->rows[STAGE_WEIGHTS], *bias = scratch->bias;
    const size_t keys = scan->problem->size.keys, query = scan->problem->chosen.rows[scan->first + i];
    const size_t own = own_key(scan->problem, scan->item, query);
    const size_t start = mask_sequence(&scan->problem->mask, query).first;
    struct row_sums *row = &scan->rows[i];
    double allowed = 0;
    *row = (struct row_sums){0};
    for (size_t key = 0; key < keys; key++) {
        double *largest = &row->map[key / scan->column_block];
        if (isinf(bias[key]))
            continue;
        allowed++;
        *largest = fmax(*largest, weights[key]);
        rank_key(row, key, weights[key]);
    }
    row->counts = allowed > 0 && (own == NONE || !isinf(bias[own]));
    if (!row->counts)
        return;
    row->sums[HEAD_ENTROPY] = result_sharpness(weights, keys).entropy;
    row->uniform[HEAD_ENTROPY] = log(allowed);
    add_key(row, HEAD_FIRST, own != start && start < keys ? start : NONE, 1 / allowed, scratch);
    add_key(row, HEAD_OWN, own, 1 / allowed, scratch);
    add_key(row, HEAD_PREVIOUS, own != NONE && own > 0 ? own - 1 : NONE, 1 / allowed, scratch);
    size_t same = own != NONE && scan->earlier != NULL ? scan->earlier[own] : NONE;
    for (; same != NONE; same = scan->earlier[same]) {
        add_key(row, HEAD_DUPLICATE, same, 1 / allowed, scratch);
        add_key(row, HEAD_INDUCTION, isinf(bias[same]) ? NONE : same + 1, 1 / allowed, scratch);
    }
}

static void add_row(const struct scan *scan, struct head_line *line, size_t i)
{
    const struct row_sums *row = &scan->rows[i];
    double *map = line->map[(scan->first + i) / scan->row_block];
    for (size_t column = 0; column < HEADS_MAP && scan->item == 0; column++)
        map[column] = fmax(map[column], row->map[column]);
    for (int measure = 0; measure < HEAD_MEASURES && row->counts; measure++) {
        struct head_mean *mean = &line->means[measure];
        if (measure != HEAD_ENTROPY && !(row->uniform[measure] > 0))
            continue;
        mean->queries++; /* a running mean */
        mean->mean += (row->sums[measure] - mean->mean) / (double)mean->queries;
        mean->uniform += (row->uniform[measure] - mean->uniform) / (double)mean->queries;
    }
    if (!row->counts || scan->item > 0)
        return;
    line->query.position = scan->first + i + 1;
    memcpy(line->largest, row->largest, sizeof line->largest);
}

/* Names the query, or a key; until now it has its index among those, from 1. */
static void name_key(const struct problem *problem, struct head_key *key, bool of_keys, struct arena *arena,
                     struct error *error)
{
    if (key->position == 0)
        return;
    const char *label = problem_label(problem, of_keys, 0, key->position - 1, &key->position);
    key->label = label != NULL ? arena_copy(arena, label, error) : NULL;
}

enum status heads_measure(struct head_line *lines, struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t keys = problem->size.keys, rows = problem->chosen.row_count;
    struct scan *scan = arena_allocate(arena, 1, sizeof *scan, error);
    if (scan == NULL)
        return error->status;
    const size_t row_block = (rows + HEADS_MAP - 1) / HEADS_MAP, column_block = (keys + HEADS_MAP - 1) / HEADS_MAP;
    *scan = (struct scan){.problem = problem, .mask = 1, .row_block = row_block, .column_block = column_block};
    while (scan->mask < 2 * keys)
        scan->mask = 2 * scan->mask + 1;
    scan->slots = arena_allocate(arena, scan->mask + 1, sizeof *scan->slots, error);
    if (problem->labels.keys.texts != NULL)
        scan->earlier = arena_allocate(arena, keys, sizeof *scan->earlier, error);
    if (error->status != STATUS_OK)
        return error->status;
    progress_begin(result->progress, stage_name(STAGE_WEIGHTS),
                   (double)problem->size.items * (double)(problem->chosen.head > 0 ? 1 : problem->size.heads) *
                       (double)rows);
    for (double done = 0; scan->item < problem->size.items; scan->item++) {
        list_earlier(scan);
        for (struct head_line *line = lines; line != NULL; line = line->next) {
            line->rows = (rows + row_block - 1) / row_block;
            line->columns = (keys + column_block - 1) / column_block;
            for (size_t count; scan->first < rows; scan->first += count) {
                count = memory_smaller(memory_smaller(ROWS_AT_ONCE, result->rows.most), rows - scan->first);
                row_stream_run(&(struct row_run){&result->rows, STAGE_BIT(STAGE_WEIGHTS), scan->item, line->head - 1,
                                                 scan->first, read_row, .context = scan},
                               count);
                for (size_t i = 0; i < count; i++)
                    add_row(scan, line, i);
                progress_update(result->progress, done += (double)count);
            }
            scan->first = 0;
        }
    }
    for (struct head_line *line = lines; line != NULL; line = line->next) {
        name_key(problem, &line->query, false, arena, error);
        for (size_t i = 0; i < HEADS_LARGEST; i++)
            name_key(problem, &line->largest[i], true, arena, error);
    }
    return error->status;
}
