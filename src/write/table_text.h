/* SPDX-License-Identifier: MIT */
/* Cells of tables for people: labels, and numbers with a given number of decimals. Text, documents and CSV share it. */
#pragma once

#include "base/output.h"
#include "compute/result.h"

enum {
    TABLE_TEXT_LABEL_COLUMNS = 20, /* a longer token is cut */
    TABLE_TEXT_LABEL_BYTES = 4 * TABLE_TEXT_LABEL_COLUMNS + 128,
    TABLE_TEXT_NUMBER_BYTES = 352, /* of the largest double in fixed decimals */
};

/* The label of a row or column: "item 1", "head 2", a token, or else its position; into text
 * (TABLE_TEXT_LABEL_BYTES). Returns its width in columns. */
size_t table_text_label(const struct result *result, enum axis axis, size_t item, size_t index, char *text);

/* How many decimals, and whether with an exponent. */
struct table_text_style {
    int precision;
    bool exponent;
};

/* A number of that dtype into text (TABLE_TEXT_NUMBER_BYTES): truth values as words, integers without decimals;
 * "nan", "inf" and "-inf" where a format has no sign for them; no sign on what shows as zero. Returns text. */
const char *table_text_number(enum dtype dtype, struct table_text_style style, double number, char *text);

/* Which matrix of a table it is: "item 1, head 2 (subject)", or "" for a table with one matrix; into text
 * (TABLE_TEXT_LABEL_BYTES). Without names of heads "item 1, head 2". Returns text. */
const char *table_text_place(const struct token_labels *names, const struct result_table *table, size_t matrix,
                             char *text);

/* Writes text that takes `taken` columns, padded to `width`; `right`: aligned right. */
void table_text_cell(struct output *output, const char *text, size_t taken, size_t width, bool right);

void table_text_blanks(struct output *output, size_t count);
