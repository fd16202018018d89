/* SPDX-License-Identifier: MIT */
#include "write/text/text.h"

#include "base/text.h"
#include "model/stage_id.h"
#include "write/head_lines.h"
#include "write/table_layout.h"

#include <string.h>

enum {
    SHAPE_COLUMN = 52,
    HEADING_INDENT = 4, /* of its further lines */
};

/* Output for a terminal, or drawn as if for one, stays within its width. */
static size_t room_of(const struct writing *writing)
{
    return writing->heatmap || output_is_terminal(writing->output) ? output_columns(writing->output) : SIZE_MAX;
}

static size_t words_columns(const struct writing *writing)
{
    return memory_smaller(room_of(writing), WRAP_COLUMNS);
}

/* "2 items of 2 heads of 6 x 6" */
static void shape_text(const struct result_table *table, char *shape, size_t size)
{
    struct text text = text_begin(shape, size);
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        text_add(&text, "%zu %s%s of ", table->shape[axis],
                 table->axes[axis] == AXIS_ITEM   ? "item"
                 : table->axes[axis] == AXIS_HEAD ? "head"
                 : table->axes[axis] == AXIS_PAGE ? "page"
                                                  : "token",
                 table->shape[axis] == 1 ? "" : "s");
    if (table->rank == 1)
        text_add(&text, "%zu", table->shape[0]);
    else
        text_add(&text, "%zu x %zu", result_rows(table), result_columns(table));
}

/* The shape after the heading, at the same column for all tables where the terminal is wide enough; else on the next
 * line, and on several where it is wider than the terminal. */
static void write_shape(const struct table_layout *layout, struct wrap line)
{
    char shape[128];
    shape_text(layout->table, shape, sizeof shape);
    const size_t length = strlen(shape), room = room_of(layout->writing);
    if (length + line.indent > room) {
        output_print(layout->writing->output, "\n%*s", (int)line.indent, "");
        line.column = line.indent;
        wrap_words(&line, shape);
        return;
    }
    const size_t place = memory_smaller(room - length, SHAPE_COLUMN);
    if (line.column + 2 > place && line.column + 2 + length > line.columns) {
        output_write(layout->writing->output, "\n", 1);
        line.column = 0;
    }
    table_text_blanks(layout->writing->output, line.column + 2 < place ? place - line.column : 2);
    output_print(layout->writing->output, "%s", shape);
}

struct wrap write_text_heading(const struct writing *writing, const char *name, const char *formula, size_t columns)
{
    struct wrap line = {.output = writing->output, .columns = columns, .indent = HEADING_INDENT};
    char heading[RESULT_FORMULA_BYTES + 64];
    snprintf(heading, sizeof heading, "%s%s%s", name, formula[0] ? " = " : "", formula);
    output_print(writing->output, "\n%s", writing->color ? TEXT_BOLD : "");
    wrap_words(&line, heading);
    output_print(writing->output, "%s", writing->color ? TEXT_PLAIN : "");
    return line;
}

static void write_heading(const struct table_layout *layout)
{
    const struct writing *writing = layout->writing;
    const struct result_table *table = layout->table;
    write_shape(layout, write_text_heading(writing, table->name, table->formula, words_columns(writing)));
    output_write(writing->output, "\n", 1);
}

static void write_place(const struct table_layout *layout)
{
    char place[TABLE_TEXT_LABEL_BYTES];
    if (table_text_place(&layout->writing->result->problem->labels.heads, layout->table, layout->matrix, place)[0] !=
        '\0')
        output_print(layout->writing->output, "  %s\n", place);
}

static const struct table_dialect TEXT = {
    .gaps = {{"", "..."}, {"...", "..."}},
    .row_begin = "",
    .between = "  ",
    .row_end = "\n",
    .masked = {TEXT_DIM, TEXT_PLAIN},
    .indent = 2,
    .open = write_heading,
    .begin = write_place,
    .number = table_layout_number,
};

enum status write_text_tables(const struct writing *writing, enum stage stage)
{
    return table_layout_write_all(writing, &TEXT, stage);
}

enum status write_plain_text(const struct writing *writing)
{
    const struct result *result = writing->result;
    struct table_layout layout;
    if (table_layout_create(&layout, writing, &TEXT) != STATUS_OK)
        return writing->error->status;
    head_lines_write(result->problem, words_columns(writing), writing->color, writing->output);
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (!result_is_shown(result, table))
            continue;
        if (!writing->heatmap || !stage_is_square(table->stage)) {
            table_layout_write(&layout, table);
            continue;
        }
        layout.table = table;
        write_heading(&layout);
        if (write_heatmap(writing, table) != STATUS_OK)
            return writing->error->status;
    }
    return STATUS_OK;
}
