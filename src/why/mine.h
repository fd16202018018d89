/* SPDX-License-Identifier: MIT */
/* What somebody has: tables of a file, each the numbers of a stage, or of some of its rows, items or heads. */
#ifndef ATTN_WHY_MINE_H
#define ATTN_WHY_MINE_H

#include "cli/options.h"
#include "problem/problem.h"
#include "read/input_file.h"

/* The axes that stages have, in their order. */
enum mine_axis { MINE_ITEM, MINE_HEAD, MINE_ROW, MINE_COLUMN, MINE_AXES };

/* Where a table has the axis of heads: before the rows, as stages have it, behind them, as it lies before it is
 * transposed, or in the columns, as heads lie once they are put together. */
enum mine_way { MINE_HEADS_BEFORE, MINE_HEADS_BEHIND, MINE_SIDE_BY_SIDE, MINE_WAYS };

/* How a table meets a stage: an axis of the stage is one of the table, or has one index alone. */
struct mine_layout {
    int axis[MINE_AXES];      /* which of the table's axes, of those that are longer than 1; -1: one index */
    size_t size[MINE_AXES];   /* of the table along it; 1 where it has none */
    size_t whole[MINE_AXES];  /* of the stage along it */
    size_t stride[MINE_AXES]; /* in the table */
    const size_t *rows;       /* (size[MINE_ROW]) by label: which of the queries asked for; NULL: they are in a row */
};

struct mine_table {
    const struct file_tensor *named;
    enum stage stage;
    const char *parameter; /* of grad_parameters: "grad_W_query.weight", which one it is; else NULL */
    struct mine_layout layout;
    const double *numbers; /* (count) */
    double *printed;       /* (count) half a unit of its last digit; 0 where it was not printed */
    double *tolerance;     /* (count) that, and what the dtype leaves open of the number itself */
    double screen; /* how much further off any of them may be before its noise is known: trial_run decides by that */
    size_t count;
    int decimals; /* that all numbers have in JSON, which keeps no last digit; -1: not known */
    bool told;    /* which stage it is, by its name or by --stages; else it is taken for it by its shape */
};

/* A table that is not compared. */
struct mine_passed {
    const char *name;
    const char *meant;    /* the stage that others call so, where the file has none of its own; or NULL */
    const char *repeated; /* of a stage with the numbers of another: which one that is; else NULL */
};

/* Every stage once, and the gradients with respect to parameters. */
enum { MINE_TABLES = STAGE_COUNT + 96 };

struct mine {
    struct input_file file;
    struct mine_table tables[MINE_TABLES]; /* in the order of the stages */
    size_t count;
    int decimals;               /* that all numbers were printed with; -1: they are whole, or differ */
    enum dtype dtype;           /* coarser than the job's where all numbers are numbers of it; else the job's */
    struct mine_passed *passed; /* the tables that are not compared: no stages, or the numbers of others */
    size_t passed_count;
    const char *meant; /* the stage that others call the one table so, which is not read for it; or NULL */
};

/* STATUS_USAGE where the one table of --mine has the numbers of these inputs. */
enum status mine_refuse_input(const struct mine *mine, const struct input_file *inputs, struct error *error);

/* Reads --mine. STATUS_USAGE where it holds no table. */
enum status mine_read(struct mine *mine, const struct options *options, struct arena *arena, struct error *error);

/* Bits that the first table's numbers tell, by their digits alone: sum of log2(largest / what may be off). */
double mine_bits(const struct mine *mine);

/* Finds where the tables stand among the problem's stages: by name, by --stages, or by shape. STATUS_USAGE where a
 * table is no stage's, with the shapes that would be. */
enum status mine_place(struct mine *mine, const struct problem *problem, const struct options *options,
                       struct arena *arena, struct error *error);

/* What a table that does not say it may be: a stage laid out in a way, and of grad_parameters which. */
struct mine_candidate {
    enum stage stage;
    enum mine_way way;
    const char *parameter;
};

/* All that the problem shows, in the order of the stages; *count of them, in the arena. NULL where memory is short. */
const struct mine_candidate *mine_candidates(const struct problem *problem, size_t *count, struct arena *arena,
                                             struct error *error);

/* Takes the one table for a candidate or a part of it; false where it does not fit. The rest of `mine` is a copy. */
bool mine_place_as(struct mine *mine, const struct problem *problem, const struct mine_candidate *candidate,
                   struct arena *arena, struct error *error);

/* Whether it is a gradient, and whether any of them is. */
bool mine_is_backward(const struct mine_table *table);
bool mine_has_backward(const struct mine *mine);

/* The first table of a stage; NULL: there is none. */
const struct mine_table *mine_table_of(const struct mine *mine, enum stage stage);

/* The name of its stage, or of the parameter that its gradient is by. */
const char *mine_name(const struct mine_table *table);

/* How many numbers the whole stage has. */
size_t mine_whole(const struct mine_table *table);

/* The indices that a place leaves open: of each axis that has one index, and the first row. */
struct mine_index {
    size_t at[MINE_AXES];
};

/* How many of them there are, and the i-th. */
size_t mine_indices(const struct mine_table *table);
struct mine_index mine_index(const struct mine_table *table, size_t i);

/* Where number `i` of the table is in the stage, by that index. */
struct mine_index mine_place_of(const struct mine_table *table, struct mine_index first, size_t i);

/* "context, head 1, row 3 (starts), column 2", a number of it, into text. */
void mine_describe_number(const struct mine_table *table, const struct problem *problem, struct mine_index index,
                          struct text *text);

/* "context, row 2" or "context, head 1, rows 3 to 5", with labels, into text. */
void mine_describe(const struct mine_table *table, const struct problem *problem, struct mine_index first,
                   struct text *text);

#endif
