/* SPDX-License-Identifier: MIT */
/* A picture: a figure for each table, and three layouts.
 *
 * A layout places the figures and measures the picture; then it draws them. Lengths are pixels. */
#pragma once

#include "write/picture/cell_number.h"
#include "write/svg/svg.h"

/* --- svg_panel.c: one table, its matrices as cells, with numbers where they can be read, tokens on both axes ------ */

/* It is measured once for all matrices of its table, and each is then drawn where the page has its place. */
struct svg_panel {
    struct result *result;
    struct downsample sample;
    struct colormap_scale scale;
    struct cell_number_style number;
    double cell_width, cell_height;
    double number_size;             /* of the font; 0: the cells are too small for numbers */
    double left, above, beyond;     /* what labels take before the rows, above the columns, behind the last one */
    bool row_tokens, column_tokens; /* whether each row, each column has its token; else some have their positions */
    bool slanted;                   /* column labels are too wide for horizontal text */
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

/* --- the picture -------------------------------------------------------------------------------------------------- */

/* The lines of a flow, from above to below; each may take several. */
enum svg_rank {
    SVG_SOURCES, /* inputs, their norm */
    SVG_WEIGHTS_LINE,
    SVG_PROJECTED,
    SVG_NORMED,
    SVG_OPERANDS,
    SVG_SQUARES,
    SVG_LAST, /* context, output and its matrix */
    SVG_BACK, /* gradients: the given one, and those with respect to what follows the weights */
    SVG_BACK_SQUARES,
    SVG_BACK_LAST,     /* with respect to query, key, value and inputs; */
    SVG_BACK_MATRICES, /* and to parameters */
};

struct svg_figure {
    struct svg_panel panel;
    double x, y, width, height; /* all that belongs to it, title and labels too */
    double title;               /* height of the title */
    double narrowest;           /* its words break to no less */
    size_t per_line;            /* matrices side by side */
    /* Of a flow: */
    enum stage makes; /* of a matrix: the stage that it makes, or is a part of */
    size_t line;      /* from above to below; in a wide flow a band, from left to right */
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
    enum pool pool;
    bool entropy; /* behind each row of shares */
    bool caption; /* words beneath it */
    bool walks;   /* an animation of one query */
    bool wide;    /* a slide of 16 : 9: a flow runs from left to right */
    struct svg_figure *figures;
    size_t count;
    struct svg_palette palette;
    double width, height; /* without margins and the caption */
    double *bottoms;      /* of a flow: where each of its lines ends, */
    size_t bus;           /* the first line beneath the sources and their matrices, */
    double far;           /* how far it reaches across its lines, */
    double lane;          /* where arrows from sources pass their matrices, */
    double type;          /* and in a wide one the size of its labels on the slide */
    struct output *output;
    struct arena *arena;
    struct error *error;
};

/* Heatmaps one under the other, each a grid of its heads and items with a colour bar. Long tables are reduced.
 * STATUS_SYSTEM where memory is short. */
enum status svg_grid_layout(struct svg_picture *picture);
void svg_grid_draw(const struct svg_picture *picture);

bool svg_flow_holds(const struct result_table *table);

/* Every table with its numbers, from above to below as each is made from others, with arrows; one flow for each item.
 * STATUS_SYSTEM where memory is short. */
enum status svg_flow_layout(struct svg_picture *picture);
void svg_flow_draw(const struct svg_picture *picture);

/* The next figure of a rank after that one, the first where `figure` is NULL; NULL where there is none. */
struct svg_figure *svg_flow_next(const struct svg_picture *picture, enum svg_rank rank, struct svg_figure *figure);

/* The height of the flows of all items, each as high as the picture. */
double svg_flow_height(const struct svg_picture *picture);

/* Whether the rows of both have the same labels at the same positions. */
bool svg_flow_same_labels(const struct svg_figure *one, const struct svg_figure *other);

/* svg_wide.c: places the figures, whose cells are measured, from left to right; `bottoms` has room for a line each. Of
 * several arrangements it takes the one whose type is largest on the slide. Where nobody asked for stages and the type
 * is too small even so, it leaves out figures: first the matrices, then T x T tables before the weights. Returns the
 * size of the type in pixels of the slide. */
double svg_wide_place(struct svg_picture *picture);

/* --- svg_walk.c: the walk of one query, animated, on a slide ----------------------------------------------------- */

bool svg_walk_takes(enum stage stage);

/* Of the query, head and item that --explain names, else of the last query of the first. STATUS_USAGE where a table is
 * missing. */
enum status svg_walk_layout(struct svg_picture *picture);
void svg_walk_draw(const struct svg_picture *picture);

/* --- svg_formula.c: formulas as a book sets them ----------------------------------------------------------------- */

/* "query . key^T" as Q K with a raised T, "sqrt(2)" as a root, -inf as a sign.
 *
 * What has a letter in Vaswani et al. 2017 is called by it: X (the inputs), Q, K, V, and W with its index. A table with
 * a letter says so before its own formula, and every other table is called by its name. */
enum { SVG_FORMULA_BYTES = 1024 };

/* The formula of a table, with its letter before it, marked for svg_text, into text (SVG_FORMULA_BYTES); "" where it
 * has neither. Returns text. */
const char *svg_formula(const struct result *result, const struct result_table *table, char *text);

/* The name of a table, into text (SVG_FORMULA_BYTES); returns text. */
const char *svg_name(const struct result_table *table, char *text);

/* --- svg_figure.c: what a figure of a flow shows, its title, its heads, and where its cells are ------------------ */

/* The first figure of a stage; NULL where there is none. */
struct svg_figure *svg_figure_of(const struct svg_picture *picture, enum stage stage);

/* STAGE_PARAMETERS of a matrix. */
enum stage svg_stage_of(const struct svg_figure *figure);
bool svg_is_matrix(const struct svg_figure *figure);
enum svg_rank svg_rank_of(const struct svg_figure *figure);

/* That of the query, the key or the value, from 1 on; 0 where it has none. */
size_t svg_column_of(const struct svg_figure *figure);

size_t svg_items_of(const struct result_table *table);
size_t svg_heads_of(const struct svg_figure *figure);

/* Makes the panel, with cells at least so wide; the caller has made its sample. */
void svg_figure_cells(struct svg_picture *picture, struct svg_figure *figure, double width);

/* Sets width, height and title for so many heads in a line. */
void svg_figure_measure(struct svg_figure *figure, size_t per_line);

/* The width of its row labels; of the cells of a line of heads the width, their middle across, that of the first
 * line down, and their right end; and where all cells begin and end down. */
double svg_left_of(const struct svg_figure *figure);
double svg_cells_width(const struct svg_figure *figure);
double svg_cells_centre(const struct svg_figure *figure);
double svg_cells_right(const struct svg_figure *figure);
double svg_cells_top(const struct svg_figure *figure);
double svg_cells_bottom(const struct svg_figure *figure);

void svg_figure_draw(const struct svg_figure *figure, struct output *output, size_t item);

/* --- svg_arrows.c: from line to line, or to the next in a line ------------------------------------------------ */

/* How far outside the lines an arrow runs that passes some, in pixels; the margins leave room for it. */
static const double SVG_LANE = 9;

/* The first figure that one is made from; itself where there is none. */
const struct svg_figure *svg_arrows_first(const struct svg_picture *picture, const struct svg_figure *to);

/* Draws the arrows that lead to that figure, once all are placed. */
void svg_arrows_draw(const struct svg_picture *picture, const struct svg_figure *to);

/* --- svg_weights.c: W_query, W_key and W_value before what they make, out_proj before the output ----------------- */

enum { SVG_WEIGHTS = 4 };

/* Adds the figures of the matrices; the array has room for them. None where --stages leaves parameters out, where
 * there are none, or where query, key and value come through a latent. Each is d_in x d_out, with its bias as a last
 * row; more than 12 rows or 4 columns are cut to those at the ends. STATUS_SYSTEM where memory is short,
 * STATUS_USAGE where the parameters of a latent were asked for. */
enum status svg_weights_add(struct svg_picture *picture);
