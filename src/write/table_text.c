#include "write/table_text.h"

#include "base/text.h"

#include <math.h>
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
        snprintf(text, TABLE_TEXT_NUMBER_BYTES, number != 0 ? "true" : "false");
    else if (dtype_is_whole(dtype))
        snprintf(text, TABLE_TEXT_NUMBER_BYTES, "%.0f", number);
    else if (isnan(number)) /* which printf may give a sign */
        snprintf(text, TABLE_TEXT_NUMBER_BYTES, "nan");
    else
        snprintf(text, TABLE_TEXT_NUMBER_BYTES, style.exponent ? "%.*e" : "%.*f", style.precision, number);
    if (text_is_minus_zero(text))
        memmove(text, text + 1, strlen(text));
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
    const size_t blanks = width > taken ? width - taken : 0;
    table_text_blanks(output, right ? blanks : 0);
    output_write(output, text, strlen(text));
    table_text_blanks(output, right ? 0 : blanks);
}
