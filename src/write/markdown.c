/* result -> Markdown (GitHub's tables): each matrix a table under a line with its formula. */
#include "write/table_markup.h"

#include <math.h>

/* All that begins markup within a line, or HTML; GitHub also takes $ for mathematics. */
static const char *const ESCAPES[TABLE_MARKUP_CHARACTERS] = {
    ['\\'] = "\\\\", ['|'] = "\\|", ['`'] = "\\`", ['*'] = "\\*",  ['_'] = "\\_",  ['['] = "\\[",
    [']'] = "\\]",   ['~'] = "\\~", ['$'] = "\\$", ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;",
};

static void begin(const struct table_markup *markup)
{
    const struct result_table *table = markup->table;
    output_print(markup->output, "**");
    table_markup_write_escaped(markup, table->name);
    output_print(markup->output, "**");
    if (table->formula[0] != '\0')
        output_print(markup->output, " = `%s`", table->formula);
    table_markup_write_place(markup, " x ");
    output_print(markup->output, "\n\n");
}

static void write_dashes(const struct table_markup *markup, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_write(markup->output, "-", 1);
}

/* Labels to the left, numbers to the right: the colon says it. */
static void rule(const struct table_markup *markup)
{
    output_print(markup->output, "|:");
    write_dashes(markup, markup->label_width + 1);
    for (size_t c = 0; c < markup->column_count; c++) {
        output_print(markup->output, "|");
        write_dashes(markup, markup->widths[c] + 1);
        output_print(markup->output, ":");
    }
    output_print(markup->output, "|\n");
}

static void end(const struct table_markup *markup)
{
    (void)markup; /* a table ends with its rows */
}

static void number_text(const struct table_markup *markup, double number, char *text)
{
    if (isinf(number))
        snprintf(text, TABLE_MARKUP_CELL_BYTES, number < 0 ? "\u2212\u221e" : "\u221e");
    else
        table_markup_number(markup, number, text);
}

enum status write_markdown(const struct writing *writing)
{
    static const struct table_markup_dialect MARKDOWN = {
        .escapes = ESCAPES,
        .gaps = {{"", "..."}, {"...", "..."}},
        .row_begin = "| ",
        .between = " | ",
        .row_end = " |\n",
        .begin = begin,
        .rule = rule,
        .end = end,
        .number = number_text,
    };
    return table_markup_write(writing, &MARKDOWN);
}
