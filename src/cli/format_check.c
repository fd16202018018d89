/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "base/folder.h"
#include "base/text.h"
#include "model/stage_id.h"

#include <string.h>

enum { LIST_BYTES = 256 };

const struct format_row *options_format(const struct options *options)
{
    return &FORMATS[options->format];
}

bool format_is_written(enum command command, const struct format_row *format)
{
    const unsigned abilities = command < COMMAND_COUNT ? COMMANDS[command].abilities : 0;
    if (format->judges)
        return abilities & ABILITY_TRIES;
    if (abilities & (ABILITY_COMPARES | ABILITY_SEARCHES | ABILITY_TRIES))
        return format->reports;
    if (abilities & ABILITY_MEASURES)
        return format->measures;
    if (abilities & ABILITY_PAGES)
        return format->computes;
    if (abilities & ABILITY_JOINS)
        return format->holds_whole;
    if (abilities & ABILITY_ASKS)
        return format->prints;
    return (abilities & ABILITY_NAMES_PARAMETERS) == 0 || format->refuses_parameters == NULL;
}

/* The formats that the command writes, "text, markdown or json", or their suffixes, into text (LIST_BYTES). */
static const char *list_written(enum command command, bool suffixes, char *text)
{
    const char *words[FORMAT_COUNT];
    for (int format = 0; format < FORMAT_COUNT; format++)
        words[format] = !format_is_written(command, &FORMATS[format]) ? NULL
                        : suffixes                                    ? FORMATS[format].suffixes[0]
                                                                      : FORMATS[format].name;
    return text_alternatives(words, FORMAT_COUNT, text, LIST_BYTES);
}

enum status format_choose(struct options *options, struct error *error)
{
    if (options->out == NULL)
        options->out = COMMANDS[options->command].out;
    if (options->jsonl && !options_said(options, OPTION_FORMAT)) {
        options->format = FORMAT_JSON;
        options->origin[OPTION_FORMAT] = ORIGIN_COMMAND_LINE;
    }
    if (options_said(options, OPTION_FORMAT))
        return STATUS_OK;
    options->format = COMMANDS[options->command].format;
    if (options->out == NULL)
        return STATUS_OK;
    const char *file = folder_base(options->out);
    const char *suffix = strrchr(file, '.');
    if (suffix == NULL || suffix == file)
        return STATUS_OK;
    const enum format found = format_of_suffix(suffix);
    char list[LIST_BYTES];
    if (found == FORMAT_COUNT)
        return error_usage(error, "--out %.200s: attn writes no '%.40s'; type %s, or add --format", options->out,
                           suffix, list_written(options->command, true, list));
    options->format = found;
    return STATUS_OK;
}

/* Checks that a format of one table gets one: inputs or a stage, not the parameters, which are several. */
static enum status check_count(const struct options *options, struct error *error)
{
    const bool context_alone =
        options->mechanism != MECHANISM_COUNT && !MECHANISMS[options->mechanism].projects && options->stage_count == 0;
    if (!options_format(options)->one_table || context_alone ||
        (options->stage_count == 1 && options->stages[0] != STAGE_PARAMETERS))
        return STATUS_OK;
    return error_usage(error, "a .npy holds one table; type --stages context, or another stage, or write .safetensors");
}

static enum status check_explain(const struct options *options, struct error *error)
{
    if (!options_said(options, OPTION_EXPLAIN))
        return STATUS_OK;
    if (options->heatmap)
        return error_usage(error, "--explain and --heatmap show a table in two ways; choose one of them");
    if (options->entropy)
        return error_usage(error,
                           "--explain shows the arithmetic, and --entropy ends rows of tables; choose one of them");
    const bool config = options->cell != NULL && strcmp(options->cell, "config") == 0;
    if (options->animate && options->cell != NULL && !config)
        return STATUS_OK;
    if (options_format(options)->terminal || (config && options_format(options)->reports))
        return STATUS_OK;
    return error_usage(error, "--explain writes text; expected --format text, or an --out that ends in .txt, got %s",
                       options_format(options)->name);
}

/* Pictures show stages after the tokens, and heatmaps T x T tables. */
static enum status check_picture(const struct options *options, struct error *error)
{
    const struct format_row *format = options_format(options);
    size_t squares = 0;
    if (options->heatmap && !format->terminal)
        return error_usage(error, "--heatmap draws in text, not in %s; choose one of them", format->name);
    for (size_t i = 0; i < options->stage_count; i++) {
        const enum stage stage = options->stages[i];
        if (format->pictures && !stage_is_drawn(stage))
            return error_usage(error,
                               "--stages: '%s' has no picture; expected inputs, parameters or stages up to output, or "
                               "another --format than %s",
                               stage_name(stage), format->name);
        squares += stage_is_square(stage);
    }
    if (options->heatmap && options->stage_count > 0 && squares == 0)
        return error_usage(
            error, "--heatmap draws tables of T x T, and --stages %.80s names none; expected one, such as weights",
            options->stages_text);
    return STATUS_OK;
}

static enum status check_look(const struct options *options, struct error *error)
{
    const struct format_row *format = options_format(options);
    if (options_said(options, OPTION_THEME) && !format->themed && !options->heatmap)
        return error_usage(error,
                           "--theme applies to pictures and pages; expected --format svg or html, or --heatmap, got %s",
                           format->name);
    if (options_said(options, OPTION_SHAPE) && (!format->pictures || options->steps))
        return error_usage(error, "--shape applies to pictures of tables; expected --format svg%s, got %s",
                           options->steps ? " without --steps" : "", format->name);
    if (options_said(options, OPTION_POOL) && (!format->pictures || options->steps) && !options->heatmap)
        return error_usage(error, "--pool applies to pictures of tables; expected --format svg, or --heatmap, got %s",
                           format->name);
    if (options->entropy && ((!format->pictures && !format->terminal) || options->steps))
        return error_usage(error, "--entropy adds to text and pictures; for %s type --stages weights,entropy",
                           options->steps ? "--steps" : format->name);
    if (options->animate && (!format->animates || options->steps || options->stage_count > 0))
        return error_usage(error,
                           "--animate draws every step as SVG; expected --format svg without --steps or --stages%s%s",
                           format->animates ? "" : ", got ", format->animates ? "" : format->name);
    const bool tall = options_said(options, OPTION_SHAPE) && options->shape != SHAPE_WIDE;
    const char *unwalked = options->grad != NULL ? "--grad"
                           : options->entropy    ? "--entropy"
                           : tall                ? "--shape tall"
                                                 : NULL;
    if (options->animate && unwalked != NULL)
        return error_usage(error, "--animate walks the forward pass, on a slide; leave out %s", unwalked);
    if (options->no_caption && !format->pictures)
        return error_usage(error, "--no-caption applies to pictures; expected --format svg, got %s", format->name);
    return STATUS_OK;
}

static enum status refuse_format(const struct options *options, struct error *error)
{
    char list[LIST_BYTES];
    if (options->command == COMMAND_INIT && options_format(options)->refuses_parameters != NULL)
        return error_usage(error, "%s", options_format(options)->refuses_parameters);
    if (options->command == COMMAND_JOIN)
        return error_usage(error, "join writes one of these formats: --out WHOLE%s",
                           list_written(options->command, true, list));
    if (options->command == COMMAND_WORKSHEET)
        return error_usage(error, "a worksheet is for paper, and %s is not; expected %s", options_format(options)->name,
                           list_written(options->command, false, list));
    return error_usage(error, "%s writes %s, not %s", command_name(options->command),
                       list_written(options->command, false, list), options_format(options)->name);
}

static enum status check_steps(const struct options *options, struct error *error)
{
    const char *names[FORMAT_COUNT];
    char list[LIST_BYTES];
    for (int format = 0; format < FORMAT_COUNT; format++)
        names[format] = FORMATS[format].steps ? FORMATS[format].name : NULL;
    if (!options->steps || options_format(options)->steps)
        return STATUS_OK;
    return error_usage(error, "--steps writes %s, not %s", text_alternatives(names, FORMAT_COUNT, list, sizeof list),
                       options_format(options)->name);
}

enum status format_check(const struct options *options, struct error *error)
{
    if (!format_is_written(options->command, options_format(options)))
        return refuse_format(options, error);
    if (options->jsonl && options->format != FORMAT_JSON)
        return error_usage(error, "--jsonl writes json, not %s", options_format(options)->name);
    if (check_steps(options, error) || check_explain(options, error))
        return error->status;
    if (options->command == COMMAND_JOIN)
        return STATUS_OK;
    return check_count(options, error) || check_picture(options, error) || check_look(options, error) ? error->status
                                                                                                      : STATUS_OK;
}
