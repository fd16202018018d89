/* SPDX-License-Identifier: MIT */
/* A covering design that learns what is refused while it goes.
 *
 * A row is a choice of values, at most one of each factor. design_run makes rows until each pair of values of two factors
 * was in a row that was accepted, or was refused alone. What a value needs beside it, and which values do not go together,
 * nobody says: a row that is refused is cut down to the fewest values that are, and no row has those again. */
#ifndef ATTN_PAIRS_DESIGN_H
#define ATTN_PAIRS_DESIGN_H

#include <stdbool.h>
#include <stddef.h>

enum { DESIGN_FACTORS = 80, DESIGN_VALUES = 224, DESIGN_CLASHES = 512, DESIGN_MOST_OF_CLASH = 6, DESIGN_NONE = -1 };

enum design_state { DESIGN_OPEN, DESIGN_COVERED, DESIGN_REFUSED };

/* The values of a row, in the order in which they were chosen. */
struct design_row {
    size_t count;
    int values[DESIGN_FACTORS];
    int of_factor[DESIGN_FACTORS]; /* a value, or DESIGN_NONE */
};

/* A value that is refused alone goes with one of some values of another factor. */
struct design_need {
    int factor; /* DESIGN_NONE: it needs nothing */
    bool allows[DESIGN_VALUES];
};

struct design {
    /* Given by the caller: */
    int count, factor_count;                     /* of values, of factors */
    int factors[DESIGN_VALUES];                  /* the factor of each value, ascending */
    int always;                                  /* the first factors, of which each row has a value */
    size_t width;                                /* most values of a row */
    int fixed;                                   /* a value that every row has, or DESIGN_NONE */
    int order[DESIGN_VALUES];                    /* the values as they are tried; a permutation */
    long most_rows;                              /* after these it stops */
    bool suspects[DESIGN_VALUES][DESIGN_VALUES]; /* [a][b] and [b][a]: two that are best tried alone first */
    bool (*accepts)(const struct design_row *row);
    bool (*blames)(int factor); /* whether the reason for the last refusal was said to lie in that factor, too */
    /* Learnt, and kept from one run to the next: */
    struct design_need needs[DESIGN_VALUES];
    bool known[DESIGN_VALUES];                  /* it was tried alone */
    bool dead[DESIGN_VALUES];                   /* it was never accepted, whatever was beside it */
    bool refused[DESIGN_VALUES][DESIGN_VALUES]; /* two that do not go together; [a][b] and [b][a] */
    struct {
        size_t count;
        int values[DESIGN_MOST_OF_CLASH];
    } clashes[DESIGN_CLASHES]; /* of three values and more */
    size_t clash_count;
    long rows; /* tried */
    /* Of the last run: */
    unsigned char states[DESIGN_VALUES][DESIGN_VALUES]; /* enum design_state; [a][b] with a < b */
};

/* Nothing fixed, nothing learnt or suspected, the order that of the values. The caller sets what is given, before and after. */
void design_begin(struct design *design);

/* Tries rows until no pair is open. */
void design_run(struct design *design);

/* How many pairs of values of two factors are in that state. */
size_t design_pairs(const struct design *design, enum design_state state);

#endif
