/* SPDX-License-Identifier: MIT */
/* Shared by the readers of printed tables. Functions that return false set the error, with its position in the text,
 * unless they only ask. */
#pragma once

#include "read/input_file.h"
#include "read/printed_number.h"
#include "read/text_error.h"

/* A piece of the text, without its quotes; inside quotes, "" means one quote. */
struct printed_piece {
    const char *text;
    size_t length;
    bool quoted;
};

/* One table being read. Its numbers are the reader's from `first` on, row-major. */
struct printed_table {
    size_t rank, shape[TENSOR_RANK]; /* rank 0 until the first number */
    struct file_part part;           /* the lead where '...' leaves numbers out; of a dump, all that it says */
    size_t first;
    enum dtype stated;         /* by dtype=...; else DTYPE_F32 */
    bool boolean;              /* True and False; the first value decides */
    int decimals, mantissa;    /* the most digits after the point, of numbers without and with an exponent */
    size_t rows;               /* complete innermost rows */
    const char *row_end;       /* the end of the last of them, or NULL */
    size_t labels;             /* leading rows with a label */
    const size_t *row_numbers; /* (row_count) of CSV: the rows' numbers in the stage, from 1; else NULL */
    size_t row_count;
    const char *whole_failed; /* the first number that is not whole, or NULL */
    const char *truth_failed; /* the first that is neither 0 nor 1, or NULL */
};

struct printed_reader {
    struct text_source in;
    const char *at;
    double *numbers;              /* (room for all numbers of the text) */
    int16_t *digits;              /* the exponent of each, PRINTED_PLAIN without one, INT16_MIN where it is exact */
    size_t count;                 /* numbers so far, of all tables */
    struct printed_number last;   /* the last one */
    struct printed_piece *labels; /* (room for one per line) */
    const char *failed;           /* position of the error */
    bool takes_parts;             /* '...' may replace numbers, and lines may say facts */
    bool text_checked;            /* a table of rows has checked all ends of lines and '#' */
    struct arena *arena, *scratch;
    struct error *error;
};

enum { PRINTED_PLAIN = INT16_MAX };

/* Skips blanks, ends of lines and comments from '#' on; a comment after a row in its line becomes its label, up to a
 * parenthesis. */
void printed_skip(struct printed_reader *reader, struct printed_table *table);

/* The same within the line. */
void printed_skip_in_line(struct printed_reader *reader, struct printed_table *table);

/* Reads the next number of the table; `expected` names, for the message, what may come here. */
bool printed_take(struct printed_reader *reader, struct printed_table *table, const char *expected);

/* The length of a name of letters, digits, '_' and points; 0 where there is none. */
size_t printed_name_length(const char *at);

/* The length of a word "[a-zA-Z0-9_.]*". */
size_t printed_word_length(const char *at);

/* Whether a line, or the text, ends at this character. */
bool printed_ends_line(char c);

/* The closing quote of a text in double quotes, in which "" means one; NULL where its line ends first. */
const char *printed_end_of_quotes(const char *at);

/* Whether two pieces have the same text; whether one is among the words, in any case. */
bool printed_is_same(const struct printed_piece *a, const struct printed_piece *b);
bool printed_is_one_of(const struct printed_piece *piece, const char *const *words, size_t count);

/* The '=' of "NAME =", or NULL. */
const char *printed_find_equals(const char *at);

/* "import torch", "from torch import nn"; in a row of the token "import" a number follows. */
bool printed_is_import(const char *at);

/* Return false and set STATUS_USAGE at the position: a printf-like message; "expected ..., got ..." with the next word
 * and a hint. */
bool printed_fail(struct printed_reader *reader, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool printed_fail_expected(struct printed_reader *reader, const char *at, const char *expected);

/* The text after a title before a literal: "Parameter containing:", "<tf.Tensor: ... numpy=", which a '>' closes; or
 * NULL. */
const char *printed_behind_title(const char *at);

/* Read a table: printed_literal with tensor(...) or the like around it, or without; printed_array [[1, 2], [3, 4]], [[1
 * 2] [3 4]] or [1 2; 3 4]; printed_rows rows of numbers, to the end of the text or an empty line before NAME =. */
bool printed_literal(struct printed_reader *reader, struct printed_table *table);
bool printed_array(struct printed_reader *reader, struct printed_table *table);
bool printed_rows(struct printed_reader *reader, struct printed_table *table);

/* Reads what a line says about a whole table, such as "context.sum() = 12.3" or "shape: (32, 64)", and its name or "".
 * False where it says no such thing; then the reader stays. */
bool printed_fact(struct printed_reader *reader, struct printed_piece *name, struct file_part *part);

/* Reads a size of at most 9 digits behind blanks; returns where it ends, or NULL without one. */
const char *printed_size(const char *at, size_t *size);

/* Reads up to TENSOR_RANK sizes with commas between them, which end at *end; returns how many. */
size_t printed_sizes(const char *at, size_t *sizes, const char **end);

/* Whether the text has tensors as ggml dumps them. */
bool printed_is_dump(const char *text);

/* What is known of a dump between two tensors. */
struct printed_dump {
    char name[64];              /* "blk.N." and the stage of the last one */
    struct printed_piece first; /* the line of the first one, which another pass repeats */
    size_t scaled;              /* 1 + the last layer whose query is scaled before the scores */
};

/* Reads the next tensor of attention, or its sum alone; *found is false at the end of the pass. */
bool printed_dump(struct printed_reader *reader, struct printed_dump *dump, struct printed_table *table, bool *found);

/* The columns of the CSV that attn writes (--format csv), where each line is a row of a table: stage, item, head, row
 * and token, some of them optional; 1, 2, ... for tables such as query; the keys. */
struct printed_csv {
    bool has_items, has_heads, has_tokens;
    bool tokens_first; /* query, key and value have tokens before heads, since they are packed, or there are pages */
    size_t features, keys;
};

bool printed_csv_begins(const char *text);

/* Reads the head line. */
bool printed_csv_head(struct printed_reader *reader, struct printed_csv *csv);

/* Reads the lines of one table, *name, with its items and heads; an empty field is minus infinity. Rows of inputs and
 * key_inputs have tokens. Rows must be in order, perhaps only those of --query: table->row_numbers has their numbers.
 * Leaves the reader at the next table or the end. */
bool printed_csv_table(struct printed_reader *reader, const struct printed_csv *csv, struct printed_piece *name,
                       struct printed_table *table);
