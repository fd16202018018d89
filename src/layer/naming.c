/* SPDX-License-Identifier: MIT */
#include "layer/naming.h"

#include "layer/naming_rows.h"

#include <string.h>

#define ROW(...) {__VA_ARGS__},
const struct naming_row NAMINGS[] = {NAMING_ROWS(ROW)};
#undef ROW
const size_t NAMING_COUNT = sizeof NAMINGS / sizeof NAMINGS[0];

const char *naming_words(const struct naming_row *naming, enum naming_role role)
{
#define WORDS(id, field, standard) [ROLE_##id] = naming->field,
    const char *const words[] = {NAMING_ROLES(WORDS)};
#undef WORDS
    return words[role];
}

const char *naming_standard(enum naming_role role)
{
#define STANDARD(id, field, standard) [ROLE_##id] = (standard),
    static const char *const STANDARDS[] = {NAMING_ROLES(STANDARD)};
#undef STANDARD
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

const char *naming_refused(const char *name)
{
#define REFUSED(part, why) {part, why},
    static const char *const ROWS[][2] = {NAMING_REFUSED_ROWS(REFUSED)};
#undef REFUSED
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const size_t length = strcspn(ROWS[i][0], "$"), named = strlen(name);
        if (ROWS[i][0][length] == '\0' ? strstr(name, ROWS[i][0]) != NULL
                                       : named > length && memcmp(name + named - length, ROWS[i][0], length) == 0)
            return ROWS[i][1];
    }
    return NULL;
}

const char *naming_without_softmax(const char *name)
{
#define UNSOFT(part, what) {part, what},
    static const char *const ROWS[][2] = {NAMING_UNSOFT_ROWS(UNSOFT)};
#undef UNSOFT
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (strstr(name, ROWS[i][0]) != NULL)
            return ROWS[i][1];
    return NULL;
}

const char *naming_joint(const struct naming_row *naming, enum naming_role role)
{
    return role == ROLE_PACKED && naming->joint != NULL ? naming->joint : ".";
}
