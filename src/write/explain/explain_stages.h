/* The arithmetic of each stage, written on a board: what stands behind one row of one stage, in the numbers of the stages
 * before it. Each function writes one row, and is called twice, for the board's two passes.
 *
 * Everything is read from the result, as it is stored; only the exponentials of a softmax, which no stage holds, are
 * made here. */
#ifndef ATTN_WRITE_EXPLAIN_EXPLAIN_STAGES_H
#define ATTN_WRITE_EXPLAIN_EXPLAIN_STAGES_H

#include "write/explain/explain.h"

/* query, key and value; scores; output: explain_products.c */
void explain_projection(struct explanation *e, enum stage stage, struct explain_place place);
void explain_scores(struct explanation *e, enum stage stage, struct explain_place place);
void explain_output(struct explanation *e, struct explain_place place);

/* explain_scores.c */
void explain_scaled(struct explanation *e, struct explain_place place);
void explain_capped(struct explanation *e, struct explain_place place);
void explain_masked(struct explanation *e, struct explain_place place);

/* explain_softmax.c */
void explain_weights(struct explanation *e, struct explain_place place);
void explain_lse(struct explanation *e, struct explain_place place);
void explain_dropped(struct explanation *e, struct explain_place place);
void explain_context(struct explanation *e, struct explain_place place);

#endif
