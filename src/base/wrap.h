/* SPDX-License-Identifier: MIT */
/* A line of items with commas between them, which goes on beneath itself where it grows too long. */
#ifndef ATTN_BASE_WRAP_H
#define ATTN_BASE_WRAP_H

#include "base/output.h"

enum { WRAP_COLUMNS = 74 }; /* so that it also fits where it is quoted in an indented page */

/* Starts with `column` 0. */
struct wrap {
    struct output *output;
    size_t columns; /* that a line may have, WRAP_COLUMNS or fewer; indent + 4 at least */
    size_t indent;  /* blanks before what goes on */
    size_t column;  /* what is taken, the next comma included */
};

/* Adds words, each on the line where it fits; one that would not fit alone is cut. Their blanks stay, but for a line's
 * end. */
void wrap_words(struct wrap *line, const char *words);

/* Adds an item (printf-like, at most 255 bytes), whole if a line can hold it; the last one leaves the line open. */
void wrap_add(struct wrap *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
