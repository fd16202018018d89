/* SPDX-License-Identifier: MIT */
#include "kernel/lanes.h"

#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    TASK_BYTES = 1 << 19, /* of tiles: half a usual L2 cache; a wide d has narrower tasks */
    TASKS_PER_THREAD = 8, /* at least, if there is work, so that all threads end together */
    MOST_TILES = 32,
    GROUP_KEYS = 64 * KERNEL_KEYS, /* summed apart: errors grow with the length of a chain */
    TILE_ROWS = 4,     /* of a tile's scratch: row_maximum, maximum, any_allowed, sum; logs if a statistic needs them */
    EARLIER_ROWS = 2,  /* of the earlier groups: maximum, sum; logs if a statistic needs them */
    BLOCK_ROWS = 5,    /* of a block's scratch besides the scores: rescale, distance, slope, from, till */
    MEAN_COLUMNS = 64, /* of value, summed at once */
};

static const double LOG2_E = 1.4426950408889634;

/* --- the plan ---------------------------------------------------------------------------------------------------- */

struct plan {
    const struct fused_job *job;
    const struct kernel *kernel;
    size_t items, heads_per_item;
    size_t size, row;          /* bytes of one of the kernel's numbers, and of a row of W of them */
    size_t key_row, value_row; /* bytes of a given row of query or key, and of value */
    double factor;             /* scores x factor are logits to the base 2; above 0 */
    double
        query_prescale; /* factor of a query as it is packed: the sign of the scale, times the factor if the query, not
                           `factor`, holds it */
    struct kernel_adjustment adjustment; /* the part that all blocks share */
    bool adjusted;                       /* softcap, ALiBi or T5's table adjust every block */
    bool biased;                         /* the mask has attn_mask or rules of single keys */
    bool relative;                       /* the mask has T5's table */
    bool grouped;                        /* the keys make more than one group */
    bool logs;                           /* a statistic needs logs */
    unsigned threads;
    size_t heads_per_tile; /* heads of one key head that share a tile: 1, or more where queries are few */
    size_t tiles;          /* in a task */
    size_t blocks;         /* of queries, a task each, per tile of heads */
    size_t tile_bytes;     /* scratch of one tile */
    size_t block_bytes;    /* scratch for a block of keys, */
    size_t keys_bytes;     /* and in it, what the kernel makes of them */
    size_t rows_bytes;     /* for the rows of a tile that `row_sink` takes */
    char *scratch;
    atomic_bool wrong_key, wrong_value, wrong_query; /* something is not finite */
    struct work_counter counter;
};

/* From the first to the last key that any of these queries is allowed. */
static struct span joint_span(const struct fused_job *job, size_t item, size_t first, size_t count)
{
    const struct span span = {lanes_span(job, item, first).first, lanes_span(job, item, first + count - 1).end};
    return span.first < span.end ? span : (struct span){0, 0};
}

/* Keys x queries of one head, in full tiles, as a measure of work. A tile without a key counts, too. */
static uint64_t block_work(const struct fused_job *job, size_t item, size_t first, size_t count)
{
    const size_t lanes = job->kernel->lanes;
    uint64_t work = 0;
    for (size_t done = 0; done < count; done += lanes) {
        const struct span span = joint_span(job, item, first + done, memory_smaller(lanes, count - done));
        work += (uint64_t)lanes * (span.end - span.first + 1);
    }
    return work;
}

static void plan_sizes(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = plan->kernel;
    const size_t rows = plan->biased || plan->relative ? 2 * KERNEL_KEYS : KERNEL_KEYS,
                 context = kernel->context_bytes(job->d_v),
                 earlier = memory_sum(context, kernel->context_bytes((size_t)EARLIER_ROWS + plan->logs));
    plan->keys_bytes = kernel->keys_bytes(job->d, job->d_v);
    plan->rows_bytes = job->row_sink.take != NULL ? context : 0;
    plan->tile_bytes = memory_sum(memory_sum(kernel->query_bytes(job->d), context),
                                  kernel->context_bytes((size_t)TILE_ROWS + plan->logs));
    plan->tile_bytes = memory_sum(plan->tile_bytes, plan->grouped ? earlier : 0);
    plan->block_bytes = memory_sum(kernel->context_bytes(rows + BLOCK_ROWS), plan->keys_bytes);
}

bool fused_takes_scale(enum dtype number, double scale)
{
    return fabs(scale) * LOG2_E <= dtype_largest(number);
}

/* If nothing is added to scores, they stay plain products until the softmax scales them to the base 2. Else they are
 * logits to the base 2 from the start: the query holds the factor, or if it cannot, `adjust` applies it to every
 * block. */
static void plan_units(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const struct mask *mask = job->mask;
    const double scale = fabs(job->scale);
    const bool added = mask != NULL && (mask_has_bias(mask) || mask->sinks != NULL);
    plan->factor = scale * LOG2_E;
    dtype_round(plan->kernel->number, &plan->factor, 1);
    plan->query_prescale = job->scale < 0 ? -1 : 1;
    plan->adjustment = (struct kernel_adjustment){.factor = 1};
    const bool capped = lanes_cap(job, scale, &plan->adjustment), held = !capped && (added || plan->factor == 0);
    if (held && plan->kernel->prescales_query)
        plan->query_prescale *= plan->factor;
    else if (held)
        plan->adjustment.factor = plan->factor;
    if (capped || held)
        plan->factor = 1;
    plan->adjusted = capped || (held && !plan->kernel->prescales_query) ||
                     (mask != NULL && mask->alibi_slopes != NULL) || plan->relative;
}

/* With few queries, heads that read the same keys share a tile's lanes. */
static size_t share_tiles(const struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t group = job->group > 1 ? job->group : 1;
    size_t heads = memory_smaller(group, plan->kernel->lanes / job->queries);
    while (heads > 1 && group % heads != 0)
        heads--;
    return heads > 1 ? heads : 1;
}

/* Chooses the queries of a task, and the threads; this changes no bits. */
static void plan_tasks(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = plan->kernel->lanes, rows = job->heads / plan->heads_per_tile;
    double work = 0;
    for (size_t item = 0; item < plan->items; item++)
        work += (double)plan->heads_per_item * (double)block_work(job, item, 0, job->queries);
    plan->threads = work_threads(job->threads, work * (double)(job->d + job->d_v));
    plan->tiles = memory_smaller(plan->kernel->task_queries / lanes, MOST_TILES);
    while (plan->tiles > 1 &&
           (memory_product(plan->tiles, plan->tile_bytes) > TASK_BYTES ||
            rows * work_ceil_divide(job->queries, plan->tiles * lanes) < (size_t)plan->threads * TASKS_PER_THREAD))
        plan->tiles /= 2;
    plan->blocks = work_ceil_divide(job->queries, plan->tiles * lanes);
    plan->threads = (unsigned)memory_smaller(plan->threads, rows * plan->blocks);
    plan->counter.progress = &job->progress;
    plan->counter.total = work;
}

static size_t thread_bytes(const struct plan *plan)
{
    return memory_sum(plan->block_bytes, memory_product(plan->tiles, memory_sum(plan->tile_bytes, plan->rows_bytes)));
}

/* Returns the bytes of scratch; SIZE_MAX on overflow. */
static size_t make_plan(struct plan *plan, const struct fused_job *job)
{
    const struct kernel *kernel = job->kernel;
    *plan = (struct plan){.job = job,
                          .kernel = kernel,
                          .heads_per_item = job->heads_per_item > 0 ? job->heads_per_item : job->heads,
                          .size = dtype_size(kernel->number),
                          .row = kernel->lanes * dtype_size(kernel->number),
                          .key_row = job->d * dtype_size(kernel->dtype),
                          .value_row = job->d_v * dtype_size(kernel->dtype)};
    plan->items = job->heads / plan->heads_per_item;
    plan->biased = lanes_are_biased(job);
    plan->relative = job->mask != NULL && job->mask->relative != NULL;
    plan->grouped = job->keys > GROUP_KEYS;
    for (size_t i = 0; i < job->statistic_count; i++)
        plan->logs = plan->logs || job->statistics[i].takes_logs;
    plan->heads_per_tile = share_tiles(plan);
    plan_units(plan);
    plan_sizes(plan);
    plan_tasks(plan);
    return work_scratch_bytes(0, thread_bytes(plan), plan->threads);
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* The heads of a tile: query heads of one key head; usually one, more if queries are few. */
struct place {
    size_t head, item;       /* the first of them */
    const char *key, *value; /* (Tk, d) and (Tk, d_v) */
    char *context;           /* (…, d_v) the context from first_row on */
    size_t first_row;        /* over all heads and queries */
};

/* W is the kernel's lanes. Sums and context of the current group of keys, and of the earlier groups (absent if there is
 * one group). */
struct tile {
    void *query;          /* packed, times plan->query_prescale */
    void *context;        /* (d_v, W), not yet divided by the sum */
    void *row_maximum;    /* (W) the largest score so far */
    void *maximum;        /* (W) the maximum that sum and context are relative to: that of the last block */
    int32_t *any_allowed; /* (W) -1: the row is not empty */
    void *sum;            /* (W) */
    void *logs;           /* (W) directly after the sum; NULL: no statistic needs them */
    void *earlier_context, *earlier_maximum, *earlier_sum, *earlier_logs;
    bool unmerged; /* the current group has sums that are not yet merged */
    struct lanes lanes;
    struct span any; /* from the first to the last key that any of its queries is allowed */
    struct span all; /* keys in the span of every query; first may be beyond end */
};

/* A thread's scratch for one block of keys. */
struct block {
    struct kernel_keys keys;
    void *scores;         /* (KERNEL_KEYS, W); holds rows of attn_mask first */
    void *bias;           /* (KERNEL_KEYS, W) packed; only with attn_mask or T5's table */
    void *rescale;        /* (W) */
    void *distance;       /* (W) of the query's position from the block's start */
    void *slope;          /* (W) */
    int32_t *from, *till; /* (W) the keys of the block in the lane's span */
    size_t start;         /* of the block: a multiple of KERNEL_KEYS */
    size_t first, count;  /* the keys to compute; first counts from the start */
};

/* The place of the task that begins with that query; `rows` holds its rows for a row_sink. */
static struct place find_place(const struct plan *plan, size_t head, size_t first, char *rows)
{
    const struct fused_job *job = plan->job;
    const bool taken = job->row_sink.take != NULL;
    const size_t key_head = head / (job->group > 0 ? job->group : 1);
    return (struct place){.head = head,
                          .item = head / plan->heads_per_item,
                          .key = (const char *)job->key + key_head * job->keys * plan->key_row,
                          .value = (const char *)job->value + key_head * job->keys * plan->value_row,
                          .context = taken ? rows : job->context,
                          .first_row = taken ? head * job->queries + first : 0};
}

static void get_lanes(const struct plan *plan, const void *row, double *numbers)
{
    dtype_load(plan->kernel->number, row, plan->kernel->lanes, numbers);
}

/* A sink counts as a logit before the first key and before the first group. */
static void open_sums(const struct plan *plan, const struct tile *tile)
{
    const struct mask *mask = plan->job->mask;
    const double largest = dtype_largest(plan->kernel->number);
    double row_maxima[KERNEL_MOST_LANES], sums[KERNEL_MOST_LANES], logs[KERNEL_MOST_LANES];
    const double none[KERNEL_MOST_LANES] = {0};
    for (size_t lane = 0; lane < plan->kernel->lanes; lane++) {
        row_maxima[lane] = -INFINITY;
        sums[lane] = logs[lane] = 0;
        if (mask == NULL || mask->sinks == NULL)
            continue;
        const double sink = mask->sinks[tile->lanes.head + lanes_head(&tile->lanes, lane)] * LOG2_E;
        row_maxima[lane] = fmax(-largest, fmin(largest, sink));
        dtype_round(plan->kernel->number, &row_maxima[lane], 1);
        const double rest = fmax(-1, fmin(1, sink - row_maxima[lane]));
        sums[lane] = exp2(rest);
        logs[lane] = sums[lane] * rest;
    }
    lanes_put(plan->job, row_maxima, tile->row_maximum);
    lanes_put(plan->job, row_maxima, tile->maximum);
    lanes_put(plan->job, plan->grouped ? none : sums, tile->sum);
    if (plan->logs)
        lanes_put(plan->job, plan->grouped ? none : logs, tile->logs);
    if (plan->grouped) {
        lanes_put(plan->job, row_maxima, tile->earlier_maximum);
        lanes_put(plan->job, sums, tile->earlier_sum);
    }
    if (plan->grouped && plan->logs)
        lanes_put(plan->job, logs, tile->earlier_logs);
}

/* With attn_mask, each block finds what is allowed. */
static void open_allowed(const struct plan *plan, const struct tile *tile)
{
    for (size_t lane = 0; lane < plan->kernel->lanes; lane++) {
        bool allowed = tile->all.first < tile->all.end;
        if (!plan->biased && !allowed && lane < tile->lanes.count) {
            const struct span span = lanes_span(plan->job, tile->lanes.item, lanes_query(&tile->lanes, lane));
            allowed = span.first < span.end;
        }
        tile->any_allowed[lane] = allowed && !plan->biased ? -1 : 0;
    }
}

static struct tile lay_tile(const struct plan *plan, size_t first, char *scratch)
{
    const struct kernel *kernel = plan->kernel;
    const size_t context = kernel->context_bytes(plan->job->d_v);
    struct tile tile = {.query = scratch, .lanes.first = first};
    char *at = scratch + kernel->query_bytes(plan->job->d);
    tile.context = at;
    tile.row_maximum = at += context;
    tile.maximum = at += plan->row;
    tile.any_allowed = (int32_t *)(void *)(at += plan->row);
    tile.sum = at += plan->row;
    tile.logs = plan->logs ? at + plan->row : NULL;
    at = (char *)tile.row_maximum + kernel->context_bytes((size_t)TILE_ROWS + plan->logs);
    tile.earlier_context = at;
    tile.earlier_maximum = at += context;
    tile.earlier_sum = at += plan->row;
    tile.earlier_logs = plan->logs ? at + plan->row : NULL;
    return tile;
}

static void open_tile(struct plan *plan, const struct place *place, struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = plan->kernel;
    const size_t context = kernel->context_bytes(job->d_v);
    const char *query = (const char *)job->query + (place->head * job->queries + tile->lanes.first) * plan->key_row;
    tile->lanes.item = place->item;
    tile->lanes.head = place->head % plan->heads_per_item;
    tile->lanes.queries = memory_smaller(kernel->lanes, job->queries - tile->lanes.first);
    tile->lanes.count = tile->lanes.queries * plan->heads_per_tile;
    tile->any = joint_span(job, place->item, tile->lanes.first, tile->lanes.queries);
    tile->all = (struct span){lanes_span(job, place->item, tile->lanes.first + tile->lanes.queries - 1).first,
                              lanes_span(job, place->item, tile->lanes.first).end};
    if (job->found != NULL && !kernel->finite(query, tile->lanes.count * job->d))
        atomic_store_explicit(&plan->wrong_query, true, memory_order_relaxed);
    kernel->pack_query(query, tile->lanes.count, job->d, plan->query_prescale, tile->query);
    memset(tile->context, 0, context);
    if (plan->grouped)
        memset(tile->earlier_context, 0, context);
    open_sums(plan, tile);
    open_allowed(plan, tile);
}

/* Ends a group of keys: merges its sums into those of the earlier groups and clears them. A tile or lane without an
 * allowed key in the group keeps its bits: its factor is 1. */
static void end_group(const struct plan *plan, struct tile *tile, const struct block *block)
{
    const struct kernel *kernel = plan->kernel;
    double ones[KERNEL_MOST_LANES];
    if (!tile->unmerged)
        return;
    kernel->softmax(block->scores, 0, plan->factor, tile->maximum, tile->earlier_maximum, tile->earlier_sum,
                    tile->earlier_logs, block->rescale);
    kernel->merge(tile->context, plan->job->d_v, block->rescale, tile->earlier_context);
    for (size_t lane = 0; lane < kernel->lanes; lane++)
        ones[lane] = 1;
    lanes_put(plan->job, ones, block->rescale);
    kernel->merge(tile->sum, (size_t)1 + plan->logs, block->rescale, tile->earlier_sum);
    tile->unmerged = false;
}

/* row (d_v) = the mean of the rows of value (Tk, d_v). */
static void mean_value(const struct plan *plan, const char *value, void *row)
{
    const struct fused_job *job = plan->job;
    double sums[MEAN_COLUMNS], numbers[MEAN_COLUMNS];
    for (size_t first = 0, count; first < job->d_v; first += count) {
        count = memory_smaller(MEAN_COLUMNS, job->d_v - first);
        memset(sums, 0, sizeof sums);
        for (size_t j = 0; j < job->keys; j++) {
            dtype_load(plan->kernel->dtype, value + j * plan->value_row + first * dtype_size(plan->kernel->dtype),
                       count, numbers);
            for (size_t c = 0; c < count; c++)
                sums[c] += numbers[c];
        }
        for (size_t c = 0; c < count; c++)
            sums[c] /= (double)job->keys;
        dtype_store(plan->kernel->number, sums, count, (char *)row + first * plan->size);
    }
}

/* The row (d_v) of the context of a lane. */
static char *context_row(const struct plan *plan, const struct place *place, const struct tile *tile, size_t lane)
{
    const struct fused_job *job = plan->job;
    const size_t n = job->side_by_side > 1 ? job->side_by_side : 1, head = place->head + lanes_head(&tile->lanes, lane);
    const size_t row = (head / n * job->queries + lanes_query(&tile->lanes, lane)) * n + head % n;
    return place->context + (row - place->first_row) * job->d_v * plan->size;
}

/* Fills the rows of queries without an allowed key: makes one, copies it to the others. */
static void fill_empty_rows(const struct plan *plan, const struct place *place, const struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const double filled = job->mask != NULL && job->mask->empty_row == EMPTY_ROW_NAN ? (double)NAN : 0;
    const char *made = NULL;
    for (size_t lane = 0; lane < tile->lanes.count; lane++) {
        char *row = context_row(plan, place, tile, lane);
        if (tile->any_allowed[lane])
            continue;
        if (made != NULL)
            memcpy(row, made, job->d_v * plan->size);
        else if (job->mask->empty_row == EMPTY_ROW_MEAN)
            mean_value(plan, place->value, row);
        for (size_t c = 0; c < job->d_v && made == NULL && job->mask->empty_row != EMPTY_ROW_MEAN; c++)
            dtype_store(plan->kernel->number, &filled, 1, row + c * plan->size);
        made = row;
    }
}

/* The sums of a lane; subtracts the sink for of_keys. */
static struct fused_sums lane_sums(const struct plan *plan, double sink, bool allowed, double maximum, double sum,
                                   double logs)
{
    const struct mask *mask = plan->job->mask;
    const double largest = maximum * plan->factor, above = sink * LOG2_E - largest;
    const double share = sink > -INFINITY ? exp2(above) : 0, of_sink = share > 0 ? share * above : 0;
    return (struct fused_sums){.largest = largest / LOG2_E,
                               .sum = sum > 0 || !allowed ? sum : (double)NAN,
                               .of_keys = sum < share ? 0 : sum - share,
                               .logs = plan->logs ? (logs - of_sink) / LOG2_E : 0,
                               .sink = sink,
                               .empty = !allowed,
                               .empty_row = mask != NULL ? mask->empty_row : EMPTY_ROW_ZERO,
                               .keys = plan->job->keys};
}

static void write_statistics(const struct plan *plan, const struct place *place, const struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const double *sinks = job->mask != NULL ? job->mask->sinks : NULL;
    double sums[KERNEL_MOST_LANES], maxima[KERNEL_MOST_LANES], logs[KERNEL_MOST_LANES] = {0};
    get_lanes(plan, tile->sum, sums);
    get_lanes(plan, tile->maximum, maxima);
    if (plan->logs)
        get_lanes(plan, tile->logs, logs);
    for (size_t lane = 0; lane < tile->lanes.count; lane++) {
        const size_t head = lanes_head(&tile->lanes, lane),
                     row = (place->head + head) * job->queries + lanes_query(&tile->lanes, lane);
        const double sink = sinks != NULL ? sinks[tile->lanes.head + head] : -INFINITY;
        const struct fused_sums of_row =
            lane_sums(plan, sink, tile->any_allowed[lane], maxima[lane], sums[lane], logs[lane]);
        for (size_t i = 0; i < job->statistic_count; i++) {
            const struct fused_statistic *statistic = &job->statistics[i];
            const double number = statistic->number(&of_row);
            dtype_store(statistic->dtype, &number, 1, (char *)statistic->numbers + row * dtype_size(statistic->dtype));
        }
    }
}

static void close_tile(const struct plan *plan, const struct place *place, struct tile *tile)
{
    const struct fused_job *job = plan->job;
    if (plan->grouped) { /* end_group has merged the last group */
        tile->context = tile->earlier_context;
        tile->sum = tile->earlier_sum;
        tile->logs = tile->earlier_logs;
    }
    const size_t stride = (job->side_by_side > 1 ? job->side_by_side : 1) * job->d_v;
    if (job->statistic_count > 0)
        write_statistics(plan, place, tile);
    plan->kernel->normalise(tile->context, tile->sum, job->d_v);
    for (size_t lane = 0; lane < tile->lanes.count; lane += tile->lanes.queries)
        plan->kernel->unpack(tile->context, lane, tile->lanes.queries, job->d_v, context_row(plan, place, tile, lane),
                             stride);
    fill_empty_rows(plan, place, tile);
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

/* The rows of attn_mask that a tile uses: one if all its queries and heads share a row. */
static size_t mask_rows(const struct plan *plan, const struct tile *tile)
{
    const struct mask *mask = plan->job->mask;
    const bool of_all =
        mask->strides[2] == 0 && (plan->heads_per_tile == 1 || mask->strides[1] == 0) && !mask_has_cells(mask);
    return of_all ? 1 : tile->lanes.count;
}

/* How many of the rows are those of consecutive positions, for one call. */
static size_t mask_run(const struct plan *plan, const struct tile *tile, size_t rows)
{
    return plan->job->positions != NULL ? 1 : memory_smaller(rows, tile->lanes.queries);
}

/* The MASK_SAYS bits of `count` keys from `first` on for a tile; ends early once they disagree. */
static unsigned scan_keys(const struct plan *plan, const struct tile *tile, size_t first, size_t count)
{
    const size_t rows = mask_rows(plan, tile), run = mask_run(plan, tile, rows);
    unsigned says = 0;
    for (size_t i = 0; i < rows && (says & (says - 1)) == 0 && says != MASK_SAYS_MORE; i += run)
        says |= mask_scan(plan->job->mask, plan->kernel->scan, tile->lanes.item,
                          tile->lanes.head + lanes_head(&tile->lanes, i),
                          lanes_position(plan->job, lanes_query(&tile->lanes, i)), run, first, count);
    return says;
}

/* Prefetches what a tile will read of attn_mask for the block at `start`: right before its turn, since rows that are a
 * power of two apart push each other out of a cache. */
static void ask_for_mask(const struct plan *plan, const struct tile *tile, size_t start)
{
    const size_t rows = mask_rows(plan, tile), run = mask_run(plan, tile, rows);
    if (start >= tile->any.end)
        return;
    for (size_t i = 0; i < rows; i += run)
        mask_prefetch(plan->job->mask, tile->lanes.item, tile->lanes.head + lanes_head(&tile->lanes, i),
                      lanes_position(plan->job, lanes_query(&tile->lanes, i)), run, start,
                      memory_smaller(KERNEL_KEYS, tile->any.end - start));
}

/* The MASK_SAYS bits of a block for a tile. Trims forbidden keys at both ends of the block, by multiples of key_step.
 *
 * Another program may change a mapped attn_mask: this trusts each scan for its own keys alone, and if two disagree, all
 * keys may turn out forbidden. */
static unsigned scan_block(const struct plan *plan, const struct tile *tile, struct block *block)
{
    const size_t step = plan->kernel->key_step;
    const unsigned says = scan_keys(plan, tile, block->start + block->first, block->count);
    if (says == MASK_SAYS_PLAIN || says == MASK_SAYS_FORBIDDEN)
        return says;
    while (block->count > 0) {
        const size_t head = memory_smaller(step, block->count);
        if (scan_keys(plan, tile, block->start + block->first, head) != MASK_SAYS_FORBIDDEN)
            break;
        block->first += head;
        block->count -= head;
    }
    while (block->count > 0) {
        const size_t tail = (block->count - 1) % step + 1, at = block->start + block->first + block->count - tail;
        if (scan_keys(plan, tile, at, tail) != MASK_SAYS_FORBIDDEN)
            return says;
        block->count -= tail;
    }
    return MASK_SAYS_FORBIDDEN;
}

/* Packs the block's bias, with the room of the scores for its rows. */
static void pack_bias(const struct plan *plan, const struct tile *tile, const struct block *block, bool plain)
{
    const size_t rows = plan->relative ? tile->lanes.count : mask_rows(plan, tile);
    for (size_t i = 0; i < rows; i++)
        lanes_load_bias(plan->job, &tile->lanes, i, block->start + block->first, block->count, plain,
                        (char *)block->scores + i * KERNEL_KEYS * plan->size);
    plan->kernel->pack(block->scores, rows > 1 ? KERNEL_KEYS : 0, tile->lanes.count, block->count, block->bias);
}

/* --- blocks of keys ---------------------------------------------------------------------------------------------- */

static struct block open_block(const struct plan *plan, char *scratch)
{
    struct block block = {.keys = {.d = plan->job->d, .d_v = plan->job->d_v, .packed = scratch}};
    char *at = scratch + plan->keys_bytes;
    block.rescale = at;
    block.distance = at += plan->row;
    block.slope = at += plan->row;
    block.from = (int32_t *)(void *)(at += plan->row);
    block.till = (int32_t *)(void *)(at += plan->row);
    block.scores = at += plan->row;
    block.bias = at + KERNEL_KEYS * plan->row;
    return block;
}

static void mark_allowed(const struct plan *plan, const struct tile *tile, const struct block *block)
{
    for (size_t lane = 0; lane < plan->kernel->lanes; lane++)
        if (block->from[lane] < block->till[lane])
            tile->any_allowed[lane] = -1;
}

/* Makes the block's scores and adjusts them, after lanes_mark. */
static void adjust_scores(const struct plan *plan, const struct tile *tile, const struct block *block, const void *bias)
{
    const struct fused_job *job = plan->job;
    struct kernel_adjustment adjustment = plan->adjustment;
    adjustment.bias = bias;
    adjustment.first = block->from;
    adjustment.end = block->till;
    if (job->mask != NULL && job->mask->alibi_slopes != NULL) {
        adjustment.slope = block->slope;
        adjustment.distance = block->distance;
        adjustment.origin = block->first;
        /* from the block's start, not from the first computed key, so that every cut rounds alike */
        lanes_measure(job, &tile->lanes, block->start, block->slope, block->distance);
    }
    plan->kernel->scores(&block->keys, block->first, block->count, tile->query, NULL, NULL, block->scores, NULL);
    plan->kernel->adjust(&adjustment, block->count, block->scores, tile->row_maximum, tile->any_allowed);
}

/* Makes the scores of a block; false if the mask forbids all of it to the tile. */
static bool make_scores(const struct plan *plan, const struct tile *tile, struct block *block)
{
    const unsigned says = plan->biased ? scan_block(plan, tile, block) : MASK_SAYS_PLAIN;
    const size_t first = block->start + block->first;
    const bool bounded = first < tile->all.first || first + block->count > tile->all.end;
    if (says == MASK_SAYS_FORBIDDEN)
        return false;
    if ((bounded || plan->adjusted || plan->biased) &&
        !lanes_mark(plan->job, &tile->lanes, bounded, first, block->count, block->from, block->till))
        return false;
    const bool plain = says == MASK_SAYS_PLAIN;
    if (!plain || plan->relative)
        pack_bias(plan, tile, block, plain);
    else if (plan->biased)
        mark_allowed(plan, tile, block);
    if (plan->adjusted || !plain)
        adjust_scores(plan, tile, block, !plain || plan->relative ? block->bias : NULL);
    else
        plan->kernel->scores(&block->keys, block->first, block->count, tile->query, bounded ? block->from : NULL,
                             bounded ? block->till : NULL, block->scores, tile->row_maximum);
    return true;
}

/* Attends from one tile to the block of keys at block->start. Forbidden keys add exactly 0, so any cut at a multiple of
 * key_step gives the same bits, and every kernel gets full tiles. */
static void attend_block(const struct plan *plan, struct tile *tile, struct block *block)
{
    const struct kernel *kernel = plan->kernel;
    const size_t end = memory_smaller(block->start + KERNEL_KEYS, tile->any.end);
    const size_t before = tile->any.first > block->start ? tile->any.first - block->start : 0;
    block->first = before / kernel->key_step * kernel->key_step;
    if (block->start + block->first >= end)
        return;
    block->count = end - block->start - block->first;
    if (!make_scores(plan, tile, block))
        return;
    kernel->softmax(block->scores, block->count, plan->factor, tile->row_maximum, tile->maximum, tile->sum, tile->logs,
                    block->rescale);
    kernel->values(&block->keys, block->first, block->count, block->scores, block->rescale, tile->context);
    tile->unmerged = true;
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

/* Checks that keys and values first .. end of a key head are finite, while they are in the cache. */
static void look_at(struct plan *plan, const struct place *place, size_t first, size_t end)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = plan->kernel;
    for (size_t count; first < end; first += count) {
        count = memory_smaller(KERNEL_KEYS, end - first);
        if (!kernel->finite(place->key + first * plan->key_row, count * job->d))
            atomic_store_explicit(&plan->wrong_key, true, memory_order_relaxed);
        if (!kernel->finite(place->value + first * plan->value_row, count * job->d_v))
            atomic_store_explicit(&plan->wrong_value, true, memory_order_relaxed);
    }
}

static bool is_wrong(struct plan *plan)
{
    return atomic_load_explicit(&plan->wrong_key, memory_order_relaxed) ||
           atomic_load_explicit(&plan->wrong_value, memory_order_relaxed);
}

/* Loads the keys of the block at block->start up to `end`. After the last block the next task will likely read the
 * first one, at `begin`. */
static void open_keys(const struct plan *plan, const struct place *place, size_t begin, size_t end, struct block *block)
{
    const size_t next = block->start + KERNEL_KEYS;
    block->keys.ahead = (ptrdiff_t)(next < end ? next : begin) - (ptrdiff_t)block->start;
    block->keys.key = place->key + block->start * plan->key_row;
    block->keys.value = place->value + block->start * plan->value_row;
    block->keys.count = memory_smaller(KERNEL_KEYS, end - block->start);
    plan->kernel->load(&block->keys);
}

/* Block by block, each for all tiles while it is in the cache. Groups end at multiples of their length, and at the last
 * key. `scans_all_keys`: checks all keys, also those that no query is allowed. */
static void attend_tiles(struct plan *plan, const struct place *place, struct tile *tiles, size_t count,
                         bool scans_all_keys, struct block *block)
{
    struct span span = {SIZE_MAX, 0};
    for (size_t i = 0; i < count; i++)
        if (tiles[i].any.first < tiles[i].any.end) {
            span.first = memory_smaller(span.first, tiles[i].any.first);
            span.end = memory_larger(span.end, tiles[i].any.end);
        }
    const size_t begin = memory_smaller(span.first / KERNEL_KEYS * KERNEL_KEYS, plan->job->keys);
    size_t looked = 0;
    for (block->start = begin; block->start < span.end; block->start += KERNEL_KEYS) {
        const size_t next = block->start + KERNEL_KEYS, end = memory_smaller(next, plan->job->keys);
        if (scans_all_keys)
            look_at(plan, place, looked, end);
        looked = end;
        if (is_wrong(plan))
            break;
        open_keys(plan, place, begin, span.end, block);
        for (size_t i = 0; i < count; i++) {
            if (plan->biased)
                ask_for_mask(plan, &tiles[(i + 1) % count], block->start + (i + 1) / count * KERNEL_KEYS);
            attend_block(plan, &tiles[i], block);
            if (plan->grouped && (next % GROUP_KEYS == 0 || next >= span.end))
                end_group(plan, &tiles[i], block);
        }
    }
    if (scans_all_keys)
        look_at(plan, place, looked, plan->job->keys);
}

/* Tasks go head by head, so that its keys stay in the cache, and in a head from the last queries, which have the most
 * allowed keys, to the first: the last task is among the lightest, so all threads end together. The first task of a key
 * head checks all of its keys. */
static void attend_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const struct fused_job *job = plan->job;
    const size_t lanes = plan->kernel->lanes, width = plan->tiles * lanes;
    const size_t query_block = plan->blocks - 1 - task % plan->blocks,
                 head = task / plan->blocks * plan->heads_per_tile;
    const size_t first = query_block * width, count = memory_smaller(width, job->queries - first);
    const bool scans_all_keys =
        job->found != NULL && task % plan->blocks == 0 && head % (job->group > 0 ? job->group : 1) == 0;
    char *scratch = plan->scratch + thread * thread_bytes(plan);
    const struct place place =
        find_place(plan, head, first, scratch + plan->block_bytes + plan->tiles * plan->tile_bytes);
    struct block block = open_block(plan, scratch);
    struct tile tiles[MOST_TILES];
    const size_t tile_count = work_ceil_divide(count, lanes);
    for (size_t i = 0; i < tile_count; i++) {
        tiles[i] = lay_tile(plan, first + i * lanes, scratch + plan->block_bytes + i * plan->tile_bytes);
        open_tile(plan, &place, &tiles[i]);
    }
    attend_tiles(plan, &place, tiles, tile_count, scans_all_keys, &block);
    for (size_t i = 0; i < tile_count; i++)
        close_tile(plan, &place, &tiles[i]);
    if (job->row_sink.take != NULL) /* the rows of a task are contiguous */
        job->row_sink.take(job->row_sink.context, place.context, place.first_row * job->d_v,
                           plan->heads_per_tile * count * job->d_v);
    work_count(&plan->counter, plan->heads_per_tile * block_work(job, place.item, first, count), thread);
}

size_t fused_scratch_bytes(const struct fused_job *job)
{
    struct plan plan;
    return make_plan(&plan, job);
}

enum status fused_context(const struct fused_job *job, struct error *error)
{
    struct plan plan;
    struct arena arena = {0};
    const size_t bytes = make_plan(&plan, job);
    plan.scratch = work_scratch(&arena, bytes, error);
    if (plan.scratch == NULL)
        return error->status;
    threads_run(plan.threads, job->heads / plan.heads_per_tile * plan.blocks, attend_task, &plan);
    if (job->found != NULL)
        *job->found = (struct fused_found){plan.wrong_key, plan.wrong_value, plan.wrong_query};
    arena_free(&arena);
    work_end(&job->progress);
    return STATUS_OK;
}
