/* SPDX-License-Identifier: MIT */
/* Infers the mechanism for attn page. */
#include "build/job_files.h"

#include "cli/example.h"
#include "read/json.h"
#include "read/load.h"

#include <string.h>

/* The example that a bare `attn page` shows. */
static const char BUILT_IN[] = "trained";

enum {
    ALL_KINDS = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS |
                INPUT_FILE_MASKING | INPUT_FILE_OPERAND | INPUT_FILE_BUFFER | INPUT_FILE_CACHE | INPUT_FILE_KEYS |
                INPUT_FILE_WORDS
};

static bool asked(const struct options *options, enum option_id id)
{
    return options->origin[id] == ORIGIN_COMMAND_LINE;
}

/* Whether the mechanism can be causal, or not, with or without an option. */
static bool can_be(const struct mechanism_row *mechanism, bool causal)
{
    return mechanism->causality != (causal ? CAUSALITY_NEVER : CAUSALITY_ALWAYS);
}

static bool takes_options(enum mechanism mechanism, const struct options *options)
{
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (asked(options, id) && id != OPTION_CAUSAL && !options_takes(command_of(mechanism), mechanism, id))
            return false;
    return !asked(options, OPTION_CAUSAL) || can_be(&MECHANISMS[mechanism], options->causal);
}

static bool takes_settings(enum mechanism mechanism, const struct input_file *input)
{
    for (size_t i = 0; i < input->setting_count; i++) {
        const struct setting *setting = &input->settings[i];
        if (strcmp(setting->name, "causal") == 0 ? !can_be(&MECHANISMS[mechanism], strcmp(setting->text, "true") == 0)
                                                 : !options_takes_setting(mechanism, setting->name))
            return false;
    }
    return true;
}

/* How well the mechanism fits; 0: it does not take the options. */
static int fit(enum mechanism mechanism, const struct options *options, const struct input_file *input)
{
    if (!takes_options(mechanism, options))
        return 0;
    const bool words = input != NULL && input->words.texts != NULL && MECHANISMS[mechanism].projects;
    if (input == NULL ||
        (!words && input_file_find(input, MECHANISMS[mechanism].projects ? "inputs" : "query") == NULL))
        return 1;
    return 2 + takes_settings(mechanism, input) + 2 * (mechanism_find(input->mechanism) == mechanism);
}

static enum mechanism choose(const struct options *options, const struct input_file *input)
{
    enum mechanism chosen = MECHANISM_COUNT;
    for (int i = 0, best = 0; i < MECHANISM_COUNT; i++) {
        const int fits = fit((enum mechanism)i, options, input);
        chosen = fits > best ? (enum mechanism)i : chosen;
        best = fits > best ? fits : best;
    }
    return chosen;
}

/* Keeps only tensors of those kinds, as if the file had been read for them. */
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

/* The built-in input, or NULL: the mechanism's example; or the first example where settings might not fit that. */
static const char *built_in(const struct options *options)
{
    const enum mechanism mechanism = options->mechanism != MECHANISM_COUNT ? options->mechanism : choose(options, NULL);
    bool settings = false;
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        settings |= asked(options, id) && (OPTIONS[id].setting || OPTIONS[id].reads) && id != OPTION_GRAD;
    if (options->random != NULL || mechanism == MECHANISM_COUNT)
        return NULL;
    if ((!settings || asked(options, OPTION_SENTENCE)) && options->mechanism == MECHANISM_COUNT)
        return BUILT_IN;
    const struct mechanism_row *row = &MECHANISMS[mechanism];
    return settings && row->projects && row->example != NULL ? EXAMPLES[0].name : row->example;
}

static enum status read_built_in(struct input_file *input, const char *example, struct arena *arena,
                                 struct error *error)
{
    const struct example_row *row = &EXAMPLES[example_find(example)];
    char name[32];
    const size_t length = (size_t)snprintf(name, sizeof name, "attn example %s", example);
    const char *source = arena_text(arena, name, length, error);
    char *text = arena_text(arena, (const char *)row->bytes, *row->length, error);
    return source != NULL && text != NULL ? json_read(source, text, *row->length, ALL_KINDS, arena, input, error)
                                          : error->status;
}

enum status job_files_choose(struct job_files *job, struct options *options, struct arena *arena, struct error *error)
{
    const char *example = options->in == NULL ? built_in(options) : NULL;
    const bool infers = options->mechanism == MECHANISM_COUNT, reads = infers && options->in != NULL;
    struct input_file *input = reads || example != NULL ? &job->files[0] : NULL;
    *job = (struct job_files){.inputs = input};
    if ((reads && load_file(options->in, ALL_KINDS, arena, input, error)) ||
        (example != NULL && read_built_in(input, example, arena, error)))
        return error->status;
    if (infers)
        options->mechanism = choose(options, input);
    if (options->mechanism == MECHANISM_COUNT)
        return error_usage(
            error, "no mechanism takes all of these options; name the one that you mean: attn %s multihead FILE",
            command_name(options->command));
    options->command = command_of(options->mechanism);
    return input != NULL ? keep(input, job_files_kinds(options), arena, error) : STATUS_OK;
}
