/* SPDX-License-Identifier: MIT */
/* heads -> records: JSON, an object for each head; CSV, a line for each, with the same names. */
#include "heads/heads.h"

#include "base/json_writer.h"
#include "write/writing.h"

#include <stddef.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): designators and parts of lists */
#define AT(member) offsetof(struct head_line, member)
#define MEASURE(id, name, ...)                                                               \
    {name, REAL, AT(means[HEAD_##id].mean), AT(means[HEAD_##id].queries)},                   \
        {name "_uniform", REAL, AT(means[HEAD_##id].uniform), AT(means[HEAD_##id].queries)}, \
        {name "_queries", SIZE, AT(means[HEAD_##id].queries), AT(head)},
#define KEY(name, member)                                   \
    {name, SIZE, AT(member.position), AT(member.position)}, \
        {name "_token", TEXT, AT(member.label), AT(member.position)},
#define LARGEST(name, member) KEY(name, member){name "_weight", REAL, AT(member.weight), AT(member.position)},
/* NOLINTEND(bugprone-macro-parentheses) */

/* The fields of a line: where they are, and where a size is that is 0 if the field is unknown. A text that is NULL, and
 * a layer that is none, are unknown too. */
static const struct field {
    const char *name;
    enum { SIZE, REAL, TEXT } type;
    size_t at, known;
} FIELDS[] = {{"layer", SIZE, AT(layer), AT(head)},
              {"head", SIZE, AT(head), AT(head)},
              HEAD_MEASURE_ROWS(MEASURE) /**/
              KEY("query", query)        /**/
              LARGEST("key_1", largest[0]) LARGEST("key_2", largest[1]) LARGEST("key_3", largest[2])};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

static void write_field(struct json *json, bool csv, const struct field *field, const struct head_line *line)
{
    const void *at = (const char *)line + field->at, *known = (const char *)line + field->known;
    const char *key = csv ? NULL : field->name;
    if (*(const size_t *)known == 0)
        return;
    if (field->type == REAL)
        json_real(json, key, *(const double *)at);
    else if (field->type == SIZE && *(const size_t *)at != MODULE_NO_LAYER)
        json_size(json, key, *(const size_t *)at);
    else if (field->type == TEXT && *(const char *const *)at != NULL && csv)
        csv_text_field(*(const char *const *)at, "", json->output);
    else if (field->type == TEXT && *(const char *const *)at != NULL)
        json_text(json, key, *(const char *const *)at);
}

void heads_json(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    (void)options, (void)precision;
    struct json json = {.output = output};
    json_begin(&json);
    json_text(&json, "words", heads->words);
    json_open(&json, "heads", '[');
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next) {
        json_line(&json, 1);
        json_open(&json, NULL, '{');
        for (size_t i = 0; i < FIELD_COUNT; i++)
            write_field(&json, false, &FIELDS[i], line);
        json_close(&json);
    }
    json_end(&json);
}

void heads_csv(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    (void)options, (void)precision;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        output_print(output, "%s%s", i > 0 ? "," : "", FIELDS[i].name);
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next)
        for (size_t i = 0; i < FIELD_COUNT; i++) {
            struct json json = {.output = output}; /* for its numbers */
            output_print(output, i > 0 ? "," : "\n");
            write_field(&json, true, &FIELDS[i], line);
        }
    output_print(output, "\n");
}
