/* SPDX-License-Identifier: MIT */
/* What a comparison of two files holds, and one pair of tensors in it: a stage, or a source. */
#ifndef ATTN_DIFF_PAIR_H
#define ATTN_DIFF_PAIR_H

#include "cli/options.h"
#include "read/input_file.h"
#include "tensor/compare.h"

enum { DIFF_TOKEN_COLUMNS = 20, DIFF_TOKEN_BYTES = 4 * DIFF_TOKEN_COLUMNS + 64 }; /* of a token that is told */

/* What one file gives. */
struct diff_side {
    struct input_file input;
    enum dtype dtype; /* of a text, as its settings say, else F32; a binary file's tensors have their own */
    bool unstated;    /* a text that does not say it: each tensor has a dtype by what it meets */
};

/* A stage, or a source: what stages are made from. */
struct diff_stage {
    const char *name;                /* "tensor" where nothing says which stage it is */
    enum stage stage;                /* STAGE_NAMES there; a source's is STAGE_INPUTS or STAGE_PARAMETERS */
    const struct file_tensor *a, *b; /* what is compared: aligned, only what both have; of a source NULL: lacking */
    enum dtype dtype_a, dtype_b;
    struct compare_tolerance tolerance; /* by the coarser dtype, unless it was given */
    struct comparison comparison;
    bool departs;
    enum stage undone_by; /* it departs, but this stage, which is made from it, does not; STAGE_NAMES: none */
};

/* How rows, or columns, of files with other tokens meet. */
struct diff_alignment {
    const struct token_labels *a, *b;       /* the tokens of both files; texts is NULL where a file has none */
    const struct token_labels *whole, *few; /* that of them with more tokens, and the other; NULL: they meet in order */
    size_t *kept;                           /* (few->count) which of the whole's tokens these are, from 0 */
    char refusal[512];                      /* why they cannot meet by token, or "" */
    bool used;                              /* a table was cut; and */
    bool used_by_stage;                     /* that of a stage */
};

/* Whose tokens. Where keys are made of the inputs, too, all are the queries'. */
enum diff_tokens { DIFF_OF_QUERIES, DIFF_OF_KEYS, DIFF_TOKENS };

struct diff {
    struct diff_side a, b;
    struct diff_stage *stages; /* those compared, in the order of the stages; the arena's */
    size_t count;
    size_t first;               /* the first of them that departs, or count; and */
    size_t cause;               /* the first of them that no later one undoes, or count */
    uint64_t only_a, only_b;    /* the stages that one file alone has; none with --stages */
    uint64_t left;              /* the stages that either file has and that were not compared */
    const char *misspelt;       /* a name of one file that is near to a stage which the other one alone has, or NULL */
    bool misspelt_in_a;         /* else in B */
    enum stage meant;           /* that stage */
    struct diff_stage *sources; /* those that differ, in the order of A, then of B */
    size_t source_count;
    struct diff_alignment alignments[DIFF_TOKENS];
    bool fewer_keys; /* an axis of keys was cut */
};

/* A pair that is not yet compared, with the tolerance that it has; one of the two may be NULL. */
struct diff_stage diff_pair(const struct diff *diff, const struct options *options, const char *name, enum stage stage,
                            const struct file_tensor *a, const struct file_tensor *b);

/* Whether the shapes are the same but for leading axes of size 1. */
bool diff_same_shape(const struct tensor *a, const struct tensor *b);

/* Compares the two tensors of a stage or a source, which have as many numbers, and says whether it departs. */
void diff_compare(struct diff_stage *stage);

/* Whether any of the numbers first .. first + count differ so that it counts: those of a stage by more than the
 * tolerance, if any of its numbers do, those of a source at all. */
bool diff_differs(const struct diff_stage *stage, size_t first, size_t count);

/* These numbers as they were compared: rounded to the dtype of their file. */
void diff_numbers(const struct diff_stage *stage, size_t first, size_t count, double *a, double *b);

#endif
