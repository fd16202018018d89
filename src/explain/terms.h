/* SPDX-License-Identifier: MIT */
/* Worked lines as data: a stage says in which terms its numbers stand; one walker loads and writes them, works out what
 * they come to, and adds up what is left out. Terms are text:
 *
 *     "a x tanh(scaled / a) = a x tanh([scaled / a]made) = a x [tanh(scaled / a)]made = made"
 *
 *   scaled        that stage's number: of the row that is explained and the line's key or column; of a stage of keys
 *                 that of the line's key. `made` is the stage itself as its table shows it, `before` the one before it
 *   a, -a         the first number of `given`, or with its sign changed; where it is absent, its term or factor is out
 *   [terms]made   one number: what the terms in it come to, shown as those of that stage
 *   {terms}made   a sum over the entries of rows, which a name then stands for; with a subtotal where they are many. A
 *                 side {[...]made}made that multiplies one product out is left out
 *   exp( log( tanh( (   up to ")" */
#ifndef ATTN_EXPLAIN_TERMS_H
#define ATTN_EXPLAIN_TERMS_H

#include "explain/explanation.h"

/* What the lines are about, one each. */
enum explain_over {
    EXPLAIN_KEYS,    /* the keys that are explained */
    EXPLAIN_LISTED,  /* the keys in e->listed */
    EXPLAIN_COLUMNS, /* the columns that are explained */
    EXPLAIN_TERMS,   /* the rows in e->listed, as explain_term_place counts them */
    EXPLAIN_RANGE,   /* `range`; `label` begins each line */
};

/* A number that no stage holds, in lines or the entries of braces. */
struct explain_given {
    enum { EXPLAIN_ABSENT, EXPLAIN_VALUE, EXPLAIN_NUMBERS } is;
    int kind; /* a stage, or EXPLAIN_WEIGHTS and on: how it is shown */
    double value;
    const char *text;      /* the value as it is written, or NULL */
    const double *numbers; /* by the line's index, or the entry */
};

enum { EXPLAIN_GIVEN = 6 };

struct explain_lines {
    enum explain_over over;
    struct explain_range range;
    const char *what; /* in a range: what the lines left out are */
    size_t group;
    const char *terms;
    struct explain_given given[EXPLAIN_GIVEN];
    size_t count;                     /* entries of braces that begin with a given number; others are the stage's */
    size_t column;                    /* which number of a row of keys, or of rows that are terms */
    bool of_items, of_heads, of_keys; /* terms are rows of all items, of several heads; of tokens, not queries */
    bool sums;                        /* the lines add up, to a number as those of */
    enum stage to;                    /* this stage, or 0: the one that is explained */
    /* Completes one line, which it may change; NULL: it is complete. False: there is none. */
    bool (*prepare)(struct explanation *e, struct explain_lines *line);
    void *context; /* for it */
    /* Set for each line: */
    enum stage stage;
    struct explain_place place, at; /* of the row that is explained, and the line's own */
    size_t index;
    char label[WORKED_LINE_CELL_BYTES], words[WORKED_LINE_CELL_BYTES]; /* at its beginning, and at its end */
};

/* The products of two rows, a bias c, and what they come to. */
#define EXPLAIN_DOT(left, right, sum) "{" left " x " right "}made + c = {[" left " x " right "]made}made + c = " sum

struct explain_given explain_value(int kind, double value);
struct explain_given explain_text(const char *text, double value);
struct explain_given explain_numbers(int kind, const double *numbers);
struct explain_given explain_value_if(bool there, int kind, double value);

/* Writes the lines of a row, below the heading where it is not NULL. Where they add up, it begins their sum; returns
 * what they and those left out come to. */
double explain_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                     const struct explain_lines *lines);

/* The same of a sum that comes to the number. */
void explain_write_sum(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       const struct explain_lines *lines, double number);

/* Ends a sum: a last line of the group has the number. */
void explain_sum(struct explanation *e, size_t group, enum stage stage, double number);

/* Of a stage that does nothing here, `heading` says why not: each number is that of the stage before it. */
void explain_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *heading);

/* Each column of a stage, one after another, which `write` explains below "column 2". */
typedef void explain_column(struct explanation *e, enum stage stage, struct explain_place place, size_t column,
                            const char *heading);
void explain_each_column(struct explanation *e, enum stage stage, struct explain_place place, explain_column *write);

/* The row of a term in a sum over items, heads or both, from the first one's on. */
struct explain_place explain_term_place(const struct explanation *e, const struct explain_lines *lines, size_t term);

/* x . W + bias, which makes columns of a stage.
 *   x      (d_in), in e->operand, numbers of `x_kind`
 *   first  the column of W that makes column 0; W's numbers are of `weight_kind` */
struct explain_projection {
    const struct projection *projection;
    size_t first, d_in;
    int weight_kind, x_kind;
};

/* The columns that are explained. `prepare` completes the line of one, as explain_prepare_projected does, which takes
 * `by` for its context. */
void explain_projected(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       struct explain_projection *by,
                       bool (*prepare)(struct explanation *e, struct explain_lines *line));
bool explain_prepare_projected(struct explanation *e, struct explain_lines *line);

#endif
