/* SPDX-License-Identifier: MIT */
/* The rows of stages that nobody holds, computed as they are asked for.
 *
 * Rows of T x T stages, and of context where the reference makes it, are computed in blocks, by all threads. Dropout's
 * generator can only go forward; row_stream.c keeps it in step, so that a row is the same in whatever order rows are
 * asked for. Of an elided result each row goes through the stages once, and what text shows of it is kept.
 *
 *   B items of a batch, H heads, S queries asked for, Tk keys, d_v columns of a head of value. */
#ifndef ATTN_COMPUTE_ROW_STREAM_H
#define ATTN_COMPUTE_ROW_STREAM_H

#include "compute/reference.h"

/* What one of the threads does while the others make rows; `work` may be NULL. */
struct background_work {
    void (*work)(void *context);
    void *context;
};

enum { ROW_STREAM_WRITTEN = 1 << 19 }; /* numbers of the rows that are taken at a time as they are made */

struct row_stream {
    const struct problem *problem;
    const struct attention *attention;
    struct dropout_track *track; /* where dropout's generator stands; NULL without dropout */
    size_t block, most;          /* rows of a block, and of what is made at once as bytes */
    bool *kept;                  /* (block or most, Tk) what dropout keeps of them; NULL without dropout */

    double *numbers; /* (block, Tk or d_v) the present block, of one head: */
    enum stage stage;
    size_t matrix, first, count;

    double *side_by_side, *outputs; /* (block, H d_v), (block, columns) the heads' contexts, output; of one item: */
    size_t outputs_item, outputs_first, outputs_count;
    struct tensor contexts; /* (B, H, S, d_v), where all rows of output will be asked for; else rank 0 */
    bool contexts_made;

    double *shown;   /* elided: what text shows of each row, (B H, S, numbers); NULL where it is not kept */
    bool *made;      /* (B H) whether that of a head is there */
    uint64_t stages; /* which stages that is, in their order; and */
    size_t shown_from[STAGE_COUNT], shown_width; /* where each begins, and where the last ends */
};

/* Has all memory that rows will need, from the arena; so rows cannot fail. `elided`: only the rows that an elided table
 * shows will be asked for, and of T x T only the columns at both ends. */
enum status row_stream_create(struct row_stream *rows, const struct problem *problem, const struct attention *attention,
                              bool elided, struct arena *arena, struct error *error);

/* The slot of the attention that a row has (counted over the queries asked for), and the row of a slot. Of an elided
 * result only rows at both ends have one. */
size_t row_stream_slot(const struct row_stream *rows, size_t row);
size_t row_stream_of_slot(const struct row_stream *rows, size_t slot);

/* Row `row` of a T x T stage, (Tk), or of context, (d_v), of one head of one item. */
void row_stream_get(struct row_stream *rows, enum stage stage, size_t item, size_t head, size_t row, double *numbers);

/* Rows row .. row + count of such a stage of one head, not of an elided result, as the bytes of a file in its dtype:
 * (count, columns) written; count is at most rows->most. */
void row_stream_encode(struct row_stream *rows, enum stage stage, size_t item, size_t head, size_t row, size_t count,
                       unsigned char *bytes, struct background_work background);

/* Slots first .. first + count of one head through these stages, by all threads; each is taken, in no order, with its
 * rows in the scratch. count is at most rows->most; not of an elided result. */
typedef void row_stream_sink(void *context, size_t i, const struct attention_scratch *scratch);
void row_stream_run(struct row_stream *rows, uint64_t stages, size_t item, size_t head, size_t first, size_t count,
                    row_stream_sink *take, void *context);

/* Whether its rows are made so: those of a T x T stage, and of context where it is not kept for output. */
bool row_stream_makes(const struct row_stream *rows, enum stage stage);

/* The same of the heads' contexts side by side, through the output projection where there is one. */
void row_stream_output(struct row_stream *rows, size_t item, size_t row, double *numbers);

/* What dropout keeps, (Tk), of the row of STAGE_DROPPED that was asked for last; not of an elided result. */
const bool *row_stream_kept(const struct row_stream *rows, size_t row);

#endif
