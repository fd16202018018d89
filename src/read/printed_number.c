/* SPDX-License-Identifier: MIT */
#include "read/printed_number.h"

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

bool printed_number_ends(char next)
{
    return strchr(" \t\r\n,;])#", next) != NULL; /* finds the NUL too */
}

static size_t read_word(const char *text, struct printed_number *number)
{
    static const struct {
        const char *word;
        double value;
        enum printed_kind kind;
    } WORDS[] = {
        {"nan", (double)NAN, PRINTED_SPECIAL},
        {"inf", (double)INFINITY, PRINTED_SPECIAL},
        {"infinity", (double)INFINITY, PRINTED_SPECIAL},
        {"true", 1, PRINTED_TRUTH},
        {"false", 0, PRINTED_TRUTH},
        {"null", -(double)INFINITY, PRINTED_SPECIAL},
        {"\"NaN\"", (double)NAN, PRINTED_SPECIAL},
        {"\"Infinity\"", (double)INFINITY, PRINTED_SPECIAL},
        {"\"-Infinity\"", -(double)INFINITY, PRINTED_SPECIAL},
        {"np.nan", (double)NAN, PRINTED_SPECIAL},
        {"np.inf", (double)INFINITY, PRINTED_SPECIAL},
        {"numpy.nan", (double)NAN, PRINTED_SPECIAL},
        {"numpy.inf", (double)INFINITY, PRINTED_SPECIAL},
        {"math.nan", (double)NAN, PRINTED_SPECIAL},
        {"math.inf", (double)INFINITY, PRINTED_SPECIAL},
        {"torch.nan", (double)NAN, PRINTED_SPECIAL},
        {"torch.inf", (double)INFINITY, PRINTED_SPECIAL},
        {"float('nan')", (double)NAN, PRINTED_SPECIAL},
        {"float(\"nan\")", (double)NAN, PRINTED_SPECIAL},
        {"float('inf')", (double)INFINITY, PRINTED_SPECIAL},
        {"float(\"inf\")", (double)INFINITY, PRINTED_SPECIAL},
        {"float('-inf')", -(double)INFINITY, PRINTED_SPECIAL},
        {"float(\"-inf\")", -(double)INFINITY, PRINTED_SPECIAL},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        const size_t length = strlen(WORDS[i].word);
        if (strncasecmp(text, WORDS[i].word, length) != 0 || strspn(text + length, WORD) > 0 || text[length] == '(')
            continue;
        *number = (struct printed_number){.kind = WORDS[i].kind, .value = WORDS[i].value};
        return length;
    }
    return 0;
}

/* Reads "e-07", if there is an exponent. */
static bool read_exponent(const char **at, int *exponent)
{
    const char *digit = *at + 1;
    if (**at != 'e' && **at != 'E')
        return false;
    const bool negative = *digit == '-';
    digit += *digit == '-' || *digit == '+';
    if (!text_is_digit(*digit))
        return false;
    for (*exponent = 0; text_is_digit(*digit); digit++)
        *exponent = *exponent < PRINTED_MOST ? *exponent * 10 + (*digit - '0') : *exponent;
    *exponent = *exponent < PRINTED_MOST ? *exponent : PRINTED_MOST;
    *exponent = negative ? -*exponent : *exponent;
    *at = digit;
    return true;
}

static size_t read_decimal(const char *text, struct printed_number *number)
{
    static const char DIGITS[] = "0123456789";
    const size_t before = strspn(text, DIGITS), behind = text[before] == '.' ? strspn(text + before + 1, DIGITS) : 0;
    const char *at = text + before + (text[before] == '.') + behind;
    if (before + behind == 0 || (before > 1 && *text == '0'))
        return 0;
    *number = (struct printed_number){.decimals = (int)memory_smaller(behind, PRINTED_MOST)};
    if (read_exponent(&at, &number->exponent))
        number->kind = PRINTED_EXPONENT;
    decimal_to_double(text, (size_t)(at - text), &number->value);
    return (size_t)(at - text);
}

size_t printed_number_read(const char *text, struct printed_number *number)
{
    const bool sign = *text == '-' || *text == '+';
    const char *first = text + sign;
    const size_t length =
        text_is_digit(*first) || *first == '.' ? read_decimal(first, number) : read_word(first, number);
    if (length == 0 || (sign && (*first == '"' || number->kind == PRINTED_TRUTH)))
        return 0;
    number->value = *text == '-' ? -number->value : number->value;
    return length + sign;
}

bool printed_number_is_elided(const char *text)
{
    return strncmp(text, "...", 3) == 0 || strncmp(text, "\xe2\x80\xa6", 3) == 0;
}

static const char *hint_behind(const char *text, const char *behind)
{
    if (*text == '0' && (text[1] == 'x' || text[1] == 'X'))
        return "; hexadecimal digits are not read";
    if (*text == '0' && text_is_digit(text[1]))
        return "; no number begins with a 0 before another digit: is there a decimal comma?";
    if (*behind == '_')
        return "; write it without underscores";
    if (*behind == 'j' || *behind == 'J' || *behind == 'i')
        return "; a complex number, and attn computes with real ones";
    if (*behind == '+' || *behind == '-')
        return behind[strcspn(behind, " \t\r\n,;])ji")] == 'j' || behind[strcspn(behind, " \t\r\n,;])ji")] == 'i'
                   ? "; a complex number, and attn computes with real ones"
                   : "; nothing is computed here: write the number itself";
    if (*behind == '*' || *behind == '/' || *behind == '@')
        return "; nothing is computed here: write the number itself";
    return "";
}

const char *printed_number_hint(const char *text)
{
    static const char *const HINTS[][2] = {
        {"\xe2\x88\x92", "; a typographer's minus: write '-'"},
        {"\xc2\xa0", "; a blank that does not break: write a plain one"},
        {"--", "; a number that is masked"},
        {"None", "; write nan, or -inf where a mask forbids"},
        {"\\", "; a table of LaTeX: write it as CSV"},
        {":", "; JSON needs braces: {\"inputs\": ...}"},
    };
    const char *first = text + (*text == '-' || *text == '+');
    for (size_t i = 0; i < sizeof HINTS / sizeof HINTS[0]; i++)
        if (strncmp(text, HINTS[i][0], strlen(HINTS[i][0])) == 0)
            return HINTS[i][1];
    if (text_is_digit(*first) || *first == '.')
        return hint_behind(first, first + strspn(first, "0123456789.eE"));
    const size_t word = strspn(text, WORD);
    return word > 0 && text[word] == '(' ? "; nothing is run here: paste what it prints" : "";
}
