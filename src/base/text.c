/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/memory.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

size_t text_blanks(const void *bytes, size_t length)
{
    const unsigned char *at = bytes, *end = at + length;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    return length - (size_t)(end - at);
}

size_t text_character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    /* No overlong form, no surrogate, nothing above U+10FFFF: the second byte decides. */
    unsigned char least = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char most = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    if (c[1] < least || c[1] > most)
        return 0;
    size_t length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    for (size_t i = 2; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

uint32_t text_next(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    const size_t length = text_character(*text);
    *text += length > 0 ? length : 1;
    if (length == 0)
        return 0xfffd;
    uint32_t point = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (bytes[i] & 0x3f);
    return point;
}

bool text_wants_ascii(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && (locale == NULL || locale[0] == '\0'); i++)
        locale = getenv(NAMES[i]);
    return locale != NULL && (strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0);
}

static locale_t utf8;

static void make_locale(void)
{
    static const char *const NAMES[] = {"C.UTF-8", "en_US.UTF-8"};
    for (size_t i = 0; i < 2 && utf8 == (locale_t)0; i++)
        utf8 = newlocale(LC_CTYPE_MASK, NAMES[i], (locale_t)0);
}

/* Creates its locale object at the first character that may be wide. */
size_t text_width(uint32_t point)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (point < 0x300)
        return 1;
    pthread_once(&once, make_locale);
    if (utf8 == (locale_t)0)
        return 1;
    locale_t before = uselocale(utf8);
    int width = wcwidth((wchar_t)point);
    uselocale(before);
    return width < 0 ? 1 : (size_t)width;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void text_sort(void *items, size_t count, size_t size)
{
    if (count > 0) /* else there may be no items */
        qsort(items, count, size, by_text);
}

size_t text_first(const char *text, const void *items, size_t count, size_t size)
{
    size_t first = 0, end = count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (by_text((const char *)items + middle * size, &text) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const void *text_find(const char *text, const void *items, size_t count, size_t size)
{
    const size_t first = text_first(text, items, count, size);
    const char *found = first < count ? (const char *)items + first * size : NULL;
    return found != NULL && by_text(found, &text) == 0 ? found : NULL;
}

bool text_ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), last = strlen(end);
    return length > last && strcmp(text + length - last, end) == 0;
}

size_t text_columns(const char *text)
{
    size_t columns = 0;
    while (*text != '\0')
        columns += text_width(text_next(&text));
    return columns;
}

bool text_is_hidden(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x180e || point == 0x200b ||
           point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff || (point >= 0xfff9 && point <= 0xfffb) ||
           (point & 0xfffe) == 0xfffe;
}

/* Writes the visible form of one character into piece; returns its columns. */
static size_t show_point(const char *from, const char *to, uint32_t point, char piece[16])
{
    static const char *const ESCAPES[32] = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r"};
    if (point < 0x20 && ESCAPES[point] != NULL)
        return (size_t)snprintf(piece, 16, "%s", ESCAPES[point]);
    if (text_is_hidden(point))
        return (size_t)snprintf(piece, 16, point < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)point);
    if (point == 0xfffd && strncmp(from, "\xef\xbf\xbd", 3) != 0)
        return (size_t)snprintf(piece, 16, "?");
    const size_t length = (size_t)(to - from);
    memcpy(piece, from, length);
    piece[length] = '\0';
    return text_width(point);
}

/* Whether the text takes more than that many columns; reads no further than needed. */
static bool is_wider(const char *text, size_t columns)
{
    char piece[16];
    size_t width = 0;
    while (*text != '\0' && width <= columns) {
        const char *from = text;
        uint32_t point = text_next(&text);
        width += show_point(from, text, point, piece);
    }
    return width > columns;
}

/* What "%.*f" writes of most numbers, in a tenth of the time; but zero without its sign. False: it may be another. */
static bool write_fixed(char *text, size_t size, int decimals, double number)
{
    static const double TENS[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    if (decimals < 0 || (size_t)decimals >= sizeof TENS / sizeof TENS[0])
        return false;
    /* Below 2^40 the product is off by at most 2^-13, which matters only about a half. */
    const double scaled = fabs(number) * TENS[decimals];
    if (!(scaled < 0x1p40) || fabs(scaled - floor(scaled) - 0.5) < 0x1p-12)
        return false;
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = (uint64_t)(scaled + 0.5);
    const bool negative = number < 0 && left > 0;
    for (int count = 0; count <= decimals || left > 0; count++, left /= 10) {
        if (count == decimals && decimals > 0)
            *--at = '.';
        *--at = (char)('0' + left % 10);
    }
    if (negative)
        *--at = '-';
    const size_t length = (size_t)(digits + sizeof digits - at);
    if (length >= size)
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    return true;
}

const char *text_number(char *text, size_t size, int decimals, bool exponent, double number)
{
    if (!exponent && write_fixed(text, size, decimals, number))
        return text;
    if (isnan(number)) /* which printf may give a sign */
        snprintf(text, size, "nan");
    else
        snprintf(text, size, exponent ? "%.*e" : "%.*f", decimals, number);
    const char *end = text + 1 + (text[0] == '-' ? strspn(text + 1, "0.") : 0);
    if (text[0] == '-' && (*end == '\0' || *end == 'e'))
        memmove(text, text + 1, strlen(text));
    return text;
}

/* 0.0001 in float32 is slightly below 1e-4. */
bool text_wants_exponent(double magnitude)
{
    return magnitude != 0 && (magnitude < 0.999999e-4 || magnitude > 1e6);
}

/* text_shown, with that ending (of `taken` columns) where the text is cut. */
static size_t shorten(const char *text, size_t columns, const char *ending, size_t taken, char *shown, size_t size)
{
    const bool clipped = is_wider(text, columns);
    const size_t room = clipped ? memory_left(columns, taken) : columns;
    size_t width = 0, length = 0;
    uint32_t before = ' ';
    while (*text != '\0') {
        char piece[16];
        const char *from = text;
        uint32_t point = text_next(&text);
        size_t more = show_point(from, text, point, piece);
        if (point == ' ' && (before == ' ' || *text == ' ' || *text == '\0')) /* it would be invisible */
            strcpy(piece, TEXT_BLANK);
        const size_t bytes = strlen(piece);
        before = point;
        if (width + more > room || length + bytes + 4 > size) {
            strcpy(shown + length, ending);
            return width + taken;
        }
        memcpy(shown + length, piece, bytes);
        length += bytes;
        width += more;
    }
    shown[length] = '\0';
    return width;
}

size_t text_shown(const char *text, size_t columns, char *shown, size_t size)
{
    return shorten(text, columns, "...", 3, shown, size);
}

size_t text_cut(const char *text, size_t columns, char *shown, size_t size)
{
    return shorten(text, columns, "\xe2\x80\xa6", 1, shown, size);
}

struct text text_begin(char *bytes, size_t size)
{
    bytes[0] = '\0';
    return (struct text){bytes, size, 0, false};
}

/* The length of the text without an incomplete last character. */
static size_t whole_length(const char *bytes, size_t length)
{
    size_t last = length;
    while (last > 0 && ((unsigned char)bytes[last - 1] & 0xc0) == 0x80)
        last--;
    last -= last > 0;
    return last + text_character(bytes + last) == length ? length : last;
}

void text_add(struct text *text, const char *format, ...)
{
    const size_t room = text->size - text->length;
    va_list arguments;
    if (text->cut)
        return;
    va_start(arguments, format);
    const int needed = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    text->cut = needed < 0 || (size_t)needed >= room;
    text->length = text->cut ? whole_length(text->bytes, strlen(text->bytes)) : text->length + (size_t)needed;
    text->bytes[text->length] = '\0';
}

char *text_format(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

const char *text_path(const char *path, char shown[TEXT_PATH_BYTES])
{
    const size_t length = strlen(path), half = (TEXT_PATH_BYTES - 4) / 2;
    if (length < TEXT_PATH_BYTES)
        return memcpy(shown, path, length + 1);
    return text_format(shown, TEXT_PATH_BYTES, "%.*s...%s", (int)half, path, path + length - half);
}

bool text_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    while (words != NULL && *words != '\0') {
        const size_t size = strcspn(words, " ");
        if (size == length && memcmp(words, word, length) == 0)
            return true;
        words += size + (words[size] == ' ');
    }
    return false;
}

const char *text_alternatives(const char *const *words, size_t count, char *text, size_t size)
{
    size_t left = 0, length = 0;
    for (size_t i = 0; i < count; i++)
        left += words[i] != NULL;
    text[0] = '\0';
    for (size_t i = 0; i < count && length < size; i++)
        if (words[i] != NULL) {
            left--;
            length += (size_t)snprintf(text + length, size - length, "%s%s", words[i],
                                       left > 1    ? ", "
                                       : left == 1 ? " or "
                                                   : "");
        }
    return text;
}
