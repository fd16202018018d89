/* SPDX-License-Identifier: MIT */
#include "write/svg/svg_picture.h"

#include "model/stages.h"

#include <math.h>

static const double CELL_HEIGHT = 22, LONGEST_LABEL = 64, LABEL_SIZE = 11, TITLE_SIZE = 14;
static const double NAME = 16, FORMULA = 15, HEAD = 16, BESIDE = 14, BELOW = 10;

enum stage svg_stage_of(const struct svg_figure *figure)
{
    return figure->panel.sample.table->stage;
}

struct svg_figure *svg_figure_of(const struct svg_picture *picture, enum stage stage)
{
    for (size_t i = 0; i < picture->count; i++)
        if (svg_stage_of(&picture->figures[i]) == stage)
            return &picture->figures[i];
    return NULL;
}

bool svg_is_matrix(const struct svg_figure *figure)
{
    return svg_stage_of(figure) == STAGE_PARAMETERS;
}

enum svg_rank svg_rank_of(const struct svg_figure *figure)
{
    const enum stage stage = svg_is_matrix(figure) ? figure->makes : svg_stage_of(figure);
    if (!stage_exists(stage) || stage_is_of_inputs(stage))
        return SVG_SOURCES;
    if (STAGES[stage].backward && !stage_is_attended(stage))
        return SVG_BACK;
    if (STAGES[stage].backward)
        return stage_is_square(stage)           ? SVG_BACK_SQUARES
               : stage == STAGE_GRAD_PARAMETERS ? SVG_BACK_MATRICES
                                                : SVG_BACK_LAST;
    if (stage_is_attended(stage))
        return stage_is_square(stage) ? SVG_SQUARES : SVG_LAST;
    if (svg_is_matrix(figure))
        return SVG_WEIGHTS_LINE;
    if (STAGES[stage].operand)
        return SVG_OPERANDS;
    return (STAGES[stage].from & STAGE_BIT(STAGE_INPUTS)) != 0 ? SVG_PROJECTED : SVG_NORMED;
}

size_t svg_column_of(const struct svg_figure *figure)
{
    const enum svg_rank rank = svg_rank_of(figure);
    if (rank == SVG_SOURCES || rank >= SVG_SQUARES)
        return 0;
    return 1 + (size_t)projection_of(svg_is_matrix(figure) ? figure->makes : svg_stage_of(figure));
}

size_t svg_items_of(const struct result_table *table)
{
    return result_is_of(table, AXIS_ITEM) ? table->shape[0] : 1;
}

size_t svg_heads_of(const struct svg_figure *figure)
{
    return figure->panel.sample.matrices / svg_items_of(figure->panel.sample.table);
}

double svg_left_of(const struct svg_figure *figure)
{
    return figure->bare ? 0 : figure->panel.left;
}

/* From one head to the next, across and down. */
static double step_across(const struct svg_figure *figure)
{
    return svg_panel_width(&figure->panel) + fmax(BESIDE, figure->panel.beyond + 4);
}

static double step_down(const struct svg_figure *figure)
{
    return HEAD + figure->panel.above + svg_panel_height(&figure->panel) + BELOW;
}

double svg_cells_width(const struct svg_figure *figure)
{
    return (double)(figure->per_line - 1) * step_across(figure) + svg_panel_width(&figure->panel);
}

/* The middle of the cells: arrows arrive and leave there. */
double svg_cells_centre(const struct svg_figure *figure)
{
    return figure->x + svg_left_of(figure) + svg_cells_width(figure) / 2;
}

double svg_cells_right(const struct svg_figure *figure)
{
    return figure->x + svg_left_of(figure) + svg_cells_width(figure) + (figure->panel.sample.sharp ? SVG_SHARP : 0);
}

double svg_cells_top(const struct svg_figure *figure)
{
    return figure->y + figure->title + figure->panel.above;
}

double svg_cells_bottom(const struct svg_figure *figure)
{
    return figure->y + figure->height;
}

void svg_figure_measure(struct svg_figure *figure, size_t per_line)
{
    const struct result_table *table = figure->panel.sample.table;
    const size_t heads = svg_heads_of(figure), lines = (heads + per_line - 1) / per_line;
    char text[SVG_FORMULA_BYTES];
    figure->per_line = per_line;
    figure->width = fmax(figure->narrowest, svg_left_of(figure) + svg_cells_width(figure) + figure->panel.beyond);
    figure->width = fmax(figure->width, svg_width(svg_name(table, text), TITLE_SIZE));
    figure->title = NAME + 6 + (heads > 1 ? HEAD : 0);
    figure->title += FORMULA * (double)svg_paragraph(NULL, 0, 0, figure->width, "", LABEL_SIZE,
                                                     svg_formula(figure->panel.result, table, text));
    figure->height = figure->title + figure->panel.above + svg_panel_height(&figure->panel);
    figure->height += (double)(lines - 1) * step_down(figure);
}

void svg_figure_cells(struct svg_picture *picture, struct svg_figure *figure, double width)
{
    svg_panel_measure(&figure->panel,
                      (struct svg_measure){width, CELL_HEIGHT, LONGEST_LABEL, LABEL_SIZE, false, picture->decimals},
                      &picture->palette);
}

void svg_figure_draw(const struct svg_figure *figure, struct output *output, size_t item)
{
    const struct svg_panel *panel = &figure->panel;
    const size_t heads = svg_heads_of(figure), first = svg_items_of(panel->sample.table) > 1 ? item * heads : 0;
    const double left = figure->x + svg_left_of(figure), top = figure->y + figure->title + panel->above;
    char text[SVG_FORMULA_BYTES];
    svg_text(output, figure->x, figure->y + 12, 0, "title ink", svg_name(panel->sample.table, text));
    svg_paragraph(output, figure->x, figure->y + 12 + FORMULA, figure->width, "muted", LABEL_SIZE,
                  svg_formula(panel->result, panel->sample.table, text));
    for (size_t head = 0; head < heads; head++) {
        const size_t across = head % figure->per_line, down = head / figure->per_line;
        const double x = left + (double)across * step_across(figure), y = top + (double)down * step_down(figure);
        if (heads > 1) {
            problem_head_text(&panel->result->problem->labels.heads, head, text);
            if (svg_width(text, LABEL_SIZE) > step_across(figure)) /* without its name */
                problem_head_text(&(struct token_labels){0}, head, text);
            svg_text(output, x, y - panel->above - 6, 0, "ink", text);
        }
        svg_panel_draw(panel, output, first + head, x, y, across == 0 && !figure->bare);
    }
}
