/* The arithmetic of each stage, written on a board: what stands behind one row of one stage, in the numbers of the stages
 * before it.
 *
 * Everything is read from the result, as it is stored; only the exponentials of a softmax, which no stage holds, are
 * made here. Dimensions as in result.h. */
#ifndef ATTN_EXPLAIN_H
#define ATTN_EXPLAIN_H

#include "board.h"
#include "result.h"

enum {
    EXPLAIN_ENDS = 3, /* of more than RESULT_ELIDED rows, columns or terms, the first and the last so many are shown */
    EXPLAIN_WEIGHTS = STAGE_NAMES, /* numbers beside those of stages: a parameter's, of which there are four kinds */
    EXPLAIN_KINDS = EXPLAIN_WEIGHTS + PROJECTION_COUNT + 1,
    EXPLAIN_NUMBER_BYTES = 64,
    EXPLAIN_LABEL_COLUMNS = 20,
};

struct explanation {
    struct result *result;
    struct board board;
    int precision;
    bool full;                         /* nothing is left out */
    bool exponent[EXPLAIN_KINDS];      /* these numbers are shown with exponents: by stage, or by parameter */
    double *operand, *factor, *made;   /* (widest) a row of what goes in, another, and of what comes out */
    size_t *seen, seen_count;          /* (Tk) the keys that the present query may see */
    char number[EXPLAIN_NUMBER_BYTES]; /* the last one that was made text */
};

/* One row that is explained: query `row` of those that were asked for, or token `row`. */
struct explain_place {
    size_t item, head, row;
};

/* What the loops go over: all, or the one index that a cell leaves. */
struct explain_range {
    size_t first, end;
};

/* Has the room that rows need, and finds which numbers are shown with exponents. STATUS_SYSTEM where memory is short. */
enum status explain_create(struct explanation *explanation, struct result *result, int precision, bool full,
                           struct output *output, struct arena *arena, struct error *error);

/* The range's next index after `i`; a jump over those in the middle where they are too many. */
size_t explain_next(const struct explanation *explanation, struct explain_range range, size_t i);

/* The items, heads and rows of a stage that are explained: where a cell is asked for, those that it is made from. */
struct explain_range explain_items(const struct explanation *explanation);
struct explain_range explain_heads(const struct explanation *explanation, enum stage stage);
struct explain_range explain_rows(const struct explanation *explanation, enum stage stage);

/* One row of a stage that is computed. Written twice, for the board's two passes. */
void explain_row(struct explanation *explanation, enum stage stage, struct explain_place place);

#endif
