/* SPDX-License-Identifier: MIT */
#include "model/format.h"

#include <string.h>

#define IS_WRITTEN(function) (sizeof #function != sizeof "no")
#define FORMAT_FIELDS(id, title, writer, checker, report, steps_of, sheet, ...) \
    [FORMAT_##id] = {.name = title,                                             \
                     .reports = IS_WRITTEN(report),                             \
                     .steps = IS_WRITTEN(steps_of),                             \
                     .prints = IS_WRITTEN(sheet),                               \
                     __VA_ARGS__},
#define JUDGING_FIELDS(id, title, report, ...) [FORMAT_##id] = {.name = title, .judges = true, __VA_ARGS__},
const struct format_row FORMATS[FORMAT_COUNT] = {FORMAT_ROWS(FORMAT_FIELDS) JUDGING_FORMAT_ROWS(JUDGING_FIELDS)};

#define FORMAT_NAME(id, title, ...) title,
const char *const FORMAT_NAMES[FORMAT_COUNT + 1] = {FORMAT_ROWS(FORMAT_NAME) JUDGING_FORMAT_ROWS(FORMAT_NAME) NULL};

enum format format_find(const char *name)
{
    enum format format = 0;
    while (format < FORMAT_COUNT && strcmp(FORMATS[format].name, name) != 0)
        format++;
    return format;
}

enum format format_of_suffix(const char *suffix)
{
    for (enum format format = 0; format < FORMAT_COUNT; format++)
        for (size_t i = 0; i < FORMAT_SUFFIXES && FORMATS[format].suffixes[i] != NULL; i++)
            if (strcmp(suffix, FORMATS[format].suffixes[i]) == 0)
                return format;
    return FORMAT_COUNT;
}
