/* The commands, a row each: those of the mechanisms, which are rows of model, and then the others.
 *
 * What a command takes is said by abilities: an option names those that it is for, and is taken by every command that
 * has one of them. A mechanism has its abilities by its row, and lends them to a command that names it: `init self`. */
#ifndef ATTN_CLI_COMMAND_H
#define ATTN_CLI_COMMAND_H

#include "base/manual.h"
#include "model/mechanism.h"

enum ability {
    ABILITY_ANY = 1,                 /* every command has it */
    ABILITY_RUNS = 2,                /* reads inputs, has a generator and a working dtype */
    ABILITY_COMPUTES = 4,            /* has stages */
    ABILITY_PROJECTS = 8,            /* has parameters that a file may give, and tokens as inputs */
    ABILITY_DRAWS = 16,              /* has parameters that a seed draws */
    ABILITY_HAS_HEADS = 32,          /* several heads, split or packed */
    ABILITY_STACKS = 64,             /* several modules side by side in place of split heads */
    ABILITY_CHOOSES_CAUSALITY = 128, /* causal or not */
    ABILITY_NAMES_PARAMETERS = 256,  /* init */
    ABILITY_COMPARES = 512,          /* diff */
    ABILITY_HELPS = 1024,            /* help */
    ABILITY_CROSSES = 2048,          /* may make key and value of other inputs than query */
};

/* What words that are no options are. */
enum words {
    WORDS_NONE,
    WORDS_INPUT,       /* one: the input */
    WORDS_MECHANISM,   /* a mechanism, then the input */
    WORDS_FILES,       /* any number of files */
    WORDS_TOPIC,       /* one: a command */
    WORDS_AS_THEY_ARE, /* all that follow, options too: another command line */
};

struct command_row {
    const char *name; /* a mechanism's is in its own row */
    enum words words;
    unsigned abilities;       /* bits of enum ability: its own */
    unsigned lent;            /* those that it takes over from the mechanism that it names */
    enum ability required;    /* of the mechanisms that it may name */
    unsigned unlisted;        /* abilities whose options its help does not list */
    enum mechanism mechanism; /* that it is, or MECHANISM_COUNT */
    struct manual manual;     /* a mechanism's is in its own row; {0}: typed as one, but not listed in the help */
};

/* A row a command beside the mechanisms: its identifier, and the fields of struct command_row. */
/* clang-format off */
#define COMMAND_ROWS(ROW) \
    ROW(INIT, .name = "init", .words = WORDS_MECHANISM, .abilities = ABILITY_NAMES_PARAMETERS, \
        .lent = ABILITY_RUNS | ABILITY_DRAWS | ABILITY_HAS_HEADS | ABILITY_STACKS, .required = ABILITY_PROJECTS, \
        .manual = {"the parameters that a seed draws", "attn init MECHANISM [options] [FILE]", \
            "The parameters that a seed draws, to look at, edit and feed back with --weights.", \
            {{"attn init self --d-in 3 --d-out 2", "as nn.Linear draws and names them"}, \
             {"attn init self data/inputs.json --as matrix", "as W_query, ready for inputs . W_query"}, \
             {"attn init multihead -H 2 --d-in 4 -o weights.json", "into a file for --weights"}}}) \
    ROW(DIFF, .name = "diff", .words = WORDS_FILES, .abilities = ABILITY_COMPARES, \
        .manual = {"compare two results stage by stage", "attn diff A B [options]", \
            "Compares two results stage by stage; A is what is expected, B what is checked. Each is JSON or " \
            ".safetensors, or one tensor without a name that --stages tells. Status 1: they differ.", \
            {{"attn diff expected.json mine.json", "the first stage that departs, and all that follow it"}, \
             {"attn diff expected.json context.npy --stages context", "one tensor without a name"}, \
             {"attn diff a.safetensors b.safetensors -f json | jq .first", "for a pipe"}}}) \
    ROW(JOIN, .name = "join", .words = WORDS_FILES, \
        .manual = {"put the parts of a job together again", "attn join PART... --out FILE", \
            "Puts the parts that --part K/N wrote together: the same bytes as the whole.", \
            {{"attn join part-*.safetensors -o whole.safetensors", "all that the parts hold"}, \
             {"attn join part-*.safetensors -o context.npy", "where they hold one stage"}, \
             {"attn join part-*.safetensors -o whole.json", "as JSON"}}}) \
    ROW(HELP, .name = "help", .words = WORDS_TOPIC, .abilities = ABILITY_HELPS, .unlisted = ABILITY_ANY, \
        .manual = {"this help, or that of a command", "attn help [COMMAND] [--completion SHELL]", \
            "The help of a command; also attn COMMAND --help.", \
            {{"attn help", "the commands and all options"}, \
             {"attn help multihead", "one command and its options"}, \
             {"man attn", "the tutorial and the reference"}}}) \
    ROW(VERSION, .name = "--version", .words = WORDS_NONE) \
    ROW(COMPLETE, .name = "--complete", .words = WORDS_AS_THEY_ARE)
/* clang-format on */

#define COMMAND_ID(id, ...) COMMAND_##id,
enum command { MECHANISM_ROWS(COMMAND_ID) COMMAND_ROWS(COMMAND_ID) COMMAND_COUNT };
#undef COMMAND_ID

extern const struct command_row COMMANDS[COMMAND_COUNT];

/* The command as it is typed, and what the help says of it. */
const char *command_name(enum command command);
const struct manual *command_manual(enum command command);

/* Whether the help lists it among the commands. */
bool command_is_listed(enum command command);

/* The command that a mechanism is: MECHANISM_ROWS come first among the commands. */
static inline enum command command_of(enum mechanism mechanism)
{
    return (enum command)mechanism;
}

/* The command of that name, or COMMAND_COUNT. */
enum command command_find(const char *word);

/* What a command is able to do with the mechanism that it names, or is; MECHANISM_COUNT: with all that it may name. */
unsigned command_abilities(enum command command, enum mechanism mechanism);

/* Whether the word may stand behind the command as a mechanism or as a topic; `attn` alone takes what help takes. */
bool command_takes(enum command command, enum command word);

#endif
