/* SPDX-License-Identifier: MIT */
/* The commands, a row each: those of the mechanisms, which are rows of model, and then the others.
 *
 * Abilities decide which options a command takes: an option lists abilities, and every command with one of them takes
 * it. A mechanism's row gives its abilities, which it lends to a command that names it: `init self`. */
#pragma once

#include "base/manual.h"
#include "cli/example.h"
#include "model/format.h"
#include "model/mechanism.h"

enum ability {
    ABILITY_ANY = 1,                 /* every command has it */
    ABILITY_RUNS = 2,                /* reads inputs, has a generator and a working dtype */
    ABILITY_COMPUTES = 4,            /* has stages */
    ABILITY_PROJECTS = 8,            /* has parameters, perhaps from a file, and tokens as inputs */
    ABILITY_DRAWS = 16,              /* has parameters that a seed draws */
    ABILITY_HAS_HEADS = 32,          /* several heads, split or packed */
    ABILITY_STACKS = 64,             /* several modules in place of split heads */
    ABILITY_CHOOSES_CAUSALITY = 128, /* causal or not */
    ABILITY_NAMES_PARAMETERS = 256,  /* init */
    ABILITY_COMPARES = 512,          /* diff */
    ABILITY_HELPS = 1024,            /* help */
    ABILITY_CROSSES = 2048,          /* may be cross-attention */
    ABILITY_JOINS = 4096,            /* join */
    ABILITY_GIVES_EXAMPLES = 8192,   /* example */
    ABILITY_SHOWS = 16384,           /* writes the stages that it computes */
    ABILITY_SEARCHES = 32768,        /* why */
    ABILITY_OPENS = 65536,           /* takes one module of a checkpoint */
    ABILITY_TEACHES = 131072,        /* lesson */
    ABILITY_BY_HAND = 262144,        /* worksheet can choose easy numbers: a mechanism except that of a checkpoint */
    ABILITY_ASKS = 524288,           /* worksheet */
    ABILITY_WRITES = 1048576,        /* may be causal, as a model that generates is */
    ABILITY_TRIES = 2097152,         /* cases */
    ABILITY_PAGES = 4194304,         /* page */
    ABILITY_JOINS_HEADS = 16777216,  /* computes an output of several heads */
    ABILITY_MEASURES = 33554432,     /* heads */
    ABILITY_READS_WORDS = 8388608,   /* its inputs may be words, with positions: a mechanism that draws, computing */
};

/* The meaning of words that are no options. */
enum words {
    WORDS_NONE,
    WORDS_INPUT,       /* one: the input */
    WORDS_MECHANISM,   /* a mechanism, then the input */
    WORDS_PERHAPS,     /* the same with an optional mechanism */
    WORDS_FILES,       /* any number of files */
    WORDS_FOLDER,      /* one: a folder */
    WORDS_EXAMPLE,     /* one: an example */
    WORDS_LESSON,      /* one: the number of a lesson */
    WORDS_TOPIC,       /* one: a command, or a page of the help */
    WORDS_AS_THEY_ARE, /* all words, also options: another command line */
};

struct command_row {
    const char *name; /* a mechanism's is in its row */
    enum words words;
    bool several;             /* WORDS_PERHAPS: it takes more than one input */
    unsigned abilities;       /* bits of enum ability */
    unsigned lent;            /* bits that it takes over from the mechanism that it names */
    enum ability required;    /* of the mechanisms that it may name */
    enum mechanism mechanism; /* of the command, or MECHANISM_COUNT */
    const char *out;          /* the file to write without --out; NULL: standard output */
    enum format format;       /* if neither --format nor the suffix of --out gives it */
    const char *foreign;      /* foreign names for suggest_knows; a mechanism's are in its row */
    struct manual manual;     /* a mechanism's is in its row; {0}: not listed in the help */
};

/* What commands that compute with any mechanism take over from it. */
#define LENT_BY_ALL                                                                                            \
    (ABILITY_RUNS | ABILITY_COMPUTES | ABILITY_PROJECTS | ABILITY_DRAWS | ABILITY_HAS_HEADS | ABILITY_STACKS | \
     ABILITY_CHOOSES_CAUSALITY | ABILITY_CROSSES | ABILITY_READS_WORDS | ABILITY_JOINS_HEADS)

/* The other commands, a row each: identifier, and fields of struct command_row. */
/* clang-format off */
#define COMMAND_ROWS(ROW) \
    ROW(INIT, .name = "init", .words = WORDS_MECHANISM, .abilities = ABILITY_NAMES_PARAMETERS, .format = FORMAT_JSON, \
        .lent = ABILITY_RUNS | ABILITY_DRAWS | ABILITY_HAS_HEADS | ABILITY_STACKS, .required = ABILITY_DRAWS, \
        .foreign = "initialize initialise parameters params", \
        .manual = {"the parameters that a seed draws", "attn init MECHANISM [options] [FILE]", \
            "The parameters that a seed draws, to look at, edit and feed back with --weights.", \
            .examples = {{"attn init self --d-in 3 --d-out 2", "as nn.Linear draws and names them"}, \
             {"attn init self inputs.json --as matrix", "as W_query, ready for inputs . W_query"}, \
             {"attn init multihead -H 2 --d-in 4 -o weights.json", "into a file for --weights"}}}) \
    ROW(DIFF, .name = "diff", .words = WORDS_FILES, .abilities = ABILITY_COMPARES, \
        .foreign = "compare cmp check verify allclose", \
        .manual = {"compare two results stage by stage", "attn diff A B [options]", \
            "Compares two results stage by stage; A is the expected result, B is yours. Each is JSON, " \
            ".safetensors, .pt, .npz or a printed cell, or one table or .npy that --stages names. Exit status 1: they differ.", \
            .page = "attn-diff", .examples = {{"attn diff expected.json mine.json", "the first stage that differs, and all after it"}, \
             {"attn diff expected.json context.npy --stages context", "one tensor without a name"}, \
             {"attn diff a.safetensors b.safetensors -f json | jq .first", "for a pipe"}}}) \
    ROW(WHY, .name = "why", .words = WORDS_MECHANISM, .abilities = ABILITY_SEARCHES, \
        .lent = LENT_BY_ALL | ABILITY_OPENS, .foreign = "diagnose debug blame reason cause mistake mistakes", \
        .manual = {"which mistake produced your table", "attn why MECHANISM [options] [FILE] --mine TABLE", \
            "Computes the mechanism with known mistakes, and names the one that reproduces every number of your " \
            "table. Exit status 1: none does.", .page = "attn-why", \
            .examples = {{"attn why causal inputs.json --mine mine.json", "the last table alone, or all stages"}, \
             {"attn why self inputs.json -s 789 --mine mine.txt", "a table as Python prints it"}, \
             {"attn why sdpa qkv.json --mine kernel.npy -f json", "for a pipe"}}}) \
    ROW(PAGE, .name = "page", .words = WORDS_PERHAPS, .abilities = ABILITY_PAGES, .out = "attn.html", .format = FORMAT_HTML, \
        .lent = LENT_BY_ALL | ABILITY_OPENS, .foreign = "html web browser view visualize visualise show plot draw ui gui app serve interactive", \
        .manual = {"every number on a page for your browser, to point at and edit", "attn page [MECHANISM] [options] [FILE]", \
            "Writes a page into attn.html, or --out, that shows every number and its arithmetic and lets you change them. " \
            "attn infers the mechanism from the options and the file. Without FILE the page shows a built-in input; " \
            "- is standard input.", \
            .examples = {{"attn page", "a built-in input"}, \
             {"attn page inputs.json", "your own"}, \
             {"attn page inputs.json --causal --mistake scale-missing", "causal, with a mistake"}}}) \
    ROW(HEADS, .name = "heads", .words = WORDS_PERHAPS, .several = true, .abilities = ABILITY_MEASURES, \
        .lent = LENT_BY_ALL | ABILITY_OPENS, .foreign = "detectheads headdetector inductionheads inductionhead patterns attentionpatterns", \
        .manual = {"what each head attends to", \
            "attn heads [MECHANISM] [options] [FILE...] [-w CHECKPOINT]", \
            "Prints a line for each head: its mean weight on the previous token, the first, an earlier same token, the token " \
            "after that, and its own; its entropy; and the largest keys of the last query. With a checkpoint, of all layers " \
            "whose hidden states are given.", .page = "attn-heads", \
            .examples = {{"attn heads inputs.json --heads 2", "one job; attn infers the mechanism"}, \
             {"attn heads hidden.npy -w model/ --layer 1", "one layer of a checkpoint"}, \
             {"attn heads hidden-*.npy -w model/ -o heads.svg", "a map of every head of these layers"}}}) \
    ROW(WORKSHEET, .name = "worksheet", .words = WORDS_MECHANISM, .abilities = ABILITY_ASKS, \
        .lent = LENT_BY_ALL, .required = ABILITY_BY_HAND, .foreign = "exercise exercises problem problems sheet quiz homework test exam", \
        .manual = {"problems for a class, and their answers", "attn worksheet MECHANISM [options] [FILE]", \
            "Prints stages to fill in by hand, and on another page the answers with all arithmetic. Without FILE attn " \
            "draws small whole numbers that are easy to work with; - is standard input.", \
            .examples = {{"attn worksheet causal", "a sheet and its answers"}, \
             {"attn worksheet self --variants 30 -o class.tex", "thirty, each with other numbers"}, \
             {"attn worksheet self inputs.json -q 2 --blank weights,context", "two stages of one token"}}}) \
    ROW(JOIN, .name = "join", .words = WORDS_FILES, .abilities = ABILITY_JOINS, .foreign = "merge concat cat combine", \
        .manual = {"put the parts of a job together", "attn join PART... --out FILE", \
            "Joins the files that --part K/N wrote: the same bytes as a full run.", \
            .examples = {{"attn join part-*.safetensors -o whole.safetensors", "all stages of the parts"}, \
             {"attn join part-*.safetensors -o context.npy", "where they hold one stage"}, \
             {"attn join part-*.safetensors -o whole.json", "as JSON"}}}) \
    ROW(CASES, .name = "cases", .words = WORDS_FOLDER, .abilities = ABILITY_TRIES, \
        .foreign = "vectors testvectors conformance suite golden kernel kernels", \
        .manual = {"test vectors for a kernel, and a check of its results", "attn cases [--check] DIR [options]", \
            "Writes a folder of inputs on which kernels go wrong, with the right results. --check reads your kernel's " \
            "results from the folder, and names failures and the mistakes behind them. Exit status 1: a case failed.", .page = "attn-cases", \
            .examples = {{"attn cases vectors", "a folder for each case"}, \
             {"attn cases half --d-head 64 --dtype f16", "sizes and dtype of your kernel"}, \
             {"attn cases --check kernel", "once it has written its context.npy into each"}}}) \
    ROW(EXAMPLE, .name = "example", .words = WORDS_EXAMPLE, .abilities = ABILITY_GIVES_EXAMPLES, \
        .foreign = "examples sample samples demo template input inputs", \
        .manual = {"an input to start from, as JSON", "attn example [NAME] [--out FILE]", \
            "Prints a built-in input as JSON. Edit it to make your own.", \
            .examples = {{"attn example > inputs.json", "six tokens with three numbers each"}, \
             {"attn example batch -o batch.json", "another one, into a file"}, \
             {"attn example | attn self", "without a file"}}}) \
    ROW(LESSON, .name = "lesson", .words = WORDS_LESSON, .abilities = ABILITY_TEACHES, \
        .foreign = "lessons tutorial learn teach course tour start begin exercise exercises", \
        .manual = {"lessons in attention, in your terminal", "attn lesson [N] [--color WHEN]", \
            "Takes you through the lessons of attn-lessons(7): shows the text, asks for your prediction, runs the " \
            "commands in a temporary folder, and checks the exercises. Into a pipe it lists the lessons, or prints one.", \
            .examples = {{"attn lesson", "from the first lesson on"}, \
             {"attn lesson 3", "from lesson 3 on"}, \
             {"attn lesson | cat", "their titles"}}}) \
    ROW(HELP, .name = "help", .words = WORDS_TOPIC, .abilities = ABILITY_HELPS, .foreign = "usage man manual h list commands", \
        .manual = {"help on a command or a topic", "attn help [COMMAND|PAGE] [--completion SHELL]", \
            "Prints the help of a command, as attn COMMAND --help does, or a page of the help.", \
            .examples = {{"attn help multihead", "one command and its options"}, \
             {"attn help all", "all options of all commands"}, \
             {"man attn", "the reference; man attn-lessons: the lessons"}}}) \
    ROW(VERSION, .name = "--version", .words = WORDS_NONE, .foreign = "version v ver") \
    ROW(COMPLETE, .name = "--complete", .words = WORDS_AS_THEY_ARE)
/* clang-format on */

/* Pages of the help that are about no command. A row each: identifier, name after `attn help`, summary, function. */
#define HELP_PAGE_ROWS(ROW)                                                                             \
    ROW(COMMANDS, "commands", "the commands and their arguments", help_write_commands)                  \
    ROW(STAGES, "stages", "the stages: what attn computes on the way to the result", help_write_stages) \
    ROW(CLASSES, "classes", "the command line for each class of PyTorch", help_write_classes)           \
    ROW(MISTAKES, "mistakes", "the mistakes that people make in attention code", help_write_mistakes)   \
    ROW(FAMILIES, "families", "the models whose attention is known", help_write_families)               \
    ROW(SCHEMA, "schema", "the JSON Schema of what attn writes as JSON", help_write_schema)             \
    ROW(ALL, "all", "every option of every command", help_write_all)

#define HELP_PAGE_ID(id, ...) HELP_PAGE_##id,
enum help_page { HELP_PAGE_ROWS(HELP_PAGE_ID) HELP_PAGE_COUNT };

#define COMMAND_ID(id, ...) COMMAND_##id,
enum command { MECHANISM_ROWS(COMMAND_ID) COMMAND_ROWS(COMMAND_ID) COMMAND_COUNT };

extern const struct command_row COMMANDS[COMMAND_COUNT];

/* The command as typed, and its help. */
const char *command_name(enum command command);
const struct manual *command_manual(enum command command);

/* Its foreign names, for suggest_knows. */
const char *command_foreign(enum command command);

/* Whether the help lists it. */
bool command_is_listed(enum command command);

/* A mechanism's command: MECHANISM_ROWS come first. */
static inline enum command command_of(enum mechanism mechanism)
{
    return (enum command)mechanism;
}

/* The command of that name, or COMMAND_COUNT. */
enum command command_find(const char *word);

/* The abilities of a command with its mechanism; MECHANISM_COUNT: with all that it may name. */
unsigned command_abilities(enum command command, enum mechanism mechanism);

/* Whether the first word after it may be a mechanism. */
bool command_names_mechanism(enum command command);

/* Whether the word may follow the command as a mechanism or a topic; COMMAND_HELP also stands for a bare `attn`. */
bool command_takes(enum command command, enum command word);

struct command_word {
    const char *name, *meaning;
};

enum { COMMAND_WORDS = (int)COMMAND_COUNT + (int)HELP_PAGE_COUNT + (int)EXAMPLE_COUNT };

/* Lists the known words after a command, and returns their number: mechanisms, examples, or topics, which are commands
 * and, with `pages`, the pages of the help. */
size_t command_words(enum command command, bool pages, struct command_word words[COMMAND_WORDS]);

/* The page of the help of that name, or HELP_PAGE_COUNT. */
enum help_page help_page_find(const char *name);
