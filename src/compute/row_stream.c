/* SPDX-License-Identifier: MIT */
#include "compute/row_stream.h"
#include "base/text.h"
#include "base/threads.h"
#include "model/stages.h"
#include "stage/projections.h"
#include "stage/words.h"

#include <string.h>

/* --- dropout's generator, kept in step --------------------------------------------------------------------------- */

/* Rows between checkpoints, and the least of a block. */
enum { DROPOUT_BLOCK = 64 };

/* Dropout draws for one row after another. Heads of one module draw in one call, (B, H, T, T) row-major; stacked heads
 * draw in one call each, (B, T, T). A checkpoint before a row leads back to its draws. */
struct dropout_track {
    struct torch_random generator; /* before row `next` */
    size_t next;
    size_t rows_per_call;
    struct torch_random *checkpoints; /* [i] is before row i x DROPOUT_BLOCK */
    size_t checkpoint_count;
};

static enum status create_track(struct row_stream *rows, size_t most, struct arena *arena, struct error *error)
{
    const struct problem *problem = rows->problem;
    struct dropout_track *track = arena_allocate(arena, 1, sizeof *track, error);
    const size_t all = problem->size.items * problem->size.heads * problem->size.queries; /* rows of query */
    rows->kept = arena_allocate(arena, memory_product(most, problem->size.keys), sizeof *rows->kept, error);
    if (track == NULL || rows->kept == NULL)
        return error->status;
    *track = (struct dropout_track){.generator = problem->drop.generator,
                                    .rows_per_call = problem->plan.stacked ? all / problem->plan.module_count : all};
    track->checkpoints = arena_allocate(arena, all / DROPOUT_BLOCK + 1, sizeof *track->checkpoints, error);
    if (track->checkpoints == NULL)
        return error->status;
    track->checkpoints[track->checkpoint_count++] = track->generator;
    rows->track = track;
    return STATUS_OK;
}

static void draw_next_row(const struct problem *problem, struct dropout_track *track, bool *kept)
{
    if (track->next == track->checkpoint_count * DROPOUT_BLOCK)
        track->checkpoints[track->checkpoint_count++] = track->generator;
    if (track->next % track->rows_per_call == 0)
        torch_random_dropout_begin(&track->generator);
    torch_random_dropout(&track->generator, problem->drop.share, kept, problem->size.keys);
    track->next++;
}

/* Writes kept (Tk): what dropout keeps of a query's row. */
static void draw_row(struct row_stream *rows, size_t item, size_t head, size_t query, bool *kept)
{
    const struct problem *problem = rows->problem;
    struct dropout_track *track = rows->track;
    const size_t matrix = problem->plan.stacked ? head * problem->size.items + item : item * problem->size.heads + head;
    const size_t row = matrix * problem->size.queries + query;
    size_t checkpoint = row / DROPOUT_BLOCK;
    if (checkpoint >= track->checkpoint_count)
        checkpoint = track->checkpoint_count - 1;
    if (row < track->next || checkpoint * DROPOUT_BLOCK > track->next) {
        track->generator = track->checkpoints[checkpoint];
        track->next = checkpoint * DROPOUT_BLOCK;
    }
    while (track->next <= row)
        draw_next_row(problem, track, kept);
}

/* --- rows through the stages, by all threads --------------------------------------------------------------------- */

size_t row_stream_slot(const struct row_stream *rows, size_t row)
{
    const size_t left_out = rows->problem->chosen.row_count - rows->attention->computed_rows;
    return left_out > 0 && row >= TEXT_ELIDED / 2 ? row - left_out : row;
}

size_t row_stream_of_slot(const struct row_stream *rows, size_t slot)
{
    const size_t left_out = rows->problem->chosen.row_count - rows->attention->computed_rows;
    return left_out > 0 && slot >= TEXT_ELIDED / 2 ? slot + left_out : slot;
}

/* Whether a run applies rows->kept. */
static bool drops(const struct row_run *run)
{
    return run->rows->track != NULL && (stage_closure(run->stages) & STAGE_BIT(STAGE_DROPPED)) != 0;
}

static void run_task(void *context, size_t task, unsigned thread)
{
    const struct row_run *run = context;
    const struct row_stream *rows = run->rows;
    struct attention_scratch *scratch = &rows->attention->scratch[thread];
    if (run->background.work != NULL && task-- == 0) {
        run->background.work(run->background.context);
        return;
    }
    reference_row(rows->attention, scratch, run->item, run->head, run->first + task, run->stages,
                  drops(run) ? rows->kept + task * rows->problem->size.keys : NULL);
    run->take(run->context, task, scratch);
}

void row_stream_run(struct row_run *run, size_t count)
{
    struct row_stream *rows = run->rows;
    rows->count = 0; /* invalidates the block, whose kept this replaces */
    reference_begin(rows->attention, run->item, run->head, run->stages);
    for (size_t i = 0; i < count && drops(run); i++)
        draw_row(rows, run->item, run->head, rows->attention->positions[run->first + i],
                 rows->kept + i * rows->problem->size.keys);
    /* Background work starts first: it is the longest task. */
    threads_run(rows->attention->threads, count + (run->background.work != NULL), run_task, run);
}

/* --- a block of one stage ---------------------------------------------------------------------------------------- */

static void take_row(void *context, size_t i, const struct attention_scratch *scratch)
{
    const struct row_stream *rows = context;
    const size_t columns = problem_columns_of_head(rows->problem, rows->stage);
    memcpy(rows->numbers + i * columns, scratch->rows[rows->stage], columns * sizeof(double));
}

/* The row's numbers, valid until the next call. */
static const double *block_row(struct row_stream *rows, enum stage stage, size_t item, size_t head, size_t row)
{
    const size_t matrix = item * rows->problem->size.heads + head, slot = row_stream_slot(rows, row);
    const bool there =
        rows->stage == stage && rows->matrix == matrix && slot >= rows->first && slot - rows->first < rows->count;
    if (!there) {
        const size_t count = memory_smaller(rows->attention->computed_rows - slot, rows->block);
        rows->stage = stage;
        rows->matrix = matrix;
        rows->first = slot;
        row_stream_run(&(struct row_run){rows, STAGE_BIT(stage), item, head, slot, take_row, .context = rows}, count);
        rows->count = count;
    }
    return rows->numbers + (slot - rows->first) * problem_columns_of_head(rows->problem, stage);
}

bool row_stream_makes(const struct row_stream *rows, enum stage stage)
{
    return stage_is_made_by_row(stage) && !(stage == STAGE_CONTEXT && rows->contexts.rank > 0);
}

/* --- rows that text shows: made once, for all tables -------------------------------------------------------------- */

/* The i-th column that an elided row shows. */
static size_t shown_column(const struct row_stream *rows, size_t i)
{
    return i < TEXT_ELIDED / 2 ? i : rows->problem->size.keys - TEXT_ELIDED + i;
}

/* Of a T x T stage it keeps the columns at both ends, of another all; none of shares, whose largest may be anywhere. */
static size_t shown_count(const struct problem *problem, enum stage stage)
{
    return stage_is_square(stage) ? TEXT_ELIDED : problem_columns_of_head(problem, stage);
}

static double *shown_numbers(const struct row_stream *rows, size_t matrix, size_t slot)
{
    return rows->shown + (matrix * rows->attention->computed_rows + slot) * rows->shown_width;
}

static void take_shown(void *context, size_t i, const struct attention_scratch *scratch)
{
    const struct row_run *run = context;
    const struct row_stream *rows = run->rows;
    double *numbers = shown_numbers(rows, run->item * rows->problem->size.heads + run->head, i);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const bool square = stage_is_square(stage);
        if ((rows->stages & STAGE_BIT(stage)) == 0)
            continue;
        for (size_t column = 0; column < shown_count(rows->problem, stage); column++)
            *numbers++ = scratch->rows[stage][square ? shown_column(rows, column) : column];
    }
}

/* The shown numbers of a row in each stage made by row, one stage after another. */
static const double *shown_row(struct row_stream *rows, size_t item, size_t head, size_t row)
{
    const size_t matrix = item * rows->problem->size.heads + head;
    struct row_run run = {rows, rows->stages, item, head, 0, take_shown, .context = &run};
    if (!rows->made[matrix])
        row_stream_run(&run, rows->attention->computed_rows);
    rows->made[matrix] = true;
    return shown_numbers(rows, matrix, row_stream_slot(rows, row));
}

/* --- the contexts of all heads ------------------------------------------------------------------------------------ */

static void take_context(void *context, size_t i, const struct attention_scratch *scratch)
{
    const struct row_run *run = context;
    const struct row_stream *rows = run->rows;
    const size_t d = rows->problem->size.d_value, matrix = run->item * rows->problem->size.heads + run->head;
    tensor_store(&rows->contexts, (matrix * rows->attention->computed_rows + run->first + i) * d, d,
                 scratch->rows[STAGE_CONTEXT]);
}

/* Makes contexts head by head; a row of output needs all heads. */
static void make_contexts(struct row_stream *rows)
{
    const struct problem *problem = rows->problem;
    const size_t computed_rows = rows->attention->computed_rows,
                 all = problem->size.items * problem->size.heads * computed_rows;
    struct progress *progress = rows->attention->progress;
    rows->contexts_made = true;
    progress_begin(progress, stage_name(STAGE_CONTEXT), (double)all);
    for (size_t row = 0, count; row < all; row += count) {
        const size_t matrix = row / computed_rows, first = row % computed_rows;
        count = memory_smaller(computed_rows - first, rows->most);
        struct row_run run = {
            rows,         STAGE_BIT(STAGE_CONTEXT), matrix / problem->size.heads, matrix % problem->size.heads, first,
            take_context, .context = &run};
        row_stream_run(&run, count);
        progress_update(progress, (double)(row + count));
    }
}

/* --- rows on demand ---------------------------------------------------------------------------------------------- */

void row_stream_get(struct row_stream *rows, enum stage stage, size_t item, size_t head, size_t row, double *numbers)
{
    const size_t d = rows->problem->size.d_value, matrix = item * rows->problem->size.heads + head;
    if (stage == STAGE_CONTEXT && rows->contexts.rank > 0) {
        if (!rows->contexts_made)
            make_contexts(rows);
        tensor_load(&rows->contexts, (matrix * rows->attention->computed_rows + row) * d, d, numbers);
        return;
    }
    if (rows->shown == NULL || stage_is_shares(stage)) {
        memcpy(numbers, block_row(rows, stage, item, head, row),
               problem_columns_of_head(rows->problem, stage) * sizeof *numbers);
        return;
    }
    const double *shown = shown_row(rows, item, head, row) + rows->shown_from[stage];
    for (size_t i = 0; i < shown_count(rows->problem, stage); i++)
        numbers[stage_is_square(stage) ? shown_column(rows, i) : i] = shown[i];
}

static size_t output_columns_of(const struct problem *problem)
{
    return problem->plan.has_out ? problem->plan.d_output : problem->size.heads * problem->size.d_value;
}

static void output_task(void *context, size_t i, unsigned thread)
{
    (void)thread;
    const struct row_stream *rows = context;
    const struct problem *problem = rows->problem;
    output_row(problem, rows->side_by_side + i * problem->size.heads * problem->size.d_value,
               rows->attention->out_weight, rows->attention->out_bias, rows->outputs + i * output_columns_of(problem));
}

/* Makes a block of rows: the contexts of every head, and their output. */
static void fill_outputs(struct row_stream *rows, size_t item, size_t first)
{
    const struct problem *problem = rows->problem;
    const size_t d = problem->size.d_value, left = problem->chosen.row_count - first;
    rows->outputs_item = item;
    rows->outputs_first = first;
    rows->outputs_count = left < rows->block ? left : rows->block;
    if (rows->shown != NULL) /* an elided table may skip the next ones */
        rows->outputs_count = 1;
    for (size_t head = 0; head < problem->size.heads; head++)
        for (size_t i = 0; i < rows->outputs_count; i++)
            row_stream_get(rows, STAGE_CONTEXT, item, head, first + i,
                           rows->side_by_side + (i * problem->size.heads + head) * d);
    for (size_t i = 0; i < rows->outputs_count; i++)
        problem_gate_heads(problem, item * problem->size.queries + problem->chosen.rows[first + i],
                           rows->side_by_side + i * problem->size.heads * d);
    threads_run(rows->attention->output_threads, rows->outputs_count, output_task, rows);
}

/* Makes stage after stage from the output, the last into numbers. */
static void make_words(const struct row_stream *rows, enum stage stage, size_t item, size_t row, const double *output,
                       double *numbers)
{
    const struct attention *attention = rows->attention;
    const struct words_row words = {rows->problem, &rows->problem->given.inputs,
                                    item * rows->problem->size.queries + rows->problem->chosen.rows[row],
                                    attention->unembedding, attention->unembedding_bias};
    const double *before = output;
    for (int made = STAGE_OUTPUT + 1, turn = 0; made <= (int)stage; made++, turn = !turn) {
        double *to = made == (int)stage ? numbers : rows->words[turn];
        words_row_make(&words, (enum stage)made, before, to);
        before = to;
    }
}

void row_stream_output(struct row_stream *rows, enum stage stage, size_t item, size_t row, double *numbers)
{
    const size_t columns = output_columns_of(rows->problem);
    const bool there =
        item == rows->outputs_item && row >= rows->outputs_first && row - rows->outputs_first < rows->outputs_count;
    if (!there)
        fill_outputs(rows, item, row);
    const double *output = rows->outputs + (row - rows->outputs_first) * columns;
    if (stage_is_of_words(stage))
        make_words(rows, stage, item, row, output, numbers);
    else
        memcpy(numbers, output, columns * sizeof *numbers);
}

const bool *row_stream_kept(const struct row_stream *rows, size_t row)
{
    return rows->kept + (row_stream_slot(rows, row) - rows->first) * rows->problem->size.keys;
}

/* --- room -------------------------------------------------------------------------------------------------------- */

static const double BLOCK_WORK = 0x1p25; /* multiply-adds of a block, so that starting threads is cheap */
enum { BLOCK_NUMBERS = 1 << 21, MOST_BLOCK = 64 };

static size_t choose_block(const struct row_stream *rows, bool elided)
{
    const struct problem *problem = rows->problem;
    const double work = (double)problem->size.keys * (double)(problem->size.d_head + problem->size.d_value);
    const size_t threads = rows->attention->threads;
    size_t block = problem->drop.share > 0 ? DROPOUT_BLOCK : 1;
    if (threads > 1)
        for (block = threads; block < MOST_BLOCK && (double)block * work < BLOCK_WORK;)
            block *= 2;
    else if (rows->attention->output_threads > 1)
        block = MOST_BLOCK;
    while (block > threads && block > BLOCK_NUMBERS / problem->size.keys)
        block /= 2;
    return elided && problem->chosen.row_count > TEXT_ELIDED ? 1 : block;
}

/* Lists the stages made by row, and the offset of each in what text shows. Gradients come from the stream in
 * compute/backward.h. */
static void lay_out_shown(struct row_stream *rows)
{
    const struct problem *problem = rows->problem;
    uint64_t shown = 0;
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        if (stage_has_columns(problem->chosen.stages[i]) && !STAGES[problem->chosen.stages[i]].backward)
            shown |= stage_existing(STAGE_BIT(problem->chosen.stages[i]));
    shown = stage_closure(shown);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (shown & STAGE_BIT(stage) && stage_is_made_by_row(stage) && !stage_is_shares(stage)) {
            rows->stages |= STAGE_BIT(stage);
            rows->shown_from[stage] = rows->shown_width;
            rows->shown_width += shown_count(problem, stage);
        }
}

static enum status create_shown(struct row_stream *rows, struct arena *arena, struct error *error)
{
    const struct problem *problem = rows->problem;
    const size_t matrices = problem->size.items * problem->size.heads;
    lay_out_shown(rows);
    if (rows->shown_width == 0)
        return STATUS_OK;
    rows->shown = arena_allocate(arena, memory_product(matrices * rows->attention->computed_rows, rows->shown_width),
                                 sizeof rows->shown[0], error);
    rows->made = arena_allocate(arena, matrices, sizeof rows->made[0], error);
    if (rows->shown == NULL || rows->made == NULL)
        return error->status;
    memset(rows->made, 0, matrices * sizeof rows->made[0]);
    return STATUS_OK;
}

enum status row_stream_create(struct row_stream *rows, const struct problem *problem, const struct attention *attention,
                              bool elided, struct arena *arena, struct error *error)
{
    *rows = (struct row_stream){.problem = problem, .attention = attention};
    rows->block = choose_block(rows, elided);
    /* Runs take rows as they are made: as many as fill a large write. */
    rows->most =
        memory_smaller(attention->computed_rows,
                       memory_larger(memory_larger(ROW_STREAM_WRITTEN / problem->size.keys, 1), attention->threads));
    const size_t most = memory_larger(memory_larger(rows->block, rows->most), TEXT_ELIDED);
    const size_t columns = attention->fused ? 1 : memory_larger(problem->size.keys, problem->size.d_value);
    const size_t width = problem->size.heads * problem->size.d_value; /* of a row of query's value */
    rows->numbers = arena_allocate(arena, memory_product(rows->block, columns), sizeof *rows->numbers, error);
    rows->side_by_side = arena_allocate(arena, memory_product(rows->block, width), sizeof *rows->side_by_side, error);
    rows->outputs =
        arena_allocate(arena, memory_product(rows->block, output_columns_of(problem)), sizeof *rows->outputs, error);
    for (int i = 0; i < 2 && problem->size.words > 0; i++)
        rows->words[i] = arena_allocate(arena, memory_larger(problem->size.d_in, problem->size.words),
                                        sizeof *rows->words[i], error);
    if (rows->numbers == NULL || rows->side_by_side == NULL || rows->outputs == NULL || error->status != STATUS_OK)
        return error->status;
    if (problem->drop.share > 0 && create_track(rows, most, arena, error) != STATUS_OK)
        return error->status;
    bool makes_output = false;
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        makes_output = makes_output || problem_made_as(problem, problem->chosen.stages[i]) == STAGE_OUTPUT ||
                       stage_is_of_words(problem->chosen.stages[i]);
    if (!elided && !problem->chosen.explains && !attention->fused && makes_output)
        return tensor_create(
            &rows->contexts, dtype_storage(problem->rounding.dtype), 4,
            (const size_t[]){problem->size.items, problem->size.heads, attention->computed_rows, problem->size.d_value},
            arena, error);
    return elided && !attention->fused && problem->size.keys > TEXT_ELIDED ? create_shown(rows, arena, error)
                                                                           : STATUS_OK;
}
