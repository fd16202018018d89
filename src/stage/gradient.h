/* How the gradients of one row are explained: what its lines are about, and why a key has no line. */
#ifndef ATTN_STAGE_GRADIENT_H
#define ATTN_STAGE_GRADIENT_H

#include "stage/stage.h"

/* Begins the lines of a row: lists in e->seen the keys that it sees. False where no line follows, which is then said:
 * it sees none, or the key of a cell is masked. */
bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* The keys that have a line, of e->seen: a cell's own, or all. */
struct explain_range gradient_keys(struct explanation *e);

/* Ends them: a note of the keys that have none. */
void gradient_end(struct explanation *e);

/* A stage that does nothing here: each number is that of the one before it; `why`. */
void gradient_kept(struct explanation *e, enum stage stage, struct explain_place place, const char *why);

/* One term of a sum over queries or keys: its line is begun; left x right, which are numbers of these kinds, adds to a
 * number of `kind`. */
struct gradient_term {
    int left_kind, right_kind, kind;
};
void gradient_write_term(struct explanation *e, const struct gradient_term *term, double left, double right);

/* A sum whose terms are left x right of rows, one a term: those in e->seen, counted over heads from the first place's
 * on, or over items, or over all heads of all items, and the rows of each. */
struct gradient_sum {
    enum stage stage;
    bool over_items, heads, of_keys; /* over items, heads or both; rows are tokens, not queries */
    struct gradient_term kinds;
    struct explain_place first; /* of term 0 */
    double result;
};
struct explain_place gradient_place(const struct explanation *e, const struct gradient_sum *sum, size_t term);

/* Its lines; left is by term in e->operand, `right` gives the other factor, by term and for that column. NULL: there is
 * none. */
typedef double gradient_right(struct explanation *e, const struct gradient_sum *sum, size_t term, size_t column);
void gradient_write_sum(struct explanation *e, const struct gradient_sum *sum, gradient_right *right, size_t column);

/* In grad_scores.c: moves each number of a row of grad_masked by a share, problem->noise, of the terms that it is made
 * of: where grad_weights is delta nothing is left but what rounding leaves, however the numbers that are given are
 * moved. */
void gradient_add_noise(const struct attention_row *row);

/* Row `row` of a weight that is used as y = x . W, into numbers (columns). */
void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers);

#endif
