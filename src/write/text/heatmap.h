/* SPDX-License-Identifier: MIT */
/* A T x T table -> coloured cells for a terminal, with the number in each, tokens on both axes and a scale beneath.
 *
 * Heads stand side by side as the width allows. Where it does not allow much, cells lose margin, then decimals, then
 * the number; where they still do not fit, blocks of numbers become one cell each (downsample.h), and a note says
 * so. */
#ifndef ATTN_WRITE_TEXT_HEATMAP_H
#define ATTN_WRITE_TEXT_HEATMAP_H

#include "write/writing.h"

/* Everything beneath the heading. Colours are those that the terminal has, on its ground, as the environment says.
 * STATUS_SYSTEM where memory is short. */
enum status write_heatmap(const struct writing *writing, const struct result_table *table);

#endif
