/* SPDX-License-Identifier: MIT */
#include "model/stages.h"

#include "base/suggest.h"
#include "model/stage_rows.h"

#include <string.h>

#define STAGE_FIELDS(id, ...) [STAGE_##id] = {__VA_ARGS__},
const struct stage_row STAGES[STAGE_NAMES + 1] = {
    STAGE_ROWS(STAGE_FIELDS)[STAGE_INPUTS] = {.name = "inputs", .columns = STAGE_COLUMNS_D_IN},
    [STAGE_KEY_INPUTS] = {.name = "key_inputs", .columns = STAGE_COLUMNS_D_KEY_IN},
    [STAGE_PARAMETERS] = {.name = "parameters", .columns = STAGE_COLUMNS_PARAMETERS},
    [STAGE_NAMES] = {.name = "", .columns = STAGE_COLUMNS_OTHER},
};

const char *stage_name(enum stage stage)
{
    return STAGES[stage].name;
}

static bool is_called(const char *own, const char *name, size_t length)
{
    return own != NULL && strlen(own) == length && memcmp(own, name, length) == 0;
}

enum stage stage_find(const char *name, size_t length)
{
    for (enum stage stage = 0; stage < STAGE_NAMES; stage++) {
        bool found = is_called(STAGES[stage].name, name, length);
        for (int i = 0; i < STAGE_ALIASES; i++)
            found = found || is_called(STAGES[stage].aliases[i], name, length);
        if (found)
            return stage;
    }
    return STAGE_NAMES;
}

enum stage stage_meant(const char *name)
{
    enum stage stage = 0;
    while (stage < STAGE_NAMES && !suggest_knows(STAGES[stage].foreign, name))
        stage++;
    return stage;
}

bool stage_exists(enum stage stage)
{
    return stage < STAGE_COUNT;
}

uint64_t stage_existing(uint64_t names)
{
    return names & (STAGE_BIT(STAGE_COUNT) - 1);
}

uint64_t stage_closure(uint64_t stages)
{
    for (int stage = STAGE_COUNT - 1; stage >= 0; stage--)
        if (stages & STAGE_BIT(stage))
            stages |= STAGES[stage].from;
    return stages;
}

bool stage_follows(enum stage stage, enum stage other)
{
    return (stage_closure(STAGE_BIT(stage)) & STAGE_BIT(other)) != 0;
}

bool stage_is_attended(enum stage stage)
{
    uint64_t attended = 0;
    for (int each = 0; each <= (int)stage; each++)
        if (stage_is_square((enum stage)each) || STAGES[each].from & attended)
            attended |= STAGE_BIT(each);
    return (attended & STAGE_BIT(stage)) != 0;
}

bool stage_is_of_keys(enum stage stage)
{
    return STAGES[stage].of_keys;
}

bool stage_is_shares(enum stage stage)
{
    return STAGES[stage].shares;
}

enum stage stage_packed(enum stage stage)
{
    enum stage packed = 0;
    while (packed < STAGE_COUNT && STAGES[stage].packed != STAGE_BIT(packed))
        packed++;
    return packed < STAGE_COUNT ? packed : stage;
}

bool stage_is_of_mask(enum stage stage)
{
    return STAGES[stage].columns == STAGE_COLUMNS_MASK || STAGES[stage].columns == STAGE_COLUMNS_HEADS;
}

bool stage_is_of_inputs(enum stage stage)
{
    return stage_exists(stage) && STAGES[stage].columns == STAGE_COLUMNS_D_IN && !STAGES[stage].backward;
}

bool stage_is_of_words(enum stage stage)
{
    return STAGES[stage].of_words;
}

bool stage_is_square(enum stage stage)
{
    return STAGES[stage].columns == STAGE_COLUMNS_KEYS;
}

uint64_t stage_statistics(uint64_t stages)
{
    uint64_t statistics = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (!stage_has_columns(stage))
            statistics |= stages & STAGE_BIT(stage);
    return statistics;
}

bool stage_has_columns(enum stage stage)
{
    return STAGES[stage].columns != STAGE_COLUMNS_NONE;
}

bool stage_is_drawn(enum stage stage)
{
    return STAGES[stage].columns != STAGE_COLUMNS_OTHER && stage_has_columns(stage) && !stage_is_of_mask(stage) &&
           !STAGES[stage].repeats;
}

enum stage stage_of_numbers(enum stage stage)
{
    for (enum stage source = 0; source < STAGE_COUNT && STAGES[stage].repeats; source++)
        if (STAGES[stage].from & STAGE_BIT(source))
            return source;
    return stage;
}
