/* SPDX-License-Identifier: MIT */
/* What the tests of a table share. A test is a function of observe_rows.h: it says a line, or several, or none. */
#ifndef ATTN_OBSERVE_OBSERVING_H
#define ATTN_OBSERVE_OBSERVING_H

#include "base/text.h"
#include "mistake/plain.h"
#include "observe/observe.h"

enum { OBSERVE_TEXT_BYTES = 400, OBSERVE_MADE = 8 };

struct observing {
    const struct observed *observed;
    size_t count;      /* of its numbers */
    const bool *wrong; /* (count) which are not right */
    size_t wrong_count;
    double largest; /* of the finite right numbers, in magnitude */
    double noise;   /* root mean square of the tolerances, without those of printed digits */
    int kind;       /* of observe_rows.h: the one being tested */
    struct observations *list;
    struct plain_columns columns;                   /* of make.c: what all tables share, */
    const struct observe_table *made[OBSERVE_MADE]; /* (made_count) and those made without a change */
    size_t made_count;
    struct arena *arena; /* scratch, freed after the last test */
    struct error *error;
};

typedef enum status observe_test(struct observing *observing);

/* Adds a line of this kind: a sentence without a stop, in which `where` is a part of the table, or "" for all. */
void observe_say(struct observing *observing, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a number is that value, to within a tolerance of the value; NaN is NaN, an infinity the same infinity. */
bool observe_is(double mine, double value, double tolerance);

/* The tolerance of number i if it is `made` rather than the right one. */
double observe_tolerance(const struct observing *observing, size_t i, double made);

/* Whether somebody's numbers are these (count), to their tolerance and in the root mean square; `only`, (count) or
 * NULL for all, are the numbers to look at. */
bool observe_fits(const struct observing *observing, const double *made, const bool *only);

/* The evidence in wrong numbers for a line that gives them: the sum of log2(error / tolerance). A line needs
 * OBSERVE_BITS, and as many as a number has for each free parameter, or log2 of the candidates tried. */
double observe_bits(const struct observing *observing, const bool *only);
enum { OBSERVE_BITS = 24 };

/* Whether the columns of the table are keys. */
bool observe_is_square(const struct observed *observed);

/* The right table of another stage of the job; NULL: unknown, not of this job, or out of memory. */
const struct observe_table *observe_other(struct observing *observing, enum stage stage);

/* The same stage and part as the observed table, of a recipe (a changed problem, a mistake): its numbers, (count);
 * NULL: it cannot be made so, or out of memory. Its work is that of a guess of attn why. */
const double *observe_make(struct observing *observing, const struct recipe *recipe);

/* The same of another stage. */
const struct observe_table *observe_make_stage(struct observing *observing, const struct recipe *recipe,
                                               enum stage stage);

/* Adds "row 3 (starts)", "head 2", "column 5" or "key 5": a place on an axis, from 0 in the table. */
void observe_add_place(const struct observing *observing, enum observe_axis axis, size_t place, struct text *text);

#endif
