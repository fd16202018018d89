/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "worksheet/writers.h"
#include "write/table_markup.h"
#include "write/table_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char MARKS[] = SHEET_BLANK SHEET_TIMES SHEET_POWER SHEET_POWER_END SHEET_ROOT SHEET_ROOT_END SHEET_MINUS
    SHEET_TRANSPOSED SHEET_INFINITY SHEET_PLACE;

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

/* A hyphen after a letter or digit stays one, except in 1e-05. */
void page_arithmetic(const struct page *page, const char *text)
{
    const char *from = text;
    for (const char *at = text; (at = strchr(at, '-')) != NULL; at++) {
        const bool inside = at > text && isalnum((unsigned char)at[-1]);
        if (inside && !(at > text + 1 && at[-1] == 'e' && isdigit((unsigned char)at[-2])))
            continue;
        page_escape(page, from, (size_t)(at - from));
        page_put(page, page->dialect->worked_minus);
        from = at + 1;
    }
    page_escaped(page, from);
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
    const bool minus = *text == '-', infinite = strcmp(text + minus, "inf") == 0;
    const char *number = text + minus, *exponent = strchr(number, 'e');
    if (infinite)
        page_put(page, dialect->infinity[minus]);
    else
        page_put(page, minus ? dialect->minus : NULL);
    if (exponent != NULL && dialect->exponent[0] != NULL && !infinite) {
        output_print(page->output, "%.*s%s%s%s%s", (int)(exponent - number), number, dialect->exponent[0],
                     exponent[1] == '-' ? dialect->exponent[1] : "", exponent + 2 + strspn(exponent + 2, "0"),
                     dialect->exponent[2]);
    } else if (!infinite)
        page_put(page, number);
}

/* Writes the numbers of a cell; in a format whose titles span columns each number gets its own cell. */
static void write_numbers(const struct page *page, const char *text, size_t count)
{
    const struct sheet_dialect *dialect = page->dialect;
    const bool apart = dialect->first_cell != NULL;
    char number[TABLE_TEXT_NUMBER_BYTES];
    for (size_t i = 0; i < count; i++) {
        const size_t pads = strspn(text, " "), length = strcspn(text + pads, " ");
        page_put(page, i == 0 && apart ? dialect->first_cell : i == 0 || apart ? dialect->cell[0] : " ");
        snprintf(number, sizeof number, "%.*s", (int)length, text + pads);
        write_number(page, number);
        text += pads + length + (text[pads + length] != '\0');
        page_put(page, i + 1 == count || apart ? dialect->cell[1] : NULL);
    }
}

static void write_title(const struct page *page, const char *title, size_t numbers)
{
    const char *const *span = page->dialect->span;
    if (span[0] != NULL)
        output_print(page->output, "%s%zu%s", span[0], numbers, span[1]);
    else
        page_put(page, page->dialect->column[0]);
    page_marked(page, title);
    page_put(page, span[0] != NULL ? span[2] : page->dialect->column[1]);
}

static void write_table(const struct page *page, const struct sheet_table *table, bool open)
{
    const struct sheet_dialect *dialect = page->dialect;
    const bool numbers = sheet_is_powers(table) && !dialect->labels_are_text;
    if (dialect->begin_table != NULL)
        dialect->begin_table(page, table, open);
    if (dialect->title[0] != NULL && table->title[0] != '\0')
        around(page, dialect->title, page_marked, table->title);
    around(page, dialect->corner, page_escaped, table->corner);
    for (size_t column = 0; column < table->columns; column++)
        if (table->numbers != NULL)
            write_title(page, table->column_labels[column], table->numbers[column]);
        else
            around(page, dialect->column, numbers ? write_number : page_escaped, table->column_labels[column]);
    page_put(page, dialect->ruled);
    for (size_t column = 0; column < table->columns; column++)
        page_put(page, dialect->rule_column);
    for (size_t row = 0; row < table->rows; row++) {
        page_put(page, table->group > 0 && row % table->group == 0 ? dialect->parted : NULL);
        around(page, dialect->row, page_marked, table->row_labels[row]);
        for (size_t column = 0; column < table->columns; column++) {
            const char *cell = table->cells[row * table->columns + column];
            if (table->numbers != NULL)
                write_numbers(page, cell, table->numbers[column]);
            else
                around(page, dialect->cell, open ? page_put : write_number, open ? dialect->blank : cell);
        }
        page_put(page, dialect->row_end);
    }
    page_put(page, dialect->table_end);
}

static void write_tables(const struct page *page, const struct sheet_table *tables, size_t count, bool open)
{
    if (page->dialect->write_tables != NULL) {
        page->dialect->write_tables(page, tables, count, open);
        return;
    }
    page_put(page, page->dialect->tables[0]);
    for (size_t i = 0; i < count; i++)
        write_table(page, &tables[i], open);
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
        write_tables(page, sheet->tasks[first].tables, count, !answers && !sheet->filled);
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
        write_tables(page, sheet->given, sheet->given_count, false);
        page_put(page, dialect->given[1 + sheet->filled]);
        write_tasks(page, sheet, false);
        if (sheet->rule[0] != '\0')
            around(page, dialect->rule, words, sheet->rule);
        else
            page_put(page, dialect->no_rule);
    } else {
        if (sheet->found[0] != '\0')
            around(page, dialect->found, words, sheet->found);
        page_put(page, sheet->is_key ? dialect->key[0] : NULL);
        write_tasks(page, sheet, true);
        page_put(page, sheet->is_key ? dialect->key[1] : NULL);
        if (sheet->worked[0] != '\0')
            around(page, dialect->worked, dialect->write_worked, sheet->worked);
    }
    page_put(page, dialect->foot);
}
