#include "write_markdown.h"

#include "ruled.h"

#include <math.h>

/* All that begins markup within a line, or HTML; GitHub also takes $ for mathematics. */
static const char *const ESCAPES[RULED_CHARACTERS] = {
    ['\\'] = "\\\\", ['|'] = "\\|", ['`'] = "\\`", ['*'] = "\\*",  ['_'] = "\\_",  ['['] = "\\[",
    [']'] = "\\]",   ['~'] = "\\~", ['$'] = "\\$", ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;",
};

static void begin(const struct ruled *ruled)
{
    const struct result_table *table = ruled->table;
    output_print(ruled->output, "**");
    ruled_write_escaped(ruled, table->name);
    output_print(ruled->output, "**");
    if (table->formula[0] != '\0')
        output_print(ruled->output, " = `%s`", table->formula);
    ruled_write_place(ruled, " x ");
    output_print(ruled->output, "\n\n");
}

static void write_dashes(const struct ruled *ruled, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_write(ruled->output, "-", 1);
}

/* Labels to the left, numbers to the right: the colon says it. */
static void rule(const struct ruled *ruled)
{
    output_print(ruled->output, "|:");
    write_dashes(ruled, ruled->label_width + 1);
    for (size_t c = 0; c < ruled->column_count; c++) {
        output_print(ruled->output, "|");
        write_dashes(ruled, ruled->widths[c] + 1);
        output_print(ruled->output, ":");
    }
    output_print(ruled->output, "|\n");
}

static void end(const struct ruled *ruled)
{
    (void)ruled; /* a table ends with its rows */
}

static void number_text(const struct ruled *ruled, double number, char *text)
{
    if (isinf(number))
        snprintf(text, RULED_CELL_BYTES, number < 0 ? "\u2212\u221e" : "\u221e");
    else
        ruled_number(ruled, number, text);
}

enum status write_markdown(struct result *result, int precision, bool full, struct output *output, struct arena *arena,
                           struct error *error)
{
    static const struct ruled_dialect MARKDOWN = {
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
    return ruled_write(result, &MARKDOWN, precision, full, output, arena, error);
}
