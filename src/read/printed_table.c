/* SPDX-License-Identifier: MIT */
#include "read/printed_table.h"

#include "base/text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MOST_SHOWN = 24 }; /* characters in a message */

bool printed_fail(struct printed_reader *reader, const char *at, const char *format, ...)
{
    char what[512];
    TEXT_FORMAT(what, format);
    reader->failed = at;
    text_error_at(&reader->in, at, reader->error, "%s", what);
    return false;
}

/* How many bytes a message shows: up to a blank, a separator, a bracket or invalid UTF-8. */
static size_t shown_length(const char *at)
{
    size_t length = 0, bytes;
    for (size_t i = 0; i < MOST_SHOWN && !printed_number_ends(at[length]) && at[length] != '['; i++) {
        if ((bytes = text_character(at + length)) == 0)
            break;
        length += bytes;
    }
    return length;
}

bool printed_fail_expected(struct printed_reader *reader, const char *at, const char *expected)
{
    const size_t length = shown_length(at);
    const char *hint = printed_number_hint(at);
    reader->failed = at;
    if (printed_number_is_elided(at))
        return printed_fail(reader, at,
                            "expected every number, got '...', which leaves some out; print all of them after "
                            "torch.set_printoptions(threshold=10**6) or numpy.set_printoptions(threshold=sys.maxsize)");
    if (length > 1 || hint[0] != '\0')
        return printed_fail(reader, at, "expected %s, got '%.*s'%s", expected, (int)length, at, hint);
    text_error_expected(&reader->in, at, reader->error, expected);
    return false;
}

size_t printed_word_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
}

size_t printed_name_length(const char *at)
{
    return strchr("0123456789.", *at) == NULL ? printed_word_length(at) : 0;
}

const char *printed_find_equals(const char *at)
{
    const size_t length = printed_name_length(at);
    const char *next = at + length + strspn(at + length, " \t");
    return length > 0 && *next == '=' && next[1] != '=' ? next : NULL;
}

bool printed_is_import(const char *at)
{
    if (strncmp(at, "import ", 7) == 0)
        return printed_name_length(at + 7) > 0;
    return strncmp(at, "from ", 5) == 0 && memmem(at, strcspn(at, "\n"), " import ", 8) != NULL;
}

bool printed_ends_line(char c)
{
    return c == '\n' || c == '\0';
}

const char *printed_end_of_quotes(const char *at)
{
    at++;
    while (!printed_ends_line(*at) && (*at != '"' || at[1] == '"'))
        at += *at == '"' ? 2 : 1;
    return *at == '"' ? at : NULL;
}

bool printed_is_same(const struct printed_piece *a, const struct printed_piece *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

bool printed_is_one_of(const struct printed_piece *piece, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == piece->length && strncasecmp(words[i], piece->text, piece->length) == 0)
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads from '#' to the end of the line. */
static void take_comment(struct printed_reader *reader, struct printed_table *table)
{
    const char *first = reader->at + 1, *hash = reader->at;
    reader->at += strcspn(reader->at, "\n");
    const char *end = reader->at, *parenthesis = memchr(first, '(', (size_t)(end - first));
    end = parenthesis != NULL ? parenthesis : end;
    while (first < end && is_blank(*first))
        first++;
    while (first < end && is_blank(end[-1]))
        end--;
    const bool of_row = table->row_end != NULL && memchr(table->row_end, '\n', (size_t)(hash - table->row_end)) == NULL;
    if (of_row && first < end && table->labels + 1 == table->rows)
        reader->labels[table->labels++] = (struct printed_piece){first, (size_t)(end - first), false};
}

static void skip(struct printed_reader *reader, struct printed_table *table, const char *blanks)
{
    while (reader->at += strspn(reader->at, blanks), *reader->at == '#')
        take_comment(reader, table);
}

void printed_skip(struct printed_reader *reader, struct printed_table *table)
{
    skip(reader, table, " \t\r\n");
}

void printed_skip_in_line(struct printed_reader *reader, struct printed_table *table)
{
    skip(reader, table, " \t\r");
}

static void note_digits(const struct printed_number *number, struct printed_table *table, int16_t *digits)
{
    const bool exponent = number->kind == PRINTED_EXPONENT;
    int *most = exponent ? &table->mantissa : &table->decimals;
    *digits = (int16_t)(number->kind > PRINTED_EXPONENT ? INT16_MIN : exponent ? number->exponent : PRINTED_PLAIN);
    *most = number->decimals > *most ? number->decimals : *most;
}

static bool check_kind(struct printed_reader *reader, struct printed_table *table, bool first)
{
    const bool truth = reader->last.kind == PRINTED_TRUTH;
    table->boolean = first ? truth : table->boolean;
    if (truth != table->boolean)
        return printed_fail_expected(reader, reader->at, truth ? "a number, as the first one is" : "True or False");
    if (isinf(reader->last.value) && reader->last.kind < PRINTED_SPECIAL)
        return printed_fail(reader, reader->at,
                            "a number above 1.8e308 overflows; expected at most 3.4028235e+38 in magnitude");
    return true;
}

bool printed_take(struct printed_reader *reader, struct printed_table *table, const char *expected)
{
    struct printed_number *number = &reader->last;
    const size_t length = printed_number_read(reader->at, number);
    if (length == 0 || !printed_number_ends(reader->at[length]))
        return printed_fail_expected(reader, reader->at, expected);
    if (!check_kind(reader, table, reader->count == table->first))
        return false;
    if (table->whole_failed == NULL && number->value != floor(number->value))
        table->whole_failed = reader->at;
    if (table->truth_failed == NULL && number->value != 0 && number->value != 1)
        table->truth_failed = reader->at;
    note_digits(number, table, &reader->digits[reader->count]);
    reader->numbers[reader->count++] = number->value;
    reader->at += length;
    return true;
}
