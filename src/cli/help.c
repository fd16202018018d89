#include "cli/help.h"

#include "base/text.h"
#include "base/version.h"

#include <string.h>

enum { COLUMNS = 79, OPTION_COLUMN = 28 };

struct example {
    const char *command, *what;
};

enum { EXAMPLES = 3 };

static const struct example GENERAL[EXAMPLES] = {
    {"attn self data/inputs.json", "every stage of self-attention, as text"},
    {"attn causal data/inputs.json --query journey", "one token's way through all stages"},
    {"attn multihead -H 2 data/inputs.json -f json | jq .weights", "the attention weights, for a pipe"},
};

static const struct {
    const char *usage, *what;
    struct example examples[EXAMPLES];
} TOPICS[COMMAND_COUNT] = {
    [COMMAND_SELF] = {"attn self [options] [FILE]",
                      "Self-attention with one head: every token sees every token.",
                      {{"attn self data/inputs.json", "every stage"},
                       {"attn self data/inputs.json --init rand", "with weights of torch.rand instead of nn.Linear"},
                       {"attn self data/inputs.json -q 2 --stages scores,weights", "two stages of the second token"}}},
    [COMMAND_CAUSAL] = {"attn causal [options] [FILE]",
                        "Causal attention with one head: each token sees itself and the tokens before it.",
                        {{"attn causal data/inputs.json", "every stage"},
                         {"attn causal data/inputs.json --dropout 0.5", "with dropout on the weights"},
                         {"attn causal data/inputs.json -o result.json", "as JSON into a file"}}},
    [COMMAND_MULTIHEAD] = {"attn multihead --heads N [options] [FILE]",
                           "Several heads, causal unless --no-causal: split heads with an output projection, or "
                           "--stacked.",
                           {{"attn multihead -H 2 data/inputs.json", "two split heads"},
                            {"attn multihead -H 2 --stacked data/inputs.json", "two modules side by side"},
                            {"attn multihead -H 2 data/inputs.json -w trained.json", "a trained module's parameters"}}},
    [COMMAND_SDPA] =
        {"attn sdpa [options] [FILE]",
         "Scaled dot-product attention on the query, key and value of the file, with masks, windows, grouped "
         "heads and all else that models put around them.",
         {{"attn sdpa qkv.safetensors", "the context, in the layout of the query"},
          {"attn sdpa qkv.json --causal --window 128,0 --stages weights,lse", "other stages, of a window"},
          {"attn sdpa qkv.safetensors -H 8 --kv-heads 2", "of heads that lie side by side"}}},
    [COMMAND_INIT] = {"attn init self|causal|multihead [options] [FILE]",
                      "The parameters that a seed draws, to look at, edit and feed back with --weights.",
                      {{"attn init self --d-in 3 --d-out 2", "as nn.Linear draws and names them"},
                       {"attn init self data/inputs.json --as matrix", "as W_query, ready for inputs . W_query"},
                       {"attn init multihead -H 2 --d-in 4 -o weights.json", "into a file for --weights"}}},
    [COMMAND_DIFF] = {"attn diff A B [options]",
                      "Compares two results stage by stage; A is what is expected, B what is checked. Each is JSON or "
                      ".safetensors, or one tensor without a name that --stages tells. Status 1: they differ.",
                      {{"attn diff expected.json mine.json", "the first stage that departs, and all that follow it"},
                       {"attn diff expected.json context.npy --stages context", "one tensor without a name"},
                       {"attn diff a.safetensors b.safetensors -f json | jq .first", "for a pipe"}}},
    [COMMAND_JOIN] = {"attn join PART... --out FILE",
                      "Puts the parts that --part K/N wrote together: the same bytes as the whole.",
                      {{"attn join part-*.safetensors -o whole.safetensors", "all that the parts hold"},
                       {"attn join part-*.safetensors -o context.npy", "where they hold one stage"},
                       {"attn join part-*.safetensors -o whole.json", "as JSON"}}},
    [COMMAND_HELP] = {"attn help [COMMAND] [--completion SHELL]",
                      "The help of a command; also attn COMMAND --help.",
                      {{"attn help", "the commands and all options"},
                       {"attn help multihead", "one command and its options"},
                       {"man attn", "the tutorial and the reference"}}},
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

static void write_examples(struct output *output, const struct example *examples)
{
    for (int i = 0; i < EXAMPLES; i++)
        output_print(output, "  %s\n      %s\n", examples[i].command, examples[i].what);
}

/* Range or choices, and the default: "0..2^64-1; default: 123". */
static void describe_values(const struct option_row *row, char *values, size_t size)
{
    char maximum[OPTION_BOUND_BYTES];
    struct text text = text_begin(values, size);
    if (row->kind == OPTION_WHOLE)
        text_add(&text, "%llu..%s", (unsigned long long)row->minimum, options_bound(row->maximum, maximum));
    else if (row->kind == OPTION_PROBABILITY)
        text_add(&text, "0 <= %s < 1", row->argument);
    for (int i = 0; row->kind == OPTION_CHOICE && row->choices[i] != NULL; i++)
        text_add(&text, "%s%s", i ? ", " : "", row->choices[i]);
    if (row->fallback != NULL)
        text_add(&text, "%sdefault: %s", text.length > 0 ? "; " : "", row->fallback);
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
        if (topic == COMMAND_COUNT || options_lists(topic, (enum option_id)id))
            write_option(output, &OPTION_ROWS[id]);
}

static void write_general(struct output *output)
{
    output_print(output, "attn: an attention calculator that shows every stage, with PyTorch's numbers\n\n");
    write_examples(output, GENERAL);
    output_print(output, "\nUsage: attn COMMAND [options] [FILE]\n\nCommands:\n");
    for (int command = 0; command < COMMAND_VERSION; command++)
        output_print(output, "  %-12s%s\n", command_name((enum command)command),
                     command_summary((enum command)command));
    write_options(output, COMMAND_COUNT);
    output_print(output, "\nExit status: 0 success; 1 diff: different; 2 usage or input; 3 system refused.\n"
                         "attn help COMMAND tells which options a command takes; man attn teaches.\n");
}

void help_write(enum command topic, struct output *output)
{
    if (topic >= COMMAND_VERSION) {
        write_general(output);
        return;
    }
    write_examples(output, TOPICS[topic].examples);
    output_print(output, "\nUsage: %s\n\n", TOPICS[topic].usage);
    write_wrapped(output, TOPICS[topic].what, 0, 0);
    write_options(output, topic);
}

void help_write_version(const char *kernel, struct output *output)
{
    output_print(output, "attn " ATTN_VERSION "\nkernels: %s\n", kernel);
}
