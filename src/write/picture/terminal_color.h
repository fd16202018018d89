/* SPDX-License-Identifier: MIT */
/* The colours of a map on a terminal: escape sequences for as many colours as it has, else characters as shades. */
#pragma once

#include "write/picture/colormap.h"

enum terminal_color_depth {
    TERMINAL_COLOR_SHADES, /* no colour */
    TERMINAL_COLOR_16,     /* those that the user's theme names: yellow and red, cyan and blue below 0 */
    TERMINAL_COLOR_256,
    TERMINAL_COLOR_TRUE, /* 24 bits */
};

enum { TERMINAL_COLOR_BYTES = 48 };

struct terminal_color {
    enum terminal_color_depth depth;
    char levels[COLORMAP_LEVELS][TERMINAL_COLOR_BYTES]; /* what sets ground and ink of a cell; "" for shades */
};

/* The sequences of one map. Ink contrasts with the ground of its cell, so that neither depends on the terminal's. */
void terminal_color_create(struct terminal_color *terminal, enum terminal_color_depth depth, enum ground ground,
                           bool diverging);

/* The character as dense as the step is high: blank, three shades, full; one column wide. */
const char *terminal_color_shade(size_t level);
