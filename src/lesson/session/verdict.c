/* SPDX-License-Identifier: MIT */
#include "lesson/session/verdict.h"

#include "base/decimal.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define EXPONENT_SHARE 5e-5 /* relative tolerance of a number with an exponent */

enum {
    ROW_NUMBERS = 64,    /* compared numbers of a row */
    FEWEST_DECIMALS = 2, /* of a rounded number at least */
    MOST_DECIMALS = 17,
    LABEL_BYTES = 40, /* of a shown label */
};
#define MOST_FIXED 1e15
#define BETWEEN " ,:;|=&\"'()[]{}<>\\\t\n"

/* --- numbers ----------------------------------------------------------------------------------------------------- */

struct number {
    double value;
    int decimals; /* as written; -1: it has an exponent */
};

static bool read_number(const char *text, size_t length, struct number *number)
{
    const char *point = memchr(text, '.', length);
    if (length == 0 || !decimal_to_double(text, length, &number->value) || !isfinite(number->value))
        return false;
    number->decimals = point != NULL ? (int)(text + length - point) - 1 : 0;
    if (memchr(text, 'e', length) != NULL || memchr(text, 'E', length) != NULL)
        number->decimals = -1;
    return true;
}

/* Reads the next number of a line, `*line` .. `end`, and moves *line past it; `before` is its beginning. Numbers are
 * between blanks, brackets and the like, or next to a character that is no letter: 0.23 before a shaded block. */
static bool next_number(const char **line, const char *end, struct number *number, const char **before)
{
    while (*line < end) {
        const char *from = *line;
        while (from < end && (strchr(BETWEEN, *from) != NULL || (*from & 0x80) != 0))
            from++;
        const char *to = from;
        while (to < end && strchr(BETWEEN, *to) == NULL && (*to & 0x80) == 0)
            to++;
        while (to > from + 1 && strchr(".?!", to[-1]) != NULL) /* the end of a sentence */
            to--;
        *line = to;
        *before = from;
        if (read_number(from, (size_t)(to - from), number))
            return true;
    }
    return false;
}

/* Whether `found` is the answer's number: with more decimals it rounds to that, with fewer it has FEWEST_DECIMALS. */
static bool shows(struct number found, struct number answer)
{
    const int fewer = found.decimals < answer.decimals ? found.decimals : answer.decimals;
    if (found.value == answer.value)
        return found.decimals >= answer.decimals || fewer >= FEWEST_DECIMALS;
    if (fewer < 0)
        return fabs(found.value - answer.value) <= EXPONENT_SHARE * fabs(answer.value);
    return fewer >= FEWEST_DECIMALS && found.decimals != answer.decimals &&
           fabs(found.value - answer.value) <= (0.5 + 1e-6) * pow(10, -fewer) + 1e-12 * fabs(answer.value);
}

bool verdict_next_number(const char **text, char number[VERDICT_NUMBER_BYTES])
{
    const char *end = *text + strlen(*text), *from;
    for (struct number found; next_number(text, end, &found, &from);)
        if (*text - from < VERDICT_NUMBER_BYTES) {
            snprintf(number, VERDICT_NUMBER_BYTES, "%.*s", (int)(*text - from), from);
            return true;
        }
    return false;
}

bool verdict_is_right(const char *said, const char *right)
{
    struct number mine = {0}, theirs = {0};
    read_number(said, strlen(said), &mine);
    read_number(right, strlen(right), &theirs);
    return mine.value == theirs.value || (mine.decimals < theirs.decimals && shows(mine, theirs));
}

void verdict_of_number(const char *said, const char *right, struct text *sentence)
{
    struct number mine = {0}, theirs = {0};
    read_number(said, strlen(said), &mine);
    read_number(right, strlen(right), &theirs);
    const int decimals = mine.decimals > theirs.decimals ? mine.decimals : theirs.decimals;
    const double apart = fabs(mine.value - theirs.value);
    if (mine.value == theirs.value) {
        text_add(sentence, "You said %s, and it is: well done.", said);
        return;
    }
    text_add(sentence, "You said %s; it is %s: ", said, right);
    if (verdict_is_right(said, right))
        text_add(sentence, "right, to the digits that you gave.");
    else if (mine.decimals >= 0 && theirs.decimals >= 0 && decimals <= MOST_DECIMALS && apart < MOST_FIXED)
        text_add(sentence, "%.*f too %s.", decimals, apart, mine.value < theirs.value ? "low" : "high");
    else
        text_add(sentence, "%g too %s.", apart, mine.value < theirs.value ? "low" : "high");
}

void verdict_of_word(const char *said, const char *right, struct text *sentence)
{
    const bool same = strcasecmp(said, right) == 0;
    text_add(sentence, same ? "You said %s, and it is: well done." : "You said %s; it is %s.", said, right);
}

bool verdict_has_number(const char *printed, const char *number)
{
    const char *end = printed + strlen(printed), *before;
    struct number wanted, found;
    if (!read_number(number, strlen(number), &wanted))
        return false;
    while (next_number(&printed, end, &found, &before))
        if (found.decimals == wanted.decimals && found.value == wanted.value)
            return true;
    return false;
}

/* --- rows and tables --------------------------------------------------------------------------------------------- */

struct row {
    const char *label;
    size_t label_length, count;
    struct number numbers[ROW_NUMBERS];
};

static bool read_row(const char *line, const char *end, struct row *row)
{
    const char *at = line, *before;
    row->count = 0;
    for (struct number number; row->count < ROW_NUMBERS && next_number(&at, end, &number, &before);) {
        if (row->count == 0) {
            row->label = line + strspn(line, " ");
            row->label_length = (size_t)(before - line) > strspn(line, " ") ? (size_t)(before - row->label) : 0;
            while (row->label_length > 0 && strchr(" :", row->label[row->label_length - 1]) != NULL)
                row->label_length--;
        }
        row->numbers[row->count++] = number;
    }
    return row->count > 0;
}

/* A table of an output: its first line, and where the lines after it begin and end. */
struct table {
    const char *name, *rows, *end;
    size_t name_length;
};

static const char *line_end(const char *line)
{
    return line + strcspn(line, "\n");
}

/* The next table: lines up to an empty one; a single line is both name and row. Skips head lines, and the scale below a
 * heatmap. */
static bool next_table(const char **text, struct table *table)
{
    while (**text != '\0') {
        *text += strspn(*text, "\n");
        const char *first = *text, *end = strstr(first, "\n\n");
        if (end == NULL)
            end = first + strlen(first);
        *text = end;
        if (*first == ' ')
            continue;
        const char *colon = strstr(first, "attention");
        if (colon != NULL && colon < line_end(first) && memchr(first, ':', (size_t)(line_end(first) - first)) != NULL)
            continue;
        const char *rows = line_end(first);
        *table = (struct table){first, rows + 1 < end ? rows + 1 : first, end, strcspn(first, " :\n")};
        return end > first;
    }
    return false;
}

static bool is_same(const char *text, size_t length, const char *other, size_t other_length)
{
    return length == other_length && strncmp(text, other, length) == 0;
}

static size_t same_numbers(const struct row *found, const struct row *answer)
{
    size_t same = 0;
    while (same < answer->count && same < found->count && shows(found->numbers[same], answer->numbers[same]))
        same++;
    return same;
}

static void add_number(struct text *text, const struct row *row, size_t place)
{
    if (place >= row->count)
        text_add(text, "nothing");
    else if (row->numbers[place].decimals >= 0)
        text_add(text, "%.*f", row->numbers[place].decimals, row->numbers[place].value);
    else
        text_add(text, "%g", row->numbers[place].value);
}

/* "weights, row one: your output has 0.1526, the answer 0.0906"; if no row is near "weights: your output has no row" */
static void report_row(const struct table *table, const struct row *answer, const struct row *near,
                       struct text *sentence)
{
    const size_t same = near->count > 0 ? same_numbers(near, answer) : 0;
    const int length = (int)memory_smaller(LABEL_BYTES, answer->label_length);
    text_add(sentence, "%.*s", (int)memory_smaller(LABEL_BYTES, table->name_length), table->name);
    if (near->count == 0 && length > 0) {
        text_add(sentence, ": your output has no row \"%.*s\"", length, answer->label);
        return;
    }
    if (length > 0)
        text_add(sentence, ", row %.*s", length, answer->label);
    text_add(sentence, ": your output has ");
    add_number(sentence, near, same);
    text_add(sentence, ", the answer ");
    add_number(sentence, answer, same);
}

/* Whether the table has the row; else `near` is a row with its label, or has no numbers. */
static bool find_row(const struct table *table, const struct row *answer, struct row *near)
{
    struct row row;
    near->count = 0;
    for (const char *line = table->rows; line < table->end; line = line_end(line) + 1) {
        if (!read_row(line, line_end(line), &row) ||
            !is_same(row.label, row.label_length, answer->label, answer->label_length))
            continue;
        if (row.count == answer->count && same_numbers(&row, answer) == answer->count)
            return true;
        if (near->count == 0)
            *near = row;
    }
    return false;
}

/* Whether the row's numbers follow one another anywhere. */
static bool is_anywhere(const char *printed, const struct row *answer)
{
    const char *end = printed + strlen(printed), *before;
    for (struct number number; next_number(&printed, end, &number, &before);) {
        const char *at = printed;
        size_t same = shows(number, answer->numbers[0]);
        while (same > 0 && same < answer->count && next_number(&at, end, &number, &before) &&
               shows(number, answer->numbers[same]))
            same++;
        if (same == answer->count)
            return true;
    }
    return false;
}

static bool find_table(const char *printed, const struct table *answer, struct table *found)
{
    while (next_table(&printed, found))
        if (is_same(found->name, found->name_length, answer->name, answer->name_length))
            return true;
    return false;
}

static enum verdict compare_table(const char *printed, const struct table *answer, struct text *sentence)
{
    struct table found;
    struct row row, near;
    const bool there = find_table(printed, answer, &found);
    for (const char *line = answer->rows; line < answer->end; line = line_end(line) + 1) {
        if (!read_row(line, line_end(line), &row))
            continue;
        if (there && !find_row(&found, &row, &near)) {
            report_row(answer, &row, &near, sentence);
            return VERDICT_DIFFERENT;
        }
        if (!there && !is_anywhere(printed, &row))
            return VERDICT_ELSE;
    }
    return VERDICT_RIGHT;
}

enum verdict verdict_of_output(const char *printed, const char *answer, struct text *sentence)
{
    struct table table, missing = {0};
    struct number number;
    size_t right = 0;
    const char *text = answer, *before;
    if (!next_number(&text, answer + strlen(answer), &number, &before)) {
        const bool same = strcmp(printed, answer) == 0;
        text_add(sentence, "%s", same ? "" : "the answer prints other lines");
        return same ? VERDICT_RIGHT : VERDICT_ELSE;
    }
    for (const char *rest = answer; next_table(&rest, &table);) {
        const enum verdict verdict = compare_table(printed, &table, sentence);
        if (verdict == VERDICT_DIFFERENT)
            return verdict;
        right += verdict == VERDICT_RIGHT;
        if (verdict == VERDICT_ELSE && missing.name == NULL)
            missing = table;
    }
    if (missing.name == NULL)
        return VERDICT_RIGHT;
    text_add(sentence, "the answer shows %.*s", (int)memory_smaller(LABEL_BYTES, missing.name_length), missing.name);
    return right > 0 ? VERDICT_PART : VERDICT_ELSE;
}
