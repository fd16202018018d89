/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include "base/text.h"
#include "model/stages.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 79,
    INDENT = 2,
    DEEP = 8,       /* of a text below its head */
    NARROWEST = 30, /* of a text next to its head */
    OPTION_COLUMN = 28,
    WORD_COLUMN = 13,
    FIRST_COLUMN = 46,
    EXAMPLE_COLUMN = 40,
    STAGE_COLUMN = 24,
    TEXT_BYTES = 512,
};

static size_t columns_of(const struct output *output)
{
    return memory_smaller(COLUMNS, output_columns(output));
}

void help_wrap(struct output *output, const char *text, size_t column, size_t indent)
{
    const size_t columns = columns_of(output);
    bool first = true;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > columns) {
            output_print(output, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            output_write(output, " ", 1);
            column++;
        }
        output_write(output, text, length);
        column += length;
        text += length + (text[length] == ' ');
        first = false;
    }
    output_write(output, "\n", 1);
}

void help_entry(struct output *output, const char *head, size_t column, const char *text)
{
    output_print(output, "%*s%s", INDENT, "", head);
    size_t there = INDENT + strlen(head);
    const bool beside = column + NARROWEST <= columns_of(output);
    if (there + 2 > column || !beside) {
        output_write(output, "\n", 1);
        there = 0;
    }
    column = beside ? column : DEEP;
    output_print(output, "%*s", (int)(column - there), "");
    help_wrap(output, text, column, column);
}

/* --- options ----------------------------------------------------------------------------------------------------- */

/* With COMMAND_COUNT whether any command takes it. */
static bool is_taken(enum command command, enum option_id id)
{
    return command == COMMAND_COUNT || options_takes(command, COMMANDS[command].mechanism, id);
}

/* Adds the words of a choice, "text, json"; of formats those that the command writes. */
static void list_choices(enum command command, enum option_id id, struct text *values)
{
    for (size_t i = 0; OPTIONS[id].choices[i] != NULL; i++)
        if (id != OPTION_FORMAT || format_is_written(command, &FORMATS[i]))
            text_add(values, "%s%s", values->length > 0 ? ", " : "", OPTIONS[id].choices[i]);
}

/* The command of a part of a default: diff for the second part of "4; diff: 1". */
static enum command command_of_part(const char *part)
{
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(part, ":;"), part);
    return command_find(name);
}

/* NULL after the last. */
static const char *next_part(const char *part)
{
    const char *end = strstr(part, "; ");
    return end != NULL ? end + strlen("; ") : NULL;
}

/* "4; diff: 1" means 1 for diff, 4 for any other command; COMMAND_COUNT gets the full text. */
static void add_default(enum command command, const char *parts, struct text *values)
{
    const char *own = NULL;
    for (const char *part = parts; part != NULL && command != COMMAND_COUNT; part = next_part(part))
        if (command_of_part(part) == command)
            own = strchr(part, ':') + strlen(": ");
    if (own != NULL)
        text_add(values, "%.*s", (int)strcspn(own, ";"), own);
    for (const char *part = parts; part != NULL && own == NULL; part = next_part(part))
        if (command == COMMAND_COUNT || command_of_part(part) == COMMAND_COUNT)
            text_add(values, "%s%.*s", part > parts ? "; " : "", (int)strcspn(part, ";"), part);
}

/* Writes range or choices, and the default: "0..2^64-1; default: 123". */
static void describe_values(enum command command, enum option_id id, char *values, size_t size)
{
    const struct option_row *row = &OPTIONS[id];
    char range[2 * OPTION_BOUND_BYTES];
    struct text text = text_begin(values, size);
    if (row->kind == OPTION_WHOLE)
        text_add(&text, "%s", options_range(row, range));
    else if (row->kind == OPTION_REAL && isfinite(row->range.below))
        text_add(&text, "%s", row->range.expected);
    else if (row->kind == OPTION_CHOICE)
        list_choices(command, id, &text);
    const char *fallback = row->fallback != NULL ? row->fallback : row->initial;
    if (fallback == NULL)
        return;
    text_add(&text, "%sdefault: ", text.length > 0 ? "; " : "");
    add_default(command, fallback, &text);
}

/* "-q, --query LIST" */
static void name_option(const struct option_row *row, char *head, size_t size)
{
    struct text text = text_begin(head, size);
    if (row->letter != '\0')
        text_add(&text, "-%c, --%s", row->letter, row->name);
    else
        text_add(&text, "    --%s", row->name);
    if (row->argument != NULL)
        text_add(&text, row->optional ? " [%s]" : " %s", row->argument);
}

struct telling {
    bool whole; /* the full help; else up to the first semicolon */
    bool values;
    bool rare;            /* with rare options */
    enum command command; /* COMMAND_COUNT: any */
};

static void write_option(struct output *output, const struct telling *telling, enum option_id id)
{
    char head[64], values[256] = "", help[TEXT_BYTES];
    const struct option_row *row = &OPTIONS[id];
    const size_t length = strcspn(row->help, telling->whole ? "" : ";");
    name_option(row, head, sizeof head);
    if (telling->values)
        describe_values(telling->command, id, values, sizeof values);
    snprintf(help, sizeof help, "%.*s%s%s%s", (int)length, row->help, values[0] ? " (" : "", values,
             values[0] ? ")" : "");
    help_entry(output, head, OPTION_COLUMN, help);
}

static void write_everyday(struct output *output, const struct telling *telling)
{
    bool first = true;
    for (int place = 1; place <= OPTION_COUNT; place++)
        for (enum option_id id = 0; id < OPTION_COUNT; id++) {
            if (OPTIONS[id].everyday != place || !is_taken(telling->command, id))
                continue;
            if (first)
                output_print(output, "\nOptions that most people use:\n");
            write_option(output, telling, id);
            first = false;
        }
}

/* Writes its other options. Returns how many it left out. */
static size_t write_others(struct output *output, const struct telling *telling)
{
    const unsigned abilities = /* `rare` also tells the options of all commands */
        telling->rare ? 0 : command_abilities(telling->command, COMMANDS[telling->command].mechanism);
    size_t left_out = 0;
    output_print(output, "\nOther options:\n");
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        if (OPTIONS[id].everyday != 0 || !is_taken(telling->command, id))
            continue;
        if ((OPTIONS[id].rare & abilities) != 0)
            left_out++;
        else
            write_option(output, telling, id);
    }
    return left_out;
}

/* --- the first help ---------------------------------------------------------------------------------------------- */

/* The column of the meanings, to the right of all words. */
static size_t word_column(const struct command_word *words, size_t count)
{
    size_t column = WORD_COLUMN;
    for (size_t i = 0; i < count; i++)
        column = memory_larger(column, INDENT + strlen(words[i].name) + 2);
    return column;
}

static void write_words(struct output *output, enum command command, bool pages)
{
    struct command_word words[COMMAND_WORDS];
    const size_t count = command_words(command, pages, words);
    for (size_t i = 0; i < count; i++)
        help_entry(output, words[i].name, word_column(words, count), words[i].meaning);
}

static void write_head(struct output *output)
{
    help_wrap(output, "Every number in attention, and when yours is wrong, which mistake you made.", 0, 0);
    output_write(output, "\n", 1);
    help_entry(output, "attn page", FIRST_COLUMN, "see it: a page for your browser");
    help_entry(output, "attn example > inputs.json", FIRST_COLUMN, "an input to start with");
    help_entry(output, "attn self inputs.json", FIRST_COLUMN, "every number of self-attention");
    help_entry(output, "attn why self inputs.json --mine mine.json", FIRST_COLUMN, "the mistake behind your numbers");
    output_write(output, "\n", 1);
    help_wrap(output, "Commands, as in: attn COMMAND [options] [FILE]", 0, 0);
    write_words(output, COMMAND_HELP, false);
}

/* --- the others -------------------------------------------------------------------------------------------------- */

static void write_usage(struct output *output, const char *before, enum command topic)
{
    static const char ANY[] = "MECHANISM";
    const char *usage = command_manual(topic)->usage, *any = strstr(usage, ANY);
    char line[TEXT_BYTES];
    struct text text = text_begin(line, sizeof line);
    text_add(&text, "%s%.*s", before, any != NULL ? (int)(any - usage) : (int)strlen(usage), usage);
    for (enum command word = 0; word < COMMAND_COUNT && any != NULL; word++)
        if (command_takes(topic, word))
            text_add(&text, "%s%s", strchr(" [", text.bytes[text.length - 1]) != NULL ? "" : "|", command_name(word));
    if (any != NULL)
        text_add(&text, "%s", any + strlen(ANY));
    help_wrap(output, line, 0, DEEP);
}

/* `left_out`: how many options the help omits. */
static void write_closing(struct output *output, enum command topic, size_t left_out)
{
    const char *page = command_manual(topic)->page;
    char line[TEXT_BYTES];
    struct text text = text_begin(line, sizeof line);
    if (left_out > 0)
        text_add(&text, "%zu more options: attn %s --help=all. ", left_out, command_name(topic));
    text_add(&text, "The manual: man attn");
    if (page != NULL)
        text_add(&text, ", man %s", page);
    text_add(&text, ".");
    help_wrap(output, line, 0, 0);
}

void help_write(enum command topic, bool all, struct output *output)
{
    if (topic == COMMAND_COUNT || !command_is_listed(topic)) {
        write_head(output);
        write_everyday(output, &(struct telling){.command = COMMAND_COUNT});
        output_write(output, "\n", 1);
        help_wrap(output, "More: attn COMMAND --help, attn help stages, attn help all, man attn.", 0, 0);
        return;
    }
    const struct manual *manual = command_manual(topic);
    for (int i = 0; i < MANUAL_EXAMPLES; i++)
        help_entry(output, manual->examples[i].command, EXAMPLE_COLUMN, manual->examples[i].what);
    output_write(output, "\n", 1);
    write_usage(output, "Usage: ", topic);
    output_write(output, "\n", 1);
    help_wrap(output, manual->description, 0, 0);
    if (manual->stages != NULL) {
        output_print(output, "\nStages: ");
        help_wrap(output, manual->stages, DEEP, DEEP);
    }
    if (COMMANDS[topic].words == WORDS_TOPIC || COMMANDS[topic].words == WORDS_EXAMPLE) {
        output_print(output, "\n%s:\n", COMMANDS[topic].words == WORDS_TOPIC ? "Commands and pages" : "Examples");
        write_words(output, topic, true);
    }
    const struct telling telling = {.values = true, .whole = all, .rare = all, .command = topic};
    write_everyday(output, &telling);
    const size_t left_out = write_others(output, &telling);
    output_write(output, "\n", 1);
    write_closing(output, topic, left_out);
}

void help_write_stages(struct output *output)
{
    help_wrap(output,
              "attn computes these in this order, and shows those of --stages LIST, or all that the job has. "
              "attn COMMAND --help lists those of a mechanism.",
              0, 0);
    output_write(output, "\n", 1);
    for (enum stage stage = 0; stage < STAGE_NAMES; stage++)
        if (stage_exists(stage))
            help_entry(output, STAGES[stage].name, STAGE_COLUMN, STAGES[stage].help);
}

void help_write_commands(struct output *output)
{
    for (enum command command = 0; command < COMMAND_COUNT; command++) {
        if (!command_is_listed(command))
            continue;
        if (command > 0)
            output_write(output, "\n", 1);
        write_usage(output, "", command);
        output_print(output, "%*s", DEEP, "");
        help_wrap(output, command_manual(command)->description, DEEP, DEEP);
    }
}

void help_write_all(struct output *output)
{
    write_head(output);
    const struct telling telling = {.whole = true, .values = true, .rare = true, .command = COMMAND_COUNT};
    write_everyday(output, &telling);
    write_others(output, &telling);
    output_write(output, "\n", 1);
    help_wrap(output,
              "Exit status: 0 success; 1 diff: different, why: not explained; 2 usage or input; 3 system refused.", 0,
              0);
}

void help_write_page(enum help_page page, struct output *output)
{
#define WRITES(id, name, meaning, function) [HELP_PAGE_##id] = (function),
    static void (*const WRITERS[HELP_PAGE_COUNT])(struct output * output) = {HELP_PAGE_ROWS(WRITES)};
    WRITERS[page](output);
}
