#include "write/table_markup.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* What stands for the character, which takes *length bytes of the text; NULL: itself. */
static const char *escape_of(const struct table_markup *markup, const char *character, size_t *length)
{
    const unsigned char byte = (unsigned char)*character;
    const bool blank = markup->dialect->blank != NULL && strncmp(character, TEXT_BLANK, strlen(TEXT_BLANK)) == 0;
    *length = blank ? strlen(TEXT_BLANK) : 1;
    if (blank)
        return markup->dialect->blank;
    return byte < TABLE_MARKUP_CHARACTERS ? markup->dialect->escapes[byte] : NULL;
}

void table_markup_write_escaped(const struct table_markup *markup, const char *text)
{
    for (size_t length; *text != '\0'; text += length) {
        const char *escape = escape_of(markup, text, &length);
        if (escape != NULL)
            output_write(markup->output, escape, strlen(escape));
        else
            output_write(markup->output, text, 1);
    }
}

static void copy_escaped(const struct table_markup *markup, const char *shown, char *cell)
{
    struct text text = text_begin(cell, TABLE_MARKUP_CELL_BYTES);
    for (size_t taken; *shown != '\0'; shown += taken) {
        const char *escape = escape_of(markup, shown, &taken);
        if (escape != NULL)
            text_add(&text, "%s", escape);
        else
            text_add(&text, "%c", *shown);
    }
}

/* What stands before a row or above a column, into text (TABLE_MARKUP_CELL_BYTES). */
static void label_text(const struct table_markup *markup, enum axis axis, size_t index, char *text)
{
    char shown[TABLE_TEXT_LABEL_BYTES];
    table_text_label(markup->result, axis, markup->item, index, shown);
    copy_escaped(markup, shown, text);
}

static void row_label(const struct table_markup *markup, size_t row, char *text)
{
    text[0] = '\0';
    if (markup->table->rank > 1)
        label_text(markup, result_row_axis(markup->table), row, text);
}

void table_markup_number(const struct table_markup *markup, double number, char *text)
{
    if (isnan(number))
        strcpy(text, "NaN");
    else
        table_text_number(markup->table->dtype, (struct table_text_style){markup->precision, markup->exponent}, number,
                          text);
}

static void write_cell(const struct table_markup *markup, const char *text, size_t width, bool right)
{
    table_text_cell(markup->output, text, text_columns(text), width, right);
}

void table_markup_write_place(const struct table_markup *markup, const char *times)
{
    const struct result_table *table = markup->table;
    size_t item, head;
    result_place(table, markup->matrix, &item, &head);
    output_write(markup->output, " (", 2);
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        if (table->axes[axis] == AXIS_ITEM)
            output_print(markup->output, "item %zu, ", item + 1);
        else if (table->axes[axis] == AXIS_HEAD)
            output_print(markup->output, "head %zu, ", head + 1);
    if (table->rank > 1)
        output_print(markup->output, "%zu%s", result_rows(table), times);
    output_print(markup->output, "%zu)", result_columns(table));
}

/* --- what the numbers take --------------------------------------------------------------------------------------- */

/* The numbers of a table that decide on its notation and its width. */
struct extremes {
    double smallest, largest; /* of the finite ones */
    double least;             /* magnitude of those that are not 0: it has the longest exponent */
    bool nan, infinite;
};

static void note_number(struct extremes *extremes, double number)
{
    extremes->nan |= isnan(number);
    extremes->infinite |= isinf(number);
    if (isfinite(number)) {
        extremes->smallest = fmin(extremes->smallest, number);
        extremes->largest = fmax(extremes->largest, number);
        extremes->least = number != 0 ? fmin(extremes->least, fabs(number)) : extremes->least;
    }
}

static void note_matrix(const struct table_markup *markup, size_t matrix, struct extremes *extremes)
{
    const size_t rows = result_rows(markup->table), columns = result_columns(markup->table);
    double *numbers = markup->result->numbers;
    for (size_t i = 0; i < result_shown_count(rows, markup->full); i++) {
        size_t row, column;
        if (!result_shown_index(rows, markup->full, i, &row))
            continue;
        result_row(markup->result, markup->table, matrix, row, numbers);
        for (size_t c = 0; c < markup->column_count; c++)
            if (result_shown_index(columns, markup->full, c, &column))
                note_number(extremes, numbers[column]);
    }
}

static void widen(struct table_markup *markup, double number)
{
    char text[TABLE_MARKUP_CELL_BYTES];
    markup->dialect->number(markup, number, text);
    markup->number_width = memory_larger(markup->number_width, text_columns(text));
}

/* One notation and one width of numbers for all matrices of the table. */
static void measure_numbers(struct table_markup *markup)
{
    struct extremes extremes = {.least = INFINITY};
    for (size_t matrix = 0; matrix < result_matrices(markup->table); matrix++)
        note_matrix(markup, matrix, &extremes);
    markup->exponent = text_wants_exponent(fmax(-extremes.smallest, extremes.largest));
    markup->number_width = 0;
    widen(markup, extremes.smallest);
    widen(markup, extremes.largest);
    if (isfinite(extremes.least))
        widen(markup, copysign(extremes.least, extremes.smallest));
    if (extremes.nan)
        widen(markup, NAN);
    if (extremes.infinite)
        widen(markup, -INFINITY);
}

static void measure_row_labels(struct table_markup *markup)
{
    const size_t rows = result_rows(markup->table);
    char text[TABLE_MARKUP_CELL_BYTES];
    size_t index;
    markup->label_width = 0;
    for (size_t i = 0; i < result_shown_count(rows, markup->full); i++) {
        const char *label = markup->dialect->gaps[true][false];
        if (result_shown_index(rows, markup->full, i, &index)) {
            row_label(markup, index, text);
            label = text;
        }
        markup->label_width = memory_larger(markup->label_width, text_columns(label));
    }
}

static void measure_columns(struct table_markup *markup)
{
    const struct result_table *table = markup->table;
    char text[TABLE_MARKUP_CELL_BYTES];
    size_t index;
    const bool gap = !result_shown_index(result_rows(table), markup->full, RESULT_ELIDED / 2, &index);
    const size_t least = gap ? text_columns(markup->dialect->gaps[true][false]) : 0;
    for (size_t c = 0; c < markup->column_count; c++) {
        markup->widths[c] = text_columns(markup->dialect->gaps[false][true]);
        if (result_shown_index(result_columns(table), markup->full, c, &index)) {
            label_text(markup, result_column_axis(table), index, text);
            markup->widths[c] = memory_larger(least, memory_larger(markup->number_width, text_columns(text)));
        }
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* The row of column labels where numbers is NULL; else a row of numbers, or of the gap between rows. */
static void write_row(const struct table_markup *markup, const char *label, const double *numbers, bool gap)
{
    const struct table_markup_dialect *dialect = markup->dialect;
    char text[TABLE_MARKUP_CELL_BYTES];
    output_print(markup->output, "%s", dialect->row_begin);
    write_cell(markup, label, markup->label_width, false);
    for (size_t c = 0; c < markup->column_count; c++) {
        size_t column;
        const char *cell = text;
        const bool shown = result_shown_index(result_columns(markup->table), markup->full, c, &column);
        if (gap || !shown)
            cell = dialect->gaps[gap][!shown];
        else if (numbers == NULL)
            label_text(markup, result_column_axis(markup->table), column, text);
        else
            dialect->number(markup, numbers[column], text);
        output_print(markup->output, "%s", dialect->between);
        write_cell(markup, cell, markup->widths[c], true);
    }
    output_print(markup->output, "%s", dialect->row_end);
}

static void write_matrix(struct table_markup *markup)
{
    const size_t rows = result_rows(markup->table);
    double *numbers = markup->result->numbers;
    char label[TABLE_MARKUP_CELL_BYTES];
    markup->dialect->begin(markup);
    write_row(markup, "", NULL, false);
    markup->dialect->rule(markup);
    for (size_t i = 0; i < result_shown_count(rows, markup->full) && !markup->output->failed; i++) {
        size_t row;
        if (!result_shown_index(rows, markup->full, i, &row)) {
            write_row(markup, markup->dialect->gaps[true][false], numbers, true);
            continue;
        }
        result_row(markup->result, markup->table, markup->matrix, row, numbers);
        row_label(markup, row, label);
        write_row(markup, label, numbers, false);
    }
    markup->dialect->end(markup);
}

static void write_table(struct table_markup *markup, bool first)
{
    size_t head;
    markup->column_count = result_shown_count(result_columns(markup->table), markup->full);
    measure_numbers(markup);
    for (markup->matrix = 0; markup->matrix < result_matrices(markup->table) && !markup->output->failed;
         markup->matrix++) {
        result_place(markup->table, markup->matrix, &markup->item, &head);
        measure_row_labels(markup);
        measure_columns(markup);
        if (!first || markup->matrix > 0)
            output_write(markup->output, "\n", 1);
        write_matrix(markup);
    }
}

enum status table_markup_write(const struct writing *writing, const struct table_markup_dialect *dialect)
{
    struct result *result = writing->result;
    struct table_markup markup = {.result = result,
                                  .dialect = dialect,
                                  .output = writing->output,
                                  .precision = writing->precision,
                                  .full = writing->full};
    const size_t columns = result_shown_count(result->widest, writing->full);
    bool first = true;
    markup.widths = arena_allocate(writing->arena, columns, sizeof *markup.widths, writing->error);
    if (markup.widths == NULL)
        return writing->error->status;
    for (size_t i = 0; i < result->table_count; i++) {
        markup.table = &result->tables[i];
        if (!result_is_shown(result, markup.table))
            continue;
        write_table(&markup, first);
        first = false;
    }
    return STATUS_OK;
}
