/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "base/suggest.h"
#include "model/stage_id.h"

#include <string.h>

enum { LIST_BYTES = 320 };

const struct file_tensor *diff_sole_tensor(const struct input_file *input)
{
    return input->tensor_count == 1 ? &input->tensors[0] : NULL;
}

bool diff_is_bare(const struct input_file *input)
{
    const struct file_tensor *sole = diff_sole_tensor(input);
    return sole != NULL && (input->nameless || input_file_kind(sole->name) == INPUT_FILE_UNKNOWN);
}

static bool is_stage(const char *name)
{
    return stage_exists(stage_find(name, strlen(name)));
}

static bool has_stage(const struct input_file *input)
{
    enum stage stage = 0;
    while (stage < STAGE_COUNT && input_file_find(input, stage_name(stage)) == NULL)
        stage++;
    return stage < STAGE_COUNT;
}

/* Adds a name to a list, which ends in "..." where it grows long. */
static void add_name(char *text, const char *name, const char *quote)
{
    const size_t length = strlen(text);
    if (length > 2 && strcmp(text + length - 3, "...") == 0)
        return;
    if (length > LIST_BYTES - 64)
        strcpy(text + length, ", ...");
    else
        snprintf(text + length, LIST_BYTES - length, "%s%s%.40s%s", length ? ", " : "", quote, name, quote);
}

/* "query, key, 'contxt'": the stages in order, then other names in quotes; into text (LIST_BYTES). */
static const char *list_names(const struct input_file *input, char *text)
{
    text[0] = '\0';
    if (input->nameless)
        return strcpy(text, "one tensor without a name");
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (input_file_find(input, stage_name(stage)) != NULL)
            add_name(text, stage_name(stage), "");
    for (size_t i = 0; i < input->tensor_count; i++)
        if (!is_stage(input->tensors[i].name))
            add_name(text, input->tensors[i].name, "'");
    return text;
}

const char *diff_misspelt(const struct input_file *input, enum stage stage)
{
    for (size_t i = 0; i < input->tensor_count && !input->nameless; i++) {
        const char *const names[] = {stage_name(stage)};
        if (!is_stage(input->tensors[i].name) && input_file_kind(input->tensors[i].name) == INPUT_FILE_UNKNOWN &&
            suggest_word(input->tensors[i].name, names, 1) != NULL)
            return input->tensors[i].name;
    }
    return NULL;
}

/* "; is 'contxt' meant as context?" where a name of the file is close to a stage of the other one (or, where that is
 * NULL, to `stage`). */
static const char *misspelt_hint(const struct input_file *input, const struct input_file *other, enum stage stage,
                                 char *text, size_t size)
{
    text[0] = '\0';
    for (enum stage i = 0; i < STAGE_COUNT; i++) {
        const char *name = stage_name(i);
        const bool sought = other == NULL ? i == stage : input_file_find(other, name) != NULL;
        const char *found = sought ? diff_misspelt(input, i) : NULL;
        if (found != NULL)
            return text_format(text, size, "; is '%.40s' in %s meant to be %s?", found, input->source, name);
    }
    return text;
}

enum status diff_nothing_in_common(const struct diff *diff)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    char of_a[LIST_BYTES], of_b[LIST_BYTES], hint[256];
    misspelt_hint(b, a, STAGE_COUNT, hint, sizeof hint);
    if (hint[0] == '\0')
        misspelt_hint(a, b, STAGE_COUNT, hint, sizeof hint);
    if (hint[0] == '\0' && !has_stage(a) && !has_stage(b))
        strcpy(hint, "; expected results, which hold stages such as weights and context");
    if (hint[0] == '\0' && diff_is_bare(a) != diff_is_bare(b))
        strcpy(hint, "; expected --stages to say which stage the one tensor is");
    return error_usage(diff->error, "%s and %s have no stage in common: the first holds %s, the second %s%s", a->source,
                       b->source, list_names(a, of_a), list_names(b, of_b), hint);
}

enum status diff_lacks_stage(const struct diff *diff, const struct input_file *input, enum stage stage)
{
    char list[LIST_BYTES], hint[256];
    misspelt_hint(input, NULL, stage, hint, sizeof hint);
    if (hint[0] == '\0' && diff_sole_tensor(input) != NULL)
        strcpy(hint, "; expected --stages to name the one stage that it is");
    return error_usage(diff->error, "%s: has no %s; it holds %s%s", input->source, stage_name(stage),
                       list_names(input, list), hint);
}
