/* SPDX-License-Identifier: MIT */
/* Shows the text of a lesson. */
#pragma once

#include "base/output.h"
#include "lesson/lessons.h"

enum { SHOW_COLUMNS = 78 }; /* of a line at most */

/* The output, and whether to use bold and underlined text. */
struct show {
    struct output *output;
    bool color;
};

/* A paragraph with the marks of lessons.h, wrapped, each line after `indent` blanks; a tag precedes the first line. */
void show_text(const struct show *show, const char *text, const char *tag, size_t indent);

/* A printf-like sentence without marks, wrapped. */
void show_print(const struct show *show, const char *format, ...) __attribute__((format(printf, 2, 3)));

void show_bold(const struct show *show, const char *line);

/* Lines, each after blanks. */
void show_lines(const struct show *show, const char *lines, size_t indent);

/* A part of a lesson, with the empty line before it. */
void show_part(const struct show *show, const struct lesson_part *part);

/* How many lines a part takes; how many the output of a command takes, with the prompt before it. */
size_t show_part_lines(const struct show *show, const struct lesson_part *part);
size_t show_printed_lines(const char *printed);
