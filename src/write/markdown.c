/* SPDX-License-Identifier: MIT */
/* result -> Markdown (GitHub's tables): each matrix a table under a line with its formula. */
#include "write/table_layout.h"

#include <math.h>
#include <string.h>

/* All that begins markup within a line, or HTML; GitHub also reads $ as mathematics. */
const struct table_markup_escapes MARKDOWN_ESCAPES = {
    .characters = {['\\'] = "\\\\",
                   ['|'] = "\\|",
                   ['`'] = "\\`",
                   ['*'] = "\\*",
                   ['_'] = "\\_",
                   ['['] = "\\[",
                   [']'] = "\\]",
                   ['~'] = "\\~",
                   ['$'] = "\\$",
                   ['<'] = "&lt;",
                   ['>'] = "&gt;",
                   ['&'] = "&amp;"},
};

static void begin(const struct table_layout *layout)
{
    const struct result_table *table = layout->table;
    output_print(layout->writing->output, "%s**", layout->follows ? "\n" : "");
    table_markup_write_escaped(layout, table->name);
    output_print(layout->writing->output, "**");
    if (table->formula[0] != '\0')
        output_print(layout->writing->output, " = `%s`", table->formula);
    table_markup_write_place(layout, " x ");
    output_print(layout->writing->output, "\n\n");
}

static void write_dashes(const struct table_layout *layout, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_write(layout->writing->output, "-", 1);
}

/* Aligns labels left and numbers right, with colons. */
static void rule(const struct table_layout *layout)
{
    output_print(layout->writing->output, "|:");
    write_dashes(layout, layout->label_width + 1);
    for (size_t c = 0; c < layout->column_count; c++) {
        output_print(layout->writing->output, "|");
        write_dashes(layout, layout->widths[c] + 1);
        output_print(layout->writing->output, ":");
    }
    output_print(layout->writing->output, "|\n");
}

static size_t number_text(const struct table_layout *layout, double number, char *text)
{
    if (!isinf(number))
        return table_markup_number(layout, number, text);
    strcpy(text, number < 0 ? "\u2212\u221e" : "\u221e");
    return number < 0 ? 2 : 1;
}

enum status write_markdown(const struct writing *writing)
{
    static const struct table_dialect MARKDOWN = {
        .ruled = true,
        .escapes = &MARKDOWN_ESCAPES,
        .gaps = {{"", "..."}, {"...", "..."}},
        .row_begin = "| ",
        .between = " | ",
        .row_end = " |\n",
        .begin = begin,
        .rule = rule,
        .number = number_text,
    };
    return table_layout_write_all(writing, &MARKDOWN, STAGE_COUNT);
}
