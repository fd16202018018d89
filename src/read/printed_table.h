/* SPDX-License-Identifier: MIT */
/* What the readers of printed tables share: the text, what its pieces are, and the numbers, digits and labels as they
 * come. What returns false has filled the error, at its place in the text. */
#ifndef ATTN_READ_PRINTED_TABLE_H
#define ATTN_READ_PRINTED_TABLE_H

#include "read/input_file.h"
#include "read/printed_number.h"
#include "read/text_error.h"

/* A piece of the text; of one in quotes what they hold, where a doubled quote stands for itself. */
struct printed_piece {
    const char *text;
    size_t length;
    bool quoted;
};

/* One table as it is read. Its numbers are those of the reader from `first` on, row-major. */
struct printed_table {
    size_t rank, shape[TENSOR_RANK]; /* rank 0 until the first number */
    size_t first;
    enum dtype stated;         /* by dtype=...; else DTYPE_F32 */
    bool boolean;              /* True and False, of which the first one decides */
    int decimals, mantissa;    /* the most digits behind the point, of numbers without and with an exponent */
    size_t rows;               /* innermost ones that have ended */
    const char *row_end;       /* where the last of them has, or NULL */
    size_t labels;             /* rows that have one, from the first row on */
    const size_t *row_numbers; /* (row_count) of CSV, which rows of the stage they are, from 1 on; else NULL */
    size_t row_count;
    const char *whole_failed; /* the first number that is not whole, or NULL */
    const char *truth_failed; /* the first that is neither 0 nor 1, or NULL */
};

struct printed_reader {
    struct text_source in;
    const char *at;
    double *numbers;              /* room for all numbers of the text */
    int16_t *digits;              /* of each: its exponent, PRINTED_PLAIN without one, INT16_MIN where it is exact */
    size_t count;                 /* numbers so far, of all tables */
    struct printed_number last;   /* the last one */
    struct printed_piece *labels; /* room for one of each line */
    const char *failed;           /* where the text is wrong */
    bool text_checked;            /* a table of rows has checked the ends of lines and the '#' of all the text */
    struct arena *arena, *scratch;
    struct error *error;
};

enum { PRINTED_PLAIN = INT16_MAX };

/* Past blanks, ends of lines and comments from '#' on; a comment behind a row, in its line, becomes its label: the
 * words before a parenthesis. */
void printed_skip(struct printed_reader *reader, struct printed_table *table);

/* The same, to the end of the line at most. */
void printed_skip_in_line(struct printed_reader *reader, struct printed_table *table);

/* Reads the next number of the table; `expected` says what else may stand there. */
bool printed_take(struct printed_reader *reader, struct printed_table *table, const char *expected);

/* The bytes of the name that begins there, letters, digits, '_' and points; 0 where none does. */
size_t printed_name_length(const char *at);

/* "[a-zA-Z0-9_.]*": the bytes of the word that begins there. */
size_t printed_word_length(const char *at);

/* Whether a line, or the text, ends at this character. */
bool printed_ends_line(char c);

/* The last quote of a text in double quotes, where a doubled one stands for itself; NULL where its line ends before. */
const char *printed_end_of_quotes(const char *at);

/* Whether two pieces hold the same text; whether one holds one of those words, in whichever case. */
bool printed_is_same(const struct printed_piece *a, const struct printed_piece *b);
bool printed_is_one_of(const struct printed_piece *piece, const char *const *words, size_t count);

/* The '=' of "NAME =", or NULL. */
const char *printed_find_equals(const char *at);

/* "import torch", "from torch import nn": of a token's row the second word is a number. */
bool printed_is_import(const char *at);

/* False: STATUS_USAGE at the place, printf-like; and "expected ..., got ..." with the word that is there and a hint. */
bool printed_fail(struct printed_reader *reader, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool printed_fail_expected(struct printed_reader *reader, const char *at, const char *expected);

/* Behind what stands before a literal: "Parameter containing:", "<tf.Tensor: ... numpy=", which a '>' ends; or NULL. */
const char *printed_behind_title(const char *at);

/* [[1, 2], [3, 4]], [[1 2] [3 4]] or [1 2; 3 4] from its first bracket on; the same with tensor(...) or the like around
 * it; rows of numbers, to the end of the text or to an empty line before NAME =. */
bool printed_literal(struct printed_reader *reader, struct printed_table *table);
bool printed_array(struct printed_reader *reader, struct printed_table *table);
bool printed_rows(struct printed_reader *reader, struct printed_table *table);

/* The columns of the CSV that attn writes (--format csv), where each line is a row of a table, behind its name and
 * place: stage; item, head and token where they are there; row; 1, 2, ... for tables such as query; the keys. */
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
