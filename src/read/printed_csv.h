/* SPDX-License-Identifier: MIT */
/* The CSV that attn writes (--format csv) -> its tables: each line is a row of one, behind its name and place. */
#ifndef ATTN_READ_PRINTED_CSV_H
#define ATTN_READ_PRINTED_CSV_H

#include "read/printed_table.h"

/* Its columns: stage; item, head and token where they are there; row; 1, 2, ... for tables such as query; the keys. */
struct printed_csv {
    bool has_items, has_heads, has_tokens;
    bool tokens_first; /* query, key and value are packed, or beside pages: before their heads they have tokens */
    size_t features, keys;
};

/* Whether the text begins with its head line. */
bool printed_csv_begins(const char *text);

/* Reads the head line. */
bool printed_csv_head(struct printed_reader *reader, struct printed_csv *csv);

/* Reads the lines of one table, *name, with its items and heads where it has them; an empty field is minus infinity.
 * Each row of inputs, and of key_inputs, has its token. Rows stand in their order, those of --query alone; which they
 * are is in table->row_numbers. The reader stands behind them, at the next table or the end. */
bool printed_csv_table(struct printed_reader *reader, const struct printed_csv *csv, struct printed_piece *name,
                       struct printed_table *table);

#endif
