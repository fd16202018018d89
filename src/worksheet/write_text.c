/* SPDX-License-Identifier: MIT */
/* sheet -> text of 80 columns: tables side by side, a form feed between the pages. */
#include "base/wrap.h"
#include "worksheet/writers.h"

#include <string.h>

enum { PAGE_COLUMNS = 76, HEAD_COLUMNS = 73, INDENT = 2, BETWEEN = 2, BEFORE = 1 };

static void write_blanks(struct output *output, size_t count)
{
    output_print(output, "%*s", (int)count, "");
}

/* The width of a text with its marks. */
static size_t marked_columns(const char *text)
{
    size_t columns = text_columns(text);
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < SHEET_MARKS)
            columns += strlen(sheet_as_text.marks[(unsigned char)*text]) - text_width((unsigned char)*text);
    return columns;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static size_t label_columns(const struct sheet_table *table)
{
    size_t widest = 0;
    for (size_t row = 0; row < table->rows; row++)
        widest = memory_larger(widest, marked_columns(table->row_labels[row]));
    return widest;
}

/* As wide as a blank, or as the numbers shown. */
static size_t cell_columns(const struct sheet_table *table, enum look look)
{
    size_t widest = look == LOOK_GIVEN   ? table->widest
                    : look == LOOK_BLANK ? table->blank
                                         : memory_larger(table->widest, table->blank);
    for (size_t column = 0; column < table->columns; column++)
        widest = memory_larger(widest, text_columns(table->column_labels[column]));
    return widest;
}

static size_t table_columns(const struct sheet_table *table, enum look look)
{
    const size_t cells = label_columns(table) + table->columns * (BEFORE + cell_columns(table, look));
    return memory_larger(cells, marked_columns(table->title));
}

/* Writes a line of a table: 0 its title, 1 the labels of its columns, then its rows. Returns its width in columns. */
static size_t write_line(const struct page *page, const struct sheet_table *table, size_t line, enum look look)
{
    const size_t labels = label_columns(table), cells = cell_columns(table, look);
    if (line == 0) {
        page_marked(page, table->title);
        return marked_columns(table->title);
    }
    if (line > table->rows + 1)
        return 0;
    const char *label = line == 1 ? table->corner : table->row_labels[line - 2];
    page_marked(page, label);
    write_blanks(page->output, memory_left(labels, marked_columns(label)));
    for (size_t column = 0; column < table->columns; column++) {
        const char *text =
            line == 1 ? table->column_labels[column] : table->cells[(line - 2) * table->columns + column];
        page_put(page, " ");
        if (line == 1 || look != LOOK_BLANK)
            output_print(page->output, "%*s%s", (int)memory_left(cells, text_columns(text)), "", text);
        else
            write_blanks(page->output, memory_left(cells, table->blank));
        for (size_t i = 0; i < table->blank && line > 1 && look == LOOK_BLANK; i++)
            page_put(page, "_");
    }
    return labels + table->columns * (BEFORE + cells);
}

/* How many of the tables fit side by side, and their lines. */
static size_t count_abreast(const struct sheet_table *tables, size_t count, enum look look, size_t *lines)
{
    size_t width = INDENT + table_columns(&tables[0], look), abreast = 1;
    *lines = tables[0].rows + 2;
    for (; abreast < count; abreast++) {
        width += BETWEEN + table_columns(&tables[abreast], look);
        if (width > PAGE_COLUMNS)
            break;
        *lines = memory_larger(*lines, tables[abreast].rows + 2);
    }
    return abreast;
}

/* Writes a line of tables side by side, without blanks at its end. */
static void write_abreast(const struct page *page, const struct sheet_table *tables, size_t count, size_t line,
                          enum look look)
{
    size_t gap = INDENT;
    for (size_t i = 0; i < count; i++) {
        size_t taken = 0;
        if (line < tables[i].rows + 2) {
            write_blanks(page->output, gap);
            taken = write_line(page, &tables[i], line, look);
            gap = 0;
        }
        gap += memory_left(table_columns(&tables[i], look), taken) + BETWEEN;
    }
    page_put(page, "\n");
}

static void write_tables(const struct page *page, const struct sheet_table *tables, size_t count, enum look look)
{
    for (size_t abreast, lines; count > 0; tables += abreast, count -= abreast) {
        abreast = count_abreast(tables, count, look, &lines);
        for (size_t line = tables[0].title[0] == '\0' ? 1 : 0; line < lines; line++)
            write_abreast(page, tables, abreast, line, look);
        page_put(page, "\n");
    }
}

/* --- a page ------------------------------------------------------------------------------------------------------- */

static void write_head(const struct page *page, const struct sheet *sheet, bool answers)
{
    const size_t taken = strlen(sheet->title) + strlen(answers ? ANSWERS_BEFORE : "") + text_columns(sheet->name);
    output_print(page->output, "%s%s%s", page->bold ? TEXT_BOLD : "", sheet->title, page->bold ? TEXT_PLAIN : "");
    write_blanks(page->output, taken + 2 < HEAD_COLUMNS ? HEAD_COLUMNS - taken : 2);
    output_print(page->output, "%s%s\n\n", answers ? ANSWERS_BEFORE : "", sheet->name);
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
        const size_t width = marked_columns(task->frames[i]);
        const bool fits = column > 0 && column + 2 + width <= PAGE_COLUMNS;
        output_print(output, "%s%*s", column > 0 && !fits ? "\n" : "", fits ? 2 : INDENT, "");
        page_marked(page, task->frames[i]);
        column = fits ? column + 2 + width : INDENT + width;
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
    .marks = {NULL, "____", "x", "e^(", ")", "sqrt(", ")", "-", "^T"},
    .given = {"Name ________________________________________   Date ____________________\n\n"},
    .rule = {NULL, "\n"},
    .found = {NULL, "\n\n"},
    .tasks_end = "\n",
    .write_words = write_words,
    .write_worked = page_put,
    .write_head = write_head,
    .write_tables = write_tables,
    .write_task = write_task,
};
