/* SPDX-License-Identifier: MIT */
/* heads -> a table of all heads for a terminal, and one of the best head of each kind. */
#include "heads/heads.h"

#include "base/wrap.h"
#include "write/table_text.h"

#include <string.h>

#define HEAD_MEASURE_ROW(id, ...) [HEAD_##id] = {__VA_ARGS__},
const struct head_measure_row HEAD_MEASURE[HEAD_MEASURES] = {HEAD_MEASURE_ROWS(HEAD_MEASURE_ROW)};

/* Aligns a text to the right in the column of that name; returns the width. */
static size_t write_cell(struct output *output, const char *name, const char *text, int precision)
{
    const size_t width = memory_larger(strlen(name), (size_t)precision + 2) + 1;
    output_print(output, "%*s", (int)width, text);
    return width;
}

/* The same for a number; "-" where it is unknown. */
static size_t write_number(struct output *output, const char *name, bool known, double number, int precision)
{
    char text[64] = "-";
    if (known)
        text_number(text, sizeof text, precision, false, number);
    return write_cell(output, name, text, precision);
}

/* "p (8)", or the position alone. */
static void add_key(struct text *text, const struct head_key *key)
{
    char shown[TABLE_TEXT_LABEL_BYTES] = "";
    if (key->label != NULL)
        text_shown(key->label, TABLE_TEXT_LABEL_COLUMNS, shown, sizeof shown);
    text_add(text, key->label != NULL ? "%s (%zu)" : "%s%zu", shown, key->position);
}

/* The largest key, and more of them while they fit into so many columns; with their query if it is another than that of
 * the first line. */
static void write_keys(struct output *output, const struct heads *heads, const struct head_line *line, size_t columns,
                       int precision)
{
    char bytes[(HEADS_LARGEST + 1) * (TABLE_TEXT_LABEL_BYTES + 64)], number[64];
    struct text text = text_begin(bytes, sizeof bytes);
    if (line->query.position != heads->lines->query.position && line->query.position > 0) {
        add_key(&text, &line->query);
        text_add(&text, ": ");
    }
    for (size_t i = 0; i < HEADS_LARGEST && line->largest[i].position > 0; i++) {
        const size_t before = text.length;
        text_add(&text, i > 0 ? ", " : "");
        add_key(&text, &line->largest[i]);
        text_add(&text, " %s", text_number(number, sizeof number, precision, false, line->largest[i].weight));
        if (i > 0 && text_columns(bytes) > columns) {
            bytes[before] = '\0';
            break;
        }
    }
    output_print(output, "%s%s", bytes[0] != '\0' ? "  " : "", bytes);
}

static void write_line(struct output *output, const struct heads *heads, const struct head_line *line, bool uniform,
                       int precision)
{
    size_t column = heads->layers != NULL ? 11 : 7;
    if (uniform)
        output_print(output, "%*s", (int)column, "uniform");
    else if (heads->layers != NULL)
        output_print(output, "%5zu%6zu", line->layer, line->head);
    else
        output_print(output, "%7zu", line->head);
    for (int measure = 0; measure < HEAD_MEASURES; measure++) {
        const struct head_mean *mean = &line->means[measure];
        column += write_number(output, HEAD_MEASURE[measure].name, mean->queries > 0,
                               uniform ? mean->uniform : mean->mean, precision);
    }
    if (!uniform)
        write_keys(output, heads, line, memory_left(output_columns(output), column + 2), precision);
    output_print(output, "\n");
}

/* What a kind is, and its best head. */
static void write_best(struct output *output, const struct heads *heads, int measure, int precision)
{
    const struct head_line *best = heads->best[measure];
    output_print(output, "%-11s%-22s", HEAD_MEASURE[measure].name, HEAD_MEASURE[measure].keys);
    if (best == NULL) {
        output_print(output, "  no head is above uniform\n");
        return;
    }
    if (heads->layers != NULL)
        output_print(output, "%7zu", best->layer);
    output_print(output, "%6zu", best->head);
    write_number(output, "mean", true, best->means[measure].mean, precision);
    write_number(output, "uniform", true, best->means[measure].uniform, precision);
    output_print(output, "%8zu\n", best->means[measure].queries);
}

void heads_text(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    const bool layered = heads->layers != NULL;
    char bytes[512 + TABLE_TEXT_LABEL_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);
    (void)options;
    wrap_words(&(struct wrap){.output = output, .columns = WRAP_COLUMNS, .indent = 2}, heads->words);
    output_print(output, "\n\n%s  head", layered ? "layer" : " ");
    for (int measure = 0; measure < HEAD_MEASURES; measure++)
        write_cell(output, HEAD_MEASURE[measure].name, HEAD_MEASURE[measure].name, precision);
    output_print(output, "  largest keys\n");
    for (const struct head_line *each = heads->lines; each != NULL; each = each->next) {
        write_line(output, heads, each, false, precision);
        bool same = each->next != NULL;
        for (int measure = 0; measure < HEAD_MEASURES && same; measure++)
            same = each->means[measure].uniform == each->next->means[measure].uniform;
        if (!same)
            write_line(output, heads, each, true, precision);
    }
    output_print(output, "\n%-33s%s  head", "best", layered ? "  layer" : "");
    write_cell(output, "mean", "mean", precision);
    write_cell(output, "uniform", "uniform", precision);
    output_print(output, " queries\n");
    for (int measure = 0; measure < HEAD_ENTROPY; measure++)
        write_best(output, heads, measure, precision);
    text_add(&text,
             "mean: the weight on such keys, over the queries that have one; uniform: with equal weights on all "
             "allowed keys. %s.",
             layered ? "Layers count from 0, heads from 1" : "Heads count from 1");
    if (heads->lines->query.position > 0) {
        text_add(&text, " Largest keys: of query ");
        add_key(&text, &heads->lines->query);
        text_add(&text, ".");
    }
    output_print(output, "\n");
    wrap_words(&(struct wrap){.output = output, .columns = WRAP_COLUMNS}, bytes);
    output_print(output, "\n");
}
