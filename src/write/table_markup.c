/* SPDX-License-Identifier: MIT */
#include "write/table_markup.h"

#include "base/text.h"
#include "write/table_layout.h"

#include <math.h>
#include <string.h>

void table_markup_escape(const struct table_markup_escapes *escapes, const char *text, char *cell, size_t size)
{
    struct text to = text_begin(cell, size);
    for (size_t length = 1; *text != '\0'; text += length) {
        const unsigned char byte = (unsigned char)*text;
        const bool blank = escapes->blank != NULL && strncmp(text, TEXT_BLANK, strlen(TEXT_BLANK)) == 0;
        const char *escape = byte < TABLE_MARKUP_CHARACTERS ? escapes->characters[byte] : NULL;
        length = blank ? strlen(TEXT_BLANK) : 1;
        if (blank || escape != NULL)
            text_add(&to, "%s", blank ? escapes->blank : escape);
        else
            text_add(&to, "%c", *text);
    }
}

void table_markup_write_escaped(const struct table_layout *layout, const char *text)
{
    char cell[TABLE_LAYOUT_CELL_BYTES];
    table_markup_escape(layout->dialect->escapes, text, cell, sizeof cell);
    output_write(layout->writing->output, cell, strlen(cell));
}

void table_markup_write_place(const struct table_layout *layout, const char *times)
{
    const struct result_table *table = layout->table;
    struct output *output = layout->writing->output;
    char place[TABLE_TEXT_LABEL_BYTES];
    table_text_place(&layout->writing->result->problem->labels.heads, table, layout->matrix, place);
    output_print(output, " (");
    table_markup_write_escaped(layout, place);
    output_print(output, "%s", place[0] != '\0' ? ", " : "");
    if (table->rank > 1)
        output_print(output, "%zu%s", result_rows(table), times);
    output_print(output, "%zu)", result_columns(table));
}

size_t table_markup_number(const struct table_layout *layout, double number, char *text)
{
    return isnan(number) ? strlen(strcpy(text, "NaN")) : table_layout_number(layout, number, text);
}
