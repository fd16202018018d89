/* SPDX-License-Identifier: MIT */
/* sheet -> Markdown (GitHub's tables); a page break between sheets. */
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <stdint.h>

#define BLANK "\\_\\_\\_\\_\\_\\_\\_"

static void write_formula(const struct page *page, const struct sheet_task *task)
{
    page_put(page, task->formula);
}

const struct sheet_dialect sheet_as_markdown = {
    .turn = "\n<div style=\"break-after: page\"></div>\n\n",
    .marks = {NULL, BLANK, "×", "e<sup>", "</sup>", "√", "", "−", "<sup>T</sup>", "∞", NULL, ", "},
    .escapes = &MARKDOWN_ESCAPES,
    .minus = "−",
    .infinity = {"∞", "−∞"},
    .exponent = {" × 10<sup>", "−", "</sup>"},
    .head = {"# ", "\n\n*", "*\n\n"},
    .given = {"Name \\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_ "
              "Date \\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\n\n## Given\n\n",
              "## Work out\n\n", "## Worked out\n\n"},
    .rule = {NULL, "\n"},
    .no_rule = "\n",
    .found = {NULL, "\n\n"},
    .key_columns = SIZE_MAX,
    .key_lines = SIZE_MAX,
    .breaks_titles = true,
    .worked = {"```text\n", "```\n"},
    .tables_by_task = true,
    .task = {"### ", ". `"},
    .formula_end = "`\n\n",
    .frame = {NULL, "  \n"},
    .last_frame = "\n\n",
    .title = {"**", "**\n\n"},
    .corner = {"| ", " |"},
    .column = {" ", " |"},
    .ruled = "\n|:---|",
    .rule_column = "---:|",
    .row = {"\n| ", " |"},
    .cell = {" ", " |"},
    .table_end = "\n\n",
    .blank = "&emsp;&emsp;&emsp;&emsp;", /* a blank cell keeps its width */
    .labels_are_text = true,
    .write_worked = page_put,
    .write_formula = write_formula,
};
