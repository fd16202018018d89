/* SPDX-License-Identifier: MIT */
/* attn why: which mistakes, or which other settings, give somebody's numbers.
 *
 * Nothing is an explanation unless it gives all of them. Guesses are made in the order of model/mistake.h: one
 * mistake, settings that draw otherwise, two mistakes, then other skips and seeds, and both together. */
#ifndef ATTN_WHY_WHY_H
#define ATTN_WHY_WHY_H

#include "base/progress.h"
#include "build/job_files.h"
#include "why/trial.h"

/* What gives all numbers. Those that are the same computation as an earlier one have its place as `same_as`. */
struct why_explanation {
    struct trial_guess guess;      /* mistakes; those of slot draw are in `options`, too */
    const struct options *options; /* the command line that gives the table, but for --mistake */
    const struct problem *problem; /* which those options make */
    const struct mine *mine;       /* how the tables stand in it */
    struct trial trial;
    size_t same_as; /* its own place where it is the first of its kind */
    uint64_t alone; /* the gradients that it gives, a set, where each that departs has its own; 0: all tables */
};

enum { WHY_STEP_GUESSES = 8, WHY_MOST = 256 };

/* One step, of those that go on from somebody's own stages. */
struct why_step {
    enum stage stage;
    bool departs;                                 /* it is not what its own stages before it give */
    struct trial_guess guesses[WHY_STEP_GUESSES]; /* mistakes that give it, made in that step; the most likely first */
    size_t guess_count;
    size_t agree, of;
    double largest;
    double rms; /* of numbers of few bits: what is left of the errors without a mistake, relative to their noise */
};

/* What is searched, by how many guesses there are. */
enum why_kind { WHY_SINGLES, WHY_PAIRS, WHY_NEAR_SETTINGS, WHY_SETTINGS, WHY_WITH_MISTAKES };

struct why_budget {
    double most, done;     /* multiply-adds */
    size_t singles, pairs; /* guesses that were tried: one mistake, two, */
    size_t settings;       /* other settings, */
    size_t both;           /* and these with a mistake */
    size_t pairs_left;     /* which the budget left out */
    double left;           /* multiply-adds that these would take, and what else was left out */
};

struct why {
    const struct options *options;
    const struct job_files *files;
    const struct problem *problem;
    struct mine mine;
    struct trial right; /* without mistakes */
    enum stage taken;   /* what a table was taken for by its shape; told where it is another stage, and right */
    bool low_precision; /* it is right, but in mine.dtype */
    bool constant;      /* it is right, but so it would be for any input */
    bool fits;          /* some settings make stages of the tables' shapes */
    bool is_drawn;      /* settings are guessed, too */
    struct why_explanation *explanations;
    size_t count;
    struct why_explanation *as_well; /* (as_well_count) mistakes that fit about as well as what is right, in few bits */
    size_t as_well_count;
    struct why_step steps[STAGE_COUNT]; /* where several stages are there, in their order */
    size_t step_count;
    bool masked_first;          /* masked before it was scaled, which changes no weight */
    bool hidden[MISTAKE_COUNT]; /* can be made, but nothing of the main stage shows it */
    struct trial halves[2];     /* of an answer of two mistakes: each of them alone */
    struct why_budget budget;
    double bits;          /* that the tables' numbers tell: why_can_tell */
    double bits_of_draws; /* and of settings; NaN: not yet known */
    unsigned untold;      /* 1 << each kind that was left out, since so few numbers would fit one by chance */
    const bool *left_out; /* by mistake: not to be guessed; NULL: none. For tests */
    struct progress *progress;
    struct arena *arena;
    struct error *error;
};

/* Searches. The problem is the one that options and files make. STATUS_USAGE where the table is no stage's,
 * STATUS_SYSTEM where memory is short. */
enum status why_search(struct why *why, const struct options *options, const struct job_files *files,
                       const struct problem *problem, const bool *left_out, struct progress *progress,
                       struct arena *arena, struct error *error);

/* The stages that depart: of several the steps, of one table that one; a set. */
uint64_t why_departs(const struct why *why);

/* The text or the JSON object of --format, and the exit status: STATUS_OK explained, STATUS_DIFFERENT not. */
enum status why_write(const struct why *why, struct output *output);

/* --- what the parts of the search share -------------------------------------------------------------------------- */

/* A list that grows. */
struct why_guesses {
    struct trial_guess *items;
    size_t count;
};

/* In guesses.c: each mistake that is guessed, with each of its forms; few forms where `common`. And pairs of them of
 * different slots, the most common ones first. */
enum status why_singles(const struct why *why, const struct problem *problem, bool common, struct why_guesses *guesses);
enum status why_pairs(const struct why *why, const struct why_guesses *singles, struct why_guesses *pairs);

/* In draws.c: whether the tables have numbers enough to tell so many guesses apart; else notes it in why->untold. Where
 * no table stands anywhere yet, `bits` is 0 and nothing is told. */
bool why_can_tell(struct why *why, enum why_kind kind);

/* In take.c: a copy that lasts; NULL of NULL, or where memory is short. */
double *why_keep(struct why *why, const double *numbers, size_t count);

/* Adds an explanation. */
enum status why_add(struct why *why, const struct trial_base *base, const struct options *options,
                    const struct trial_guess *guess, const struct trial *trial);

/* Bits that the tables of these stages tell. A right answer among N guesses needs log2(N) of them, and some more, so
 * that no wrong one fits by chance; and what guesses of a kind need. */
double why_bits(const struct trial_base *base, uint64_t stages);
double why_bits_needed(enum why_kind kind);

/* Takes a whole trial that agrees: as an explanation where it is to be believed rather than what is right, else notes
 * that it fits as well. */
enum status why_take(struct why *why, const struct trial_base *base, const struct options *options,
                     const struct trial_guess *guess, const struct trial *trial);

/* In draws.c: settings that draw otherwise, in four steps: the near ones, init, sizes and the like; skips and seeds;
 * near ones, skips and seeds with a mistake each; skips and seeds of other sizes. */
enum why_depth { WHY_NEAR, WHY_FAR, WHY_BOTH, WHY_OTHER_SIZES };
enum status why_draws(struct why *why, enum why_depth depth);

/* The other orders of drawing query, key and value, which may give the same as an exchange of them does. */
enum status why_orders(struct why *why);

/* In layers.c: the layers before and behind that of the checkpoint. */
enum status why_layers(struct why *why);

/* In layers.c: the same job with --residual, or without it where it was given. An explanation without a mistake, whose
 * options differ. */
enum status why_residual(struct why *why);

/* Whether an explanation is that. */
bool why_is_residual(const struct why *why, const struct why_explanation *explanation);

/* In steps.c: each stage from somebody's own ones before it. */
enum status why_steps(struct why *why, const struct trial_base *base);

#endif
