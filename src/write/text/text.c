#include "write/text/text.h"

#include "base/text.h"
#include "write/head_lines.h"
#include "write/table_text.h"
#include "write/text/heatmap.h"

#include <math.h>
#include <string.h>

enum {
    SHAPE_COLUMN = 52,
    HEADING_INDENT = 4, /* of its further lines */
};

static const char GAP[] = "...";

/* What is drawn for a terminal stays within it, and so do the words around. */
static size_t words_columns(const struct writing *writing)
{
    return writing->heatmap ? memory_smaller(output_columns(writing->output), WRAP_COLUMNS) : WRAP_COLUMNS;
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

/* What a column of numbers holds, and the width that it takes. */
struct column {
    double smallest, largest; /* of the finite ones */
    bool special;
    size_t width;
};

/* One matrix of a table on its way to the page. */
struct sheet {
    struct result *result;
    const struct result_table *table;
    const struct writing *writing;
    struct output *output;
    size_t matrix, item;
    size_t indent, label_width;
    bool exponent;
    double *numbers;                                   /* (columns) one row */
    struct column *columns;                            /* (shown columns) */
    double kept[RESULT_ELIDED + 1][RESULT_ELIDED + 1]; /* what an elided matrix shows, as it was measured */
};

static size_t shown_count(const struct sheet *sheet, size_t count)
{
    return result_shown_count(count, sheet->writing->full);
}

static bool shown_index(const struct sheet *sheet, size_t count, size_t i, size_t *index)
{
    return result_shown_index(count, sheet->writing->full, i, index);
}

/* Rows and columns of features have no label. */
static size_t label_text(const struct sheet *sheet, enum axis axis, size_t index, char *text)
{
    text[0] = '\0';
    return axis == AXIS_COLUMN ? 0 : table_text_label(sheet->result, axis, sheet->item, index, text);
}

static const char *number_text(const struct sheet *sheet, double number, char *text)
{
    const struct table_text_style style = {sheet->writing->precision, sheet->exponent};
    return table_text_number(sheet->table->dtype, style, number, text);
}

static void note_number(struct column *column, double number)
{
    if (!isfinite(number)) {
        column->special = true;
        return;
    }
    column->smallest = number < column->smallest ? number : column->smallest;
    column->largest = number > column->largest ? number : column->largest;
}

/* The first pass over the rows that are shown: the smallest and largest of each column, the widest label. */
static void measure_rows(struct sheet *sheet)
{
    const size_t rows = result_rows(sheet->table), columns = result_columns(sheet->table);
    char label[TABLE_TEXT_LABEL_BYTES];
    for (size_t c = 0; c < shown_count(sheet, columns); c++)
        sheet->columns[c] = (struct column){0};
    sheet->label_width = 0;
    for (size_t i = 0; i < shown_count(sheet, rows); i++) {
        size_t row, index;
        size_t width = strlen(GAP);
        if (shown_index(sheet, rows, i, &row)) {
            result_row(sheet->result, sheet->table, sheet->matrix, row, sheet->numbers);
            for (size_t c = 0; c < shown_count(sheet, columns); c++) {
                if (!shown_index(sheet, columns, c, &index))
                    continue;
                note_number(&sheet->columns[c], sheet->numbers[index]);
                if (!sheet->writing->full)
                    sheet->kept[i][c] = sheet->numbers[index];
            }
            width = label_text(sheet, result_row_axis(sheet->table), row, label);
        }
        if (result_row_axis(sheet->table) != AXIS_COLUMN && width > sheet->label_width)
            sheet->label_width = width;
    }
}

static void measure_columns(struct sheet *sheet)
{
    const size_t columns = result_columns(sheet->table);
    char text[TABLE_TEXT_NUMBER_BYTES], label[TABLE_TEXT_LABEL_BYTES];
    for (size_t c = 0; c < shown_count(sheet, columns); c++) {
        struct column *column = &sheet->columns[c];
        size_t index;
        if (!shown_index(sheet, columns, c, &index)) {
            column->width = strlen(GAP);
            continue;
        }
        column->width = memory_larger(strlen(number_text(sheet, column->smallest, text)),
                                      strlen(number_text(sheet, column->largest, text)));
        if (column->special)
            column->width = memory_larger(column->width, strlen("-inf"));
        column->width = memory_larger(column->width, label_text(sheet, result_column_axis(sheet->table), index, label));
    }
}

/* The tokens above their columns. */
static void write_column_labels(const struct sheet *sheet)
{
    const size_t columns = result_columns(sheet->table);
    char label[TABLE_TEXT_LABEL_BYTES];
    table_text_blanks(sheet->output, sheet->indent + sheet->label_width);
    for (size_t c = 0; c < shown_count(sheet, columns); c++) {
        size_t index, taken = strlen(GAP);
        if (shown_index(sheet, columns, c, &index))
            taken = label_text(sheet, result_column_axis(sheet->table), index, label);
        else
            strcpy(label, GAP);
        table_text_blanks(sheet->output, 2);
        table_text_cell(sheet->output, label, taken, sheet->columns[c].width, true);
    }
    output_write(sheet->output, "\n", 1);
}

/* One row: the numbers of its shown columns. */
static void write_numbers(const struct sheet *sheet, size_t row, const double *shown)
{
    const size_t columns = result_columns(sheet->table);
    const bool labelled = sheet->label_width > 0;
    struct result_mask mask = {0}; /* what it forbids is dim */
    char text[TABLE_TEXT_NUMBER_BYTES];
    if (sheet->writing->color)
        mask = result_mask_of(sheet->result, sheet->table, sheet->matrix, row);
    for (size_t c = 0; c < shown_count(sheet, columns); c++) {
        size_t index;
        const bool number = shown_index(sheet, columns, c, &index);
        const bool dim = number && result_masks(&mask, index);
        const char *cell = number ? number_text(sheet, shown[c], text) : GAP;
        table_text_blanks(sheet->output, c > 0 || labelled ? 2 : 0);
        if (dim)
            output_print(sheet->output, "%s", TEXT_DIM);
        table_text_cell(sheet->output, cell, strlen(cell), sheet->columns[c].width, true);
        if (dim)
            output_print(sheet->output, "%s", TEXT_PLAIN);
    }
}

static void write_rows(struct sheet *sheet)
{
    const size_t rows = result_rows(sheet->table);
    char label[TABLE_TEXT_LABEL_BYTES];
    for (size_t i = 0; i < shown_count(sheet, rows) && !sheet->output->failed; i++) {
        size_t row;
        table_text_blanks(sheet->output, sheet->indent);
        if (!shown_index(sheet, rows, i, &row)) {
            output_print(sheet->output, "%s\n", GAP);
            continue;
        }
        size_t taken = label_text(sheet, result_row_axis(sheet->table), row, label);
        table_text_cell(sheet->output, label, taken, sheet->label_width, false);
        if (sheet->writing->full)
            result_row(sheet->result, sheet->table, sheet->matrix, row, sheet->numbers);
        write_numbers(sheet, row, sheet->writing->full ? sheet->numbers : sheet->kept[i]);
        output_write(sheet->output, "\n", 1);
    }
}

/* "2 items of 2 heads of 6 x 6" */
static void shape_text(const struct result_table *table, char *shape, size_t size)
{
    struct text text = text_begin(shape, size);
    for (size_t axis = 0; axis + 2 < table->rank && table->axes[axis] <= AXIS_HEAD; axis++)
        text_add(&text, "%zu %s%s of ", table->shape[axis], table->axes[axis] == AXIS_ITEM ? "item" : "head",
                 table->shape[axis] == 1 ? "" : "s");
    if (table->rank == 1)
        text_add(&text, "%zu", table->shape[0]);
    else
        text_add(&text, "%zu x %zu", result_rows(table), result_columns(table));
}

/* The shape behind the heading, at the same column for all tables where the terminal has room for that; beneath a
 * heading that is long, and in several lines where it is itself wider than the terminal. */
static void write_shape(const struct sheet *sheet, struct wrap line)
{
    char shape[128];
    shape_text(sheet->table, shape, sizeof shape);
    const size_t length = strlen(shape), room = sheet->writing->heatmap ? output_columns(sheet->output) : SIZE_MAX;
    if (length + line.indent > room) {
        output_print(sheet->output, "\n%*s", (int)line.indent, "");
        line.column = line.indent;
        wrap_words(&line, shape);
        return;
    }
    const size_t place = memory_smaller(room - length, SHAPE_COLUMN);
    if (line.column + 2 > place && line.column + 2 + length > line.columns) {
        output_write(sheet->output, "\n", 1);
        line.column = 0;
    }
    table_text_blanks(sheet->output, line.column + 2 < place ? place - line.column : 2);
    output_print(sheet->output, "%s", shape);
}

static void write_heading(const struct sheet *sheet)
{
    const struct result_table *table = sheet->table;
    struct wrap line = {.output = sheet->output, .columns = words_columns(sheet->writing), .indent = HEADING_INDENT};
    char heading[RESULT_FORMULA_BYTES + 64];
    snprintf(heading, sizeof heading, "%s%s%s", table->name, table->formula[0] ? " = " : "", table->formula);
    output_print(sheet->output, "\n%s", sheet->writing->color ? TEXT_BOLD : "");
    wrap_words(&line, heading);
    output_print(sheet->output, "%s", sheet->writing->color ? TEXT_PLAIN : "");
    write_shape(sheet, line);
    output_write(sheet->output, "\n", 1);
}

/* "  item 1, head 2" above its matrix. */
static void write_place(struct sheet *sheet)
{
    const struct result_table *table = sheet->table;
    size_t item, head;
    result_place(table, sheet->matrix, &item, &head);
    sheet->item = item;
    sheet->indent = 2;
    if (table->rank <= 2)
        return;
    const bool of_items = table->axes[0] == AXIS_ITEM, of_heads = table->axes[table->rank - 3] == AXIS_HEAD;
    sheet->indent = 4;
    if (of_items)
        output_print(sheet->output, "  item %zu%s", item + 1, of_heads ? ", " : "\n");
    if (of_heads)
        output_print(sheet->output, "%shead %zu\n", of_items ? "" : "  ", head + 1);
}

/* %e or fixed, for all matrices of the table. */
static void choose_notation(struct sheet *sheet)
{
    double magnitude = 0;
    for (sheet->matrix = 0; sheet->matrix < result_matrices(sheet->table); sheet->matrix++) {
        measure_rows(sheet);
        for (size_t c = 0; c < shown_count(sheet, result_columns(sheet->table)); c++)
            magnitude = fmax(magnitude, fmax(-sheet->columns[c].smallest, sheet->columns[c].largest));
    }
    sheet->exponent = text_wants_exponent(magnitude);
}

static void write_table(struct sheet *sheet)
{
    const struct result_table *table = sheet->table;
    const size_t matrices = result_matrices(table);
    write_heading(sheet);
    choose_notation(sheet);
    for (sheet->matrix = 0; sheet->matrix < matrices && !sheet->output->failed; sheet->matrix++) {
        write_place(sheet);
        if (matrices > 1)
            measure_rows(sheet);
        measure_columns(sheet);
        if (result_column_axis(table) != AXIS_COLUMN)
            write_column_labels(sheet);
        write_rows(sheet);
    }
}

static enum status create_sheet(struct sheet *sheet, const struct writing *writing)
{
    struct result *result = writing->result;
    *sheet =
        (struct sheet){.result = result, .writing = writing, .output = writing->output, .numbers = result->numbers};
    sheet->columns =
        arena_allocate(writing->arena, shown_count(sheet, result->widest), sizeof *sheet->columns, writing->error);
    return sheet->columns == NULL ? writing->error->status : STATUS_OK;
}

enum status write_text_tables(const struct writing *writing, enum stage stage)
{
    struct sheet sheet;
    if (create_sheet(&sheet, writing) != STATUS_OK)
        return writing->error->status;
    for (size_t i = 0; i < writing->result->table_count; i++) {
        sheet.table = &writing->result->tables[i];
        if (sheet.table->stage == stage)
            write_table(&sheet);
    }
    return STATUS_OK;
}

enum status write_plain_text(const struct writing *writing)
{
    const struct result *result = writing->result;
    struct sheet sheet;
    if (create_sheet(&sheet, writing) != STATUS_OK)
        return writing->error->status;
    head_lines_write(result->problem, words_columns(writing), writing->color, writing->output);
    for (size_t i = 0; i < result->table_count; i++) {
        sheet.table = &result->tables[i];
        if (!result_is_shown(result, sheet.table))
            continue;
        if (!writing->heatmap || !stage_is_square(sheet.table->stage)) {
            write_table(&sheet);
            continue;
        }
        write_heading(&sheet);
        if (write_heatmap(writing, sheet.table) != STATUS_OK)
            return writing->error->status;
    }
    return STATUS_OK;
}
