/* SPDX-License-Identifier: MIT */
/* attn why: finds the mistakes, or other settings, that give somebody's numbers.
 *
 * An explanation must give all of them. attn guesses in the order of model/mistake.h: one mistake, other settings of
 * draws, two mistakes, then other skips and seeds, and both together. */
#pragma once

#include "base/progress.h"
#include "build/job_files.h"
#include "observe/observe.h"
#include "why/trial.h"

/* A guess that gives all numbers. If an earlier one is the same computation, `same_as` is its index. */
struct why_explanation {
    struct trial_guess guess;      /* mistakes; `options` has those of slot draw, too */
    const struct options *options; /* the command line that gives the table, but for --mistake */
    const struct problem *problem; /* the problem of those options */
    const struct mine *mine;       /* the tables matched to it */
    struct trial trial;
    size_t same_as; /* its own index if it is the first of its kind */
    uint64_t alone; /* the set of gradients that it gives, if each wrong one has its own explanation; 0: all tables */
};

enum { WHY_STEP_GUESSES = 8, WHY_MOST = 256 };

/* One step from somebody's own stages to the next. */
struct why_step {
    enum stage stage;
    bool departs;                                 /* it does not follow from their own stages before it */
    struct trial_guess guesses[WHY_STEP_GUESSES]; /* mistakes in that step that give it, most likely first */
    size_t guess_count;
    size_t agree, of;
    double largest;
    double rms; /* few bits: errors without a mistake, relative to their noise */
};

/* An answer whose errors are so much smaller, relative to the noise, comes before a likelier one. */
#define WHY_CLEARLY 0.1

/* The number that two answers give differently. */
struct why_apart {
    enum stage stage;
    size_t other; /* the second explanation; the first is the answer */
    size_t at;    /* its index in the stage, (B, H, rows, columns) */
    double first, second;
    double share; /* of the stage's largest number; 0: none */
};

/* A list that grows, or pairs of items of another. */
struct why_guesses {
    struct trial_guess *items;
    size_t count;
    const struct why_pair {
        size_t first, second;
    } * pairs; /* (count) in the order of their slots; NULL: the items */
};

/* The kinds of search, by the number of guesses. */
enum why_kind { WHY_SINGLES, WHY_PAIRS, WHY_NEAR_SETTINGS, WHY_SETTINGS, WHY_WITH_MISTAKES, WHY_MODULES };

struct why_budget {
    double most, done;     /* multiply-adds */
    size_t singles, pairs; /* guesses tried: one mistake, two, */
    size_t settings;       /* other settings, */
    size_t both;           /* and these with a mistake */
    size_t rows;           /* computed by guesses of one mistake or two */
    size_t pairs_left;     /* left out by the budget */
    double left;           /* multiply-adds of all that was left out */
};

struct why {
    const struct options *options;
    const struct job_files *files;
    const struct problem *problem;
    struct mine mine;
    struct trial right; /* without mistakes */
    enum stage taken;   /* the stage inferred from a table's shape; reported if it is another stage, and right */
    bool low_precision; /* right, but in mine.dtype */
    bool constant;      /* right, but so for any input */
    bool fits;          /* some settings give stages of the tables' shapes */
    bool is_drawn;      /* guesses settings, too */
    struct why_explanation *explanations;
    size_t count;
    struct why_explanation *as_well; /* (as_well_count) few bits: mistakes that fit about as well as the right result */
    size_t as_well_count;
    struct why_step steps[STAGE_COUNT]; /* with several stages, in their order */
    size_t step_count;
    bool masked_first;                /* masked before scaling, which changes no weight */
    struct why_guesses singles;       /* those tried, */
    struct trial *alone;              /* (singles.count) and their trials */
    bool hidden[MISTAKE_COUNT];       /* can be made, but does not change the main stage */
    bool costly[MISTAKE_COUNT];       /* needs large projections again */
    struct observations observations; /* if nothing explains it: what the first wrong table is */
    struct why_apart apart;
    struct trial halves[2]; /* of an answer of two mistakes: each of them alone */
    struct why_budget budget;
    double bits;          /* information in the tables' numbers: why_can_tell */
    double bits_of_draws; /* and about settings; NaN: not yet known */
    struct drawn *drawn;  /* in draws.c */
    unsigned untold;      /* 1 << each kind left out, since so few numbers fit by chance */
    const bool *left_out; /* by mistake: not to guess; NULL: none. For tests */
    struct output *early; /* for the first answer as soon as it is certain; or NULL */
    bool begun;           /* it is there */
    struct progress *progress;
    struct arena *arena;
    struct error *error;
};

/* Searches for explanations; options and files make the problem. STATUS_USAGE: the table matches no stage;
 * STATUS_SYSTEM: out of memory. Begins the text of why_write in `early` as soon as its first answer is
 * certain; NULL: not. */
enum status why_search(struct why *why, const struct options *options, const struct job_files *files,
                       const struct problem *problem, const bool *left_out, struct output *early,
                       struct progress *progress, struct arena *arena, struct error *error);

/* The set of wrong stages: steps, or the one table's. */
uint64_t why_departs(const struct why *why);

/* Writes the text or the JSON object of --format. Returns the exit status: STATUS_OK explained, STATUS_DIFFERENT
 * not. */
enum status why_write(const struct why *why, struct output *output);

/* --- for the parts of the search --------------------------------------------------------------------------------- */

/* In guesses.c: guess i of a list. */
struct trial_guess why_guess(const struct why_guesses *guesses, size_t i);

/* In guesses.c: lists each mistake to guess, with each of its forms (few if `common`); and pairs of them from different
 * slots, the likeliest and cheapest first. */
enum status why_singles(const struct why *why, const struct problem *problem, bool common, struct why_guesses *guesses);
enum status why_pairs(const struct why *why, const struct why_guesses *singles, struct why_guesses *pairs);

/* In draws.c: whether the tables have enough numbers to distinguish so many guesses; else notes it in why->untold.
 * Without a matched table `bits` is 0, and it is false. */
bool why_can_tell(struct why *why, enum why_kind kind);

/* In take.c: a lasting copy; NULL for NULL, or if out of memory. */
double *why_keep(struct why *why, const double *numbers, size_t count);

/* Adds an explanation. */
enum status why_add(struct why *why, const struct trial_base *base, const struct options *options,
                    const struct trial_guess *guess, const struct trial *trial);

/* Bits of information in the tables of these stages, and the bits that guesses of a kind need: N guesses need log2(N),
 * and some more so that no wrong one fits by chance. */
double why_bits(const struct trial_base *base, uint64_t stages);
double why_bits_needed(enum why_kind kind);

/* Takes a `whole` trial that agrees: as an explanation if fit_beats, else notes that it fits as well as the right
 * result. */
enum status why_take(struct why *why, const struct trial_base *base, const struct options *options,
                     const struct trial_guess *guess, const struct trial *trial);

/* In draws.c: tries other settings of draws, in four steps: near ones, such as init and sizes; skips and seeds; all
 * these with a mistake each; skips and seeds with other sizes. */
enum why_depth { WHY_NEAR, WHY_FAR, WHY_BOTH, WHY_OTHER_SIZES };
enum status why_draws(struct why *why, enum why_depth depth);

/* Tries other orders of drawing query, key and value, which may give the same numbers as exchanging them. */
enum status why_orders(struct why *why);

/* In layers.c: tries the layers before and after the chosen one. */
enum status why_layers(struct why *why);

/* In layers.c: tries the same job with --residual, or without it. Adds an explanation without a mistake, whose options
 * differ. */
enum status why_residual(struct why *why);

/* Whether an explanation comes from why_residual. */
bool why_is_residual(const struct why *why, const struct why_explanation *explanation);

/* In observed.c: sets why->observations. */
enum status why_observe(struct why *why, const struct trial_base *base);

/* In apart.c: where two answers remain, finds the number that tells them apart. */
enum status why_tell_apart(struct why *why);

enum { REPORT_COMMAND_BYTES = 4200, REPORT_SENTENCE_BYTES = 256 };

/* In report.c: writes the command that gives the table, "attn causal data/inputs.json -s 789 --mistake scale-missing",
 * to text (REPORT_COMMAND_BYTES). Returns text, or NULL if it does not fit. */
const char *why_command(const struct why_explanation *explanation, char *text);

/* The sentence of a mistake, with the job's number filled in; text has REPORT_SENTENCE_BYTES. */
const char *why_sentence(const struct problem *problem, enum mistake id, char *text);

/* Whether attn found nothing, but at most one in ten numbers is wrong: probably a slip, not a mistake. */
bool why_is_nearly_right(const struct why *why);

/* The number with the largest error; adds its place, "context, row 3 (starts), column 2". */
double why_worst(const struct why *why, struct text *place);

/* Begins the text if the first answer is certain. */
void why_begin(struct why *why);

void why_write_text(const struct why *why, struct output *output);
void why_write_json(const struct why *why, struct output *output);

/* In steps.c: computes each stage from somebody's own stages before it. */
enum status why_steps(struct why *why, const struct trial_base *base);
