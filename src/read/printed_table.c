#include "read/printed_table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { LONGEST_WORD = 24 }; /* characters of a word that a message repeats */

/* --- what is wrong ----------------------------------------------------------------------------------------------- */

enum status printed_fail(struct printed_reader *reader, const char *at, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    reader->failed = at;
    return text_error_at(&reader->in, at, reader->error, "%s", what);
}

/* The bytes of the word there, up to a blank, a separator, a bracket or what is no UTF-8. */
static size_t word_length(const char *at)
{
    size_t length = 0, bytes;
    for (size_t i = 0; i < LONGEST_WORD && !printed_number_ends(at[length]) && at[length] != '['; i++) {
        if ((bytes = text_character(at + length)) == 0)
            break;
        length += bytes;
    }
    return length;
}

static enum status fail_elided(struct printed_reader *reader, const char *at)
{
    return printed_fail(reader, at,
                        "expected every number, got '...', a print that leaves some out; print all of them after "
                        "torch.set_printoptions(threshold=10**6) or numpy.set_printoptions(threshold=sys.maxsize)");
}

enum status printed_fail_expected(struct printed_reader *reader, const char *at, const char *expected)
{
    const size_t length = word_length(at);
    const char *hint = printed_number_hint(at);
    reader->failed = at;
    if (printed_number_is_elided(at))
        return fail_elided(reader, at);
    if (length < 2 && hint[0] == '\0')
        return text_error_expected(&reader->in, at, reader->error, expected);
    return printed_fail(reader, at, "expected %s, got '%.*s'%s", expected, (int)length, at, hint);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

size_t printed_name_length(const char *at)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char GOES_ON[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    return strspn(at, LETTERS) > 0 ? strspn(at, GOES_ON) : 0;
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

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* Room for a label of each line, once one is needed. */
static enum status make_room(struct printed_reader *reader)
{
    size_t lines = 1;
    if (reader->labels != NULL)
        return STATUS_OK;
    for (const char *at = reader->in.text; (at = memchr(at, '\n', (size_t)(reader->in.end - at))) != NULL; at++)
        lines++;
    reader->labels = arena_allocate(reader->scratch, lines, sizeof reader->labels[0], reader->error);
    return reader->labels != NULL ? STATUS_OK : reader->error->status;
}

enum status printed_label(struct printed_reader *reader, struct printed_table *table, struct printed_piece label)
{
    if (make_room(reader) != STATUS_OK)
        return reader->error->status;
    reader->labels[table->labels++] = label;
    return STATUS_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* From '#' to the end of the line. */
static enum status take_comment(struct printed_reader *reader, struct printed_table *table)
{
    const char *first = reader->at + 1, *hash = reader->at;
    reader->at += strcspn(reader->at, "\n");
    const char *end = reader->at, *parenthesis = memchr(first, '(', (size_t)(end - first));
    end = parenthesis != NULL ? parenthesis : end;
    while (first < end && is_blank(*first))
        first++;
    while (first < end && is_blank(end[-1]))
        end--;
    const size_t length = (size_t)(end - first);
    const bool of_row = table->row_end != NULL && memchr(table->row_end, '\n', (size_t)(hash - table->row_end)) == NULL;
    if (!of_row || length == 0 || table->labels + 1 != table->rows)
        return STATUS_OK;
    return printed_label(reader, table, (struct printed_piece){first, length, false});
}

static enum status skip(struct printed_reader *reader, struct printed_table *table, const char *blanks)
{
    for (;;) {
        reader->at += strspn(reader->at, blanks);
        if (*reader->at != '#')
            return STATUS_OK;
        if (take_comment(reader, table) != STATUS_OK)
            return reader->error->status;
    }
}

enum status printed_skip(struct printed_reader *reader, struct printed_table *table)
{
    return skip(reader, table, " \t\r\n");
}

enum status printed_skip_in_line(struct printed_reader *reader, struct printed_table *table)
{
    return skip(reader, table, " \t\r");
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

static void note_digits(const struct printed_number *number, struct printed_table *table, int16_t *digits)
{
    const bool exponent = number->kind == PRINTED_EXPONENT;
    int *most = exponent ? &table->mantissa : &table->decimals;
    *digits = (int16_t)(number->kind > PRINTED_EXPONENT ? INT16_MIN : exponent ? number->exponent : PRINTED_PLAIN);
    *most = number->decimals > *most ? number->decimals : *most;
}

static enum status check_kind(struct printed_reader *reader, struct printed_table *table, bool first)
{
    const bool truth = reader->last.kind == PRINTED_TRUTH;
    table->boolean = first ? truth : table->boolean;
    if (truth != table->boolean)
        return printed_fail_expected(reader, reader->at, truth ? "a number, as the first one is" : "True or False");
    if (isinf(reader->last.value) && reader->last.kind < PRINTED_SPECIAL)
        return printed_fail(reader, reader->at,
                            "a number above 1.8e308 overflows; expected at most 3.4028235e+38 in "
                            "magnitude");
    return STATUS_OK;
}

enum status printed_take(struct printed_reader *reader, struct printed_table *table, const char *expected)
{
    struct printed_number *number = &reader->last;
    const size_t length = printed_number_read(reader->at, number);
    if (length == 0 || !printed_number_ends(reader->at[length]))
        return printed_fail_expected(reader, reader->at, expected);
    if (check_kind(reader, table, reader->count == table->first) != STATUS_OK)
        return reader->error->status;
    if (table->whole_failed == NULL && number->value != floor(number->value))
        table->whole_failed = reader->at;
    if (table->truth_failed == NULL && number->value != 0 && number->value != 1)
        table->truth_failed = reader->at;
    note_digits(number, table, &reader->digits[reader->count]);
    reader->numbers[reader->count++] = number->value;
    reader->at += length;
    return STATUS_OK;
}
