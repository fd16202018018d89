/* SPDX-License-Identifier: MIT */
/* attn cases: test vectors for a kernel, and what a kernel wrote beside them.
 *
 * A case is a row of case_rows.h: how its inputs are drawn, and the options of attn sdpa that say what is asked. What
 * is right is computed in float64 from the inputs as they are in the dtype. A case is made anew where it is checked, so
 * that what was written need not be trusted. Where memory is short, functions return STATUS_SYSTEM.
 *
 *   B items, H heads, H_kv heads of key and value, Tq queries, Tk keys, d and d_v columns. */
#pragma once

#include "base/folder.h"
#include "base/version.h"
#include "build/job_files.h"
#include "cases/case_rows.h"
#include "compute/result.h"
#include "write/writing.h"

#include <math.h>

enum {
    CASES_WORDS = 32,       /* of a command line */
    CASES_MOST_RESULTS = 4, /* context and lse, or the gradients by query, key, value, sinks */
    CASES_MOST_FILES = 32,
    CASES_LINE_BYTES = 4096,
};

struct case_sizes {
    size_t items, heads, kv_heads, queries, keys, d_head, d_value;
};

enum { CASE_MOST_SEQUENCES = 8 };

/* Where the queries and the keys of each sequence begin, and the last ones end. Of items, which have their own tokens,
 * the differences are how many of them count. */
struct case_sequences {
    size_t count;
    size_t queries[CASE_MOST_SEQUENCES + 1], keys[CASE_MOST_SEQUENCES + 1];
};

/* The queries and keys of a sequence, or of an item; the keys up to the last that a query attends to; and the most that
 * are masked before the first of one. */
struct case_span {
    size_t queries, keys, reach, start;
};

/* A result that a kernel writes: |theirs - truth| <= absolute + relative |truth|, and the root mean square of that over
 * each row within rms. */
struct case_result {
    const char *name;          /* "context", "grad_query": from the table of stages, and so outlives the arena */
    enum dtype dtype;          /* of the file; lse is in that of the sums */
    bool optional;             /* lse: it is checked if it is there */
    struct tensor truth;       /* in float64, */
    struct result_table table; /* as a table */
    double absolute, relative;
    size_t rows, columns; /* of the truth: columns are its last axis, or 1 */
    double *rms;          /* (rows) */
};

/* Whether tokens come before heads. */
static inline bool case_has_heads_last(const struct case_result *result)
{
    const size_t rank = result->truth.rank;
    return rank > 2 && result->table.axes[rank - 1] == AXIS_COLUMN && result->table.axes[rank - 2] == AXIS_HEAD;
}

struct case_made {
    const struct case_row *row;
    struct case_sizes sizes;
    struct job_files files;       /* what was drawn */
    struct options given_options; /* in the dtype: what the inputs' files have */
    struct options truth_options; /* the same in float64 */
    struct problem given, truth_job;
    struct result inputs, truth;
    struct case_result results[CASES_MOST_RESULTS];
    size_t count;
    bool has_empty_rows; /* queries without an allowed key */
    struct case_span spans[CASE_MOST_SEQUENCES];
    size_t span_count;
};

/* Draws it and computes the right results, all in the arena. `options` are those of attn cases. STATUS_USAGE where
 * the row's options are wrong. */
enum status case_make(struct case_made *made, const struct case_row *row, const struct options *options,
                      struct arena *arena, struct error *error);

/* In make.c: the same inputs, computed in `sums` with mistakes, as --mistake takes them, and what a kernel with them
 * may be off. STATUS_USAGE where they cannot be made in this case. */
enum status case_make_mistaken(struct case_made *mistaken, const struct case_made *made, const char *mistakes,
                               enum dtype sums, struct arena *arena, struct error *error);

/* In draw.c: the sizes of a row; false where these heads and tokens do not allow it. */
bool case_sizes_of(const struct case_row *row, const struct options *options, struct case_sizes *sizes);

/* In draw.c: the sequences of a row, or its items if their lengths differ, else one for all. */
struct case_sequences case_sequences_of(const struct case_row *row, const struct case_sizes *sizes);

/* In draw.c: whether query, context and their gradients have tokens before heads: packed sequences, pages, and all
 * cases of --layout bthd. */
bool case_heads_last(const struct case_row *row, const struct options *options);

/* In draw.c: the tensors of its input, and the gradient with respect to the context where the row asks for
 * gradients; all 0 if only their shapes are wanted. */
enum status case_draw(const struct case_row *row, const struct options *options, const struct case_sizes *sizes,
                      bool shapes, struct job_files *files, struct arena *arena, struct error *error);

/* In bound.c: how far off each result may be, of a kernel whose numbers and sums are of these dtypes. Reads
 * result->truth, of a job that also shows weights. */
enum status case_bound(struct case_made *made, enum dtype dtype, enum dtype sums, struct arena *arena,
                       struct error *error);

/* Kernels of less precision. */
enum { CASE_PRECISION_COUNT = 4 };
extern const struct case_precision {
    const char *words;
    enum dtype dtype, sums;
    double most; /* of its bound that the errors of such a kernel typically are */
} CASE_PRECISIONS[CASE_PRECISION_COUNT];

/* In compare.c: the size of an axis of a result; AXIS_TOKEN: its rows. */
size_t case_axis(const struct case_result *result, enum axis axis);

/* In compare.c: the row of the truth that is row `row` of head `head` of item `item`. */
size_t case_row_at(const struct case_result *result, size_t item, size_t head, size_t row);

/* In compare.c: somebody's numbers in the order of the truth; NULL where their shape is another, or memory is short. */
const double *case_numbers(const struct tensor *theirs, const struct case_result *result, struct arena *arena,
                           struct error *error);

/* Numbers against what is right. */
struct case_difference {
    double share;        /* of the worst number's bound, */
    size_t at, outside;  /* where it is, and how many are beyond their bounds; */
    double share_of_row; /* of the worst row's bound, */
    size_t row, rows_outside;
    double rms;     /* its errors; */
    double typical; /* the root mean square of all rows' shares */
};

/* In check.c: whether one of its numbers is finite. */
bool case_has_finite(const struct tensor *tensor);

/* In compare.c. `theirs` are in the order of the truth. */
struct case_difference case_differ(const struct case_result *right, const double *theirs);

/* In compare.c: "item 1, head 2, row 3, column 4" of number `at` of a result, the first `depth` of it, into place
 * (TENSOR_PLACE_BYTES). */
void case_place(const struct case_result *result, size_t at, size_t depth, char *place);

/* A file of inputs for a kernel, NAME.npy, in the layout of the folder. */
struct case_input {
    const char *name;
    enum dtype dtype;
    struct tensor tensor;
};

/* In inputs.c: those of the tensors that case_draw gave, by --layout; slopes of ALiBi; the gradient with respect
 * to the context; splits to merge have other names. Returns how many, in inputs (CASES_MOST_FILES). `slopes`: of all
 * heads, or NULL if only the shapes are wanted. */
size_t case_inputs(const struct case_row *row, const struct case_sizes *sizes, const struct options *options,
                   const struct job_files *drawn, const double *slopes, struct case_input *inputs);

/* In inputs.c: the shapes of its results in that order: the context and lse, or gradients. Returns how many. */
size_t case_outputs(const struct case_row *row, const struct case_sizes *sizes, const struct options *options,
                    const struct case_input *inputs, size_t count, struct case_input outputs[CASES_MOST_RESULTS]);

/* In files.c: the bytes of a file of a case. */
struct case_file {
    const char *name;
    const char *bytes;
    size_t length;
};

/* In files.c: all files of a case, into files (CASES_MOST_FILES); the arena holds their names and bytes. */
enum status case_files(const struct case_made *made, const struct options *options, struct case_file *files,
                       size_t *count, struct arena *arena, struct error *error);

/* In files.c: the index of these cases; the arena holds its bytes. */
enum status case_index(const struct case_list *list, const struct options *options, struct case_file *file,
                       struct arena *arena, struct error *error);
#define CASES_INDEX "cases.txt"
#define CASES_HEAD "# attn " ATTN_VERSION " cases "

/* In files.c: "--heads 4 --d-head 32 ...": the options that make a folder. */
void case_settings(const struct options *options, struct output *output);

/* Half a unit of the last place of a working dtype, near 1. */
static inline double case_unit(enum dtype dtype)
{
    return ldexp(1, -dtype_precision(dtype));
}

/* The dtype of a kernel's sums, and of what it takes or gives in no other: slopes and lse. */
static inline enum dtype case_sums(enum dtype dtype)
{
    return dtype == DTYPE_F64 ? dtype : DTYPE_F32;
}

/* .npy has no bfloat16: it holds such numbers as float32. */
static inline enum dtype case_npy_dtype(enum dtype dtype)
{
    return dtype_npy(dtype) != NULL ? dtype : DTYPE_F32;
}

/* The rows made by hand. */
extern const struct case_row CASES[];
extern const size_t CASES_COUNT;

/* attn cases DIR: writes the folder, and reports it. STATUS_USAGE where the folder exists and is not empty,
 * STATUS_SYSTEM where the system refuses: then there is no folder. Closes the output on success. */
enum status cases_write(const struct options *options, struct output *output, struct arena *arena, struct error *error);

enum case_verdict { CASE_PASSED, CASE_FAILED, CASE_MISSING, CASE_VERDICTS };

enum { CASE_WORDS_BYTES = 400, CASE_COMMAND_BYTES = 4200, CASE_NOTES = 8 };

/* A table in a file of results that has the name of no result. */
struct case_unread {
    const char *file, *name;
    const char *expected; /* the name of the one result that such a file has; NULL: it may have all */
};

/* A result that was compared. */
struct case_told {
    const char *result;
    enum stage stage; /* that it is */
    size_t which;     /* of made->results */
    bool is_wrong;
    double share;                   /* of what is allowed: of the worst number or row */
    double largest, allowed;        /* where it is worst; NaN: there are no numbers to tell */
    double rms, rms_allowed;        /* of the worst row */
    size_t outside, of;             /* numbers beyond their bound, */
    size_t rows_outside, rows;      /* and rows */
    char place[TENSOR_PLACE_BYTES]; /* of the worst number, or of the worst row where only rows are off */
    double theirs, right;           /* there */
};

struct case_checked {
    const struct case_row *row;
    struct case_sizes sizes;
    enum case_verdict verdict;
    struct case_told told[CASES_MOST_RESULTS];
    size_t told_count;
    size_t worst;        /* of `told`: the one with the largest share, reported first */
    bool is_poisoned;    /* all is NaN, as of keys that must not be read: any mistake would give it */
    bool has_empty_rows; /* queries without an allowed key */
    struct case_span spans[CASE_MOST_SEQUENCES];
    size_t span_count;
    bool varies;                      /* two runs gave different numbers */
    char reason[CASE_WORDS_BYTES];    /* why it failed before numbers were compared; or "" */
    char mistake[CASE_WORDS_BYTES];   /* that of the verdict, if it gives this case; or "" */
    char sentence[CASE_WORDS_BYTES];  /* what else can be said */
    char command[CASE_COMMAND_BYTES]; /* that asks why; or "" */
    const char *notes[CASE_NOTES];    /* files that are no results, */
    size_t note_count, more_notes;    /* and how many more there are */
    struct case_unread unread[CASE_NOTES];
    size_t unread_count, more_unread;
    char expected[CASE_WORDS_BYTES]; /* the names of its results: "grad_query, grad_key, grad_value" */
    double written;                  /* when the first of its results was, in seconds; NaN: there is none */
};

enum { CASE_VERDICT_LINES = 8 };

/* What explains all failures, and no success. */
struct case_verdict_lines {
    char mistake[CASE_WORDS_BYTES];                           /* as --mistake takes it; "": none does */
    char lines[CASE_VERDICT_LINES + 1][2 * CASE_WORDS_BYTES]; /* the last is for one too many */
    size_t count;
};

struct cases_report {
    struct options options; /* those that the folder was written with */
    struct case_list list;  /* its cases */
    const char *folder;
    struct arena *arena;           /* of what follows: */
    const struct case_made **made; /* (list) the cases, once they are made; NULL: not yet, or too large to keep */
    double room;                   /* for more of them, in bytes */
    struct case_checked *checked;
    size_t count;
    size_t of[CASE_VERDICTS];
    unsigned precisions; /* 1 << each of CASE_PRECISIONS in which what fails would be nearly right, but for a few */
    size_t missed[CASE_PRECISION_COUNT], even[CASE_PRECISION_COUNT]; /* those, and cases of errors typical of it */
    const char **notes;                                              /* what else is in the folder */
    size_t note_count;
    const char **absent; /* the cases whose folders are gone */
    size_t absent_count;
    const char **earlier; /* the cases whose results are perhaps of another run than the latest */
    size_t earlier_count;
    struct case_verdict_lines verdict;
};

/* STATUS_USAGE where a report at that path would replace a file that --check reads. */
enum status cases_check_out(const struct cases_report *report, const char *path, struct arena *arena,
                            struct error *error);

/* Reads the index of the folder that the options name. STATUS_USAGE where attn cases did not write it like that,
 * STATUS_SYSTEM where it cannot be read. */
enum status cases_open(struct cases_report *report, const struct options *options, struct arena *arena,
                       struct error *error);

/* Checks what is in the folder now; a report may be checked again. STATUS_USAGE where no case is left, STATUS_SYSTEM
 * where one cannot be read. */
enum status cases_check(struct cases_report *report, const struct options *options, struct arena *arena,
                        struct error *error);

/* Writes the report as text or JSON; STATUS_DIFFERENT where a case did not pass. Closes the output. */
enum status cases_report(const struct cases_report *report, const struct options *options, struct output *output,
                         struct error *error);
