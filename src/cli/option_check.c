/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "base/output.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/stage_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads the list of --stages or --blank into stages (STAGE_NAMES). `all`: the value without the option, for
 * messages. */
static enum status parse_stages(const char *option, const char *all, const char *list, enum stage *stages,
                                size_t *count, struct error *error)
{
    uint64_t seen = 0;
    for (const char *name = list; name != NULL;) {
        size_t length = strcspn(name, ",");
        enum stage stage = stage_find(name, length);
        if (stage == STAGE_NAMES) {
            const char *names[STAGE_NAMES];
            char word[80], hint[128];
            for (enum stage i = 0; i < STAGE_NAMES; i++)
                names[i] = stage_name(i);
            snprintf(word, sizeof word, "%.*s", (int)length, name);
            suggest_hint(hint, sizeof hint, "", word, names, STAGE_NAMES);
            const enum stage meant = stage_meant(word);
            if (meant != STAGE_NAMES)
                snprintf(hint, sizeof hint, "; did you mean '%s'?", stage_name(meant));
            if (suggest_knows("all everything", word))
                snprintf(hint, sizeof hint, "; without --%s all are %s", option, all);
            return error_usage(error, "--%s: unknown stage '%s'%s", option, word,
                               hint[0] ? hint : "; expected names such as scores,weights");
        }
        if (seen & STAGE_BIT(stage))
            return error_usage(error, "--%s: '%s' is given twice; leave one out", option, stage_name(stage));
        seen |= STAGE_BIT(stage);
        stages[(*count)++] = stage;
        name = name[length] == ',' ? name + length + 1 : NULL;
    }
    return STATUS_OK;
}

/* "K/N" */
static enum status parse_part(struct options *options, struct error *error)
{
    const char *text = options->part_text;
    if (text == NULL)
        return STATUS_OK;
    char *slash, *end;
    errno = 0;
    const bool digits = text[strspn(text, "0123456789/")] == '\0' && text[0] != '/';
    unsigned long long part = strtoull(text, &slash, 10);
    unsigned long long parts = digits && *slash == '/' ? strtoull(slash + 1, &end, 10) : 0;
    if (!digits || *slash != '/' || end == slash + 1 || *end != '\0')
        return error_usage(error, "--part '%.80s' is not K/N; type the part and the number of parts, such as 2/3",
                           text);
    if (errno == ERANGE || part < 1 || part > parts || parts > UINT32_MAX)
        return error_usage(error, "--part %.80s is out of range; expected K in 1..N", text);
    options->part = (size_t)part;
    options->parts = (size_t)parts;
    return STATUS_OK;
}

static enum status check_diff(struct options *options, struct error *error)
{
    char **files = options->files;
    if (options->file_count != 2)
        return error_usage(error, "diff needs two files, got %zu: type attn diff EXPECTED MINE", options->file_count);
    if (strcmp(files[0], "-") == 0 && strcmp(files[1], "-") == 0)
        return error_usage(error, "A and B are both standard input; give one of them as a file");
    for (size_t i = 0; i < options->stage_count; i++)
        if (!stage_exists(options->stages[i]))
            return error_usage(error, "--stages: '%s' is not a stage; expected stages such as scores,weights",
                               stage_name(options->stages[i]));
    if (!options_said(options, OPTION_PRECISION))
        options->precision = 1;
    return STATUS_OK;
}

bool options_want_color(const struct options *options, const struct output *output)
{
    return options->color == WHEN_AUTO ? output_takes_color(output) : options->color == WHEN_ALWAYS;
}

/* Adds commands, or mechanisms, that take the option to the list (size bytes), "self, causal", each after `before`. */
static void list_commands(enum command command, enum option_id id, const char *before, char *list, size_t size)
{
    for (enum command other = 0; other < COMMAND_COUNT; other++) {
        if (command_takes(command, other) && options_takes(other, COMMANDS[other].mechanism, id)) {
            const size_t length = strlen(list);
            snprintf(list + length, size - length, "%s%s%s", length > 0 ? ", " : "", before, command_name(other));
        }
    }
}

enum status option_refuse(enum command command, enum mechanism mechanism, enum option_id id, struct error *error)
{
    char list[256] = "", before[32];
    const bool named = mechanism != COMMANDS[command].mechanism;
    snprintf(before, sizeof before, "%s ", command_name(command));
    list_commands(named ? command : COMMAND_HELP, id, "", list, sizeof list);
    if (named)
        list_commands(command, id, before, list, sizeof list);
    const char *own = named ? before : "", *name = named ? MECHANISMS[mechanism].name : command_name(command);
    if (OPTIONS[id].elsewhere != NULL)
        return error_usage(error, "--%s is not an option of %s%s; %s", OPTIONS[id].name, own, name,
                           OPTIONS[id].elsewhere);
    return error_usage(error, "--%s is not an option of %s%s, but of: %s", OPTIONS[id].name, own, name, list);
}

/* Rejects sizes with --check, which takes them from the folder, and options of the report without it. */
static enum status check_cases(struct options *options, struct error *error)
{
    static const enum option_id WRITTEN[] = {OPTION_HEADS, OPTION_KV_HEADS,   OPTION_D_HEAD, OPTION_D_VALUE,
                                             OPTION_DTYPE, OPTION_MAX_TOKENS, OPTION_SEED,   OPTION_CAN,
                                             OPTION_ONLY,  OPTION_LAYOUT};
    static const enum option_id CHECKED[] = {OPTION_OUT, OPTION_FORMAT, OPTION_COLOR, OPTION_NO_WHY, OPTION_BUDGET};
    enum { HEADS = 4 };
    if (options->file_count == 0)
        return error_usage(error, "cases needs a folder: type attn cases %sDIR", options->check ? "--check " : "");
    for (size_t i = 0; options->check && i < sizeof WRITTEN / sizeof WRITTEN[0]; i++)
        if (options_said(options, WRITTEN[i]))
            return error_usage(error, "--check takes the sizes from the folder; leave out --%s",
                               OPTIONS[WRITTEN[i]].name);
    for (size_t i = 0; !options->check && i < sizeof CHECKED / sizeof CHECKED[0]; i++)
        if (options_said(options, CHECKED[i]))
            return error_usage(error, "--%s applies to --check; add --check", OPTIONS[CHECKED[i]].name);
    options->heads = options->heads > 0 ? options->heads : HEADS;
    if (options->kv_heads > 0 && options->heads % options->kv_heads != 0)
        return error_usage(error, "--kv-heads %" PRIu64 " does not divide --heads %" PRIu64 "; type one that does",
                           options->kv_heads, options->heads);
    return STATUS_OK;
}

/* A file's numbers give only one variant. */
static enum status check_worksheet(struct options *options, struct error *error)
{
    if (!options_said(options, OPTION_PRECISION))
        options->precision = 2;
    if (options->variants == 1 || options->in == NULL)
        return STATUS_OK;
    return error_usage(
        error, "--variants %llu needs drawn numbers, and %.80s has its own; leave the file out, or type --random SHAPE",
        (unsigned long long)options->variants, options->in);
}

bool options_read_inputs(const struct options *options)
{
    return options->mechanism != MECHANISM_COUNT &&
           (options->command != COMMAND_INIT || !options_said(options, OPTION_D_IN));
}

/* The file that the option reads, or NULL; the input is standard input by default. */
static const char *file_read(const struct options *options, enum option_id id)
{
    if (!OPTIONS[id].reads)
        return NULL;
    const char *file = *(const char *const *)((const char *)options + OPTIONS[id].offset);
    const bool draws = options->random != NULL || options->command == COMMAND_WORKSHEET;
    return file == NULL && id == OPTION_IN && !draws && options_read_inputs(options) ? "-" : file;
}

/* Checks that at most one file is standard input. */
static enum status check_standard(const struct options *options, struct error *error)
{
    const char *first = NULL;
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const char *file = file_read(options, id);
        if (file == NULL || strcmp(file, "-") != 0)
            continue;
        if (first != NULL)
            return error_usage(error, "--%s and --%s are both standard input; give one of them as a file", first,
                               OPTIONS[id].name);
        first = OPTIONS[id].name;
    }
    return STATUS_OK;
}

static enum status refuse_out(const char *file, const char *dashes, const char *reader, struct error *error)
{
    return error_usage(error, "--out would replace %.200s, which %s%s reads; write to another file",
                       strcmp(file, "-") == 0 ? "standard input" : file, dashes, reader);
}

/* A complete result contains its input, and may replace it, but no other file that attn reads. */
static enum status check_out(const struct options *options, struct error *error)
{
    const struct format_row *format = options_format(options);
    const bool keeps_input = COMMANDS[options->command].words == WORDS_INPUT && options->stage_count == 0 &&
                             format->holds_whole && !format->one_table;
    bool replaces = false;
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        const char *file = keeps_input && id == OPTION_IN ? NULL : file_read(options, id);
        if (file != NULL && output_replaces(options->out, file, &replaces, error) != STATUS_OK)
            return error->status;
        if (replaces)
            return refuse_out(file, "--", OPTIONS[id].name, error);
    }
    for (size_t i = 0; i < options->file_count &&
                       (COMMANDS[options->command].words == WORDS_FILES || COMMANDS[options->command].several);
         i++) {
        if (output_replaces(options->out, options->files[i], &replaces, error) != STATUS_OK)
            return error->status;
        if (replaces)
            return refuse_out(options->files[i], "", command_name(options->command), error);
    }
    return STATUS_OK;
}

/* Steps have all tokens, and compare the last stage; --prefill and --chunk need --steps. */
static enum status check_steps(const struct options *options, struct error *error)
{
    static const enum option_id OTHERS[] = {OPTION_QUERY,     OPTION_STAGES,  OPTION_EXPLAIN,
                                            OPTION_PRECISION, OPTION_HEATMAP, OPTION_PART,
                                            OPTION_MISTAKE,   OPTION_GRAD,    OPTION_HEAD};
    static const enum option_id OWN[] = {OPTION_PREFILL, OPTION_CHUNK};
    for (size_t i = 0; !options->steps && i < sizeof OWN / sizeof OWN[0]; i++)
        if (options_said(options, OWN[i]))
            return error_usage(error, "--%s applies to --steps; add --steps", OPTIONS[OWN[i]].name);
    for (size_t i = 0; options->steps && i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (options->origin[OTHERS[i]] == ORIGIN_COMMAND_LINE)
            return error_usage(error, "--steps runs over all tokens and prints a table of its steps; leave out --%s",
                               OPTIONS[OTHERS[i]].name);
    return STATUS_OK;
}

enum status option_check(struct options *options, struct error *error)
{
    const bool named = options->mechanism != MECHANISM_COUNT;
    options->stage_count = options->blank_count = 0;
    if (COMMANDS[options->command].words == WORDS_MECHANISM && !named) {
        const char *names[MECHANISM_COUNT] = {NULL}, *command = command_name(options->command);
        char list[128];
        size_t count = 0;
        for (enum command word = 0; word < COMMAND_COUNT; word++)
            if (command_takes(options->command, word))
                names[count++] = command_name(word);
        return error_usage(error, "%s needs a mechanism: type attn %s %s", command, command,
                           text_alternatives(names, count, list, sizeof list));
    }
    if (check_standard(options, error) != STATUS_OK)
        return error->status;
    if (options_said(options, OPTION_D_IN) && options->in != NULL)
        return error_usage(error, "--d-in and %.80s both give the width of the inputs; leave one out", options->in);
    if (options->random != NULL && options->in != NULL && !options->jsonl)
        return error_usage(error, "--random and %.80s both give the inputs; leave one out", options->in);
    for (enum option_id id = 0; id < OPTION_COUNT && command_names_mechanism(options->command) && named; id++)
        if (options->origin[id] == ORIGIN_COMMAND_LINE && !options_takes(options->command, options->mechanism, id))
            return option_refuse(options->command, options->mechanism, id, error);
    if (options->command == COMMAND_JOIN && options->file_count == 0)
        return error_usage(error, "join needs the parts: type attn join PART... --out FILE");
    if (parse_stages("stages", "shown", options->stages_text, options->stages, &options->stage_count, error) ||
        parse_stages("blank", "blank", options->blank_text, options->blanks, &options->blank_count, error) ||
        parse_part(options, error) || check_steps(options, error) || format_choose(options, error) ||
        check_out(options, error))
        return error->status;
    if (options->command == COMMAND_WHY && options->mine == NULL)
        return error_usage(error, "why needs your table: type attn why %s FILE --mine TABLE",
                           MECHANISMS[options->mechanism].name);
    if ((options->command == COMMAND_DIFF && check_diff(options, error) != STATUS_OK) ||
        (options->command == COMMAND_CASES && check_cases(options, error) != STATUS_OK) ||
        (options->command == COMMAND_WORKSHEET && check_worksheet(options, error) != STATUS_OK))
        return error->status;
    return format_check(options, error);
}
