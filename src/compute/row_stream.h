/* SPDX-License-Identifier: MIT */
/* The rows of stages that are not held, computed on demand.
 *
 * All threads compute rows of T x T stages, and of the reference's context, in blocks. Dropout's generator only goes
 * forward; row_stream.c keeps it in step, so that the order of requests changes no row. For an elided result it makes
 * each row once and keeps what text shows of it.
 *
 *   B items of a batch, H heads, S selected queries, Tk keys, d_v columns of a head of value. */
#pragma once

#include "compute/reference.h"

/* Work of one thread while the others make rows; `work` may be NULL. */
struct background_work {
    void (*work)(void *context);
    void *context;
};

enum { ROW_STREAM_WRITTEN = 1 << 19 }; /* numbers of the rows made and taken at a time */

struct row_stream {
    const struct problem *problem;
    const struct attention *attention;
    struct dropout_track *track; /* the state of dropout's generator; NULL without dropout */
    size_t block, most;          /* rows of a block, and most rows of a run */
    bool *kept;                  /* (block or most, Tk) what dropout keeps of them; NULL without dropout */

    double *numbers; /* (block, Tk or d_v) the current block, of one head: */
    enum stage stage;
    size_t matrix, first, count;

    double *side_by_side, *outputs; /* (block, H d_v), (block, columns) the heads' contexts, output; of one item: */
    size_t outputs_item, outputs_first, outputs_count;
    double *words[2];       /* (d_in or V) a row on its way to the next word */
    struct tensor contexts; /* (B, H, S, d_v), if all rows of output are needed; else rank 0 */
    bool contexts_made;

    double *shown;   /* elided: (B H, S, numbers) what text shows of each row; NULL: not kept */
    bool *made;      /* (B H) whether a head's are made */
    uint64_t stages; /* the shown stages, in order; and */
    size_t shown_from[STAGE_COUNT], shown_width; /* the offset of each, and the end of the last */
};

/* Allocates all memory that rows will need from the arena; so rows cannot fail. `elided`: callers ask only for rows
 * that an elided table shows, and of T x T, but for shares, only for columns at both ends. */
enum status row_stream_create(struct row_stream *rows, const struct problem *problem, const struct attention *attention,
                              bool elided, struct arena *arena, struct error *error);

/* The slot of a row (counted over the selected queries), and the row of a slot. In an elided result only rows at both
 * ends have one. */
size_t row_stream_slot(const struct row_stream *rows, size_t row);
size_t row_stream_of_slot(const struct row_stream *rows, size_t slot);

/* Row `row` of a T x T stage, (Tk), or of context, (d_v), of one head of one item. */
void row_stream_get(struct row_stream *rows, enum stage stage, size_t item, size_t head, size_t row, double *numbers);

/* Makes `count` slots of one head in these stages, from `first` on, on all threads, and calls `take` for each, in any
 * order, with its rows in the scratch; and once the background work. count is at most rows->most; not for an elided
 * result. */
typedef void row_stream_sink(void *context, size_t i, const struct attention_scratch *scratch);
struct row_run {
    struct row_stream *rows;
    uint64_t stages;
    size_t item, head, first;
    row_stream_sink *take;
    void *context; /* of it */
    struct background_work background;
};
void row_stream_run(struct row_run *run, size_t count);

/* Whether row_stream_get makes its rows: a T x T stage, or context that is not kept for output. */
bool row_stream_makes(const struct row_stream *rows, enum stage stage);

/* A row of output, the heads' contexts side by side, through the output projection if there is one; or of a stage of
 * words, which is made from it. */
void row_stream_output(struct row_stream *rows, enum stage stage, size_t item, size_t row, double *numbers);

/* What dropout keeps, (Tk), of the last row of STAGE_DROPPED; not for an elided result. */
const bool *row_stream_kept(const struct row_stream *rows, size_t row);
