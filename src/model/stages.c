#include "model/stages.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned from; /* the stages that it is computed from */
} STAGES[STAGE_NAMES] = {
    [STAGE_QUERY] = {"query", 0},
    [STAGE_KEY] = {"key", 0},
    [STAGE_VALUE] = {"value", 0},
    [STAGE_SCORES] = {"scores", STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_KEY)},
    [STAGE_SCALED] = {"scaled", STAGE_BIT(STAGE_SCORES)},
    [STAGE_CAPPED] = {"capped", STAGE_BIT(STAGE_SCALED)},
    [STAGE_MASKED] = {"masked", STAGE_BIT(STAGE_CAPPED)},
    [STAGE_WEIGHTS] = {"weights", STAGE_BIT(STAGE_MASKED)},
    [STAGE_DROPPED] = {"dropped", STAGE_BIT(STAGE_WEIGHTS)},
    [STAGE_CONTEXT] = {"context", STAGE_BIT(STAGE_DROPPED) | STAGE_BIT(STAGE_VALUE)},
    [STAGE_OUTPUT] = {"output", STAGE_BIT(STAGE_CONTEXT)},
    [STAGE_LSE] = {"lse", STAGE_BIT(STAGE_MASKED)},
    [STAGE_PRESENT_KEY] = {"present_key", STAGE_BIT(STAGE_KEY)},
    [STAGE_PRESENT_VALUE] = {"present_value", STAGE_BIT(STAGE_VALUE)},
    [STAGE_INPUTS] = {"inputs", 0},
    [STAGE_PARAMETERS] = {"parameters", 0},
};

const char *stage_name(enum stage stage)
{
    return STAGES[stage].name;
}

enum stage stage_find(const char *name, size_t length)
{
    for (int stage = 0; stage < STAGE_NAMES; stage++)
        if (strlen(STAGES[stage].name) == length && memcmp(STAGES[stage].name, name, length) == 0)
            return (enum stage)stage;
    return STAGE_NAMES;
}

unsigned stage_sources(enum stage stage)
{
    return STAGES[stage].from;
}

unsigned stage_closure(unsigned stages)
{
    for (int stage = STAGE_COUNT - 1; stage >= 0; stage--)
        if (stages & STAGE_BIT(stage))
            stages |= STAGES[stage].from;
    return stages;
}

bool stage_is_of_keys(enum stage stage)
{
    return stage == STAGE_KEY || stage == STAGE_VALUE || stage == STAGE_PRESENT_KEY || stage == STAGE_PRESENT_VALUE;
}

bool stage_is_square(enum stage stage)
{
    return stage >= STAGE_SCORES && stage <= STAGE_DROPPED;
}

bool stage_is_shares(enum stage stage)
{
    return stage == STAGE_WEIGHTS || stage == STAGE_DROPPED;
}
