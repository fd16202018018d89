/* Text from outside, made fit for a person's eyes: UTF-8 decoded by hand, control characters shown, widths counted. */
#ifndef ATTN_TEXT_H
#define ATTN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The next code point of valid UTF-8; *text moves on. A byte that begins none stands for itself as U+FFFD. */
uint32_t text_next(const char **text);

/* Copies the text into shown (size bytes) as one line of at most `columns` columns: control characters as \n, \t, \x1b;
 * what is too wide ends in "...". Returns the columns that it takes. */
size_t text_shown(const char *text, size_t columns, char *shown, size_t size);

#endif
