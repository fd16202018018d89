/* SPDX-License-Identifier: MIT */
#include "diff/report.h"

#include <math.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 12,
    HEAD_COLUMNS = 8, /* of a token above a column, more where its numbers are wider */
    LABEL_BYTES = 4 * LABEL_COLUMNS + 64,
    CELL_BYTES = 352,  /* of the largest double in fixed decimals */
    MOST_DECIMALS = 9, /* that are added where two numbers would look the same */
    INDENT = 2,
};

/* A matrix of A and the same one of B. */
struct matrix_pair {
    const struct report *report;
    const struct diff_stage *stage;
    size_t first, rows, columns; /* its first element */
    int decimals;
    bool exponent;
    size_t label_width, cell_width;
};

/* --- one cell ---------------------------------------------------------------------------------------------------- */

static const char *cell_text(const struct matrix_pair *pair, bool of_b, double number, char *text)
{
    const enum dtype dtype = of_b ? pair->stage->dtype_b : pair->stage->dtype_a;
    if (dtype_is_boolean(dtype))
        return strcpy(text, number != 0 ? "true" : "false");
    const bool whole = dtype_is_whole(dtype);
    return text_number(text, CELL_BYTES, whole ? 0 : pair->decimals, !whole && pair->exponent, number);
}

static double number_of(const struct matrix_pair *pair, bool of_b, size_t element)
{
    double a, b;
    diff_numbers(pair->stage, element, 1, &a, &b);
    return of_b ? b : a;
}

/* The star before a number of B that differs takes a blank between cells. */
static void write_cell(const struct matrix_pair *pair, bool of_b, size_t element)
{
    struct output *output = pair->report->output;
    char text[CELL_BYTES];
    const char *shown = cell_text(pair, of_b, number_of(pair, of_b, element), text);
    const bool marked = of_b && diff_differs(pair->stage, element, 1), bold = marked && pair->report->color;
    const size_t length = strlen(shown);
    output_print(output, "%*s%s%s%s%s", (int)memory_left(pair->cell_width + 1, length), "", bold ? TEXT_BOLD : "",
                 marked ? "*" : " ", shown, bold ? TEXT_PLAIN : "");
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* The token of a row (of its first element), or its number; returns its width in columns. */
static size_t row_label(const struct matrix_pair *pair, size_t row, char *label)
{
    struct diff_step steps[TENSOR_RANK];
    const size_t rank = diff_locate(pair->report->diff, pair->stage, pair->first + row * pair->columns, steps);
    const struct diff_step *step = rank > 1 ? &steps[rank - 2] : NULL;
    if (step != NULL && step->token != NULL)
        return text_cut(step->token, LABEL_COLUMNS, label, LABEL_BYTES);
    return (size_t)snprintf(label, LABEL_BYTES, "%zu", step != NULL ? step->position : row + 1);
}

static const char *column_token(const struct matrix_pair *pair, size_t column)
{
    struct diff_step steps[TENSOR_RANK];
    const size_t rank = diff_locate(pair->report->diff, pair->stage, pair->first + column, steps);
    return steps[rank - 1].token;
}

static void write_column_labels(const struct matrix_pair *pair)
{
    char label[CELL_BYTES];
    for (size_t column = 0; column < pair->columns; column++) {
        const char *token = column_token(pair, column);
        const size_t taken = text_cut(token != NULL ? token : "", pair->cell_width, label, sizeof label);
        output_print(pair->report->output, "%*s%s", (int)memory_left(pair->cell_width + 2, taken), "", label);
    }
}

static void write_row_label(const struct matrix_pair *pair, const char *label, size_t taken)
{
    output_print(pair->report->output, "%*s%s%*s", INDENT, "", label, (int)memory_left(pair->label_width, taken), "");
}

/* --- the two of them --------------------------------------------------------------------------------------------- */

static void measure_numbers(struct matrix_pair *pair)
{
    const size_t count = pair->rows * pair->columns;
    double largest = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const double number = number_of(pair, i >= count, pair->first + i % count);
        largest = isfinite(number) ? fmax(largest, fabs(number)) : largest;
    }
    pair->exponent = largest > 0 && text_wants_exponent(largest);
}

/* Adds decimals where the two that differ most would look the same. */
static void choose_decimals(struct matrix_pair *pair)
{
    const struct comparison *comparison = &pair->stage->comparison;
    char in_a[CELL_BYTES], in_b[CELL_BYTES];
    while (pair->decimals < MOST_DECIMALS && strcmp(cell_text(pair, false, comparison->worst_a, in_a),
                                                    cell_text(pair, true, comparison->worst_b, in_b)) == 0)
        pair->decimals++;
}

static void measure_widths(struct matrix_pair *pair)
{
    const size_t count = pair->rows * pair->columns;
    char text[CELL_BYTES], label[LABEL_BYTES];
    for (size_t i = 0; i < 2 * count; i++) {
        const bool of_b = i >= count;
        const char *shown = cell_text(pair, of_b, number_of(pair, of_b, pair->first + i % count), text);
        pair->cell_width = memory_larger(pair->cell_width, strlen(shown));
    }
    for (size_t column = 0; column < pair->columns; column++) {
        const char *token = column_token(pair, column);
        const size_t width = token != NULL ? text_cut(token, HEAD_COLUMNS, label, sizeof label) : 0;
        pair->cell_width = memory_larger(pair->cell_width, width);
    }
    for (size_t row = 0; row < pair->rows; row++)
        pair->label_width = memory_larger(pair->label_width, row_label(pair, row, label));
}

static void write_numbers(const struct matrix_pair *pair, bool of_b, size_t row)
{
    for (size_t column = 0; column < pair->columns; column++)
        write_cell(pair, of_b, pair->first + row * pair->columns + column);
}

/* A alone, B alone, or both with a line between them. */
static void write_matrix(const struct matrix_pair *pair, bool with_a, bool with_b)
{
    struct output *output = pair->report->output;
    const char *between = with_a && with_b ? "  |" : "";
    char label[LABEL_BYTES];
    if (column_token(pair, 0) != NULL) {
        write_row_label(pair, "", 0);
        write_column_labels(pair);
        output_print(output, "%s", between);
        if (with_a && with_b)
            write_column_labels(pair);
        output_print(output, "\n");
    }
    for (size_t row = 0; row < pair->rows; row++) {
        const size_t taken = row_label(pair, row, label);
        write_row_label(pair, label, taken);
        if (with_a)
            write_numbers(pair, false, row);
        output_print(output, "%s", between);
        if (with_b)
            write_numbers(pair, true, row);
        output_print(output, "\n");
    }
}

/* "weights, head 2" */
static void write_title(const struct matrix_pair *pair, const char *which)
{
    struct diff_step steps[TENSOR_RANK];
    struct output *output = pair->report->output;
    const size_t rank = diff_locate(pair->report->diff, pair->stage, pair->first, steps);
    output_print(output, "\n%s", pair->stage->name);
    for (size_t axis = 0; axis + 2 < rank; axis++)
        output_print(output, ", %s %zu", steps[axis].name, steps[axis].position);
    output_print(output, "%s\n", which);
}

static void write_pair(const struct matrix_pair *pair)
{
    const size_t columns = output_columns(pair->report->output), one = pair->columns * (pair->cell_width + 2),
                 label = INDENT + pair->label_width;
    if (label + 2 * one + 3 <= columns) {
        write_title(pair, ": A | B, * where it differs");
        write_matrix(pair, true, true);
    } else if (label + one <= columns) {
        write_title(pair, ": A");
        write_matrix(pair, true, false);
        write_title(pair, ": B, * where it differs");
        write_matrix(pair, false, true);
    } else {
        output_print(pair->report->output, "\n%s: too wide for %zu columns\n", pair->stage->name, columns);
    }
}

/* The matrix of the worst element, if it is small. */
static void write_table(const struct report *report, const struct diff_stage *stage)
{
    if (stage->a == NULL || stage->b == NULL || stage->comparison.worst == stage->comparison.count)
        return;
    const struct tensor *tensor = &stage->a->tensor;
    struct matrix_pair pair = {.report = report, .stage = stage, .decimals = report->decimals};
    pair.columns = tensor->shape[tensor->rank - 1];
    pair.rows = tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
    if (pair.rows > REPORT_ROWS || pair.columns > REPORT_COLUMNS)
        return;
    const size_t count = pair.rows * pair.columns;
    pair.first = stage->comparison.worst / count * count;
    measure_numbers(&pair);
    choose_decimals(&pair);
    measure_widths(&pair);
    write_pair(&pair);
}

void report_tables(const struct report *report)
{
    const struct diff *diff = report->diff;
    const struct diff_stage *source = diff->source_count > 0 ? &diff->sources[0] : NULL;
    const size_t stage = diff->cause < diff->count ? diff->cause : diff->first;
    if (source != NULL)
        write_table(report, source);
    if (stage < diff->count && !diff->stages[stage].is_total &&
        (source == NULL || strcmp(source->name, diff->stages[stage].name) != 0))
        write_table(report, &diff->stages[stage]);
}
