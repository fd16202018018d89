/* SPDX-License-Identifier: MIT */
/* Questions to attn, in a process of its own, and its answers. */
#ifndef ATTN_WHY_ASK_H
#define ATTN_WHY_ASK_H

#include "view.h"

#include <cjson/cJSON.h>

enum { ASK_NAMES = 4, ASK_WORDS = 48 };

/* What attn said: its exit status, its JSON (NULL: none), what stood on standard error. */
struct answer {
    int status;
    cJSON *json;
    char *message;
};

/* Writes the files of all exercises, once. */
void ask_begin(void);
void ask_end(void);

/* attn WORDS..., parted by blanks, and the words in `more`, NULL behind the last. ask_release frees the answer. */
void ask(const char *words, const char *const *more, struct answer *answer);
void ask_release(struct answer *answer);

/* The exercise computed, in JSON; with `mistake` as --mistake takes it, or NULL. */
void ask_exercise(enum exercise_id id, const char *mistake, struct answer *answer);

/* attn diff of the exercise's result and that file, which is the stage. */
void ask_diff(enum exercise_id id, const char *path, const char *stage, struct answer *answer);

/* attn why ... --mine PATH --budget BUDGET, with these stages or NULL */
void ask_why(enum exercise_id id, const char *path, const char *stages, const char *budget, struct answer *answer);

/* The same where the search may not guess some mistakes: `left_out` (MISTAKE_COUNT), by their places in the library. */
void ask_why_without(enum exercise_id id, const char *path, const char *stages, const bool *left_out,
                     const char *budget, struct answer *answer);

/* The table's numbers, row-major (null is minus infinity, "NaN" is NaN), as they are kept: their digits are as few as
 * tell them apart. 0 where there are none of that name. */
size_t ask_numbers(const struct answer *answer, const char *name, enum kind kind, double *numbers, size_t room);

/* How far two tables are apart: infinitely, where one has NaN or infinity and the other has not. */
double ask_distance(const double *one, const double *other, size_t count);

/* Whether the names are these, in any order; names that begin with `beside` (NULL: none) may stand with them. */
bool ask_names(const cJSON *names, const char *const *wanted, size_t count, const char *beside);

/* The same of an explanation: its mistakes, or one of those that it says are the same. */
bool ask_explains(const cJSON *explanation, const char *const *wanted, size_t count, const char *beside);

/* A file for --mine, as the view is written, or as .npy of float16; into path (PROGRAM_PATH_BYTES); returns path. */
const char *ask_write(const struct view *view, int decimals, char *path);
const char *ask_write_half(const struct view *view, char *path);

/* One row of digits behind its label. */
const char *ask_write_labelled(const struct view *row, const char *label, char *path);

/* All stages of the sheet, as JSON. */
const char *ask_write_stages(const struct sheet *s, char *path);

#endif
