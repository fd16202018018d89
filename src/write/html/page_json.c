#include "write/html/page_json.h"

#include "base/decimal.h"
#include "base/text.h"

#include <string.h>

enum { TEXT_BYTES = 512 };

void page_string(const char *text, size_t columns, struct output *output)
{
    char shown[TEXT_BYTES];
    text_shown(text, columns, shown, sizeof shown);
    output_write(output, "\"", 1);
    for (const char *c = shown; *c != '\0'; c++)
        if (strchr("\"\\<>&", *c) != NULL)
            output_print(output, "\\u%04x", (unsigned)*c);
        else
            output_write(output, c, 1);
    output_write(output, "\"", 1);
}

void page_text(const char *text, struct output *output)
{
    output_write(output, "\"", 1);
    while (*text != '\0') {
        const char *from = text;
        const uint32_t point = text_next(&text);
        if (point >= 0x10000 && text_is_hidden(point))
            output_print(output, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (point >> 10)),
                         (unsigned)(0xdc00 + (point & 0x3ff)));
        else if (text_is_hidden(point) || (point < 0x80 && strchr("\"\\<>&", (int)point) != NULL))
            output_print(output, "\\u%04x", (unsigned)point);
        else
            output_write(output, from, (size_t)(text - from));
    }
    output_write(output, "\"", 1);
}

void page_key(const char *name, struct output *output)
{
    output_print(output, ",\n\"%s\": ", name);
}

void page_size(const char *name, size_t size, struct output *output)
{
    page_key(name, output);
    output_print(output, "%zu", size);
}

void page_truth(const char *name, bool truth, struct output *output)
{
    page_key(name, output);
    output_print(output, "%s", truth ? "true" : "false");
}

void page_real(const char *name, double number, struct output *output)
{
    char text[DECIMAL_BYTES];
    page_key(name, output);
    output_write(output, text, decimal_from_double(number, text));
}

void page_list(const char *name, const double *numbers, size_t count, struct output *output)
{
    char text[DECIMAL_BYTES];
    page_key(name, output);
    if (numbers == NULL) {
        output_print(output, "null");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        output_print(output, "%s", i ? ", " : "[");
        output_write(output, text, decimal_from_double(numbers[i], text));
    }
    output_print(output, "]");
}

void page_named(const char *name, const char *text, size_t columns, bool first, struct output *output)
{
    output_print(output, "%s[\"%s\", ", first ? "" : ", ", name);
    page_string(text, columns, output);
    output_print(output, "]");
}
