/* SPDX-License-Identifier: MIT */
#include "readers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELIDED = 12,
    RANKS = 4,
    NUMBER_WORDS = 3,
    MOST_BEFORE = 4,
    MOST_LINES = 4096,
    CELL_NUMBER_BYTES = 96,
    NAME_BYTES = READER_NAME_BYTES
};

/* How a format parts and ends its cells. */
struct dialect {
    const char *format;
    char between;
    const char *end;
};

static const struct dialect DIALECTS[] = {{"text", ' ', ""}, {"markdown", '|', "|"}, {"latex", '&', "\\\\"}};

/* A document on its way: its lines, and the matrix that comes next. */
struct document {
    const struct dialect *dialect;
    const struct reader_tables *tables;
    bool full, sharp; /* sharp: rows of shares end in their sum and entropy */
    const struct reader_table *table;
    size_t matrix;
    size_t count;
    const char *lines[MOST_LINES]; /* of a matrix */
    char *complaint;
};

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* "$-1.5 \times 10^{-7}$", "−∞", "nan" as strtod reads them. */
static void plain_number(const char *cell, char *plain)
{
    static const char *const SIGNS[][2] = {{"\xe2\x88\x92", "-"},
                                           {"\xe2\x88\x9e", "inf"},
                                           {"\\infty", "inf"},
                                           {"\\times 10^{", "e"},
                                           {"$", ""},
                                           {"}", ""},
                                           {" ", ""},
                                           {"true", "1"},
                                           {"false", "0"}};
    while (*cell != '\0') {
        size_t sign = 0;
        while (sign < sizeof SIGNS / sizeof SIGNS[0] && strncmp(cell, SIGNS[sign][0], strlen(SIGNS[sign][0])) != 0)
            sign++;
        if (sign < sizeof SIGNS / sizeof SIGNS[0]) {
            strcpy(plain, SIGNS[sign][1]);
            plain += strlen(plain);
            cell += strlen(SIGNS[sign][0]);
        } else {
            *plain++ = *cell++;
        }
    }
    *plain = '\0';
}

/* Whether the cell shows the number, to the digits that it has. */
static bool shows(const char *cell, double number)
{
    char plain[CELL_NUMBER_BYTES], *end;
    plain_number(cell, plain);
    const double shown = strtod(plain, &end);
    if (end == plain || *end != '\0')
        return false;
    if (!isfinite(number) || !isfinite(shown))
        return isnan(number) ? isnan(shown) : number == shown;
    const char *exponent = strchr(plain, 'e'), *point = strchr(plain, '.');
    const size_t digits = exponent != NULL ? (size_t)(exponent - plain) : strlen(plain);
    const long power = exponent != NULL ? strtol(exponent + 1, NULL, 10) : 0;
    const long decimals = point != NULL ? (long)digits - (point - plain) - 1 : 0;
    return fabs(shown - number) <= 0.5000001 * pow(10, (double)(power - decimals)) + 1e-15 * fabs(number);
}

/* --- a matrix ---------------------------------------------------------------------------------------------------- */

/* The cell that ends at *end, which moves in front of it. */
static void cell_before(const struct document *document, const char *line, const char **end, char *cell)
{
    const char *to = *end;
    while (to > line && to[-1] == ' ')
        to--;
    const char *from = to;
    while (from > line && from[-1] != document->dialect->between)
        from--;
    const char *begin = from;
    while (begin < to && *begin == ' ')
        begin++;
    snprintf(cell, CELL_NUMBER_BYTES, "%.*s", (int)(to - begin), begin);
    *end = from > line && document->dialect->between != ' ' ? from - 1 : from;
}

/* Which of `count` the i-th of those that are shown is; false: the gap. */
static bool shown_index(const struct document *document, size_t count, size_t i, size_t *index)
{
    *index = i;
    if (document->full || count <= ELIDED)
        return true;
    if (i > ELIDED / 2)
        *index = count - ELIDED - 1 + i;
    return i != ELIDED / 2;
}

static size_t shown_count(const struct document *document, size_t count)
{
    return document->full || count <= ELIDED ? count : ELIDED + 1;
}

/* "key N" in the line, from `at` on; NULL: it is not there. */
static const char *find_key(const char *at, size_t number)
{
    char name[32];
    const size_t length = (size_t)snprintf(name, sizeof name, "key %zu", number);
    for (const char *end = line_end(at); (at = strstr(at, name)) != NULL && at < end; at += length)
        if (at[length] < '0' || at[length] > '9')
            return at;
    return NULL;
}

/* Whether the last words of from[0 .. to) are the number; *unit: 1 in its last decimal. */
static bool ends_in(const char *from, const char *to, double number, double *unit)
{
    char cell[CELL_NUMBER_BYTES];
    while (to > from && to[-1] == ' ')
        to--;
    const char *begin = to;
    for (int words = 0; words < NUMBER_WORDS && begin > from; words++) {
        while (begin > from && begin[-1] == ' ')
            begin--;
        while (begin > from && begin[-1] != ' ')
            begin--;
        snprintf(cell, sizeof cell, "%.*s", (int)(to - begin), begin);
        if (!shows(cell, number))
            continue;
        const char *point = strchr(cell, '.');
        *unit = pow(10, point != NULL ? -(double)strspn(point + 1, "0123456789") : 0);
        return true;
    }
    return false;
}

/* A long row of weights: the largest, each behind its key, but for those that would print as 0. */
static bool check_ranked(const struct document *document, const char *line, const double *numbers, size_t columns)
{
    static const char *const BETWEEN[] = {[' '] = "  ...", ['|'] = " | ", ['&'] = " & "};
    const char *const after = BETWEEN[(unsigned char)document->dialect->between];
    size_t keys[RANKS];
    double unit = 1;
    const char *at = line, *found;
    for (size_t rank = 0; rank < RANKS; rank++) {
        keys[rank] = SIZE_MAX;
        for (size_t key = 0; key < columns; key++) {
            bool taken = false;
            for (size_t i = 0; i < rank; i++)
                taken = taken || keys[i] == key;
            if (!taken && (keys[rank] == SIZE_MAX || numbers[key] > numbers[keys[rank]]))
                keys[rank] = key;
        }
    }
    for (size_t rank = 0; rank < RANKS && numbers[keys[rank]] > 0; rank++, at = found) {
        const double number = numbers[keys[rank]];
        found = find_key(at, keys[rank] + 1);
        if (found == NULL)
            return number <= 0.5 ||
                   reader_complain(document->complaint, "%s: no key %zu of %.17g in: %.*s", document->table->name,
                                   keys[rank] + 1, number, (int)(line_end(line) - line), line);
        found += strlen("key ");
        const char *end = strstr(found, after), *next = rank + 1 < RANKS ? find_key(found, keys[rank + 1] + 1) : NULL;
        if (document->dialect->between == ' ' && next != NULL)
            end = next;
        if (end == NULL || end > line_end(line) || !ends_in(found, end, number, &unit))
            return reader_complain(document->complaint, "%s: key %zu is not %.17g in: %.*s", document->table->name,
                                   keys[rank] + 1, number, (int)(line_end(line) - line), line);
    }
    return true;
}

static bool check_row(const struct document *document, const char *line, const double *numbers, size_t columns)
{
    const char *end = line_end(line) - strlen(document->dialect->end);
    char cell[CELL_NUMBER_BYTES];
    const bool shares = strcmp(document->table->name, "weights") == 0 || strcmp(document->table->name, "dropped") == 0;
    if (!document->full && columns > ELIDED && shares)
        return check_ranked(document, line, numbers, columns);
    for (int i = 0; i < 2 && shares && document->sharp; i++)
        cell_before(document, line, &end, cell);
    for (size_t i = shown_count(document, columns); i-- > 0;) {
        size_t column;
        cell_before(document, line, &end, cell);
        if (shown_index(document, columns, i, &column) && !shows(cell, numbers[column]))
            return reader_complain(document->complaint, "%s, column %zu: '%s' for %.17g in: %.*s",
                                   document->table->name, column + 1, cell, numbers[column],
                                   (int)(line_end(line) - line), line);
    }
    return true;
}

/* Numbers end beneath each other. */
static bool check_widths(const struct document *document, size_t first)
{
    size_t expected = 0;
    for (size_t i = first; i < document->count; i++) {
        const char *line = document->lines[i];
        const size_t width = reader_columns(line, line_end(line));
        if (strncmp(line + strspn(line, " "), "...\n", 4) == 0)
            continue;
        if (expected > 0 && width != expected)
            return reader_complain(document->complaint, "%s: %zu columns, expected %zu: %.*s", document->table->name,
                                   width, expected, (int)(line_end(line) - line), line);
        expected = width;
    }
    return true;
}

/* The last lines are the rows of the next matrix of the table; in text the end of a heading and labels are before them. */
static bool check_matrix(struct document *document)
{
    const struct reader_table *table = document->table;
    const size_t columns = table->shape[table->rank - 1], rows = table->rank > 1 ? table->shape[table->rank - 2] : 1;
    const size_t shown = shown_count(document, rows), first = document->count - shown;
    if (document->count < shown || first > MOST_BEFORE || (document->matrix + 1) * rows * columns > table->count)
        return reader_complain(document->complaint, "%s, matrix %zu: %zu lines, expected %zu", table->name,
                               document->matrix + 1, document->count, shown);
    if (document->dialect->between == ' ' && !check_widths(document, first))
        return false;
    const double *numbers = table->numbers + document->matrix++ * rows * columns;
    for (size_t i = 0; i < shown; i++) {
        size_t row;
        if (shown_index(document, rows, i, &row) &&
            !check_row(document, document->lines[first + i], numbers + row * columns, columns))
            return false;
    }
    document->count = 0;
    return true;
}

/* Whether all matrices of the table have been there. */
static bool end_table(const struct document *document)
{
    const struct reader_table *table = document->table;
    if (table == NULL)
        return true;
    size_t matrices = 1;
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        matrices *= table->shape[axis];
    return document->matrix == matrices || reader_complain(document->complaint, "%s: %zu matrices, expected %zu",
                                                           table->name, document->matrix, matrices);
}

/* A name without its escapes; another table than before begins, whose matrices before it must have been all. */
static bool begin_table(struct document *document, const char *name, size_t length)
{
    char plain[NAME_BYTES];
    size_t size = 0;
    for (size_t i = 0; i < length && size + 1 < NAME_BYTES; i++)
        if (name[i] != '\\')
            plain[size++] = name[i];
    plain[size] = '\0';
    const struct reader_table *table = reader_table(document->tables, plain);
    if (table == NULL)
        return reader_complain(document->complaint, "a table '%s', which no other format has", plain);
    document->count = 0;
    if (table == document->table)
        return true;
    const bool ended = end_table(document);
    document->table = table;
    document->matrix = 0;
    return ended;
}

static void add_line(struct document *document, const char *line)
{
    if (document->count == MOST_LINES)
        abort();
    document->lines[document->count++] = line;
}

/* --- documents --------------------------------------------------------------------------------------------------- */

/* "  item 1, head 2" and nothing else. */
static bool is_place(const char *line)
{
    const char *at = line + strspn(line, " ");
    if (strncmp(at, "item ", 5) != 0 && strncmp(at, "head ", 5) != 0)
        return false;
    at += 5 + strspn(at + 5, "0123456789");
    if (strncmp(at, ", head ", 7) == 0)
        at += 7 + strspn(at + 7, "0123456789");
    return *at == '\n';
}

/* Behind the settings a paragraph for each table: its name, and the matrix or a line before each. */
static bool check_text(struct document *document, const char *text)
{
    bool begins = false, has_places = false;
    for (const char *line = text; *line != '\0'; line = line_end(line) + 1) {
        const bool ends = *line == '\n' || is_place(line);
        if (ends && *line != '\n' && !has_places)
            document->count = 0;
        has_places = ends && *line != '\n' ? true : has_places && !begins;
        if (ends && document->count > 0 && !check_matrix(document))
            return false;
        if (begins && !begin_table(document, line, strcspn(line, " ")))
            return false;
        if (!ends && !begins && document->table != NULL)
            add_line(document, line);
        begins = *line == '\n';
    }
    return document->count == 0 || check_matrix(document);
}

static bool check_markdown(struct document *document, const char *text)
{
    for (const char *line = text; *line != '\0'; line = line_end(line) + 1)
        if (strncmp(line, "**", 2) == 0) {
            if (!begin_table(document, line + 2, (size_t)(strstr(line + 2, "**") - line - 2)))
                return false;
        } else if (*line == '|') {
            if (line_end(line)[1] == '|' || document->count > 0)
                add_line(document, line);
            if (line_end(line)[1] == '|')
                continue;
            memmove(document->lines, document->lines + 2, (document->count -= 2) * sizeof *document->lines);
            if (!check_matrix(document))
                return false;
        }
    return true;
}

static bool check_latex(struct document *document, const char *text)
{
    bool inside = false;
    for (const char *line = text; *line != '\0'; line = line_end(line) + 1) {
        if (strncmp(line, "\\begin{center}\n", 15) == 0) {
            line = line_end(line) + 1;
            if (!begin_table(document, line, strcspn(line, " ")))
                return false;
        }
        if (strncmp(line, "\\bottomrule\n", 12) == 0 && !check_matrix(document))
            return false;
        inside = (inside || strncmp(line, "\\midrule\n", 9) == 0) && strncmp(line, "\\bottomrule\n", 12) != 0;
        if (inside && strncmp(line, "\\midrule\n", 9) != 0)
            add_line(document, line);
    }
    return true;
}

/* Takes the colours of a terminal away. */
static char *without_paint(const char *bytes)
{
    char *text = strdup(bytes), *to = text;
    if (text == NULL)
        abort();
    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, "\033[", 2) == 0)
            from += strcspn(from, "m") + 1;
        else
            *to++ = *from++;
    }
    *to = '\0';
    return text;
}

bool reader_shows(const char *format, const char *bytes, const struct reader_tables *tables, bool full, bool sharp,
                  char *complaint)
{
    static struct document document;
    static bool (*const CHECKS[])(struct document *, const char *) = {check_text, check_markdown, check_latex};
    bool right = true;
    for (size_t i = 0; i < sizeof DIALECTS / sizeof DIALECTS[0]; i++) {
        if (strcmp(format, DIALECTS[i].format) != 0)
            continue;
        document = (struct document){
            .dialect = &DIALECTS[i], .tables = tables, .full = full, .sharp = sharp, .complaint = complaint};
        char *text = without_paint(bytes);
        right = CHECKS[i](&document, text) && end_table(&document);
        free(text);
    }
    return right;
}
