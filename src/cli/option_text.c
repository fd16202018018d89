/* SPDX-License-Identifier: MIT */
#include "cli/option_text.h"

#include "base/decimal.h"
#include "base/text.h"

_Static_assert((int)OPTION_TEXT_BYTES > (int)DECIMAL_BYTES, "a number has room");

const char *option_tell_mistakes(const struct options *options, char *text)
{
    char name[MISTAKE_NAME_BYTES];
    struct text list = text_begin(text, OPTION_TEXT_BYTES);
    for (size_t i = 0; i < options->mistake_count; i++)
        text_add(&list, "%s%s", i > 0 ? "," : "", mistake_text(options->mistakes[i], name));
    return options->mistake_count > 0 ? text : NULL;
}

const char *option_text(const struct options *options, enum option_id id, char *text)
{
    const struct option_row *row = &OPTIONS[id];
    const void *field = (const char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_NEGATION:
        return *(const bool *)field ? "true" : "false";
    case OPTION_WHOLE:
        return text_format(text, OPTION_TEXT_BYTES, "%llu", (unsigned long long)*(const uint64_t *)field);
    case OPTION_REAL:
        decimal_from_double(*(const double *)field, text);
        return text;
    case OPTION_CHOICE:
        return row->choices[*(const unsigned *)field];
    case OPTION_TEXT:
        return row->told != NULL ? row->told(options, text) : *(const char *const *)field;
    }
    return NULL;
}
