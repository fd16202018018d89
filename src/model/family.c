/* SPDX-License-Identifier: MIT */
#include "model/family.h"

#include "base/text.h"
#include "model/family_rows.h"

#include <stdio.h>
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

/* The family that is named after a model and its part: "gemma3" -> "gemma3_text". */
static const struct family_row *named_after(const char *model_type, const char *part)
{
    static const char *const ENDS[][2] = {{"text_config", "_text"},
                                          {"text_config", "_text_model"},
                                          {"vision_config", "_vision"},
                                          {"vision_config", "_vision_model"}};
    const struct family_row *found = NULL;
    char name[64];
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0] && found == NULL; i++) {
        snprintf(name, sizeof name, "%s%s", model_type, ENDS[i][1]);
        found = part == NULL || strcmp(part, ENDS[i][0]) == 0 ? family_find(name) : NULL;
    }
    return found;
}

const char *family_of_part(const char *model_type, const char *part)
{
    const struct family_row *row = named_after(model_type, part);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (strcmp(PARTS[i].key, part) == 0 && text_has_word(PARTS[i].models, model_type))
            return PARTS[i].type;
    return row != NULL ? row->name : NULL;
}

bool family_has_parts(const char *model_type)
{
    bool found = named_after(model_type, NULL) != NULL;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        found = found || text_has_word(PARTS[i].models, model_type);
    return found;
}
