/* SPDX-License-Identifier: MIT */
#include "cli/option_value.h"

#include "base/suggest.h"
#include "base/text.h"

#include <string.h>

enum { SETTING_BYTES = 24 };

static enum option_id find_setting(const char *name)
{
    const enum option_id id = strchr(name, '-') == NULL ? options_find(name, strlen(name)) : OPTION_COUNT;
    return id != OPTION_COUNT && OPTIONS[id].setting ? id : OPTION_COUNT;
}

const char *options_setting_meant(const char *name, char *text, size_t size)
{
    const enum option_id own = find_setting(name), id = own != OPTION_COUNT ? own : options_meant(name);
    return id != OPTION_COUNT && OPTIONS[id].setting ? options_setting_name(id, text, size) : NULL;
}

bool options_takes_setting(enum mechanism mechanism, const char *name)
{
    const enum option_id id = find_setting(name);
    return id < OPTION_COUNT && options_takes(command_of(mechanism), mechanism, id);
}

/* Any option that a line of --jsonl may set. */
static enum status check_line_option(const struct options *options, const struct setting *setting, enum option_id id,
                                     const char *place, struct error *error)
{
    const struct option_row *row = &OPTIONS[id];
    if (id == OPTION_COUNT)
        return error_usage(error, "%s: unknown option; attn %s --help=all lists them", place,
                           command_name(options->command));
    if (!options_takes(options->command, options->mechanism, id))
        return option_refuse(options->command, options->mechanism, id, error);
    if (row->of_run || (row->file && (id != OPTION_GRAD || strcmp(setting->text, "ones") != 0)))
        return error_usage(error, "%s: the same for all lines; type --%s on the command line", place, row->name);
    if (row->kind == OPTION_NEGATION)
        return error_usage(error, "%s: expected \"%s\": false", place, OPTIONS[row->negated].name);
    return STATUS_OK;
}

static enum status unknown_setting(const char *source, const char *name, struct error *error)
{
    char texts[OPTION_COUNT][SETTING_BYTES], hint[128];
    const char *meant = options_setting_meant(name, hint, sizeof hint);
    const char *names[OPTION_COUNT];
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        names[id] = OPTIONS[id].setting ? options_setting_name(id, texts[id], sizeof texts[id]) : NULL;
    if (meant != NULL)
        return error_usage(error, "%s: settings: unknown name '%.80s'; did you mean '%s'?", source, name, meant);
    suggest_hint(hint, sizeof hint, "", name, names, OPTION_COUNT);
    return error_usage(error, "%s: settings: unknown name '%.80s'%s", source, name,
                       hint[0] ? hint : "; a setting is an option that changes numbers");
}

/* Whether a setting of that kind fits the option; a whole number may also be a string of digits. */
static bool kind_fits(const struct option_row *row, enum setting_kind kind)
{
    switch (row->kind) {
    case OPTION_FLAG:
        return kind == SETTING_TRUTH;
    case OPTION_CHOICE:
        return kind == SETTING_TEXT;
    case OPTION_REAL:
        return kind == SETTING_NUMBER || kind == SETTING_INEXACT || (kind == SETTING_TEXT && row->parse != NULL);
    default:
        return kind == SETTING_NUMBER || kind == SETTING_TEXT;
    }
}

static enum status wrong_kind(const struct option_row *row, const struct setting *setting, const char *place,
                              struct error *error)
{
    static const char *const EXPECTED[OPTION_KINDS] = {
        [OPTION_FLAG] = "true or false", [OPTION_NEGATION] = "true or false", [OPTION_WHOLE] = "a whole number",
        [OPTION_REAL] = "a number",      [OPTION_CHOICE] = "a string",        [OPTION_TEXT] = "a string or a number",
    };
    static const char *const GOT[SETTING_KINDS] = {
        [SETTING_NUMBER] = "a number", [SETTING_TEXT] = "a string", [SETTING_TRUTH] = "a boolean"};
    if (setting->kind == SETTING_INEXACT && row->kind == OPTION_WHOLE)
        return error_usage(error, "%s: JSON loses digits of a number from 2^53 on; write it as a string", place);
    return error_usage(error, "%s: expected %s, got %s", place, EXPECTED[row->kind],
                       GOT[setting->kind] != NULL ? GOT[setting->kind] : setting->text);
}

enum status options_setting(struct options *options, const struct setting *setting, bool of_line, const char *source,
                            struct error *error)
{
    char place[TEXT_PATH_BYTES + 64];
    const char *name = setting->name;
    const enum option_id id = of_line ? options_find(name, strlen(name)) : find_setting(name);
    snprintf(place, sizeof place, "%s: %s: %.40s", source, of_line ? "options" : "settings", name);
    if (of_line && check_line_option(options, setting, id, place, error) != STATUS_OK)
        return error->status;
    if (id == OPTION_COUNT)
        return unknown_setting(source, name, error);
    const struct option_row *row = &OPTIONS[id];
    const bool passed = !options_takes(options->command, options->mechanism, id);
    if (!of_line && (passed || options->origin[id] == ORIGIN_COMMAND_LINE))
        return STATUS_OK;
    if (options->origin[id] == ORIGIN_FILE)
        return error_usage(error, "%s: given twice, under two names; leave one out", place);
    if (!kind_fits(row, setting->kind))
        return wrong_kind(row, setting, place, error);
    enum status status = option_store(options, id, place, setting->text, error);
    options->origin[id] = of_line ? ORIGIN_COMMAND_LINE : ORIGIN_FILE;
    return status;
}

enum status options_fact(struct options *options, const char *name, const char *text, const char *source,
                         struct error *error)
{
    char place[TEXT_PATH_BYTES + 64];
    const enum option_id id = find_setting(name);
    if (id == OPTION_COUNT)
        return unknown_setting(source, name, error);
    if (options_said(options, id))
        return STATUS_OK;
    snprintf(place, sizeof place, "%s: %s", source, name);
    options->origin[id] = ORIGIN_CHECKPOINT;
    return option_store(options, id, place, text, error);
}
