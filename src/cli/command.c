#include "cli/command.h"

#include <string.h>

/* All that a mechanism can have. */
#define OF_MECHANISMS                                                                                          \
    (ABILITY_RUNS | ABILITY_COMPUTES | ABILITY_PROJECTS | ABILITY_DRAWS | ABILITY_HAS_HEADS | ABILITY_STACKS | \
     ABILITY_CHOOSES_CAUSALITY | ABILITY_CROSSES)

#define OF_MECHANISM(id, ...) \
    [COMMAND_##id] = {.words = WORDS_INPUT, .lent = OF_MECHANISMS, .mechanism = MECHANISM_##id},
#define OF_ROW(id, ...) [COMMAND_##id] = {.mechanism = MECHANISM_COUNT, __VA_ARGS__},
const struct command_row COMMANDS[COMMAND_COUNT] = {MECHANISM_ROWS(OF_MECHANISM) COMMAND_ROWS(OF_ROW)};

/* NULL where the command is none. */
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

bool command_is_listed(enum command command)
{
    return command_manual(command)->summary != NULL;
}

enum command command_find(const char *word)
{
    int command = 0;
    while (command < COMMAND_COUNT && strcmp(command_name((enum command)command), word) != 0)
        command++;
    return (enum command)command;
}

/* Given query, key and value may have their heads packed side by side; projections make split or stacked ones. */
static unsigned abilities_of(const struct mechanism_row *mechanism)
{
    const bool chooses = mechanism->causality == CAUSALITY_UNLESS_SAID || mechanism->causality == CAUSALITY_IF_SAID;
    unsigned abilities = ABILITY_RUNS | ABILITY_COMPUTES;
    if (mechanism->projects)
        abilities |= ABILITY_PROJECTS | ABILITY_DRAWS;
    if (mechanism->projects && mechanism->causality != CAUSALITY_ALWAYS)
        abilities |= ABILITY_CROSSES;
    if (mechanism->splits)
        abilities |= ABILITY_STACKS;
    if (mechanism->splits || !mechanism->projects)
        abilities |= ABILITY_HAS_HEADS;
    return chooses ? abilities | ABILITY_CHOOSES_CAUSALITY : abilities;
}

unsigned command_abilities(enum command command, enum mechanism mechanism)
{
    const struct command_row *row = &COMMANDS[command];
    const unsigned lent = mechanism != MECHANISM_COUNT ? row->lent & abilities_of(&MECHANISMS[mechanism]) : row->lent;
    return ABILITY_ANY | row->abilities | lent;
}

bool command_takes(enum command command, enum command word)
{
    const struct mechanism_row *mechanism = mechanism_of(word);
    if (COMMANDS[command].words == WORDS_TOPIC)
        return command_is_listed(word);
    return COMMANDS[command].words == WORDS_MECHANISM && mechanism != NULL &&
           (abilities_of(mechanism) & COMMANDS[command].required) == COMMANDS[command].required;
}
