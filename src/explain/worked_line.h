/* SPDX-License-Identifier: MIT */
/* Worked lines: arithmetic written out, with a label, such as "Your  0.43 x 0.14 + 0.15 x 0.18 ≈ 0.06 + 0.03 = 0.09".
 *
 * A line is one or more sides with "=" or "≈" between them. This code chooses: "=" if both sides, as printed, are
 * exactly the same number. Lines of a group are aligned on their decimal points. So callers write a section twice:
 * after worked_line_measure, which takes the widths of its lines, and after worked_line_print. If a line is too long,
 * all lines of its group break after the first side, and if that is not enough, before a relation or an operator.
 *
 *     Your     0.4300 x 0.1366 + 0.1500 x 0.1841 + 0.8900 x 0.3153
 *            ≈ 0.0587 + 0.0276 + 0.2806 = 0.3669
 *
 * Numbers come as text, from snprintf; their sign becomes the operator, or goes with the factor into parentheses. */
#pragma once

#include "base/decimal_exact.h"
#include "base/output.h"

enum {
    WORKED_LINE_COLUMNS = 79,
    WORKED_LINE_GROUPS = 3,
    WORKED_LINE_SIDES = 4, /* aligned sides; further ones are laid out as the last */
    WORKED_LINE_KINDS = 3, /* of numbers: terms, arguments of a function, and factors or divisors of either */
    WORKED_LINE_CELL_BYTES = 96,
    WORKED_LINE_LABEL_BYTES = 160,
};

/* A function whose argument comes between worked_line_open and worked_line_close. */
enum worked_line_function {
    WORKED_LINE_NO_FUNCTION,
    WORKED_LINE_SUM, /* parentheses alone */
    WORKED_LINE_EXP,
    WORKED_LINE_LOG,
    WORKED_LINE_TANH,
    WORKED_LINE_FUNCTION_COUNT
};

extern const char *const WORKED_LINE_FUNCTIONS[WORKED_LINE_FUNCTION_COUNT]; /* "exp(" */

/* The value of a side: (sum + term) / divisor, or a function without exact value of sum / divisor. */
struct worked_line_side {
    struct decimal_exact sum, term, divisor;
    bool divides, unknown, finite;
    enum worked_line_function function;
};

struct worked_line_cell;

/* What the lines of a group have in common. */
struct worked_line_group {
    size_t label;                                       /* width of the widest label */
    size_t sign[WORKED_LINE_SIDES];                     /* 1 if a line has a side that begins with a minus, */
    size_t signs[WORKED_LINE_SIDES];                    /* there, or this many times inside parentheses */
    size_t width[WORKED_LINE_SIDES][WORKED_LINE_KINDS]; /* of the widest number of each kind */
    size_t parenthesis[WORKED_LINE_SIDES];              /* 1 if a factor has parentheses, not counted in its width */
    size_t most[WORKED_LINE_SIDES][WORKED_LINE_KINDS];  /* numbers of that kind in the line that has most of them */
    size_t words;                                       /* columns of all else in the line that has most of them */
    size_t sides;                                       /* of the line that has most */
    bool broken;                                        /* a line must be broken, whatever its length */
};

struct worked_line {
    struct output *output;
    bool measuring;
    struct worked_line_group groups[WORKED_LINE_GROUPS], *group;
    char label[WORKED_LINE_LABEL_BYTES]; /* of the current line */
    size_t label_width;
    struct worked_line_cell *cells; /* (room) of the current line */
    size_t count, room;
    size_t side;                               /* the current side */
    size_t relation;                           /* the cell before that side */
    bool starts;                               /* the side, or its function's argument, has no term yet */
    struct worked_line_side last, left, outer; /* the current side, the one before, and what is around a function */
    bool times;                                /* the function multiplies what is around it */
    struct decimal_exact total;                /* of the last sides of the lines since worked_line_begin_sum */
    bool total_finite;
};

/* Allocates room for lines of `terms` terms. STATUS_SYSTEM: out of memory. */
enum status worked_line_create(struct worked_line *lines, struct output *output, size_t terms, struct arena *arena,
                               struct error *error);

/* Call each of these, then write the section. */
void worked_line_measure(struct worked_line *lines);
void worked_line_print(struct worked_line *lines);

/* Begins a line of a group. The label takes `width` columns. */
void worked_line_line(struct worked_line *lines, size_t group, const char *label, size_t width);

/* Writes the next number. '+' adds a term, with its sign; '-' subtracts the number; 'x' is a factor; '/', once per side
 * and after its only term, a divisor. */
void worked_line_number(struct worked_line *lines, char joint, const char *number);

/* Writes "exp(" or "(", as a new term, or with `times` as a factor; the argument follows, up to worked_line_close. */
void worked_line_open(struct worked_line *lines, enum worked_line_function function, bool times);
void worked_line_close(struct worked_line *lines);

/* Writes "+ … 45 more terms: 1.2345 …" for the omitted terms of a side. */
void worked_line_more(struct worked_line *lines, size_t count, const char *subtotal);

/* Ends the side: "=" or "≈" and the next one follow. */
void worked_line_relation(struct worked_line *lines);

/* Writes plain words after the numbers, or in place of them. */
void worked_line_words(struct worked_line *lines, const char *words);

void worked_line_end(struct worked_line *lines);

/* Begins to add up the last sides of lines. */
void worked_line_begin_sum(struct worked_line *lines);

/* Writes a line for omitted ones, "… 45 more terms: 1.2345 …", and adds their subtotal. NULL: they are no terms of a
 * sum, and `what` names them. */
void worked_line_left_out(struct worked_line *lines, size_t count, const char *what, const char *subtotal);

/* Ends the sum: writes a last line of the group with `number`. */
void worked_line_end_sum(struct worked_line *lines, size_t group, const char *number);
