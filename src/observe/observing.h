/* SPDX-License-Identifier: MIT */
/* What the tests of a table share. A test is a function of observe_rows.h: it says a line, or several, or none. */
#pragma once

#include "base/text.h"
#include "mistake/plain.h"
#include "observe/observe.h"

enum { OBSERVE_TEXT_BYTES = 400, OBSERVE_WHERE_BYTES = 160 };

/* A part of the table. */
struct observe_part {
    const bool *only;                /* (count) its numbers */
    const bool *lines;               /* (lines) the rows of all heads and items that have one of them */
    char where[OBSERVE_WHERE_BYTES]; /* "head 2, rows 33 to 48"; "" for all */
    bool plural;                     /* it is "are" */
    bool is_product;                 /* the same rows of the same heads of each item, nearly */
};

struct observing {
    const struct observed *observed;
    size_t count;      /* of its numbers */
    const bool *wrong; /* (count) which are not right */
    size_t wrong_count;
    size_t lines;             /* rows of all heads and items: the count without columns */
    const size_t *keys;       /* (lines) how many keys the mask allows; NULL: unknown, or they are no queries */
    struct observe_part part; /* each line with a wrong number, in the columns that have one; for OBSERVE_OF_PART maybe
                                 of a head or an item alone */
    bool is_whole;            /* not that of one head or item */
    double *rooms[3];         /* (count) each: scratch of a test */
    struct observing *sample; /* a few rows, of a job in at least float32; NULL: not made */
    size_t *map;              /* of a sample: (count) the indices of its numbers among all */
    double noise;             /* root mean square of the tolerances, without those of printed digits */
    double share;             /* of a number, its own rounding error at most */
    int kind;                 /* of observe_rows.h: the one being tested, */
    bool other_form;          /* the second of its test */
    struct observations *list;
    struct plain_columns columns;                       /* of make.c: what all tables share, */
    const struct observe_table *made[STAGE_INPUTS + 1]; /* and those made without a change, */
    uint64_t tried;                                     /* or found impossible: a set of stages */
    struct arena *arena;                                /* scratch, freed after the last test */
    struct error *error;
};

typedef void observe_test(struct observing *observing);

/* Scratch of zeros; NULL: out of memory, as observing->error says. */
void *observe_zeros(const struct observing *observing, size_t count, size_t size);

/* How many numbers are wrong; `only`, (count) or NULL for all, are the numbers to look at. */
size_t observe_wrong(const struct observing *observing, const bool *only);

/* Whether all numbers but these (count) are right, also in the root mean square: few bits hide small errors in each. */
bool observe_rest_is_right(const struct observing *observing, const bool *only);

/* Sets a part from its numbers. `where` says nothing of the axis `but`. False: out of memory. */
bool observe_part(const struct observing *observing, const bool *only, int but, struct observe_part *part);

/* Sets the wrong part. */
void observe_find_part(struct observing *observing);

/* Adds a line of this kind: a sentence without a stop, and the part of the table that it is about, or "" for all. */
void observe_say(struct observing *observing, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about a part, with "; all others are right" where they are. observe_tell begins the sentence: "rows 33 to 48
 * are ...", or "all numbers are ...". */
void observe_say_part(struct observing *observing, const struct observe_part *part, const char *sentence);
void observe_tell(struct observing *observing, const struct observe_part *part, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a number is that value, to within a tolerance of the value; NaN is NaN, an infinity the same infinity. */
bool observe_is(double mine, double value, double tolerance);

/* The tolerance of number i if it is `made` rather than the right one, with `factor` times the noise of that. */
double observe_tolerance(const struct observing *observing, size_t i, double made, double factor);

/* Whether number i is the right number `from`, to the tolerance of both. */
bool observe_is_copy(const struct observing *observing, size_t i, size_t from);

/* Whether somebody's numbers are these (count), to `factor` times the tolerance of right numbers and in the root mean
 * square; `only`, (count) or NULL for all, are the numbers to look at. */
bool observe_fits(const struct observing *observing, const double *made, const bool *only, double factor);

/* The evidence in wrong numbers for a line that gives them: the sum of log2(error / tolerance). A line needs
 * OBSERVE_BITS, and as many as a number has for each free parameter, or log2 of the candidates tried. */
double observe_bits(const struct observing *observing, const bool *only);
double observe_bits_of(const struct observing *observing, size_t i);
static const double OBSERVE_BITS = 24;

/* Writes what the mask adds for the query of number i, (keys), into bias: minus infinity for masked keys. */
const double *observe_bias(const struct observing *observing, size_t i, double *bias);

/* Whether the columns of the table are keys. */
bool observe_is_square(const struct observed *observed);

/* The right table of another stage of the job; NULL: unknown, not of this job, or out of memory. */
const struct observe_table *observe_other(struct observing *observing, enum stage stage);

/* A recipe of the job with a mistake, or as it is (NULL), in the arena; NULL: out of memory. */
struct recipe *observe_recipe(struct observing *observing, const struct mistake_choice *choice);

/* The same stage and part as the observed table, of a recipe (a changed problem, a mistake): its numbers, (count);
 * NULL: it cannot be made so, or out of memory. Its work is that of a guess of attn why. */
const double *observe_make(struct observing *observing, const struct recipe *recipe);

/* In fits.c: the numbers with a change of a recipe; NULL: a sample, which costs less, shows that it gives neither the
 * wrong part nor that of some place on the axis, or out of memory. */
typedef void observe_change(struct recipe *recipe, size_t form);
const double *observe_changed(struct observing *observing, observe_change *change, size_t form, enum observe_axis axis);

/* The values that the head of number i reads, (keys, columns), in the table of STAGE_VALUE. */
const double *observe_values(const struct observing *observing, const struct observe_table *value, size_t i);

/* "row", "head", "key": what an axis counts. */
const char *observe_axis_name(const struct observing *observing, enum observe_axis axis);

/* How far apart neighbours on an axis are; the place of number i on it; the index of a place in the stage of a table,
 * and of number i in its own. */
size_t observe_stride(const struct observing *observing, enum observe_axis axis);
size_t observe_place(const struct observing *observing, size_t i, enum observe_axis axis);
size_t observe_index(const struct observe_table *table, enum observe_axis axis, size_t place);
size_t observe_index_of(const struct observing *observing, size_t i, enum observe_axis axis);

/* Adds "row 3 (starts)", "head 2", "column 5" or "key 5": a place on an axis, from 0 in the table. And a list of them:
 * "rows 33 to 48", "heads 1, 2 and 5". */
void observe_add_place(const struct observing *observing, enum observe_axis axis, size_t place, struct text *text);
void observe_add_list(const struct observing *observing, enum observe_axis axis, const size_t *places, size_t count,
                      struct text *text);

/* "head 1, row 3 (starts)", of number i, into words; returns words. */
const char *observe_line(const struct observing *observing, size_t i, char words[OBSERVE_WHERE_BYTES]);
