/* SPDX-License-Identifier: MIT */
/* The answers of several sheets as one: a line for each row of a sheet, with a cell for each of its tables. */
#include "base/text.h"
#include "worksheet/writers.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_COLUMNS = 5, WORD_COLUMNS = 7, BETWEEN = 2, LABEL_BYTES = 128, CELL_BYTES = 512 };

/* A key while it is made. */
struct keying {
    const struct key_plan *plan;
    const struct sheet_table *tables; /* of its first sheet, which the others are like */
    size_t count;
    struct arena *arena;
    struct error *error;
};

/* Tables whose rows fit side by side; all rows of the others are among those of `lines`. */
struct band {
    size_t begin, end;
    const struct sheet_table *lines;
};

static struct keying begin_key(const struct key_plan *plan, struct arena *arena, struct error *error)
{
    const struct sheet *sheet = &plan->sheets[0];
    struct keying keying = {plan, sheet->tasks[0].tables, 0, arena, error};
    for (size_t task = 0; task < sheet->task_count; task++)
        keying.count += sheet->tasks[task].count;
    return keying;
}

static const struct sheet_table *table_of(const struct keying *keying, size_t sheet, size_t index)
{
    return &keying->plan->sheets[sheet].tasks[0].tables[index];
}

/* Whether the labels of a table's rows are among those of the other, in their order. */
static bool has_rows(const struct sheet_table *table, const struct sheet_table *other)
{
    size_t row = 0;
    for (size_t line = 0; line < other->rows && row < table->rows; line++)
        row += strcmp(table->row_labels[row], other->row_labels[line]) == 0;
    return row == table->rows;
}

static size_t widest_number(const struct keying *keying, size_t index)
{
    size_t widest = 0;
    for (size_t sheet = 0; sheet < keying->plan->count; sheet++)
        widest = memory_larger(widest, table_of(keying, sheet, index)->widest);
    return widest;
}

/* The columns of a cell with a row of the table. */
static size_t cell_width(const struct keying *keying, size_t index)
{
    const struct sheet_table *table = &keying->tables[index];
    const size_t title = keying->plan->breaks_titles ? WORD_COLUMNS : sheet_text_columns(table->title);
    return memory_larger(title, table->columns * (1 + widest_number(keying, index)) - 1);
}

static struct band find_band(const struct keying *keying, size_t begin)
{
    struct band band = {begin, begin, &keying->tables[begin]};
    size_t width = NUMBER_COLUMNS;
    for (size_t row = 0; row < band.lines->rows; row++)
        width = memory_larger(width, NUMBER_COLUMNS + text_columns(band.lines->row_labels[row]));
    for (; band.end < keying->count; band.end++) {
        const struct sheet_table *table = &keying->tables[band.end];
        const bool longer = has_rows(band.lines, table);
        width += BETWEEN + cell_width(keying, band.end);
        if ((!longer && !has_rows(table, band.lines)) || (band.end > begin && width > keying->plan->columns))
            break;
        band.lines = longer ? table : band.lines;
    }
    return band;
}

/* "7 the" */
static const char *label_line(const struct keying *keying, size_t sheet, const char *row)
{
    char text[LABEL_BYTES];
    if (!keying->plan->numbered)
        return row;
    snprintf(text, sizeof text, "%zu %s", keying->plan->first + sheet + 1, row);
    return arena_copy(keying->arena, text, keying->error);
}

/* The numbers of a row, each as wide as the widest of its table. */
static const char *join_row(const struct keying *keying, const struct sheet_table *table, size_t row, size_t widest)
{
    char joined[CELL_BYTES];
    struct text text = text_begin(joined, sizeof joined);
    for (size_t column = 0; column < table->columns; column++) {
        const char *cell = table->cells[row * table->columns + column];
        text_add(&text, "%s", column > 0 ? " " : "");
        for (size_t blank = strlen(cell); blank < widest; blank++)
            text_add(&text, SHEET_PAD);
        text_add(&text, "%s", cell);
    }
    return arena_copy(keying->arena, joined, keying->error);
}

static enum status fill_column(const struct keying *keying, const struct band *band, struct sheet_table *made,
                               size_t column)
{
    const size_t index = band->begin + column, widest = widest_number(keying, index);
    made->column_labels[column] = keying->tables[index].title;
    made->numbers[column] = keying->tables[index].columns;
    made->widths[column] = cell_width(keying, index) + BETWEEN - 1;
    for (size_t sheet = 0; sheet < keying->plan->count; sheet++) {
        const struct sheet_table *table = table_of(keying, sheet, index);
        for (size_t line = 0, row = 0; line < made->group; line++) {
            const size_t at = sheet * made->group + line;
            const bool there = row < table->rows && strcmp(table->row_labels[row], band->lines->row_labels[line]) == 0;
            made->cells[at * made->columns + column] = there ? join_row(keying, table, row++, widest) : "";
            if (column == 0)
                made->row_labels[at] = label_line(keying, sheet, band->lines->row_labels[line]);
            if (made->cells[at * made->columns + column] == NULL || made->row_labels[at] == NULL)
                return keying->error->status;
        }
    }
    return STATUS_OK;
}

static enum status make_band(const struct keying *keying, const struct band *band, struct sheet_task *task)
{
    struct sheet_table *made = task->tables = arena_allocate(keying->arena, 1, sizeof *made, keying->error);
    if (made == NULL)
        return keying->error->status;
    task->begins = true;
    task->count = 1;
    *made =
        (struct sheet_table){.title = "", .corner = "", .columns = band->end - band->begin, .group = band->lines->rows};
    made->corner = keying->plan->numbered ? "sheet" : "";
    made->rows = keying->plan->count * made->group;
    made->row_labels = arena_allocate(keying->arena, made->rows, sizeof *made->row_labels, keying->error);
    made->column_labels = arena_allocate(keying->arena, made->columns, sizeof *made->column_labels, keying->error);
    made->cells = arena_allocate(keying->arena, made->rows * made->columns, sizeof *made->cells, keying->error);
    made->widths = arena_allocate(keying->arena, made->columns, sizeof *made->widths, keying->error);
    made->numbers = arena_allocate(keying->arena, made->columns, sizeof *made->numbers, keying->error);
    if (made->row_labels == NULL || made->column_labels == NULL || made->cells == NULL || made->widths == NULL ||
        made->numbers == NULL)
        return keying->error->status;
    for (size_t column = 0; column < made->columns; column++)
        if (fill_column(keying, band, made, column) != STATUS_OK)
            return keying->error->status;
    return STATUS_OK;
}

size_t key_lines(const struct key_plan *plan)
{
    const struct keying keying = begin_key(plan, NULL, NULL);
    size_t lines = 0;
    for (struct band band = {0}; band.end < keying.count; lines += band.lines->rows)
        band = find_band(&keying, band.end);
    return lines;
}

enum status key_make(struct sheet *key, const struct key_plan *plan, struct arena *arena, struct error *error)
{
    const struct keying keying = begin_key(plan, arena, error);
    *key = plan->sheets[0];
    key->is_key = true;
    key->worked = "";
    key->task_count = 0;
    key->tasks = arena_allocate(arena, keying.count, sizeof *key->tasks, error);
    if (key->tasks == NULL)
        return error->status;
    for (struct band band = {0}; band.end < keying.count;) {
        band = find_band(&keying, band.end);
        if (make_band(&keying, &band, &key->tasks[key->task_count++]) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}
