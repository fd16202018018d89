#include "kernel/project.h"

#include "base/threads.h"

#include <string.h>

enum {
    TASK_ROWS = 144, /* of x */
    TASK_PANELS = 8, /* of the weight */
    STRIP_ROWS = 24, /* whose sums go to y at once: whole tiles of every kernel, few enough for the first cache */
    DEPTH = 1024,    /* columns of x that run through the registers at once: panel and rows fit the cache */
};

struct plan {
    const struct project_job *projection;
    unsigned threads;
    size_t panels;       /* of W columns of the weight each */
    size_t chunks;       /* of TASK_PANELS panels */
    size_t panel_floats; /* a panel is (d_in, W) */
    float *packed;       /* (panels, d_in, W) */
    float *sums;         /* (threads, STRIP_ROWS, W) */
    struct work_counter counter;
};

static size_t all_rows(const struct project_job *projection)
{
    return projection->items * projection->rows;
}

/* Returns the bytes of its scratch; SIZE_MAX where no size_t holds them. */
static size_t make_plan(struct plan *plan, const struct project_job *projection)
{
    const size_t lanes = projection->kernel->lanes, panels = work_ceil_divide(projection->d_out, lanes);
    const double work = (double)all_rows(projection) * (double)panels * (double)lanes;
    *plan = (struct plan){.projection = projection, .panels = panels};
    plan->chunks = work_ceil_divide(panels, TASK_PANELS);
    plan->threads = work_threads(projection->threads, work * (double)projection->d_in);
    plan->counter.progress = &projection->progress;
    plan->counter.total = (double)all_rows(projection) * (double)panels;
    size_t packed;
    if (!work_add_floats(projection->d_in, lanes, &plan->panel_floats) ||
        !memory_multiply(plan->panel_floats, panels, &packed))
        return SIZE_MAX;
    return work_scratch_bytes(packed, STRIP_ROWS * lanes, plan->threads);
}

/* Columns first .. first + count of row k of the weight, (d_in, d_out), go to as many panels as they fill; columns
 * beyond d_out are 0. Row after row, a long piece of each: the weight is read as it lies in memory. */
static void pack_row(const struct plan *plan, size_t k, size_t first, size_t count)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes;
    const float *row = projection->weight + k * projection->d_out;
    for (size_t column = first; column < first + count; column += lanes) {
        const size_t given = memory_smaller(lanes, first + count - column);
        float *packed = plan->packed + column / lanes * plan->panel_floats + k * lanes;
        memcpy(packed, row + column, given * sizeof *packed);
        memset(packed + given, 0, (lanes - given) * sizeof *packed);
    }
}

/* The panels of one chunk. A panel is W columns of the weight. */
static void pack_chunk(void *context, size_t chunk, unsigned thread)
{
    (void)thread;
    const struct plan *plan = context;
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_in = projection->d_in, width = TASK_PANELS * lanes;
    const size_t first = chunk * width, count = memory_smaller(width, projection->d_out - first);
    for (size_t k = 0; k < d_in && !projection->transposed; k++)
        pack_row(plan, k, first, count);
    for (size_t column = first; column < first + count && projection->transposed; column += lanes)
        projection->kernel->pack(projection->weight + column * d_in, d_in,
                                 memory_smaller(lanes, first + count - column), d_in, 1,
                                 plan->packed + column / lanes * plan->panel_floats);
}

/* Where column `column` of a row of x (items and rows counted as one) goes. */
static float *place(const struct project_job *projection, size_t row, size_t column)
{
    return projection->y + row / projection->rows * projection->item_stride +
           row % projection->rows * projection->row_stride + column / projection->d_head * projection->head_stride +
           column % projection->d_head;
}

/* sums (rows, W) go to their places in y, cut where a head ends. */
static void scatter(const struct project_job *projection, size_t first_row, size_t rows, size_t first_column,
                    const float *sums)
{
    const size_t lanes = projection->kernel->lanes, d_head = projection->d_head;
    const size_t columns = memory_smaller(lanes, projection->d_out - first_column);
    for (size_t i = 0; i < rows; i++)
        for (size_t done = 0, length; done < columns; done += length) {
            const size_t column = first_column + done;
            length = memory_smaller(d_head - column % d_head, columns - done);
            memcpy(place(projection, first_row + i, column), sums + i * lanes + done, length * sizeof *sums);
        }
}

/* A strip of x against one panel, the bias first, then depth by depth. */
static void project_strip(const struct plan *plan, size_t panel, size_t first_row, size_t rows, float *sums)
{
    const struct project_job *projection = plan->projection;
    const size_t lanes = projection->kernel->lanes, d_in = projection->d_in, first = panel * lanes;
    for (size_t i = 0; i < rows; i++)
        for (size_t lane = 0; lane < lanes; lane++)
            sums[i * lanes + lane] =
                projection->bias != NULL && first + lane < projection->d_out ? projection->bias[first + lane] : 0;
    for (size_t k = 0; k < d_in; k += DEPTH)
        projection->kernel->project(projection->x + first_row * d_in + k, d_in, rows, memory_smaller(DEPTH, d_in - k),
                                    plan->packed + panel * plan->panel_floats + k * lanes, sums);
    scatter(projection, first_row, rows, first, sums);
}

static void project_task(void *context, size_t task, unsigned thread)
{
    struct plan *plan = context;
    const size_t first_row = task / plan->chunks * TASK_ROWS;
    const size_t rows = memory_smaller(TASK_ROWS, all_rows(plan->projection) - first_row);
    const size_t first = task % plan->chunks * TASK_PANELS, end = memory_smaller(first + TASK_PANELS, plan->panels);
    float *sums = plan->sums + (size_t)thread * STRIP_ROWS * plan->projection->kernel->lanes;
    for (size_t panel = first; panel < end; panel++)
        for (size_t done = 0; done < rows; done += STRIP_ROWS)
            project_strip(plan, panel, first_row + done, memory_smaller(STRIP_ROWS, rows - done), sums);
    work_count(&plan->counter, rows * (end - first), thread);
}

enum status project_compute(const struct project_job *projection, struct error *error)
{
    struct plan plan;
    struct arena arena = {0};
    const size_t bytes = make_plan(&plan, projection);
    plan.packed = work_scratch(&arena, bytes, error);
    if (plan.packed == NULL)
        return error->status;
    plan.sums = plan.packed + plan.panels * plan.panel_floats;
    threads_run(plan.threads, plan.chunks, pack_chunk, &plan);
    threads_run(plan.threads, work_ceil_divide(all_rows(projection), TASK_ROWS) * plan.chunks, project_task, &plan);
    arena_free(&arena);
    work_end(&projection->progress);
    return STATUS_OK;
}
