/* SPDX-License-Identifier: MIT */
/* result -> text for people: the settings in a line, then each table under a heading with name, formula and shape.
 *
 * Fixed decimals, aligned on the point; %e where a table's largest shown magnitude is outside 1e-4 .. 1e6. More than
 * RESULT_ELIDED rows or columns: the first and last half of it, with "..." between; only what is shown is computed. */
#pragma once

#include "base/wrap.h"
#include "write/writing.h"

/* Inputs and parameters are shown where --stages names them, and for attn init. STATUS_SYSTEM where memory is short. */
enum status write_plain_text(const struct writing *writing);

/* Writes "weights = softmax(scaled)" as a heading, and returns the line to go on with. */
struct wrap write_text_heading(const struct writing *writing, const char *name, const char *formula, size_t columns);

/* The tables of one stage, of the inputs or of the parameters. STATUS_SYSTEM where memory is short. */
enum status write_text_tables(const struct writing *writing, enum stage stage);

/* A T x T table -> coloured cells for a terminal, with the number in each, tokens on both axes and a scale beneath.
 *
 * Heads stand side by side as the width allows. Where it does not allow much, cells lose margin, then decimals, then
 * the number; where they still do not fit, blocks of numbers become one cell each (downsample.h), and a note says
 * so.
 *
 * Everything beneath the heading. Colours are those that the terminal has, on its ground, as the environment says.
 * STATUS_SYSTEM where memory is short. */
enum status write_heatmap(const struct writing *writing, const struct result_table *table);
