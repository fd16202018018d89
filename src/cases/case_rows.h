/* SPDX-License-Identifier: MIT */
/* A row of rows.c describes a case: its purpose, the options of attn sdpa, sizes, and how to draw its numbers. */
#ifndef ATTN_CASES_CASE_ROWS_H
#define ATTN_CASES_CASE_ROWS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* How many key and value heads there are: as many as query heads, a part of them, one. */
enum case_sharing { CASE_EACH, CASE_GROUPS, CASE_ONE };

struct case_drawing;
typedef enum status case_maker(struct case_drawing *drawing);

/* The scaled score of each key, the same for every query, and what the other columns add to it. */
struct case_scores {
    double others;           /* times what was drawn in the other columns */
    double all, rising;      /* of every key, and from the first one to behind the last */
    double first, last, two; /* more of the first key, the last, and of the last and another */
};

struct case_row {
    const char *name, *purpose;
    const char *options;  /* of attn sdpa, with blanks between them */
    size_t queries, keys; /* 0 queries: as many as keys; 0 keys: --max-tokens */
    bool exact;           /* so many tokens or none; else no more than --max-tokens, */
    size_t least;         /* which is so large at least, or there is nothing to see; 0: 2 */
    size_t items;         /* 0: 1 */
    enum case_sharing sharing;
    bool other_value; /* d_v is not d */
    bool gradients;
    const char *needs;                /* tensors beside query, key and value that it is about; or NULL */
    const struct case_scores *scores; /* NULL: as they were drawn */
    case_maker *make;                 /* changes the numbers that were drawn, or adds a tensor; NULL: neither */
    case_maker *lay;                  /* how query, key and value lie; NULL: B x H x T x d */
};

#endif
