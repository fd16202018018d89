/* SPDX-License-Identifier: MIT */
/* The inputs of data/ that tell mistakes apart: what cannot be seen on them, and what it takes to see it. */
#ifndef ATTN_STRESS_RUNS_H
#define ATTN_STRESS_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* How far apart two tables must be for one printed decimal to tell them apart, whatever is rounded where. */
#define STRESS_APART 0.1

struct stress_unseen {
    const char *input;   /* "module": data/module.json */
    const char *mistake; /* with its form, or without one for all of them */
    const char *reason;
};

/* Mistakes that can be made on the input as it is, but that its table does not show. */
extern const struct stress_unseen STRESS_UNSEEN[];
extern const size_t STRESS_UNSEEN_COUNT;

/* The row of a mistake on an input, or NULL. */
const struct stress_unseen *stress_unseen(const char *input, const char *mistake);

/* Two mistakes that are the same computation on an input. */
struct stress_same {
    const char *input;
    const char *mistakes[2];
    const char *reason;
};

extern const struct stress_same STRESS_SAME[];
extern const size_t STRESS_SAME_COUNT;

/* The row of two mistakes, in either order, or NULL. */
const struct stress_same *stress_same(const char *input, const char *a, const char *b);

/* Whether it joined the library after the inputs were found: tests/check_wrong.sh has tables with it. */
bool stress_is_later(const char *mistake);

/* What takes more than an input as it is: an option, or another name in the file. */
enum { STRESS_SHOWN = 24 };
struct stress_more {
    const char *input, *what, *command_line;
    const char *without;             /* names that are taken out of the file, a blank between two; or NULL */
    const char *with;                /* an object whose names are put in, or in the place of those that are there */
    const char *shown[STRESS_SHOWN]; /* the mistakes that it takes this to see */
};

extern const struct stress_more STRESS_MORE[];
extern const size_t STRESS_MORE_COUNT;

#endif
