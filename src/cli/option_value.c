/* SPDX-License-Identifier: MIT */
#include "cli/option_value.h"

#include "base/decimal.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/case_features.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 16, SHOWN = 80, KNOWN_BYTES = 512 };

/* A choice is stored as unsigned, whatever its enum. */
_Static_assert(sizeof(enum format) == sizeof(unsigned) && sizeof(enum when) == sizeof(unsigned), "an enum is no int");

static bool all_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum status parse_whole(const struct option_row *row, const char *place, const char *text, uint64_t *value,
                               struct error *error)
{
    char range[2 * OPTION_BOUND_BYTES];
    const bool negative = text[0] == '-' && all_digits(text + 1);
    if (!all_digits(text) && !negative)
        return error_usage(error, "%s '%.80s' is not a whole number; expected %s", place, text,
                           options_range(row, range));
    errno = 0;
    *value = strtoull(text + negative, NULL, 10);
    if (errno == ERANGE ||
        (negative ? !row->wraps || *value > (uint64_t)INT64_MAX + 1 : *value < row->minimum || *value > row->maximum))
        return error_usage(error, "%s %.80s is out of range; expected %s", place, text, options_range(row, range));
    *value = negative ? -*value : *value;
    return STATUS_OK;
}

static enum status parse_real(const struct option_row *row, const char *place, const char *text, double *value,
                              struct error *error)
{
    const struct real_range *range = &row->range;
    if (!decimal_to_double(text, strlen(text), value))
        return error_usage(error, "%s '%.80s' is not a number; expected %s", place, text, range->expected);
    if (!isfinite(*value) || *value < range->from || *value >= range->below)
        return error_usage(error, "%s %.80s is out of range; expected %s", place, text, range->expected);
    *value += 0.0; /* -0 is 0 */
    return STATUS_OK;
}

/* Reads "0.5", "1/8" or "1/sqrt(64)"; false for anything else. */
static bool read_quotient(const char *text, double *value)
{
    static const char ROOT[] = "sqrt(";
    const size_t above = strcspn(text, "/"), length = strlen(text);
    const char *below = text[above] == '/' ? text + above + 1 : NULL;
    double divisor = 1;
    if (!decimal_to_double(text, above, value))
        return false;
    if (below != NULL && strncmp(below, ROOT, sizeof ROOT - 1) == 0 && text[length - 1] == ')') {
        below += sizeof ROOT - 1;
        if (!decimal_to_double(below, (size_t)(text + length - 1 - below), &divisor))
            return false;
        divisor = sqrt(divisor);
    } else if (below != NULL && !decimal_to_double(below, strlen(below), &divisor)) {
        return false;
    }
    *value /= divisor;
    return true;
}

enum status option_parse_scale(struct options *options, const char *place, const char *text, struct error *error)
{
    const struct real_range *range = &OPTIONS[OPTION_SCALE].range;
    options->scale = 1;
    if (strcmp(text, "off") == 0)
        return STATUS_OK;
    if (!read_quotient(text, &options->scale))
        return error_usage(
            error,
            "%s '%.80s' is not a scale; expected a number, a quotient such as 1/8 or 1/sqrt(64), or off, which is 1",
            place, text);
    if (!isfinite(options->scale))
        return error_usage(error, "%s %.80s is out of range; expected %s", place, text, range->expected);
    options->scale += 0.0; /* -0 is 0 */
    return STATUS_OK;
}

enum status option_parse_random(struct options *options, const char *place, const char *text, struct error *error)
{
    size_t rank = 0;
    for (const char *axis = text; axis != NULL; rank++) {
        const size_t digits = strspn(axis, "0123456789");
        if (digits == 0 || (axis[digits] != '\0' && axis[digits] != 'x'))
            return error_usage(error, "%s '%.80s' is not a shape; type sizes with x between them, such as 6x3", place,
                               text);
        errno = 0;
        const unsigned long long size = strtoull(axis, NULL, 10);
        if (errno == ERANGE || size < 1 || size > INT32_MAX)
            return error_usage(error, "%s %.80s is out of range; expected 1..2^31-1 for each size", place, text);
        if (rank == TENSOR_RANK)
            return error_usage(error, "%s %.80s has more than %d axes; type a shape such as 6x3, 2x6x3 or 2x8x128x64",
                               place, text, TENSOR_RANK);
        options->random_shape[rank] = (size_t)size;
        axis = axis[digits] == 'x' ? axis + digits + 1 : NULL;
    }
    if (rank == 1)
        return error_usage(error, "%s %.80s has one size; type tokens x columns, such as %.80sx3", place, text, text);
    options->random_rank = rank;
    return STATUS_OK;
}

enum status option_parse_help(struct options *options, const char *place, const char *text, struct error *error)
{
    options->help = true;
    options->help_all = text != NULL && strcmp(text, "all") == 0;
    if (text == NULL || options->help_all)
        return STATUS_OK;
    return error_usage(error, "%s=%.80s: type %s, or %s=all for every option", place, text, place, place);
}

enum status option_parse_answers(struct options *options, const char *place, const char *text, struct error *error)
{
    options->answers = text == NULL || strcmp(text, "false") != 0;
    options->one_page = text != NULL && options->answers;
    if (!options->one_page || strcmp(text, OPTIONS[OPTION_ANSWERS].argument) == 0)
        return STATUS_OK;
    return error_usage(error, "%s=%.80s: type %s, or %s one-page for all answers on a page", place, text, place, place);
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

enum status option_parse_query_growth(struct options *options, const char *place, const char *text, struct error *error)
{
    struct query_growth *growth = &options->query_growth;
    const size_t length = strcspn(text, ",");
    char *rest;
    growth->every = strtoul(text + length + (text[length] == ','), &rest, 10);
    growth->ahead = strcmp(rest, ",1") == 0;
    if (decimal_to_double(text, length, &growth->by) && isfinite(growth->by) && growth->every > 0 &&
        growth->every <= INT32_MAX && (rest[0] == '\0' || growth->ahead))
        return STATUS_OK;
    return error_usage(error, "%s '%.80s' is no growth; expected A,N or A,N,1, such as 0.1,8192", place, text);
}

enum status option_parse_rope_columns(struct options *options, const char *place, const char *text, struct error *error)
{
    static const char LAST[] = "last:";
    const bool last = strncmp(text, LAST, strlen(LAST)) == 0;
    const char *digits = text + (last ? strlen(LAST) : 0);
    char *end;
    const unsigned long long columns = strtoull(digits, &end, 10);
    if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || columns < 2 || columns > 65536 || columns % 2 != 0)
        return error_usage(
            error, "%s '%.80s' is not a number of columns; expected an even number from 2 on, as in 64, or last:64",
            place, text);
    options->rope_columns = (size_t)columns;
    options->rope_last = last;
    return STATUS_OK;
}

enum status option_parse_rope_scaling(struct options *options, const char *place, const char *text, struct error *error)
{
    return rope_scaling_parse(place, text, &options->rope_scaling, error);
}

enum status option_parse_rope_axes(struct options *options, const char *place, const char *text, struct error *error)
{
    return rope_axes_parse(place, text, &options->rope_axes, error);
}

/* --- mistakes ---------------------------------------------------------------------------------------------------- */

static enum status unknown_mistake(const char *place, const char *name, struct error *error)
{
    const char *names[MISTAKE_COUNT];
    char hint[128];
    for (int id = 0; id < MISTAKE_COUNT; id++)
        names[id] = MISTAKES[id].name;
    suggest_hint(hint, sizeof hint, "", name, names, MISTAKE_COUNT);
    return error_usage(error, "%s: unknown mistake '%s'%s attn help mistakes lists them", place, name,
                       hint[0] ? hint : ";");
}

/* Describes the forms: "1..4096, keys of a tile", or their words. */
static const char *list_forms(const struct mistake_row *row, char *text, size_t size)
{
    size_t count = 0;
    while (row->forms != NULL && row->forms[count] != NULL)
        count++;
    if (row->forms != NULL)
        return text_alternatives(row->forms, count, text, size);
    return text_format(text, size, "%s%.10g..%.10g, %s", row->whole ? "a whole number, " : "", row->from, row->to,
                       row->number);
}

static bool find_form(const struct mistake_row *row, const char *text, size_t length, double *form)
{
    for (size_t i = 0; row->forms[i] != NULL; i++)
        if (option_is_called(row->forms[i], text, length)) {
            *form = (double)i;
            return true;
        }
    return false;
}

/* Reads the form, text[0 .. length), after the name and a colon. */
static enum status parse_form(const char *place, const char *text, size_t length, struct mistake_choice *choice,
                              struct error *error)
{
    const struct mistake_row *row = &MISTAKES[choice->id];
    const int shown = (int)memory_smaller(length, SHOWN);
    char forms[256];
    if (row->forms == NULL && row->number == NULL)
        return error_usage(error, "%s: %s takes no form; leave out ':%.*s'", place, row->name, shown, text);
    const bool plain = !row->whole || strspn(text, "0123456789") >= length;
    if (row->forms != NULL ? !find_form(row, text, length, &choice->form)
                           : !plain || !decimal_to_double(text, length, &choice->form))
        return error_usage(error, "%s: '%.*s' is not a form of %s; expected %s", place, shown, text, row->name,
                           list_forms(row, forms, sizeof forms));
    if (row->forms == NULL && !(choice->form >= row->from && choice->form <= row->to))
        return error_usage(error, "%s: %s:%.*s is out of range; expected %s", place, row->name, shown, text,
                           list_forms(row, forms, sizeof forms));
    choice->form += 0.0; /* -0 is 0 */
    return STATUS_OK;
}

/* Reads one mistake, text[0 .. length): "name" or "name:form". */
static enum status parse_mistake(const char *place, const char *text, size_t length, struct mistake_choice *choice,
                                 struct error *error)
{
    const size_t end = memory_smaller(strcspn(text, ":"), length);
    char name[SHOWN + 1];
    int id = 0;
    while (id < MISTAKE_COUNT && !option_is_called(MISTAKES[id].name, text, end))
        id++;
    snprintf(name, sizeof name, "%.*s", (int)memory_smaller(end, SHOWN), text);
    if (id == MISTAKE_COUNT)
        return unknown_mistake(place, name, error);
    *choice = (struct mistake_choice){(enum mistake)id, MISTAKES[id].number != NULL ? MISTAKES[id].usual : 0};
    return end < length ? parse_form(place, text + end + 1, length - end - 1, choice, error) : STATUS_OK;
}

/* Inserts it in the order of the slots. */
static enum status add_mistake(struct options *options, const char *place, struct mistake_choice choice,
                               struct error *error)
{
    const struct mistake_row *row = &MISTAKES[choice.id];
    size_t at = 0;
    while (at < options->mistake_count && MISTAKES[options->mistakes[at].id].slot < row->slot)
        at++;
    const struct mistake_choice *there = &options->mistakes[at];
    if (at < options->mistake_count && there->id == choice.id)
        return error_usage(error, "%s: '%s' is given twice; leave one out", place, row->name);
    if (at < options->mistake_count && MISTAKES[there->id].slot == row->slot)
        return error_usage(error, "%s: %s and %s both change %s; choose one of them", place, MISTAKES[there->id].name,
                           row->name, mistake_slot_name(row->slot));
    for (size_t i = options->mistake_count++; i > at; i--)
        options->mistakes[i] = options->mistakes[i - 1];
    options->mistakes[at] = choice;
    return STATUS_OK;
}

enum status option_parse_mistakes(struct options *options, const char *place, const char *text, struct error *error)
{
    struct mistake_choice choice = {0};
    options->mistake_count = 0;
    for (const char *item = text; item != NULL;) {
        const size_t length = strcspn(item, ",");
        if (parse_mistake(place, item, length, &choice, error) || add_mistake(options, place, choice, error))
            return error->status;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return STATUS_OK;
}

/* --- cases ------------------------------------------------------------------------------------------------------- */

enum status option_parse_can(struct options *options, const char *place, const char *text, struct error *error)
{
    char known[KNOWN_BYTES];
    struct text list = text_begin(known, sizeof known);
    options->can = text;
    for (size_t id = 0; id < CASE_FEATURE_COUNT; id++)
        text_add(&list, "%s%s", id > 0 ? ", " : "", CASE_FEATURE_NAMES[id].name);
    for (const char *item = strcmp(text, "none") != 0 ? text : NULL; item != NULL;) {
        const size_t length = strcspn(item, ",");
        size_t id = 0;
        while (id < CASE_FEATURE_COUNT && (strlen(CASE_FEATURE_NAMES[id].name) != length ||
                                           strncmp(CASE_FEATURE_NAMES[id].name, item, length) != 0))
            id++;
        if (id == CASE_FEATURE_COUNT)
            return error_usage(error, "%s: '%.*s' is no feature of a case; expected none, or some of %s", place,
                               (int)memory_smaller(length, SHOWN), item, known);
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return STATUS_OK;
}

enum status option_parse_only(struct options *options, const char *place, const char *text, struct error *error)
{
    options->only = text;
    if (text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-+,")] == '\0')
        return STATUS_OK;
    return error_usage(error, "%s '%.80s' is no list of cases; type names with commas between, as in edge-16,window",
                       place, text);
}

/* --- choices ----------------------------------------------------------------------------------------------------- */

/* The choice nearest to a word, or to its part after a dot, as in torch.rand; NULL where none is near. */
static const char *nearest_choice(const struct option_row *row, const char *text, size_t count)
{
    const char *dot = strrchr(text, '.'), *word = dot != NULL && dot[1] != '\0' ? dot + 1 : text;
    const char *also[MOST_CHOICES], *nearest = suggest_word(word, row->choices, count);
    if (nearest != NULL || row->also == NULL)
        return nearest;
    for (size_t i = 0; i < count && i < MOST_CHOICES; i++)
        also[i] = row->also(i);
    const char *other = suggest_word(word, also, memory_smaller(count, MOST_CHOICES));
    for (size_t i = 0; i < count && i < MOST_CHOICES && other != NULL; i++)
        if (also[i] == other)
            nearest = row->choices[i];
    return nearest;
}

const char *option_choices(const struct option_row *row, char *list, size_t size)
{
    struct text text = text_begin(list, size);
    for (size_t i = 0; row->choices[i] != NULL; i++)
        text_add(&text, "%s%s", i > 0 ? ", " : "", row->choices[i]);
    return list;
}

static enum status parse_choice(const struct option_row *row, const char *place, const char *text, unsigned *value,
                                struct error *error)
{
    char list[256] = "", hint[64] = "";
    size_t count = 0;
    for (; row->choices[count] != NULL; count++)
        if (strcmp(row->choices[count], text) == 0 || (row->also != NULL && strcmp(row->also(count), text) == 0)) {
            *value = (unsigned)count;
            return STATUS_OK;
        }
    const char *nearest = nearest_choice(row, text, count);
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest);
    return error_usage(error, "%s '%.80s' is unknown; expected one of %s%s", place, text,
                       option_choices(row, list, sizeof list), hint);
}

enum status option_store(struct options *options, enum option_id id, const char *place, const char *text,
                         struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
        if (row->parse != NULL)
            return row->parse(options, place, text, error);
        *(bool *)field = text == NULL || strcmp(text, "true") == 0;
        return STATUS_OK;
    case OPTION_NEGATION:
        return option_store(options, row->negated, place, "false", error);
    case OPTION_WHOLE:
        return parse_whole(row, place, text, field, error);
    case OPTION_REAL:
        return row->parse != NULL ? row->parse(options, place, text, error)
                                  : parse_real(row, place, text, field, error);
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
