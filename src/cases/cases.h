/* SPDX-License-Identifier: MIT */
/* attn cases: test vectors for a kernel, and what a kernel wrote beside them.
 *
 * A case is a row of case_rows.h: how its inputs are drawn, and the options of attn sdpa that say what is asked. What
 * is right is computed in float64 from the inputs as they are in the dtype. A case is made anew where it is checked, so
 * that what was written need not be trusted.
 *
 *   B items, H heads, H_kv heads of key and value, Tq queries, Tk keys, d and d_v columns. */
#ifndef ATTN_CASES_CASES_H
#define ATTN_CASES_CASES_H

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

/* A result that a kernel writes: |theirs - truth| <= absolute + relative |truth|. */
struct case_result {
    const char *name;          /* "context", "grad_query" */
    enum dtype dtype;          /* of the file; lse is in that of the sums */
    bool optional;             /* lse: it is checked if it is there */
    struct tensor truth;       /* in float64, */
    struct result_table table; /* as a table */
    double absolute, relative;
};

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
};

/* Draws it and computes the right results, all in the arena. `options` are those of attn cases. STATUS_USAGE where
 * the row's options are wrong, STATUS_SYSTEM where memory is short. */
enum status case_make(struct case_made *made, const struct case_row *row, const struct options *options,
                      struct arena *arena, struct error *error);

/* In draw.c: the sizes of a row; false where these heads and tokens do not allow it. */
bool case_sizes_of(const struct case_row *row, const struct options *options, struct case_sizes *sizes);

/* In draw.c: whether query, context and their gradients have tokens before heads: packed sequences, pages, and all
 * cases of --layout bthd. */
bool case_heads_last(const struct case_row *row, const struct options *options);

/* In draw.c: the tensors of its input, and the gradient with respect to the context where the row asks for
 * gradients; all 0 if only their shapes are wanted. */
enum status case_draw(const struct case_row *row, const struct options *options, const struct case_sizes *sizes,
                      bool shapes, struct job_files *files, struct arena *arena, struct error *error);

/* In bound.c: how far off each result may be. Reads result->truth, of a job that also shows weights. STATUS_SYSTEM
 * where memory is short. */
enum status case_bound(struct case_made *made, enum dtype dtype, struct arena *arena, struct error *error);

/* In files.c: the bytes of a file of a case. */
struct case_file {
    const char *name;
    const char *bytes;
    size_t length;
};

/* In files.c: all files of a case, into files (CASES_MOST_FILES); the arena holds their names and bytes.
 * STATUS_SYSTEM where memory is short. */
enum status case_files(struct case_made *made, const struct options *options, struct case_file *files, size_t *count,
                       struct arena *arena, struct error *error);

/* In files.c: the index of these cases; the arena holds its bytes. STATUS_SYSTEM where memory is
 * short. */
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

struct case_checked {
    const struct case_row *row;
    enum case_verdict verdict;
    const char *result;      /* which one is told: the first that failed, else that nearest to its bound */
    double largest, allowed; /* where it is worst; NaN: there are no numbers to tell */
    double share;            /* of what is allowed */
    size_t outside, of;
    char place[TENSOR_PLACE_BYTES];   /* of the worst number */
    double theirs, right;             /* there */
    char reason[CASE_WORDS_BYTES];    /* why it failed before numbers were compared; or "" */
    char mistake[CASE_WORDS_BYTES];   /* its name, or names, as --mistake takes them; "": nothing was found */
    char sentence[CASE_WORDS_BYTES];  /* in words */
    char command[CASE_COMMAND_BYTES]; /* that asks; or "" */
    const char *notes[CASE_NOTES];    /* files that are no results, */
    size_t note_count, more_notes;    /* and how many more there are */
    struct case_unread unread[CASE_NOTES];
    size_t unread_count, more_unread;
    char expected[CASE_WORDS_BYTES]; /* the names of its results: "grad_query, grad_key, grad_value" */
    double written;                  /* when the first of its results was, in seconds; NaN: there is none */
};

struct cases_report {
    struct options options; /* those that the folder was written with */
    struct case_list list;  /* its cases */
    const char *folder;
    struct case_checked *checked;
    size_t count;
    size_t of[CASE_VERDICTS];
    const char **notes; /* what else is in the folder */
    size_t note_count;
    const char **absent; /* the cases whose folders are gone */
    size_t absent_count;
    const char **earlier; /* the cases whose results are perhaps of another run than the latest */
    size_t earlier_count;
};

/* STATUS_USAGE where a report at that path would replace a file that --check reads. */
enum status cases_check_out(const struct cases_report *report, const char *path, struct arena *arena,
                            struct error *error);

/* In age.c: when the file was last written, in seconds; NaN where there is none. */
double case_written(const char *path);

/* In age.c: sets report->earlier. STATUS_SYSTEM where memory is short. */
enum status cases_find_earlier(struct cases_report *report, struct arena *arena, struct error *error);

/* Checks the folder. STATUS_USAGE where attn cases did not write it like that, or no case is left; STATUS_SYSTEM
 * where it cannot be read. */
enum status cases_check(struct cases_report *report, const char *folder, struct arena *arena, struct error *error);

/* Writes the report as text or JSON; STATUS_DIFFERENT where a case did not pass. Closes the output. */
enum status cases_report(const struct cases_report *report, const struct options *options, struct output *output,
                         struct error *error);

#endif
