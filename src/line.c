#include "line.h"

#include <stdarg.h>
#include <string.h>

void line_add(struct line *line, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t width = strlen(text) + 2;
    if (line->column > 0 && line->column + width > LINE_COLUMNS) {
        output_print(line->output, ",\n%*s", (int)line->indent, "");
        line->column = line->indent;
    } else if (line->column > 0) {
        output_print(line->output, ", ");
    }
    output_print(line->output, "%s", text);
    line->column += width;
}
