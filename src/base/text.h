/* SPDX-License-Identifier: MIT */
/* Text from outside, made fit for a person's eyes: UTF-8 decoded by hand, what is hidden shown, widths counted. */
#ifndef ATTN_BASE_TEXT_H
#define ATTN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the locale asks for ASCII: the first of LC_ALL, LC_CTYPE and LANG that is set and not empty is C or POSIX. */
bool text_wants_ascii(void);

/* What makes a terminal show text in bold or dim, and plain again. */
#define TEXT_BOLD "\033[1m"
#define TEXT_DIM "\033[2m"
#define TEXT_PLAIN "\033[0m"

/* Of a table with more rows or columns than this, text shows the first and the last half of so many. */
enum { TEXT_ELIDED = 12 };

/* A blank that would not be seen, as it is shown: U+2423. */
#define TEXT_BLANK "\xe2\x90\xa3"

/* How many of the bytes are blanks, from the first on: of a text in a file, where blanks are ASCII. */
size_t text_blanks(const void *bytes, size_t length);

/* Bytes of the well-formed character at text, which a NUL ends (RFC 3629, section 4); 0 where there is none. */
size_t text_character(const char *text);

/* The next code point of the text, which moves on; U+FFFD for a byte that belongs to none. */
uint32_t text_next(const char **text);

/* Whether the code point would act on a terminal or is not seen: a control character, a mark that turns the direction
 * of a line, a joiner, a noncharacter (which XML forbids). */
bool text_is_hidden(uint32_t point);

/* Its columns on a terminal, 1 where no locale tells. The process locale is never set. */
size_t text_width(uint32_t point);

/* A path as messages have it: its beginning, "..." and its end where it does not fit. Returns shown. */
enum { TEXT_PATH_BYTES = 160 };
const char *text_path(const char *path, char shown[TEXT_PATH_BYTES]);
#define SHOWN_PATH(path) text_path((path), (char[TEXT_PATH_BYTES]){0})

/* A text that grows piece by piece and keeps within its room. */
struct text {
    char *bytes; /* (size) ends with a NUL */
    size_t size, length;
    bool cut; /* something did not fit */
};

/* An empty text in that room; size is at least 1. */
struct text text_begin(char *bytes, size_t size);

/* Adds a piece, printf-like. What does not fit is cut behind a whole character, and every piece after it is left
 * out. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the word is one of a list with a blank between two; NULL has none. */
bool text_has_word(const char *words, const char *word);

/* "a, b or c" into text (size bytes, cut to fit); returns text. Words that are NULL are passed over. */
const char *text_alternatives(const char *const *words, size_t count, char *text, size_t size);

/* Puts `count` items of `size` bytes in the order of the texts (const char *) that they begin with. Of items in that
 * order: the index of the first whose text is not before `text`, or count; the first whose text it is, or NULL. */
void text_sort(void *items, size_t count, size_t size);
size_t text_first(const char *text, const void *items, size_t count, size_t size);
const void *text_find(const char *text, const void *items, size_t count, size_t size);

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the text ends in that, and has more before it. */
bool text_ends_in(const char *text, const char *end);

/* The columns of a text. */
size_t text_columns(const char *text);

/* A number with so many decimals, fixed or with an exponent, into text (size bytes): "nan", "inf" and "-inf"; what
 * shows as zero has no sign. Returns text. */
const char *text_number(char *text, size_t size, int decimals, bool exponent, double number);

/* Whether numbers of this largest magnitude are shown with exponents: those outside 1e-4 .. 1e6. */
bool text_wants_exponent(double magnitude);

/* Copies the text into shown (size bytes) as one line of at most `columns` columns: what is hidden as \n, \t, \x1b or
 * \u202e, a broken byte as '?', a blank at either end or beside another as TEXT_BLANK. What is too long ends in "...".
 * Returns the columns that it takes. */
size_t text_shown(const char *text, size_t columns, char *shown, size_t size);

/* The same for a cell of a picture, where each column counts: what is too long ends in an ellipsis of one column.
 * `columns` is at least 1. */
size_t text_cut(const char *text, size_t columns, char *shown, size_t size);

#endif
