/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include "lesson/lessons.h"

#include <string.h>

void completion_write(enum shell shell, struct output *output)
{
    static const struct {
        const unsigned char *bytes;
        const size_t *length;
    } SCRIPTS[] = {
        [SHELL_BASH] = {completion_bash_bytes, &completion_bash_length},
        [SHELL_ZSH] = {completion_zsh_bytes, &completion_zsh_length},
        [SHELL_FISH] = {completion_fish_bytes, &completion_fish_length},
    };
    output_write(output, (const char *)SCRIPTS[shell].bytes, *SCRIPTS[shell].length);
}

/* The command line before the cursor. */
struct line {
    enum command command;
    enum mechanism mechanism;
    size_t plain;          /* words that are no options */
    enum option_id awaits; /* the option whose value comes next, or OPTION_COUNT */
    bool options_end;      /* after -- */
};

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Not if the value may be missing: the next word is for another option. */
static bool takes_value(const struct option_row *row)
{
    return row->argument != NULL && !row->optional;
}

/* The option of "-abc" that takes a value, and in *value the part already typed; or OPTION_COUNT. */
static enum option_id find_short(const char *word, const char **value)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++)
        for (enum option_id id = 0; id < OPTION_COUNT; id++)
            if (OPTIONS[id].letter == *letter && takes_value(&OPTIONS[id])) {
                *value = letter + 1;
                return id;
            }
    return OPTION_COUNT;
}

/* The option of a word that begins with -; *value: the typed part of its value, or NULL. */
static enum option_id find_option(const char *word, const char **value)
{
    *value = NULL;
    if (!begins(word, "--"))
        return find_short(word, value);
    const enum option_id id = options_find_long(word);
    const char *equals = strchr(word, '=');
    if (id == OPTION_COUNT || !(takes_value(&OPTIONS[id]) || (OPTIONS[id].optional && equals != NULL)))
        return OPTION_COUNT;
    *value = equals != NULL ? equals + 1 : NULL;
    return id;
}

static void read_word(struct line *line, const char *word)
{
    const char *value;
    if (line->awaits != OPTION_COUNT) {
        if (strcmp(word, "=") != 0)
            line->awaits = OPTION_COUNT;
    } else if (line->options_end || word[0] != '-' || word[1] == '\0') {
        const enum command named = command_find(word);
        const bool mechanism = line->plain == 0 && named != COMMAND_COUNT && command_takes(line->command, named);
        if (mechanism && command_names_mechanism(line->command))
            line->mechanism = COMMANDS[named].mechanism;
        line->plain++;
    } else if (strcmp(word, "--") == 0) {
        line->options_end = true;
    } else {
        const enum option_id id = find_option(word, &value);
        if (value == NULL || value[0] == '\0')
            line->awaits = id;
    }
}

static void offer(struct output *output, const char *word, const char *meaning)
{
    output_print(output, meaning != NULL ? "%s\t%s\n" : "%s\n", word, meaning);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Whether a name of `length` bytes is in the list, separated by commas; an item's name may end at a colon. */
static bool stands_in(const char *list, size_t list_length, const char *name, size_t length)
{
    for (const char *item = list; item < list + list_length;) {
        const size_t item_length = strcspn(item, ",:");
        if (item_length == length && strncmp(item, name, length) == 0)
            return true;
        item += strcspn(item, ",") + 1;
    }
    return false;
}

static bool is_listed(const struct option_row *row, const char *name, size_t length)
{
    for (size_t i = 0; row->listed(i) != NULL; i++)
        if (strlen(row->listed(i)) == length && strncmp(row->listed(i), name, length) == 0)
            return true;
    return false;
}

/* Offers names after the last comma, if all before it are names, without those. */
static void offer_list(const struct option_row *row, const char *before, size_t before_length, const char *value,
                       struct output *output)
{
    const char *comma = strrchr(value, ',');
    const size_t chosen = comma != NULL ? (size_t)(comma + 1 - value) : 0;
    for (const char *item = value; item < value + chosen; item += strcspn(item, ",") + 1)
        if (!is_listed(row, item, strcspn(item, ",:")))
            return;
    for (size_t i = 0; row->listed(i) != NULL; i++) {
        const char *name = row->listed(i);
        if (begins(name, value + chosen) && !stands_in(value, chosen, name, strlen(name)))
            output_print(output, "%.*s%.*s%s\n", (int)before_length, before, (int)chosen, value, name);
    }
}

/* Offers the values of an option that begin with `value`, each after the first bytes of `before`; only formats that the
 * command writes. */
static void offer_values(const struct line *line, enum option_id id, const char *before, size_t before_length,
                         const char *value, struct output *output)
{
    const struct option_row *row = &OPTIONS[id];
    output_print(output, row->file ? "files\n" : row->listed != NULL ? "list\n" : "words\n");
    if (row->listed != NULL)
        offer_list(row, before, before_length, value, output);
    if (row->kind == OPTION_FLAG && begins(row->argument, value))
        output_print(output, "%.*s%s\n", (int)before_length, before, row->argument);
    for (size_t i = 0; row->kind == OPTION_CHOICE && row->choices[i] != NULL; i++)
        if (begins(row->choices[i], value) && (id != OPTION_FORMAT || format_is_written(line->command, &FORMATS[i])))
            output_print(output, "%.*s%s\n", (int)before_length, before, row->choices[i]);
}

/* --- words that are no values ------------------------------------------------------------------------------------ */

static void offer_option(enum option_id id, const char *word, struct output *output)
{
    char name[64];
    snprintf(name, sizeof name, "--%s", OPTIONS[id].name);
    if (begins(name, word))
        offer(output, name, OPTIONS[id].help);
}

static void offer_words(enum command command, bool pages, const char *word, struct output *output)
{
    struct command_word words[COMMAND_WORDS];
    const size_t count = command_words(command, pages, words);
    output_print(output, "words\n");
    for (size_t i = 0; i < count; i++)
        if (begins(words[i].name, word))
            offer(output, words[i].name, words[i].meaning);
}

static void offer_lessons(const char *word, struct output *output)
{
    char number[16];
    output_print(output, "words\n");
    for (size_t i = 1; i <= LESSON_COUNT; i++) {
        snprintf(number, sizeof number, "%zu", i);
        if (begins(number, word))
            offer(output, number, LESSONS[i].title);
    }
}

static void offer_plain(const struct line *line, const char *word, struct output *output)
{
    const enum words words = COMMANDS[line->command].words;
    const bool known = words == WORDS_TOPIC || words == WORDS_EXAMPLE || words == WORDS_LESSON;
    if (line->plain == 0 && words == WORDS_LESSON)
        offer_lessons(word, output);
    else if (line->plain == 0 && (known || words == WORDS_MECHANISM))
        offer_words(line->command, true, word, output);
    else
        output_print(output, known ? "words\n" : "files\n");
}

static void answer_line(const struct line *line, const char *word, struct output *output)
{
    const char *value;
    if (line->awaits != OPTION_COUNT) {
        offer_values(line, line->awaits, "", 0, strcmp(word, "=") == 0 ? "" : word, output);
        return;
    }
    if (line->options_end || word[0] != '-') {
        offer_plain(line, word, output);
        return;
    }
    const enum option_id id = find_option(word, &value);
    if (value != NULL && (value[0] != '\0' || value[-1] == '=')) {
        offer_values(line, id, word, (size_t)(value - word), value, output);
        return;
    }
    output_print(output, "words\n");
    for (enum option_id other = 0; other < OPTION_COUNT; other++)
        if (options_takes(line->command, line->mechanism, other))
            offer_option(other, word, output);
}

void completion_answer(char *const *words, size_t count, struct output *output)
{
    const char *word = count > 0 ? words[count - 1] : "";
    if (count <= 1) {
        offer_words(COMMAND_HELP, false, word, output);
        if (word[0] == '-') {
            offer_option(OPTION_HELP, word, output);
            offer_option(OPTION_VERSION, word, output);
        }
        return;
    }
    const enum command command = command_find(words[0]);
    if (command == COMMAND_COUNT || !command_is_listed(command)) {
        output_print(output, "words\n");
        return;
    }
    struct line line = {.command = command, .mechanism = COMMANDS[command].mechanism, .awaits = OPTION_COUNT};
    for (size_t i = 1; i + 1 < count; i++)
        read_word(&line, words[i]);
    answer_line(&line, word, output);
}
