/* A picture on its way: a figure for each table that is drawn, and the two ways to lay them out.
 *
 * A layout places the figures and says how large the picture is; then it draws them. Lengths are pixels. */
#ifndef ATTN_WRITE_SVG_SVG_PICTURE_H
#define ATTN_WRITE_SVG_SVG_PICTURE_H

#include "write/svg/svg_panel.h"

struct svg_figure {
    struct svg_panel panel;
    double x, y, width, height; /* all that belongs to it, title and labels too */
    double title;               /* height of the title */
    size_t per_line;            /* matrices side by side */
    size_t column;              /* of a flow */
};

struct svg_picture {
    struct result *result;
    int decimals; /* below 0: as the numbers need */
    enum theme theme;
    bool caption; /* words beneath it */
    struct svg_figure *figures;
    size_t count;
    struct svg_palette palette;
    double width, height; /* without margins and the caption */
    struct output *output;
    struct arena *arena;
    struct error *error;
};

/* Heatmaps one under the other, each a grid of its heads and items with a colour bar. Long tables are reduced.
 * STATUS_SYSTEM where memory is short. */
enum status svg_grid_layout(struct svg_picture *picture);
void svg_grid_draw(const struct svg_picture *picture);

/* Whether the tables are small enough for a flow. */
bool svg_flow_holds(const struct result_table *table);

/* Every table with its numbers, from left to right as each is made from others, with arrows; one flow for each item.
 * STATUS_SYSTEM where memory is short. */
enum status svg_flow_layout(struct svg_picture *picture);
void svg_flow_draw(const struct svg_picture *picture);

#endif
