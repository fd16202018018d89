/* SPDX-License-Identifier: MIT */
/* Worked lines as data: a stage gives the terms of its numbers as text; one walker loads, writes and evaluates them,
 * and adds up what it leaves out. Terms:
 *
 *     "a x tanh(scaled / a) = a x tanh([scaled / a]made) = a x [tanh(scaled / a)]made = made"
 *
 *   scaled        that stage's number: of the explained row and the line's key or column; of a stage of keys
 *                 that of the line's key. `made` is the stage's own table, `before` the stage before it
 *   a, -a         the first number of `given`, or its negative; an absent number drops its term or factor
 *   [terms]made   one number: the value of the terms, written as a number of that stage
 *   {terms}made   a sum over the entries of rows, where names mean entries; long sums get a subtotal. The walker
 *                 omits a side {[...]made}made with one product
 *   exp( log( tanh( (   up to ")" */
#pragma once

#include "explain/explanation.h"

/* What each line is about. */
enum explain_over {
    EXPLAIN_KEYS,    /* the explained keys */
    EXPLAIN_LISTED,  /* the keys in e->listed */
    EXPLAIN_COLUMNS, /* the explained columns */
    EXPLAIN_TERMS,   /* the rows in e->listed, as explain_term_place counts them */
    EXPLAIN_RANGE,   /* `range`; `label` begins each line, as it may one of columns */
};

/* A number that no stage holds, for lines or entries of braces. */
struct explain_given {
    enum { EXPLAIN_ABSENT, EXPLAIN_VALUE, EXPLAIN_NUMBERS } is;
    int kind; /* a stage, or EXPLAIN_WEIGHTS and on: its notation */
    double value;
    const char *text;      /* the value's text, or NULL */
    const double *numbers; /* one per line, or per entry */
};

enum { EXPLAIN_GIVEN = 6 };

struct explain_lines {
    enum explain_over over;
    struct explain_range range;
    const char *what; /* in a range: the name of the omitted lines */
    size_t group;
    const char *terms;
    struct explain_given given[EXPLAIN_GIVEN];
    size_t count;                     /* entries of braces that begin with a given number; others have the stage's */
    size_t column;                    /* index in a row of keys, or in rows that are terms */
    bool of_items, of_heads, of_keys; /* terms are rows of all items; of several heads; of tokens */
    bool sums;                        /* the lines add up, to a number of */
    enum stage to;                    /* this stage; 0: the explained one */
    /* Completes a line; NULL: nothing to complete. False: no line. */
    bool (*prepare)(struct explanation *e, struct explain_lines *line);
    void *context; /* for it */
    /* Set for each line: */
    enum stage stage;
    struct explain_place place, at; /* of the explained row, and of the line */
    size_t index;
    char label[WORKED_LINE_CELL_BYTES], words[WORKED_LINE_CELL_BYTES]; /* at the line's beginning and end */
};

/* The products of two rows, a bias c, and their sum. */
#define EXPLAIN_DOT(left, right, sum) "{" left " x " right "}made + c = {[" left " x " right "]made}made + c = " sum

struct explain_given explain_value(int kind, double value);
struct explain_given explain_text(const char *text, double value);
struct explain_given explain_numbers(int kind, const double *numbers);
struct explain_given explain_value_if(bool there, int kind, double value);

/* Writes the lines of a row, below the heading (or NULL). If they add up, begins their sum; returns it, omitted lines
 * included. */
double explain_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                     const struct explain_lines *lines);

/* The same for a sum that comes to `number`. */
void explain_write_sum(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       const struct explain_lines *lines, double number);

/* Ends a sum: writes a last line of the group with the number. */
void explain_sum(struct explanation *e, size_t group, enum stage stage, double number);

/* Explains a stage that does nothing here, where each number is that of the stage before; `heading` says why. */
void explain_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *heading);

/* Explains each column of a stage in turn: `write`, below "column 2". */
typedef void explain_column(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                            const char *heading);
void explain_each_column(struct explanation *e, enum stage stage, struct explain_place place, explain_column *write);

/* The row of term i in a sum over items, heads or both, from the first one's on. */
struct explain_place explain_term_place(const struct explanation *e, const struct explain_lines *lines, size_t term);

/* x . W + bias, for columns of a stage.
 *   x      (d_in), in e->operand, numbers of `x_kind`
 *   first  the column of W that makes column 0; W's numbers are of `weight_kind` */
struct explain_projection {
    const struct projection *projection;
    size_t first, d_in;
    int weight_kind, x_kind;
};

/* Writes the explained columns. `prepare` completes a line, as explain_prepare_projected does, with `by` as context. */
void explain_projected(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       struct explain_projection *by,
                       bool (*prepare)(struct explanation *e, struct explain_lines *line));
bool explain_prepare_projected(struct explanation *e, struct explain_lines *line);
