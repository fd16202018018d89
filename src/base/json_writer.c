/* SPDX-License-Identifier: MIT */
#include "base/json_writer.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/version.h"

#include <math.h>
#include <string.h>

enum { SHOWN_BYTES = 1 << 14 };

static void write(const struct json *json, const char *text)
{
    output_write(json->output, text, strlen(text));
}

/* As one or two code units. */
static void write_escape(const struct json *json, uint32_t point)
{
    if (!json->script && (point == '\n' || point == '\t'))
        write(json, point == '\n' ? "\\n" : "\\t");
    else if (!json->script && (point == '"' || point == '\\'))
        output_print(json->output, "\\%c", (char)point);
    else if (point < 0x10000)
        output_print(json->output, "\\u%04x", (unsigned)point);
    else
        output_print(json->output, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (point >> 10)),
                     (unsigned)(0xdc00 + (point & 0x3ff)));
}

static void write_string(const struct json *json, const char *text)
{
    const char *special = json->script ? "\"\\<>&" : "\"\\";
    write(json, "\"");
    while (*text != '\0') {
        const char *from = text;
        const uint32_t point = text_next(&text);
        if (text_is_hidden(point) || (point < 0x80 && strchr(special, (int)point) != NULL))
            write_escape(json, point);
        else
            output_write(json->output, from, (size_t)(text - from));
    }
    write(json, "\"");
}

void json_key(struct json *json, const char *key)
{
    if (json->begun)
        write(json, json->compact ? "," : json->lines && json->depth == 1 ? ",\n" : ", ");
    json->begun = true;
    if (key == NULL)
        return;
    write_string(json, key);
    write(json, json->compact ? ":" : ": ");
}

void json_open(struct json *json, const char *key, char bracket)
{
    json_key(json, key);
    output_write(json->output, &bracket, 1);
    json->lists = json->lists << 1 | (bracket == '[');
    json->depth++;
    json->begun = false;
}

void json_begin(struct json *json)
{
    json->compact |= json->output->one_line;
    const bool lines = json->lines && !json->compact;
    json->lines = false; /* "attn" and "format" share the first line */
    json_open(json, NULL, '{');
    json_text(json, "attn", ATTN_VERSION);
    json_size(json, "format", ATTN_FORMAT);
    json->lines = lines;
}

void json_close(struct json *json)
{
    write(json, json->lists & 1 ? "]" : "}");
    json->lists >>= 1;
    json->depth--;
    json->begun = true;
}

void json_end(struct json *json)
{
    while (json->depth > 0)
        json_close(json);
    write(json, "\n");
}

void json_line(struct json *json, int indent)
{
    if (json->compact)
        return;
    output_print(json->output, "%s\n%*s", json->begun ? "," : "", indent, "");
    json->begun = false;
}

void json_break(struct json *json, int indent)
{
    if (json->begun)
        json_line(json, indent);
}

void json_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    if (text != NULL)
        write_string(json, text);
    else
        write(json, "null");
}

void json_shown(struct json *json, const char *key, const char *text)
{
    char shown[SHOWN_BYTES];
    text_shown(text, SIZE_MAX, shown, sizeof shown);
    json_text(json, key, shown);
}

void json_truth(struct json *json, const char *key, bool truth)
{
    json_key(json, key);
    write(json, truth ? "true" : "false");
}

void json_size(struct json *json, const char *key, size_t size)
{
    json_key(json, key);
    output_print(json->output, "%zu", size);
}

void json_sizes(struct json *json, const char *key, const size_t *sizes, size_t count)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_size(json, NULL, sizes[i]);
    json_close(json);
}

void json_real(struct json *json, const char *key, double number)
{
    char text[DECIMAL_BYTES];
    json_key(json, key);
    if (isfinite(number))
        output_write(json->output, text, decimal_from_double(number, text));
    else
        write(json, isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "null");
}

void json_reals(struct json *json, const char *key, const double *numbers, size_t count)
{
    if (numbers == NULL) {
        json_text(json, key, NULL);
        return;
    }
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_real(json, NULL, numbers[i]);
    json_close(json);
}
