/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"
#include "observe/observe.h"

void observe_write_text(const struct observations *observations, struct output *output)
{
    for (size_t i = 0; i < observations->count; i++) {
        struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = 4, .column = 2};
        output_print(output, "  ");
        wrap_words(&line, observations->lines[i].text);
        output_print(output, "\n");
    }
}

void observe_write_json(const struct observations *observations, struct json *json)
{
    json_open(json, "observations", '[');
    for (size_t i = 0; i < observations->count; i++) {
        json_break(json, 1);
        json_open(json, NULL, '{');
        json_text(json, "name", observations->lines[i].name);
        json_shown(json, "text", observations->lines[i].text);
        json_shown(json, "where", observations->lines[i].where);
        json_close(json);
    }
    json_close(json);
}
