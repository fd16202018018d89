/* SPDX-License-Identifier: MIT */
/* Text from outside, made readable: decodes UTF-8, shows hidden characters, counts widths. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In a function with "...": formats these arguments, behind `format`, into an array of bytes, cut to fit. */
#define TEXT_FORMAT(bytes, format)                               \
    do {                                                         \
        va_list text_arguments;                                  \
        va_start(text_arguments, format);                        \
        vsnprintf(bytes, sizeof(bytes), format, text_arguments); \
        va_end(text_arguments);                                  \
    } while (0)

/* Formats into text (size), cut to fit; returns text. */
char *text_format(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether the locale asks for ASCII: the first of LC_ALL, LC_CTYPE and LANG that is set and not empty is C or POSIX. */
bool text_wants_ascii(void);

/* Escape sequences of a terminal. */
#define TEXT_BOLD "\033[1m"
#define TEXT_DIM "\033[2m"
#define TEXT_PLAIN "\033[0m"

/* For a table with more rows or columns than this, text shows the first and the last half of that number. */
enum { TEXT_ELIDED = 12 };

/* Shown for a blank that would be invisible: U+2423. */
#define TEXT_BLANK "\xe2\x90\xa3"

/* How many leading bytes are ASCII blanks. */
size_t text_blanks(const void *bytes, size_t length);

/* Bytes of the well-formed character (RFC 3629, section 4) that a NUL-terminated text begins with; 0 where there is
 * none. */
size_t text_character(const char *text);

/* The next code point; moves *text past it. U+FFFD for a byte that is part of none. */
uint32_t text_next(const char **text);

/* Whether the code point acts on a terminal or is invisible: a control character, a mark that changes the direction of
 * a line, a joiner, a noncharacter (which XML forbids). */
bool text_is_hidden(uint32_t point);

/* Its columns on a terminal, or 1 where no UTF-8 locale exists. Never sets the locale of the process. */
size_t text_width(uint32_t point);

/* A path as messages show it: shortened by "..." in the middle where it does not fit. Returns shown. */
enum { TEXT_PATH_BYTES = 160 };
const char *text_path(const char *path, char shown[TEXT_PATH_BYTES]);
#define SHOWN_PATH(path) text_path((path), (char[TEXT_PATH_BYTES]){0})

/* A text that grows piece by piece within a fixed buffer. */
struct text {
    char *bytes; /* (size) ends with a NUL */
    size_t size, length;
    bool cut; /* something did not fit */
};

/* An empty text in that buffer; size is at least 1. */
struct text text_begin(char *bytes, size_t size);

/* Adds a piece, printf-like. Cuts a piece that does not fit after a complete character, and ignores later pieces. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the word is in a list separated by blanks, which may be NULL. */
bool text_has_word(const char *words, const char *word);

/* "a, b or c" into text (size bytes, cut to fit); returns text. Skips words that are NULL. */
const char *text_alternatives(const char *const *words, size_t count, char *text, size_t size);

/* text_sort sorts items of `size` bytes by the text (const char *) that each begins with. In sorted items, text_first
 * gives the index of the first that is not before `text`, or count; text_find the first equal item, or NULL. */
void text_sort(void *items, size_t count, size_t size);
size_t text_first(const char *text, const void *items, size_t count, size_t size);
const void *text_find(const char *text, const void *items, size_t count, size_t size);

static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the text ends in `end` and is longer. */
bool text_ends_in(const char *text, const char *end);

size_t text_columns(const char *text);

/* A number with so many decimals, fixed or with an exponent, into text (size bytes): "nan", "inf" and "-inf"; zero has
 * no sign. Returns text. */
const char *text_number(char *text, size_t size, int decimals, bool exponent, double number);

/* Whether to show numbers of this largest magnitude with exponents: outside 1e-4 .. 1e6. */
bool text_wants_exponent(double magnitude);

/* Copies the text into shown (size bytes) as one line of at most `columns` columns: hidden characters as \n, \t, \x1b
 * or \u202e, an invalid byte as '?', a blank at either end or next to another as TEXT_BLANK. A longer text ends in
 * "...". Returns the columns used. */
size_t text_shown(const char *text, size_t columns, char *shown, size_t size);

/* The same for a cell of a picture: a longer text ends in an ellipsis of one column. `columns` is at least 1. */
size_t text_cut(const char *text, size_t columns, char *shown, size_t size);
