/* SPDX-License-Identifier: MIT */
/* The arrows of a flow: from above to below, or to the right in a line. */
#ifndef ATTN_WRITE_SVG_SVG_ARROWS_H
#define ATTN_WRITE_SVG_SVG_ARROWS_H

#include "write/svg/svg_picture.h"

/* How far beyond the lines an arrow runs that passes some, in pixels; the margins and what is beneath a flow have room
 * for it. */
static const double SVG_LANE = 9;

/* Those that lead to that figure, whose place is known. */
void svg_arrows_draw(const struct svg_picture *picture, const struct svg_figure *to);

#endif
