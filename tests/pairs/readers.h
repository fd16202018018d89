/* SPDX-License-Identifier: MIT */
/* What each format writes, read as its reader would: by its rules, not by attn's own code. */
#ifndef ATTN_PAIRS_READERS_H
#define ATTN_PAIRS_READERS_H

#include <stdbool.h>
#include <stddef.h>

enum { READER_AXES = 8, READER_NAME_BYTES = 80, READER_TABLES = 64, COMPLAINT_BYTES = 512 };

/* The numbers that a format holds under a name, row-major. CSV has rank 0: all fields of its rows, minus infinity where one
 * is empty; the shape is rows, fields, and how many of the fields are columns 1, 2, ... */
struct reader_table {
    char name[READER_NAME_BYTES];
    size_t rank, shape[READER_AXES];
    size_t count;
    double *numbers; /* (count) */
    double unit,
        least; /* half the last digit of a number, relative to it and of the smallest one; 0 where it is exact */
};

struct reader_tables {
    size_t count;
    struct reader_table tables[READER_TABLES];
};

/* Whether the bytes, behind which a NUL stands, are what the format promises; else `complaint` (COMPLAINT_BYTES) says what
 * is wrong. Formats of numbers fill the tables (cleared before; reader_release frees them). */
typedef bool reader(const char *bytes, size_t length, struct reader_tables *tables, char *complaint);

reader reader_json, reader_safetensors, reader_npy, reader_csv;             /* read_numbers.c */
reader reader_text, reader_markdown, reader_latex, reader_svg, reader_html; /* read_documents.c */
reader reader_any; /* of a format that is unknown here: there is something */

/* The reader of --format NAME. */
reader *reader_find(const char *format);

/* Whether the tables that text, Markdown or LaTeX shows have the numbers of the tables, to the digits that they have;
 * `full`: none is elided; `sharp`: rows of shares end in their sum and entropy. Of other formats: true.
 * (read_shown.c) */
bool reader_shows(const char *format, const char *bytes, const struct reader_tables *tables, bool full, bool sharp,
                  char *complaint);

void reader_release(struct reader_tables *tables);

/* The table of that name, or NULL. */
const struct reader_table *reader_table(const struct reader_tables *tables, const char *name);

/* Text in UTF-8 that ends in a newline, with no control characters but newlines and, where `color` is said, those that
 * colour a terminal. */
bool reader_is_plain(const char *bytes, size_t length, bool color, char *complaint);

/* Columns on a terminal, of the bytes from text to end; of the widest line. */
size_t reader_columns(const char *text, const char *end);
size_t reader_width(const char *text);

/* Fills the complaint, printf-like; returns false. */
bool reader_complain(char *complaint, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
