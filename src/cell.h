/* The number in a cell of a picture: as short as it can be read, the same decimals in all cells of a table. */
#ifndef ATTN_CELL_H
#define ATTN_CELL_H

#include "pool.h"

enum { CELL_BYTES = 48, CELL_DECIMALS = 2 };

struct cell_style {
    int decimals;
    bool exponent; /* "1.2e-07", where fixed decimals would be too long */
};

/* For all numbers of the pool. `decimals` below 0: two, more where all numbers are small, none where some are large. */
struct cell_style cell_style(const struct pool *pool, int decimals);

/* The number into text (CELL_BYTES), without a sign where it shows as 0; returns text. */
const char *cell_text(struct cell_style style, double number, char *text);

/* The longest text that a number of the pool has, "" where all are masked, into text (CELL_BYTES); returns text. */
const char *cell_longest(const struct pool *pool, struct cell_style style, char *text);

#endif
