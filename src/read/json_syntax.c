/* SPDX-License-Identifier: MIT */
#include "read/json_syntax.h"

#include "base/text.h"
#include "read/text_error.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LONGEST_NUMBER = 63, /* cJSON copies a number into 64 bytes */
    LONGEST_WORD = 20,   /* characters of an unknown word in a message */
};

/* text[length] == '\0' ends every loop below; only messages distinguish that NUL from one in the text. */
struct reader {
    struct text_source in;
    char *at;
    int depth;
    char closing[JSON_DEPTH]; /* (depth) the bracket that ends each level */
    char *hidden;             /* start of the last value nested too deep for the tree */
    bool rewriting, to_rewrite;
    struct json_arrays *arrays; /* or NULL */
    size_t members;             /* of the top object so far */
    struct error *error;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static enum status fail(struct reader *reader, const char *at, const char *expected)
{
    return text_error_expected(&reader->in, at, reader->error, expected);
}

/* A hint for a word, in any case, or a character that people write where JSON expects a value. */
static const char *hint(const char *found, size_t length)
{
    static const struct {
        const char *found, *hint;
    } hints[] = {
        {"nan", "; JSON has no NaN"},
        {"inf", "; JSON has no infinity"},
        {"infinity", "; JSON has no infinity"},
        {"true", "; JSON writes true"},
        {"false", "; JSON writes false"},
        {"none", "; JSON writes null"},
        {"null", "; JSON writes null"},
        {"undefined", "; JSON writes null"},
        {"+", "; a number begins with a digit or '-'"},
        {".", "; a number begins with a digit or '-'"},
        {"'", "; a string needs double quotes"},
        {"/", "; JSON has no comments"},
        {"#", "; JSON has no comments"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (strlen(hints[i].found) == length && strncasecmp(found, hints[i].found, length) == 0)
            return hints[i].hint;
    return "";
}

static char skip_blanks(struct reader *reader)
{
    char *at = reader->at;
    while (is_blank(*at))
        at++;
    reader->at = at;
    return *at;
}

static char *skip_digits(char *at)
{
    while (text_is_digit(*at))
        at++;
    return at;
}

static enum status no_memory(const struct reader *reader)
{
    return error_system(reader->error, 0, "%s: not enough memory to read it", reader->in.source);
}

static void rewrite_number(char *number, size_t length)
{
    double value = strtod(number, NULL);
    char digits[32];
    /* Writes a literal that overflows too, for the later check of the range. */
    if (isinf(value))
        snprintf(digits, sizeof digits, "%s", value < 0 ? "-1e999" : "1e999");
    else
        snprintf(digits, sizeof digits, "%.17g", value);
    size_t shown = strlen(digits);
    memcpy(number, digits, shown); /* NOLINT(bugprone-not-null-terminated-result): within a text */
    memset(number + shown, ' ', length - shown);
}

static enum status read_number(struct reader *reader)
{
    char *start = reader->at;
    char *at = start + (*start == '-');
    if (!text_is_digit(*at))
        return fail(reader, at, "a digit after '-'");
    if (*at == '0' && text_is_digit(at[1]))
        return fail(reader, at + 1, "no digit after a leading 0");
    at = skip_digits(at);
    if (*at == '.') {
        if (!text_is_digit(*++at))
            return fail(reader, at, "a digit after '.'");
        at = skip_digits(at);
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        if (!text_is_digit(*at))
            return fail(reader, at, "a digit in the exponent");
        at = skip_digits(at);
    }
    reader->at = at;
    size_t length = (size_t)(at - start);
    if (length > LONGEST_NUMBER) {
        reader->to_rewrite = true;
        if (reader->rewriting)
            rewrite_number(start, length);
    }
    if (reader->arrays != NULL && !json_arrays_number(reader->arrays, start, length))
        return no_memory(reader);
    return STATUS_OK;
}

/* Returns how many of the next four characters are hexadecimal digits; *unit is their value if all are. */
static int read_code_unit(const char *text, unsigned *unit)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char lower = (char)(text[i] | 0x20);
        if (text_is_digit(text[i]))
            value = value * 16 + (unsigned)(text[i] - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value * 16 + (unsigned)(lower - 'a' + 10);
        else
            return i;
    }
    *unit = value;
    return 4;
}

static enum status read_unicode_escape(struct reader *reader)
{
    char *escape = reader->at;
    unsigned unit, low = 0;
    int digits = read_code_unit(escape + 2, &unit);
    if (digits < 4)
        return fail(reader, escape + 2 + digits, "a hexadecimal digit");
    reader->at += 6;
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return text_error_at(&reader->in, escape, reader->error,
                             "expected a high surrogate, \\ud800 to \\udbff, before %.6s", escape);
    if (unit >= 0xd800 && unit <= 0xdbff) {
        if (strncmp(reader->at, "\\u", 2) == 0)
            read_code_unit(reader->at + 2, &low);
        if (low < 0xdc00 || low > 0xdfff)
            return text_error_at(&reader->in, escape, reader->error,
                                 "expected a low surrogate, \\udc00 to \\udfff, after %.6s", escape);
        reader->at += 6;
    }
    if (unit == 0) {
        reader->to_rewrite = true;
        if (reader->rewriting)
            memcpy(escape + 2, "fffd", 4); /* NOLINT(bugprone-not-null-terminated-result): within a text */
    }
    return STATUS_OK;
}

static enum status read_escape(struct reader *reader)
{
    char c = reader->at[1];
    if (c == 'u')
        return read_unicode_escape(reader);
    if (c == '\0' || !strchr("\"\\/bfnrt", c))
        return fail(reader, reader->at + 1, "one of \" \\ / b f n r t u after '\\'");
    reader->at += 2;
    return STATUS_OK;
}

static char *skip_plain_ascii(char *at)
{
    for (unsigned char c; (c = (unsigned char)*at) >= 0x20 && c < 0x80; at++)
        if (c == '"' || c == '\\')
            break;
    return at;
}

static enum status read_string(struct reader *reader)
{
    reader->at++;
    for (;;) {
        char *at = reader->at = skip_plain_ascii(reader->at);
        if (*at == '"') {
            reader->at++;
            return STATUS_OK;
        }
        if (*at == '\\') {
            enum status status = read_escape(reader);
            if (status != STATUS_OK)
                return status;
            continue;
        }
        if (at == reader->in.end)
            return fail(reader, at, "'\"' at the end of the string");
        if ((unsigned char)*at < 0x20)
            return fail(reader, at, "'\"' or an escape like \\n");
        size_t length = text_character(at);
        if (length == 0)
            return fail(reader, at, "UTF-8");
        reader->at += length;
    }
}

static enum status read_word(struct reader *reader, const char *expected)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *at = reader->at;
    const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (length == strlen(words[i]) && memcmp(at, words[i], length) == 0) {
            reader->at += length;
            return STATUS_OK;
        }
    }
    if (at == reader->in.end)
        return fail(reader, at, expected);
    if (length == 0)
        return text_error_at(&reader->in, at, reader->error, "expected %s, got %s%s", expected,
                             text_error_describe(&reader->in, at).name, hint(at, 1));
    return text_error_at(&reader->in, at, reader->error, "expected %s, got '%.*s%s'%s", expected,
                         length > LONGEST_WORD ? LONGEST_WORD : (int)length, at, length > LONGEST_WORD ? "..." : "",
                         hint(at, length));
}

/* Notes an opening bracket before it is read. */
static void note_open(const struct reader *reader)
{
    if (*reader->at != '[')
        json_arrays_other(reader->arrays);
    else if (reader->depth == 1 && reader->closing[0] == '}')
        json_arrays_begin(reader->arrays, reader->members - 1, reader->at);
    else
        json_arrays_open(reader->arrays);
}

/* Reads the opening bracket of an array or an object. The tree sees nothing of values nested too deep for it. */
static enum status open_level(struct reader *reader)
{
    if (reader->depth == JSON_DEPTH)
        return text_error_at(&reader->in, reader->at, reader->error, "arrays and objects are nested deeper than %d",
                             JSON_DEPTH);
    if (reader->depth == JSON_TREE_DEPTH) {
        reader->to_rewrite = true;
        reader->hidden = reader->at + 1;
    }
    if (reader->arrays != NULL)
        note_open(reader);
    reader->closing[reader->depth++] = *reader->at == '[' ? ']' : '}';
    reader->at++;
    return STATUS_OK;
}

static enum status close_level(struct reader *reader)
{
    reader->depth--;
    if (reader->depth == JSON_TREE_DEPTH && reader->rewriting)
        memset(reader->hidden, ' ', (size_t)(reader->at - reader->hidden));
    reader->at++;
    if (reader->arrays != NULL && !json_arrays_close(reader->arrays, reader->at))
        return no_memory(reader);
    return STATUS_OK;
}

/* Reads a value; *whole is false after the opening bracket of a level that is not empty. */
static enum status read_value(struct reader *reader, const char *expected, bool *whole)
{
    char c = skip_blanks(reader);
    *whole = true;
    if (text_is_digit(c) || c == '-')
        return read_number(reader);
    const bool opens = c == '[' || c == '{';
    if (!opens && reader->arrays != NULL)
        json_arrays_other(reader->arrays);
    if (c == '"')
        return read_string(reader);
    if (!opens)
        return read_word(reader, expected);
    if (open_level(reader) != STATUS_OK)
        return reader->error->status;
    *whole = skip_blanks(reader) == reader->closing[reader->depth - 1];
    return STATUS_OK;
}

/* Reads the key before the next value, if this level is an object; *expected names the value. */
static enum status read_key(struct reader *reader, bool first, const char **expected)
{
    if (reader->closing[reader->depth - 1] == ']') {
        *expected = first ? "a value or ']'" : "a value after ','";
        return STATUS_OK;
    }
    reader->members += reader->depth == 1;
    if (skip_blanks(reader) != '"')
        return fail(reader, reader->at, first ? "a key in double quotes or '}'" : "a key in double quotes after ','");
    if (read_string(reader) != STATUS_OK)
        return reader->error->status;
    if (skip_blanks(reader) != ':')
        return fail(reader, reader->at, "':' after the key");
    reader->at++;
    *expected = "a value after ':'";
    return STATUS_OK;
}

/* Reads what follows a complete value: ends of levels, until one continues; *expected is NULL where none does. */
static enum status read_ends(struct reader *reader, const char **expected)
{
    *expected = NULL;
    while (reader->depth > 0) {
        const char closing = reader->closing[reader->depth - 1], c = skip_blanks(reader);
        if (c == ',') {
            reader->at++;
            return read_key(reader, false, expected);
        }
        if (c != closing)
            return fail(reader, reader->at, closing == ']' ? "',' or ']'" : "',' or '}'");
        if (close_level(reader) != STATUS_OK)
            return reader->error->status;
    }
    return STATUS_OK;
}

/* Reads a value with all its members, without recursion: the stack may be small. */
static enum status read_values(struct reader *reader)
{
    const char *expected = "a value";
    bool whole;
    while (expected != NULL) {
        enum status status = read_value(reader, expected, &whole);
        if (status == STATUS_OK)
            status = whole ? read_ends(reader, &expected) : read_key(reader, true, &expected);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status read_document(struct reader *reader)
{
    const char *text = reader->in.text;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0 || strncmp(text, "\xff\xfe", 2) == 0 || strncmp(text, "\xfe\xff", 2) == 0)
        return text_error_at(&reader->in, reader->at, reader->error,
                             "expected a value, got a byte order mark; save the text as UTF-8 without it");
    enum status status = read_values(reader);
    if (status != STATUS_OK)
        return status;
    skip_blanks(reader);
    if (reader->at != reader->in.end)
        return text_error_at(&reader->in, reader->at, reader->error,
                             "expected end of input, got text after the value: %s",
                             text_error_describe(&reader->in, reader->at).name);
    return STATUS_OK;
}

enum status json_syntax(const char *source, char *text, size_t length, struct json_arrays *arrays, struct error *error)
{
    struct reader reader = {.in = {source, text, text + length}, .at = text, .arrays = arrays, .error = error};
    skip_blanks(&reader);
    if (reader.at == reader.in.end)
        return error_usage(error, "%s: the input is empty; expected a JSON object", source);
    reader.at = text;
    enum status status = read_document(&reader);
    /* Rewrites only a text without errors, so that an error shows the line as the user wrote it. */
    if (status == STATUS_OK && reader.to_rewrite) {
        reader.at = text;
        reader.rewriting = true;
        reader.arrays = NULL;
        status = read_document(&reader);
    }
    return status;
}
