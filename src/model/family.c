/* SPDX-License-Identifier: MIT */
#include "model/family.h"

#include "base/text.h"
#include "model/family_rows.h"

#include <string.h>

#define FAMILY_ENTRY(...) {__VA_ARGS__},
static const struct family_row FAMILIES[] = {FAMILY_ROWS(FAMILY_ENTRY)};
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof FAMILIES[0] };

#define PART_ENTRY(key, type, models) {(key), (type), (models)},
static const struct {
    const char *key, *type, *models;
} PARTS[] = {FAMILY_PARTS(PART_ENTRY)};

const struct family_row *family_find(const char *model_type)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i].name, model_type) == 0 || text_has_word(FAMILIES[i].types, model_type))
            return &FAMILIES[i];
    return NULL;
}

const char *family_lacks(const char *model_type)
{
#define LACKED_ENTRY(types, feature) {(types), (feature)},
    static const char *const LACKED[][2] = {FAMILY_LACKED(LACKED_ENTRY)};
#undef LACKED_ENTRY
    for (size_t i = 0; i < sizeof LACKED / sizeof LACKED[0]; i++)
        if (text_has_word(LACKED[i][0], model_type))
            return LACKED[i][1];
    return NULL;
}

const struct family_row *family_at(size_t i)
{
    return i < FAMILY_COUNT ? &FAMILIES[i] : NULL;
}

const char *family_word(size_t i)
{
    return i < FAMILY_COUNT ? FAMILIES[i].name : NULL;
}

const char *family_of_part(const char *model_type, const char *part)
{
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (strcmp(PARTS[i].key, part) == 0 && text_has_word(PARTS[i].models, model_type))
            return PARTS[i].type;
    return NULL;
}

bool family_has_parts(const char *model_type)
{
    bool found = false;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        found = found || text_has_word(PARTS[i].models, model_type);
    return found;
}
