/* SPDX-License-Identifier: MIT */
/* The JSON Schema: schema.json, and the definitions of names, settings and tables, from their rows. */
#include "base/json_writer.h"
#include "base/version.h"
#include "cli/help.h"
#include "cli/options.h"
#include "model/mask_rows.h"
#include "model/parameter_rows.h"
#include "model/stages.h"

enum { CLOSING = 4 }; /* schema.json ends in "\n}}\n" */

static void close(struct json *json, int count)
{
    while (count-- > 0)
        json_close(json);
}

/* Opens an object within "$defs", and in it an object or a list. */
static void open_definition(struct json *json, const char *name, const char *member, char bracket)
{
    json_line(json, 0);
    json_open(json, name, '{');
    json_open(json, member, bracket);
}

static void write_definition(struct json *json, const char *name)
{
    json_key(json, "$ref");
    output_print(json->output, "\"#/$defs/%s\"", name);
}

static void write_reference(struct json *json, const char *key, const char *name)
{
    json_open(json, key, '{');
    write_definition(json, name);
    json_close(json);
}

static void write_names(struct json *json)
{
    open_definition(json, "mechanism", "enum", '[');
    for (int i = 0; i < MECHANISM_COUNT; i++)
        json_text(json, NULL, MECHANISMS[i].name);
    close(json, 2);
    open_definition(json, "dtype", "enum", '[');
    for (enum dtype i = 0; i < DTYPE_COUNT; i++)
        json_text(json, NULL, dtype_name(i));
    close(json, 2);
    open_definition(json, "stage", "enum", '[');
    for (int i = 0; i < STAGE_NAMES; i++)
        json_text(json, NULL, STAGES[i].name);
    close(json, 2);
    open_definition(json, "mistake", "enum", '[');
    for (int i = 0; i < MISTAKE_COUNT; i++)
        json_text(json, NULL, MISTAKES[i].name);
    close(json, 2);
}

static void write_setting_type(struct json *json, const struct option_row *row)
{
    static const char *const TYPES[OPTION_KINDS] = {[OPTION_FLAG] = "truth",
                                                    [OPTION_NEGATION] = "truth",
                                                    [OPTION_WHOLE] = "whole",
                                                    [OPTION_REAL] = "real",
                                                    [OPTION_TEXT] = "words"};
    if (row->kind != OPTION_CHOICE) {
        write_definition(json, TYPES[row->kind]);
        return;
    }
    json_open(json, "enum", '[');
    for (size_t i = 0; row->choices[i] != NULL; i++)
        json_text(json, NULL, row->choices[i]);
    json_close(json);
}

static void write_settings(struct json *json)
{
    char name[64];
    open_definition(json, "settings", "properties", '{');
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        if (!OPTIONS[id].setting)
            continue;
        json_line(json, 2);
        json_open(json, options_setting_name(id, name, sizeof name), '{');
        write_setting_type(json, &OPTIONS[id]);
        json_text(json, "description", OPTIONS[id].help);
        json_close(json);
    }
    json_close(json);
    json_text(json, "type", "object");
    json_truth(json, "additionalProperties", false);
    json_close(json);
}

/* The fewest and the most axes of a stage's table: without items and heads, and with them. */
static void find_ranks(const struct stage_row *stage, int *fewest, int *most)
{
    const int axes = stage->columns == STAGE_COLUMNS_NONE || stage->columns == STAGE_COLUMNS_HEADS ? 1 : 2;
    *fewest = stage->whole_shape ? axes + 2 : axes;
    *most = stage->columns == STAGE_COLUMNS_HEADS ? axes : axes + (stage->joins_heads ? 1 : 2);
}

static void write_stages(struct json *json)
{
    char name[16];
    int fewest, most;
    open_definition(json, "stages", "properties", '{');
    for (int stage = 0; stage < STAGE_NAMES; stage++) {
        if (STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS || STAGES[stage].columns == STAGE_COLUMNS_OTHER)
            continue;
        find_ranks(&STAGES[stage], &fewest, &most);
        json_line(json, 2);
        json_open(json, STAGES[stage].name, '{');
        json_open(json, "anyOf", '[');
        for (int rank = fewest; rank <= most; rank++) {
            snprintf(name, sizeof name, "rank_%d", rank);
            write_reference(json, NULL, name);
        }
        close(json, 2);
    }
    close(json, 2);
}

/* Parameters, each with its gradient; the projections may exist per head, and have a bias. */
static void write_parameters(struct json *json)
{
#define PATTERN(name) "^(grad_)?(heads[.][0-9]+[.])?" name "([.](weight|bias))?$",
#define BOTH(name, field) name, "grad_" name,
#define ONE(name) name,
    static const char *const PATTERNS[] = {PARAMETER_PROJECTION_ROWS(PATTERN)};
    static const char *const NAMES[] = {PARAMETER_LATENT_ROWS(BOTH) PARAMETER_BLOCK_ROWS(BOTH) PARAMETER_WORD_ROWS(BOTH)
                                            MASK_TENSORS(ONE)};
    open_definition(json, "parameters", "patternProperties", '{');
    for (size_t i = 0; i < sizeof PATTERNS / sizeof PATTERNS[0]; i++)
        write_reference(json, PATTERNS[i], "parameter");
    json_close(json);
    json_line(json, 2);
    json_open(json, "properties", '{');
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        write_reference(json, NAMES[i], "parameter");
    close(json, 2);
}

void help_write_schema(struct output *output)
{
    struct json json = {.output = output, .depth = 2, .begun = true};
    output_write(output, (const char *)schema_bytes, schema_length - CLOSING);
    json_line(&json, 0);
    json_open(&json, "format", '{');
    json_size(&json, "const", ATTN_FORMAT);
    json_close(&json);
    write_names(&json);
    write_settings(&json);
    write_stages(&json);
    write_parameters(&json);
    json_end(&json);
}
