/* SPDX-License-Identifier: MIT */
/* Tables for people: one layout, in the marks of a dialect.
 *
 * A table is measured once, then written matrix by matrix: so many decimals, exponents where its numbers need them, the
 * first and last of long rows and columns, cells padded to the width of their column. What is shown of an elided matrix
 * is kept, so that its rows are not asked for again. A long row of words or of weights shows the largest numbers, each
 * with its word or key, in place of the first and last ones. */
#pragma once

#include "write/table_markup.h"
#include "write/table_text.h"
#include "write/writing.h"

enum {
    TABLE_LAYOUT_CELL_BYTES =
        24 * TABLE_TEXT_LABEL_BYTES, /* of a label whose every byte is escaped, and of any number */
};

enum { TABLE_LAYOUT_RANKS = 4 };

struct table_layout;

/* A step of writing a table; NULL where a dialect writes nothing. */
typedef void table_layout_step(const struct table_layout *layout);

struct table_dialect {
    /* Ruled: each row and column has a label, features their position, and a gap is a row of marks; all numbers of a
     * table take one width. Else features have no label, the mark of a gap between rows stands alone, and each column
     * of a matrix has a width of its own. */
    bool ruled;
    const struct table_markup_escapes *escapes; /* of labels; NULL: they stand as they are */
    const char *gaps[2][2]; /* the cell of what is left out: [in a gap of rows][in one of columns] */
    const char *row_begin, *between, *row_end;
    const char *masked[2];   /* before and behind a number that the mask forbids, in colour; NULL: nothing */
    size_t indent;           /* of the rows; twice as much beneath the heading of a matrix */
    table_layout_step *open; /* the heading of a table */
    table_layout_step *begin, *rule, *end; /* of a matrix: its heading; beneath the labels; behind its rows */
    /* A number into text (TABLE_LAYOUT_CELL_BYTES); returns the columns that it takes. */
    size_t (*number)(const struct table_layout *layout, double number, char *text);
};

/* The numbers that decide the notation and the width. */
struct table_extremes {
    double smallest, largest; /* of the finite ones and 0 */
    double least;             /* magnitude of those that are not 0: it has the longest exponent */
    bool nan, infinite;
};

struct table_layout {
    const struct writing *writing;
    const struct table_dialect *dialect;
    const struct result_table *table;
    size_t matrix, item;
    size_t row_count, column_count; /* of what is shown, a gap counted as one */
    bool exponent;
    size_t indent, label_width;
    bool sharp;                                          /* each row of shares ends in its sum and its entropy */
    size_t hidden, hidden_end;                           /* columns for which the terminal has no room: [hidden, end) */
    size_t *widths;                                      /* (column_count) */
    struct table_extremes *extremes;                     /* (column_count) of each column; ruled: (1) of the table */
    double kept[RESULT_ELIDED + 1][RESULT_ELIDED + 1];   /* what an elided matrix shows */
    bool ranked;                                         /* its columns are ranks, of words or keys: */
    size_t words[RESULT_ELIDED + 1][TABLE_LAYOUT_RANKS]; /* of each row that is kept */
    size_t word_widths[TABLE_LAYOUT_RANKS];
    bool follows; /* a matrix was written before */
};

/* Room for the widest table, from the arena. STATUS_SYSTEM where memory is short. */
enum status table_layout_create(struct table_layout *layout, const struct writing *writing,
                                const struct table_dialect *dialect);

/* Writes all matrices of a table; output_close reports failures to write. */
void table_layout_write(struct table_layout *layout, const struct result_table *table);

/* Writes all tables for people, or those of a stage; STAGE_COUNT: of all. STATUS_SYSTEM where memory is short. */
enum status table_layout_write_all(const struct writing *writing, const struct table_dialect *dialect,
                                   enum stage stage);

/* A number in the notation of the table, as text for a terminal, into text (TABLE_LAYOUT_CELL_BYTES). Returns its
 * width in columns. */
size_t table_layout_number(const struct table_layout *layout, double number, char *text);
