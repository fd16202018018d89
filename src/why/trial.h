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

/* What all guesses about a problem share. */
struct trial_base {
    const struct problem *problem;
    const struct mine *mine;
    struct plain_columns columns; /* once trial_start has run, they are read alone */
    struct arena *arena;          /* of what lasts */
    size_t *few;                  /* (few_count) some of the rows, as queries, to look at first; */
    size_t few_count;             /* 0: all at once */
    bool *is_few;                 /* (S) which of the rows asked for these are */
    /* What the main stage is without mistakes, of these rows and of all: trial_shown numbers. */
    double *shown_few, *shown;
    double largest; /* the largest of them */
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
    size_t agree, of;
    double largest; /* the largest error; infinite where NaN meets a number */
    struct trial_worst worst;
    size_t indices[MINE_TABLES]; /* which place of each table fits best: mine_index */
    double *shown;               /* the main stage, where it agrees; in the arena of the call, else NULL */
    double work;                 /* multiply-adds, about */
};

/* What was made of a guess: the stages of the way forward, and the gradients that tables are (gradients_make). */
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

/* Tries a guess. `whole`: all numbers are compared, else it ends where it is known to depart. Several threads may do it
 * at the same time, each with its own arena and error. */
enum status trial_run(const struct trial_base *base, const struct trial_guess *guess, bool whole, struct trial *trial,
                      struct arena *arena, struct error *error);

/* How many numbers the main stage has. */
size_t trial_numbers(const struct trial_base *base);

/* Whether the main stage of another problem, in which the tables stand so, has as many numbers. */
bool trial_alike(const struct problem *problem, const struct mine *mine, const struct trial_base *base);

/* Whether two guesses that agree are the same computation: their main stages have the same numbers. */
bool trial_same(const struct trial_base *base, const double *shown, const double *other);

/* Multiply-adds of a guess, about. */
double trial_work(const struct trial_base *base);

/* A number of a stage of the way forward that was made, at an index of it. */
double trial_number(const struct plain *plain, enum stage stage, struct mine_index index);

/* Compares the tables with stages that were made; `only`: one stage of them, or STAGE_NAMES for all. Sets end, agree,
 * of, largest and indices. */
void trial_compare(const struct trial_base *base, const struct trial_made *made, const bool *is_few, bool whole,
                   enum stage only, struct trial *trial);

#endif
