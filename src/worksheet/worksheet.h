/* SPDX-License-Identifier: MIT */
/* attn worksheet: the stages of a mechanism as problems to work out by hand, and their answers.
 *
 * Without a file each sheet has its own small whole numbers, by the seed and its number: numbers.h. */
#pragma once

#include "build/job_files.h"
#include "problem/problem.h"
#include "worksheet/numbers.h"

struct worksheet {
    const struct options *options;
    struct job_files files;   /* of the only sheet, where there is a file; else */
    struct numbers_plan plan; /* each has */
    struct numbers *numbers;  /* (options->variants) its own; NULL: there is a file */
    struct problem first;     /* of the first sheet, without mistakes, and with its warnings */
    struct mistake_choice mistakes[MISTAKE_SLOT_COUNT]; /* --mistake: those that a sheet has, to be found */
    size_t mistake_count;
    uint64_t shown, blank; /* stages on a sheet, and those to fill in; as sheet_plan has them */
    uint64_t given;        /* what a sheet tells: what the blanks are made from, and what is asked for */
    bool easy;             /* the numbers are, as numbers.h says */
    struct arena *arena;
    struct error *error;
};

/* Reads or draws the numbers, and makes the job of the first sheet. STATUS_USAGE where the job does not fit on
 * paper, or an option does not go with drawn numbers. */
enum status worksheet_create(struct worksheet *worksheet, const struct options *options, struct arena *arena,
                             struct error *error);

/* Writes all sheets, then all answers, as the options say, to the open output, and closes it. STATUS_SYSTEM as
 * output_close. */
enum status worksheet_write(const struct worksheet *worksheet, struct output *output);

/* In drawn.c: which numbers to draw for the command line, and whether scaled is whole with them. STATUS_USAGE where
 * an option gives numbers, or sizes do not fit. */
enum status drawn_plan(struct numbers_plan *plan, bool *whole, const struct options *options, struct error *error);

/* In drawn.c: STATUS_USAGE where a sheet of paper has no room for so many. */
enum status drawn_check(const char *source, const char *what, size_t count, size_t most, struct error *error);

/* In drawn.c: the numbers as a file would hold them. STATUS_SYSTEM where memory is short. */
enum status drawn_file(struct input_file *file, const struct numbers *numbers, const struct numbers_plan *plan,
                       const struct options *options, struct arena *arena, struct error *error);
