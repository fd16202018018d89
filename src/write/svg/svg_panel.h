/* SPDX-License-Identifier: MIT */
/* One table in an SVG: its matrices as cells, with numbers where they can be read, tokens on both axes.
 *
 * A panel is measured once for all matrices of its table, and each is then drawn where the page has its place. Lengths
 * are pixels. */
#ifndef ATTN_WRITE_SVG_SVG_PANEL_H
#define ATTN_WRITE_SVG_SVG_PANEL_H

#include "write/picture/cell_number.h"
#include "write/svg/svg.h"

struct svg_panel {
    struct result *result;
    struct downsample sample;
    struct colormap_scale scale;
    struct cell_number_style number;
    double cell_width, cell_height;
    double number_size;             /* of the font; 0: the cells are too small for numbers */
    double left, above, beyond;     /* what labels take before the rows, above the columns, behind the last one */
    bool row_tokens, column_tokens; /* whether each row, each column has its token; else some have their positions */
    bool slanted;                   /* column labels that are too wide to stand straight */
    double longest, label_size;     /* that a label may be, and its font; numbers are no larger */
    size_t gap_row, gap_column;     /* where numbers are left out; 0: nowhere */
    bool biased;                    /* its last row is a bias */
};

/* The limits of a cell: square (of one size, `width`), or as wide as its numbers need. */
struct svg_measure {
    double width, height, longest_label, label_size;
    bool square;
    int decimals; /* below 0: as cell_number_style chooses */
};

/* What a sum and an entropy behind a row take, together. */
static const double SVG_SHARP = 98;

/* Sets everything but result, sample, gaps and biased, which the caller sets. Marks the steps of its cells in the
 * palette. */
void svg_panel_measure(struct svg_panel *panel, struct svg_measure measure, struct svg_palette *palette);

double svg_panel_width(const struct svg_panel *panel);
double svg_panel_height(const struct svg_panel *panel);

/* Draws the matrix, its first cell at x, y; labels lie outside. */
void svg_panel_draw(const struct svg_panel *panel, struct output *output, size_t matrix, double x, double y,
                    bool with_row_labels);

/* A number as the cells show it, with a minus as long as a plus, into text (CELL_NUMBER_BYTES); returns text. */
const char *svg_panel_number(const struct svg_panel *panel, double number, char *text);

/* The token or position of a row or column (the first of a block), into text (SVG_LABEL_BYTES). */
void svg_panel_label(const struct svg_panel *panel, bool of_rows, size_t matrix, size_t index, char *text);

#endif
