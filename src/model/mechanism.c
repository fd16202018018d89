/* SPDX-License-Identifier: MIT */
#include "model/mechanism.h"

#include <stddef.h>
#include <string.h>

#define MECHANISM_FIELDS(id, ...) [MECHANISM_##id] = {__VA_ARGS__},
const struct mechanism_row MECHANISMS[MECHANISM_COUNT] = {MECHANISM_ROWS(MECHANISM_FIELDS)};

enum mechanism mechanism_find(const char *name)
{
    enum mechanism mechanism = 0;
    while (mechanism < MECHANISM_COUNT && (name == NULL || strcmp(MECHANISMS[mechanism].name, name) != 0))
        mechanism++;
    return mechanism;
}

enum stage mechanism_grad_stage(enum mechanism mechanism)
{
    return MECHANISMS[mechanism].splits ? STAGE_GRAD_OUTPUT : STAGE_GRAD_CONTEXT;
}
