/* SPDX-License-Identifier: MIT */
/* result -> text for people: the settings in a line, then each table under a heading with name, formula and shape.
 *
 * Fixed decimals, aligned on the point; %e where a table's largest shown magnitude is outside 1e-4 .. 1e6. More than
 * RESULT_ELIDED rows or columns: the first and last half of it, with "..." between; only what is shown is computed. */
#ifndef ATTN_WRITE_TEXT_TEXT_H
#define ATTN_WRITE_TEXT_TEXT_H

#include "write/writing.h"

/* Inputs and parameters are shown where --stages names them and for attn init. STATUS_SYSTEM where memory is short. */
enum status write_plain_text(const struct writing *writing);

/* The tables of one stage, of the inputs or of the parameters. STATUS_SYSTEM where memory is short. */
enum status write_text_tables(const struct writing *writing, enum stage stage);

#endif
