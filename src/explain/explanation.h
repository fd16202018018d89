/* SPDX-License-Identifier: MIT */
/* What the arithmetic of every stage is written with: how rows are read, which of them are explained, and how lines and
 * notes about them are begun. It knows the problem; the rows come from whoever has them. Dimensions as in
 * problem.h. */
#ifndef ATTN_EXPLAIN_EXPLANATION_H
#define ATTN_EXPLAIN_EXPLANATION_H

#include "base/text.h"
#include "explain/worked_line.h"
#include "problem/problem.h"

enum {
    EXPLAIN_MOST = TEXT_ELIDED,
    EXPLAIN_ENDS = 3, /* of more than EXPLAIN_MOST rows, columns or terms, the first and the last so many are shown */
    EXPLAIN_WEIGHTS = STAGE_NAMES, /* numbers beside those of stages: a parameter's, of which there are four kinds */
    EXPLAIN_KINDS = EXPLAIN_WEIGHTS + PROJECTION_COUNT + 1,
    EXPLAIN_NUMBER_BYTES = 64,
    EXPLAIN_LABEL_COLUMNS = 20,
    EXPLAIN_KNOWN = 8,
    EXPLAIN_LOADED = 4, /* rows that are kept, so that a line need not load them again */
};

/* One row that is explained: query `row` of those that were asked for, or token `row`. */
struct explain_place {
    size_t item, head, row;
};

/* Where rows come from. */
struct explain_source {
    void *context;
    /* A row of a stage into numbers (its columns; of lse, which has none, all queries of the head). The place's head is
     * one of query, whatever the stage. */
    void (*load)(void *context, enum stage stage, struct explain_place place, bool back, double *numbers);
    /* What dropout keeps, (Tk), of the row of dropped that was loaded last. */
    const bool *(*kept)(void *context, size_t row, bool back);
    /* `back`: of the backward pass, in which every number is a double, whatever the dtype; what is kept is that of the
     * row of grad_weights. */
};

/* One that was loaded. */
struct explain_loaded {
    enum stage stage;
    struct explain_place place;
    bool back, there;
    double *numbers; /* (widest) */
};

/* A stage that was found by a name of the terms. */
struct explain_known {
    const char *name;
    enum stage stage;
};

struct explanation {
    const struct problem *problem;
    struct explain_source source;
    struct worked_line lines;
    int precision;
    bool full;                       /* nothing is left out */
    bool back;                       /* the present stage is a gradient */
    bool whole[EXPLAIN_KINDS];       /* these numbers have no decimals */
    bool exponent[EXPLAIN_KINDS];    /* these numbers are shown with exponents: by stage, or by parameter */
    enum stage before;               /* what the present stage is made from: stage_before */
    double *operand, *factor, *made; /* (widest) room for rows, of what goes in and of what comes out */
    struct explain_loaded loaded[EXPLAIN_LOADED];
    struct explain_known known[EXPLAIN_KNOWN];
    size_t loads, finds;
    size_t *listed, listed_count;      /* (Tk) the keys that the present query may see; or the terms of a sum */
    size_t *rows, row_count;           /* (Tk or S) the rows of the present stage, item and head that are explained */
    bool *has_part, *normed;           /* (Tk) room for making that list */
    char number[EXPLAIN_NUMBER_BYTES]; /* the last one that was made text */
};

/* What the loops go over: all, or the one index that a cell leaves. */
struct explain_range {
    size_t first, end;
    bool ends; /* the first and the last alone */
};

/* Has the room that rows of `widest` numbers need, and finds which parameters are shown with exponents; those of stages
 * are the caller's to say, in `exponent`. STATUS_SYSTEM where memory is short. */
enum status explain_create(struct explanation *explanation, const struct problem *problem, struct explain_source source,
                           size_t widest, int precision, bool full, struct output *output, struct arena *arena,
                           struct error *error);

/* The range's next index after `i`; a jump over those in the middle where they are too many. */
size_t explain_next(const struct explanation *explanation, struct explain_range range, size_t i);

/* The items and heads of a stage that are explained: where a cell is asked for, those that it is made from. */
struct explain_range explain_items(const struct explanation *explanation, enum stage stage);
struct explain_range explain_heads(const struct explanation *explanation, enum stage stage);

/* Lists the rows of a stage that are explained, of the place's item and head, in e->rows. Where a cell is asked for
 * that the mask has worked on, the key and value of a token that its row does not see are not among them. */
void explain_list_rows(struct explanation *e, enum stage stage, struct explain_place place);

/* Groups of lines that are aligned with each other; a softmax has two. */
enum { EXPLAIN_LINES, EXPLAIN_QUOTIENTS, EXPLAIN_GROUPS };
_Static_assert((int)EXPLAIN_GROUPS <= (int)WORKED_LINE_GROUPS, "the worked lines have so many groups");

/* Whether the rows of a stage that are explained are tokens by their place among all of them: those of keys, and of
 * normed, where keys are made of it as well as queries. Else they are the queries that were asked for. */
bool explain_by_token(const struct problem *problem, enum stage stage);

/* A row of a stage that another is made of into numbers (its columns); the place's head is one of query. */
void explain_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers);

/* The same, or `made`, the row as it is in its table, which comes out; until the next but EXPLAIN_LOADED is asked
 * for. */
const double *explain_row(struct explanation *e, enum stage stage, struct explain_place place, bool made);

/* Why the place's query does not see a key. */
enum mask_rule explain_rule(const struct explanation *e, struct explain_place place, size_t key);

/* Whether the place's query has a share in the gradient with respect to that key or value: where it sees it, and of a
 * value also where it sees none and --empty-row gives all of them a weight. */
bool explain_adds(const struct explanation *e, enum stage stage, struct explain_place place, size_t key);

/* The keys that the place's query sees, into listed. */
void explain_list_allowed(struct explanation *e, struct explain_place place);

/* The keys that take part in its context, into listed, too: where it sees none, --empty-row may give all of them a
 * weight. */
void explain_list_weighed(struct explanation *e, struct explain_place place);

/* So many keys, or terms, from the first on, into listed, too; and that key alone. */
void explain_list_first(struct explanation *e, size_t count);
void explain_list_one(struct explanation *e, size_t key);

/* Whether lines about a row of a T x T stage are about one key alone: a cell's. */
bool explain_one_key(const struct explanation *e);

/* The keys of a T x T stage and the columns of another that are explained: a cell's own, or all. */
struct explain_range explain_keys(const struct explanation *e);
struct explain_range explain_columns(const struct explanation *e, enum stage stage);

/* The number as it is shown among its kind, a stage or EXPLAIN_WEIGHTS and on; until the next one is made. */
const char *explain_number(struct explanation *e, int kind, double value);

/* Begins a line about the place's row, with its token or its position: a key or a query, and whether it is one of
 * several items, or of several heads. */
struct explain_row {
    bool of_keys, item, head;
};
void explain_row_line(struct explanation *e, size_t group, struct explain_place place, struct explain_row row);

/* "  item 1, head 2, query journey", and what is done with it. */
void explain_heading(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* Behind the rows of a place that are explained: how many tokens are not, since the mask hides them. */
void explain_left_out(struct explanation *e, enum stage stage, struct explain_place place);

/* A line of words beneath the lines of a place. */
void explain_note(struct explanation *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A note of the keys that are not listed: "(2 keys are masked: weight 0)". */
void explain_note_masked(struct explanation *e, const char *what);

/* Column `column` of a weight that is used as y = x . W, into numbers (d_in); and its bias, 0 where there is none. */
void explain_load_weight(const struct projection *projection, size_t column, double *numbers);
double explain_load_bias(const struct projection *projection, size_t column);

#endif
