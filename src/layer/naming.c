/* SPDX-License-Identifier: MIT */
#include "layer/naming.h"

#include "layer/naming_rows.h"

#include <string.h>

#define ROW(...) {__VA_ARGS__},
const struct naming_row NAMINGS[] = {NAMING_ROWS(ROW)};
const size_t NAMING_COUNT = sizeof NAMINGS / sizeof NAMINGS[0];

const char *naming_words(const struct naming_row *naming, enum naming_role role)
{
#define WORDS(id, field, standard) [ROLE_##id] = naming->field,
    const char *const words[] = {NAMING_ROLES(WORDS)};
    return words[role];
}

const char *naming_standard(enum naming_role role)
{
#define STANDARD(id, field, standard) [ROLE_##id] = (standard),
    static const char *const STANDARDS[] = {NAMING_ROLES(STANDARD)};
    return STANDARDS[role];
}

enum naming_role naming_anchor(const struct naming_row *naming)
{
    static const enum naming_role ANCHORS[] = {ROLE_LATENT_B, ROLE_KEY_B, ROLE_PACKED, ROLE_KEY_VALUE, ROLE_KEY};
    size_t at = 0;
    while (naming_words(naming, ANCHORS[at]) == NULL)
        at++;
    return ANCHORS[at];
}

/* The second text of the first row whose first one is part of the name, or ends it before a $; or NULL. */
static const char *find_part(const char *const (*rows)[2], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(rows[i][0], "$"), named = strlen(name);
        if (rows[i][0][length] == '\0' ? strstr(name, rows[i][0]) != NULL
                                       : named > length && memcmp(name + named - length, rows[i][0], length) == 0)
            return rows[i][1];
    }
    return NULL;
}

#define PART(part, what) {part, what},
const char *naming_refused(const char *name)
{
    static const char *const ROWS[][2] = {NAMING_REFUSED_ROWS(PART)};
    return find_part(ROWS, sizeof ROWS / sizeof ROWS[0], name);
}

const char *naming_without_softmax(const char *name)
{
    static const char *const ROWS[][2] = {NAMING_UNSOFT_ROWS(PART)};
    return find_part(ROWS, sizeof ROWS / sizeof ROWS[0], name);
}

const char *naming_joint(const struct naming_row *naming, enum naming_role role)
{
    return role == ROLE_PACKED && naming->joint != NULL ? naming->joint : ".";
}
