/* SPDX-License-Identifier: MIT */
/* A flow from left to right, for a slide: its lines are bands, which stack their figures. Query, key and value have a
 * row each, and so has the matrix of each. */
#include "write/svg/svg_picture.h"

#include "model/stage_id.h"

#include <math.h>

static const double CELL_WIDTH = 34, TOKEN_WIDTH = 56, NARROWEST = 60, TITLE_SIZE = 14, LABEL_SIZE = 11, LEGIBLE = 9,
                    GAP = 26, BETWEEN = 34;

enum { MOST_STACKED = 4, COLUMNS = 4 };

/* What is tried: the width of cells of T x T tables and how many of these share a band, and how many heads stand side
 * by side, [in T x T tables]. */
struct arrangement {
    double cell;
    size_t stacked, heads[2];
};

static bool is_square(const struct svg_figure *figure)
{
    return stage_is_square(svg_stage_of(figure));
}

static void measure_figures(struct svg_picture *picture, const struct arrangement *arrangement)
{
    char name[SVG_FORMULA_BYTES];
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        figure->narrowest = fmax(NARROWEST, svg_width(svg_name(figure->panel.sample.table, name), TITLE_SIZE));
        figure->bare = false;
        if (is_square(figure))
            svg_figure_cells(picture, figure, arrangement->cell);
        svg_figure_measure(figure, memory_smaller(svg_heads_of(figure), arrangement->heads[is_square(figure)]));
    }
}

/* A rank begins a band, and so does the output, which is made from what stands before it. Only inputs and their like
 * share one whatever their number. */
static void choose_bands(struct svg_picture *picture, size_t stacked)
{
    size_t band = 0, here = 0;
    picture->bus = 0;
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        const enum svg_rank rank = svg_rank_of(figure), before = i > 0 ? svg_rank_of(figure - 1) : rank;
        const bool full = rank >= SVG_SQUARES && (here == stacked || svg_stage_of(figure) == STAGE_OUTPUT);
        if (i > 0 && (rank != before || full)) {
            band++;
            here = 0;
        }
        picture->bus = before <= SVG_WEIGHTS_LINE && rank > SVG_WEIGHTS_LINE ? band : picture->bus;
        figure->line = band;
        here++;
    }
}

/* From the top of a figure to the middle of its cells. */
static double above_middle(const struct svg_figure *figure)
{
    return (figure->title + figure->panel.above + figure->height) / 2;
}

/* Stacks the figures of each band, those of a row with their middles in line, and centres the bands. */
static void place_down(struct svg_picture *picture)
{
    double above[COLUMNS] = {0}, below[COLUMNS] = {0}, tops[COLUMNS + 1] = {0}, *heights = picture->bottoms, y = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const struct svg_figure *figure = &picture->figures[i];
        above[figure->column] = fmax(above[figure->column], above_middle(figure));
        below[figure->column] = fmax(below[figure->column], figure->height - above_middle(figure));
    }
    for (size_t column = 1; column < COLUMNS; column++)
        tops[column + 1] = tops[column] + above[column] + below[column] + (below[column] > 0 ? GAP : 0);
    picture->height = 0;
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        const size_t column = figure->column;
        y = i > 0 && figure->line == figure[-1].line ? y : 0;
        figure->y = column > 0 ? tops[column] + above[column] - above_middle(figure) : y;
        y += figure->height + GAP;
        heights[figure->line] = column > 0 ? tops[COLUMNS] - GAP : y - GAP;
        picture->height = fmax(picture->height, heights[figure->line]);
    }
    for (size_t i = 0; i < picture->count; i++)
        picture->figures[i].y += (picture->height - heights[picture->figures[i].line]) / 2;
}

/* A T x T table needs no row labels that the one to its left has. */
static void share_labels(struct svg_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        for (size_t j = 0; j < i; j++) {
            struct svg_figure *figure = &picture->figures[i], *left = &picture->figures[j];
            if (!is_square(figure) || !is_square(left) || left->line + 1 != figure->line)
                continue;
            figure->bare |= fabs(svg_cells_top(figure) - svg_cells_top(left)) < 0.01 &&
                            svg_flow_same_labels(left, figure) && figure->per_line == left->per_line;
            svg_figure_measure(figure, figure->per_line);
        }
}

/* Arrows from the sources pass between the first two matrices. */
static double lane_of(const struct svg_picture *picture)
{
    struct svg_figure *const first = svg_flow_next(picture, SVG_WEIGHTS_LINE, NULL);
    const struct svg_figure *const second = first != NULL ? svg_flow_next(picture, SVG_WEIGHTS_LINE, first) : NULL;
    return second != NULL ? (svg_cells_bottom(first) + second->y) / 2 : -SVG_LANE;
}

/* Places the bands from left to right, the cells of each from one line on. */
static void place_across(struct svg_picture *picture)
{
    double x = 0;
    for (size_t i = 0, next; i < picture->count; i = next) {
        double left = 0, end = x;
        for (next = i; next < picture->count && picture->figures[next].line == picture->figures[i].line; next++)
            left = fmax(left, svg_left_of(&picture->figures[next]));
        for (size_t j = i; j < next; j++) {
            struct svg_figure *figure = &picture->figures[j];
            figure->x = x + left - svg_left_of(figure);
            end = fmax(end, figure->x + figure->width);
        }
        picture->bottoms[picture->figures[i].line] = picture->width = end;
        x = end + BETWEEN;
    }
    picture->far = picture->height;
    picture->lane = lane_of(picture);
    picture->height += SVG_LANE;
}

/* Returns how far the picture can be magnified. */
static double place(struct svg_picture *picture, const struct arrangement *arrangement)
{
    measure_figures(picture, arrangement);
    choose_bands(picture, arrangement->stacked);
    place_down(picture);
    share_labels(picture);
    place_down(picture);
    place_across(picture);
    return svg_page(picture->width, svg_flow_height(picture), true).scale;
}

/* The most heads of a figure, and the width that the numbers of T x T tables need. */
static size_t measure_cells(struct svg_picture *picture, double *cell)
{
    size_t heads = 1;
    *cell = CELL_WIDTH;
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        heads = memory_larger(heads, svg_heads_of(figure));
        if (!is_square(figure))
            continue;
        svg_figure_cells(picture, figure, CELL_WIDTH);
        *cell = fmax(*cell, figure->panel.cell_width);
    }
    return heads;
}

/* Places the figures as well as they can be; returns how large their labels are on the slide. */
static double place_best(struct svg_picture *picture)
{
    struct arrangement best = {0}, tried;
    double largest = 0, cell;
    const size_t heads = measure_cells(picture, &cell), ways = (size_t)2 * MOST_STACKED * heads * heads;
    for (size_t way = 0; way < ways; way++) {
        tried.cell = way % 2 == 0 ? fmax(cell, TOKEN_WIDTH) : cell;
        tried.stacked = 1 + way / 2 % MOST_STACKED;
        tried.heads[0] = 1 + way / ((size_t)2 * MOST_STACKED) % heads;
        tried.heads[1] = 1 + way / ((size_t)2 * MOST_STACKED) / heads;
        const double scale = place(picture, &tried);
        if (scale > largest) {
            largest = scale;
            best = tried;
        }
    }
    return LABEL_SIZE * place(picture, &best);
}

static bool is_before_weights(const struct svg_figure *figure)
{
    return is_square(figure) && !stage_is_shares(svg_stage_of(figure));
}

double svg_wide_place(struct svg_picture *picture)
{
    bool (*const less[])(const struct svg_figure *figure) = {svg_is_matrix, is_before_weights};
    double size = place_best(picture);
    for (size_t i = 0; i < 2 && size < LEGIBLE && !picture->result->problem->chosen.stages_asked; i++) {
        size_t kept = 0;
        for (size_t figure = 0; figure < picture->count; figure++)
            if (!less[i](&picture->figures[figure]))
                picture->figures[kept++] = picture->figures[figure];
        picture->count = kept;
        size = place_best(picture);
    }
    return size;
}
