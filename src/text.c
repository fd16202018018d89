#include "text.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

uint32_t text_next(const char **text)
{
    const unsigned char first = (unsigned char)*(*text)++;
    if (first < 0x80)
        return first;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
    if (more == 0)
        return 0xfffd;
    uint32_t point = first & (0x3fu >> more);
    for (; more > 0; more--) {
        if (!is_continuation(**text))
            return 0xfffd;
        point = point << 6 | ((unsigned char)*(*text)++ & 0x3f);
    }
    return point;
}

/* The process locale is never set: widths come from a locale object, made where the first wide character comes. */
static size_t width_of(uint32_t point)
{
    static locale_t utf8;
    if (point < 0x300)
        return 1;
    if (utf8 == (locale_t)0)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (utf8 == (locale_t)0)
        return 1;
    locale_t before = uselocale(utf8);
    int width = wcwidth((wchar_t)point);
    uselocale(before);
    return width < 0 ? 1 : (size_t)width;
}

static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

/* Marks that turn the direction of a line, or join and part letters without being seen. */
static bool is_invisible(uint32_t point)
{
    return (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

/* One character as it is shown, into piece; returns its columns. */
static size_t show(const char *from, const char *to, uint32_t point, char piece[16])
{
    static const char *const ESCAPES[32] = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r"};
    if (point < 0x20 && ESCAPES[point] != NULL)
        return (size_t)snprintf(piece, 16, "%s", ESCAPES[point]);
    if (is_control(point))
        return (size_t)snprintf(piece, 16, "\\x%02x", (unsigned)point);
    if (is_invisible(point))
        return (size_t)snprintf(piece, 16, "\\u%04x", (unsigned)point);
    snprintf(piece, 16, "%.*s", (int)(to - from), from);
    return width_of(point);
}

static size_t total_width(const char *text)
{
    char piece[16];
    size_t width = 0;
    while (*text != '\0') {
        const char *from = text;
        uint32_t point = text_next(&text);
        width += show(from, text, point, piece);
    }
    return width;
}

size_t text_shown(const char *text, size_t columns, char *shown, size_t size)
{
    const bool clipped = total_width(text) > columns;
    const size_t room = clipped ? columns - 3 : columns;
    size_t width = 0, length = 0;
    while (*text != '\0') {
        char piece[16];
        const char *from = text;
        uint32_t point = text_next(&text);
        size_t more = show(from, text, point, piece), bytes = strlen(piece);
        if (width + more > room || length + bytes + 4 > size)
            break;
        memcpy(shown + length, piece, bytes);
        length += bytes;
        width += more;
    }
    shown[length] = '\0';
    if (*text == '\0')
        return width;
    strcpy(shown + length, "...");
    return width + 3;
}
