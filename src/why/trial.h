/* SPDX-License-Identifier: MIT */
/* One guess: the problem computed with some mistakes, and how much of somebody's numbers that gives. */
#ifndef ATTN_WHY_TRIAL_H
#define ATTN_WHY_TRIAL_H

#include "mistake/plain.h"
#include "why/mine.h"

enum { TRIAL_CHOICES = MISTAKE_SLOT_COUNT };

struct trial_guess {
    struct mistake_choice choices[TRIAL_CHOICES]; /* in the order of the slots */
    size_t count;
};

/* Whether it makes a mistake in that form. */
bool trial_makes(const struct trial_guess *guess, struct mistake_choice choice);

/* What all guesses about a problem share. */
struct trial_base {
    const struct problem *problem;
    const struct mine *mine;
    struct plain_columns columns; /* once trial_start has run, they are read alone */
    struct arena *arena;          /* of what lasts */
    size_t *few;                  /* (few_count) some of the rows, as queries, to look at first; */
    size_t few_count;             /* 0: all at once */
    bool *is_few;                 /* (S) which of the rows asked for these are */
    /* What the main stage is without mistakes, of these rows and of all. */
    double *shown_few, *shown;
    double *sizes_few, *sizes;        /* and how large the numbers beside each are, in its row or its column */
    double largest;                   /* of all rows */
    const double *noise[MINE_TABLES]; /* (count) of a table's numbers without mistakes; NULL: not known */
    const double *exact; /* of tables of few bits: their numbers without mistakes in float32, in a row; or NULL */
};

enum trial_end {
    TRIAL_REFUSED, /* one of the mistakes cannot be made here */
    TRIAL_DEPARTS,
    TRIAL_AGREES, /* all numbers are given */
};

/* The number that is furthest off, of which table, and what it should be; table is their count where none is off. */
struct trial_worst {
    size_t table, number;
    double made;
};

struct trial {
    enum trial_end end;
    bool hidden;     /* nothing of the main stage is other than without mistakes */
    bool has_counts; /* all numbers were compared: */
    size_t agree, of, rows;
    bool rest_is_right; /* the errors of those that agree are, together, those of rounding */
    double largest;     /* the largest error; infinite where NaN meets a number */
    double rms;   /* what is left of the errors beyond the digits, in times of the noise of each number; NaN: unknown */
    double apart; /* of numbers of few bits: how far the guess is from what is right, relative to the noise */
    size_t outside; /* numbers that attn diff would call different, by the tolerance of the tables' dtype */
    bool moves;     /* some number depends on those that are given */
    struct trial_worst worst;
    size_t indices[MINE_TABLES];      /* which place of each table fits best: mine_index */
    const double *noise[MINE_TABLES]; /* (count) of the numbers of each, where has_counts; in the arena of the call */
    const double *exact;              /* (of) as in the base, by the guess */
    double *shown;                    /* the main stage, where it agrees; in the arena of the call, else NULL */
    double work;                      /* multiply-adds, about */
};

/* What was made of a guess: the stages of the forward pass, and the gradients that tables are (gradients_make). */
struct trial_made {
    struct plain plain;
    const double *gradients[MINE_TABLES];
};

/* The stage whose numbers count most: that of the last table. */
enum stage trial_stage(const struct mine *mine);

/* Prepares the base: its columns and what it is without mistakes. STATUS_SYSTEM where memory is short. */
enum status trial_start(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                        struct arena *arena, struct error *error);

/* The same without what it is without mistakes, for a single look: nothing is told to be hidden. */
enum status trial_start_bare(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                             struct arena *arena, struct error *error);

/* Tries a guess. `whole`: all numbers are compared and judged by fit_weigh; else it ends where it is known to depart,
 * and agrees where it passes the screen, which a whole trial then has to confirm. Several threads may do it at the same
 * time, each with its own arena and error. */
enum status trial_run(const struct trial_base *base, const struct trial_guess *guess, bool whole, struct trial *trial,
                      struct arena *arena, struct error *error);

/* The same, whole only where it passes the screen. */
enum status trial_confirm(const struct trial_base *base, const struct trial_guess *guess, struct trial *trial,
                          struct arena *arena, struct error *error);

/* How many numbers the main stage has. */
size_t trial_numbers(const struct trial_base *base);

/* Whether the main stage of another problem, in which the tables stand so, has as many numbers. */
bool trial_alike(const struct problem *problem, const struct mine *mine, const struct trial_base *base);

/* Whether two guesses that agree are the same computation: their main stages have the same numbers. */
bool trial_same(const struct trial_base *base, const double *shown, const double *other);

/* Multiply-adds of a guess, about. */
double trial_work(const struct trial_base *base);

/* A number of a stage of the forward pass that was made, at an index of it. */
double trial_number(const struct plain *plain, enum stage stage, struct mine_index index);

/* Compares the tables with stages that were made; `only`: one stage of them, or STAGE_NAMES for all. Sets end, agree,
 * of, largest and indices. */
void trial_compare(const struct trial_base *base, const struct trial_made *made, const bool *is_few, bool whole,
                   enum stage only, struct trial *trial);

/* --- what trial.c and fit.c share -------------------------------------------------------------------------------- */

/* Makes the rows that a recipe needs: `rows`, or where queries meet all of them; of the backward pass all. */
enum status trial_make(const struct trial_base *base, const struct recipe *recipe, const size_t *rows, size_t count,
                       struct trial_made *made, struct arena *arena, struct error *error);

/* A number of a table as it was made, at an index of its stage; of a gradient all numbers are there. */
double trial_made_number(const struct trial_made *made, const struct mine_table *table, const double *gradient,
                         struct mine_index index);

/* How far two numbers of a stage are apart; infinite where one of them alone is no number. */
double trial_error(enum stage stage, double mine, double made);

#endif
