/* Tables for documents: each matrix a table of labelled rows and columns, in the markup of a dialect.
 *
 * The numbers are those of text: so many decimals, exponents where the table needs them, large tables elided. The cells
 * are padded, so that the source lines up as well as the page. */
#ifndef ATTN_WRITE_TABLE_MARKUP_H
#define ATTN_WRITE_TABLE_MARKUP_H

#include "write/table_text.h"
#include "write/writing.h"

enum {
    TABLE_MARKUP_CELL_BYTES =
        24 * TABLE_TEXT_LABEL_BYTES, /* of a label whose every byte is escaped, and of any number */
    TABLE_MARKUP_CHARACTERS = 128,
};

struct table_markup;

/* How a kind of document writes a table. */
struct table_markup_dialect {
    const char *const *escapes; /* (TABLE_MARKUP_CHARACTERS) what stands for an ASCII character; NULL: itself */
    const char *blank;          /* what stands for TEXT_BLANK; NULL: itself */
    const char *gaps[2][2];     /* the cell of what is left out: [in a gap of rows][in a gap of columns] */
    const char *row_begin, *between, *row_end;
    void (*begin)(const struct table_markup *markup); /* the heading of a matrix, up to its row of column labels */
    void (*rule)(const struct table_markup *markup);  /* between that row and the numbers */
    void (*end)(const struct table_markup *markup);
    void (*number)(const struct table_markup *markup, double number, char *text); /* into TABLE_MARKUP_CELL_BYTES */
};

/* One matrix on its way to the document. */
struct table_markup {
    struct result *result;
    const struct table_markup_dialect *dialect;
    struct output *output;
    int precision;
    bool full;
    const struct result_table *table;
    bool exponent;
    size_t matrix, item;
    size_t number_width, label_width;
    size_t column_count; /* of the columns that are shown, a gap counted as one */
    size_t *widths;      /* (column_count) */
};

/* Writes all tables that people are shown. STATUS_SYSTEM where memory is short; a failure to write is output_close's
 * to tell. */
enum status table_markup_write(const struct writing *writing, const struct table_markup_dialect *dialect);

/* A number that is finite, a truth value or NaN, as all dialects have it; text has TABLE_MARKUP_CELL_BYTES. */
void table_markup_number(const struct table_markup *markup, double number, char *text);

/* Writes a text with its special characters escaped. */
void table_markup_write_escaped(const struct table_markup *markup, const char *text);

/* Writes " (item 1, head 2, 6 x 6)": which matrix of the table this is, and its shape with `times` between the
 * sizes. */
void table_markup_write_place(const struct table_markup *markup, const char *times);

#endif
