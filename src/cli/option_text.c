/* SPDX-License-Identifier: MIT */
#include "cli/option_text.h"

#include "base/decimal.h"
#include "base/shell_word.h"

#include <string.h>

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

/* " -s 789", " --causal", " --no-causal" */
static void add_option(const struct options *options, enum option_id id, struct text *line)
{
    const struct option_row *row = &OPTIONS[id];
    char room[OPTION_TEXT_BYTES];
    const char *value = option_text(options, id, room);
    const bool denied = row->kind == OPTION_FLAG && strcmp(value, "false") == 0;
    int said = denied ? 0 : (int)id;
    while (denied && said < OPTION_COUNT && (OPTIONS[said].kind != OPTION_NEGATION || OPTIONS[said].negated != id))
        said++;
    if (said == OPTION_COUNT)
        return;
    if (OPTIONS[said].letter != '\0')
        text_add(line, " -%c", OPTIONS[said].letter);
    else
        text_add(line, " --%s", OPTIONS[said].name);
    if (row->argument == NULL)
        return;
    text_add(line, " ");
    shell_word(line, value);
}

void option_line_input(const char *file, struct text *line)
{
    text_add(line, file[0] == '-' && file[1] != '\0' ? " -i " : " ");
    shell_word(line, file);
}

void options_command_line(const struct options *options, struct text *line)
{
    text_add(line, "attn %s", MECHANISMS[options->mechanism].name);
    if (options->in != NULL)
        option_line_input(options->in, line);
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (options->origin[id] == ORIGIN_COMMAND_LINE && (OPTIONS[id].setting || OPTIONS[id].reads) &&
            id != OPTION_IN && options_takes(command_of(options->mechanism), options->mechanism, id))
            add_option(options, id, line);
}

void options_part_line(const struct options *options, struct text *line)
{
    static const enum option_id MORE[] = {OPTION_STAGES, OPTION_KERNEL};
    options_command_line(options, line);
    for (size_t i = 0; i < sizeof MORE / sizeof MORE[0]; i++)
        if (options->origin[MORE[i]] == ORIGIN_COMMAND_LINE)
            add_option(options, MORE[i], line);
}
