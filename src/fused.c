#include "fused.h"

#include "memory.h"
#include "threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum {
    KEY_BLOCK = 192,      /* keys: the scores of a tile stay in the first cache, and rescaling is rare */
    TASK_QUERIES = 128,   /* how often a key, once read from memory, is used from the second cache */
    TASK_BYTES = 1 << 19, /* of tiles: half a usual second cache; a wide d has narrower tasks */
    TASKS_PER_THREAD = 8, /* at least, where there is work: so that all threads end together */
    LEAST_LANES = 8,      /* of any kernel */
    PROJECT_ROWS = 144,   /* rows of x in a task */
    PROJECT_STRIP =
        24, /* rows whose sums go to y at once: whole tiles of every kernel, few enough for the first cache */
    PROJECT_PANELS = 8,   /* panels of the weight in a task */
    PROJECT_DEPTH = 1024, /* columns of x that run through the registers at once: panel and rows fit the cache */
    SMALL_WORK = 1 << 23, /* multiply-adds that take about as long as a thread needs to start */
    MOST_TILES = TASK_QUERIES / LEAST_LANES,
};

static const double LOG2_E = 1.4426950408889634;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t ceil_divide(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* `threads`, or 1 where the work is not worth a second one. */
static unsigned worthwhile(unsigned threads, double multiply_adds)
{
    return threads > 1 && multiply_adds >= SMALL_WORK ? threads : 1;
}

/* --- scratch and progress ---------------------------------------------------------------------------------------- */

/* bytes = shared + threads x own, all in floats, and room to align the start; SIZE_MAX where it does not fit. */
static size_t scratch_bytes(size_t shared, size_t own, unsigned threads)
{
    size_t all, bytes;
    if (!memory_multiply(own, threads, &all) || all > SIZE_MAX - shared ||
        !memory_multiply(all + shared, sizeof(float), &bytes) || bytes > SIZE_MAX - KERNEL_ALIGNMENT)
        return SIZE_MAX;
    return bytes + KERNEL_ALIGNMENT;
}

static float *scratch_allocate(struct arena *arena, size_t bytes, struct error *error)
{
    char *memory = arena_allocate(arena, bytes, 1, error);
    if (memory == NULL)
        return NULL;
    return (float *)(void *)(memory + (KERNEL_ALIGNMENT - (uintptr_t)memory % KERNEL_ALIGNMENT) % KERNEL_ALIGNMENT);
}

/* a x b floats rounded up so that what follows is aligned, *floats grown by it; false where it does not fit. */
static bool add_floats(size_t a, size_t b, size_t *floats)
{
    const size_t step = KERNEL_ALIGNMENT / sizeof(float);
    size_t product;
    if (!memory_multiply(a, b, &product) || product > SIZE_MAX - step - *floats)
        return false;
    *floats += ceil_divide(product, step) * step;
    return true;
}

struct counter {
    const struct fused_progress *progress;
    double total;
    atomic_uint_least64_t done;
};

/* `amount` of the work is done. Thread 0, the caller's own, reports for all. */
static void count_work(struct counter *counter, uint64_t amount, unsigned thread)
{
    const uint64_t done = atomic_fetch_add_explicit(&counter->done, amount, memory_order_relaxed) + amount;
    if (thread == 0 && counter->progress->report != NULL)
        counter->progress->report(counter->progress->context, (double)done / counter->total);
}

/* --- context ----------------------------------------------------------------------------------------------------- */

/* W is the kernel's lanes. */
struct tile {
    float *query;   /* (d, W) packed, negated where the scale is negative */
    float *context; /* (d_v, W) packed, not yet divided by the sum */
    float *peak;    /* (W) the largest score so far */
    float *maximum; /* (W) the same x factor, rounded */
    float *sum;     /* (W) */
    size_t first;   /* its first query */
    size_t count;   /* of queries, at most W */
    size_t shared;  /* keys that all its queries see */
    size_t keys;    /* keys that its last query sees */
};

struct plan {
    const struct fused_job *job;
    float factor; /* |scale| x log2(e): the softmax is taken to the base 2; above 0 */
    float sign;   /* of the scale: 1, -1, or 0 */
    unsigned threads;
    size_t tiles;        /* in a task */
    size_t blocks;       /* of queries, a task each, in a head */
    size_t tile_floats;  /* scratch of one tile */
    size_t block_floats; /* scratch for a block of keys */
    float *scratch;
    struct counter counter;
};

static size_t visible_keys(const struct fused_job *job, size_t query)
{
    if (!job->causal)
        return job->keys;
    const size_t position = job->positions != NULL ? job->positions[query] : query;
    return position < job->keys ? position + 1 : job->keys;
}

/* Keys x queries of one head, whole tiles: the measure of the work. */
static uint64_t block_work(const struct fused_job *job, size_t first, size_t count)
{
    const size_t lanes = job->kernel->lanes;
    uint64_t work = 0;
    for (size_t done = 0; done < count; done += lanes)
        work += (uint64_t)lanes * visible_keys(job, first + smaller(done + lanes, count) - 1);
    return work;
}

/* False where the scratch of one thread does not fit a size_t. */
static bool plan_sizes(struct plan *plan)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes, most = SIZE_MAX / sizeof(float) / (MOST_TILES + 1);
    return add_floats(job->d, lanes, &plan->tile_floats) && add_floats(job->d_v, lanes, &plan->tile_floats) &&
           add_floats(3, lanes, &plan->tile_floats) && add_floats(KEY_BLOCK + 3, lanes, &plan->block_floats) &&
           plan->tile_floats <= most;
}

/* How the work is cut, which changes no bits; false as above. */
static bool make_plan(struct plan *plan, const struct fused_job *job)
{
    *plan = (struct plan){.job = job, .factor = (float)(fabs(job->scale) * LOG2_E)};
    plan->sign = plan->factor == 0 ? 0 : job->scale < 0 ? -1 : 1;
    if (plan->factor == 0)
        plan->factor = 1;
    if (!plan_sizes(plan))
        return false;
    const size_t lanes = job->kernel->lanes, tile_bytes = plan->tile_floats * sizeof(float);
    const double work = (double)job->heads * (double)block_work(job, 0, job->queries);
    plan->threads = worthwhile(job->threads, work * (double)(job->d + job->d_v));
    plan->tiles = TASK_QUERIES / lanes;
    while (plan->tiles > 1 &&
           (plan->tiles * tile_bytes > TASK_BYTES ||
            job->heads * ceil_divide(job->queries, plan->tiles * lanes) < (size_t)plan->threads * TASKS_PER_THREAD))
        plan->tiles /= 2;
    plan->blocks = ceil_divide(job->queries, plan->tiles * lanes);
    plan->threads = (unsigned)smaller(plan->threads, job->heads * plan->blocks);
    plan->counter.progress = &job->progress;
    plan->counter.total = work;
    return true;
}

static size_t thread_floats(const struct plan *plan)
{
    return plan->block_floats + plan->tiles * plan->tile_floats;
}

static void open_tile(const struct plan *plan, size_t head, struct tile *tile, float *scratch)
{
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes;
    tile->query = scratch;
    tile->context = tile->query + job->d * lanes;
    tile->peak = tile->context + job->d_v * lanes;
    tile->maximum = tile->peak + lanes;
    tile->sum = tile->maximum + lanes;
    tile->count = smaller(lanes, job->queries - tile->first);
    tile->shared = visible_keys(job, tile->first);
    tile->keys = visible_keys(job, tile->first + tile->count - 1);
    job->kernel->pack(job->query + (head * job->queries + tile->first) * job->d, job->d, tile->count, job->d,
                      plan->sign, tile->query);
    memset(tile->context, 0, job->d_v * lanes * sizeof *tile->context);
    for (size_t lane = 0; lane < lanes; lane++) {
        tile->peak[lane] = tile->maximum[lane] = -INFINITY;
        tile->sum[lane] = 0;
    }
}

/* How many of `keys` keys from `start` on each lane of the tile sees: visible (W). A lane without a query sees what the
 * last one does. */
static void mark_visible(const struct fused_job *job, const struct tile *tile, size_t start, size_t keys,
                         int32_t *visible)
{
    for (size_t lane = 0; lane < job->kernel->lanes; lane++) {
        const size_t seen = visible_keys(job, tile->first + smaller(lane, tile->count - 1));
        visible[lane] = (int32_t)(seen > start ? smaller(seen - start, keys) : 0);
    }
}

/* One tile against the keys from `start` to the end of their block, as far as the tile sees. */
static void attend_block(const struct plan *plan, size_t head, const struct tile *tile, size_t start, float *scratch)
{
    const struct fused_job *job = plan->job;
    const struct kernel *kernel = job->kernel;
    const size_t lanes = kernel->lanes, keys = smaller(KEY_BLOCK, tile->keys - start);
    float *scores = scratch, *next = scores + KEY_BLOCK * lanes, *rescale = next + lanes;
    int32_t *visible = NULL;
    if (tile->shared < start + keys) {
        visible = (int32_t *)(void *)(rescale + lanes);
        mark_visible(job, tile, start, keys, visible);
    }
    kernel->scores(job->key + (head * job->keys + start) * job->d, keys, job->d, tile->query, visible, scores,
                   tile->peak);
    for (size_t lane = 0; lane < lanes; lane++)
        next[lane] = tile->peak[lane] * plan->factor;
    kernel->softmax(scores, keys, plan->factor, next, tile->maximum, tile->sum, rescale);
    kernel->values(job->value + (head * job->keys + start) * job->d_v, keys, job->d_v, scores, rescale, tile->context);
}

static void close_tile(const struct plan *plan, size_t head, const struct tile *tile)
{
    const struct fused_job *job = plan->job;
    const size_t n = job->side_by_side > 1 ? job->side_by_side : 1, stride = n * job->d_v;
    float *rows = job->context + (head / n * job->queries + tile->first) * stride + head % n * job->d_v;
    job->kernel->unpack(tile->context, tile->sum, tile->count, job->d_v, rows, stride);
}

/* Tasks go head by head, so that its keys stay in the cache, and in a head from the last queries, which see the most
 * keys, to the first: the very last task is among the lightest, and all threads end together. */
static void attend_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const struct fused_job *job = plan->job;
    const size_t lanes = job->kernel->lanes, width = plan->tiles * lanes;
    const size_t head = task / plan->blocks, block = plan->blocks - 1 - task % plan->blocks;
    const size_t first = block * width, count = smaller(width, job->queries - first);
    float *scratch = plan->scratch + thread * thread_floats(plan);
    struct tile tiles[MOST_TILES];
    const size_t tile_count = ceil_divide(count, lanes);
    for (size_t i = 0; i < tile_count; i++) {
        tiles[i].first = first + i * lanes;
        open_tile(plan, head, &tiles[i], scratch + plan->block_floats + i * plan->tile_floats);
    }
    for (size_t start = 0; start < tiles[tile_count - 1].keys; start += KEY_BLOCK)
        for (size_t i = 0; i < tile_count; i++)
            if (start < tiles[i].keys)
                attend_block(plan, head, &tiles[i], start, scratch);
    for (size_t i = 0; i < tile_count; i++)
        close_tile(plan, head, &tiles[i]);
    count_work(&plan->counter, block_work(job, first, count), thread);
}

size_t fused_scratch_bytes(const struct fused_job *job)
{
    struct plan plan;
    return make_plan(&plan, job) ? scratch_bytes(0, thread_floats(&plan), plan.threads) : SIZE_MAX;
}

enum status fused_context(const struct fused_job *job, struct error *error)
{
    struct plan plan;
    struct arena arena = {0};
    const size_t bytes = make_plan(&plan, job) ? scratch_bytes(0, thread_floats(&plan), plan.threads) : SIZE_MAX;
    plan.scratch = scratch_allocate(&arena, bytes, error);
    if (plan.scratch == NULL)
        return error->status;
    threads_run(plan.threads, job->heads * plan.blocks, attend_task, &plan);
    arena_free(&arena);
    if (job->progress.report != NULL)
        job->progress.report(job->progress.context, 1);
    return STATUS_OK;
}

/* --- projections ------------------------------------------------------------------------------------------------- */

struct project_plan {
    const struct fused_projection *projection;
    unsigned threads;
    size_t panels;       /* of W columns of the weight each */
    size_t chunks;       /* of PROJECT_PANELS panels */
    size_t panel_floats; /* a panel is (d_in, W) */
    float *packed;       /* (panels, d_in, W) */
    float *sums;         /* (threads, PROJECT_STRIP, W) */
    struct counter counter;
};

static size_t all_rows(const struct fused_projection *projection)
{
    return projection->items * projection->rows;
}

static size_t make_project_plan(struct project_plan *plan, const struct fused_projection *projection)
{
    const size_t lanes = projection->kernel->lanes, panels = ceil_divide(projection->d_out, lanes);
    const double work = (double)all_rows(projection) * (double)panels * (double)lanes;
    *plan = (struct project_plan){.projection = projection, .panels = panels};
    plan->chunks = ceil_divide(panels, PROJECT_PANELS);
    plan->threads = worthwhile(projection->threads, work * (double)projection->d_in);
    plan->counter.progress = &projection->progress;
    plan->counter.total = (double)all_rows(projection) * (double)panels;
    size_t packed;
    if (!add_floats(projection->d_in, lanes, &plan->panel_floats) ||
        !memory_multiply(plan->panel_floats, panels, &packed))
        return SIZE_MAX;
    return scratch_bytes(packed, PROJECT_STRIP * lanes, plan->threads);
}

/* Columns first .. first + count of row k of the weight, (d_in, d_out), go to as many panels as they fill; columns
 * beyond d_out are 0. Row after row, a long piece of each: the weight is read as it lies in memory. */
static void pack_row(const struct project_plan *plan, size_t k, size_t first, size_t count)
{
    const struct fused_projection *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes;
    const float *row = projection->weight + k * projection->d_out;
    for (size_t column = first; column < first + count; column += lanes) {
        const size_t given = smaller(lanes, first + count - column);
        float *packed = plan->packed + column / lanes * plan->panel_floats + k * lanes;
        memcpy(packed, row + column, given * sizeof *packed);
        memset(packed + given, 0, (lanes - given) * sizeof *packed);
    }
}

/* The panels of one chunk. A panel is W columns of the weight. */
static void pack_chunk(void *context, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct project_plan *plan = context;
    const struct fused_projection *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_in = projection->d_in, width = PROJECT_PANELS * lanes;
    const size_t first = chunk * width, count = smaller(width, projection->d_out - first);
    for (size_t k = 0; k < d_in && !projection->transposed; k++)
        pack_row(plan, k, first, count);
    for (size_t column = first; column < first + count && projection->transposed; column += lanes)
        projection->kernel->pack(projection->weight + column * d_in, d_in, smaller(lanes, first + count - column), d_in,
                                 1, plan->packed + column / lanes * plan->panel_floats);
}

/* Where column `column` of a row of x (items and rows counted as one) goes. */
static float *place(const struct fused_projection *projection, size_t row, size_t column)
{
    return projection->y + row / projection->rows * projection->item_stride +
           row % projection->rows * projection->row_stride + column / projection->d_head * projection->head_stride +
           column % projection->d_head;
}

/* sums (rows, W) go to their places in y, cut where a head ends. */
static void scatter(const struct fused_projection *projection, size_t first_row, size_t rows, size_t first_column,
                    const float *sums)
{
    const size_t lanes = projection->kernel->lanes, d_head = projection->d_head;
    const size_t columns = smaller(lanes, projection->d_out - first_column);
    for (size_t i = 0; i < rows; i++)
        for (size_t done = 0, length; done < columns; done += length) {
            const size_t column = first_column + done;
            length = smaller(d_head - column % d_head, columns - done);
            memcpy(place(projection, first_row + i, column), sums + i * lanes + done, length * sizeof *sums);
        }
}

/* A strip of x against one panel, the bias first, then depth by depth. */
static void project_strip(const struct project_plan *plan, size_t panel, size_t first_row, size_t rows, float *sums)
{
    const struct fused_projection *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_in = projection->d_in, first = panel * lanes;
    for (size_t i = 0; i < rows; i++)
        for (size_t lane = 0; lane < lanes; lane++)
            sums[i * lanes + lane] =
                projection->bias != NULL && first + lane < projection->d_out ? projection->bias[first + lane] : 0;
    for (size_t k = 0; k < d_in; k += PROJECT_DEPTH)
        projection->kernel->project(projection->x + first_row * d_in + k, d_in, rows, smaller(PROJECT_DEPTH, d_in - k),
                                    plan->packed + panel * plan->panel_floats + k * lanes, sums);
    scatter(projection, first_row, rows, first, sums);
}

static void project_task(void *context, size_t task, unsigned thread)
{
    struct project_plan *plan = context;
    const size_t first_row = task / plan->chunks * PROJECT_ROWS;
    const size_t rows = smaller(PROJECT_ROWS, all_rows(plan->projection) - first_row);
    const size_t first = task % plan->chunks * PROJECT_PANELS, end = smaller(first + PROJECT_PANELS, plan->panels);
    float *sums = plan->sums + thread * PROJECT_STRIP * plan->projection->kernel->lanes;
    for (size_t panel = first; panel < end; panel++)
        for (size_t done = 0; done < rows; done += PROJECT_STRIP)
            project_strip(plan, panel, first_row + done, smaller(PROJECT_STRIP, rows - done), sums);
    count_work(&plan->counter, rows * (end - first), thread);
}

size_t fused_project_scratch_bytes(const struct fused_projection *projection)
{
    struct project_plan plan;
    return make_project_plan(&plan, projection);
}

enum status fused_project(const struct fused_projection *projection, struct error *error)
{
    struct project_plan plan;
    struct arena arena = {0};
    const size_t bytes = make_project_plan(&plan, projection);
    plan.packed = scratch_allocate(&arena, bytes, error);
    if (plan.packed == NULL)
        return error->status;
    plan.sums = plan.packed + plan.panels * plan.panel_floats;
    threads_run(plan.threads, plan.chunks, pack_chunk, &plan);
    threads_run(plan.threads, ceil_divide(all_rows(projection), PROJECT_ROWS) * plan.chunks, project_task, &plan);
    arena_free(&arena);
    if (projection->progress.report != NULL)
        projection->progress.report(projection->progress.context, 1);
    return STATUS_OK;
}
