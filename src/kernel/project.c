/* SPDX-License-Identifier: MIT */
#include "kernel/project.h"

#include "base/threads.h"

#include <string.h>

enum {
    TASK_ROWS = 144,       /* of x */
    TASK_PANELS = 8,       /* of the weight */
    STRIP_ROWS = 24,       /* whose sums go to y at once: a multiple of every kernel's tiles that fits the L1 cache */
    DEPTH = 1024,          /* columns of x that go through the registers at once: panel and rows fit the cache */
    WIDENED = 256,         /* columns of a narrower weight widened at once, in the L1 cache */
    PIECE_BYTES = 1 << 23, /* of the weight, packed at once for each thread */
};

_Static_assert((int)STRIP_ROWS <= (int)WIDENED, "the sums of a strip fit where a weight is widened");

struct plan {
    const struct project_job *projection;
    unsigned threads;
    size_t size;         /* bytes of a number */
    size_t panels;       /* of W columns of the weight each */
    size_t panel_bytes;  /* a panel is (d_in, W) */
    size_t task_panels;  /* of a task, at most */
    size_t piece_panels; /* packed at once: a multiple of task_panels, or one for each thread */
    bool streamed;       /* each thread packs a panel and uses it while it is in the cache */
    size_t first, end;   /* panels of the current piece */
    char *packed;        /* (piece_panels, d_in, W) */
    char *own;           /* (threads, WIDENED, W): a thread's widened numbers, or its sums */
    struct work_counter counter;
};

static size_t all_rows(const struct project_job *projection)
{
    return projection->items * projection->rows;
}

/* Returns the bytes of its scratch; SIZE_MAX on overflow. */
static size_t make_plan(struct plan *plan, const struct project_job *projection)
{
    const size_t lanes = projection->kernel->lanes, panels = work_ceil_divide(projection->d_out, lanes);
    const double work = (double)all_rows(projection) * (double)panels * (double)lanes;
    *plan = (struct plan){.projection = projection, .panels = panels, .size = dtype_size(projection->kernel->number)};
    plan->threads = work_threads(projection->threads, work * (double)projection->d_in);
    plan->counter.progress = &projection->progress;
    plan->counter.total = (double)all_rows(projection) * (double)panels;
    plan->panel_bytes = work_bytes(projection->d_in, lanes, plan->size);
    const size_t most = memory_larger(PIECE_BYTES / plan->panel_bytes, 1);
    plan->task_panels = memory_smaller(TASK_PANELS, most);
    plan->streamed = projection->transposed && all_rows(projection) <= TASK_ROWS;
    plan->piece_panels = plan->streamed
                             ? plan->threads
                             : memory_smaller(panels, most / plan->task_panels * plan->task_panels * plan->threads);
    return work_scratch_bytes(memory_product(plan->panel_bytes, plan->piece_panels), WIDENED * lanes * plan->size,
                              plan->threads);
}

static char *own_numbers(const struct plan *plan, unsigned thread)
{
    return plan->own + (size_t)thread * WIDENED * plan->projection->kernel->lanes * plan->size;
}

/* Row k of a packed panel, one of the piece. */
static char *panel_row(const struct plan *plan, size_t index, size_t k)
{
    return plan->packed + index * plan->panel_bytes + k * plan->projection->kernel->lanes * plan->size;
}

static const void *weight_at(const struct project_job *projection, size_t index)
{
    return (const char *)projection->weight + index * dtype_size(projection->weight_dtype);
}

/* Converts numbers of the weight to the kernel's. */
static void load_weight(const struct plan *plan, size_t index, size_t count, char *numbers)
{
    const struct project_job *projection = plan->projection;
    const enum dtype dtype = projection->weight_dtype;
    const void *from = weight_at(projection, index);
    if (projection->kernel->number == DTYPE_F64)
        dtype_load(dtype, from, count, (double *)(void *)numbers);
    else
        dtype_load_floats(dtype, from, count, (float *)(void *)numbers);
}

/* The panels of task `chunk` of the piece. */
static void chunk_panels(const struct plan *plan, size_t chunk, size_t *first, size_t *end)
{
    *first = plan->first + chunk * plan->task_panels;
    *end = memory_smaller(*first + plan->task_panels, plan->end);
}

/* Packs the columns of panels first .. end of row k of the weight, (d_in, d_out); columns beyond d_out are 0. Going row
 * by row reads the weight in memory order. */
static void pack_row(const struct plan *plan, size_t k, size_t first, size_t end)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_out = projection->d_out;
    for (size_t panel = first; panel < end; panel++) {
        const size_t column = panel * lanes, given = memory_smaller(lanes, d_out - column);
        char *packed = panel_row(plan, panel - plan->first, k);
        load_weight(plan, k * d_out + column, given, packed);
        memset(packed + given * plan->size, 0, (lanes - given) * plan->size);
    }
}

/* Packs `count` rows of a weight (d_out, d_in) narrower than the kernel's numbers, some columns at a time. */
static void pack_widened(const struct plan *plan, size_t index, size_t row, size_t count, char *widened)
{
    const struct project_job *projection = plan->projection;
    const size_t d_in = projection->d_in;
    for (size_t k = 0; k < d_in; k += WIDENED) {
        const size_t columns = memory_smaller(WIDENED, d_in - k);
        for (size_t i = 0; i < count; i++)
            load_weight(plan, (row + i) * d_in + k, columns, widened + i * columns * plan->size);
        projection->kernel->pack(widened, columns, count, columns, panel_row(plan, index, k));
    }
}

/* Packs one panel of a weight (d_out, d_in) into one of the piece. */
static void pack_transposed(const struct plan *plan, size_t panel, size_t index, unsigned thread)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_in = projection->d_in, row = panel * lanes;
    const size_t count = memory_smaller(lanes, projection->d_out - row);
    if (projection->weight_dtype == projection->kernel->number)
        projection->kernel->pack(weight_at(projection, row * d_in), d_in, count, d_in, panel_row(plan, index, 0));
    else
        pack_widened(plan, index, row, count, own_numbers(plan, thread));
}

static void pack_chunk(void *context, size_t chunk, unsigned thread)
{
    const struct plan *plan = context;
    const bool transposed = plan->projection->transposed;
    size_t first, end;
    chunk_panels(plan, chunk, &first, &end);
    for (size_t k = 0; k < plan->projection->d_in && !transposed; k++)
        pack_row(plan, k, first, end);
    for (size_t panel = first; panel < end && transposed; panel++)
        pack_transposed(plan, panel, panel - plan->first, thread);
}

/* The address in y of column `column` of a row (counted over items and rows). */
static char *place(const struct plan *plan, size_t row, size_t column)
{
    const struct project_job *projection = plan->projection;
    return (char *)projection->y +
           plan->size *
               (row / projection->rows * projection->item_stride + row % projection->rows * projection->row_stride +
                column / projection->d_head * projection->head_stride + column % projection->d_head);
}

/* Copies sums (rows, W) to y, cut where a head ends. */
static void scatter(const struct plan *plan, size_t first_row, size_t rows, size_t first_column, const char *sums)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_head = projection->d_head;
    const size_t columns = memory_smaller(lanes, projection->d_out - first_column);
    for (size_t i = 0; i < rows; i++)
        for (size_t done = 0, length; done < columns; done += length) {
            const size_t column = first_column + done;
            length = memory_smaller(d_head - column % d_head, columns - done);
            memcpy(place(plan, first_row + i, column), sums + (i * lanes + done) * plan->size, length * plan->size);
        }
}

/* Starts every row of the sums with the bias of its columns. */
static void begin_sums(const struct plan *plan, size_t first_column, size_t rows, char *sums)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, row = lanes * plan->size;
    const size_t given = projection->bias == NULL ? 0 : memory_smaller(lanes, projection->d_out - first_column);
    if (given > 0)
        memcpy(sums, (const char *)projection->bias + first_column * plan->size, given * plan->size);
    memset(sums + given * plan->size, 0, row - given * plan->size);
    for (size_t i = 1; i < rows; i++)
        memcpy(sums + i * row, sums, row);
}

/* Multiplies a strip of x with one panel: the bias first, then DEPTH columns at a time. */
static void project_strip(const struct plan *plan, size_t panel, size_t index, size_t first_row, size_t rows,
                          char *sums)
{
    const struct project_job *projection = plan->projection;
    const size_t d_in = projection->d_in, first = panel * projection->kernel->lanes;
    const char *x = (const char *)projection->x + first_row * d_in * plan->size;
    begin_sums(plan, first, rows, sums);
    for (size_t k = 0; k < d_in; k += DEPTH)
        projection->kernel->project(x + k * plan->size, d_in, rows, memory_smaller(DEPTH, d_in - k),
                                    panel_row(plan, index, k), sums);
    scatter(plan, first_row, rows, first, sums);
}

static void project_panel(const struct plan *plan, size_t panel, size_t index, size_t first_row, size_t rows,
                          unsigned thread)
{
    for (size_t done = 0; done < rows; done += STRIP_ROWS)
        project_strip(plan, panel, index, first_row + done, memory_smaller(STRIP_ROWS, rows - done),
                      own_numbers(plan, thread));
}

static size_t piece_chunks(const struct plan *plan)
{
    return work_ceil_divide(plan->end - plan->first, plan->task_panels);
}

static void project_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const size_t first_row = task / piece_chunks(plan) * TASK_ROWS;
    const size_t rows = memory_smaller(TASK_ROWS, all_rows(plan->projection) - first_row);
    size_t first, end;
    chunk_panels(plan, task % piece_chunks(plan), &first, &end);
    for (size_t panel = first; panel < end; panel++)
        project_panel(plan, panel, panel - plan->first, first_row, rows, thread);
    work_count(&plan->counter, rows * (end - first), thread);
}

static void stream_panel(void *context, size_t panel, unsigned thread)
{
    struct plan *plan = context;
    const size_t rows = all_rows(plan->projection);
    pack_transposed(plan, panel, thread, thread);
    project_panel(plan, panel, thread, 0, rows, thread);
    work_count(&plan->counter, rows, thread);
}

enum status project_compute(const struct project_job *projection, struct error *error)
{
    struct plan plan;
    struct arena arena = {0};
    const size_t bytes = make_plan(&plan, projection);
    plan.packed = work_scratch(&arena, bytes, error);
    if (plan.packed == NULL)
        return error->status;
    plan.own = plan.packed + plan.piece_panels * plan.panel_bytes;
    const size_t blocks = work_ceil_divide(all_rows(projection), TASK_ROWS);
    if (plan.streamed)
        threads_run(plan.threads, plan.panels, stream_panel, &plan);
    for (; plan.first < plan.panels && !plan.streamed; plan.first += plan.piece_panels) {
        plan.end = memory_smaller(plan.first + plan.piece_panels, plan.panels);
        threads_run(plan.threads, piece_chunks(&plan), pack_chunk, &plan);
        threads_run(plan.threads, blocks * piece_chunks(&plan), project_task, &plan);
    }
    arena_free(&arena);
    work_end(&projection->progress);
    return STATUS_OK;
}
