/* SPDX-License-Identifier: MIT */
#include "jobs/line_reader.h"

#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 16 };

/* Makes room for READ_BYTES after the bytes that are not taken yet. */
static enum status make_room(struct line_reader *reader, struct error *error)
{
    const size_t length = reader->end - reader->begin;
    if (reader->begin > 0)
        memmove(reader->bytes, reader->bytes + reader->begin, length);
    reader->begin = 0;
    reader->end = length;
    if (reader->room - length >= READ_BYTES)
        return STATUS_OK;
    const bool fits = (double)length < memory_there() / 2;
    char *larger = fits ? realloc(reader->bytes, 2 * length + READ_BYTES) : NULL;
    if (larger == NULL)
        return error_system(error, 0, "%s: a line of more than %zu bytes: not enough memory to read it", reader->source,
                            length);
    reader->bytes = larger;
    reader->room = 2 * length + READ_BYTES;
    return STATUS_OK;
}

static enum status read_more(struct line_reader *reader, struct error *error)
{
    if (make_room(reader, error) != STATUS_OK)
        return error->status;
    for (;;) {
        const ssize_t bytes = read(reader->file, reader->bytes + reader->end, READ_BYTES);
        if (bytes >= 0) {
            reader->end += (size_t)bytes;
            reader->ended = bytes == 0;
            return STATUS_OK;
        }
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = reader->file, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return error_system(error, errno, "%s", reader->source);
    }
}

char *line_read(struct line_reader *reader, size_t *length, struct error *error)
{
    const char *newline = NULL;
    for (size_t looked = 0; newline == NULL && !reader->ended; looked = reader->end - reader->begin) {
        if (reader->end - reader->begin == looked && read_more(reader, error) != STATUS_OK)
            return NULL;
        const char *from = reader->bytes + reader->begin;
        newline = memchr(from + looked, '\n', reader->end - reader->begin - looked);
    }
    *length = newline != NULL ? (size_t)(newline - (reader->bytes + reader->begin)) : reader->end - reader->begin;
    if (newline == NULL && *length == 0)
        return NULL;
    char *line = malloc(*length + 1);
    if (line == NULL) {
        error_system(error, 0, "%s: not enough memory to read a line", reader->source);
        return NULL;
    }
    memcpy(line, reader->bytes + reader->begin, *length);
    line[*length] = '\0';
    reader->begin += *length + (newline != NULL);
    return line;
}
