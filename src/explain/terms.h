/* Worked lines as data: a stage says which numbers a line has and in which terms; one walker writes the line, works out
 * what its terms come to, and adds up what is left out.
 *
 * The numbers of a line are called a, b, c and on, in their order. Its terms are text, side by side:
 *
 *     "c x tanh(a / c) = c x tanh([a / c]b) = c x [tanh(a / c)]b = b"
 *
 *   a, -a         the number, or the number with its sign changed; where it is absent, its term or factor is, too
 *   [terms]b      one number: what the terms in it come to, of the kind of b
 *   {terms}b      a sum over the entries of rows, whose numbers a letter then stands for; more than EXPLAIN_MOST terms
 *                 have a subtotal of the kind of b. A side {[a x b]c}c that only multiplies one product out is left out
 *   exp( log( tanh( (   up to ")" */
#ifndef ATTN_EXPLAIN_TERMS_H
#define ATTN_EXPLAIN_TERMS_H

#include "explain/explanation.h"

/* Where a number comes from. */
enum explain_from {
    EXPLAIN_ABSENT,
    EXPLAIN_GIVEN, /* `numbers` by the line's index, or where that is NULL `value`, the same in all lines */
    EXPLAIN_ROW,   /* a row of the stage `kind`, by the line's index: that of the place */
    EXPLAIN_MADE,  /* the same as its table shows it: of the stage that is explained */
    EXPLAIN_AT,    /* a row of the stage `kind`, by the column of the lines: that of the line's own key or token */
};

struct explain_operand {
    enum explain_from from;
    int kind; /* a stage, or EXPLAIN_WEIGHTS and on: how the number is shown */
    double value;
    const char *text; /* the number as it is written; NULL: as its kind is shown */
    const double *numbers;
};

/* What the lines are about, one each. */
enum explain_over {
    EXPLAIN_KEYS,    /* the keys that are explained */
    EXPLAIN_SEEN,    /* the keys in e->seen */
    EXPLAIN_COLUMNS, /* the columns that are explained */
    EXPLAIN_TERMS,   /* the rows in e->seen, as explain_term_place counts them */
    EXPLAIN_RANGE,   /* `range`; `label` begins each line */
};

static inline enum explain_from explain_given_if(bool there)
{
    return there ? EXPLAIN_GIVEN : EXPLAIN_ABSENT;
}

enum { EXPLAIN_OPERANDS = 6 };

struct explain_lines {
    const char *heading; /* NULL: none */
    enum explain_over over;
    struct explain_range range;
    const char *what; /* in a range: what the lines left out are */
    size_t group;
    const char *terms;
    struct explain_operand operands[EXPLAIN_OPERANDS]; /* rows are loaded for the first three alone */
    size_t count;                                      /* entries of what is in braces */
    size_t column;                                     /* of EXPLAIN_AT */
    bool sums;                                         /* the lines add up, */
    int kind;                                          /* to a number of this kind */
    bool of_items, of_heads, of_keys; /* rows are of all items, of several heads; they are tokens, not queries */
    /* Completes one line, which it may change; NULL: it is complete. False: there is none. */
    bool (*prepare)(struct explanation *e, struct explain_lines *line);
    void *context; /* for it */
    /* Set for each line: */
    struct explain_place place, at; /* of the row that is explained, and the line's own */
    size_t index;
    char label[WORKED_LINE_CELL_BYTES], words[WORKED_LINE_CELL_BYTES]; /* at its beginning, and at its end */
};

/* The products of two rows, their sum c, and a bias, d; and where the sum is known by its terms alone. */
#define EXPLAIN_DOT "{a x b}c + d = {[a x b]c}c + d = c"
#define EXPLAIN_DOT_ALONE "{a x b}c = {[a x b]c}c = [{a x b}c]c"

/* Writes the lines of a row. Where they add up, it begins their sum; returns what they and those left out come to. */
double explain_write(struct explanation *e, enum stage stage, struct explain_place place,
                     const struct explain_lines *lines);

/* Of a stage that does nothing here, `heading` says why not: each number is that of the stage before it. */
void explain_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *heading);

/* Ends a sum: a last line of the group has the number. */
void explain_sum(struct explanation *e, size_t group, int kind, double number);

/* The same for each column of a stage, one after another, which `write` does, with "column 2" for its heading. */
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

/* The columns that are explained; `prepare` as in struct explain_lines, its context `by` at the beginning of what it
 * needs. NULL: explain_prepare_projected, which completes the line of a column. */
void explain_projected(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                       struct explain_projection *by,
                       bool (*prepare)(struct explanation *e, struct explain_lines *line));
bool explain_prepare_projected(struct explanation *e, struct explain_lines *line);

#endif
