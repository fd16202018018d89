/* SPDX-License-Identifier: MIT */
/* A figure of a flow: what it shows, its title, its heads, and where its cells are. */
#ifndef ATTN_WRITE_SVG_SVG_FIGURE_H
#define ATTN_WRITE_SVG_SVG_FIGURE_H

#include "write/svg/svg_picture.h"

/* The lines of a flow, from above to below; a line may become several. */
enum svg_rank {
    SVG_SOURCES, /* inputs, their norm */
    SVG_WEIGHTS_LINE,
    SVG_PROJECTED,
    SVG_NORMED,
    SVG_OPERANDS,
    SVG_SQUARES,
    SVG_LAST, /* context, output and its matrix */
};

/* STAGE_PARAMETERS of a matrix. */
enum stage svg_stage_of(const struct svg_figure *figure);
bool svg_is_matrix(const struct svg_figure *figure);
enum svg_rank svg_rank_of(const struct svg_figure *figure);

/* That of the query, the key or the value, from 1 on; 0 where it has none. */
size_t svg_column_of(const struct svg_figure *figure);

size_t svg_items_of(const struct result_table *table);
size_t svg_heads_of(const struct svg_figure *figure);

/* Makes the panel, with cells at least so wide; its sample is there. */
void svg_figure_cells(struct svg_picture *picture, struct svg_figure *figure, double width);

/* Sets what follows from so many heads in a line: width, height, title. */
void svg_figure_measure(struct svg_figure *figure, size_t per_line);

/* What its labels take at the left; and of all cells of a line of heads the width, their middle across and that of the
 * first line down, and their right end. */
double svg_left_of(const struct svg_figure *figure);
double svg_cells_width(const struct svg_figure *figure);
double svg_cells_centre(const struct svg_figure *figure);
double svg_cells_middle(const struct svg_figure *figure);
double svg_cells_right(const struct svg_figure *figure);

void svg_figure_draw(const struct svg_figure *figure, struct output *output, size_t item);

#endif
