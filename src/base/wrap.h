/* SPDX-License-Identifier: MIT */
/* A list of items separated by commas, wrapped into lines. */
#pragma once

#include "base/output.h"

enum { WRAP_COLUMNS = 74 }; /* fits an indented page of the manual too */

/* Starts with `column` 0. */
struct wrap {
    struct output *output;
    size_t columns; /* of a line: WRAP_COLUMNS or fewer, indent + 4 or more */
    size_t indent;  /* blanks before a continued line */
    size_t column;  /* columns used, including the next comma */
};

/* Adds words, each on the line where it fits; cuts one that does not fit alone. Keeps their blanks, except at a line's
 * end. */
void wrap_words(struct wrap *line, const char *words);

/* Adds an item (printf-like, at most 255 bytes), unbroken if a line can hold it; after the last, the line is still
 * open. */
void wrap_add(struct wrap *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
