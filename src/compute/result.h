/* SPDX-License-Identifier: MIT */
/* The writer's view: tokens, and tables with name, formula, axes and rows on demand.
 *
 * A table is the inputs, one parameter, or a stage. A writer asks for rows and never knows where they come from: T x T
 * stages are computed on demand, and row_stream.c keeps dropout's generator in step. */
#pragma once

#include "compute/backward.h"

/* What an axis counts. */
enum axis {
    AXIS_ITEM, /* of a batch */
    AXIS_HEAD,
    AXIS_TOKEN,  /* all tokens of keys */
    AXIS_QUERY,  /* the selected queries */
    AXIS_INPUT,  /* all queries */
    AXIS_COLUMN, /* features, which have no label */
    AXIS_WORD,   /* of the vocabulary */
    AXIS_PAGE,   /* of a cache */
};

enum {
    RESULT_FORMULA_BYTES = 256, /* the longest, a mask with all its rules, has about 150 */
    RESULT_LACKS_BYTES = 96,
    RESULT_ELIDED = TEXT_ELIDED,
};

struct result_table {
    const char *name;
    char formula[RESULT_FORMULA_BYTES]; /* "query . key^T"; "" for inputs and parameters */
    enum stage stage;                   /* or STAGE_INPUTS (also for masks), STAGE_PARAMETERS */
    size_t rank;                        /* leading axes, rows, columns; 1: a single row of columns */
    enum axis axes[TENSOR_RANK];
    size_t shape[TENSOR_RANK];
    size_t head, heads;                 /* the first head, from 0, of so many; 0 and 0: all are in the shape */
    const struct tensor *const *pieces; /* join: the parts that hold the rows, in order; else NULL */
    const struct tensor *tensor;        /* if it is held, else NULL */
    bool hides;                         /* T x T, from masked on: the mask forbids elements of it */
    enum dtype dtype;                   /* the working dtype; BOOL of a boolean attn_mask */
};

struct result {
    const struct problem *problem;
    struct progress *progress; /* of the rows */
    bool given;                /* it holds all inputs of sdpa, in their layout: attn can read it again */
    /* The inputs that a result of sdpa with query, key or value lacks: "rows of query, attn_mask"; else "". */
    char lacks[RESULT_LACKS_BYTES];
    struct attention attention;
    struct row_stream rows;
    struct backward *backward;   /* --grad: source of the gradients; or NULL */
    bool elided;                 /* writers will ask only for rows that an elided table shows */
    struct result_table *tables; /* in the order of --stages */
    size_t table_count;
    double *numbers;                     /* (widest) a writer's room for one row of any table */
    size_t widest;                       /* columns of the widest table */
    const struct result_table *underway; /* whose rows a writer is reading; and */
    double rows_done;                    /* how many it has read */
};

/* Lists the tables by name and shape, before any work, so that a writer can say whether it can hold them. The problem
 * must outlive the result; the arena owns everything else. STATUS_SYSTEM: out of memory. */
enum status result_list(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                        struct arena *arena, struct error *error);

/* Computes query, key and value if a table needs them, and allocates all memory that rows will need; so rows cannot
 * fail. */
enum status result_compute(struct result *result, struct arena *arena, struct error *error);

/* result_list, then result_compute. */
enum status result_create(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                          struct arena *arena, struct error *error);

/* The result's "layout": INPUT_FILE_GIVEN if it holds sdpa's inputs, INPUT_FILE_CROSS if queries and keys come from
 * different inputs; else NULL. */
const char *result_layout(const struct result *result);

/* Allocates one row of the widest table; the last step of making a result. */
enum status result_allocate_row(struct result *result, struct arena *arena, struct error *error);

/* The first table of that stage, or NULL. */
const struct result_table *result_table_of(const struct result *result, enum stage stage);

/* The sizes of a table as a list of matrices: the product of the leading axes, the rows and the columns of each. */
size_t result_matrices(const struct result_table *table);
size_t result_rows(const struct result_table *table);
size_t result_columns(const struct result_table *table);

enum axis result_row_axis(const struct result_table *table);
enum axis result_column_axis(const struct result_table *table);

/* Whether to show it to people: stages always, inputs and parameters on request. */
bool result_is_shown(const struct result *result, const struct result_table *table);

/* How many of `count` rows or columns to show: all if `full`, else those at both ends, and one for the gap. */
size_t result_shown_count(size_t count, bool full);

/* The index of the i-th of these; false: it is the gap. */
bool result_shown_index(size_t count, bool full, size_t i, size_t *index);

/* The sum of a row of shares, and its entropy in nats. */
struct sharpness {
    double sum, entropy;
};
struct sharpness result_sharpness(const double *numbers, size_t count);

/* Row `row` of matrix `matrix` (counted over the leading axes, row-major) into numbers (columns), exactly as stored.
 * Of an elided T x T table, but for shares, only the columns at both ends are sure to be set. */
void result_row(struct result *result, const struct result_table *table, size_t matrix, size_t row, double *numbers);

/* Writes rows row .. row + count of a matrix as the bytes of a file, (count, columns), each number rounded once to the
 * table's dtype. count is at most result_rows_at_once; not for an elided result. Runs `background` once meanwhile. */
void result_encode(struct result *result, const struct result_table *table, size_t matrix, size_t row, size_t count,
                   unsigned char *bytes, struct background_work background);
size_t result_rows_at_once(const struct result *result, const struct result_table *table);

/* Whether the axis, of items or heads, is a leading one of the table. */
bool result_is_of(const struct result_table *table, enum axis axis);

/* Whether each matrix is a token and its rows are heads: sequences and pages as given. */
bool result_is_of_tokens(const struct result_table *table);

/* The item (or page) and the head of a matrix, or the token if its rows are heads; 0 without such an axis. */
void result_place(const struct result_table *table, size_t matrix, size_t *item, size_t *head);

/* The label of a row or column of that axis, a token or NULL; and its position from 1. */
const char *result_label(const struct result *result, enum axis axis, size_t item, size_t index, size_t *position);

/* What the mask forbids of one row of a table. */
struct result_mask {
    const struct mask *rules; /* NULL: nothing */
    size_t item, head, query;
};

/* The mask of one row: forbids elements of T x T tables from masked on, but none of an empty row whose weights are not
 * zero. Call once per row: it scans all keys for an empty row. */
struct result_mask result_mask_of(const struct result *result, const struct result_table *table, size_t matrix,
                                  size_t row);

/* Whether it forbids the element in that column. */
bool result_masks(const struct result_mask *mask, size_t column);
