/* sheet -> HTML to print: one file without a script, a sheet a page. */
#include "worksheet/writers.h"

#include <string.h>

static const char *const MARKS[SHEET_MARKS] = {
    NULL, "<i class=\"blank\"></i>", "×", "e<sup>", "</sup>", "√<span class=\"root\">", "</span>", "−", "<sup>T</sup>"};

static const struct sign SIGNS[] = {{" . ", " · "},  {"^T", "<sup>T</sup>"}, {"-inf", "−∞"},
                                    {" x ", " × "},  {" - ", " − "},         {" >= ", " ≥ "},
                                    {" <= ", " ≤ "}, {"sqrt(", "√("},        {NULL, NULL}};

static void escape(struct output *output, const char *piece, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char byte = piece[i];
        const char *set = byte == '&' ? "&amp;" : byte == '<' ? "&lt;" : byte == '>' ? "&gt;" : NULL;
        output_write(output, set != NULL ? set : piece + i, set != NULL ? strlen(set) : 1);
    }
}

static void write_escaped(struct output *output, const char *text)
{
    escape(output, text, strlen(text));
}

static void write_marked(struct output *output, const char *text)
{
    marks_write(output, text, MARKS, escape);
}

static void write_number(struct output *output, const char *text)
{
    const size_t sign = *text == '-';
    output_print(output, "%s%s", sign ? "−" : "", strcmp(text + sign, "inf") == 0 ? "∞" : text + sign);
}

static void write_head_cells(struct output *output, const struct sheet_table *table)
{
    output_print(output, "<tr><th>");
    write_escaped(output, table->corner);
    output_print(output, "</th>");
    for (size_t column = 0; column < table->columns; column++) {
        output_print(output, "<th scope=\"col\"><bdi>");
        if (sheet_is_powers(table))
            write_number(output, table->column_labels[column]);
        else
            write_escaped(output, table->column_labels[column]);
        output_print(output, "</bdi></th>");
    }
    output_print(output, "</tr>\n");
}

static void write_table(struct output *output, const struct sheet_table *table, enum look look)
{
    output_print(output, "<table%s>\n", look == LOOK_BLANK ? " class=\"open\"" : "");
    if (table->title[0] != '\0') {
        output_print(output, "<caption>");
        write_marked(output, table->title);
        output_print(output, "</caption>\n");
    }
    write_head_cells(output, table);
    for (size_t row = 0; row < table->rows; row++) {
        output_print(output, "<tr><th scope=\"row\"><bdi>");
        write_marked(output, table->row_labels[row]);
        output_print(output, "</bdi></th>");
        for (size_t column = 0; column < table->columns; column++) {
            output_print(output, "<td>");
            if (look != LOOK_BLANK)
                write_number(output, table->cells[row * table->columns + column]);
            output_print(output, "</td>");
        }
        output_print(output, "</tr>\n");
    }
    output_print(output, "</table>\n");
}

static void write_tables(struct output *output, const struct sheet_table *tables, size_t count, enum look look)
{
    output_print(output, "<div class=\"tables\">\n");
    for (size_t i = 0; i < count; i++)
        write_table(output, &tables[i], look);
    output_print(output, "</div>\n");
}

static void write_task(struct output *output, const struct sheet_task *task, size_t number)
{
    output_print(output, "<div class=\"task\">\n<h2>%zu. ", number);
    signs_write(output, task->formula, SIGNS, escape);
    output_print(output, "</h2>\n");
    for (size_t line = 0; line < SHEET_FRAMES && task->frames[line] != NULL; line++) {
        output_print(output, "<p>");
        write_marked(output, task->frames[line]);
        output_print(output, "</p>\n");
    }
    output_print(output, "</div>\n");
}

static void write_tasks(struct output *output, const struct sheet *sheet, bool answers)
{
    for (size_t first = 0, end; first < sheet->task_count; first = end) {
        size_t count;
        end = sheet_group_end(sheet, first, &count);
        output_print(output, "<section>\n");
        for (size_t i = first; i < end && !answers; i++)
            write_task(output, &sheet->tasks[i], i + 1);
        write_tables(output, sheet->tasks[first].tables, count, answers || sheet->filled ? LOOK_FILLED : LOOK_BLANK);
        output_print(output, "</section>\n");
    }
}

static void write_sheet(struct output *output, const struct sheet *sheet)
{
    output_print(output, "<p class=\"name\"><span>Name</span> <span>Date</span></p>\n<section>\n<h2>Given</h2>\n");
    write_tables(output, sheet->given, sheet->given_count, LOOK_GIVEN);
    output_print(output, "</section>\n");
    write_tasks(output, sheet, false);
    if (sheet->rule[0] != '\0')
        output_print(output, "<p>%s</p>\n", sheet->rule);
}

static void begin(const struct page *page)
{
    output_print(
        page->output,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"attn\">\n<title>Worksheet</title>\n<style>\n"
        "@page { margin: 1.2cm 1.6cm; }\n"
        "body { max-width: 18cm; margin: 1em auto; padding: 0 .6em; background: #fff; color: #000; "
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
        ".open td { border: 1px solid #888; min-width: 2.1em; height: 1.55em; }\n.open th { text-align: center; }\n"
        ".blank { display: inline-block; width: 2.3em; border-bottom: 1px solid; }\n"
        "sup .blank { width: 2.8em; }\n.root { border-top: 1px solid; }\nsup { line-height: 0; }\n"
        ".task { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.2em; }\n"
        "pre { font: 8.5pt/1.25 monospace; overflow-x: auto; }\n"
        "@media print { body { margin: 0; padding: 0; max-width: none; } "
        "article + article { border: 0; margin: 0; padding: 0; } section { break-inside: avoid; } }\n"
        "</style>\n</head>\n<body>\n");
}

static void write(const struct page *page, const struct sheet *sheet, bool answers)
{
    struct output *output = page->output;
    output_print(output, "<article>\n<header><h1>%s</h1><span>%s", sheet->title, answers ? ANSWERS_BEFORE : "");
    write_escaped(output, sheet->name);
    output_print(output, "</span></header>\n");
    if (answers) {
        output_print(output, "%s", sheet->found[0] != '\0' ? "<p>" : "");
        write_escaped(output, sheet->found);
        output_print(output, "%s", sheet->found[0] != '\0' ? "</p>\n" : "");
        write_tasks(output, sheet, true);
        output_print(output, "<pre>");
        write_escaped(output, sheet->worked);
        output_print(output, "</pre>\n");
    } else {
        write_sheet(output, sheet);
    }
    output_print(output, "</article>\n");
}

static void end(const struct page *page)
{
    output_print(page->output, "</body>\n</html>\n");
}

const struct sheet_writer sheet_as_html = {.begin = begin, .write = write, .end = end};
