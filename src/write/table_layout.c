/* SPDX-License-Identifier: MIT */
#include "write/table_layout.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static const char ELLIPSIS[] = "...";

enum { SHARP_COLUMNS = 18 }; /* of a sum and an entropy */

/* --- cells ------------------------------------------------------------------------------------------------------- */

static bool shown_row(const struct table_layout *layout, size_t i, size_t *row)
{
    return result_shown_index(result_rows(layout->table), layout->writing->full, i, row);
}

static bool shown_column(const struct table_layout *layout, size_t c, size_t *column)
{
    *column = c;
    return layout->ranked ? c < TABLE_LAYOUT_RANKS
                          : result_shown_index(result_columns(layout->table), layout->writing->full, c, column);
}

/* The label of a row or column, into text (TABLE_LAYOUT_CELL_BYTES). */
static void label_text(const struct table_layout *layout, enum axis axis, size_t index, char *text)
{
    const struct table_dialect *dialect = layout->dialect;
    char shown[TABLE_TEXT_LABEL_BYTES];
    text[0] = '\0';
    if (axis == AXIS_COLUMN && !dialect->ruled)
        return;
    table_text_label(layout->writing->result, axis, layout->item, index, dialect->escapes != NULL ? shown : text);
    if (dialect->escapes != NULL)
        table_markup_escape(dialect->escapes, shown, text, TABLE_LAYOUT_CELL_BYTES);
}

static void column_label(const struct table_layout *layout, size_t column, char *text)
{
    label_text(layout, layout->ranked ? AXIS_COLUMN : result_column_axis(layout->table), column, text);
}

/* False, and the mark of the gap, where row i is the gap. */
static bool row_label(const struct table_layout *layout, size_t i, size_t *row, char *text)
{
    const bool shown = shown_row(layout, i, row);
    if (!shown || layout->table->rank == 1)
        strcpy(text, shown ? "" : layout->dialect->gaps[true][false]);
    else
        label_text(layout, result_row_axis(layout->table), *row, text);
    return shown;
}

size_t table_layout_number(const struct table_layout *layout, double number, char *text)
{
    const struct table_text_style style = {layout->writing->precision, layout->exponent};
    return strlen(table_text_number(layout->table->dtype, style, number, text));
}

/* --- what they take ---------------------------------------------------------------------------------------------- */

static void note_number(struct table_extremes *extremes, double number)
{
    if (!isfinite(number)) {
        extremes->nan |= isnan(number);
        extremes->infinite |= isinf(number);
        return;
    }
    const double magnitude = fabs(number);
    extremes->smallest = number < extremes->smallest ? number : extremes->smallest;
    extremes->largest = number > extremes->largest ? number : extremes->largest;
    extremes->least = magnitude < extremes->least && magnitude > 0 ? magnitude : extremes->least;
}

static size_t extremes_count(const struct table_layout *layout)
{
    return layout->dialect->ruled ? 1 : layout->column_count;
}

static void forget(struct table_layout *layout)
{
    for (size_t i = 0; i < extremes_count(layout); i++)
        layout->extremes[i] = (struct table_extremes){.least = INFINITY};
}

/* A word of a rank, or "key 117 sat"; text (TABLE_LAYOUT_CELL_BYTES). */
static void rank_label(const struct table_layout *layout, size_t column, char *text)
{
    const enum axis axis = result_column_axis(layout->table);
    char label[TABLE_LAYOUT_CELL_BYTES];
    size_t position;
    const bool labelled = result_label(layout->writing->result, axis, layout->item, column, &position) != NULL;
    label_text(layout, axis, column, label);
    if (axis == AXIS_WORD)
        strcpy(text, label);
    else
        snprintf(text, TABLE_LAYOUT_CELL_BYTES, "key %zu%s%.*s", position, labelled ? " " : "",
                 labelled ? TABLE_LAYOUT_CELL_BYTES - 32 : 0, label);
}

/* Finds the largest numbers of a row, and the words of their columns. */
static void rank_words(struct table_layout *layout, size_t i)
{
    const struct result *result = layout->writing->result;
    char text[TABLE_LAYOUT_CELL_BYTES];
    for (size_t rank = 0; rank < TABLE_LAYOUT_RANKS; rank++) {
        size_t best = SIZE_MAX;
        for (size_t word = 0; word < result_columns(layout->table); word++) {
            bool taken = false;
            for (size_t before = 0; before < rank; before++)
                taken = taken || layout->words[i][before] == word;
            if (!taken && (best == SIZE_MAX || result->numbers[word] > result->numbers[best]))
                best = word;
        }
        layout->words[i][rank] = best;
        rank_label(layout, best, text);
        layout->word_widths[rank] = memory_larger(layout->word_widths[rank], text_columns(text));
    }
}

static void note_matrix(struct table_layout *layout, size_t matrix)
{
    struct result *result = layout->writing->result;
    const bool full = layout->writing->full, ruled = layout->dialect->ruled;
    for (size_t i = 0; i < layout->row_count; i++) {
        size_t row, column;
        if (!shown_row(layout, i, &row))
            continue;
        result_row(result, layout->table, matrix, row, result->numbers);
        if (layout->ranked)
            rank_words(layout, i);
        for (size_t c = 0; c < layout->column_count; c++) {
            if (!shown_column(layout, c, &column))
                continue;
            column = layout->ranked ? layout->words[i][c] : column;
            note_number(&layout->extremes[ruled ? 0 : c], result->numbers[column]);
            if (!full)
                layout->kept[i][c] = result->numbers[column];
        }
    }
}

/* One notation for all matrices of a table. */
static void choose_notation(struct table_layout *layout)
{
    double magnitude = 0;
    forget(layout);
    for (size_t matrix = 0; matrix < result_matrices(layout->table); matrix++) {
        if (!layout->dialect->ruled)
            forget(layout);
        note_matrix(layout, matrix);
        for (size_t i = 0; i < extremes_count(layout); i++)
            magnitude = fmax(magnitude, fmax(-layout->extremes[i].smallest, layout->extremes[i].largest));
    }
    layout->exponent = text_wants_exponent(magnitude);
}

static size_t widened(const struct table_layout *layout, size_t width, double number)
{
    char text[TABLE_LAYOUT_CELL_BYTES];
    return memory_larger(width, layout->dialect->number(layout, number, text));
}

static size_t number_width(const struct table_layout *layout, const struct table_extremes *extremes)
{
    const bool ruled = layout->dialect->ruled;
    size_t width = widened(layout, widened(layout, 0, extremes->smallest), extremes->largest);
    if (ruled && isfinite(extremes->least))
        width = widened(layout, width, copysign(extremes->least, extremes->smallest));
    if (extremes->nan)
        width = widened(layout, width, ruled ? NAN : -INFINITY);
    return extremes->infinite ? widened(layout, width, -INFINITY) : width;
}

static void measure_columns(struct table_layout *layout)
{
    const struct table_dialect *dialect = layout->dialect;
    size_t row;
    const bool gap = !result_shown_index(result_rows(layout->table), layout->writing->full, RESULT_ELIDED / 2, &row);
    const size_t least = gap && dialect->ruled ? text_columns(dialect->gaps[true][false]) : 0;
    char text[TABLE_LAYOUT_CELL_BYTES];
    for (size_t c = 0, width = 0, column; c < layout->column_count; c++) {
        if (!shown_column(layout, c, &column)) {
            layout->widths[c] = text_columns(dialect->gaps[false][true]);
            continue;
        }
        if (c < extremes_count(layout))
            width = number_width(layout, &layout->extremes[c]);
        column_label(layout, column, text);
        layout->widths[c] = memory_larger(
            least, memory_larger(width + (layout->ranked ? layout->word_widths[c] + 1 : 0), text_columns(text)));
    }
}

static void measure_row_labels(struct table_layout *layout)
{
    char text[TABLE_LAYOUT_CELL_BYTES];
    layout->label_width = 0;
    if (result_row_axis(layout->table) == AXIS_COLUMN && !layout->dialect->ruled)
        return;
    for (size_t i = 0, row; i < layout->row_count; i++) {
        row_label(layout, i, &row, text);
        layout->label_width = memory_larger(layout->label_width, text_columns(text));
    }
}

/* The width of a line where columns `first` to `end` - 1 give way to an ellipsis. */
static size_t line_width(const struct table_layout *layout, size_t first, size_t end)
{
    const struct table_dialect *dialect = layout->dialect;
    const size_t between = text_columns(dialect->between);
    size_t width = layout->indent + layout->label_width + (first < end ? between + text_columns(ELLIPSIS) : 0);
    for (size_t c = 0; c < layout->column_count; c++)
        width += c >= first && c < end ? 0 : between + layout->widths[c];
    return width;
}

/* Lines of a table fit the terminal: the middle columns are left out, never the first and last. */
static void hide_columns(struct table_layout *layout)
{
    const struct writing *writing = layout->writing;
    const size_t count = layout->column_count;
    layout->hidden = layout->hidden_end = 0;
    if (writing->full || layout->dialect->ruled || !output_is_terminal(writing->output))
        return;
    const size_t columns = memory_left(output_columns(writing->output), layout->sharp ? SHARP_COLUMNS : 0);
    for (size_t kept = count; kept > 2 && line_width(layout, layout->hidden, layout->hidden_end) > columns;) {
        kept--;
        layout->hidden = layout->ranked ? kept - 1 : (kept + 1) / 2;
        layout->hidden_end = layout->ranked ? count : count - kept / 2;
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Labels of the columns where numbers is NULL, else numbers; or the marks of a gap of rows. */
struct row {
    const char *label;
    const double *numbers; /* (column_count) */
    const size_t *words;   /* of ranks */
    bool gap;
    struct result_mask mask;
    struct sharpness sharpness;
};

static void put(const struct table_layout *layout, const char *text)
{
    output_write(layout->writing->output, text, strlen(text));
}

/* A word and its number, or nothing for a share that would print as 0; returns the columns that they take. */
static size_t ranked_text(const struct table_layout *layout, const struct row *row, size_t c, char *text)
{
    char number[TABLE_LAYOUT_CELL_BYTES], word[TABLE_LAYOUT_CELL_BYTES];
    const bool share = stage_is_shares(layout->table->stage) && !layout->exponent;
    text[0] = '\0';
    if (row->numbers[c] == 0 || (share && row->numbers[c] < 0.5 * pow(10, -layout->writing->precision)))
        return 0;
    const size_t taken = layout->dialect->number(layout, row->numbers[c], number);
    rank_label(layout, row->words[c], word);
    const size_t blanks = layout->widths[c] - text_columns(word) - taken;
    struct text cell = text_begin(text, TABLE_LAYOUT_CELL_BYTES);
    text_add(&cell, "%s%*s%s", word, (int)blanks, "", number);
    return layout->widths[c];
}

/* The text of a shown cell, in text (TABLE_LAYOUT_CELL_BYTES) where need be. */
static const char *cell_text(const struct table_layout *layout, const struct row *row, size_t c, char *text,
                             size_t *taken)
{
    size_t column;
    const char *cell = text;
    const bool shown = shown_column(layout, c, &column);
    if (!row->gap && shown && row->numbers != NULL) {
        *taken =
            layout->ranked ? ranked_text(layout, row, c, text) : layout->dialect->number(layout, row->numbers[c], text);
        return text;
    }
    if (row->gap || !shown)
        cell = layout->dialect->gaps[row->gap][!shown];
    else
        column_label(layout, column, text);
    *taken = text_columns(cell);
    return cell;
}

static void write_cell(const struct table_layout *layout, const struct row *row, size_t c)
{
    struct output *output = layout->writing->output;
    char text[TABLE_LAYOUT_CELL_BYTES];
    size_t column, taken;
    const char *cell = cell_text(layout, row, c, text, &taken);
    const bool masked = shown_column(layout, c, &column) && !layout->ranked && result_masks(&row->mask, column);
    if (masked)
        put(layout, layout->dialect->masked[0]);
    table_text_cell(output, cell, taken, layout->widths[c], true);
    if (masked)
        put(layout, layout->dialect->masked[1]);
}

/* The sum and the entropy of a row, or what they are. */
static void write_sharpness(const struct table_layout *layout, const struct row *row)
{
    char sum[TABLE_TEXT_NUMBER_BYTES] = "sum", entropy[TABLE_TEXT_NUMBER_BYTES] = "entropy";
    const struct table_text_style style = {layout->writing->precision, false};
    if (row->numbers != NULL && !row->gap) {
        table_text_number(layout->table->dtype, style, row->sharpness.sum, sum);
        table_text_number(layout->table->dtype, style, row->sharpness.entropy, entropy);
    }
    const int width = SHARP_COLUMNS / 2 - 2;
    output_print(layout->writing->output, "  %*s  %*s", width, sum, width, entropy);
}

static void write_row(const struct table_layout *layout, const struct row *row)
{
    const struct table_dialect *dialect = layout->dialect;
    const bool alone = row->gap && !dialect->ruled, labelled = dialect->ruled || layout->label_width > 0;
    table_text_blanks(layout->writing->output, layout->indent);
    put(layout, dialect->row_begin);
    table_text_cell(layout->writing->output, row->label, text_columns(row->label), alone ? 0 : layout->label_width,
                    false);
    for (size_t c = 0; c < layout->column_count && !alone; c++) {
        const bool hides = c == layout->hidden && c < layout->hidden_end;
        put(layout, c > 0 || labelled || row->numbers == NULL ? dialect->between : "");
        if (hides)
            put(layout, ELLIPSIS);
        else
            write_cell(layout, row, c);
        c = hides ? layout->hidden_end - 1 : c;
    }
    if (layout->sharp && !row->gap)
        write_sharpness(layout, row);
    put(layout, dialect->row_end);
}

static void write_numbers(const struct table_layout *layout, size_t i)
{
    const struct writing *writing = layout->writing;
    struct result *result = writing->result;
    char label[TABLE_LAYOUT_CELL_BYTES];
    struct row line = {
        .label = label, .numbers = writing->full ? result->numbers : layout->kept[i], .words = layout->words[i]};
    size_t row;
    line.gap = !row_label(layout, i, &row, label);
    if (writing->full || (layout->sharp && !line.gap))
        result_row(result, layout->table, layout->matrix, row, result->numbers);
    if (layout->sharp && !line.gap)
        line.sharpness = result_sharpness(result->numbers, result_columns(layout->table));
    if (!line.gap && writing->color && layout->dialect->masked[0] != NULL)
        line.mask = result_mask_of(result, layout->table, layout->matrix, row);
    write_row(layout, &line);
}

static void take(table_layout_step *step, const struct table_layout *layout)
{
    if (step != NULL)
        step(layout);
}

static void write_matrix(const struct table_layout *layout)
{
    const struct table_dialect *dialect = layout->dialect;
    take(dialect->begin, layout);
    if (dialect->ruled || layout->sharp || (result_column_axis(layout->table) != AXIS_COLUMN && !layout->ranked))
        write_row(layout, &(struct row){.label = ""});
    take(dialect->rule, layout);
    for (size_t i = 0; i < layout->row_count && !layout->writing->output->failed; i++)
        write_numbers(layout, i);
    take(dialect->end, layout);
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

void table_layout_write(struct table_layout *layout, const struct result_table *table)
{
    const bool full = layout->writing->full, ruled = layout->dialect->ruled;
    const size_t matrices = result_matrices(table);
    size_t head;
    layout->table = table;
    layout->row_count = result_shown_count(result_rows(table), full);
    layout->sharp =
        layout->writing->entropy && !ruled && stage_is_shares(table->stage) && stage_is_square(table->stage);
    const bool shares = stage_exists(table->stage) && stage_is_shares(table->stage) && stage_is_square(table->stage);
    layout->ranked =
        !full && (shares || result_column_axis(table) == AXIS_WORD) && result_columns(table) > RESULT_ELIDED;
    memset(layout->word_widths, 0, sizeof layout->word_widths);
    layout->column_count = layout->ranked ? TABLE_LAYOUT_RANKS + 1 : result_shown_count(result_columns(table), full);
    layout->indent = layout->dialect->indent * (table->rank > 2 ? 2 : 1);
    take(layout->dialect->open, layout);
    choose_notation(layout);
    for (layout->matrix = 0; layout->matrix < matrices && !layout->writing->output->failed; layout->matrix++) {
        result_place(table, layout->matrix, &layout->item, &head);
        if (!ruled && matrices > 1)
            forget(layout);
        if (matrices > 1 && !(ruled && full)) /* its columns are not measured, or its numbers not kept */
            note_matrix(layout, layout->matrix);
        measure_columns(layout);
        measure_row_labels(layout);
        hide_columns(layout);
        write_matrix(layout);
        layout->follows = true;
    }
}

enum status table_layout_create(struct table_layout *layout, const struct writing *writing,
                                const struct table_dialect *dialect)
{
    const size_t columns = result_shown_count(writing->result->widest, writing->full);
    *layout = (struct table_layout){.writing = writing, .dialect = dialect};
    layout->widths = arena_allocate(writing->arena, columns, sizeof *layout->widths, writing->error);
    layout->extremes = arena_allocate(writing->arena, columns, sizeof *layout->extremes, writing->error);
    return layout->widths == NULL || layout->extremes == NULL ? writing->error->status : STATUS_OK;
}

enum status table_layout_write_all(const struct writing *writing, const struct table_dialect *dialect, enum stage stage)
{
    const struct result *result = writing->result;
    struct table_layout layout;
    if (table_layout_create(&layout, writing, dialect) != STATUS_OK)
        return writing->error->status;
    for (size_t i = 0; i < result->table_count; i++)
        if (stage == STAGE_COUNT ? result_is_shown(result, &result->tables[i]) : result->tables[i].stage == stage)
            table_layout_write(&layout, &result->tables[i]);
    return STATUS_OK;
}
