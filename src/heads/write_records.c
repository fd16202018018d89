/* SPDX-License-Identifier: MIT */
/* heads -> records: JSON, an object for each head; CSV, a line for each, with the same names. */
#include "heads/heads.h"

#include "base/json_writer.h"
#include "write/writing.h"

#include <stdarg.h>

struct record {
    struct json json;
    bool csv, names; /* CSV; its first line */
    bool begun;      /* the line is not empty */
};

/* Adds a member, a text or a number; JSON leaves out an unknown one. The name is printf-like. */
static void add(struct record *record, bool known, const char *text, double number, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void add(struct record *record, bool known, const char *text, double number, const char *format, ...)
{
    struct output *output = record->json.output;
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (record->csv) {
        output_print(output, "%s%s", record->begun ? "," : "", record->names ? name : "");
        record->begun = true;
        record->json.begun = false;
    }
    if (!known || record->names)
        return;
    if (text != NULL && record->csv)
        csv_text_field(text, "", output);
    else if (text != NULL)
        json_text(&record->json, name, text);
    else
        json_real(&record->json, record->csv ? NULL : name, number);
}

static void add_line(struct record *record, const struct head_line *line)
{
    const bool query = line->largest_count > 0;
    add(record, line->layer != MODULE_NO_LAYER, NULL, (double)line->layer, "layer");
    add(record, true, NULL, (double)line->head + 1, "head");
    for (int measure = 0; measure < HEAD_MEASURES; measure++) {
        const struct head_mean *mean = &line->means[measure];
        add(record, mean->queries > 0, NULL, mean->mean, "%s", HEAD_MEASURE[measure].name);
        add(record, mean->queries > 0, NULL, mean->uniform, "%s_uniform", HEAD_MEASURE[measure].name);
        add(record, true, NULL, (double)mean->queries, "%s_queries", HEAD_MEASURE[measure].name);
    }
    add(record, query, NULL, (double)line->query.position, "query");
    add(record, query && line->query.label != NULL, line->query.label, 0, "query_token");
    for (size_t i = 0; i < HEADS_LARGEST; i++) {
        const struct head_key *key = &line->largest[i];
        const bool known = i < line->largest_count;
        add(record, known, NULL, (double)key->position, "key_%zu", i + 1);
        add(record, known && key->label != NULL, key->label, 0, "key_%zu_token", i + 1);
        add(record, known, NULL, key->weight, "key_%zu_weight", i + 1);
    }
}

void heads_json(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    (void)options, (void)precision;
    struct record record = {.json = {.output = output}};
    json_begin(&record.json);
    json_text(&record.json, "words", heads->words);
    json_open(&record.json, "heads", '[');
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next) {
        json_line(&record.json, 1);
        json_open(&record.json, NULL, '{');
        add_line(&record, line);
        json_close(&record.json);
    }
    json_end(&record.json);
}

void heads_csv(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    (void)options, (void)precision;
    struct record record = {.json = {.output = output}, .csv = true, .names = true};
    add_line(&record, heads->lines);
    record.names = false;
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next) {
        output_print(output, "\n");
        record.begun = false;
        add_line(&record, line);
    }
    output_print(output, "\n");
}
