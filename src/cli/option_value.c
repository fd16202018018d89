#include "cli/option_value.h"

#include "base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a choice is stored, whatever its enum. */
_Static_assert(sizeof(enum format) == sizeof(unsigned) && sizeof(enum when) == sizeof(unsigned), "an enum is no int");

static bool all_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum status parse_whole(const struct option_row *row, const char *place, const char *text, uint64_t *value,
                               struct error *error)
{
    char maximum[OPTION_BOUND_BYTES];
    const bool negative = text[0] == '-' && all_digits(text + 1);
    if (!all_digits(text) && !negative)
        return error_usage(error, "%s '%.80s' is not a whole number; expected %llu..%s", place, text,
                           (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    errno = 0;
    *value = strtoull(text, NULL, 10);
    if (negative || errno == ERANGE || *value < row->minimum || *value > row->maximum)
        return error_usage(error, "%s %.80s is out of range; expected %llu..%s", place, text,
                           (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    return STATUS_OK;
}

static enum status parse_real(const struct option_row *row, const char *place, const char *text, double *value,
                              struct error *error)
{
    char *end;
    const struct real_range *range = &row->range;
    const bool decimal = text[0] != '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
    *value = decimal ? strtod(text, &end) : 0;
    if (!decimal || end == text || *end != '\0')
        return error_usage(error, "%s '%.80s' is not a number; expected %s", place, text, range->expected);
    if (!isfinite(*value) || *value < range->from || *value >= range->below)
        return error_usage(error, "%s %.80s is out of range; expected %s", place, text, range->expected);
    *value += 0.0; /* -0 is 0 */
    return STATUS_OK;
}

enum status option_parse_window(struct options *options, const char *place, const char *text, struct error *error)
{
    char *end = NULL;
    const bool plain = text[strspn(text, "0123456789,-")] == '\0';
    const long long left = plain ? strtoll(text, &end, 10) : 0;
    const char *second = end != NULL && end != text && *end == ',' ? end + 1 : NULL;
    const long long right = second != NULL ? strtoll(second, &end, 10) : 0;
    if (second == NULL || end == second || *end != '\0')
        return error_usage(error, "%s '%.80s' is not L,R; expected two whole numbers, -1 for unbounded, as in 3,0",
                           place, text);
    if (left < -1 || right < -1 || left > INT32_MAX || right > INT32_MAX)
        return error_usage(error, "%s %.80s is out of range; expected -1..2^31-1 for each", place, text);
    options->window_left = left;
    options->window_right = right;
    return STATUS_OK;
}

static enum status parse_choice(const struct option_row *row, const char *place, const char *text, unsigned *value,
                                struct error *error)
{
    char list[128] = "", hint[128];
    size_t count = 0;
    for (; row->choices[count] != NULL; count++) {
        if (strcmp(row->choices[count], text) == 0) {
            *value = (unsigned)count;
            return STATUS_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", row->choices[count]);
    }
    return error_usage(error, "%s '%.80s' is unknown; expected one of %s%s", place, text, list,
                       suggest_hint(hint, sizeof hint, "", text, row->choices, count));
}

enum status option_store(struct options *options, enum option_id id, const char *place, const char *text,
                         struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = text == NULL || strcmp(text, "true") == 0;
        return STATUS_OK;
    case OPTION_NEGATION:
        return option_store(options, row->negated, place, "false", error);
    case OPTION_WHOLE:
        return parse_whole(row, place, text, field, error);
    case OPTION_REAL:
        return parse_real(row, place, text, field, error);
    case OPTION_CHOICE:
        return parse_choice(row, place, text, field, error);
    case OPTION_TEXT:
        if (text != NULL && text[0] == '\0')
            return error_usage(error, "%s is empty; expected %s", place, row->argument);
        *(const char **)field = text;
        return row->parse != NULL ? row->parse(options, place, text, error) : STATUS_OK;
    }
    return STATUS_OK;
}
