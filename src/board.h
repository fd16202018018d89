/* A board to write arithmetic on: labelled lines such as "Your  0.43 x 0.14 + 0.15 x 0.18 ≈ 0.06 + 0.03 = 0.09".
 *
 * A line is one or more sides with "=" or "≈" between them; the board chooses which, on the digits that it shows: "="
 * stands where both sides are exactly the same number. Lines of one group stand beneath each other, aligned on their
 * points. For that a section is written twice: board_measure, the lines; board_print, the same lines again. Where a line
 * would be too long, all of its group are broken behind the first side, and where that is not enough before a relation or
 * an operator.
 *
 *     Your     0.4300 x 0.1366 + 0.1500 x 0.1841 + 0.8900 x 0.3153
 *            ≈ 0.0587 + 0.0276 + 0.2806 = 0.3669
 *
 * Numbers come as text, from snprintf; a sign is written as the operator, or with the factor in parentheses. */
#ifndef ATTN_BOARD_H
#define ATTN_BOARD_H

#include "exact.h"
#include "output.h"

enum {
    BOARD_COLUMNS = 79,
    BOARD_GROUPS = 3,
    BOARD_SIDES = 4, /* that are aligned; more are as the last of them */
    BOARD_KINDS = 3, /* of numbers: terms, arguments of a function, and what either is multiplied or divided by */
    BOARD_CELL_BYTES = 96,
    BOARD_LABEL_BYTES = 160,
};

/* A function whose argument is written between board_open and board_close. */
enum board_function { BOARD_NO_FUNCTION, BOARD_EXP, BOARD_LOG, BOARD_TANH };

/* What a side comes to: (sum + term) / divisor, or a function that has no exact value, of sum / divisor. */
struct board_side {
    struct exact sum, term, divisor;
    bool divides, unknown, finite;
    enum board_function function;
};

struct board_cell;

/* What the lines of a group have in common. */
struct board_group {
    size_t label;                           /* width of the widest label */
    size_t sign[BOARD_SIDES];               /* 1 where a line has a side that begins with a minus */
    size_t width[BOARD_SIDES][BOARD_KINDS]; /* of the widest number of each kind */
    size_t parenthesis[BOARD_SIDES];        /* 1 where a factor stands in parentheses, which are not in its width */
    size_t most[BOARD_SIDES][BOARD_KINDS];  /* numbers of that kind in the line that has most of them */
    size_t words;                           /* columns of all else in the line that has most of them */
    size_t sides;                           /* of the line that has most */
    bool broken;                            /* a line must be broken, whatever its length */
};

struct board {
    struct output *output;
    bool measuring;
    struct board_group groups[BOARD_GROUPS], *group;
    char label[BOARD_LABEL_BYTES]; /* of the present line */
    size_t label_width;
    struct board_cell *cells; /* (room) of the present line */
    size_t count, room;
    size_t side;                         /* which of its sides is being written */
    size_t relation;                     /* the cell before that side */
    bool starts;                         /* that side, or the argument of its function, has no term yet */
    struct board_side last, left, outer; /* the side being written, the one before it, and what is around a function */
    struct exact total;                  /* of the last sides of the lines since board_begin_sum */
    bool total_finite;
};

/* Room for lines of `terms` terms. STATUS_SYSTEM where memory is short. */
enum status board_create(struct board *board, struct output *output, size_t terms, struct arena *arena,
                         struct error *error);

/* A section is written once after each of these. */
void board_measure(struct board *board);
void board_print(struct board *board);

/* Begins a line of a group. The label takes `width` columns. */
void board_line(struct board *board, size_t group, const char *label, size_t width);

void board_term(struct board *board, const char *number);  /* + number, or - where it is negative */
void board_minus(struct board *board, const char *number); /* - number, as it is */
void board_times(struct board *board, const char *number);
void board_over(struct board *board, const char *number); /* once a side, behind its only term */

/* "exp(", as one more term, or as a factor where `times`; what follows is its argument, up to board_close. */
void board_open(struct board *board, enum board_function function, bool times);
void board_close(struct board *board);

/* "+ … 45 more terms: 1.2345 …": what is left out of a side. */
void board_more(struct board *board, size_t count, const char *subtotal);

/* Ends the side: "=" or "≈" and the next one follow. */
void board_relation(struct board *board);

/* Plain words after the numbers, or in place of them. */
void board_words(struct board *board, const char *words);

/* Ends the line. */
void board_end(struct board *board);

/* The last sides of the lines from here on are added up, */
void board_begin_sum(struct board *board);

/* with those that are left out, as a line of their own: "… 45 more terms: 1.2345 …". Where they do not add up, subtotal
 * is NULL; `what` they are. */
void board_left_out(struct board *board, size_t count, const char *what, const char *subtotal);

/* and come to `number`, which a last line of the group says. */
void board_end_sum(struct board *board, size_t group, const char *number);

#endif
