/* SPDX-License-Identifier: MIT */
#include "read/text_error.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

enum {
    INDENT = 4,
    EXCERPT = 72, /* columns of a line that an error shows */
};

/* Each character of the excerpt takes at most 4 bytes; below it are blanks and the caret. */
_Static_assert(2 * INDENT + 4 * EXCERPT + 2 * EXCERPT + 3 <= sizeof(((struct error *)0)->detail),
               "the longest excerpt fits into the detail of an error");

struct text_place {
    const char *at, *line, *line_end;
    size_t number, column;
};

static size_t count_characters(const char *from, const char *to)
{
    size_t count = 0;
    for (; from < to; text_next(&from))
        count++;
    return count;
}

static struct text_place locate(const struct text_source *source, const char *at)
{
    struct text_place place = {.at = at, .line = source->text, .number = 1};
    const char *newline;
    while ((newline = memchr(place.line, '\n', (size_t)(at - place.line)))) {
        place.line = newline + 1;
        place.number++;
    }
    place.column = count_characters(place.line, at) + 1;
    newline = memchr(at, '\n', (size_t)(source->end - at));
    place.line_end = newline ? newline : source->end;
    if (place.line_end > at && place.line_end[-1] == '\r')
        place.line_end--;
    return place;
}

/* Writes one column of the excerpt; masks characters that could move a terminal's cursor (C0, DEL and C1). */
static char *put_character(char *out, const char *character)
{
    const char *after = character;
    const uint32_t point = text_next(&after);
    if (point == '\t')
        *out++ = ' ';
    else if (text_is_hidden(point) || text_character(character) == 0)
        *out++ = '?';
    else
        out = (char *)memcpy(out, character, (size_t)(after - character)) + (after - character);
    return out;
}

static char *put_repeated(char *out, char c, size_t count)
{
    return (char *)memset(out, c, count) + count;
}

/* Columns first .. last (from 0, last excluded) of a line of length columns, "..." for three of them where clipped. */
static char *put_line(char *out, const char *line, size_t length, size_t first, size_t last)
{
    for (size_t i = 0; i < first; i++)
        text_next(&line);
    for (size_t i = first; i < last; i++, text_next(&line)) {
        bool clipped = (first > 0 && i < first + 3) || (last < length && i + 3 >= last);
        out = put_character(out, clipped ? "." : line);
    }
    return out;
}

/* The columns of characters first .. last - 1 as shown; where the line is clipped, the first three are dots. */
static size_t shown_width(const char *line, size_t first, size_t last)
{
    size_t width = 0;
    for (size_t i = 0; i < last; i++) {
        const uint32_t point = text_next(&line);
        if (i >= first)
            width += text_is_hidden(point) || (first > 0 && i < first + 3) ? 1 : text_width(point);
    }
    return width;
}

/* Writes the line with a caret below the position, which may be one past the line's last character. */
static void show_excerpt(const struct text_place *place, char *detail)
{
    const size_t before = place->column - 1, length = before + count_characters(place->at, place->line_end),
                 extent = length > before ? length : before + 1;
    size_t first = 0;
    if (extent > EXCERPT && before > EXCERPT / 2)
        first = memory_smaller(before - EXCERPT / 2, extent - EXCERPT);
    const size_t last = memory_smaller(first + EXCERPT, length);
    char *out = put_repeated(detail, ' ', INDENT);
    out = put_line(out, place->line, length, first, last);
    *out++ = '\n';
    out = put_repeated(out, ' ', INDENT + shown_width(place->line, first, before));
    memcpy(out, "^\n", sizeof "^\n");
}

enum status text_error_at(const struct text_source *source, const char *at, struct error *error, const char *format,
                          ...)
{
    char what[512];
    TEXT_FORMAT(what, format);
    const struct text_place place = locate(source, at);
    show_excerpt(&place, error->detail);
    return error_usage(error, "%s:%zu:%zu: %s", source->source, place.number, place.column, what);
}

struct text_error_found text_error_describe(const struct text_source *source, const char *at)
{
    struct text_error_found found;
    unsigned char byte = (unsigned char)*at;
    if (at == source->end)
        snprintf(found.name, sizeof found.name, "end of input");
    else if (byte < 0x20 || byte == 0x7f)
        snprintf(found.name, sizeof found.name, "control character 0x%02x", byte);
    else if (byte >= 0x80)
        snprintf(found.name, sizeof found.name, "byte 0x%02x", byte);
    else
        snprintf(found.name, sizeof found.name, byte == '\'' ? "\"%c\"" : "'%c'", byte);
    return found;
}

enum status text_error_expected(const struct text_source *source, const char *at, struct error *error,
                                const char *expected)
{
    const struct text_error_found found = text_error_describe(source, at);
    const char *last = at;
    /* From the end, after blank lines, it moves to the text before them: else the excerpt would be empty. */
    while (at == source->end && last > source->text && strchr(" \t\r\n", last[-1]) != NULL && last[-1] != '\0')
        last--;
    at = memchr(last, '\n', (size_t)(at - last)) ? last : at;
    return text_error_at(source, at, error, "expected %s, got %s", expected, found.name);
}
