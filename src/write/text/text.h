/* result -> text for people: the settings in a line, then each table under a heading with name, formula and shape.
 *
 * Fixed decimals, aligned on the point; %e where a table's largest shown magnitude is outside 1e-4 .. 1e6. More than
 * RESULT_ELIDED rows or columns: the first and last half of it, with "..." between; only what is shown is computed. */
#ifndef ATTN_WRITE_TEXT_TEXT_H
#define ATTN_WRITE_TEXT_TEXT_H

#include "base/wrap.h"
#include "compute/result.h"
#include "write/text/heatmap.h"

struct text_style {
    int precision; /* decimals */
    bool full;     /* nothing is elided */
    bool color;    /* headings bold, masked entries dim */
    bool draws;    /* tables of T x T as heatmaps, in this style: */
    struct heatmap_style heatmap;
};

/* Inputs and parameters are shown where --stages names them and for attn init. STATUS_SYSTEM where memory is short. */
enum status write_text(struct result *result, struct text_style style, struct output *output, struct arena *arena,
                       struct error *error);

/* The tables of one stage, of the inputs or of the parameters. STATUS_SYSTEM where memory is short. */
enum status write_text_tables(struct result *result, enum stage stage, struct text_style style, struct output *output,
                              struct arena *arena, struct error *error);

#endif
