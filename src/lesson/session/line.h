/* SPDX-License-Identifier: MIT */
/* What the reader types, a line at a time. */
#ifndef ATTN_LESSON_SESSION_LINE_H
#define ATTN_LESSON_SESSION_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_BYTES = 1 << 14 };

enum line_read {
    LINE_READ,
    LINE_END,   /* of the input */
    LINE_WRONG, /* it is too long, or has a NUL byte: it is skipped */
};

/* Starts as {0}. */
struct line_input {
    char bytes[LINE_BYTES]; /* read from standard input, but not yet returned */
    size_t used;
    bool ended;
};

/* The next line, without its newline, into line (LINE_BYTES). */
enum line_read line_read(struct line_input *input, char *line);

#endif
