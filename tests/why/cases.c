/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

const struct mistaken *cases_at(size_t place)
{
    const struct case_list lists[] = {CASES_OF_SCORES, CASES_OF_MASKS, CASES_OF_MODULES, CASES_OF_KERNELS};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (place < lists[i].count)
            return &lists[i].rows[place];
        place -= lists[i].count;
    }
    return NULL;
}

const struct mistaken *cases_find(const char *name)
{
    size_t place = 0;
    while (cases_at(place) != NULL && strcmp(cases_at(place)->name, name) != 0)
        place++;
    if (cases_at(place) == NULL)
        abort();
    return cases_at(place);
}
