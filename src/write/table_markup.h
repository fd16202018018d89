/* SPDX-License-Identifier: MIT */
/* What tables in document formats share: special characters, and which matrix a table is. */
#pragma once

#include "base/output.h"

enum { TABLE_MARKUP_CHARACTERS = 128 };

struct table_layout;

/* What a document format writes for special characters. */
struct table_markup_escapes {
    const char *characters[TABLE_MARKUP_CHARACTERS]; /* for an ASCII character; NULL: itself */
    const char *blank;                               /* for TEXT_BLANK; NULL: itself */
};

/* Those of write/markdown.c and of write/latex.c. */
extern const struct table_markup_escapes MARKDOWN_ESCAPES, LATEX_ESCAPES;

/* Copies a text with its special characters escaped into cell (size bytes, cut to fit). */
void table_markup_escape(const struct table_markup_escapes *escapes, const char *text, char *cell, size_t size);

/* Writes a text with its special characters escaped. */
void table_markup_write_escaped(const struct table_layout *layout, const char *text);

/* Writes " (item 1, head 2, 6 x 6)": which matrix of the table this is, and its shape with `times` between the
 * sizes. */
void table_markup_write_place(const struct table_layout *layout, const char *times);

/* A finite number, a truth value or NaN, as all document formats have it, into text (TABLE_LAYOUT_CELL_BYTES).
 * Returns its width in columns. */
size_t table_markup_number(const struct table_layout *layout, double number, char *text);
