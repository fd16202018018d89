/* SPDX-License-Identifier: MIT */
/* One guess: the problem computed with some mistakes, and how many of somebody's numbers that gives. */
#pragma once

#include "mistake/plain.h"
#include "why/mine.h"

enum { TRIAL_CHOICES = MISTAKE_SLOT_COUNT };

struct trial_guess {
    struct mistake_choice choices[TRIAL_CHOICES]; /* in the order of the slots */
    size_t count;
};

/* The guess that nothing is wrong. */
#define TRIAL_NONE (&(const struct trial_guess){.count = 0})

/* Whether it makes that mistake in that form. */
bool trial_makes(const struct trial_guess *guess, struct mistake_choice choice);

/* The data that all guesses on a problem share. */
struct trial_base {
    const struct problem *problem;
    const struct mine *mine;
    struct plain_columns columns; /* read-only after trial_start */
    struct arena *arena;          /* of what lasts */
    uint64_t stages;              /* the tables' stages of the forward pass, and those they are made from */
    double work;                  /* approximate multiply-adds of a guess */
    bool has_few;                 /* compares one row first, */
    size_t few_row;               /* this one of the selected; else all at once */
    size_t *few_numbers;          /* (few_numbers_count) those of the last table in this row */
    size_t few_numbers_count;
    size_t few_columns; /* then the columns of output to compare; 0: all */
    /* The main stage without mistakes, of this row and of all. */
    const double *shown_few, *sizes_few;
    double *shown, *sizes;            /* for each, the size of the numbers in its row or column */
    double largest;                   /* of all rows */
    const double *noise[MINE_TABLES]; /* (count) of a table's numbers without mistakes; NULL: unknown */
    const double *off[MINE_TABLES];   /* (count) its errors, -1 where it is right for any input, as a masked 0; NULL */
    const double *exact;              /* few bits: all tables' numbers without mistakes, in float32; or NULL */
};

enum trial_end {
    TRIAL_REFUSED, /* a mistake cannot be made here */
    TRIAL_DEPARTS,
    TRIAL_AGREES, /* gives all numbers */
};

/* The number with the largest error, its table, and its right value; table is the count of tables if none is wrong. */
struct trial_worst {
    size_t table, number;
    double made;
};

struct trial {
    enum trial_end end;
    bool possible;   /* the mistakes can be made, */
    bool projects;   /* and change a projection */
    bool hidden;     /* the main stage is the same as without mistakes */
    bool has_counts; /* all numbers are compared: */
    size_t agree, of, rows;
    bool rest_is_right; /* together, the errors of those that agree are those of rounding */
    double largest;     /* the largest error; infinite where NaN meets a number */
    double rms;         /* errors beyond the digits, relative to the noise of each number; NaN: unknown */
    double apart;       /* few bits: distance of the guess from the right result, relative to the noise */
    size_t outside;     /* numbers that attn diff calls different, by the tolerance of the tables' dtype */
    bool moves;         /* some number depends on the inputs */
    struct trial_worst worst;
    size_t indices[MINE_TABLES];      /* each table's best place: mine_index */
    const double *noise[MINE_TABLES]; /* (count) of each table, if has_counts; in the call's arena, */
    const double *off[MINE_TABLES];   /* and as in the base */
    const double *exact;              /* (of) as in the base, for the guess */
    double *shown;                    /* the main stage if it agrees, in the call's arena; else NULL */
    double work;                      /* approximate multiply-adds */
    size_t made;                      /* rows computed, without those for the noise */
};

/* The result of a guess: stages of the forward pass, and the tables' gradients (gradients_make). */
struct trial_made {
    struct plain plain;
    const double *gradients[MINE_TABLES];
};

/* The main stage: that of the last table. */
enum stage trial_stage(const struct mine *mine);

/* Prepares the base: its columns, and its result without mistakes. STATUS_SYSTEM: out of memory. */
enum status trial_start(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                        struct arena *arena, struct error *error);

/* The same without that result, for a single trial: cannot detect hidden mistakes. */
enum status trial_start_bare(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                             struct arena *arena, struct error *error);

/* The same with the projections of another base of the same problem. */
enum status trial_start_like(struct trial_base *base, const struct trial_base *other, const struct mine *mine,
                             struct arena *arena, struct error *error);

/* Tries a guess. `whole`: compares all numbers and judges them with fit_weigh. Else it ends at the first disagreement,
 * and agrees if it passes the screen; a `whole` trial must then confirm it. Threads may call it at the same time, each
 * with its own arena and error. */
enum status trial_run(const struct trial_base *base, const struct trial_guess *guess, bool whole, struct trial *trial,
                      struct arena *arena, struct error *error);

/* The same, `whole` only if it passes the screen. */
enum status trial_confirm(const struct trial_base *base, const struct trial_guess *guess, struct trial *trial,
                          struct arena *arena, struct error *error);

/* The numbers of the main stage. */
size_t trial_numbers(const struct trial_base *base);

/* Whether the main stage of another problem, with these tables, has as many numbers. */
bool trial_alike(const struct problem *problem, const struct mine *mine, const struct trial_base *base);

/* Whether two guesses that agree are the same computation: their main stages have the same numbers. */
bool trial_same(const struct trial_base *base, const double *shown, const double *other);

/* Approximate multiply-adds of a guess. */
double trial_work(const struct trial_base *base);

/* A number of a computed stage of the forward pass. */
double trial_number(const struct plain *plain, enum stage stage, struct mine_index index);

/* Compares the tables with computed stages; `few`: only in the row to compare first; `only`: one stage, or STAGE_NAMES
 * for all. Sets end, agree, of, largest and indices. */
void trial_compare(const struct trial_base *base, const struct trial_made *made, bool few, bool whole, enum stage only,
                   struct trial *trial);

/* The tables' stages of the forward pass, and those they are made from. */
uint64_t trial_stages(const struct problem *problem, const struct mine *mine);

/* --- for trial.c and fit.c --------------------------------------------------------------------------------------- */

/* Makes the rows that a recipe needs: `rows`; all with recipe->across or a backward pass. */
enum status trial_make(const struct trial_base *base, const struct recipe *recipe, const size_t *rows, size_t count,
                       struct trial_made *made, struct arena *arena, struct error *error);

/* A number of a table as computed, at an index of its stage; gradients are complete. */
double trial_made_number(const struct trial_made *made, const struct mine_table *table, const double *gradient,
                         struct mine_index index);

/* Number i of a table as computed, or its total, where the table begins at `first`. */
double trial_table_number(const struct trial_made *made, const struct mine_table *table, const double *gradient,
                          struct mine_index first, size_t i);

/* The error between two numbers of a stage; infinite if they differ and one is not finite. */
double trial_error(enum stage stage, double mine, double made);
