#include "cli/help.h"

#include "base/text.h"
#include "base/version.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 79, OPTION_COLUMN = 28 };

static const struct manual_example GENERAL[MANUAL_EXAMPLES] = {
    {"attn self data/inputs.json", "every stage of self-attention, as text"},
    {"attn causal data/inputs.json --query journey", "one token's way through all stages"},
    {"attn multihead -H 2 data/inputs.json -f json | jq .weights", "the attention weights, for a pipe"},
};

static size_t write_indented(struct output *output, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        output_write(output, " ", 1);
    return indent;
}

/* Words from `column` on, broken before COLUMNS and continued at `indent`. */
static void write_wrapped(struct output *output, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > COLUMNS) {
            output_write(output, "\n", 1);
            column = write_indented(output, indent);
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

static void write_examples(struct output *output, const struct manual_example *examples)
{
    for (int i = 0; i < MANUAL_EXAMPLES; i++)
        output_print(output, "  %s\n      %s\n", examples[i].command, examples[i].what);
}

/* Range or choices, and the default: "0..2^64-1; default: 123". */
static void describe_values(const struct option_row *row, char *values, size_t size)
{
    char maximum[OPTION_BOUND_BYTES];
    struct text text = text_begin(values, size);
    if (row->kind == OPTION_WHOLE)
        text_add(&text, "%llu..%s", (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    else if (row->kind == OPTION_REAL && isfinite(row->range.below))
        text_add(&text, "%s", row->range.expected);
    for (int i = 0; row->kind == OPTION_CHOICE && row->choices[i] != NULL; i++)
        text_add(&text, "%s%s", i ? ", " : "", row->choices[i]);
    const char *fallback = row->fallback != NULL ? row->fallback : row->initial;
    if (fallback != NULL)
        text_add(&text, "%sdefault: %s", text.length > 0 ? "; " : "", fallback);
}

static void write_option(struct output *output, const struct option_row *row)
{
    char head[64], values[256], help[512];
    char letter[5] = "    ";
    if (row->letter != '\0')
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    struct text text = text_begin(head, sizeof head);
    text_add(&text, "  %s--%s", letter, row->name);
    if (row->argument != NULL)
        text_add(&text, row->optional ? " [%s]" : " %s", row->argument);
    describe_values(row, values, sizeof values);
    snprintf(help, sizeof help, "%s%s%s%s", row->help, values[0] ? " (" : "", values, values[0] ? ")" : "");
    output_print(output, "%s", head);
    size_t column = text.length;
    if (column + 2 > OPTION_COLUMN) {
        output_write(output, "\n", 1);
        column = 0;
    }
    write_indented(output, OPTION_COLUMN - column);
    write_wrapped(output, help, OPTION_COLUMN, OPTION_COLUMN);
}

/* Those of one command, or of all for COMMAND_COUNT. */
static void write_options(struct output *output, enum command topic)
{
    output_print(output, "\nOptions:\n");
    for (int id = 0; id < OPTION_COUNT; id++)
        if (topic == COMMAND_COUNT || options_lists(topic, COMMANDS[topic].mechanism, (enum option_id)id))
            write_option(output, &OPTIONS[id]);
}

static void write_general(struct output *output)
{
    output_print(output, "attn: an attention calculator that shows every stage, with PyTorch's numbers\n\n");
    write_examples(output, GENERAL);
    output_print(output, "\nUsage: attn COMMAND [options] [FILE]\n\nCommands:\n");
    for (int command = 0; command < COMMAND_COUNT; command++)
        if (command_is_listed((enum command)command))
            output_print(output, "  %-12s%s\n", command_name((enum command)command),
                         command_manual((enum command)command)->summary);
    write_options(output, COMMAND_COUNT);
    output_print(output, "\nExit status: 0 success; 1 diff: different; 2 usage or input; 3 system refused.\n"
                         "attn help COMMAND tells which options a command takes; man attn teaches.\n");
}

static void write_usage(enum command topic, const char *usage, struct output *output)
{
    static const char ANY[] = "MECHANISM";
    const char *any = strstr(usage, ANY), *joint = "";
    if (any == NULL) {
        output_print(output, "%s", usage);
        return;
    }
    output_print(output, "%.*s", (int)(any - usage), usage);
    for (int word = 0; word < COMMAND_COUNT; word++)
        if (command_takes(topic, (enum command)word)) {
            output_print(output, "%s%s", joint, command_name((enum command)word));
            joint = "|";
        }
    output_print(output, "%s", any + strlen(ANY));
}

void help_write(enum command topic, struct output *output)
{
    if (topic == COMMAND_COUNT || !command_is_listed(topic)) {
        write_general(output);
        return;
    }
    const struct manual *manual = command_manual(topic);
    write_examples(output, manual->examples);
    output_print(output, "\nUsage: ");
    write_usage(topic, manual->usage, output);
    output_print(output, "\n\n");
    write_wrapped(output, manual->description, 0, 0);
    write_options(output, topic);
}

void help_write_version(const char *kernel, struct output *output)
{
    output_print(output, "attn " ATTN_VERSION "\nkernels: %s\n", kernel);
}
