/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <string.h>

/* All that a mechanism can have. */
#define OF_MECHANISMS                                                                                         \
    (ABILITY_RUNS | ABILITY_COMPUTES | ABILITY_SHOWS | ABILITY_PROJECTS | ABILITY_DRAWS | ABILITY_HAS_HEADS | \
     ABILITY_STACKS | ABILITY_CHOOSES_CAUSALITY | ABILITY_CROSSES | ABILITY_OPENS | ABILITY_WRITES |          \
     ABILITY_READS_WORDS | ABILITY_JOINS_HEADS)

#define OF_MECHANISM(id, ...) \
    [COMMAND_##id] = {.words = WORDS_INPUT, .lent = OF_MECHANISMS, .mechanism = MECHANISM_##id},
#define OF_ROW(id, ...) [COMMAND_##id] = {.mechanism = MECHANISM_COUNT, __VA_ARGS__},
const struct command_row COMMANDS[COMMAND_COUNT] = {MECHANISM_ROWS(OF_MECHANISM) COMMAND_ROWS(OF_ROW)};

#define AS_WORD(id, name, meaning, ...) {name, meaning},
static const struct command_word PAGES[HELP_PAGE_COUNT] = {HELP_PAGE_ROWS(AS_WORD)};

#define AS_EXAMPLE(title, file, what) {title, what, example_##file##_bytes, &example_##file##_length},
const struct example_row EXAMPLES[EXAMPLE_COUNT] = {EXAMPLE_ROWS(AS_EXAMPLE)};

size_t example_find(const char *name)
{
    size_t example = 0;
    while (example < EXAMPLE_COUNT && strcmp(EXAMPLES[example].name, name) != 0)
        example++;
    return example;
}

/* NULL for other commands. */
static const struct mechanism_row *mechanism_of(enum command command)
{
    const enum mechanism mechanism = COMMANDS[command].mechanism;
    return mechanism != MECHANISM_COUNT ? &MECHANISMS[mechanism] : NULL;
}

const char *command_name(enum command command)
{
    const struct mechanism_row *mechanism = mechanism_of(command);
    return mechanism != NULL ? mechanism->name : COMMANDS[command].name;
}

const struct manual *command_manual(enum command command)
{
    const struct mechanism_row *mechanism = mechanism_of(command);
    return mechanism != NULL ? &mechanism->manual : &COMMANDS[command].manual;
}

const char *command_foreign(enum command command)
{
    const struct mechanism_row *mechanism = mechanism_of(command);
    return mechanism != NULL ? mechanism->foreign : COMMANDS[command].foreign;
}

bool command_is_listed(enum command command)
{
    return command_manual(command)->summary != NULL;
}

enum command command_find(const char *word)
{
    enum command command = 0;
    while (command < COMMAND_COUNT && strcmp(command_name(command), word) != 0)
        command++;
    return command;
}

/* Given query, key and value may have packed heads; projections make split or stacked ones. */
static unsigned abilities_of(const struct mechanism_row *mechanism)
{
    const bool chooses = mechanism->causality == CAUSALITY_UNLESS_SAID || mechanism->causality == CAUSALITY_IF_SAID;
    unsigned abilities = ABILITY_RUNS | ABILITY_COMPUTES | ABILITY_SHOWS;
    if (mechanism->projects)
        abilities |= ABILITY_PROJECTS | (mechanism->opens ? ABILITY_OPENS : ABILITY_DRAWS | ABILITY_READS_WORDS);
    if (!mechanism->opens)
        abilities |= ABILITY_BY_HAND;
    if (mechanism->projects && mechanism->causality != CAUSALITY_ALWAYS)
        abilities |= ABILITY_CROSSES;
    if (mechanism->splits)
        abilities |= ABILITY_JOINS_HEADS | (mechanism->opens ? 0 : ABILITY_STACKS);
    if (mechanism->splits || !mechanism->projects)
        abilities |= ABILITY_HAS_HEADS;
    if (mechanism->causality != CAUSALITY_NEVER)
        abilities |= ABILITY_WRITES;
    return chooses ? abilities | ABILITY_CHOOSES_CAUSALITY : abilities;
}

unsigned command_abilities(enum command command, enum mechanism mechanism)
{
    const struct command_row *row = &COMMANDS[command];
    const unsigned lent = mechanism != MECHANISM_COUNT ? row->lent & abilities_of(&MECHANISMS[mechanism]) : row->lent;
    return ABILITY_ANY | row->abilities | lent;
}

bool command_names_mechanism(enum command command)
{
    return COMMANDS[command].words == WORDS_MECHANISM || COMMANDS[command].words == WORDS_PERHAPS;
}

bool command_takes(enum command command, enum command word)
{
    const struct mechanism_row *mechanism = mechanism_of(word);
    if (COMMANDS[command].words == WORDS_TOPIC)
        return command_is_listed(word);
    return command_names_mechanism(command) && mechanism != NULL &&
           (abilities_of(mechanism) & COMMANDS[command].required) == COMMANDS[command].required;
}

size_t command_words(enum command command, bool pages, struct command_word words[COMMAND_WORDS])
{
    size_t count = 0;
    for (enum command word = 0; word < COMMAND_COUNT; word++)
        if (command_takes(command, word))
            words[count++] = (struct command_word){command_name(word), command_manual(word)->summary};
    for (size_t page = 0; page < HELP_PAGE_COUNT && COMMANDS[command].words == WORDS_TOPIC && pages; page++)
        words[count++] = PAGES[page];
    for (size_t example = 0; example < EXAMPLE_COUNT && COMMANDS[command].words == WORDS_EXAMPLE; example++)
        words[count++] = (struct command_word){EXAMPLES[example].name, EXAMPLES[example].sentence};
    return count;
}

enum help_page help_page_find(const char *name)
{
    enum help_page page = 0;
    while (page < HELP_PAGE_COUNT && strcmp(PAGES[page].name, name) != 0)
        page++;
    return page;
}
