/* SPDX-License-Identifier: MIT */
/* attn page: which mechanism is meant. */
#include "build/job_files.h"

#include "cli/example.h"
#include "read/json.h"
#include "read/load.h"

#include <string.h>

/* What `attn page` alone shows: attn example knows it. */
static const char BUILT_IN[] = "patterns";

enum {
    ALL_KINDS = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS |
                INPUT_FILE_MASKING | INPUT_FILE_OPERAND | INPUT_FILE_BUFFER | INPUT_FILE_CACHE | INPUT_FILE_KEYS
};

static bool asked(const struct options *options, enum option_id id)
{
    return options->origin[id] == ORIGIN_COMMAND_LINE;
}

/* A mechanism may be causal, or never be it, without an option. */
static bool can_be(const struct mechanism_row *mechanism, bool causal)
{
    return mechanism->causality != (causal ? CAUSALITY_NEVER : CAUSALITY_ALWAYS);
}

static bool takes_options(enum mechanism mechanism, const struct options *options)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (asked(options, (enum option_id)id) && id != OPTION_CAUSAL &&
            !options_takes(command_of(mechanism), mechanism, (enum option_id)id))
            return false;
    return !asked(options, OPTION_CAUSAL) || can_be(&MECHANISMS[mechanism], options->causal);
}

/* Whether any other mechanism takes the setting: one that none takes is an error of the job. */
static bool is_setting(const char *name)
{
    int mechanism = 0;
    while (mechanism < MECHANISM_COUNT && !options_takes_setting((enum mechanism)mechanism, name))
        mechanism++;
    return mechanism < MECHANISM_COUNT;
}

static bool takes_input(enum mechanism mechanism, const struct input_file *input)
{
    const struct mechanism_row *row = &MECHANISMS[mechanism];
    if (input_file_find(input, row->projects ? "inputs" : "query") == NULL)
        return false;
    for (size_t i = 0; i < input->setting_count; i++) {
        const struct setting *setting = &input->settings[i];
        if (strcmp(setting->name, "causal") == 0
                ? !can_be(row, strcmp(setting->text, "true") == 0)
                : is_setting(setting->name) && !options_takes_setting(mechanism, setting->name))
            return false;
    }
    return true;
}

/* That of a result, else the first that takes the options, and the input if there is one. */
static enum mechanism choose(const struct options *options, const struct input_file *input)
{
    const enum mechanism made = input != NULL ? mechanism_find(input->mechanism) : MECHANISM_COUNT;
    enum mechanism first = MECHANISM_COUNT;
    if (made != MECHANISM_COUNT && takes_options(made, options) && takes_input(made, input))
        return made;
    for (int i = 0; i < MECHANISM_COUNT; i++) {
        const enum mechanism mechanism = (enum mechanism)i;
        if (!takes_options(mechanism, options))
            continue;
        if (input == NULL || takes_input(mechanism, input))
            return mechanism;
        first = first == MECHANISM_COUNT ? mechanism : first;
    }
    return first;
}

/* What a reader of those kinds alone would have taken. */
static enum status keep(struct input_file *input, unsigned kinds, struct arena *arena, struct error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < input->tensor_count; i++)
        if (input_file_kind(input->tensors[i].name) & kinds)
            input->tensors[kept++] = input->tensors[i];
        else if (input_file_pass(input, input->tensors[i].name, arena, error) != STATUS_OK)
            return error->status;
    input->tensor_count = kept;
    return STATUS_OK;
}

/* The built-in input, or NULL: the mechanism's own, or the first of all where settings might not fit that. */
static const char *built_in(const struct options *options)
{
    const enum mechanism mechanism = options->mechanism != MECHANISM_COUNT ? options->mechanism : choose(options, NULL);
    bool settings = false;
    for (int id = 0; id < OPTION_COUNT; id++)
        settings |= asked(options, (enum option_id)id) && (OPTIONS[id].setting || OPTIONS[id].reads);
    if (options->random != NULL || mechanism == MECHANISM_COUNT)
        return NULL;
    if (!settings && options->mechanism == MECHANISM_COUNT)
        return BUILT_IN;
    const struct mechanism_row *row = &MECHANISMS[mechanism];
    return settings && row->projects && row->example != NULL ? EXAMPLES[0].name : row->example;
}

static enum status read_input(struct input_file *input, const char *in, const char *example, struct arena *arena,
                              struct error *error)
{
    if (in != NULL)
        return load_file(in, ALL_KINDS, arena, input, error);
    const struct example_row *row = &EXAMPLES[example_find(example)];
    char name[32];
    const size_t length = (size_t)snprintf(name, sizeof name, "attn example %s", example);
    const char *source = arena_text(arena, name, length, error);
    char *text = arena_text(arena, (const char *)row->bytes, *row->length, error);
    if (source == NULL || text == NULL)
        return error->status;
    return json_read(source, text, *row->length, ALL_KINDS, arena, input, error);
}

enum status job_files_choose(struct job_files *job, struct options *options, struct arena *arena, struct error *error)
{
    const char *example = options->in == NULL ? built_in(options) : NULL;
    struct input_file *input = NULL;
    *job = (struct job_files){0};
    if (options->in != NULL || example != NULL) {
        input = &job->files[0];
        if (read_input(input, options->in, example, arena, error) != STATUS_OK)
            return error->status;
        job->inputs = input;
    }
    if (options->mechanism == MECHANISM_COUNT)
        options->mechanism = choose(options, input);
    if (options->mechanism == MECHANISM_COUNT)
        return error_usage(error, "no mechanism takes all of these options; name the one that you mean: attn page "
                                  "multihead FILE");
    options->command = command_of(options->mechanism);
    return input != NULL ? keep(input, job_files_kinds(options), arena, error) : STATUS_OK;
}
