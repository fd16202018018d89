/* SPDX-License-Identifier: MIT */
#include "diff/report.h"

#include "base/shell_word.h"
#include "cli/option_text.h"
#include "model/stages.h"

#include <string.h>

/* Whether the settings are the same, where both files have settings. */
static bool same_settings(const struct input_file *a, const struct input_file *b)
{
    size_t same = 0;
    for (size_t i = 0; i < a->setting_count; i++) {
        const char *text = input_file_setting(b, a->settings[i].name);
        same += text != NULL && strcmp(text, a->settings[i].text) == 0;
    }
    return a->setting_count == 0 || b->setting_count == 0 || (same == a->setting_count && same == b->setting_count);
}

bool diff_same_sources(const struct diff *diff)
{
    return diff->source_count == 0 && same_settings(&diff->a.input, &diff->b.input) &&
           !diff_tokens_of(diff, false)->used && !diff_tokens_of(diff, true)->used;
}

static bool holds_parameters(const struct input_file *input)
{
    for (size_t i = 0; i < input->tensor_count; i++)
        if ((input_file_kind(input->tensors[i].name) & INPUT_FILE_PARAMETER) != 0)
            return true;
    return false;
}

/* Whether the result holds all that it was computed from, and has no mistake on purpose. */
static bool is_input_again(const struct input_file *input, enum mechanism mechanism)
{
    if (!input->is_result || mechanism == MECHANISM_COUNT || input->part != NULL ||
        input_file_setting(input, "mistake") != NULL)
        return false;
    if (!MECHANISMS[mechanism].projects)
        return input_file_has_layout(input, INPUT_FILE_GIVEN);
    return input_file_find(input, "inputs") != NULL && holds_parameters(input);
}

/* Standard input, or a descriptor that a shell opened, is gone by then. */
static bool is_there_again(const char *path)
{
    return strcmp(path, "-") != 0 && strncmp(path, "/dev/", strlen("/dev/")) != 0;
}

/* Whether B has gradients, which why compares with --grad. */
static bool has_gradients(const struct input_file *b)
{
    for (size_t i = 0; i < b->tensor_count; i++)
        if (STAGES[stage_find(b->tensors[i].name, strlen(b->tensors[i].name))].backward)
            return true;
    return false;
}

bool diff_ask_why(const struct diff *diff, const struct options *options, struct text *line)
{
    const struct input_file *a = &diff->a.input;
    const enum mechanism mechanism = mechanism_find(a->mechanism);
    if (diff->cause == diff->count || !diff_same_sources(diff) || !is_input_again(a, mechanism) ||
        diff->stages[diff->cause].stage == mechanism_grad_stage(mechanism) /* given to A: no mistake makes it */ ||
        !is_there_again(options->files[0]) || !is_there_again(options->files[1]))
        return false;
    text_add(line, "attn %s %s", command_name(COMMAND_WHY), MECHANISMS[mechanism].name);
    option_line_input(options->files[0], line);
    text_add(line, " --%s ", OPTIONS[OPTION_MINE].name);
    shell_word(line, options->files[1]);
    if (options->stage_count == 1 && diff_is_bare(&diff->b.input))
        text_add(line, " --%s %s", OPTIONS[OPTION_STAGES].name, stage_name(options->stages[0]));
    if (!has_gradients(&diff->b.input) && !STAGES[diff->stages[diff->cause].stage].backward)
        return !line->cut;
    text_add(line, " --%s ", OPTIONS[OPTION_GRAD].name);
    shell_word(line, options->files[0]);
    return !line->cut && input_file_find(a, stage_name(mechanism_grad_stage(mechanism))) != NULL;
}
