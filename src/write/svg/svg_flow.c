/* SPDX-License-Identifier: MIT */
#include "model/stage_id.h"
#include "write/svg/svg_picture.h"

#include <math.h>
#include <string.h>

static const double CELL_WIDTH = 34, TOKEN_WIDTH = 56, NARROWEST = 128, ITEM = 22, GAP = 24, BETWEEN = 42;

enum { MOST_ROWS = 12, MOST_MATRICES = 4, COLUMNS = 4 };

bool svg_flow_holds(const struct result_table *table)
{
    const bool ranked = result_column_axis(table) == AXIS_WORD;
    bool fits = result_rows(table) <= MOST_ROWS && (ranked || result_columns(table) <= MOST_ROWS);
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        fits &= table->shape[axis] <= MOST_MATRICES;
    return fits;
}

/* Heads in a line, the same number in each of as few lines as `most` allows. */
static size_t even(size_t heads, size_t most)
{
    const size_t lines = (heads + most - 1) / most;
    return (heads + lines - 1) / lines;
}

static enum status make_samples(struct svg_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        struct svg_panel *panel = &figure->panel;
        const size_t most = svg_is_matrix(figure) ? MOST_ROWS + 2 : MOST_ROWS; /* with its gap and its bias */
        if (downsample_create(&panel->sample, picture->result, panel->sample.table, most, most, picture->pool,
                              picture->arena, picture->error) != STATUS_OK)
            return picture->error->status;
        downsample_sharpen(&panel->sample, picture->entropy);
        panel->result = picture->result;
        figure->column = svg_column_of(figure);
        figure->narrowest = NARROWEST;
        svg_figure_cells(picture, figure, CELL_WIDTH);
        svg_figure_measure(figure, svg_heads_of(figure));
    }
    return STATUS_OK;
}

/* How many T x T tables of one width, at least CELL_WIDTH for each cell, fit side by side. */
static size_t fit_squares(struct svg_picture *picture)
{
    double left = 0, cell = CELL_WIDTH, columns = 1, gap = GAP;
    for (size_t i = 0; i < picture->count; i++)
        if (stage_is_square(svg_stage_of(&picture->figures[i]))) {
            const struct svg_panel *panel = &picture->figures[i].panel;
            left = fmax(left, panel->left);
            cell = fmax(cell, panel->cell_width);
            columns = (double)panel->sample.columns;
            gap = panel->sample.sharp ? GAP + SVG_SHARP : gap;
        }
    const double room = SVG_PAGE_WIDTH - left;
    const size_t fit = (size_t)fmax(1, floor((room + GAP) / (columns * cell + gap)));
    const size_t most = fit > MOST_MATRICES ? MOST_MATRICES : fit;
    cell = fmax(cell, fmin(TOKEN_WIDTH, floor(((room + GAP) / (double)(most < 2 ? most : 2) - gap) / columns)));
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        if (!stage_is_square(svg_stage_of(figure)))
            continue;
        svg_figure_cells(picture, figure, cell);
        svg_figure_measure(figure, even(svg_heads_of(figure), most));
    }
    return most;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

bool svg_flow_same_labels(const struct svg_figure *one, const struct svg_figure *other)
{
    const struct downsample *a = &one->panel.sample, *b = &other->panel.sample;
    char label[SVG_LABEL_BYTES], another[SVG_LABEL_BYTES];
    if (a->rows != b->rows || svg_is_matrix(one) != svg_is_matrix(other))
        return false;
    if (svg_is_matrix(one))
        return one->panel.biased && other->panel.biased;
    for (size_t item = 0; item < svg_items_of(a->table); item++)
        for (size_t row = 0; row < a->rows; row++) {
            svg_panel_label(&one->panel, true, item * svg_heads_of(one), row, label);
            svg_panel_label(&other->panel, true, item * svg_heads_of(other), row, another);
            if (strcmp(label, another) != 0)
                return false;
        }
    return true;
}

/* A figure needs no row labels that the figure before it in the line has. */
static void set_bare(struct svg_figure *figure, const struct svg_figure *before, size_t per_line)
{
    figure->bare = before != NULL && svg_flow_same_labels(before, figure);
    svg_figure_measure(figure, even(svg_heads_of(figure), per_line));
}

struct svg_figure *svg_flow_next(const struct svg_picture *picture, enum svg_rank rank, struct svg_figure *figure)
{
    for (figure = figure == NULL ? picture->figures : figure + 1; figure < picture->figures + picture->count; figure++)
        if (svg_rank_of(figure) == rank)
            return figure;
    return NULL;
}

/* Places the columns for query, key and value from x on, with at most so many heads in a line; returns where they
 * end, x where there are none. A matrix begins where the cells below it begin. */
static double place_columns(const struct svg_picture *picture, double x, size_t per_line)
{
    double widths[COLUMNS] = {0}, left[COLUMNS] = {0};
    for (enum svg_rank rank = SVG_OPERANDS; rank >= SVG_WEIGHTS_LINE; rank--)
        for (struct svg_figure *before = NULL, *figure; (figure = svg_flow_next(picture, rank, before)) != NULL;
             before = figure) {
            const size_t column = figure->column;
            set_bare(figure, before, per_line);
            if (svg_is_matrix(figure) && !figure->bare)
                figure->panel.left =
                    fmax(figure->panel.left, fmin(left[column], widths[column] - svg_cells_width(figure)));
            svg_figure_measure(figure, figure->per_line);
            left[column] = fmax(left[column], svg_left_of(figure));
            widths[column] = fmax(widths[column], figure->width);
        }
    for (size_t column = 1; column < COLUMNS; column++) {
        for (size_t i = 0; i < picture->count; i++)
            if (picture->figures[i].column == column)
                picture->figures[i].x = x;
        x += widths[column] > 0 ? widths[column] + GAP : 0;
    }
    return x;
}

/* Places the figures of a rank, in as many lines as they need from `line` on; returns the next line. */
static size_t place_rank(const struct svg_picture *picture, enum svg_rank rank, size_t line, size_t per_line)
{
    struct svg_figure *before = NULL;
    double x = 0;
    for (struct svg_figure *figure = NULL; (figure = svg_flow_next(picture, rank, figure)) != NULL; before = figure) {
        set_bare(figure, before, per_line);
        if (before != NULL && x + figure->width > SVG_PAGE_WIDTH) {
            line++;
            x = 0;
            set_bare(figure, NULL, per_line);
        }
        figure->x = x;
        figure->line = line;
        x += figure->width + GAP;
    }
    return before != NULL ? line + 1 : line;
}

/* Places sources to operands: matrices next to the sources where there is room, else below them. Returns the next
 * line. */
static size_t place_operands(struct svg_picture *picture)
{
    size_t line = place_rank(picture, SVG_SOURCES, 0, MOST_MATRICES), per_line = MOST_MATRICES;
    double sources = 0;
    while (per_line > 1 && place_columns(picture, 0, per_line) > SVG_PAGE_WIDTH + GAP)
        per_line--;
    for (struct svg_figure *figure = NULL; (figure = svg_flow_next(picture, SVG_SOURCES, figure)) != NULL;)
        sources = fmax(sources, figure->x + figure->width + GAP);
    const bool one_line = line == 1 && svg_flow_next(picture, SVG_WEIGHTS_LINE, NULL) != NULL &&
                          place_columns(picture, sources, per_line) <= SVG_PAGE_WIDTH + GAP;
    if (one_line)
        line = 0;
    else
        place_columns(picture, 0, per_line);
    for (enum svg_rank rank = SVG_WEIGHTS_LINE; rank <= SVG_OPERANDS; rank++) {
        struct svg_figure *figure = NULL;
        while ((figure = svg_flow_next(picture, rank, figure)) != NULL)
            figure->line = line;
        line += svg_flow_next(picture, rank, NULL) != NULL;
        picture->bus = rank == SVG_WEIGHTS_LINE ? line : picture->bus;
    }
    return line;
}

/* How many heads of a rank stand in a line, so that what follows fits next to them, if possible. */
static size_t heads_in_line(const struct svg_picture *picture, enum svg_rank rank)
{
    size_t per_line = MOST_MATRICES;
    for (; per_line > 1; per_line--) {
        double width = 0;
        for (struct svg_figure *figure = NULL; (figure = svg_flow_next(picture, rank, figure)) != NULL;) {
            svg_figure_measure(figure, even(svg_heads_of(figure), per_line));
            width += figure->width + GAP;
        }
        if (width <= SVG_PAGE_WIDTH + GAP)
            break;
    }
    return per_line;
}

/* In a line all cells begin at one height. */
static double place_line(const struct svg_picture *picture, size_t line, double y)
{
    double above = 0, below = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const struct svg_figure *figure = &picture->figures[i];
        if (figure->line != line)
            continue;
        above = fmax(above, figure->title + figure->panel.above);
        below = fmax(below, figure->height - figure->title - figure->panel.above);
    }
    for (size_t i = 0; i < picture->count; i++)
        if (picture->figures[i].line == line)
            picture->figures[i].y = y + above - picture->figures[i].title - picture->figures[i].panel.above;
    return y + above + below;
}

/* A matrix is the same for all items. */
static size_t count_items(const struct svg_picture *picture)
{
    size_t items = 1;
    for (size_t i = 0; i < picture->count; i++)
        items = memory_larger(items, svg_items_of(picture->figures[i].panel.sample.table));
    return items;
}

/* Gradients of parameters are in the order of the gradients that make them. */
static int order_of(const struct svg_picture *picture, const struct svg_figure *figure)
{
    if (svg_rank_of(figure) == SVG_BACK_MATRICES)
        return (int)(svg_arrows_first(picture, figure) - picture->figures);
    const enum stage stage = svg_is_matrix(figure) ? figure->makes : svg_stage_of(figure);
    return 2 * (stage_is_of_inputs(stage) ? STAGE_NAMES : (int)stage) + !svg_is_matrix(figure);
}

/* Sorts by rank, and within it from left to right, in whatever order --stages names them. */
static void sort_figures(const struct svg_picture *picture)
{
    for (size_t i = 1; i < picture->count; i++)
        for (size_t j = i; j > 0; j--) {
            struct svg_figure *one = &picture->figures[j - 1], *other = one + 1;
            const int ranks = (int)svg_rank_of(one) - (int)svg_rank_of(other);
            if (ranks < 0 || (ranks == 0 && order_of(picture, one) <= order_of(picture, other)))
                break;
            const struct svg_figure moved = *one;
            *one = *other;
            *other = moved;
        }
}

double svg_flow_height(const struct svg_picture *picture)
{
    const size_t items = count_items(picture);
    return items > 1 ? (picture->height + ITEM + BETWEEN) * (double)items - BETWEEN : picture->height;
}

static void place_lines(struct svg_picture *picture)
{
    const size_t squares = fit_squares(picture);
    size_t lines = place_operands(picture);
    for (enum svg_rank rank = SVG_SQUARES; rank <= SVG_BACK_MATRICES; rank++) {
        const bool square = rank == SVG_SQUARES || rank == SVG_BACK_SQUARES;
        lines = place_rank(picture, rank, lines, square ? squares : heads_in_line(picture, rank));
    }
    for (size_t line = 0; line < lines; line++)
        picture->bottoms[line] = place_line(picture, line, line > 0 ? picture->bottoms[line - 1] + BETWEEN : 0);
    for (size_t i = 0; i < picture->count; i++)
        picture->width = fmax(picture->width, picture->figures[i].x + picture->figures[i].width);
    picture->far = picture->width;
    picture->lane = -SVG_LANE;
    picture->height = picture->bottoms[lines - 1] + SVG_LANE;
}

enum status svg_flow_layout(struct svg_picture *picture)
{
    sort_figures(picture);
    if (make_samples(picture) != STATUS_OK)
        return picture->error->status;
    picture->bottoms = arena_allocate(picture->arena, picture->count, sizeof *picture->bottoms, picture->error);
    if (picture->bottoms == NULL)
        return picture->error->status;
    if (picture->wide)
        picture->type = svg_wide_place(picture);
    else
        place_lines(picture);
    picture->height = svg_flow_height(picture);
    return STATUS_OK;
}

void svg_flow_draw(const struct svg_picture *picture)
{
    const size_t items = count_items(picture);
    const double height = (picture->height + BETWEEN) / (double)items, above = items > 1 ? ITEM : 0;
    char text[SVG_LABEL_BYTES];
    for (size_t item = 0; item < items; item++) {
        svg_tag(picture->output, "<g class=\"small\" transform=\"translate(0 #)\">\n", height * (double)item + above);
        snprintf(text, sizeof text, "item %zu", item + 1);
        if (items > 1)
            svg_text(picture->output, 0, -8, 0, "name ink", text);
        for (size_t i = 0; i < picture->count; i++)
            if (stage_exists(svg_stage_of(&picture->figures[i])))
                svg_arrows_draw(picture, &picture->figures[i]);
        for (size_t i = 0; i < picture->count; i++)
            svg_figure_draw(&picture->figures[i], picture->output, item);
        output_print(picture->output, "</g>\n");
    }
}
