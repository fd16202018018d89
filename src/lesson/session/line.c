/* SPDX-License-Identifier: MIT */
#include "lesson/session/ask.h"

#include "base/system.h"

#include <string.h>
#include <unistd.h>

/* Moves the bytes up to the next newline, the end of the input, or as many as fit, into line; returns whether the
 * line ends there. */
static bool take(struct line_input *input, char *line, size_t *length)
{
    char *newline;
    while ((newline = memchr(input->bytes, '\n', input->used)) == NULL && !input->ended &&
           input->used < sizeof input->bytes) {
        const ssize_t bytes = system_read(STDIN_FILENO, input->bytes + input->used, sizeof input->bytes - input->used);
        input->used += bytes > 0 ? (size_t)bytes : 0;
        input->ended = bytes <= 0;
    }
    const bool whole = newline != NULL || input->used < sizeof input->bytes;
    *length = newline != NULL ? (size_t)(newline - input->bytes) : input->used;
    const size_t passed = *length + (newline != NULL);
    memcpy(line, input->bytes, *length);
    memmove(input->bytes, input->bytes + passed, input->used - passed);
    input->used -= passed;
    return whole;
}

enum line_read line_read(struct line_input *input, char *line)
{
    size_t length;
    bool fits = take(input, line, &length);
    if (input->ended && input->used == 0 && length == 0) {
        input->ended = false; /* a terminal continues after Ctrl-D */
        return LINE_END;
    }
    if (!fits) {
        while (!take(input, line, &length))
            continue;
        return LINE_WRONG;
    }
    if (memchr(line, '\0', length) != NULL)
        return LINE_WRONG;
    line[length] = '\0';
    return LINE_READ;
}
