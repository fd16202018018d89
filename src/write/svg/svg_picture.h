/* SPDX-License-Identifier: MIT */
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
    /* Of a flow: */
    enum stage makes; /* of a matrix: the stage that it makes, or is a part of */
    size_t line;      /* from above to below */
    size_t column;    /* from 1: that of the query, the key, the value and what they are made of; 0: none */
    bool bare;        /* its rows have their labels in the figure before it */
};

/* A picture is no wider than this, if it can be: 700 pixels with its margins, 170 mm of a page, where 11 pixels are 7.6
 * points. */
static const double SVG_PAGE_WIDTH = 656;

struct svg_picture {
    struct result *result;
    int decimals; /* below 0: as the numbers need */
    enum theme theme;
    bool caption; /* words beneath it */
    struct svg_figure *figures;
    size_t count;
    struct svg_palette palette;
    double width, height; /* without margins and the caption */
    double *bottoms;      /* of a flow: where each of its lines ends, */
    size_t bus;           /* and the first line beneath the sources and their matrices */
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

/* Every table with its numbers, from above to below as each is made from others, with arrows; one flow for each item.
 * STATUS_SYSTEM where memory is short. */
enum status svg_flow_layout(struct svg_picture *picture);
void svg_flow_draw(const struct svg_picture *picture);

#endif
