/* SPDX-License-Identifier: MIT */
/* sheet -> text of 80 columns: tables side by side, a form feed between the pages. */
#include "base/wrap.h"
#include "worksheet/writers.h"
#include "write/table_text.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_COLUMNS = 76, HEAD_COLUMNS = 73, INDENT = 2, CONTINUED = 3, BETWEEN = 2, BEFORE = 1 };

size_t sheet_text_columns(const char *text)
{
    size_t columns = text_columns(text);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < SHEET_MARKS)
            columns += strlen(sheet_as_text.marks[(unsigned char)*text]) - text_width((unsigned char)*text);
    return columns;
}

static size_t label_columns(const struct sheet_table *table)
{
    size_t widest = 0;
    for (size_t row = 0; row < table->rows; row++)
        widest = memory_larger(widest, sheet_text_columns(table->row_labels[row]));
    return widest;
}

/* As wide as a blank, or as the numbers shown. */
static size_t cell_columns(const struct sheet_table *table, bool open, size_t of_column)
{
    size_t widest = open ? table->blank : table->widest;
    if (table->widths != NULL)
        return table->widths[of_column];
    for (size_t column = 0; column < table->columns; column++)
        widest = memory_larger(widest, text_columns(table->column_labels[column]));
    return widest;
}

static size_t table_columns(const struct sheet_table *table, bool open)
{
    size_t cells = label_columns(table);
    for (size_t column = 0; column < table->columns; column++)
        cells += BEFORE + cell_columns(table, open, column);
    return memory_larger(cells, sheet_text_columns(table->title));
}

/* Writes a line of a table: 0 its title, 1 the labels of its columns, then its rows. Returns its width in columns. */
static size_t write_line(const struct page *page, const struct sheet_table *table, size_t line, bool open)
{
    if (line == 0) {
        page_marked(page, table->title);
        return sheet_text_columns(table->title);
    }
    if (line > table->rows + 1)
        return 0;
    const char *label = line == 1 ? table->corner : table->row_labels[line - 2];
    page_marked(page, label);
    size_t taken = label_columns(table);
    table_text_blanks(page->output, memory_left(taken, sheet_text_columns(label)));
    for (size_t column = 0; column < table->columns; column++) {
        const char *text =
            line == 1 ? table->column_labels[column] : table->cells[(line - 2) * table->columns + column];
        const bool blank = line > 1 && open;
        const size_t cells = BEFORE + cell_columns(table, open, column);
        const size_t width = blank ? table->blank : sheet_text_columns(text);
        table_text_blanks(page->output, memory_left(cells, width));
        page_marked(page, blank ? "" : text);
        for (size_t i = 0; i < table->blank && blank; i++)
            page_put(page, "_");
        taken += cells;
    }
    return taken;
}

/* How many of the tables fit side by side, and their lines. */
static size_t count_abreast(const struct sheet_table *tables, size_t count, bool open, size_t *lines)
{
    size_t width = INDENT + table_columns(&tables[0], open), abreast = 1;
    *lines = tables[0].rows + 2;
    for (; abreast < count; abreast++) {
        width += BETWEEN + table_columns(&tables[abreast], open);
        if (width > PAGE_COLUMNS)
            break;
        *lines = memory_larger(*lines, tables[abreast].rows + 2);
    }
    return abreast;
}

/* Writes a line of tables side by side, without blanks at its end. */
static void write_abreast(const struct page *page, const struct sheet_table *tables, size_t count, size_t line,
                          bool open)
{
    size_t gap = INDENT;
    for (size_t i = 0; i < count; i++) {
        size_t taken = 0;
        if (line < tables[i].rows + 2) {
            table_text_blanks(page->output, gap);
            taken = write_line(page, &tables[i], line, open);
            gap = 0;
        }
        gap += memory_left(table_columns(&tables[i], open), taken) + BETWEEN;
    }
    page_put(page, "\n");
}

static void write_tables(const struct page *page, const struct sheet_table *tables, size_t count, bool open)
{
    for (size_t abreast, lines; count > 0; tables += abreast, count -= abreast) {
        abreast = count_abreast(tables, count, open, &lines);
        for (size_t line = tables[0].title[0] == '\0' ? 1 : 0; line < lines; line++)
            write_abreast(page, tables, abreast, line, open);
        page_put(page, "\n");
    }
}

static void write_head(const struct page *page, const struct sheet *sheet, bool answers)
{
    const size_t taken = strlen(sheet->title) + strlen(answers ? ANSWERS_BEFORE : "") + text_columns(sheet->name);
    output_print(page->output, "%s%s%s", page->bold ? TEXT_BOLD : "", sheet->title, page->bold ? TEXT_PLAIN : "");
    table_text_blanks(page->output, taken + 2 < HEAD_COLUMNS ? HEAD_COLUMNS - taken : 2);
    output_print(page->output, "%s%s\n\n", answers ? ANSWERS_BEFORE : "", sheet->name);
}

/* Up to the next sum or result: a line may end there. */
static size_t piece_length(const char *frame)
{
    const char *sum = strstr(frame + 1, " + "), *result = strstr(frame + 1, " = ");
    const char *end = sum != NULL && (result == NULL || sum < result) ? sum : result;
    return end != NULL ? (size_t)(end - frame) : strlen(frame);
}

/* Writes the way of working from a column on; returns the column behind it. */
static size_t write_frame(const struct page *page, const char *frame, size_t column)
{
    char piece[SHEET_LINE_BYTES];
    for (size_t length; *frame != '\0'; frame += length) {
        length = piece_length(frame);
        snprintf(piece, sizeof piece, "%.*s", (int)length, frame);
        const size_t width = sheet_text_columns(piece);
        if (column + width > PAGE_COLUMNS) {
            output_print(page->output, "\n%*s", CONTINUED, "");
            column = CONTINUED;
        }
        page_marked(page, piece + (column == CONTINUED));
        column += width;
    }
    return column;
}

/* The lines of a frame follow the formula where they fit, else stand below. */
static void write_task(const struct page *page, const struct sheet_task *task, size_t number)
{
    struct output *output = page->output;
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = INDENT};
    output_print(output, "%s%zu. ", page->bold ? TEXT_BOLD : "", number);
    line.column = INDENT;
    wrap_words(&line, task->formula);
    output_print(output, "%s\n", page->bold ? TEXT_PLAIN : "");
    size_t column = 0;
    for (size_t i = 0; i < SHEET_FRAMES && task->frames[i] != NULL; i++) {
        const size_t width = sheet_text_columns(task->frames[i]);
        const bool fits = column > 0 && column + 2 + width <= PAGE_COLUMNS;
        output_print(output, "%s%*s", column > 0 && !fits ? "\n" : "", fits ? 2 : INDENT, "");
        column = write_frame(page, task->frames[i], fits ? column + 2 : INDENT);
    }
    output_print(output, "%s", column > 0 ? "\n" : "");
}

static void write_words(const struct page *page, const char *words)
{
    struct wrap line = {.output = page->output, .columns = WRAP_COLUMNS};
    wrap_words(&line, words);
}

const struct sheet_dialect sheet_as_text = {
    .turn = "\f",
    .marks = {NULL, "_______", "x", "e^(", ")", "sqrt(", ")", "-", "^T", "inf", NULL, ", "},
    .given = {"Name ________________________________________   Date ____________________\n\n"},
    .rule = {NULL, "\n"},
    .found = {NULL, "\n\n"},
    .key_columns = PAGE_COLUMNS,
    .key_lines = 56,
    .tasks_end = "\n",
    .write_words = write_words,
    .write_worked = page_put,
    .write_head = write_head,
    .write_tables = write_tables,
    .write_task = write_task,
};
