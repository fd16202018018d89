/* SPDX-License-Identifier: MIT */
/* A comparison of two files, and a pair of tensors in it: a stage, or a source. */
#pragma once

#include "cli/options.h"
#include "observe/observe.h"
#include "read/input_file.h"
#include "tensor/compare.h"

enum { DIFF_TOKEN_COLUMNS = 20, DIFF_TOKEN_BYTES = 4 * DIFF_TOKEN_COLUMNS + 64 }; /* of a token that is told */

/* One file. */
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
    const struct file_tensor
        *whole;                    /* if a file shows only a part: the other file's table, with the part's axes, and */
    const struct diff_axes *shown; /* which of its numbers these are; else NULL */
    bool is_total;                 /* a sum, mean, norm or std of a stage */
    enum dtype dtype_a, dtype_b;
    struct compare_tolerance tolerance; /* by the coarser dtype, unless it was given */
    struct comparison comparison;
    bool departs;
    enum stage undone_by; /* it departs, but this stage, which is made from it, does not; STAGE_NAMES: none */
};

/* How to compare rows, or columns, of files with other tokens. */
struct diff_alignment {
    const struct token_labels *a, *b;       /* the tokens of both files; texts is NULL where a file has none */
    const struct token_labels *whole, *few; /* that of them with more tokens, and the other; NULL: they meet in order */
    size_t *kept;                           /* (few->count) which of the whole's tokens these are, from 0 */
    char refusal[512];                      /* why they cannot meet by token, or "" */
    bool used;                              /* a table was cut; and */
    bool used_by_stage;                     /* that of a stage */
};

/* Whose tokens. Where keys are made of the inputs, too, all tokens are those of the queries. */
enum diff_tokens { DIFF_OF_QUERIES, DIFF_OF_KEYS, DIFF_TOKENS };

struct diff {
    const struct options *options;
    struct arena *arena;
    struct error *error;
    struct diff_side a, b;
    struct diff_stage *stages; /* those compared, in the order of the stages; the arena's */
    size_t count;
    size_t head;                /* compared alone, from 1; 0: all are */
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
    bool fewer_keys;                  /* an axis of keys was cut */
    struct observations observations; /* if the files have the same sources: what B's stage at `cause` is */
};

/* A pair before it is compared, with its tolerance; one of the two may be NULL. */
struct diff_stage diff_pair(const struct diff *diff, const char *name, enum stage stage, const struct file_tensor *a,
                            const struct file_tensor *b);

/* The size of an axis, counted from the last; 1 for one that it lacks. */
size_t diff_size_from_end(const struct tensor *tensor, size_t axis);

/* Whether the shapes are the same but for leading axes of size 1. */
bool diff_same_shape(const struct tensor *a, const struct tensor *b);

/* Compares the two tensors of a stage or a source, which have as many numbers, and sets whether it departs. */
void diff_compare(struct diff_stage *stage);

/* Whether any of the numbers first .. first + count differ: those of a stage by more than the tolerance, if any of
 * its numbers do, those of a source at all. */
bool diff_differs(const struct diff_stage *stage, size_t first, size_t count);

/* The numbers as compared: rounded to the dtype of their file. */
void diff_numbers(const struct diff_stage *stage, size_t first, size_t count, double *a, double *b);

/* The axes of a copy of a table: sizes, the stride of each in the table, and the indices to keep, NULL: all. */
struct diff_axes {
    size_t rank, shape[TENSOR_RANK], stride[TENSOR_RANK];
    const size_t *kept[TENSOR_RANK];
};

/* Those of the table itself. */
struct diff_axes diff_axes_of(const struct tensor *tensor);

/* Copies the table by these axes, with the digits of its numbers. STATUS_SYSTEM where memory is short. */
enum status diff_rearrange(const struct diff *diff, const struct file_tensor **named, const struct diff_axes *axes);

/* How many heads the stage has in a file that says how they are packed, else 0. */
size_t diff_heads_in(const struct input_file *input, enum stage stage);

/* The chosen head of a stage, from 1: of key and value the one that it shares; 0: all. */
size_t diff_head_of(const struct diff *diff, enum stage stage);

/* --- heads.c: tables of packed heads, which kernels and attn lay out in other ways ------------------------------- */

/* Gives the tables of both files the same axes, where one of them has its heads elsewhere:
 *
 *     context, grad_context          (…, T, H, d_v) becomes (…, T, H d_v)
 *     grad_query, grad_key, _value   (…, T, H, d) and (…, T, H d) become (…, H, T, d), where a file says that
 *                                    heads are packed: query, key and value are then given so
 *
 * What is changed becomes a copy; all else stays, so that its shape is refused. STATUS_SYSTEM where memory is short. */
enum status diff_meet_heads(const struct diff *diff, enum stage stage, const struct file_tensor **a,
                            const struct file_tensor **b);

/* --- parts.c: tables of which a file shows only a part ------------------------------------------------------------ */

/* Adds the pair of a stage whose tables are a part, or one of them: the numbers shown, cut from the complete table; and
 * a pair named "context (sum)" for each total. STATUS_USAGE if it is no part of the other one. STATUS_SYSTEM where
 * memory is short. */
enum status diff_add_part(struct diff *diff, const char *name, enum stage stage, const struct file_tensor *a,
                          const struct file_tensor *b);

/* --- dtypes.c: the dtype that the decimals of a text stand for --------------------------------------------------- */

/* Sets side->dtype and side->unstated. STATUS_USAGE where the settings have a dtype that attn does not know. */
enum status diff_read_dtype(const struct diff *diff, struct diff_side *side);

/* Sets the dtype of each tensor of a text (file_tensor.stated), and rounds those that are no sources to it. A text
 * that does not say its dtype takes that of the tensor it is compared with, if its decimals are numbers of it as far
 * as they go; else float32. STATUS_USAGE where one overflows, as it would pass for an infinity. STATUS_SYSTEM where
 * memory is short. */
enum status diff_round_texts(struct diff *diff);

/* --- align.c: rows and columns of results of other tokens meet by label ------------------------------------------ */

/* Where the tokens of one file, each of them once, are some of the other file's in their order, tables of the latter
 * are cut to these. */

/* Sets diff->alignments by the tokens of both files. STATUS_SYSTEM where memory is short. */
enum status diff_align_tokens(struct diff *diff);

/* The alignment of an axis of keys, or of another axis. */
const struct diff_alignment *diff_tokens_of(const struct diff *diff, bool keys);

/* Whether rows of A were left out of a stage because B lacks their tokens. */
bool diff_lacks_token(const struct diff *diff);

/* Cuts the tables of the pair to the tokens that both have, where they differ in axes of tokens alone, and notes
 * that the alignment is used. Else changes nothing. STATUS_SYSTEM where memory is short. */
enum status diff_align(struct diff *diff, struct diff_stage *pair);

/* Why tokens cannot align tables that differ in axes of tokens alone, to append to a message: "; ..." or "". */
const char *diff_align_refusal(struct diff *diff, const struct diff_stage *pair);

/* --- sources.c: what stages are made from: inputs, parameters, masks, a past ------------------------------------- */

/* Whether its name makes the tensor a source. */
bool diff_is_source(const struct input_file *input, const struct file_tensor *named);

/* Whether the stage is given and not computed, as query, key and value of `sdpa` are, and the gradient that the
 * backward pass begins at: in one of the files, or `both`. */
bool diff_is_given(const struct diff *diff, enum stage stage, bool both);

/* Whether one of the files says or shows that query, key and value are made of inputs. */
bool diff_is_projected(const struct diff *diff);

/* Sets diff->sources (including stages given to both files), aligned by tokens like stages. A source that one file
 * lacks counts where both files hold all that they were made from. Sources that cannot be compared, by shape or as
 * one is boolean, have a comparison of 0 numbers. STATUS_SYSTEM where memory is short. */
enum status diff_compare_sources(struct diff *diff);

/* Whether both have the same sources, settings and tokens, as far as the files say. */
bool diff_same_sources(const struct diff *diff);

/* --- observed.c: what the departing stage is --------------------------------------------------------------------- */

/* Sets diff->observations. STATUS_SYSTEM where memory is short. */
enum status diff_observe(struct diff *diff);

/* --- refusal.c: two files that cannot be compared ---------------------------------------------------------------- */

/* The only tensor of a file; NULL where there are more. */
const struct file_tensor *diff_sole_tensor(const struct input_file *input);

/* Whether it may be any stage: its only tensor has no name, or an unknown one. */
bool diff_is_bare(const struct input_file *input);

/* A name in the file close to that of the stage, or NULL. */
const char *diff_misspelt(const struct input_file *input, enum stage stage);

/* STATUS_USAGE: the files have no stage in common; the file lacks a stage that was asked for. */
enum status diff_nothing_in_common(const struct diff *diff);
enum status diff_lacks_stage(const struct diff *diff, const struct input_file *input, enum stage stage);

/* Sets the head of --head, or the one that a file holds alone. STATUS_USAGE: a file holds another one. */
enum status diff_choose_head(struct diff *diff);

/* Cuts a table to that head, where it has several. STATUS_USAGE: it has fewer; STATUS_SYSTEM: out of memory. */
enum status diff_cut_head(const struct diff *diff, enum stage stage, const struct file_tensor **named);

/* --- locate.c: where an element of a table is, in words ----------------------------------------------------------- */

/* What an axis counts. */
enum diff_axis {
    DIFF_ITEM,
    DIFF_HEAD,
    DIFF_TOKEN,
    DIFF_QUERY,
    DIFF_KEY,
    DIFF_COLUMN,
    DIFF_ROW,    /* queries that are not all of them, or unknown rows */
    DIFF_MATRIX, /* items or heads */
    DIFF_NUMBER, /* of a tensor with this axis alone */
    DIFF_AXES,
};

/* The axis of heads of a table of that stage, or of items or heads where nothing says which; SIZE_MAX: none. */
size_t diff_axis_of_heads(const struct diff *diff, enum stage stage, size_t rank);

/* A step on the way to an element: the axis, its name, the position on it from 1, the token there or NULL. */
struct diff_step {
    enum diff_axis axis;
    const char *name;
    size_t position;
    const char *token;
    bool alone; /* the token tells the place by itself: no other one is the same, and it is no number */
};

/* Where an element is (an index into both tensors), in steps (TENSOR_RANK); returns how many. The mechanism names
 * the axes: item, head, query, key, column; "matrix" and "row" where the files do not say. */
size_t diff_locate(const struct diff *diff, const struct diff_stage *stage, size_t element, struct diff_step *steps);

/* --- undone.c: a stage that departs while one made from it agrees ------------------------------------------------ */

/* A difference that does not matter to the stage that agrees. */
enum undone {
    UNDONE_UNKNOWN,
    UNDONE_ORDER,  /* scale or mask were applied sooner or later */
    UNDONE_SHIFT,  /* each row has another number added to it */
    UNDONE_HIDDEN, /* another number stands for minus infinity */
    UNDONE_FACTOR, /* all numbers are so many times the others */
    UNDONE_COUNT,
};

enum { UNDONE_BYTES = 160 };

/* Describes the difference: "B's are masked, A's are not" into text (UNDONE_BYTES); "" where it is UNDONE_UNKNOWN. */
enum undone diff_undone(const struct diff *diff, const struct diff_stage *stage, char *text);

/* B / A where all finite numbers have that ratio, and only minus infinities differ otherwise; else 1. */
double diff_factor(const struct comparison *comparison);
