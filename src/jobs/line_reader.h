/* SPDX-License-Identifier: MIT */
/* A stream, line by line: a line is there as soon as its newline is. */
#ifndef ATTN_JOBS_LINE_READER_H
#define ATTN_JOBS_LINE_READER_H

#include "base/error.h"

#include <stddef.h>

struct line_reader {
    int file;
    const char *source; /* for messages */
    char *bytes;        /* from malloc; NULL at first */
    size_t room, begin, end;
    bool ended;
};

/* The next line, without its newline and with a NUL after it, which the caller frees; NULL at the end, or where reading
 * fails: STATUS_SYSTEM, also for a line longer than half of the memory there is. */
char *line_read(struct line_reader *reader, size_t *length, struct error *error);

#endif
