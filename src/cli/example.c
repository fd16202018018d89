/* SPDX-License-Identifier: MIT */
#include "cli/example.h"

#include <string.h>

#define AS_ROW(title, file, what) {title, what, example_##file##_bytes, &example_##file##_length},
const struct example_row EXAMPLES[EXAMPLE_COUNT] = {EXAMPLE_ROWS(AS_ROW)};

size_t example_find(const char *name)
{
    size_t example = 0;
    while (example < EXAMPLE_COUNT && strcmp(EXAMPLES[example].name, name) != 0)
        example++;
    return example;
}
