/* SPDX-License-Identifier: MIT */
/* Tools for the arithmetic of every stage: reading rows, choosing those to explain, and beginning lines and notes about
 * them. Rows come from a struct explain_source. Dimensions as in problem.h. */
#pragma once

#include "base/text.h"
#include "explain/worked_line.h"
#include "problem/problem.h"

enum {
    EXPLAIN_MOST = TEXT_ELIDED,
    EXPLAIN_ENDS = 3,              /* of more than EXPLAIN_MOST rows, columns or terms, shows this many at each end */
    EXPLAIN_WEIGHTS = STAGE_NAMES, /* kinds after the stages': four of parameters */
    EXPLAIN_KINDS = EXPLAIN_WEIGHTS + PROJECTION_COUNT + 1,
    EXPLAIN_NUMBER_BYTES = 64,
    EXPLAIN_LABEL_COLUMNS = 20,
    EXPLAIN_KNOWN = 8,
    EXPLAIN_LOADED = 4, /* cached rows, so that a line need not load them again */
};

/* One explained row: selected query `row`, or token `row`. */
struct explain_place {
    size_t item, head, row;
};

struct explain_source {
    void *context;
    /* Loads a row of a stage to numbers (its columns; of lse, which has none, all queries of the head). The place has a
     * query head, whatever the stage. */
    void (*load)(void *context, enum stage stage, struct explain_place place, bool back, double *numbers);
    /* What dropout keeps, (Tk), of the last loaded row of dropped. */
    const bool *(*kept)(void *context, size_t row, bool back);
    /* `back`: a row of the backward pass, where every number is a double, whatever the dtype; `kept` is that of
     * grad_weights. */
};

struct explain_loaded {
    enum stage stage;
    struct explain_place place;
    bool back, there;
    double *numbers; /* (widest) */
};

/* A stage found by its name in terms. */
struct explain_known {
    const char *name;
    enum stage stage;
};

struct explanation {
    const struct problem *problem;
    struct explain_source source;
    struct worked_line lines;
    int precision;
    bool full;                       /* leaves nothing out */
    bool back;                       /* the current stage is a gradient */
    bool whole[EXPLAIN_KINDS];       /* numbers of this kind have no decimals */
    bool exponent[EXPLAIN_KINDS];    /* numbers of this kind have exponents: by stage, or by parameter */
    enum stage before;               /* stage_before of the current stage */
    double *operand, *factor, *made; /* (widest) scratch for input and output rows */
    struct explain_loaded loaded[EXPLAIN_LOADED];
    struct explain_known known[EXPLAIN_KNOWN];
    size_t loads, finds;
    size_t *listed, listed_count;      /* (Tk) the current query's allowed keys; or the terms of a sum */
    size_t *rows, row_count;           /* (Tk or S) the explained rows of the current stage, item and head */
    bool *has_part, *normed;           /* (Tk) scratch for that list */
    char number[EXPLAIN_NUMBER_BYTES]; /* the last number as text */
};

/* The range of a loop: all, or the one index of a cell. */
struct explain_range {
    size_t first, end;
    bool ends; /* only the first and the last */
};

/* Allocates room for rows of `widest` numbers, and finds the parameters that need exponents; the caller sets `exponent`
 * for stages. STATUS_SYSTEM: out of memory. */
enum status explain_create(struct explanation *explanation, const struct problem *problem, struct explain_source source,
                           size_t widest, int precision, bool full, struct output *output, struct arena *arena,
                           struct error *error);

/* The range's next index after `i`; skips the middle of a long range. */
size_t explain_next(const struct explanation *explanation, struct explain_range range, size_t i);

/* The explained items and heads of a stage; with a cell, those that it is made from. */
struct explain_range explain_items(const struct explanation *explanation, enum stage stage);
struct explain_range explain_heads(const struct explanation *explanation, enum stage stage);

/* Lists the explained rows of a stage, of the place's item and head, in e->rows. For a cell after the mask it leaves
 * out key and value of masked tokens. */
void explain_list_rows(struct explanation *e, enum stage stage, struct explain_place place);

/* Groups of lines aligned with each other; a softmax has two. */
enum { EXPLAIN_LINES, EXPLAIN_QUOTIENTS, EXPLAIN_GROUPS };
_Static_assert((int)EXPLAIN_GROUPS <= (int)WORKED_LINE_GROUPS, "the worked lines have so many groups");

/* Whether a stage's explained rows are indices of tokens: stages of keys, and normed if keys come from it as well as
 * queries. Else they are indices of selected queries. */
bool explain_by_token(const struct problem *problem, enum stage stage);

/* Loads a row of a source stage to numbers (its columns); the place has a query head. */
void explain_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers);

/* The same from the cache, or with `made` the row of the stage's own table; valid for the next EXPLAIN_LOADED - 1
 * calls. */
const double *explain_row(struct explanation *e, enum stage stage, struct explain_place place, bool made);

/* The rule that masks a key from the place's query. */
enum mask_rule explain_rule(const struct explanation *e, struct explain_place place, size_t key);

/* Whether the place's query adds to the gradient with respect to that key or value: the key is allowed; for a value,
 * also if the row is empty and --empty-row gives every value a weight. */
bool explain_adds(const struct explanation *e, enum stage stage, struct explain_place place, size_t key);

/* Lists the keys allowed to the place's query in `listed`. */
void explain_list_allowed(struct explanation *e, struct explain_place place);

/* Lists the keys that take part in its context in `listed`: --empty-row may give all of them a weight in an empty
 * row. */
void explain_list_weighed(struct explanation *e, struct explain_place place);

/* Lists the first `count` keys, or terms, in `listed`; and one key alone. */
void explain_list_first(struct explanation *e, size_t count);
void explain_list_one(struct explanation *e, size_t key);

/* Whether lines about a row of a T x T stage are about one key alone, the cell's. */
bool explain_one_key(const struct explanation *e);

/* The explained keys of a T x T stage, and the explained columns of another: the cell's, or all. */
struct explain_range explain_keys(const struct explanation *e);
struct explain_range explain_columns(const struct explanation *e, enum stage stage);

/* The number as text for its kind, a stage or EXPLAIN_WEIGHTS and on; valid until the next call. */
const char *explain_number(struct explanation *e, int kind, double value);

/* Begins a line about the place's row, with its token or its position: a key or a query, and whether to name the item,
 * or the head. */
struct explain_row {
    bool of_keys, item, head;
};
void explain_row_line(struct explanation *e, size_t group, struct explain_place place, struct explain_row row);

/* Writes "  item 1, head 2, query journey", and `what`. */
void explain_heading(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* Notes after the explained rows of a place how many tokens it leaves out, since the mask forbids them. */
void explain_left_out(struct explanation *e, enum stage stage, struct explain_place place);

/* Writes a note below the lines of a place. */
void explain_note(struct explanation *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes the keys that are not listed: "(2 keys are masked: weight 0)". */
void explain_note_masked(struct explanation *e, const char *what);

/* Loads column `column` of a weight W in y = x . W to numbers (d_in); and its bias, 0 if none. */
void explain_load_weight(const struct projection *projection, size_t column, double *numbers);
double explain_load_bias(const struct projection *projection, size_t column);
