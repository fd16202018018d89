#include "kernel/fused.h"

#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    KEY_BLOCK = 192,      /* keys: the scores of a tile stay in the first cache, and rescaling is rare */
    TASK_QUERIES = 128,   /* how often a key, once read from memory, is used from the second cache */
    TASK_BYTES = 1 << 19, /* of tiles: half a usual second cache; a wide d has narrower tasks */
    TASKS_PER_THREAD = 8, /* at least, where there is work: so that all threads end together */
    MOST_TILES = TASK_QUERIES / KERNEL_LEAST_LANES,
    GROUP_KEYS = 64 * KEY_BLOCK, /* whose sums grow apart from those before: errors grow with the longer chain */
    TILE_ROWS = 4,               /* of a tile's scratch: peak, maximum, sum, seen */
    EARLIER_ROWS = 2,            /* of the groups before: maximum, sum */
    BLOCK_ROWS = 5,              /* of a block's scratch beside the scores */
    MEAN_COLUMNS = 64,           /* of value that are summed at once */
    TRIM_KEYS = KERNEL_KEY_STEP, /* the steps by which a block is cut */
};
_Static_assert(KEY_BLOCK % TRIM_KEYS == 0, "a block is whole steps");

static const double LOG2_E = 1.4426950408889634;
static const double BOUNDLESS_SOFTCAP =
    1e30; /* from here on a softcap changes no logit that a softmax can tell apart */

/* --- the plan ---------------------------------------------------------------------------------------------------- */

struct plan {
    const struct fused_job *job;
    size_t items, heads_per_item;
    float factor; /* scores x factor are logits to the base 2; above 0 */
    float sign;   /* what a query is multiplied by as it is packed: the sign of the scale; times the factor where the
                     query, and not `factor`, holds it */
    struct kernel_adjustment adjustment; /* what is the same for every block */
    bool adjusted;                       /* every block, by the softcap, ALiBi or T5's table */
    bool biased;                         /* there is an attn_mask */
    bool relative;                       /* there is T5's table */
    bool grouped;                        /* there are keys for more than one group */
    unsigned threads;
    size_t tiles;        /* in a task */
    size_t blocks;       /* of queries, a task each, in a head */
    size_t tile_floats;  /* scratch of one tile */
    size_t block_floats; /* scratch for a block of keys */
    float *scratch;
    struct work_counter counter;
};

static size_t query_position(const struct fused_job *job, size_t query)
{
    return job->positions != NULL ? job->positions[query] : query;
}

/* Both ends grow, or stay, from one query to the next. */
static struct span query_span(const struct fused_job *job, size_t item, size_t query)
{
    return job->mask == NULL ? (struct span){0, job->keys} : mask_span(job->mask, item, query_position(job, query));
}

/* From the first key to the last that any of these queries sees. */
static struct span joint_span(const struct fused_job *job, size_t item, size_t first, size_t count)
{
    const struct span span = {query_span(job, item, first).first, query_span(job, item, first + count - 1).end};
    return span.first < span.end ? span : (struct span){0, 0};
}

/* Keys x queries of one head, whole tiles: the measure of the work. A tile without a key is some work too. */
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

/* False where the scratch of one thread does not fit a size_t. */
static bool plan_sizes(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes, most = SIZE_MAX / sizeof(float) / (MOST_TILES + 1);
    const size_t rows = (plan->biased || plan->relative ? 2 * KEY_BLOCK : KEY_BLOCK) + BLOCK_ROWS;
    return work_add_floats(job->d, lanes, &plan->tile_floats) && work_add_floats(job->d_v, lanes, &plan->tile_floats) &&
           work_add_floats(TILE_ROWS, lanes, &plan->tile_floats) && work_add_floats(rows, lanes, &plan->block_floats) &&
           (!plan->grouped || (work_add_floats(job->d_v, lanes, &plan->tile_floats) &&
                               work_add_floats(EARLIER_ROWS, lanes, &plan->tile_floats))) &&
           plan->tile_floats <= most;
}

bool fused_takes_scale(double scale)
{
    return fabs(scale) * LOG2_E <= FLT_MAX;
}

/* Without anything that is added to them, scores are the bare products until the softmax takes them to the base 2. Else
 * the query holds the factor: they are logits to the base 2 from the start, and a maximum of any size is exact. */
static void plan_units(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const struct mask *mask = job->mask;
    const double scale = fabs(job->scale);
    const bool added = mask != NULL && (mask_has_bias(mask) || mask->sinks != NULL);
    const bool capped = job->softcap > 0 && job->softcap < BOUNDLESS_SOFTCAP;
    plan->factor = (float)(scale * LOG2_E);
    plan->sign = job->scale < 0 ? -1 : 1;
    if (capped)
        plan->adjustment = (struct kernel_adjustment){.capped = true,
                                                      .steepness = (float)fmin(scale / job->softcap, FLT_MAX),
                                                      .height = (float)(job->softcap * LOG2_E)};
    else if (added || plan->factor == 0)
        plan->sign *= plan->factor;
    if (capped || added || plan->factor == 0)
        plan->factor = 1;
    plan->adjusted = capped || (mask != NULL && mask->alibi_slopes != NULL) || plan->relative;
}

/* The queries of a task, and the threads: this changes no bits. */
static void plan_tasks(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes, tile_bytes = plan->tile_floats * sizeof(float);
    double work = 0;
    for (size_t item = 0; item < plan->items; item++)
        work += (double)plan->heads_per_item * (double)block_work(job, item, 0, job->queries);
    plan->threads = work_threads(job->threads, work * (double)(job->d + job->d_v));
    plan->tiles = TASK_QUERIES / lanes;
    while (plan->tiles > 1 &&
           (plan->tiles * tile_bytes > TASK_BYTES || job->heads * work_ceil_divide(job->queries, plan->tiles * lanes) <
                                                         (size_t)plan->threads * TASKS_PER_THREAD))
        plan->tiles /= 2;
    plan->blocks = work_ceil_divide(job->queries, plan->tiles * lanes);
    plan->threads = (unsigned)memory_smaller(plan->threads, job->heads * plan->blocks);
    plan->counter.progress = &job->progress;
    plan->counter.total = work;
}

static size_t thread_floats(const struct plan *plan)
{
    return plan->block_floats + plan->tiles * plan->tile_floats;
}

/* Returns the bytes of scratch, SIZE_MAX where they do not fit a size_t. */
static size_t make_plan(struct plan *plan, const struct fused_job *job)
{
    *plan = (struct plan){.job = job, .heads_per_item = job->heads_per_item > 0 ? job->heads_per_item : job->heads};
    plan->items = job->heads / plan->heads_per_item;
    plan->biased = job->mask != NULL && job->mask->attn_mask.rank > 0;
    plan->relative = job->mask != NULL && job->mask->relative != NULL;
    plan->grouped = job->keys > GROUP_KEYS;
    plan_units(plan);
    if (!plan_sizes(plan))
        return SIZE_MAX;
    plan_tasks(plan);
    return work_scratch_bytes(0, thread_floats(plan), plan->threads);
}

/* --- tiles ------------------------------------------------------------------------------------------------------- */

/* A query head: where it stands in the batch, and the key head that it reads. */
struct place {
    size_t head, item, head_of_item;
    const float *key, *value; /* (Tk, d) and (Tk, d_v) */
};

/* W is the kernel's lanes. Sums and context are those of one group of keys, beside those of the groups before it; where
 * there is one group alone, these are not there. */
struct tile {
    float *query;   /* (d, W) packed, times plan->sign */
    float *context; /* (d_v, W) packed, not yet divided by the sum */
    float *peak;    /* (W) the largest score so far */
    float *maximum; /* (W) the one that the sum and the context are relative to: that of the last block */
    float *sum;     /* (W) */
    int32_t *seen;  /* (W) -1: not an empty row */
    float *earlier_context, *earlier_maximum, *earlier_sum;
    bool grown;      /* something of this group is not yet in those */
    size_t first;    /* its first query */
    size_t count;    /* of queries, at most W */
    struct span any; /* from the first key to the last that one of its queries sees */
    struct span all; /* keys that the span of each of its queries holds; first may be beyond end */
};

/* A thread's scratch for one block of keys. */
struct block {
    float *scores;        /* (KEY_BLOCK, W) packed; rows of attn_mask before */
    float *bias;          /* (KEY_BLOCK, W) packed; only where there is an attn_mask, or T5's table */
    float *next;          /* (W) */
    float *rescale;       /* (W) */
    float *distance;      /* (W) of the query's position from the block's start */
    int32_t *from, *till; /* (W) the keys in the block that the lane's span holds */
    size_t start;         /* of the block: a multiple of KEY_BLOCK */
    size_t first, keys;   /* those of its keys that are computed */
};

static struct place find_place(const struct plan *plan, size_t head)
{
    const struct fused_job *job = plan->job;
    const size_t key_head = head / (job->group > 0 ? job->group : 1);
    return (struct place){.head = head,
                          .item = head / plan->heads_per_item,
                          .head_of_item = head % plan->heads_per_item,
                          .key = job->key + key_head * job->keys * job->d,
                          .value = job->value + key_head * job->keys * job->d_v};
}

/* A sink is a logit that was there before the first key, and before the first group. */
static void open_sums(const struct plan *plan, const struct place *place, const struct tile *tile)
{
    const struct mask *mask = plan->job->mask;
    float peak = -INFINITY, sum = 0;
    if (mask != NULL && mask->sinks != NULL) {
        const double sink = mask->sinks[place->head_of_item];
        peak = (float)fmax(-FLT_MAX, fmin(FLT_MAX, sink * LOG2_E));
        sum = (float)exp2(fmax(-1, fmin(1, sink * LOG2_E - peak)));
    }
    for (size_t lane = 0; lane < plan->job->kernel->lanes; lane++) {
        tile->peak[lane] = tile->maximum[lane] = peak;
        tile->sum[lane] = plan->grouped ? 0 : sum;
        if (plan->grouped) {
            tile->earlier_maximum[lane] = peak;
            tile->earlier_sum[lane] = sum;
        }
    }
}

/* With an attn_mask, what is seen is found block by block. */
static void open_seen(const struct plan *plan, const struct place *place, const struct tile *tile)
{
    for (size_t lane = 0; lane < plan->job->kernel->lanes; lane++) {
        bool seen = tile->all.first < tile->all.end;
        if (!plan->biased && !seen && lane < tile->count) {
            const struct span span = query_span(plan->job, place->item, tile->first + lane);
            seen = span.first < span.end;
        }
        tile->seen[lane] = seen && !plan->biased ? -1 : 0;
    }
}

static struct tile lay_tile(const struct fused_job *job, size_t first, float *scratch)
{
    const size_t lanes = job->kernel->lanes;
    struct tile tile = {.query = scratch, .first = first};
    tile.context = tile.query + job->d * lanes;
    tile.peak = tile.context + job->d_v * lanes;
    tile.maximum = tile.peak + lanes;
    tile.sum = tile.maximum + lanes;
    tile.seen = (int32_t *)(void *)(tile.sum + lanes);
    tile.earlier_context = tile.sum + 2 * lanes;
    tile.earlier_maximum = tile.earlier_context + job->d_v * lanes;
    tile.earlier_sum = tile.earlier_maximum + lanes;
    return tile;
}

static void open_tile(const struct plan *plan, const struct place *place, struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes;
    tile->count = memory_smaller(lanes, job->queries - tile->first);
    tile->any = joint_span(job, place->item, tile->first, tile->count);
    tile->all = (struct span){query_span(job, place->item, tile->first + tile->count - 1).first,
                              query_span(job, place->item, tile->first).end};
    job->kernel->pack(job->query + (place->head * job->queries + tile->first) * job->d, job->d, tile->count, job->d,
                      plan->sign, tile->query);
    memset(tile->context, 0, job->d_v * lanes * sizeof *tile->context);
    if (plan->grouped)
        memset(tile->earlier_context, 0, job->d_v * lanes * sizeof *tile->context);
    open_sums(plan, place, tile);
    open_seen(plan, place, tile);
}

/* The end of a group of keys: its sums join those of the groups before, and the next one starts from nothing. What saw
 * nothing of the group, a tile or a lane of it, keeps its bits: it is multiplied by 1. */
static void end_group(const struct plan *plan, struct tile *tile, const struct block *block)
{
    const struct kernel *kernel = plan->job->kernel;
    const size_t lanes = kernel->lanes;
    if (!tile->grown)
        return;
    kernel->softmax(block->scores, 0, plan->factor, tile->maximum, tile->earlier_maximum, tile->earlier_sum,
                    block->rescale);
    float *earlier = tile->earlier_context, *context = tile->context;
    for (size_t c = 0; c < plan->job->d_v; c++, earlier += lanes, context += lanes)
        for (size_t lane = 0; lane < lanes; lane++) {
            earlier[lane] = earlier[lane] * block->rescale[lane] + context[lane];
            context[lane] = 0;
        }
    for (size_t lane = 0; lane < lanes; lane++) {
        tile->earlier_sum[lane] += tile->sum[lane];
        tile->sum[lane] = 0;
    }
    tile->grown = false;
}

/* row (d_v) = the mean of the rows of value (Tk, d_v). */
static void mean_value(const struct fused_job *job, const float *value, float *row)
{
    double sums[MEAN_COLUMNS];
    for (size_t first = 0, count; first < job->d_v; first += count) {
        count = memory_smaller(MEAN_COLUMNS, job->d_v - first);
        memset(sums, 0, sizeof sums);
        for (size_t j = 0; j < job->keys; j++)
            for (size_t c = 0; c < count; c++)
                sums[c] += value[j * job->d_v + first + c];
        for (size_t c = 0; c < count; c++)
            row[first + c] = (float)(sums[c] / (double)job->keys);
    }
}

/* The rows (count, d_v), `stride` apart, of queries that saw no key: one is made, the others copy it. */
static void fill_empty_rows(const struct fused_job *job, const struct place *place, const struct tile *tile,
                            float *rows, size_t stride)
{
    const float *made = NULL;
    for (size_t lane = 0; lane < tile->count; lane++) {
        float *row = rows + lane * stride;
        if (tile->seen[lane])
            continue;
        if (made != NULL)
            memcpy(row, made, job->d_v * sizeof *row);
        else if (job->mask->empty_row == EMPTY_ROW_MEAN)
            mean_value(job, place->value, row);
        else
            for (size_t c = 0; c < job->d_v; c++)
                row[c] = job->mask->empty_row == EMPTY_ROW_NAN ? NAN : 0;
        made = row;
    }
}

static void write_lse(const struct plan *plan, const struct place *place, const struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const double *sinks = job->mask != NULL ? job->mask->sinks : NULL;
    const double empty = sinks != NULL ? sinks[place->head_of_item] : -INFINITY;
    float *lse = job->lse + place->head * job->queries + tile->first;
    for (size_t lane = 0; lane < tile->count; lane++) {
        const double sum = tile->sum[lane], seen = (double)tile->maximum[lane] * plan->factor / LOG2_E + log(sum);
        lse[lane] = (float)(!tile->seen[lane] ? empty : sum == 0 ? (double)NAN : seen); /* 0: all scores overflowed */
    }
}

static void close_tile(const struct plan *plan, const struct place *place, struct tile *tile)
{
    const struct fused_job *job = plan->job;
    if (plan->grouped) { /* the last group has joined those before */
        tile->context = tile->earlier_context;
        tile->sum = tile->earlier_sum;
    }
    const size_t n = job->side_by_side > 1 ? job->side_by_side : 1, stride = n * job->d_v, head = place->head;
    float *rows = job->context + (head / n * job->queries + tile->first) * stride + head % n * job->d_v;
    if (job->lse != NULL)
        write_lse(plan, place, tile);
    job->kernel->unpack(tile->context, tile->sum, tile->count, job->d_v, rows, stride);
    fill_empty_rows(job, place, tile, rows, stride);
}

/* --- attn_mask --------------------------------------------------------------------------------------------------- */

/* How many rows of attn_mask a tile has: one where it is the same for every query. */
static size_t mask_rows(const struct plan *plan, const struct tile *tile)
{
    return plan->job->mask->strides[2] == 0 ? 1 : tile->count;
}

/* What attn_mask says of `count` keys from `first` on for a tile; it may end early once it knows that they do not all
 * agree. */
static unsigned scan_keys(const struct plan *plan, const struct place *place, const struct tile *tile, size_t first,
                          size_t count)
{
    const size_t rows = mask_rows(plan, tile);
    unsigned says = 0;
    for (size_t i = 0; i < rows && (says & (says - 1)) == 0 && says != MASK_SAYS_MORE; i++)
        says |= mask_scan(plan->job->mask, place->item, place->head_of_item, query_position(plan->job, tile->first + i),
                          first, count);
    return says;
}

/* Asks the memory early for the rows of attn_mask that the next block will read. */
static void ask_for_next(const struct plan *plan, const struct place *place, const struct tile *tile,
                         const struct block *block)
{
    const size_t next = block->start + KEY_BLOCK, rows = mask_rows(plan, tile);
    const size_t keys = next < tile->any.end ? memory_smaller(KEY_BLOCK, tile->any.end - next) : 0;
    for (size_t i = 0; i < rows; i++)
        mask_prefetch(plan->job->mask, place->item, place->head_of_item, query_position(plan->job, tile->first + i),
                      next, keys);
}

/* What attn_mask says of a block for a tile. Forbidden keys at both ends are taken off the block, by whole steps.
 *
 * attn_mask may lie in a file that another program changes: each scan is believed for its own keys alone, and where two
 * of them do not agree, all may be forbidden after all. */
static unsigned scan_block(const struct plan *plan, const struct place *place, const struct tile *tile,
                           struct block *block)
{
    ask_for_next(plan, place, tile, block);
    const unsigned says = scan_keys(plan, place, tile, block->first, block->keys);
    if (says == MASK_SAYS_PLAIN || says == MASK_SAYS_FORBIDDEN)
        return says;
    while (block->keys > 0) {
        const size_t head = memory_smaller(TRIM_KEYS, block->keys);
        if (scan_keys(plan, place, tile, block->first, head) != MASK_SAYS_FORBIDDEN)
            break;
        block->first += head;
        block->keys -= head;
    }
    while (block->keys > 0) {
        const size_t tail = (block->keys - 1) % TRIM_KEYS + 1;
        if (scan_keys(plan, place, tile, block->first + block->keys - tail, tail) != MASK_SAYS_FORBIDDEN)
            return says;
        block->keys -= tail;
    }
    return MASK_SAYS_FORBIDDEN;
}

/* What attn_mask, unless it is plain, and T5's table add to the scores of a query. */
static void load_bias(const struct plan *plan, const struct place *place, size_t query, const struct block *block,
                      bool plain, float *bias)
{
    const struct mask *mask = plan->job->mask;
    const size_t position = query_position(plan->job, query);
    if (plain)
        memset(bias, 0, block->keys * sizeof *bias);
    else
        mask_load(mask, place->item, place->head_of_item, position, block->first, block->keys, bias);
    if (plan->relative)
        mask_add_relative(mask, place->item, place->head_of_item, position, block->first, block->keys, bias);
}

/* The block's bias, packed; the room of the scores holds its rows on the way. */
static void pack_bias(const struct plan *plan, const struct place *place, const struct tile *tile,
                      const struct block *block, bool plain)
{
    const size_t rows = plan->relative ? tile->count : mask_rows(plan, tile);
    for (size_t i = 0; i < rows; i++)
        load_bias(plan, place, tile->first + i, block, plain, block->scores + i * KEY_BLOCK);
    plan->job->kernel->pack(block->scores, rows > 1 ? KEY_BLOCK : 0, tile->count, block->keys, 1, block->bias);
}

/* --- blocks of keys ---------------------------------------------------------------------------------------------- */

static struct block open_block(const struct plan *plan, float *scratch)
{
    const size_t lanes = plan->job->kernel->lanes;
    struct block block = {.next = scratch};
    block.rescale = block.next + lanes;
    block.distance = block.rescale + lanes;
    block.from = (int32_t *)(void *)(block.distance + lanes);
    block.till = block.from + lanes;
    block.scores = block.next + BLOCK_ROWS * lanes;
    block.bias = block.scores + KEY_BLOCK * lanes;
    return block;
}

static int32_t clip(size_t key, const struct block *block)
{
    return key > block->first ? (int32_t)memory_smaller(key - block->first, block->keys) : 0;
}

/* Marks what each lane's span holds of the block; false where that is nothing for all. A lane without a query sees what
 * the last one does. */
static bool mark_spans(const struct plan *plan, const struct place *place, const struct tile *tile,
                       const struct block *block)
{
    bool any = false;
    for (size_t lane = 0; lane < plan->job->kernel->lanes; lane++) {
        const struct span span =
            query_span(plan->job, place->item, tile->first + memory_smaller(lane, tile->count - 1));
        block->from[lane] = clip(span.first, block);
        block->till[lane] = clip(span.end, block);
        any = any || block->from[lane] < block->till[lane];
    }
    return any;
}

static void mark_seen(const struct plan *plan, const struct tile *tile, const struct block *block)
{
    for (size_t lane = 0; lane < plan->job->kernel->lanes; lane++)
        if (block->from[lane] < block->till[lane])
            tile->seen[lane] = -1;
}

/* The distance is from the block's start, not from the first key that is computed: another cut rounds it the same. */
static void measure_distance(const struct plan *plan, const struct place *place, const struct tile *tile,
                             const struct block *block)
{
    const struct fused_job *job = plan->job;
    const int64_t offset = mask_offset(job->mask, place->item) - (int64_t)block->start;
    for (size_t lane = 0; lane < job->kernel->lanes; lane++)
        block->distance[lane] =
            (float)((int64_t)query_position(job, tile->first + memory_smaller(lane, tile->count - 1)) + offset);
}

/* The block's scores with all that is done to them; the spans are marked. */
static void adjust_scores(const struct plan *plan, const struct place *place, const struct tile *tile,
                          const struct block *block, const float *bias)
{
    const struct fused_job *job = plan->job;
    struct kernel_adjustment adjustment = plan->adjustment;
    adjustment.bias = bias;
    adjustment.first = block->from;
    adjustment.end = block->till;
    if (job->mask != NULL && job->mask->alibi_slopes != NULL) {
        adjustment.slope = (float)fmax(-FLT_MAX, fmin(FLT_MAX, job->mask->alibi_slopes[place->head_of_item] * LOG2_E));
        adjustment.distance = block->distance;
        adjustment.origin = block->first - block->start;
        measure_distance(plan, place, tile, block);
    }
    job->kernel->scores(place->key + block->first * job->d, block->keys, job->d, tile->query, NULL, NULL, block->scores,
                        NULL);
    job->kernel->adjust(&adjustment, block->keys, block->scores, tile->peak, tile->seen);
}

/* The scores of a block; false where the tile sees none of it. */
static bool make_scores(const struct plan *plan, const struct place *place, const struct tile *tile,
                        struct block *block)
{
    const struct fused_job *job = plan->job;
    const unsigned says = plan->biased ? scan_block(plan, place, tile, block) : MASK_SAYS_PLAIN;
    const bool bounded = block->first < tile->all.first || block->first + block->keys > tile->all.end;
    if (says == MASK_SAYS_FORBIDDEN)
        return false;
    if ((bounded || plan->adjusted || plan->biased) && !mark_spans(plan, place, tile, block))
        return false;
    const bool plain = says == MASK_SAYS_PLAIN;
    if (!plain || plan->relative)
        pack_bias(plan, place, tile, block, plain);
    else if (plan->biased)
        mark_seen(plan, tile, block);
    if (plan->adjusted || !plain)
        adjust_scores(plan, place, tile, block, !plain || plan->relative ? block->bias : NULL);
    else
        job->kernel->scores(place->key + block->first * job->d, block->keys, job->d, tile->query,
                            bounded ? block->from : NULL, bounded ? block->till : NULL, block->scores, tile->peak);
    return true;
}

/* One tile against what it sees of the block of keys at block->start. What it does not see adds exactly 0, so that any
 * cut at a multiple of TRIM_KEYS gives the same bits, and whole tiles to every kernel. */
static void attend_block(const struct plan *plan, const struct place *place, struct tile *tile, struct block *block)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = job->kernel;
    const size_t end = memory_smaller(block->start + KEY_BLOCK, tile->any.end);
    const size_t before = tile->any.first > block->start ? tile->any.first - block->start : 0;
    block->first = block->start + before / TRIM_KEYS * TRIM_KEYS;
    if (block->first >= end)
        return;
    block->keys = end - block->first;
    if (!make_scores(plan, place, tile, block))
        return;
    /* A lane that has seen no key yet goes on from the lowest number, not from minus infinity: that less itself is
     * NaN. */
    for (size_t lane = 0; lane < kernel->lanes; lane++)
        block->next[lane] = tile->peak[lane] < -FLT_MAX ? -FLT_MAX : tile->peak[lane];
    kernel->softmax(block->scores, block->keys, plan->factor, block->next, tile->maximum, tile->sum, block->rescale);
    kernel->values(place->value + block->first * job->d_v, block->keys, job->d_v, block->scores, block->rescale,
                   tile->context);
    tile->grown = true;
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

/* Block by block, each for all tiles while it lies in the cache. Groups end at multiples of their length, and with the
 * last key. */
static void attend_tiles(const struct plan *plan, const struct place *place, struct tile *tiles, size_t count,
                         struct block *block)
{
    struct span span = {SIZE_MAX, 0};
    for (size_t i = 0; i < count; i++)
        if (tiles[i].any.first < tiles[i].any.end) {
            span.first = memory_smaller(span.first, tiles[i].any.first);
            span.end = memory_larger(span.end, tiles[i].any.end);
        }
    for (block->start = span.first / KEY_BLOCK * KEY_BLOCK; block->start < span.end; block->start += KEY_BLOCK)
        for (size_t i = 0; i < count; i++) {
            attend_block(plan, place, &tiles[i], block);
            const size_t next = block->start + KEY_BLOCK;
            if (plan->grouped && (next % GROUP_KEYS == 0 || next >= span.end))
                end_group(plan, &tiles[i], block);
        }
}

/* Tasks go head by head, so that its keys stay in the cache, and in a head from the last queries, which see the most
 * keys, to the first: the very last task is among the lightest, and all threads end together. */
static void attend_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes, width = plan->tiles * lanes;
    const size_t query_block = plan->blocks - 1 - task % plan->blocks;
    const size_t first = query_block * width, count = memory_smaller(width, job->queries - first);
    const struct place place = find_place(plan, task / plan->blocks);
    float *scratch = plan->scratch + thread * thread_floats(plan);
    struct block block = open_block(plan, scratch);
    struct tile tiles[MOST_TILES];
    const size_t tile_count = work_ceil_divide(count, lanes);
    for (size_t i = 0; i < tile_count; i++) {
        tiles[i] = lay_tile(job, first + i * lanes, scratch + plan->block_floats + i * plan->tile_floats);
        open_tile(plan, &place, &tiles[i]);
    }
    attend_tiles(plan, &place, tiles, tile_count, &block);
    for (size_t i = 0; i < tile_count; i++)
        close_tile(plan, &place, &tiles[i]);
    work_count(&plan->counter, block_work(job, place.item, first, count), thread);
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
    threads_run(plan.threads, job->heads * plan.blocks, attend_task, &plan);
    arena_free(&arena);
    work_end(&job->progress);
    return STATUS_OK;
}
