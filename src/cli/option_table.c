/* SPDX-License-Identifier: MIT */
#include "cli/case_features.h"
#include "cli/option_rows.h"
#include "cli/option_text.h"
#include "cli/option_value.h"

#include "base/suggest.h"
#include "base/text.h"
#include "model/stage_id.h"

#include <assert.h>
#include <string.h>

/* The tolerance of each working dtype in attn diff: ", f32 1e-5". */
#define ABSOLUTE(id, name, absolute, ...) ", " name " " #absolute
#define RELATIVE(id, name, absolute, relative, ...) ", " name " " #relative
#define NOTHING(...)

static const char *stage_word(size_t index)
{
    return index < STAGE_NAMES ? stage_name((enum stage)index) : NULL;
}

static const char *mistake_word(size_t index)
{
    return index < MISTAKE_COUNT ? MISTAKES[index].name : NULL;
}

static const char *dtype_word(size_t index)
{
    return dtype_title((enum dtype)index);
}

static const char *format_word(size_t index)
{
    return FORMATS[index].suffixes[0] + 1;
}

/* clang-format off */
/* The fields of struct option_row that a kind fills. */
#define KIND_FLAG .kind = OPTION_FLAG
#define KIND_WHOLE(from, to) .kind = OPTION_WHOLE, .minimum = (from), .maximum = (to)
#define KIND_REAL(lowest, beyond, words) .kind = OPTION_REAL, .range = {lowest, beyond, words}
#define KIND_CHOICE(type, list) .kind = OPTION_CHOICE, .choices = (const char *const[]){list(CHOICE_WORD) NULL}
#define KIND_AMONG(type, words) .kind = OPTION_CHOICE, .choices = (words)
#define KIND_TEXT .kind = OPTION_TEXT
#define KIND_FILE .kind = OPTION_TEXT, .file = true
#define KIND_LIST(words) .kind = OPTION_TEXT, .listed = (words)
/* clang-format on */

/* The type of the field. */
#define TYPE_FLAG bool
#define TYPE_WHOLE(from, to) uint64_t
#define TYPE_REAL(from, below, words) double
#define TYPE_CHOICE(type, list) type
#define TYPE_AMONG(type, words) type
#define TYPE_TEXT const char *
#define TYPE_FILE const char *
#define TYPE_LIST(words) const char *
#define FITS(id, member, kind, ...)                                   \
    static_assert(_Generic(((struct options *)0)->member, TYPE_##kind \
                           : true, default                            \
                           : false),                                  \
                  "a field of another type");
OPTION_ROWS(FITS, NOTHING)

#define AS_ROW(id, member, as_kind, able, ...) \
    [OPTION_##id] = {.offset = offsetof(struct options, member), KIND_##as_kind, .abilities = (able), __VA_ARGS__},
#define AS_NEGATION(id, other, able, ...) \
    [OPTION_##id] = {.kind = OPTION_NEGATION, .negated = OPTION_##other, .abilities = (able), __VA_ARGS__},
const struct option_row OPTIONS[OPTION_COUNT] = {OPTION_ROWS(AS_ROW, AS_NEGATION)};

#define AS_SYNONYM(name, id, value) {name, OPTION_##id, value},
const struct option_synonym SYNONYMS[OPTION_SYNONYMS] = {SYNONYM_ROWS(AS_SYNONYM)};

#define CASE_FEATURE_NAME(id, name, words) {name, words},
const struct case_feature_name CASE_FEATURE_NAMES[CASE_FEATURE_COUNT] = {CASE_FEATURES(CASE_FEATURE_NAME)};

const char *case_feature_word(size_t index)
{
    return index < CASE_FEATURE_COUNT ? CASE_FEATURE_NAMES[index].name : NULL;
}

bool options_takes(enum command command, enum mechanism mechanism, enum option_id id)
{
    return (OPTIONS[id].abilities & command_abilities(command, mechanism)) != 0;
}

bool option_is_called(const char *own, const char *name, size_t length)
{
    if (own == NULL || strlen(own) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (own[i] != name[i] && !(own[i] == '-' && name[i] == '_'))
            return false;
    return true;
}

enum option_id options_find(const char *name, size_t length)
{
    enum option_id id = 0;
    while (id < OPTION_COUNT && !option_is_called(OPTIONS[id].name, name, length) &&
           !option_is_called(OPTIONS[id].alias, name, length))
        id++;
    return id;
}

enum option_id options_find_long(const char *word)
{
    const char *name = word + strlen("--");
    return options_find(name, strcspn(name, "="));
}

enum option_id options_meant(const char *name)
{
    enum option_id id = 0;
    while (id < OPTION_COUNT && !suggest_knows(OPTIONS[id].foreign, name))
        id++;
    return id;
}

/* Writes a bound, "65536" or "2^64-1", into text (OPTION_BOUND_BYTES); returns text. */
static const char *bound_text(uint64_t bound, char *text)
{
    for (unsigned bits = 20; bits <= 64; bits++) {
        uint64_t below = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        if (bound == below)
            snprintf(text, OPTION_BOUND_BYTES, "2^%u-1", bits);
        else if (bound == below + 1 && bits < 64)
            snprintf(text, OPTION_BOUND_BYTES, "2^%u", bits);
        else
            continue;
        return text;
    }
    return text_format(text, OPTION_BOUND_BYTES, "%llu", (unsigned long long)bound);
}

const char *options_range(const struct option_row *row, char *text)
{
    char least[OPTION_BOUND_BYTES], most[OPTION_BOUND_BYTES];
    struct text range = text_begin(text, (size_t)2 * OPTION_BOUND_BYTES);
    text_add(&range, "%s..%s", row->wraps ? "-2^63" : bound_text(row->minimum, least), bound_text(row->maximum, most));
    return text;
}

const char *options_setting_name(enum option_id id, char *text, size_t size)
{
    snprintf(text, size, "%s", OPTIONS[id].name);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
    return text;
}
