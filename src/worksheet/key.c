/* SPDX-License-Identifier: MIT */
/* The answers of several sheets as one: a line for each row of a sheet, with a cell for each of its tables. */
#include "base/text.h"
#include "worksheet/writers.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_COLUMNS = 5, WORD_COLUMNS = 7, BETWEEN = 2, TEXT_BYTES = 512 };

/* Tables with the same rows, which fit side by side. */
struct band {
    size_t begin;
    struct sheet_table model; /* without rows */
};

struct keying {
    const struct key_plan *plan;
    const struct sheet_table *tables; /* of its first sheet, which the others are like */
    size_t table_count, band_count;
    struct band *bands;
    struct arena *arena;
    struct error *error;
};

static const struct sheet_table *table_of(const struct keying *keying, size_t sheet, size_t index)
{
    return &keying->plan->sheets[sheet].tasks[0].tables[index];
}

static bool has_rows(const struct sheet_table *table, const struct sheet_table *other)
{
    bool same = table->rows == other->rows;
    for (size_t row = 0; same && row < table->rows; row++)
        same = strcmp(table->row_labels[row], other->row_labels[row]) == 0;
    return same;
}

static size_t widest_number(const struct keying *keying, size_t index)
{
    size_t widest = 0;
    for (size_t sheet = 0; sheet < keying->plan->count; sheet++)
        widest = memory_larger(widest, table_of(keying, sheet, index)->widest);
    return widest;
}

static size_t cell_width(const struct keying *keying, size_t index)
{
    const struct sheet_table *table = &keying->tables[index];
    const size_t title = keying->plan->breaks_titles ? WORD_COLUMNS : sheet_text_columns(table->title);
    return BETWEEN - 1 + memory_larger(title, table->columns * (1 + widest_number(keying, index)) - 1);
}

/* Adds a table to the last band, or where it does not fit there, to a new one. */
static void place_table(struct keying *keying, size_t index, size_t *width)
{
    const struct sheet_table *table = &keying->tables[index];
    struct band *band = keying->bands + keying->band_count - 1;
    const size_t own = 1 + cell_width(keying, index);
    if (keying->band_count == 0 || *width + own > keying->plan->columns ||
        !has_rows(table, &keying->tables[band->begin])) {
        band = &keying->bands[keying->band_count++];
        *band = (struct band){.begin = index, .model = {.title = "", .corner = "", .group = table->rows}};
        *width = NUMBER_COLUMNS;
        for (size_t row = 0; row < table->rows; row++)
            *width = memory_larger(*width, NUMBER_COLUMNS + text_columns(table->row_labels[row]));
    }
    band->model.columns++;
    *width += own;
}

static enum status find_bands(struct keying *keying)
{
    size_t width = 0;
    keying->bands = arena_allocate(keying->arena, keying->table_count, sizeof *keying->bands, keying->error);
    for (size_t index = 0; index < keying->table_count && keying->bands != NULL; index++)
        place_table(keying, index, &width);
    for (size_t i = 0; i < keying->band_count; i++) {
        const struct band *band = &keying->bands[i];
        struct sheet_table *model = &keying->bands[i].model;
        model->corner = keying->plan->count > 1 ? "sheet" : "";
        model->column_labels =
            arena_allocate(keying->arena, model->columns, sizeof *model->column_labels, keying->error);
        model->widths = arena_allocate(keying->arena, 2 * model->columns, sizeof *model->widths, keying->error);
        if (model->column_labels == NULL || model->widths == NULL)
            return keying->error->status;
        model->numbers = model->widths + model->columns;
        for (size_t column = 0; column < model->columns; column++) {
            model->column_labels[column] = keying->tables[band->begin + column].title;
            model->numbers[column] = keying->tables[band->begin + column].columns;
            model->widths[column] = cell_width(keying, band->begin + column);
        }
    }
    return keying->error->status;
}

/* "7 the" */
static const char *label_line(const struct keying *keying, size_t sheet, const char *row)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%zu %s", sheet + 1, row);
    return keying->plan->count > 1 ? arena_copy(keying->arena, text, keying->error) : row;
}

/* The numbers of a row, each after a blank and as wide as the widest of its table; without the first blank. */
static const char *join_row(const struct keying *keying, const struct sheet_table *table, size_t row, size_t widest)
{
    char joined[TEXT_BYTES];
    struct text text = text_begin(joined, sizeof joined);
    for (size_t column = 0; column < table->columns; column++) {
        text_add(&text, "%*s", (int)(widest + (column > 0)), table->cells[row * table->columns + column]);
    }
    return arena_copy(keying->arena, joined, keying->error);
}

/* Fills in the rows of a sheet, which lie behind those of the sheets from `first` on. */
static enum status fill(const struct keying *keying, size_t begin, size_t first, size_t sheet, struct sheet_table *made)
{
    for (size_t row = 0; row < made->group; row++) {
        const size_t line = (sheet - first) * made->group + row;
        made->row_labels[line] = label_line(keying, sheet, table_of(keying, sheet, begin)->row_labels[row]);
        for (size_t column = 0; column < made->columns; column++)
            made->cells[line * made->columns + column] =
                join_row(keying, table_of(keying, sheet, begin + column), row, widest_number(keying, begin + column));
    }
    return keying->error->status;
}

static enum status make_page(const struct keying *keying, size_t first, size_t end, struct sheet *page)
{
    char name[TEXT_BYTES];
    *page = keying->plan->sheets[0];
    page->is_key = true;
    page->task_count = keying->band_count;
    page->tasks = arena_allocate(keying->arena, page->task_count, sizeof *page->tasks, keying->error);
    struct sheet_table *tables = arena_allocate(keying->arena, page->task_count, sizeof *tables, keying->error);
    snprintf(name, sizeof name, "%s, sheets %zu to %zu", page->name, first + 1, end);
    page->name = keying->plan->count > 1 ? arena_copy(keying->arena, name, keying->error) : page->name;
    for (size_t i = 0; i < page->task_count && keying->error->status == STATUS_OK; i++) {
        struct sheet_table *made = &tables[i];
        *made = keying->bands[i].model;
        made->rows = (end - first) * made->group;
        page->tasks[i] = (struct sheet_task){.begins = true, .tables = made, .count = 1};
        made->row_labels = arena_allocate(keying->arena, made->rows, sizeof *made->row_labels, keying->error);
        made->cells = arena_allocate(keying->arena, made->rows * made->columns, sizeof *made->cells, keying->error);
        for (size_t sheet = first; sheet < end && keying->error->status == STATUS_OK; sheet++)
            if (fill(keying, keying->bands[i].begin, first, sheet, made) != STATUS_OK)
                return keying->error->status;
    }
    return keying->error->status;
}

enum status key_make(const struct key_plan *plan, struct sheet **pages, size_t *count, struct arena *arena,
                     struct error *error)
{
    const struct sheet *sheet = &plan->sheets[0];
    struct keying keying = {.plan = plan, .tables = sheet->tasks[0].tables, .arena = arena, .error = error};
    size_t lines = 0;
    for (size_t task = 0; task < sheet->task_count; task++)
        keying.table_count += sheet->tasks[task].count;
    if (find_bands(&keying) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < keying.band_count; i++)
        lines += keying.bands[i].model.group;
    const size_t room = memory_larger(plan->lines / memory_larger(lines, 1), 1);
    *count = (plan->count + room - 1) / room;
    *pages = arena_allocate(arena, *count, sizeof **pages, error);
    for (size_t i = 0; i < *count && error->status == STATUS_OK; i++)
        make_page(&keying, i * room, memory_smaller((i + 1) * room, plan->count), &(*pages)[i]);
    return error->status;
}
