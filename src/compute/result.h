/* SPDX-License-Identifier: MIT */
/* What a writer sees: settings as rows, tokens, and tables with name, formula, axes and rows on demand.
 *
 * A table is the inputs, one parameter, or a stage. A writer asks for rows and never knows how they come: stages of
 * T x T are computed as they are asked for; row_stream.c keeps dropout's generator in step. */
#ifndef ATTN_COMPUTE_RESULT_H
#define ATTN_COMPUTE_RESULT_H

#include "compute/backward.h"

/* What an axis counts. */
enum axis {
    AXIS_ITEM, /* of a batch */
    AXIS_HEAD,
    AXIS_TOKEN,  /* all tokens of keys */
    AXIS_QUERY,  /* the queries asked for */
    AXIS_INPUT,  /* all queries */
    AXIS_COLUMN, /* features, which have no label */
    AXIS_PAGE,   /* of a cache */
};

enum {
    RESULT_FORMULA_BYTES = 256, /* of the longest, a mask with all its rules: about 150 */
    RESULT_LACKS_BYTES = 96,
    RESULT_ELIDED = TEXT_ELIDED,
};

struct result_table {
    const char *name;
    char formula[RESULT_FORMULA_BYTES]; /* what it is made of: "query . key^T"; "" for inputs and parameters */
    enum stage stage;                   /* or STAGE_INPUTS (also of what masks), STAGE_PARAMETERS */
    size_t rank;                        /* leading axes, rows, columns; 1: a single row of columns */
    enum axis axes[TENSOR_RANK];
    size_t shape[TENSOR_RANK];
    const struct tensor *const *pieces; /* join: the parts that the rows lie in, one behind the other; else NULL */
    const struct tensor *tensor;        /* where it is held whole, else NULL */
    bool hides;                         /* T x T, from masked on: a mask forbids elements of it */
    enum dtype dtype;                   /* the working dtype; BOOL of a boolean attn_mask */
};

struct result {
    const struct problem *problem;
    struct progress *progress; /* to which rows tell how far they are */
    bool given;                /* it holds all that sdpa was given, in that layout: it is an input again */
    /* Where it shows sdpa's query, key or value without all that they were given with: "rows of query, attn_mask"; else
     * "". */
    char lacks[RESULT_LACKS_BYTES];
    struct attention attention;
    struct streamed_output streamed; /* of the context; set by a writer before the work */
    struct row_stream rows;
    struct backward *backward;   /* --grad: what the gradients come from; NULL where none is asked for */
    bool elided;                 /* only the rows that an elided table shows will be asked for */
    struct result_table *tables; /* in the order asked for */
    size_t table_count;
    double *numbers;                     /* (widest) a writer's room for one row of any table */
    size_t widest;                       /* columns of the widest table */
    const struct result_table *underway; /* whose rows a writer is asking for; and */
    double rows_done;                    /* how many it has had */
};

/* The tables by name and shape, before any work: for a writer to say whether it can hold them. The problem must outlive
 * the result; everything else is the arena's. STATUS_SYSTEM where memory is short. */
enum status result_list(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                        struct arena *arena, struct error *error);

/* Computes query, key and value where a table needs them, and has all memory that rows will need; so rows cannot
 * fail. */
enum status result_compute(struct result *result, struct arena *arena, struct error *error);

/* Both. */
enum status result_create(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                          struct arena *arena, struct error *error);

/* The "layout" that the result says of itself: INPUT_FILE_GIVEN where it holds what sdpa was given, INPUT_FILE_CROSS
 * where queries and keys are made of different inputs; else NULL. */
const char *result_layout(const struct result *result);

/* Room for one row of the widest table; the last step of making a result. */
enum status result_allocate_row(struct result *result, struct arena *arena, struct error *error);

/* The first table of that stage, NULL where there is none. */
const struct result_table *result_table_of(const struct result *result, enum stage stage);

/* Sizes of a table seen as a list of matrices: the leading axes' product, the rows and the columns of each. */
size_t result_matrices(const struct result_table *table);
size_t result_rows(const struct result_table *table);
size_t result_columns(const struct result_table *table);

/* What its rows and its columns count. */
enum axis result_row_axis(const struct result_table *table);
enum axis result_column_axis(const struct result_table *table);

/* Whether people are shown it: stages always, inputs and parameters where they are asked for. */
bool result_is_shown(const struct result *result, const struct result_table *table);

/* How many of `count` rows or columns are shown: all where `full`, else those at both ends, and one for the gap. */
size_t result_shown_count(size_t count, bool full);

/* The index of the i-th of these; false where it is the gap. */
bool result_shown_index(size_t count, bool full, size_t i, size_t *index);

/* Row `row` of matrix `matrix` (counted over the leading axes, row-major) into numbers (columns), exactly as stored.
 * Of an elided T x T table only the columns at both ends are sure to be set. */
void result_row(struct result *result, const struct result_table *table, size_t matrix, size_t row, double *numbers);

/* Rows row .. row + count of a matrix as the bytes of a file, each number rounded once to the table's dtype: (count,
 * columns) of them written. count is at most result_rows_at_once; not of an elided result. Meanwhile `background` is
 * done, once. */
void result_encode(struct result *result, const struct result_table *table, size_t matrix, size_t row, size_t count,
                   unsigned char *bytes, struct background_work background);
size_t result_rows_at_once(const struct result *result, const struct result_table *table);

/* Whether the matrices of the table are those of several items, or heads: that axis leads. */
bool result_is_of(const struct result_table *table, enum axis axis);

/* Whether each matrix is that of a token, whose rows are its heads: sequences and pages as they were given. */
bool result_is_of_tokens(const struct result_table *table);

/* Which item, or page, and which head, or where its rows are heads which token, a matrix is (0 where there is no such
 * axis). */
void result_place(const struct result_table *table, size_t matrix, size_t *item, size_t *head);

/* The label of a row or column of that axis: a token, or NULL where it has none; and its position from 1. */
const char *result_label(const struct result *result, enum axis axis, size_t item, size_t index, size_t *position);

/* What the mask forbids of one row of a table. */
struct result_mask {
    const struct mask *rules; /* NULL: nothing */
    size_t item, head, query;
};

/* It forbids elements of T x T tables from masked on, but none of an empty row that has other weights than zero. Asked
 * once for a row: whether that is empty takes a look at all its keys. */
struct result_mask result_mask_of(const struct result *result, const struct result_table *table, size_t matrix,
                                  size_t row);

/* Whether it forbids the element in that column. */
bool result_masks(const struct result_mask *mask, size_t column);

#endif
