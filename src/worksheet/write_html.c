/* SPDX-License-Identifier: MIT */
/* sheet -> HTML to print: one file without a script, a sheet a page. */
#include "worksheet/writers.h"
#include "write/table_markup.h"

static const struct sign SIGNS[] = {{" . ", " · "},  {"^T", "<sup>T</sup>"}, {"-inf", "−∞"},
                                    {" x ", " × "},  {" - ", " − "},         {" >= ", " ≥ "},
                                    {" <= ", " ≤ "}, {"sqrt(", "√("},        {NULL, NULL}};

static const struct table_markup_escapes ESCAPES = {.characters = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"}};

static const char BEGIN[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"generator\" content=\"attn\">\n<title>Worksheet</title>\n<style>\n"
    "@page { margin: 11mm 12mm; }\n"
    "body { max-width: 186mm; margin: 1em auto; padding: 0 .6em; background: #fff; color: #000; "
    "font: 10.5pt/1.3 Georgia, 'Times New Roman', serif; }\n"
    "article { break-after: page; }\narticle:last-child { break-after: auto; }\n"
    "article + article { border-top: 1px dashed #999; margin-top: 2em; padding-top: 1em; }\n"
    "header { display: flex; justify-content: space-between; align-items: baseline; }\n"
    "h1 { font-size: 14pt; margin: 0; }\nh2 { font-size: 10.5pt; margin: .5em 0 .1em; }\np { margin: .1em 0; }\n"
    ".name { display: flex; gap: 1em; margin: .6em 0; }\n"
    ".name span { flex: 2; border-bottom: 1px solid; }\n.name span + span { flex: 1; }\n"
    ".tables { display: flex; flex-wrap: wrap; gap: .3em 2em; margin: .3em 0; }\n"
    "table { border-collapse: collapse; align-self: flex-start; font-variant-numeric: tabular-nums; }\n"
    "caption { text-align: left; font-style: italic; white-space: nowrap; }\n"
    "th { font-weight: normal; color: #444; padding: .05em .4em; text-align: right; }\n"
    "th:first-child { text-align: left; padding-left: 0; }\n"
    "td { padding: .05em .4em; text-align: right; }\n"
    ".open td { border: 1px solid #888; width: 15mm; height: 8mm; padding: 0; }\n.open th { text-align: center; }\n"
    ".blank { display: inline-block; width: 15mm; height: 8mm; border: 1px solid #888; vertical-align: middle; "
    "margin: .5mm 0; }\n"
    ".root { border-top: 1px solid; }\nsup { line-height: 0; }\n"
    ".frame sup { font-size: inherit; vertical-align: 5mm; }\n"
    ".key { font-size: 6.5pt; line-height: 1.07; }\n.key td, .key th { padding: 0 0 0 .5em; white-space: nowrap; }\n"
    ".key td.first, .key th + th { padding-left: 1.4em; }\n"
    ".key tbody:first-child th { white-space: normal; vertical-align: bottom; }\n"
    ".key tbody + tbody { border-top: .5px solid #aaa; }\n"
    ".task { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.2em; }\n"
    "pre { font: 8.5pt/1.25 monospace; overflow-x: auto; }\n"
    "@media print { body { margin: 0; padding: 0; max-width: none; } "
    "article + article { border: 0; margin: 0; padding: 0; } section { break-inside: avoid; } }\n"
    "</style>\n</head>\n<body>\n";

static void begin_table(const struct page *page, const struct sheet_table *table, bool open)
{
    (void)table;
    output_print(page->output, "<table%s>\n", open ? " class=\"open\"" : "");
}

const struct sheet_dialect sheet_as_html = {
    .begin = BEGIN,
    .end = "</body>\n</html>\n",
    .marks = {NULL, "<i class=\"blank\"></i>", "×", "e<sup>", "</sup>", "√<span class=\"root\">", "</span>", "−",
              "<sup>T</sup>", "∞", NULL, ", "},
    .escapes = &ESCAPES,
    .signs = SIGNS,
    .minus = "−",
    .infinity = {"∞", "−∞"},
    .worked_minus = "−",
    .exponent = {" × 10<sup>", "−", "</sup>"},
    .head = {"<article>\n<header><h1>", "</h1><span>", "</span></header>\n"},
    .foot = "</article>\n",
    .given = {"<p class=\"name\"><span>Name</span> <span>Date</span></p>\n<section>\n<h2>Given</h2>\n", "</section>\n",
              "</section>\n"},
    .rule = {"<p>", "</p>\n"},
    .found = {"<p>", "</p>\n"},
    .key = {"<div class=\"key\">\n", "</div>\n"},
    .span = {"<th scope=\"col\" colspan=\"", "\">", "</th>"},
    .first_cell = "<td class=\"first\">",
    .parted = "</tbody>\n<tbody>\n",
    .key_columns = 157,
    .key_lines = 94,
    .breaks_titles = true,
    .worked = {"<pre>", "</pre>\n"},
    .group = {"<section>\n", "</section>\n"},
    .answered = "</section>\n",
    .task = {"<div class=\"task\">\n<h2>", ". "},
    .formula_end = "</h2>\n",
    .frame = {"<p class=\"frame\">", "</p>\n"},
    .framed = "</div>\n",
    .tables = {"<div class=\"tables\">\n", "</div>\n"},
    .title = {"<caption>", "</caption>\n"},
    .corner = {"<tr><th>", "</th>"},
    .column = {"<th scope=\"col\"><bdi>", "</bdi></th>"},
    .ruled = "</tr>\n",
    .row = {"<tr><th scope=\"row\"><bdi>", "</bdi></th>"},
    .cell = {"<td>", "</td>"},
    .row_end = "</tr>\n",
    .table_end = "</table>\n",
    .begin_table = begin_table,
    .write_worked = page_arithmetic,
    .write_formula = page_formula,
};
