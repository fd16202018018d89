/* SPDX-License-Identifier: MIT */
#include "write/table_text.h"

#include "base/text.h"

#include <string.h>

size_t table_text_label(const struct result *result, enum axis axis, size_t item, size_t index, char *text)
{
    size_t position;
    const char *label = result_label(result, axis, item, index, &position);
    if (label != NULL)
        return text_shown(label, TABLE_TEXT_LABEL_COLUMNS, text, TABLE_TEXT_LABEL_BYTES);
    const char *what = axis == AXIS_ITEM ? "item " : axis == AXIS_HEAD ? "head " : "";
    return (size_t)snprintf(text, TABLE_TEXT_LABEL_BYTES, "%s%zu", what, position);
}

const char *table_text_number(enum dtype dtype, struct table_text_style style, double number, char *text)
{
    if (dtype_is_boolean(dtype))
        return strcpy(text, number != 0 ? "true" : "false");
    const bool whole = dtype_is_whole(dtype);
    return text_number(text, TABLE_TEXT_NUMBER_BYTES, whole ? 0 : style.precision, !whole && style.exponent, number);
}

const char *table_text_place(const struct token_labels *names, const struct result_table *table, size_t matrix,
                             char *text)
{
    const bool of_items = result_is_of(table, AXIS_ITEM), of_heads = result_is_of(table, AXIS_HEAD);
    struct text place = text_begin(text, TABLE_TEXT_LABEL_BYTES);
    char name[PROBLEM_HEAD_BYTES];
    size_t item, head;
    result_place(table, matrix, &item, &head);
    const bool of_pages = result_is_of(table, AXIS_PAGE);
    if (of_pages)
        text_add(&place, "page %zu", item + 1);
    if (of_items)
        text_add(&place, "item %zu", item + 1);
    if (of_heads)
        text_add(&place, "%s%s", of_items ? ", " : "", problem_head_text(names, head, name));
    if (result_is_of_tokens(table))
        text_add(&place, "%stoken %zu", of_items || of_pages ? ", " : "", head + 1);
    return text;
}

void table_text_blanks(struct output *output, size_t count)
{
    static const char BLANKS[] = "                                ";
    for (; count > 0; count -= memory_smaller(count, 32))
        output_write(output, BLANKS, memory_smaller(count, 32));
}

void table_text_cell(struct output *output, const char *text, size_t taken, size_t width, bool right)
{
    const size_t blanks = memory_left(width, taken);
    table_text_blanks(output, right ? blanks : 0);
    output_write(output, text, strlen(text));
    table_text_blanks(output, right ? 0 : blanks);
}
