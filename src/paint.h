/* The colours of a map on a terminal: escape sequences for as many colours as it has, else shades of characters. */
#ifndef ATTN_PAINT_H
#define ATTN_PAINT_H

#include "colormap.h"

/* What a terminal can show. */
enum paint_depth {
    PAINT_SHADES, /* no colour */
    PAINT_16,     /* those that the user's theme names: black, blue, cyan, white, and red and yellow below 0 */
    PAINT_256,
    PAINT_TRUE, /* 24 bits */
};

enum { PAINT_BYTES = 48 };

struct paint {
    enum paint_depth depth;
    char levels[COLORMAP_LEVELS][PAINT_BYTES]; /* what sets ground and ink of a cell; "" for shades */
};

/* The sequences of one map. Ink contrasts with the ground of its cell, so that neither depends on the terminal's. */
void paint_create(struct paint *paint, enum paint_depth depth, enum ground ground, bool diverging);

/* The character that is as dense as the step is high: blank, three shades, full; one column. */
const char *paint_shade(size_t level);

#endif
