/* What explain.c and its explain_*.c share, and nothing that others see: how rows are read, and how lines and notes about
 * them are begun. Each of the last functions writes one row of a stage; the board takes it twice. */
#ifndef ATTN_EXPLAINING_H
#define ATTN_EXPLAINING_H

#include "explain.h"

/* Groups of lines that are aligned with each other; a softmax has two. */
enum { EXPLAINING_LINES, EXPLAINING_QUOTIENTS };

/* The table of a stage that the result has. */
const struct result_table *explaining_table(const struct result *result, enum stage stage);

/* A row of a stage into numbers (its columns); the place's head is one of query. */
void explaining_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers);

/* The stage that the mask works on, and that of the softmax. */
enum stage explaining_before_mask(const struct problem *problem);
enum stage explaining_before_softmax(const struct problem *problem);

/* Why the place's query does not see a key. */
enum mask_rule explaining_rule(const struct explanation *e, struct explain_place place, size_t key);

/* The keys of a T x T stage and the columns of another that are explained: a cell's own, or all. */
struct explain_range explaining_keys(const struct explanation *e);
struct explain_range explaining_columns(const struct explanation *e, enum stage stage);

/* The number as it is shown among its kind, a stage or EXPLAIN_WEIGHTS and on; until the next one is made. */
const char *explaining_number(struct explanation *e, int kind, double value);

/* Begins a line with that label, or one about a key, with its token or its position. */
void explaining_line(struct explanation *e, size_t group, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void explaining_key_line(struct explanation *e, size_t group, size_t item, size_t key);

/* "  item 1, head 2, query journey", and what is done with it. */
void explaining_place(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* A line of words beneath the lines of a place. */
void explaining_note(struct explanation *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Behind the i-th line of a range whose middle is left out: how many are, and where they add up, to what; else NULL. */
void explaining_gap(struct explanation *e, struct explain_range range, size_t i, const char *what,
                    const char *subtotal);

/* The stages: explain_products.c, explain_scores.c, explain_softmax.c. */
void explaining_projection(struct explanation *e, enum stage stage, struct explain_place place);
void explaining_scores(struct explanation *e, enum stage stage, struct explain_place place);
void explaining_output(struct explanation *e, struct explain_place place);
void explaining_scaled(struct explanation *e, struct explain_place place);
void explaining_capped(struct explanation *e, struct explain_place place);
void explaining_masked(struct explanation *e, struct explain_place place);
void explaining_weights(struct explanation *e, struct explain_place place);
void explaining_lse(struct explanation *e, struct explain_place place);
void explaining_dropped(struct explanation *e, struct explain_place place);
void explaining_context(struct explanation *e, struct explain_place place);

#endif
