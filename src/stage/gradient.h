/* How the gradients of one row are explained: what its lines are about, and why a key has no line. */
#ifndef ATTN_STAGE_GRADIENT_H
#define ATTN_STAGE_GRADIENT_H

#include "stage/stage.h"

/* Begins the lines of a row: lists in e->seen the keys that it sees. False where no line follows, which is then said:
 * it sees none, or the key of a cell is masked. */
bool gradient_begin(struct explanation *e, enum stage stage, struct explain_place place, const char *what);

/* The keys that have a line, into e->seen: a cell's own, or all that are there. */
void gradient_list_keys(struct explanation *e);

/* Ends them: a note of the keys that have none. */
void gradient_end(struct explanation *e);

/* All of these: begins, writes lines over EXPLAIN_SEEN, and ends. */
double gradient_write(struct explanation *e, enum stage stage, struct explain_place place, const char *heading,
                      const struct explain_lines *lines);

/* Two mistakes of the way back: where the last tile of so many begins; and how much too large a row's weights are that
 * were made again as exp(score - maximum), not exp(score - lse). The largest of them, a sink's share of the row among
 * them, is 1 then; weights (keys) are the right ones. */
size_t gradient_last_tile(size_t count, size_t tile);
double gradient_excess(const struct problem *problem, const double *weights);

/* Row `row` of a weight that is used as y = x . W, into numbers (columns). */
void gradient_load_row(const struct projection *projection, size_t row, size_t columns, double *numbers);

#endif
