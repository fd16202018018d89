/* SPDX-License-Identifier: MIT */
/* Somebody's tables from a file, each the numbers of a stage, or of some of its rows, items or heads. */
#pragma once

#include "cli/options.h"
#include "problem/problem.h"
#include "read/file_part.h"

/* The axes that stages have, in their order. */
enum mine_axis { MINE_ITEM, MINE_HEAD, MINE_ROW, MINE_COLUMN, MINE_AXES };

/* Where a table has the axis of heads: before the rows, as in stages; after them, as before a transposition; or in the
 * columns, as in joined heads. */
enum mine_way { MINE_HEADS_BEFORE, MINE_HEADS_BEHIND, MINE_SIDE_BY_SIDE, MINE_WAYS };

/* How a table maps to a stage: each axis of the stage is an axis of the table, or has a single index. */
struct mine_layout {
    int axis[MINE_AXES];      /* the table's axis, among those longer than 1; -1: one index */
    size_t size[MINE_AXES];   /* of the table along it; 1: none */
    size_t whole[MINE_AXES];  /* of the stage along it */
    size_t stride[MINE_AXES]; /* in the table */
    size_t head;              /* of --head, from 1; 0: any */
    const size_t *rows;       /* (size[MINE_ROW]) by label: indices of selected queries; NULL: consecutive */
};

struct mine_table {
    const struct file_tensor *named, *given; /* as compared; as in the file, which may show only a part */
    enum stage stage;
    const char *parameter; /* of grad_parameters: which, "grad_W_query.weight"; else NULL */
    struct mine_layout layout;
    const double *numbers; /* (count) */
    double *printed;       /* (count) half a unit of its last digit; 0: not printed */
    double *tolerance;     /* (count) that, plus the rounding error of the dtype */
    double screen;         /* further error that trial_run allows before the noise is known */
    size_t count;
    const size_t *places; /* (count) of a part: where each number is among all of the layout's; else NULL */
    size_t shown;         /* numbers, without the totals behind them */
    size_t rows;          /* with some of these */
    int decimals;         /* of all numbers in JSON, which keeps no last digit; -1: unknown */
    bool told;            /* its name or --stages says its stage; else inferred from its shape */
};

/* A table that attn does not compare. */
struct mine_passed {
    const char *name;
    const char *meant;    /* the stage that others call so, if the file lacks it; or NULL */
    const char *repeated; /* the stage whose numbers its stage repeats; else NULL */
};

/* Each stage once, and the gradients with respect to parameters. */
enum { MINE_TABLES = STAGE_COUNT + 96 };

struct mine {
    struct input_file file;
    struct mine_table tables[MINE_TABLES]; /* in the order of the stages */
    size_t count;
    int decimals;               /* of all printed numbers; -1: integers, or different */
    enum dtype dtype;           /* coarser than the job's if all numbers fit it; else the job's */
    bool in_pairs;              /* query and key of ggml have their columns in pairs; set before mine_place */
    struct mine_passed *passed; /* tables not compared: no stages, or repeated stages */
    size_t passed_count;
    const char *meant; /* the stage that others give the one table's name, which attn does not accept; or NULL */
};

/* STATUS_USAGE if the one table of --mine has the numbers of these inputs. */
enum status mine_refuse_input(const struct mine *mine, const struct input_file *inputs, struct error *error);

/* Reads --mine. STATUS_USAGE: no table. */
enum status mine_read(struct mine *mine, const struct options *options, struct arena *arena, struct error *error);

/* Bits of information in the digits of the first table: sum of log2(largest / tolerance). */
double mine_bits(const struct mine *mine);

/* Matches the tables to the problem's stages: by name, by --stages, or by shape. STATUS_USAGE, with the expected
 * shapes: a table matches no stage. */
enum status mine_place(struct mine *mine, const struct problem *problem, const struct options *options,
                       struct arena *arena, struct error *error);

/* A candidate for an unnamed table: a stage in a layout, and of grad_parameters which. */
struct mine_candidate {
    enum stage stage;
    enum mine_way way;
    const char *parameter;
};

/* All candidates of the problem, in the order of the stages; *count of them, in the arena. NULL: out of memory. */
const struct mine_candidate *mine_candidates(const struct problem *problem, size_t *count, struct arena *arena,
                                             struct error *error);

/* Matches the one table to a candidate or a part of it; false if it does not fit. The rest of `mine` is a copy. */
bool mine_place_as(struct mine *mine, const struct problem *problem, const struct mine_candidate *candidate,
                   struct arena *arena, struct error *error);

/* Whether the table, or any table, is a gradient. */
bool mine_is_backward(const struct mine_table *table);
bool mine_has_backward(const struct mine *mine);

/* Whether the file is a dump of ggml. */
bool mine_is_dump(const struct mine *mine);

/* Whether its numbers, of float16, may as well be float32 with the bits of TF32: none is stored as float16, or so small
 * that float16 has fewer bits. */
bool mine_may_be_tf32(const struct mine *mine);

/* Whether only a part of a table is shown. */
bool mine_has_part(const struct mine *mine);

/* The first table of a stage, or NULL. */
const struct mine_table *mine_table_of(const struct mine *mine, enum stage stage);

/* The name of its stage, or of a parameter's gradient. */
const char *mine_name(const struct mine_table *table);

/* The numbers of the complete stage. */
size_t mine_whole(const struct mine_table *table);

/* The indices that a layout leaves open: of each axis with a single index, and the first row. */
struct mine_index {
    size_t at[MINE_AXES];
};

/* Their number, and the i-th. */
size_t mine_indices(const struct mine_table *table);
struct mine_index mine_index(const struct mine_table *table, size_t i);

/* The index in the stage of number `i` of the table, and of number `i` of its layout, which a part does not show. */
struct mine_index mine_place_of(const struct mine_table *table, struct mine_index first, size_t i);
struct mine_index mine_place_at(const struct mine_table *table, struct mine_index first, size_t i);

/* A total, number i after those shown, by the sums over all numbers of the layout. */
double mine_total(const struct mine_table *table, size_t i, struct file_sum sum);
const char *mine_total_name(const struct mine_table *table, size_t i);

/* The numbers of a complete layout. */
size_t mine_layout_count(const struct mine_table *table);

/* Writes a number's place, "context, head 1, row 3 (starts), column 2", to text. */
void mine_describe_number(const struct mine_table *table, const struct problem *problem, struct mine_index index,
                          struct text *text);

/* Writes the table's place, "context, row 2" or "context, head 1, rows 3 to 5", with labels, to text. */
void mine_describe(const struct mine_table *table, const struct problem *problem, struct mine_index first,
                   struct text *text);

/* --- in gradients.c: the gradients of a guess, as in --grad, which compute/ makes --------------------------------- */

/* The gradient with respect to a parameter: its name and shape. */
struct gradient {
    const char *name; /* "grad_W_query.weight" */
    size_t rank, shape[TENSOR_RANK];
};

/* Lists those of all parameters, in the arena, without computing them. STATUS_SYSTEM: out of memory. */
enum status gradients_list(const struct problem *problem, const struct gradient **gradients, size_t *count,
                           struct arena *arena, struct error *error);

/* Makes the gradients of the tables, each complete: made[i] (mine_whole); NULL for a table that is no gradient, or
 * whose parameter is missing. On one thread. STATUS_SYSTEM: out of memory. */
enum status gradients_make(const struct problem *problem, const struct mine *mine, const double **made,
                           struct arena *arena, struct error *error);
