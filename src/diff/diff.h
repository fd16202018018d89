/* attn diff: two files -> how far each stage of the second is from that of the first.
 *
 * A is what is expected, B what is checked: B must have every stage that A has, and may have more. Stages meet by name;
 * a file with one tensor only may give it as the one stage that --stages names. */
#ifndef ATTN_DIFF_DIFF_H
#define ATTN_DIFF_DIFF_H

#include "cli/options.h"
#include "read/input_file.h"
#include "tensor/compare.h"

/* What one file gives. */
struct diff_side {
    struct input_file input;
    enum dtype dtype; /* of a JSON file, as its settings say, else F32; a binary file's tensors have their own */
};

struct diff_stage {
    const char *name; /* "tensor" where nothing says which stage it is */
    enum stage stage; /* STAGE_NAMES there */
    const struct file_tensor *a, *b;
    enum dtype dtype_a, dtype_b;
    struct compare_tolerance tolerance; /* by the coarser dtype, unless it was given */
    struct comparison comparison;
    bool departs;
};

struct diff {
    struct diff_side a, b;
    struct diff_stage stages[STAGE_COUNT]; /* those compared, in the order of the stages */
    size_t count;
    size_t departed;         /* how many of them depart; and */
    size_t first;            /* the first of these, or count */
    uint64_t only_a, only_b; /* the stages that one file alone has; none with --stages */
    uint64_t left;           /* the stages that either file has and that were not compared */
    const char *misspelt;    /* a name of one file that is near to a stage which the other one alone has, or NULL */
    bool misspelt_in_a;      /* else in B */
    enum stage meant;        /* that stage */
};

/* What an axis counts: items of a batch, heads, queries, keys, columns; or what nothing tells. */
enum diff_axis {
    DIFF_ITEM,
    DIFF_HEAD,
    DIFF_QUERY,
    DIFF_KEY,
    DIFF_COLUMN,
    DIFF_ROW,    /* queries that are not all of them, or unknown rows */
    DIFF_MATRIX, /* items or heads */
    DIFF_NUMBER, /* of a tensor with this axis alone */
    DIFF_AXES,
};

/* One step on the way to an element: the axis, its name, the position on it from 1, the token there or NULL. */
struct diff_step {
    enum diff_axis axis;
    const char *name;
    size_t position;
    const char *token;
};

/* Reads and compares. STATUS_USAGE where a file is wrong, where the files have no stage to compare (each file's names
 * are told) or where shapes differ; leading axes of size 1 do not count. STATUS_SYSTEM where the system refuses. */
enum status diff_results(struct diff *diff, const struct options *options, struct arena *arena, struct error *error);

/* Whether no stage departs, and B lacks none that A has. */
bool diff_agrees(const struct diff *diff);

/* Where the stage's worst element is, in steps (TENSOR_RANK); returns how many. An axis has the name that the mechanism
 * gives it: item, head, query, key, column; "matrix" and "row" where the files do not tell. */
size_t diff_place(const struct diff *diff, const struct diff_stage *stage, struct diff_step *steps);

#endif
