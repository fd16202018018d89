/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"

#include "base/text.h"

#include <string.h>

enum { WORD_BYTES = 256 };

static void break_line(struct wrap *line)
{
    output_print(line->output, "\n%*s", (int)line->indent, "");
    line->column = line->indent;
}

static void add_words(struct wrap *line, const char *words, size_t columns)
{
    char word[WORD_BYTES], shown[WORD_BYTES + 16];
    while (*words != '\0') {
        size_t blanks = strspn(words, " ");
        const size_t length = strcspn(words + blanks, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words + blanks);
        const size_t taken = text_shown(word, memory_left(columns, line->indent), shown, sizeof shown);
        words += blanks + length;
        if (line->column > 0 && line->column + blanks + taken > columns) {
            break_line(line);
            blanks = 0;
        }
        output_print(line->output, "%*s%s", (int)blanks, "", shown);
        line->column += blanks + taken;
    }
}

void wrap_words(struct wrap *line, const char *words)
{
    add_words(line, words, line->columns);
}

void wrap_add(struct wrap *line, const char *format, ...)
{
    char text[256];
    TEXT_FORMAT(text, format);
    const size_t width = strlen(text) + 2;
    const bool whole = line->indent + width <= line->columns;
    if (line->column > 0 && line->column + width > line->columns) {
        output_print(line->output, ",");
        break_line(line);
    } else if (line->column > 0) {
        output_print(line->output, ", ");
    }
    if (whole) {
        output_print(line->output, "%s", text);
        line->column += width;
    } else {
        add_words(line, text, line->columns - 1);
        line->column += 2;
    }
}
