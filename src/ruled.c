#include "ruled.h"

#include "text.h"

#include <math.h>
#include <string.h>

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* What stands for the character, which takes *length bytes of the text; NULL: itself. */
static const char *escape_of(const struct ruled *ruled, const char *character, size_t *length)
{
    const unsigned char byte = (unsigned char)*character;
    const bool blank = ruled->dialect->blank != NULL && strncmp(character, TEXT_BLANK, strlen(TEXT_BLANK)) == 0;
    *length = blank ? strlen(TEXT_BLANK) : 1;
    if (blank)
        return ruled->dialect->blank;
    return byte < RULED_CHARACTERS ? ruled->dialect->escapes[byte] : NULL;
}

void ruled_write_escaped(const struct ruled *ruled, const char *text)
{
    for (size_t length; *text != '\0'; text += length) {
        const char *escape = escape_of(ruled, text, &length);
        if (escape != NULL)
            output_write(ruled->output, escape, strlen(escape));
        else
            output_write(ruled->output, text, 1);
    }
}

static void copy_escaped(const struct ruled *ruled, const char *shown, char *cell)
{
    struct text text = text_begin(cell, RULED_CELL_BYTES);
    for (size_t taken; *shown != '\0'; shown += taken) {
        const char *escape = escape_of(ruled, shown, &taken);
        if (escape != NULL)
            text_add(&text, "%s", escape);
        else
            text_add(&text, "%c", *shown);
    }
}

/* What stands before a row or above a column, into text (RULED_CELL_BYTES). */
static void label_text(const struct ruled *ruled, enum axis axis, size_t index, char *text)
{
    char shown[SHOWN_LABEL_BYTES];
    shown_label(ruled->result, axis, ruled->item, index, shown);
    copy_escaped(ruled, shown, text);
}

static void row_label(const struct ruled *ruled, size_t row, char *text)
{
    text[0] = '\0';
    if (ruled->table->rank > 1)
        label_text(ruled, result_row_axis(ruled->table), row, text);
}

void ruled_number(const struct ruled *ruled, double number, char *text)
{
    if (isnan(number))
        strcpy(text, "NaN");
    else
        shown_number(ruled->table->dtype, (struct shown_style){ruled->precision, ruled->exponent}, number, text);
}

static void write_cell(const struct ruled *ruled, const char *text, size_t width, bool right)
{
    shown_cell(ruled->output, text, text_columns(text), width, right);
}

void ruled_write_place(const struct ruled *ruled, const char *times)
{
    const struct result_table *table = ruled->table;
    size_t item, head;
    result_place(table, ruled->matrix, &item, &head);
    output_write(ruled->output, " (", 2);
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        if (table->axes[axis] == AXIS_ITEM)
            output_print(ruled->output, "item %zu, ", item + 1);
        else if (table->axes[axis] == AXIS_HEAD)
            output_print(ruled->output, "head %zu, ", head + 1);
    if (table->rank > 1)
        output_print(ruled->output, "%zu%s", result_rows(table), times);
    output_print(ruled->output, "%zu)", result_columns(table));
}

/* --- what the numbers take --------------------------------------------------------------------------------------- */

/* The numbers of a table that decide on its notation and its width. */
struct extremes {
    double smallest, largest; /* of the finite ones */
    double least;             /* magnitude of those that are not 0: it has the longest exponent */
    bool negative_zero, nan, infinite;
};

static void note_number(struct extremes *extremes, double number)
{
    extremes->nan |= isnan(number);
    extremes->infinite |= isinf(number);
    extremes->negative_zero |= number == 0 && signbit(number);
    if (isfinite(number)) {
        extremes->smallest = fmin(extremes->smallest, number);
        extremes->largest = fmax(extremes->largest, number);
        extremes->least = number != 0 ? fmin(extremes->least, fabs(number)) : extremes->least;
    }
}

static void note_matrix(const struct ruled *ruled, size_t matrix, struct extremes *extremes)
{
    const size_t rows = result_rows(ruled->table), columns = result_columns(ruled->table);
    double *numbers = ruled->result->numbers;
    for (size_t i = 0; i < result_shown_count(rows, ruled->full); i++) {
        size_t row, column;
        if (!result_shown_index(rows, ruled->full, i, &row))
            continue;
        result_row(ruled->result, ruled->table, matrix, row, numbers);
        for (size_t c = 0; c < ruled->column_count; c++)
            if (result_shown_index(columns, ruled->full, c, &column))
                note_number(extremes, numbers[column]);
    }
}

static void widen(struct ruled *ruled, double number)
{
    char text[RULED_CELL_BYTES];
    ruled->dialect->number(ruled, number, text);
    ruled->number_width = memory_larger(ruled->number_width, text_columns(text));
}

/* One notation and one width of numbers for all matrices of the table. */
static void measure_numbers(struct ruled *ruled)
{
    struct extremes extremes = {.least = INFINITY};
    for (size_t matrix = 0; matrix < result_matrices(ruled->table); matrix++)
        note_matrix(ruled, matrix, &extremes);
    ruled->exponent = text_wants_exponent(fmax(-extremes.smallest, extremes.largest));
    ruled->number_width = 0;
    widen(ruled, extremes.smallest);
    widen(ruled, extremes.largest);
    if (isfinite(extremes.least))
        widen(ruled, copysign(extremes.least, extremes.smallest));
    if (extremes.negative_zero)
        widen(ruled, -0.0);
    if (extremes.nan)
        widen(ruled, NAN);
    if (extremes.infinite)
        widen(ruled, -INFINITY);
}

static void measure_row_labels(struct ruled *ruled)
{
    const size_t rows = result_rows(ruled->table);
    char text[RULED_CELL_BYTES];
    size_t index;
    ruled->label_width = 0;
    for (size_t i = 0; i < result_shown_count(rows, ruled->full); i++) {
        const char *label = ruled->dialect->gaps[true][false];
        if (result_shown_index(rows, ruled->full, i, &index)) {
            row_label(ruled, index, text);
            label = text;
        }
        ruled->label_width = memory_larger(ruled->label_width, text_columns(label));
    }
}

static void measure_columns(struct ruled *ruled)
{
    const struct result_table *table = ruled->table;
    const bool gap = result_shown_count(result_rows(table), ruled->full) < result_rows(table);
    const size_t least = gap ? text_columns(ruled->dialect->gaps[true][false]) : 0;
    char text[RULED_CELL_BYTES];
    size_t index;
    for (size_t c = 0; c < ruled->column_count; c++) {
        ruled->widths[c] = text_columns(ruled->dialect->gaps[false][true]);
        if (result_shown_index(result_columns(table), ruled->full, c, &index)) {
            label_text(ruled, result_column_axis(table), index, text);
            ruled->widths[c] = memory_larger(least, memory_larger(ruled->number_width, text_columns(text)));
        }
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* The row of column labels where numbers is NULL; else a row of numbers, or of the gap between rows. */
static void write_row(const struct ruled *ruled, const char *label, const double *numbers, bool gap)
{
    const struct ruled_dialect *dialect = ruled->dialect;
    char text[RULED_CELL_BYTES];
    output_print(ruled->output, "%s", dialect->row_begin);
    write_cell(ruled, label, ruled->label_width, false);
    for (size_t c = 0; c < ruled->column_count; c++) {
        size_t column;
        const char *cell = text;
        const bool shown = result_shown_index(result_columns(ruled->table), ruled->full, c, &column);
        if (gap || !shown)
            cell = dialect->gaps[gap][!shown];
        else if (numbers == NULL)
            label_text(ruled, result_column_axis(ruled->table), column, text);
        else
            dialect->number(ruled, numbers[column], text);
        output_print(ruled->output, "%s", dialect->between);
        write_cell(ruled, cell, ruled->widths[c], true);
    }
    output_print(ruled->output, "%s", dialect->row_end);
}

static void write_matrix(struct ruled *ruled)
{
    const size_t rows = result_rows(ruled->table);
    double *numbers = ruled->result->numbers;
    char label[RULED_CELL_BYTES];
    ruled->dialect->begin(ruled);
    write_row(ruled, "", NULL, false);
    ruled->dialect->rule(ruled);
    for (size_t i = 0; i < result_shown_count(rows, ruled->full) && !ruled->output->failed; i++) {
        size_t row;
        if (!result_shown_index(rows, ruled->full, i, &row)) {
            write_row(ruled, ruled->dialect->gaps[true][false], numbers, true);
            continue;
        }
        result_row(ruled->result, ruled->table, ruled->matrix, row, numbers);
        row_label(ruled, row, label);
        write_row(ruled, label, numbers, false);
    }
    ruled->dialect->end(ruled);
}

static void write_table(struct ruled *ruled, bool first)
{
    size_t head;
    ruled->column_count = result_shown_count(result_columns(ruled->table), ruled->full);
    measure_numbers(ruled);
    for (ruled->matrix = 0; ruled->matrix < result_matrices(ruled->table) && !ruled->output->failed; ruled->matrix++) {
        result_place(ruled->table, ruled->matrix, &ruled->item, &head);
        measure_row_labels(ruled);
        measure_columns(ruled);
        if (!first || ruled->matrix > 0)
            output_write(ruled->output, "\n", 1);
        write_matrix(ruled);
    }
}

enum status ruled_write(struct result *result, const struct ruled_dialect *dialect, int precision, bool full,
                        struct output *output, struct arena *arena, struct error *error)
{
    struct ruled ruled = {.result = result, .dialect = dialect, .output = output, .precision = precision, .full = full};
    bool first = true;
    ruled.widths = arena_allocate(arena, result_shown_count(result->widest, full), sizeof *ruled.widths, error);
    if (ruled.widths == NULL)
        return error->status;
    for (size_t i = 0; i < result->table_count; i++) {
        ruled.table = &result->tables[i];
        if (!result_is_shown(result, ruled.table))
            continue;
        write_table(&ruled, first);
        first = false;
    }
    return STATUS_OK;
}
