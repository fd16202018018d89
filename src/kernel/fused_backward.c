/* SPDX-License-Identifier: MIT */
#include "kernel/fused_backward.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_PART = 256, /* keys or queries of a part, about */
    MOST_PARTS = 16,  /* and rounds: each starts threads again */
    ROWS = 7, /* of a thread's scratch besides its blocks: row_maximum, any_allowed, from, till, distance, slope, ones
                 */
    COLUMNS = 64, /* loaded as doubles at once */
};

static const double LOG2_E = 1.4426950408889634;

/* --- the plan ---------------------------------------------------------------------------------------------------- */

/* A packed matrix: its offset in the room of a key head, and the bytes of one tile of queries, or of all. */
struct packed {
    size_t offset, bytes;
};

struct plan {
    const struct fused_backward_job *back;
    const struct fused_job *job; /* of the forward pass */
    const struct kernel *kernel;
    size_t group, key_heads, heads_per_item;
    size_t size, row;                    /* bytes of a number, and of a row of W of them */
    size_t tiles;                        /* of W queries, in a head */
    size_t panels, value_panels;         /* of W columns that hold d and d_v */
    struct kernel_adjustment adjustment; /* the part that all tiles share */
    double factor;                       /* adjusted scores x factor are logits to the base 2 */
    bool adjusted;                       /* every tile */
    bool biased, relative;               /* the mask has attn_mask; T5's table */
    size_t parts;                        /* of the queries and of the keys; some at the end may be empty */
    size_t part_tiles, part_keys;        /* in one */
    unsigned threads;
    size_t round;
    /* For each tile of a key head's queries: query (d, W) and grad_context (d_v, W); both as panels (W queries, W); the
     * sums of grad_query (d, W); lse to the base 2 (2, W) and delta (W). For the key head: the sums of grad_key and
     * grad_value as panels (Tk, W). */
    struct packed query, grad, query_panels, grad_panels, grad_query, lse, delta, grad_key, grad_value;
    size_t head_bytes, slots; /* of all these, and the key heads that have room at once */
    size_t thread_bytes;
    char *heads, *scratch; /* the room of these, and the scratch of the threads */
    size_t rest;           /* the first key head that threads share */
    struct work_counter counter;
};

/* Adjusts scores for ALiBi, T5's table and the softcap, as the forward pass does. A scale that is not positive
 * multiplies before the mask forbids keys. */
static void plan_units(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const struct mask *mask = job->mask;
    plan->biased = lanes_are_biased(job);
    plan->relative = mask != NULL && mask->relative != NULL;
    plan->factor = job->scale * LOG2_E;
    dtype_round(plan->kernel->number, &plan->factor, 1);
    plan->adjustment = (struct kernel_adjustment){.factor = plan->factor};
    plan->adjusted = lanes_cap(job, job->scale, &plan->adjustment) || !(job->scale > 0) || plan->relative ||
                     (mask != NULL && mask->alibi_slopes != NULL);
}

/* Chooses the parts, the same for any number of threads. */
static void plan_parts(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = plan->kernel->lanes, longer = memory_larger(job->queries, job->keys);
    plan->parts = memory_larger(1, memory_smaller(MOST_PARTS, longer / LEAST_PART));
    plan->part_tiles = work_ceil_divide(plan->tiles, plan->parts);
    plan->part_keys = work_ceil_divide(work_ceil_divide(job->keys, plan->parts), lanes) * lanes;
    plan->threads = work_threads(job->threads, 2.5 * (double)job->heads * (double)job->queries * (double)job->keys *
                                                   (double)(job->d + job->d_v));
    plan->threads = (unsigned)memory_smaller(plan->threads, plan->key_heads * plan->parts);
    plan->slots = memory_smaller(plan->threads, plan->key_heads);
    plan->rest = plan->key_heads / plan->threads * plan->threads;
    plan->counter.progress = &job->progress;
    plan->counter.total = (double)plan->key_heads * (double)plan->parts * (double)plan->parts;
}

static void lay_packed(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = plan->kernel;
    const size_t lanes = kernel->lanes, tiles = plan->group * plan->tiles;
    const struct {
        struct packed *packed;
        size_t rows, count; /* rows of W numbers of each, and how many */
    } kinds[] = {
        {&plan->query, job->d, tiles},
        {&plan->grad, job->d_v, tiles},
        {&plan->query_panels, plan->panels * lanes, tiles},
        {&plan->grad_panels, plan->value_panels * lanes, tiles},
        {&plan->grad_query, job->d, tiles},
        {&plan->lse, 2, tiles},
        {&plan->delta, 1, tiles},
        {&plan->grad_key, work_bytes(plan->panels, job->keys, 1), 1},
        {&plan->grad_value, work_bytes(plan->value_panels, job->keys, 1), 1},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        *kinds[i].packed = (struct packed){plan->head_bytes, kernel->context_bytes(kinds[i].rows)};
        plan->head_bytes = memory_sum(plan->head_bytes, work_bytes(kinds[i].packed->bytes, kinds[i].count, 1));
    }
}

/* Returns the bytes of scratch, SIZE_MAX where they do not fit a size_t. */
static size_t make_plan(struct plan *plan, const struct fused_backward_job *back)
{
    const struct fused_job *job = back->forward;
    const struct kernel *kernel = job->kernel;
    *plan = (struct plan){.back = back,
                          .job = job,
                          .kernel = kernel,
                          .group = job->group > 0 ? job->group : 1,
                          .heads_per_item = job->heads_per_item > 0 ? job->heads_per_item : job->heads,
                          .size = dtype_size(kernel->number),
                          .row = kernel->lanes * dtype_size(kernel->number),
                          .tiles = work_ceil_divide(job->queries, kernel->lanes),
                          .panels = work_ceil_divide(job->d, kernel->lanes),
                          .value_panels = work_ceil_divide(job->d_v, kernel->lanes)};
    plan->key_heads = job->heads / plan->group;
    plan_units(plan);
    plan_parts(plan);
    const size_t blocks = 2 + (size_t)(plan->biased || plan->relative) + (size_t)plan->adjustment.capped;
    plan->thread_bytes = kernel->context_bytes(blocks * KERNEL_KEYS + ROWS);
    lay_packed(plan);
    return work_scratch_bytes(work_bytes(plan->head_bytes, plan->slots, 1), plan->thread_bytes, plan->threads);
}

/* --- rows of queries --------------------------------------------------------------------------------------------- */

/* A key head and its room. */
struct place {
    size_t key_head;
    char *at;
};

static struct place place_of(const struct plan *plan, size_t key_head, size_t slot)
{
    return (struct place){key_head, plan->heads + slot * plan->head_bytes};
}

static char *of_tile(const struct plan *plan, const struct place *place, const struct packed *packed, size_t head,
                     size_t tile)
{
    return place->at + packed->offset + (head % plan->group * plan->tiles + tile) * packed->bytes;
}

static size_t tile_count(const struct plan *plan, size_t tile)
{
    return memory_smaller(plan->kernel->lanes, plan->job->queries - tile * plan->kernel->lanes);
}

/* Copies rows (count, columns) to consecutive panels of W columns, `apart` rows each; `back`: from panels to rows. */
static void copy_panels(const struct plan *plan, char *rows, size_t count, size_t columns, char *panels, size_t apart,
                        bool back)
{
    const size_t lanes = plan->kernel->lanes;
    for (size_t column = 0; column < columns; column += lanes, panels += apart * plan->row) {
        const size_t bytes = memory_smaller(lanes, columns - column) * plan->size;
        for (size_t i = 0; i < count; i++) {
            char *row = rows + (i * columns + column) * plan->size, *packed = panels + i * plan->row;
            memcpy(back ? row : packed, back ? packed : row, bytes);
        }
    }
}

/* Packs the rows of a tile, (count, columns), in both layouts. */
static void pack_rows(const struct plan *plan, const struct place *place, const void *matrix, size_t head, size_t tile,
                      size_t columns, const struct packed *packed, const struct packed *panels)
{
    const size_t lanes = plan->kernel->lanes, count = tile_count(plan, tile);
    char *rows = (char *)matrix + (head * plan->job->queries + tile * lanes) * columns * plan->size;
    char *panel = of_tile(plan, place, panels, head, tile);
    plan->kernel->pack_query(rows, count, columns, 1, of_tile(plan, place, packed, head, tile));
    if (columns % lanes > 0)
        memset(panel, 0, panels->bytes);
    copy_panels(plan, rows, count, columns, panel, lanes, false);
}

static void store_number(const struct plan *plan, double number, void *numbers, size_t index)
{
    dtype_store(plan->kernel->number, &number, 1, (char *)numbers + index * plan->size);
}

/* delta of a row: grad_context . context. */
static double row_delta(const struct plan *plan, size_t row)
{
    const size_t d_v = plan->job->d_v;
    double grad[COLUMNS], context[COLUMNS], sum = 0;
    for (size_t first = 0, count; first < d_v; first += count) {
        const size_t at = (row * d_v + first) * plan->size;
        count = memory_smaller(COLUMNS, d_v - first);
        dtype_load(plan->kernel->number, (const char *)plan->back->grad_context + at, count, grad);
        dtype_load(plan->kernel->number, (const char *)plan->job->context + at, count, context);
        for (size_t c = 0; c < count; c++)
            sum += grad[c] * context[c];
    }
    return sum;
}

/* lse does not show it: a row with a sink has the sink's. */
static bool is_empty(const struct plan *plan, size_t head, size_t query)
{
    const struct mask *mask = plan->job->mask;
    const size_t head_of_item = head % plan->heads_per_item;
    const double empty = mask != NULL && mask->sinks != NULL ? mask->sinks[head_of_item] : -INFINITY;
    return mask != NULL && plan->back->lse[head * plan->job->queries + query] == empty &&
           mask_is_empty(mask, head / plan->heads_per_item, head_of_item, query);
}

/* Writes lse, in two parts, and delta of the rows of a tile. Empty rows and unused lanes get an lse so large that every
 * weight is exactly 0. */
static void measure_rows(const struct plan *plan, const struct place *place, size_t head, size_t tile)
{
    const struct fused_job *job = plan->job;
    char *lses = of_tile(plan, place, &plan->lse, head, tile);
    char *deltas = of_tile(plan, place, &plan->delta, head, tile);
    for (size_t lane = 0; lane < plan->kernel->lanes; lane++) {
        const size_t query = tile * plan->kernel->lanes + lane, row = head * job->queries + query;
        const bool none = lane >= tile_count(plan, tile) || is_empty(plan, head, query);
        const double lse = none ? 0 : plan->back->lse[row];
        const double logit = isfinite(lse) ? lse * LOG2_E : (double)NAN;
        double first = logit;
        dtype_round(plan->kernel->number, &first, 1);
        const double delta = none ? 0 : row_delta(plan, row);
        store_number(plan, none ? dtype_largest(plan->kernel->number) : first, lses, lane);
        store_number(plan, none ? 0 : logit - first, lses + plan->row, lane);
        store_number(plan, delta, deltas, lane);
        if (plan->back->grad_sinks != NULL && !none)
            plan->back->grad_sinks[head] -= exp(job->mask->sinks[head % plan->heads_per_item] - lse) * delta;
    }
}

static void open_head(const struct plan *plan, const struct place *place, size_t head)
{
    const struct fused_job *job = plan->job;
    if (plan->back->grad_sinks != NULL)
        plan->back->grad_sinks[head] = 0;
    for (size_t tile = 0; tile < plan->tiles; tile++) {
        pack_rows(plan, place, job->query, head, tile, job->d, &plan->query, &plan->query_panels);
        pack_rows(plan, place, plan->back->grad_context, head, tile, job->d_v, &plan->grad, &plan->grad_panels);
        memset(of_tile(plan, place, &plan->grad_query, head, tile), 0, plan->grad_query.bytes);
        measure_rows(plan, place, head, tile);
    }
}

/* sums (W) += what the empty rows of a head add to each grad_value, in the columns from `first` on. */
static void add_empty_rows(const struct plan *plan, size_t head, size_t first, size_t count, double *sums)
{
    const struct fused_job *job = plan->job;
    double grad[KERNEL_MOST_LANES];
    for (size_t query = 0; query < job->queries; query++) {
        const size_t row = head * job->queries + query;
        if (!is_empty(plan, head, query))
            continue;
        dtype_load(plan->kernel->number, (const char *)plan->back->grad_context + (row * job->d_v + first) * plan->size,
                   count, grad);
        for (size_t c = 0; c < count; c++)
            sums[c] += job->mask->empty_row == EMPTY_ROW_NAN ? (double)NAN : grad[c] / (double)job->keys;
    }
}

/* Starts grad_value with what empty rows add to every key. */
static void open_values(const struct plan *plan, const struct place *place)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = plan->kernel->lanes;
    const size_t first_head = place->key_head * plan->group;
    char *panel = place->at + plan->grad_value.offset;
    memset(panel, 0, plan->grad_value.bytes);
    if (job->mask == NULL || job->mask->empty_row == EMPTY_ROW_ZERO)
        return;
    for (size_t first = 0; first < job->d_v; first += lanes) {
        double sums[KERNEL_MOST_LANES] = {0};
        for (size_t head = first_head; head < first_head + plan->group; head++)
            add_empty_rows(plan, head, first, memory_smaller(lanes, job->d_v - first), sums);
        for (size_t j = 0; j < job->keys; j++, panel += plan->row)
            dtype_store(plan->kernel->number, sums, lanes, panel);
    }
}

static void open_place(const struct plan *plan, const struct place *place)
{
    const size_t first = place->key_head * plan->group;
    for (size_t head = first; head < first + plan->group; head++)
        open_head(plan, place, head);
    memset(place->at + plan->grad_key.offset, 0, plan->grad_key.bytes);
    open_values(plan, place);
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* One tile of queries and a block of keys, and the thread's scratch. */
struct tile {
    struct place place;
    size_t head;
    size_t index; /* of the tile in its head */
    struct lanes lanes;
    size_t key, keys;     /* the first of the keys, and how many */
    void *scores, *grad;  /* (KERNEL_KEYS, W) */
    void *bias, *slopes;  /* the same; only with attn_mask or T5's table; with a softcap */
    void *row_maximum;    /* (W), of no use here */
    int32_t *any_allowed; /* (W), of no use here */
    int32_t *from, *till; /* (W) the keys in the lane's span, counted from `key` */
    void *distance, *slope;
    void *ones; /* (W) */
};

static struct tile open_tile(const struct plan *plan, char *scratch)
{
    const size_t block = KERNEL_KEYS * plan->row;
    struct tile tile = {.scores = scratch, .grad = scratch + block};
    char *at = scratch + 2 * block;
    tile.bias = at;
    at += plan->biased || plan->relative ? block : 0;
    tile.slopes = at;
    at += plan->adjustment.capped ? block : 0;
    tile.row_maximum = at;
    tile.any_allowed = (int32_t *)(void *)(at += plan->row);
    tile.from = (int32_t *)(void *)(at += plan->row);
    tile.till = (int32_t *)(void *)(at += plan->row);
    tile.distance = at += plan->row;
    tile.slope = at += plan->row;
    tile.ones = at + plan->row;
    for (size_t lane = 0; lane < plan->kernel->lanes; lane++)
        store_number(plan, 1, tile.ones, lane);
    memset(tile.row_maximum, 0, plan->row); /* kernels only raise it */
    memset(tile.any_allowed, 0, plan->row);
    return tile;
}

static char *of_queries(const struct plan *plan, const struct tile *tile, const struct packed *packed)
{
    return of_tile(plan, &tile->place, packed, tile->head, tile->index);
}

/* Narrows the keys key .. key + keys to the first .. last that any query is allowed; false if there is none. Neither
 * end of a span decreases from one query to the next. */
static bool cut_keys(const struct plan *plan, struct tile *tile)
{
    const size_t first = lanes_span(plan->job, tile->lanes.item, tile->lanes.first).first;
    const size_t end = memory_smaller(
        tile->key + tile->keys, lanes_span(plan->job, tile->lanes.item, tile->lanes.first + tile->lanes.count - 1).end);
    tile->key = memory_larger(tile->key, first);
    tile->keys = end > tile->key ? end - tile->key : 0;
    return tile->keys > 0;
}

/* Whether some query's span excludes some of the keys. */
static bool is_bounded(const struct plan *plan, const struct tile *tile)
{
    return lanes_span(plan->job, tile->lanes.item, tile->lanes.first + tile->lanes.count - 1).first > tile->key ||
           lanes_span(plan->job, tile->lanes.item, tile->lanes.first).end < tile->key + tile->keys;
}

/* Packs what attn_mask, unless plain, and T5's table add, with the room of the scores for the rows. */
static void pack_bias(const struct plan *plan, const struct tile *tile, bool plain)
{
    for (size_t i = 0; i < tile->lanes.count; i++)
        lanes_load_bias(plan->job, &tile->lanes, i, tile->key, tile->keys, plain,
                        (char *)tile->scores + i * KERNEL_KEYS * plan->size);
    plan->kernel->pack(tile->scores, KERNEL_KEYS, tile->lanes.count, tile->keys, tile->bias);
}

static struct kernel_keys keys_of(const struct plan *plan, const struct tile *tile, const void *matrix, size_t columns)
{
    const size_t row = tile->place.key_head * plan->job->keys + tile->key;
    return (struct kernel_keys){.key = (const char *)matrix + row * columns * plan->size,
                                .value = (const char *)matrix + row * columns * plan->size,
                                .count = tile->keys,
                                .d = columns,
                                .d_v = columns,
                                .ahead = KERNEL_KEYS};
}

static void adjust_scores(const struct plan *plan, const struct tile *tile, const void *bias)
{
    struct kernel_adjustment adjustment = plan->adjustment;
    adjustment.bias = bias;
    adjustment.first = tile->from;
    adjustment.end = tile->till;
    if (plan->job->mask != NULL && plan->job->mask->alibi_slopes != NULL) {
        lanes_measure(plan->job, &tile->lanes, tile->key, tile->slope, tile->distance);
        adjustment.slope = tile->slope;
        adjustment.distance = tile->distance;
    }
    lanes_mark(plan->job, &tile->lanes, true, tile->key, tile->keys, tile->from, tile->till);
    if (adjustment.capped)
        plan->kernel->cap_slopes(&adjustment, tile->keys, tile->scores, tile->slopes);
    plan->kernel->adjust(&adjustment, tile->keys, tile->scores, tile->row_maximum, tile->any_allowed);
}

/* Makes the scores of the tile; times *factor they are logits to the base 2. False if attn_mask forbids them all. */
static bool make_scores(const struct plan *plan, const struct tile *tile, double *factor)
{
    const struct kernel_keys keys = keys_of(plan, tile, plan->job->key, plan->job->d);
    const char *query = of_queries(plan, tile, &plan->query);
    const struct lanes *lanes = &tile->lanes;
    const unsigned says = plan->biased ? mask_scan(plan->job->mask, plan->kernel->scan, lanes->item, lanes->head,
                                                   lanes->first, lanes->count, tile->key, tile->keys)
                                       : MASK_SAYS_PLAIN;
    const bool plain = says == MASK_SAYS_PLAIN, adjusted = plan->adjusted || !plain;
    if (says == MASK_SAYS_FORBIDDEN)
        return false;
    const bool bounded = !adjusted && is_bounded(plan, tile);
    if (!plain || plan->relative)
        pack_bias(plan, tile, plain);
    if (bounded)
        lanes_mark(plan->job, &tile->lanes, true, tile->key, tile->keys, tile->from, tile->till);
    plan->kernel->scores(&keys, 0, tile->keys, query, bounded ? tile->from : NULL, bounded ? tile->till : NULL,
                         tile->scores, bounded ? tile->row_maximum : NULL);
    if (adjusted)
        adjust_scores(plan, tile, !plain || plan->relative ? tile->bias : NULL);
    *factor = adjusted ? 1 : plan->factor;
    return true;
}

/* sums (Tk, W), panel by panel, += what the tile adds to its keys: numbers (keys, W) x rows (W queries, columns). */
static void add_to_keys(const struct plan *plan, const struct tile *tile, const void *numbers,
                        const struct packed *rows, const struct packed *sums, size_t panels)
{
    const size_t lanes = plan->kernel->lanes;
    const char *panel = of_queries(plan, tile, rows);
    char *sum = tile->place.at + sums->offset + tile->key * plan->row;
    for (size_t i = 0; i < panels; i++, panel += lanes * plan->row, sum += plan->job->keys * plan->row)
        plan->kernel->project(numbers, lanes, tile->keys, tile->lanes.count, panel, sum);
}

static void differentiate_tile(const struct plan *plan, struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = plan->kernel;
    double factor;
    if (!cut_keys(plan, tile) || !make_scores(plan, tile, &factor))
        return;
    const struct kernel_keys keys = keys_of(plan, tile, job->key, job->d);
    const struct kernel_keys values = keys_of(plan, tile, job->value, job->d_v);
    kernel->scores(&values, 0, tile->keys, of_queries(plan, tile, &plan->grad), NULL, NULL, tile->grad, NULL);
    kernel->differentiate(tile->scores, tile->keys, factor, of_queries(plan, tile, &plan->lse),
                          of_queries(plan, tile, &plan->delta), plan->adjustment.capped ? tile->slopes : NULL,
                          job->scale, tile->grad);
    kernel->values(&keys, 0, tile->keys, tile->grad, tile->ones, of_queries(plan, tile, &plan->grad_query));
    add_to_keys(plan, tile, tile->scores, &plan->grad_panels, &plan->grad_value, plan->value_panels);
    add_to_keys(plan, tile, tile->grad, &plan->query_panels, &plan->grad_key, plan->panels);
}

/* --- parts ------------------------------------------------------------------------------------------------------- */

/* The tiles of a part of the queries of a head against a block of keys. */
static void differentiate_block(const struct plan *plan, size_t head, size_t part, size_t key, size_t keys,
                                struct tile *tile)
{
    const size_t lanes = plan->kernel->lanes;
    const size_t end = memory_smaller((part + 1) * plan->part_tiles, plan->tiles);
    tile->head = head;
    for (size_t i = part * plan->part_tiles; i < end; i++) {
        tile->index = i;
        tile->lanes = (struct lanes){head / plan->heads_per_item, head % plan->heads_per_item, i * lanes,
                                     tile_count(plan, i), tile_count(plan, i)};
        tile->key = key;
        tile->keys = keys;
        differentiate_tile(plan, tile);
    }
}

/* Runs one part of the keys in a round, block by block while in the cache, for all heads that read them. */
static void run_part(struct plan *plan, const struct place *place, size_t part, size_t round, unsigned thread)
{
    const size_t query_part = (round + plan->parts - part) % plan->parts, first = place->key_head * plan->group;
    const size_t end = memory_smaller((part + 1) * plan->part_keys, plan->job->keys);
    struct tile tile = open_tile(plan, plan->scratch + thread * plan->thread_bytes);
    tile.place = *place;
    for (size_t key = part * plan->part_keys; key < end; key += KERNEL_KEYS)
        for (size_t head = first; head < first + plan->group; head++)
            differentiate_block(plan, head, query_part, key, memory_smaller(KERNEL_KEYS, end - key), &tile);
    work_count(&plan->counter, 1, thread);
}

static void close_head(const struct plan *plan, const struct place *place, size_t head)
{
    const struct fused_job *job = plan->job;
    const size_t d = job->d;
    for (size_t tile = 0; tile < plan->tiles; tile++)
        plan->kernel->unpack(
            of_tile(plan, place, &plan->grad_query, head, tile), 0, tile_count(plan, tile), d,
            (char *)plan->back->grad_query + (head * job->queries + tile * plan->kernel->lanes) * d * plan->size, d);
}

static void close_keys(const struct plan *plan, const struct place *place, const struct packed *sums, size_t columns,
                       void *matrix)
{
    const size_t keys = plan->job->keys;
    copy_panels(plan, (char *)matrix + place->key_head * keys * columns * plan->size, keys, columns,
                place->at + sums->offset, keys, true);
}

static void close_place(const struct plan *plan, const struct place *place)
{
    const size_t first = place->key_head * plan->group;
    for (size_t head = first; head < first + plan->group; head++)
        close_head(plan, place, head);
    close_keys(plan, place, &plan->grad_key, plan->job->d, plan->back->grad_key);
    close_keys(plan, place, &plan->grad_value, plan->job->d_v, plan->back->grad_value);
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

/* A key head that one thread does alone. */
static void head_task(void *context, size_t key_head, unsigned thread)
{
    struct plan *plan = context;
    const struct place place = place_of(plan, key_head, thread);
    open_place(plan, &place);
    for (size_t round = 0; round < plan->parts; round++)
        for (size_t part = 0; part < plan->parts; part++)
            run_part(plan, &place, part, round, thread);
    close_place(plan, &place);
}

/* Opens the key heads that threads share, fewer than there are threads. */
static void open_task(void *context, size_t slot, unsigned thread)
{
    const struct plan *plan = context;
    const struct place place = place_of(plan, plan->rest + slot, slot);
    (void)thread;
    open_place(plan, &place);
}

static void part_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const size_t slots = plan->key_heads - plan->rest;
    const struct place place = place_of(plan, plan->rest + task % slots, task % slots);
    run_part(plan, &place, task / slots, plan->round, thread);
}

static void close_task(void *context, size_t slot, unsigned thread)
{
    const struct plan *plan = context;
    const struct place place = place_of(plan, plan->rest + slot, slot);
    (void)thread;
    close_place(plan, &place);
}

static void run_plan(struct plan *plan)
{
    const size_t rest = plan->key_heads - plan->rest;
    threads_run(plan->threads, plan->rest, head_task, plan);
    threads_run(plan->threads, rest, open_task, plan);
    for (plan->round = 0; plan->round < plan->parts && rest > 0; plan->round++)
        threads_run(plan->threads, rest * plan->parts, part_task, plan);
    threads_run(plan->threads, rest, close_task, plan);
}

size_t fused_backward_scratch_bytes(const struct fused_backward_job *job)
{
    struct plan plan;
    return make_plan(&plan, job);
}

enum status fused_backward(const struct fused_backward_job *job, struct error *error)
{
    struct plan plan;
    struct arena arena = {0};
    char *scratch = work_scratch(&arena, make_plan(&plan, job), error);
    if (scratch == NULL)
        return error->status;
    plan.heads = scratch;
    plan.scratch = scratch + plan.slots * plan.head_bytes;
    run_plan(&plan);
    arena_free(&arena);
    work_end(&job->forward->progress);
    return STATUS_OK;
}
