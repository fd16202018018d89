/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

bool reader_complain(char *complaint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, COMPLAINT_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* --- characters -------------------------------------------------------------------------------------------------- */

/* The next character of UTF-8, strictly; 0 where there is none. */
static unsigned next_character(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    const size_t more = bytes[0] < 0x80 ? 0 : bytes[0] < 0xe0 ? 1 : bytes[0] < 0xf0 ? 2 : 3;
    unsigned character = more == 0 ? bytes[0] : bytes[0] & (0x3fu >> more);
    if (bytes[0] >= 0x80 && (bytes[0] < 0xc2 || bytes[0] > 0xf4))
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (bytes[i] & 0x3fu);
    }
    static const unsigned LEAST[] = {1, 0x80, 0x800, 0x10000};
    *text += more + 1;
    return character < LEAST[more] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ? 0
                                                                                                          : character;
}

/* What acts on a terminal, breaks lines, or turns the direction of what stands beside it. */
static bool is_active(unsigned character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x200e && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0x061c || character == 0xfeff;
}

/* The length of "ESC [ 1 ; 31 m", or 0. */
static size_t paint_length(const char *text)
{
    if (strncmp(text, "\033[", 2) != 0)
        return 0;
    const size_t digits = strspn(text + 2, "0123456789;");
    return text[2 + digits] == 'm' ? digits + 3 : 0;
}

bool reader_is_plain(const char *bytes, size_t length, bool color, char *complaint)
{
    if (strlen(bytes) != length || length == 0 || bytes[length - 1] != '\n')
        return reader_complain(complaint, "it is empty, holds NUL, or does not end in a newline");
    for (const char *text = bytes; *text != '\0';) {
        const size_t at = (size_t)(text - bytes), paint = color ? paint_length(text) : 0;
        text += paint;
        const unsigned character = paint > 0 ? '\n' : next_character(&text);
        if (character == 0)
            return reader_complain(complaint, "byte %zu is no UTF-8", at);
        if (character != '\n' && is_active(character))
            return reader_complain(complaint, "byte %zu is the character U+%04X", at, character);
    }
    return true;
}

size_t reader_columns(const char *text, const char *end)
{
    static locale_t wide;
    size_t sum = 0;
    if (wide == NULL)
        wide = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    const locale_t before = uselocale(wide);
    while (text < end) {
        const size_t paint = paint_length(text);
        text += paint;
        const int width = paint > 0 ? 0 : wcwidth((wchar_t)next_character(&text));
        sum += width >= 0 ? (size_t)width : 1;
    }
    uselocale(before);
    return sum;
}

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

size_t reader_width(const char *text)
{
    size_t widest = 0;
    for (const char *line = text; *line != '\0'; line = line_end(line) + 1) {
        const size_t width = reader_columns(line, line_end(line));
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Whether the line has a zero with a sign: "-0", "-0.00", a minus of U+2212 and 0, "-0.0e+00". */
static bool has_negative_zero(const char *line, const char *end)
{
    static const char MINUS[] = "\xe2\x88\x92";
    for (const char *at = line; at + 1 < end; at++) {
        const size_t sign = *at == '-' ? 1 : strncmp(at, MINUS, 3) == 0 ? 3 : 0;
        const bool begins = at == line || strchr(" |&$,\"(>;", at[-1]) != NULL;
        if (sign == 0 || !begins || at[sign] != '0')
            continue;
        const char *behind = at + sign + 1;
        if (*behind == '.')
            behind += 1 + strspn(behind + 1, "0");
        behind += strncmp(behind, "e+00", 4) == 0 ? 4 : 0;
        if (behind >= end || strchr(" |&$,\")<\n", *behind) != NULL)
            return true;
    }
    return false;
}

static bool check_zeros(const char *bytes, char *complaint)
{
    for (const char *line = bytes; *line != '\0'; line = line_end(line) + 1)
        if (has_negative_zero(line, line_end(line)))
            return reader_complain(complaint, "a zero with a sign in '%.*s'", (int)(line_end(line) - line), line);
    return true;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

enum { HEAD_COLUMNS = 79 };

/* The lines before the first empty one say the settings; the words of a setting may be long, so of a line with one word
 * nothing is said. */
static bool check_head(const char *bytes, char *complaint)
{
    for (const char *line = bytes; *line != '\0' && *line != '\n'; line = line_end(line) + 1) {
        const char *end = line_end(line);
        if (reader_columns(line, end) > HEAD_COLUMNS && memchr(line + 2, ' ', (size_t)(end - line - 2)) != NULL)
            return reader_complain(complaint, "the head is %zu columns wide: %.*s", reader_columns(line, end),
                                   (int)(end - line), line);
    }
    return true;
}

bool reader_text(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    (void)tables;
    if (!reader_is_plain(bytes, length, true, complaint) || !check_head(bytes, complaint))
        return false;
    if (strstr(bytes, "-nan") != NULL)
        return reader_complain(complaint, "-nan");
    const char *paint = strstr(bytes, "\033["), *last = paint;
    while (paint != NULL) {
        last = paint;
        paint = strstr(paint + 2, "\033[");
    }
    if (last != NULL && strncmp(last, "\033[0m", 4) != 0 && strncmp(last, "\033[m", 3) != 0)
        return reader_complain(complaint, "a colour does not end");
    return check_zeros(bytes, complaint);
}

/* --- Markdown ---------------------------------------------------------------------------------------------------- */

/* Bars that part cells: those without a backslash. */
static size_t count_bars(const char *line)
{
    size_t bars = 0;
    for (; *line != '\n'; line++) {
        bars += *line == '|';
        line += *line == '\\' && line[1] != '\n';
    }
    return bars;
}

/* A table: a row of names, one of dashes with a colon on one side, rows; as many cells and as wide. */
static bool check_table(const char **line, char *complaint)
{
    const size_t bars = count_bars(*line), width = reader_columns(*line, line_end(*line));
    size_t rows = 0;
    for (; **line == '|'; *line = line_end(*line) + 1, rows++) {
        const char *end = line_end(*line);
        if (memchr(*line, '<', (size_t)(end - *line)) != NULL)
            return reader_complain(complaint, "HTML: %.*s", (int)(end - *line), *line);
        if (count_bars(*line) != bars || end[-1] != '|' || bars < 3)
            return reader_complain(complaint, "%zu bars, expected %zu: %.*s", count_bars(*line), bars,
                                   (int)(end - *line), *line);
        if (reader_columns(*line, end) != width)
            return reader_complain(complaint, "%zu columns, expected %zu: %.*s", reader_columns(*line, end), width,
                                   (int)(end - *line), *line);
        if (rows == 1 && strspn(*line, "|:-") != (size_t)(end - *line))
            return reader_complain(complaint, "no rule: %.*s", (int)(end - *line), *line);
    }
    return rows >= 3 || reader_complain(complaint, "a table of %zu lines", rows);
}

bool reader_markdown(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    size_t count = 0;
    (void)tables;
    if (!reader_is_plain(bytes, length, false, complaint))
        return false;
    for (const char *line = bytes; *line != '\0';) {
        if (*line == '|') {
            if (!check_table(&line, complaint))
                return false;
            count++;
            continue;
        }
        if (*line != '\n' && (strncmp(line, "**", 2) != 0 || line_end(line)[1] != '\n'))
            return reader_complain(complaint, "no heading: %.*s", (int)(line_end(line) - line), line);
        line = line_end(line) + 1;
    }
    return count > 0 ? check_zeros(bytes, complaint) : reader_complain(complaint, "no table");
}

/* --- LaTeX ------------------------------------------------------------------------------------------------------- */

/* Braces, and dollars, come in pairs; a special character of TeX has a backslash before it or is meant. */
static bool check_line(const char *line, size_t *cells, char *complaint)
{
    long depth = 0;
    bool mathematics = false;
    *cells = 1;
    for (const char *at = line; *at != '\n' && depth >= 0; at++) {
        if (*at == '\\' && strchr("\\#$%&_{}", at[1]) != NULL) {
            at++;
            continue;
        }
        depth += (*at == '{') - (*at == '}');
        *cells += *at == '&';
        mathematics ^= *at == '$';
        if (strchr("#%~\"", *at) != NULL || (strchr("^_", *at) != NULL && !mathematics))
            return reader_complain(complaint, "'%c' in: %.*s", *at, (int)(line_end(line) - line), line);
    }
    return (depth == 0 && !mathematics) ||
           reader_complain(complaint, "braces or dollars in: %.*s", (int)(line_end(line) - line), line);
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* \begin{tabular}{l*{N}{r}} with rows of 1 + N cells, within a center; *line moves behind it. */
static bool check_tabular(const char **line, char *complaint)
{
    size_t cells, rows = 0, rules = 0;
    unsigned long count = 0;
    static const char BEGIN[] = "\\begin{tabular}{l*{";
    for (; **line != '\0' && !begins(*line, "\\end{center}\n"); *line = line_end(*line) + 1) {
        const char *end = line_end(*line);
        if (!check_line(*line, &cells, complaint))
            return false;
        if (begins(*line, BEGIN))
            count = strtoul(*line + sizeof BEGIN - 1, NULL, 10);
        rules += begins(*line, "\\toprule\n") || begins(*line, "\\midrule\n") || begins(*line, "\\bottomrule\n");
        if ((rules != 1 && rules != 2) || begins(*line, "\\toprule\n") || begins(*line, "\\midrule\n"))
            continue;
        rows++;
        if (cells != count + 1 || end - *line < 3 || !begins(end - 3, " \\\\"))
            return reader_complain(complaint, "%zu cells, expected %lu: %.*s", cells, count + 1, (int)(end - *line),
                                   *line);
    }
    return (rules == 3 && rows >= 2 && begins(*line - strlen("\\end{tabular}\n"), "\\end{tabular}\n")) ||
           reader_complain(complaint, "a table of %zu rows and %zu rules", rows, rules);
}

bool reader_latex(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    size_t count = 0;
    (void)tables;
    if (!reader_is_plain(bytes, length, false, complaint))
        return false;
    const char *line = line_end(bytes) + 1;
    if (!begins(bytes, "% needs \\usepackage{booktabs}\n"))
        return reader_complain(complaint, "it does not begin with what it needs");
    for (; *line != '\0'; line = line_end(line) + 1) {
        if (*line == '\n')
            continue;
        if (!begins(line, "\\begin{center}\n"))
            return reader_complain(complaint, "no table: %.*s", (int)(line_end(line) - line), line);
        line = line_end(line) + 1;
        if (!check_tabular(&line, complaint))
            return false;
        count++;
    }
    return count > 0 ? check_zeros(bytes, complaint) : reader_complain(complaint, "no table");
}

/* --- SVG and HTML ------------------------------------------------------------------------------------------------ */

/* A number of a tag that is none: nan or inf as a word of an attribute that places or paths. */
static bool check_attributes(const char *tag, const char *end, char *complaint)
{
    static const char *const PLACING[] = {" x=\"",  " y=\"",  " d=\"",        " width=\"", " height=\"",
                                          " x1=\"", " x2=\"", " y1=\"",       " y2=\"",    " points=\"",
                                          " dx=\"", " dy=\"", " transform=\""};
    for (size_t i = 0; i < sizeof PLACING / sizeof PLACING[0]; i++) {
        const char *value = strstr(tag, PLACING[i]);
        if (value == NULL || value >= end)
            continue;
        value += strlen(PLACING[i]);
        const size_t size = strcspn(value, "\"");
        if (size == 0 || memmem(value, size, "nan", 3) != NULL || memmem(value, size, "inf", 3) != NULL)
            return reader_complain(complaint, "a place that is no number: %.*s", (int)(end - tag), tag);
    }
    return true;
}

/* That it is XML, xmllint says of all pictures at once. */
bool reader_svg(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    (void)tables;
    if (!reader_is_plain(bytes, length, false, complaint))
        return false;
    if (!begins(bytes, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"") ||
        strcmp(bytes + length - 7, "</svg>\n") != 0)
        return reader_complain(complaint, "no picture, or half of one");
    for (const char *tag = strchr(bytes, '<'); tag != NULL; tag = strchr(tag + 1, '<')) {
        const char *end = strchr(tag, '>');
        if (end == NULL || !check_attributes(tag, end, complaint))
            return end != NULL ? false : reader_complain(complaint, "a tag does not end");
    }
    return check_zeros(bytes, complaint);
}

static size_t count_text(const char *text, const char *word)
{
    size_t count = 0;
    for (text = strstr(text, word); text != NULL; text = strstr(text + 1, word))
        count++;
    return count;
}

/* That its equations give the numbers of attn, page.js says of all pages at once. */
bool reader_html(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    (void)tables;
    if (!reader_is_plain(bytes, length, false, complaint))
        return false;
    if (!begins(bytes, "<!DOCTYPE html>\n") || strcmp(bytes + length - 8, "</html>\n") != 0)
        return reader_complain(complaint, "no page, or half of one");
    const size_t begun = count_text(bytes, "<script"), ended = count_text(bytes, "</script>");
    return (begun == ended && begun >= 5) || reader_complain(complaint, "%zu scripts begin, %zu end", begun, ended);
}

bool reader_any(const char *bytes, size_t length, struct reader_tables *tables, char *complaint)
{
    (void)bytes;
    (void)tables;
    return length > 0 || reader_complain(complaint, "it is empty");
}

reader *reader_find(const char *format)
{
    static const struct {
        const char *format;
        reader *read;
    } READERS[] = {
        {"text", reader_text},   {"json", reader_json},
        {"npy", reader_npy},     {"safetensors", reader_safetensors},
        {"csv", reader_csv},     {"markdown", reader_markdown},
        {"latex", reader_latex}, {"svg", reader_svg},
        {"html", reader_html},
    };
    for (size_t i = 0; i < sizeof READERS / sizeof READERS[0]; i++)
        if (strcmp(READERS[i].format, format) == 0)
            return READERS[i].read;
    return reader_any;
}
