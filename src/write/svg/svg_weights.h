/* SPDX-License-Identifier: MIT */
/* The matrices of a flow: W_query, W_key and W_value before what they make, out_proj before the output. */
#ifndef ATTN_WRITE_SVG_SVG_WEIGHTS_H
#define ATTN_WRITE_SVG_SVG_WEIGHTS_H

#include "write/svg/svg_picture.h"

enum { SVG_WEIGHTS = 4 };

/* Adds their figures, for which there is room, in whatever order; none where stages were asked for without parameters,
 * where there are none, or where query, key and value come by way of a latent. Each is d_in x d_out, with its bias as a
 * last row; of more than 12 rows or 4 columns those at the ends are taken. STATUS_SYSTEM where memory is short,
 * STATUS_USAGE where those of a latent were asked for. */
enum status svg_weights_add(struct svg_picture *picture);

#endif
