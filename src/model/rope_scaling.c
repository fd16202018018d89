/* SPDX-License-Identifier: MIT */
/* Parses the text of a scaling, "llama3:factor=8,low=1,high=4,old=8192". */
#include "base/decimal.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/rope.h"

#include <string.h>

enum { SHOWN = 40, KEYS = 13 };

static const char *const KINDS[] = {ROPE_SCALINGS(CHOICE_WORD)};

/* For each kind: an example for messages, and the defaults of its keys. */
static const struct {
    const char *example;
    struct rope_scaling usual;
} ROWS[ROPE_SCALING_COUNT] = {
    [ROPE_SCALING_NONE] = {"none", {.kind = ROPE_SCALING_NONE}},
    [ROPE_SCALING_LINEAR] = {"linear:factor=8", {.kind = ROPE_SCALING_LINEAR}},
    [ROPE_SCALING_DYNAMIC] = {"dynamic:factor=2,old=2048", {.kind = ROPE_SCALING_DYNAMIC}},
    [ROPE_SCALING_LLAMA3] = {"llama3:factor=8,low=1,high=4,old=8192", {.kind = ROPE_SCALING_LLAMA3}},
    [ROPE_SCALING_YARN] = {"yarn:factor=40,old=4096",
                           {.kind = ROPE_SCALING_YARN, .fast = 32, .slow = 1, .whole_ramp = true}},
    [ROPE_SCALING_LONGROPE] = {"longrope:old=4096,max=131072,short=1;1,long=2;4", {.kind = ROPE_SCALING_LONGROPE}},
    [ROPE_SCALING_PROPORTIONAL] = {"proportional:share=0.25", {.kind = ROPE_SCALING_PROPORTIONAL, .factor = 1}},
};

enum value { VALUE_NUMBER, VALUE_LIST, VALUE_TRUTH };

enum { LINEAR = 1 << ROPE_SCALING_LINEAR, DYNAMIC = 1 << ROPE_SCALING_DYNAMIC, LLAMA3 = 1 << ROPE_SCALING_LLAMA3 };
enum {
    YARN = 1 << ROPE_SCALING_YARN,
    LONGROPE = 1 << ROPE_SCALING_LONGROPE,
    PROPORTIONAL = 1 << ROPE_SCALING_PROPORTIONAL
};

/* A key, the kinds that need it and those that may have it, in bits, and its offset in struct rope_scaling. */
static const struct key {
    const char *name;
    enum value value;
    unsigned needed, optional;
    size_t place;
} TABLE[KEYS] = {
    {"factor", VALUE_NUMBER, LINEAR | DYNAMIC | LLAMA3 | YARN, PROPORTIONAL, offsetof(struct rope_scaling, factor)},
    {"share", VALUE_NUMBER, PROPORTIONAL, 0, offsetof(struct rope_scaling, share)},
    {"low", VALUE_NUMBER, LLAMA3, 0, offsetof(struct rope_scaling, low)},
    {"high", VALUE_NUMBER, LLAMA3, 0, offsetof(struct rope_scaling, high)},
    {"fast", VALUE_NUMBER, 0, YARN, offsetof(struct rope_scaling, fast)},
    {"slow", VALUE_NUMBER, 0, YARN, offsetof(struct rope_scaling, slow)},
    {"old", VALUE_NUMBER, DYNAMIC | LLAMA3 | YARN | LONGROPE, 0, offsetof(struct rope_scaling, old)},
    {"max", VALUE_NUMBER, 0, LONGROPE, offsetof(struct rope_scaling, max)},
    {"attention", VALUE_NUMBER, 0, YARN | LONGROPE, offsetof(struct rope_scaling, attention)},
    {"beyond", VALUE_NUMBER, 0, LONGROPE, offsetof(struct rope_scaling, beyond)},
    {"truncate", VALUE_TRUTH, 0, YARN, offsetof(struct rope_scaling, whole_ramp)},
    {"short", VALUE_LIST, LONGROPE, 0, offsetof(struct rope_scaling, short_list)},
    {"long", VALUE_LIST, LONGROPE, 0, offsetof(struct rope_scaling, long_list)},
};

/* One text[0 .. length) of the list "key=value,..." of a scaling. */
struct pair {
    const char *place; /* of the scaling, for messages */
    const char *text;
    size_t length;
};

/* Writes names (KEYS): the keys that a kind takes, NULL for the others. */
static void list_keys(enum rope_scaling_kind kind, const char **names)
{
    for (size_t i = 0; i < KEYS; i++)
        names[i] = ((TABLE[i].needed | TABLE[i].optional) >> kind & 1) != 0 ? TABLE[i].name : NULL;
}

static enum status unknown_key(const char *place, const char *name, enum rope_scaling_kind kind, struct error *error)
{
    const char *names[KEYS];
    char hint[128], expected[160];
    list_keys(kind, names);
    if (kind == ROPE_SCALING_NONE)
        return error_usage(error, "%s: none has no key '%s'; expected nothing after it", place, name);
    suggest_hint(hint, sizeof hint, "", name, names, KEYS);
    return error_usage(error, "%s: %s has no key '%s'%s expected %s", place, KINDS[kind], name, hint[0] ? hint : ";",
                       text_alternatives(names, KEYS, expected, sizeof expected));
}

/* Reads a number of a scaling, well within float32. */
static bool read_positive(const char *text, size_t length, double *number)
{
    return decimal_to_double(text, length, number) && *number >= 1e-30 && *number <= 1e30;
}

static enum status parse_list(const struct pair *pair, const char *key, struct rope_list *list, struct error *error)
{
    double number;
    *list = (struct rope_list){pair->text, 0};
    for (size_t at = 0, end; at <= pair->length; at = end + 1) {
        end = at + memory_smaller(strcspn(pair->text + at, ";"), pair->length - at);
        list->count++;
        if (!read_positive(pair->text + at, end - at, &number))
            return error_usage(error,
                               "%s: number %zu of %s, '%.*s', is no number from 1e-30 to 1e30; expected such "
                               "as %s=1;1.5;2",
                               pair->place, list->count, key, (int)memory_smaller(end - at, SHOWN), pair->text + at,
                               key);
    }
    return STATUS_OK;
}

static bool is_word(const struct pair *pair, const char *word)
{
    return pair->length == strlen(word) && memcmp(pair->text, word, pair->length) == 0;
}

static enum status parse_truth(const struct pair *pair, const char *key, bool *truth, struct error *error)
{
    *truth = is_word(pair, "yes");
    if (!*truth && !is_word(pair, "no"))
        return error_usage(error, "%s: %s '%.*s' is neither yes nor no", pair->place, key,
                           (int)memory_smaller(pair->length, SHOWN), pair->text);
    return STATUS_OK;
}

static enum status parse_value(const struct pair *pair, const struct key *key, struct rope_scaling *scaling,
                               struct error *error)
{
    void *value = (char *)scaling + key->place;
    switch (key->value) {
    case VALUE_LIST:
        return parse_list(pair, key->name, value, error);
    case VALUE_TRUTH:
        return parse_truth(pair, key->name, value, error);
    case VALUE_NUMBER:
        break;
    }
    if (!read_positive(pair->text, pair->length, value))
        return error_usage(error, "%s: %s '%.*s' is no number from 1e-30 to 1e30", pair->place, key->name,
                           (int)memory_smaller(pair->length, SHOWN), pair->text);
    return STATUS_OK;
}

/* Reads "key=value"; `given` has a bit for each earlier key. */
static enum status parse_pair(const struct pair *pair, unsigned *given, struct rope_scaling *scaling,
                              struct error *error)
{
    const size_t name_length = memory_smaller(strcspn(pair->text, "="), pair->length);
    const char *names[KEYS];
    char name[SHOWN + 1];
    size_t i = 0;
    snprintf(name, sizeof name, "%.*s", (int)memory_smaller(name_length, SHOWN), pair->text);
    if (name_length == pair->length)
        return error_usage(error, "%s: %s: '%s' is no key=value; expected such as %s", pair->place,
                           KINDS[scaling->kind], name, ROWS[scaling->kind].example);
    list_keys(scaling->kind, names);
    while (i < KEYS && (names[i] == NULL || strcmp(names[i], name) != 0))
        i++;
    if (i == KEYS)
        return unknown_key(pair->place, name, scaling->kind, error);
    if ((*given >> i & 1) != 0)
        return error_usage(error, "%s: %s: '%s' is given twice; expected it once", pair->place, KINDS[scaling->kind],
                           name);
    *given |= 1U << i;
    const size_t start = name_length + 1;
    return parse_value(&(struct pair){pair->place, pair->text + start, pair->length - start}, &TABLE[i], scaling,
                       error);
}

/* longrope can compute `attention` only if it knows how much longer texts are. */
static enum status check_longest(const char *place, const struct rope_scaling *scaling, struct error *error)
{
    if (scaling->attention == 0 && scaling->max == 0)
        return error_usage(error, "%s: longrope needs max, or attention; expected such as %s", place,
                           ROWS[scaling->kind].example);
    if (scaling->attention == 0 && scaling->max > scaling->old && scaling->old <= 1)
        return error_usage(error, "%s: old is %.10g; expected more than 1 where attention is not given", place,
                           scaling->old);
    return STATUS_OK;
}

static enum status check_scaling(const char *place, unsigned given, const struct rope_scaling *scaling,
                                 struct error *error)
{
    const enum rope_scaling_kind kind = scaling->kind;
    for (size_t i = 0; i < KEYS; i++)
        if ((TABLE[i].needed >> kind & ~(given >> i) & 1) != 0)
            return error_usage(error, "%s: %s lacks %s; expected such as %s", place, KINDS[kind], TABLE[i].name,
                               ROWS[kind].example);
    if (scaling->share > 1)
        return error_usage(error, "%s: share is %.10g; expected a number of at most 1", place, scaling->share);
    if (scaling->low > 0 && scaling->low >= scaling->high)
        return error_usage(error, "%s: low is %.10g and high %.10g; expected high to be above low", place, scaling->low,
                           scaling->high);
    if (scaling->fast < scaling->slow)
        return error_usage(error, "%s: fast is %.10g and slow %.10g; expected fast not to be below slow", place,
                           scaling->fast, scaling->slow);
    return scaling->short_list.text != NULL ? check_longest(place, scaling, error) : STATUS_OK;
}

enum status rope_scaling_parse(const char *place, const char *text, struct rope_scaling *scaling, struct error *error)
{
    const size_t length = strcspn(text, ":");
    unsigned kind = 0, given = 0;
    char name[SHOWN + 1], hint[128], expected[160];
    enum status status = STATUS_OK;
    snprintf(name, sizeof name, "%.*s", (int)memory_smaller(length, SHOWN), text);
    while (kind < ROPE_SCALING_COUNT && strcmp(KINDS[kind], name) != 0)
        kind++;
    if (kind == ROPE_SCALING_COUNT) {
        suggest_hint(hint, sizeof hint, "", name, KINDS, ROPE_SCALING_COUNT);
        return error_usage(error, "%s: unknown scaling '%s'%s expected %s", place, name, hint[0] ? hint : ";",
                           text_alternatives(KINDS, ROPE_SCALING_COUNT, expected, sizeof expected));
    }
    *scaling = ROWS[kind].usual;
    for (const char *pair = text[length] == ':' ? text + length + 1 : NULL; pair != NULL && status == STATUS_OK;) {
        const size_t end = strcspn(pair, ",");
        status = parse_pair(&(struct pair){place, pair, end}, &given, scaling, error);
        pair = pair[end] == ',' ? pair + end + 1 : NULL;
    }
    return status == STATUS_OK ? check_scaling(place, given, scaling, error) : status;
}
