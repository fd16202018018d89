/* What the arithmetic of every stage is written with: how rows are read from the result, which of them are explained, and
 * how lines and notes about them are begun on a board. Dimensions as in result.h. */
#ifndef ATTN_WRITE_EXPLAIN_EXPLAIN_H
#define ATTN_WRITE_EXPLAIN_EXPLAIN_H

#include "compute/result.h"
#include "write/explain/worked_line.h"

enum {
    EXPLAIN_ENDS = 3, /* of more than RESULT_ELIDED rows, columns or terms, the first and the last so many are shown */
    EXPLAIN_WEIGHTS = STAGE_NAMES, /* numbers beside those of stages: a parameter's, of which there are four kinds */
    EXPLAIN_KINDS = EXPLAIN_WEIGHTS + PROJECTION_COUNT + 1,
    EXPLAIN_NUMBER_BYTES = 64,
    EXPLAIN_LABEL_COLUMNS = 20,
};

struct explanation {
    struct result *result;
    struct worked_line lines;
    int precision;
    bool full;                         /* nothing is left out */
    bool exponent[EXPLAIN_KINDS];      /* these numbers are shown with exponents: by stage, or by parameter */
    double *operand, *factor, *made;   /* (widest) a row of what goes in, another, and of what comes out */
    size_t *seen, seen_count;          /* (Tk) the keys that the present query may see */
    size_t *rows, row_count;           /* (Tk or S) the rows of the present stage, item and head that are explained */
    bool *has_part;                    /* (Tk) room for making that list */
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

/* The items and heads of a stage that are explained: where a cell is asked for, those that it is made from. */
struct explain_range explain_items(const struct explanation *explanation);
struct explain_range explain_heads(const struct explanation *explanation, enum stage stage);

/* Lists the rows of a stage that are explained, of the place's item and head, in e->rows. Where a cell is asked for that
 * the mask has worked on, the key and value of a token that its row does not see are not among them. */
void explain_list_rows(struct explanation *e, enum stage stage, struct explain_place place);

/* Lists the keys that the place's query sees in e->seen; or those that it weighs: where it sees none, --empty-row may
 * give all of them a weight. */
void explain_list_seen(struct explanation *e, struct explain_place place);
void explain_list_weighed(struct explanation *e, struct explain_place place);

/* Groups of lines that are aligned with each other; a softmax has two. */
enum { EXPLAIN_LINES, EXPLAIN_QUOTIENTS };

/* The table of a stage that the result has. */
const struct result_table *explain_table(const struct result *result, enum stage stage);

/* A row of a stage into numbers (its columns); the place's head is one of query. */
void explain_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers);

/* The stage that the mask works on, and that of the softmax. */
enum stage explain_before_mask(const struct problem *problem);
enum stage explain_before_softmax(const struct problem *problem);

/* Why the place's query does not see a key. */
enum mask_rule explain_rule(const struct explanation *e, struct explain_place place, size_t key);

/* The keys of a T x T stage and the columns of another that are explained: a cell's own, or all. */
struct explain_range explain_keys(const struct explanation *e);
struct explain_range explain_columns(const struct explanation *e, enum stage stage);

/* The number as it is shown among its kind, a stage or EXPLAIN_WEIGHTS and on; until the next one is made. */
const char *explain_number(struct explanation *e, int kind, double value);

/* Begins a line with that label, or one about a key, with its token or its position. */
void explain_line(struct explanation *e, size_t group, const char *format, ...) __attribute__((format(printf, 3, 4)));
void explain_key_line(struct explanation *e, size_t group, size_t item, size_t key);

/* "  item 1, head 2, query journey", and what is done with it. */
void explain_heading(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* Behind the rows of a place that are explained: how many tokens are not, since the mask hides them. */
void explain_left_out(struct explanation *e, enum stage stage, struct explain_place place);

/* A line of words beneath the lines of a place. */
void explain_note(struct explanation *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Behind the i-th line of a range whose middle is left out: how many are, and where they add up, to what; else NULL. */
void explain_gap(struct explanation *e, struct explain_range range, size_t i, const char *what, const char *subtotal);

#endif
