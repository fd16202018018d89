/* SPDX-License-Identifier: MIT */
/* heads -> a table for a terminal, and the best head of each kind. */
#include "heads/heads.h"

#include "base/wrap.h"
#include "model/counting.h"
#include "write/table_text.h"

#include <string.h>

#define HEAD_MEASURE_ROW(id, ...) [HEAD_##id] = {__VA_ARGS__},
const struct head_measure_row HEAD_MEASURE[HEAD_MEASURES] = {HEAD_MEASURE_ROWS(HEAD_MEASURE_ROW)};

const char *heads_name(const struct head_line *line, char *text)
{
    if (line->layer == MODULE_NO_LAYER)
        snprintf(text, HEADS_NAME_BYTES, "head %zu", line->head + 1);
    else
        snprintf(text, HEADS_NAME_BYTES, COUNTING_LAYER ", " COUNTING_HEAD, line->layer, line->head + 1);
    return text;
}

/* "p (8)", or the position alone. */
static void write_key(struct output *output, const struct head_key *key)
{
    char shown[TABLE_TEXT_LABEL_BYTES] = "";
    if (key->label != NULL)
        text_shown(key->label, TABLE_TEXT_LABEL_COLUMNS, shown, sizeof shown);
    output_print(output, key->label != NULL ? "%s (%zu)" : "%s%zu", shown, key->position);
}

static void write_keys(struct output *output, const struct head_line *line, int precision)
{
    char number[64];
    output_print(output, "  ");
    write_key(output, &line->query);
    for (size_t i = 0; i < line->largest_count; i++) {
        output_print(output, i == 0 ? ": " : ", ");
        write_key(output, &line->largest[i]);
        output_print(output, " %s", text_number(number, sizeof number, precision, false, line->largest[i].weight));
    }
}

/* A measure in its column, "-" where no query counts; the name where `mean` is NULL. */
static void write_cell(struct output *output, int measure, const struct head_mean *mean, bool uniform, int precision)
{
    const char *name = HEAD_MEASURE[measure].name;
    char text[64] = "-";
    if (mean != NULL && mean->queries > 0)
        text_number(text, sizeof text, precision, false, uniform ? mean->uniform : mean->mean);
    output_print(output, "%*s", (int)memory_larger(strlen(name), (size_t)precision + 2) + 2,
                 mean != NULL ? text : name);
}

static void write_line(struct output *output, const struct head_line *line, bool uniform, int precision)
{
    if (line->layer != MODULE_NO_LAYER && uniform)
        output_print(output, "     uniform");
    else if (uniform)
        output_print(output, "uniform");
    else if (line->layer != MODULE_NO_LAYER)
        output_print(output, "%5zu%7zu", line->layer, line->head + 1);
    else
        output_print(output, "%7zu", line->head + 1);
    for (int measure = 0; measure < HEAD_MEASURES; measure++)
        write_cell(output, measure, &line->means[measure], uniform, precision);
    if (!uniform && line->largest_count > 0)
        write_keys(output, line, precision);
    output_print(output, "\n");
}

static bool same_uniform(const struct head_line *one, const struct head_line *other)
{
    bool same = true;
    for (int measure = 0; measure < HEAD_MEASURES; measure++)
        same = same && one->means[measure].uniform == other->means[measure].uniform;
    return same;
}

void heads_text(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    char name[HEADS_NAME_BYTES], number[64], uniform[64];
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = 2};
    (void)options;
    wrap_words(&line, heads->words);
    output_print(output, "\n\n%s   head", heads->layers != NULL ? "layer" : "");
    for (int measure = 0; measure < HEAD_MEASURES; measure++)
        write_cell(output, measure, NULL, false, precision);
    output_print(output, "  query: its largest keys\n");
    for (const struct head_line *each = heads->lines; each != NULL; each = each->next) {
        write_line(output, each, false, precision);
        if (each->next == NULL || !same_uniform(each, each->next))
            write_line(output, each, true, precision);
    }
    output_print(output, "\n");
    for (int measure = 0; measure < HEAD_ENTROPY; measure++) {
        const struct head_line *best = heads->best[measure];
        const struct head_mean *mean = best != NULL ? &best->means[measure] : NULL;
        if (best != NULL)
            output_print(output, "%s: %s: %s (uniform %s), over %zu quer%s\n", HEAD_MEASURE[measure].words,
                         heads_name(best, name), text_number(number, sizeof number, precision, false, mean->mean),
                         text_number(uniform, sizeof uniform, precision, false, mean->uniform), mean->queries,
                         mean->queries == 1 ? "y" : "ies");
    }
    output_print(output, "Shares are mean weights on such keys, over the queries that have one;\n"
                         "uniform: of equal weights on all allowed keys.\n");
}
