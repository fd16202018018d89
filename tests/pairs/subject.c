/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

struct subject subject;

void words_add(struct command_words *words, const char *word)
{
    words->list[words->count++] = word;
}

const struct value *subject_value(const struct design_row *row, const char *option)
{
    for (size_t i = 0; i < row->count; i++) {
        const struct value *value = &subject.values.list[row->values[i]];
        if (strcmp(value->option->name, option) == 0)
            return value;
    }
    return NULL;
}

const char *subject_format(const struct design_row *row)
{
    const struct value *value = subject_value(row, "format");
    return value != NULL ? value->text : subject.row->command == COMMAND_INIT ? "json" : "text";
}

/* Whether the option says how a picture looks, so that other formats refuse it. */
static bool is_look(const char *name)
{
    return strcmp(name, "theme") == 0 || strcmp(name, "shape") == 0 || strcmp(name, "animate") == 0 ||
           strcmp(name, "entropy") == 0 || strcmp(name, "no-caption") == 0;
}

void words_add_grad(struct command_words *words, const struct design_row *row)
{
    const struct value *stages = subject_value(row, "stages");
    if (stages == NULL || strncmp(stages->text, "grad_", 5) != 0 || subject_value(row, "grad") != NULL)
        return;
    words_add(words, "--grad");
    words_add(words, "ones");
    if (strcmp(stages->text, "grad_key_inputs") == 0 && subject_value(row, "key-inputs") == NULL) {
        words_add(words, "--key-inputs");
        words_add(words, "tests/pairs/other.json");
    }
}

void words_make(struct command_words *words, const struct design_row *row, const char *format, const char *without)
{
    words->count = 0;
    for (size_t i = 0; subject.row->words[i] != NULL; i++)
        words_add(words, subject.row->words[i]);
    for (size_t i = 0; subject.row->base[i] != NULL; i++)
        words_add(words, subject.row->base[i]);
    if (subject_value(row, "in") == NULL)
        words_add(words, subject.files[0]);
    for (size_t i = 0; i < row->count; i++) {
        const struct value *value = &subject.values.list[row->values[i]];
        const char *name = value->option->name;
        if ((format == NULL || (strcmp(name, "format") != 0 && !is_look(name))) &&
            (without == NULL || strcmp(name, without) != 0))
            words->count += value_words(value, words->list + words->count, words->rooms[i]);
    }
    if (without == NULL || (strcmp(without, "stages") != 0 && strcmp(without, "grad") != 0))
        words_add_grad(words, row);
    if (format != NULL) {
        words_add(words, "--format");
        words_add(words, format);
    }
}

void words_keep(struct command_words *words, const struct design_row *row, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (subject_value(row, names[i]) != NULL)
            words->count += value_words(subject_value(row, names[i]), words->list + words->count, words->rooms[i]);
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], "grad") == 0)
            words_add_grad(words, row);
}

size_t subject_columns(void)
{
    return 30 + (size_t)subject.design.rows * 7 % 71;
}

void words_type(const struct command_words *words, const struct design_row *row)
{
    char *line = subject.line;
    const struct value *in = subject_value(row, "in");
    const bool has_width = subject_value(row, "heatmap") != NULL;
    size_t length = has_width ? (size_t)snprintf(line, SUBJECT_LINE_BYTES, "COLUMNS=%zu attn", subject_columns())
                              : (size_t)snprintf(line, SUBJECT_LINE_BYTES, "attn");
    for (size_t i = 0; i < words->count && length < SUBJECT_LINE_BYTES; i++)
        length += (size_t)snprintf(line + length, SUBJECT_LINE_BYTES - length, " %s", words->list[i]);
    if (in != NULL && in->text[0] == '\0' && length < SUBJECT_LINE_BYTES)
        snprintf(line + length, SUBJECT_LINE_BYTES - length, " <%s", subject.files[0]);
}

void words_run(const struct command_words *words, bool to_file, struct program_run *run)
{
    program_run(words->list, words->count, subject.files[0], to_file, run);
}

bool subject_run_as(const struct design_row *row, const char *format, const char *without, struct program_run *run)
{
    struct command_words words;
    words_make(&words, row, format, without);
    words_run(&words, false, run);
    return CHECK(run->status == 0, "as %s: status %d: %s", format, run->status, run->message);
}
