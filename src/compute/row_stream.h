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

struct row_stream {
    const struct problem *problem;
    const struct attention *attention;
    struct dropout_track *track; /* where dropout's generator stands; NULL without dropout */
    size_t block;                /* rows of a block */
    bool *kept;                  /* (block, Tk) what dropout keeps of them; NULL without dropout */

    double *numbers; /* (block, Tk or d_v) the present block, of one head: */
    enum stage stage;
    size_t matrix, first, count;

    double *contexts, *outputs; /* (block, H d_v), (block, columns) contexts side by side, output; of one item: */
    size_t outputs_item, outputs_first, outputs_count;

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

/* The same of the heads' contexts side by side, through the output projection where there is one. */
void row_stream_output(struct row_stream *rows, size_t item, size_t row, double *numbers);

/* What dropout keeps, (Tk), of the row of STAGE_DROPPED that was asked for last; not of an elided result. */
const bool *row_stream_kept(const struct row_stream *rows, size_t row);

#endif
