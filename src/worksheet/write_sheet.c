/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <string.h>

static const char MARKS[] =
    SHEET_BLANK SHEET_TIMES SHEET_POWER SHEET_POWER_END SHEET_ROOT SHEET_ROOT_END SHEET_MINUS SHEET_TRANSPOSED;

/* --- pieces of text ----------------------------------------------------------------------------------------------- */

void page_put(const struct page *page, const char *text)
{
    if (text != NULL)
        output_write(page->output, text, strlen(text));
}

void page_escape(const struct page *page, const char *text, size_t length)
{
    const struct sheet_dialect *dialect = page->dialect;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        const bool ascii = (unsigned char)text[i] < TABLE_MARKUP_CHARACTERS;
        const char *set =
            ascii && dialect->escapes != NULL ? dialect->escapes->characters[(unsigned char)text[i]] : NULL;
        bytes = ascii ? 1 : memory_larger(text_character(text + i), 1);
        if (!ascii && dialect->write_character != NULL)
            dialect->write_character(page, text + i, bytes);
        else
            output_write(page->output, set != NULL ? set : text + i, set != NULL ? strlen(set) : bytes);
    }
}

void page_escaped(const struct page *page, const char *text)
{
    page_escape(page, text, strlen(text));
}

void page_marked(const struct page *page, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, MARKS);
        page_escape(page, text, length);
        text += length;
        if (*text != '\0')
            page_put(page, page->dialect->marks[(unsigned char)*text++]);
    }
}

static void around(const struct page *page, const char *const pair[2], page_writer *write, const char *text)
{
    page_put(page, pair[0]);
    write(page, text);
    page_put(page, pair[1]);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void write_number(const struct page *page, const char *text)
{
    const struct sheet_dialect *dialect = page->dialect;
    const bool minus = *text == '-';
    if (strcmp(text + minus, "inf") == 0)
        page_put(page, dialect->infinity[minus]);
    else if (minus)
        around(page, dialect->minus, page_put, text + 1);
    else
        page_put(page, text);
}

static void write_table(const struct page *page, const struct sheet_table *table, enum look look)
{
    const struct sheet_dialect *dialect = page->dialect;
    const bool numbers = sheet_is_powers(table) && !dialect->labels_are_text, open = look == LOOK_BLANK;
    if (dialect->begin_table != NULL)
        dialect->begin_table(page, table, look);
    if (dialect->title[0] != NULL && table->title[0] != '\0')
        around(page, dialect->title, page_marked, table->title);
    around(page, dialect->corner, page_escaped, table->corner);
    for (size_t column = 0; column < table->columns; column++)
        around(page, dialect->column, numbers ? write_number : page_escaped, table->column_labels[column]);
    page_put(page, dialect->ruled);
    for (size_t column = 0; column < table->columns; column++)
        page_put(page, dialect->rule_column);
    for (size_t row = 0; row < table->rows; row++) {
        around(page, dialect->row, page_marked, table->row_labels[row]);
        for (size_t i = row * table->columns; i < (row + 1) * table->columns; i++)
            around(page, dialect->cell, open ? page_put : write_number, open ? dialect->blank : table->cells[i]);
        page_put(page, dialect->row_end);
    }
    page_put(page, dialect->table_end);
}

static void write_tables(const struct page *page, const struct sheet_table *tables, size_t count, enum look look)
{
    if (page->dialect->write_tables != NULL) {
        page->dialect->write_tables(page, tables, count, look);
        return;
    }
    page_put(page, page->dialect->tables[0]);
    for (size_t i = 0; i < count; i++)
        write_table(page, &tables[i], look);
    page_put(page, page->dialect->tables[1]);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

void page_formula(const struct page *page, const struct sheet_task *task)
{
    for (const char *formula = task->formula; *formula != '\0';) {
        const struct sign *sign = page->dialect->signs;
        while (sign->plain != NULL && strncmp(formula, sign->plain, strlen(sign->plain)) != 0)
            sign++;
        if (sign->plain != NULL)
            page_put(page, sign->set);
        else
            page_escape(page, formula, 1);
        formula += sign->plain != NULL ? strlen(sign->plain) : 1;
    }
}

static void write_task(const struct page *page, const struct sheet_task *task, size_t number)
{
    const struct sheet_dialect *dialect = page->dialect;
    page_put(page, dialect->task[0]);
    output_print(page->output, "%zu", number);
    page_put(page, dialect->task[1]);
    dialect->write_formula(page, task);
    page_put(page, dialect->formula_end);
    for (size_t line = 0; line < SHEET_FRAMES && task->frames[line] != NULL; line++) {
        const bool last = line + 1 == SHEET_FRAMES || task->frames[line + 1] == NULL;
        page_put(page, dialect->frame[0]);
        page_marked(page, task->frames[line]);
        page_put(page, last && dialect->last_frame != NULL ? dialect->last_frame : dialect->frame[1]);
    }
    page_put(page, dialect->framed);
}

static void write_tasks(const struct page *page, const struct sheet *sheet, bool answers)
{
    const struct sheet_dialect *dialect = page->dialect;
    for (size_t first = 0, end; first < sheet->task_count; first = end) {
        size_t count = sheet->tasks[first].count;
        for (end = first + 1; end < sheet->task_count && !sheet->tasks[end].begins && !dialect->tables_by_task; end++)
            count += sheet->tasks[end].count;
        page_put(page, dialect->group[0]);
        for (size_t i = first; i < end && !answers; i++)
            (dialect->write_task != NULL ? dialect->write_task : write_task)(page, &sheet->tasks[i], i + 1);
        page_put(page, answers ? NULL : dialect->tasks_end);
        write_tables(page, sheet->tasks[first].tables, count, answers || sheet->filled ? LOOK_FILLED : LOOK_BLANK);
        page_put(page, answers ? dialect->answered : dialect->group[1]);
    }
}

/* --- a sheet ------------------------------------------------------------------------------------------------------ */

static void write_head(const struct page *page, const struct sheet *sheet, bool answers)
{
    const char *const *head = page->dialect->head;
    output_print(page->output, "%s%s%s%s", head[0], sheet->title, head[1], answers ? ANSWERS_BEFORE : "");
    page_escaped(page, sheet->name);
    page_put(page, head[2]);
}

void sheet_write(const struct page *page, const struct sheet *sheet, bool answers)
{
    const struct sheet_dialect *dialect = page->dialect;
    page_writer *words = dialect->write_words != NULL ? dialect->write_words : page_escaped;
    (dialect->write_head != NULL ? dialect->write_head : write_head)(page, sheet, answers);
    if (!answers) {
        page_put(page, dialect->given[0]);
        write_tables(page, sheet->given, sheet->given_count, LOOK_GIVEN);
        page_put(page, dialect->given[1 + sheet->filled]);
        write_tasks(page, sheet, false);
        if (sheet->rule[0] != '\0')
            around(page, dialect->rule, words, sheet->rule);
        else
            page_put(page, dialect->no_rule);
    } else {
        if (sheet->found[0] != '\0')
            around(page, dialect->found, words, sheet->found);
        write_tasks(page, sheet, true);
        around(page, dialect->worked, dialect->write_worked, sheet->worked);
    }
    page_put(page, dialect->foot);
}
