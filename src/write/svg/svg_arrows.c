/* SPDX-License-Identifier: MIT */
#include "write/svg/svg_picture.h"

#include "model/stages.h"
#include "stage/stage.h"

#include <math.h>
#include <string.h>

static const double BELOW = 10, TIP = 6, ABOVE_TIP = 3, PORT = 13, STEP = 8, STRAIGHTENED = 16;

enum { ARROWS = 8 };

/* The gradients that make that of a parameter, by a word of its name. */
static uint64_t made_from(const char *parameter)
{
    static const struct {
        const char *word;
        uint64_t stages;
    } ROWS[] = {{"unembedding", STAGE_BIT(STAGE_GRAD_LOGITS)},
                {"out_proj", STAGE_BIT(STAGE_GRAD_OUTPUT)},
                {"gate", STAGE_BIT(STAGE_GRAD_GATE)},
                {"key_value", STAGE_BIT(STAGE_GRAD_PROJECTED_KEY) | STAGE_BIT(STAGE_GRAD_PROJECTED_VALUE)},
                {"query", STAGE_BIT(STAGE_GRAD_PROJECTED_QUERY)},
                {"key", STAGE_BIT(STAGE_GRAD_PROJECTED_KEY)},
                {"value", STAGE_BIT(STAGE_GRAD_PROJECTED_VALUE)}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (strstr(parameter, ROWS[i].word) != NULL)
            return ROWS[i].stages;
    return 0;
}

/* The drawn stages that a table is made from: its sources, or where one is not drawn, that one's sources. A gradient
 * has arrows from gradients alone: its formula names the other tables. */
static uint64_t find_sources(const struct svg_picture *picture, enum stage stage, const char *name)
{
    uint64_t sources = 0;
    const uint64_t from = stage == STAGE_GRAD_PARAMETERS ? made_from(name)
                          : stage_is_attended(stage) || STAGES[stage].backward
                              ? STAGES[stage].from
                              : STAGE_BIT(stage_before(picture->result->problem, stage));
    for (enum stage source = 0; source < STAGE_NAMES; source++) {
        if ((from & STAGE_BIT(source)) == 0 || (STAGES[stage].backward && !STAGES[source].backward) ||
            (source == STAGE_GRAD_GATE && !stage_applies(picture->result->problem, source)))
            continue;
        if (svg_figure_of(picture, source) != NULL)
            sources |= STAGE_BIT(source);
        else if (stage_exists(source))
            sources |= find_sources(picture, source, "");
    }
    return sources & STAGE_BIT(STAGE_EMBEDDED) ? sources & ~STAGE_BIT(STAGE_INPUTS) : sources;
}

/* Whether the matrix makes the figure: the first stage of its projection. */
static bool multiplies(const struct svg_picture *picture, const struct svg_figure *matrix,
                       const struct svg_figure *figure)
{
    if (!svg_is_matrix(matrix) || svg_is_matrix(figure))
        return false;
    if (!stage_exists(svg_stage_of(figure)) || matrix->column != figure->column)
        return false;
    if (matrix->column == 0)
        return svg_stage_of(figure) == matrix->makes;
    const enum stage before = stage_before(picture->result->problem, svg_stage_of(figure));
    return !stage_exists(before) || stage_is_of_inputs(before);
}

/* Where a figure ends along the flow, which is down the page, or to the right if it is wide; the middle of its cells
 * across the flow. */
static double end_of(const struct svg_picture *picture, const struct svg_figure *figure)
{
    return picture->wide ? svg_cells_right(figure) : svg_cells_bottom(figure);
}

static double centre_of(const struct svg_picture *picture, const struct svg_figure *figure)
{
    return picture->wide ? (svg_cells_top(figure) + svg_cells_bottom(figure)) / 2 : svg_cells_centre(figure);
}

/* Whether an arrow passes other figures, which it must not cross. */
static bool passes(const struct svg_figure *from, const struct svg_figure *to)
{
    return from->line + 1 < to->line && (from->column != to->column || to->column == 0);
}

/* How far across an arrow comes from: sources from the near edge, arrows past other lines from the far one. */
static double comes_from(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to)
{
    return svg_rank_of(from) == SVG_SOURCES ? -INFINITY : passes(from, to) ? INFINITY : centre_of(picture, from);
}

/* The figures that one is made from, from left to right, into list (ARROWS); returns how many. */
static size_t list_sources(const struct svg_picture *picture, const struct svg_figure *to,
                           const struct svg_figure **list)
{
    const uint64_t sources = find_sources(picture, svg_stage_of(to), to->panel.sample.table->name);
    size_t count = 0;
    for (size_t i = 0; i < picture->count && count < ARROWS; i++) {
        const struct svg_figure *figure = &picture->figures[i];
        if (!multiplies(picture, figure, to) &&
            (svg_is_matrix(figure) || (sources & STAGE_BIT(svg_stage_of(figure))) == 0))
            continue;
        size_t place = count++;
        for (; place > 0 && comes_from(picture, list[place - 1], to) > comes_from(picture, figure, to); place--)
            list[place] = list[place - 1];
        list[place] = figure;
    }
    return count;
}

/* --- paths ------------------------------------------------------------------------------------------------------ */

static void begin_wire(const struct svg_picture *picture, double across, double along)
{
    const bool wide = picture->wide;
    svg_tag(picture->output, "<path class=\"wire\" d=\"M# #", wide ? along : across, wide ? across : along);
}

static void go_along(const struct svg_picture *picture, double along)
{
    svg_tag(picture->output, picture->wide ? "H#" : "V#", along);
}

static void go_across(const struct svg_picture *picture, double across)
{
    svg_tag(picture->output, picture->wide ? "V#" : "H#", across);
}

/* Ends the wire before its tip. */
enum tip { TIP_ONWARD, TIP_BESIDE, TIP_BACK };

static void end_wire(const struct svg_picture *picture, double across, double along, enum tip tip)
{
    static const char DOWN[] = "l-4 -7h8z", RIGHT[] = "l-7 -4v8z", UP[] = "l-4 7h8z", LEFT[] = "l7 -4v8z";
    const bool wide = picture->wide;
    const char *shape = tip == TIP_BACK ? (wide ? LEFT : UP) : (tip == TIP_ONWARD) == wide ? RIGHT : DOWN;
    if (tip == TIP_BESIDE)
        go_across(picture, across - TIP);
    else
        go_along(picture, tip == TIP_BACK ? along + TIP : along - TIP);
    output_print(picture->output, "\"/>\n");
    svg_tag(picture->output, "<path class=\"tip\" d=\"M# #", wide ? along : across, wide ? across : along);
    output_print(picture->output, "%s\"/>\n", shape);
}

/* Within a line: to the next figure, or beyond those between to a later one. */
static void draw_beside(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to)
{
    if (to == from + 1) {
        const bool wide = picture->wide;
        const struct svg_figure *low = to->height < from->height ? to : from;
        const double along = wide ? svg_cells_centre(svg_cells_width(to) < svg_cells_width(from) ? to : from)
                                  : svg_cells_top(low) + svg_panel_height(&low->panel) / 2;
        begin_wire(picture, (wide ? svg_cells_bottom(from) : svg_cells_right(from)) + 4, along);
        end_wire(picture, (wide ? to->y : to->x) - ABOVE_TIP, along, TIP_BESIDE);
        return;
    }
    begin_wire(picture, centre_of(picture, from), end_of(picture, from) + 4);
    go_along(picture, picture->bottoms[from->line] + SVG_LANE);
    go_across(picture, centre_of(picture, to));
    end_wire(picture, centre_of(picture, to), end_of(picture, to) + 4, TIP_BACK);
}

/* --- from line to line ------------------------------------------------------------------------------------------- */

/* Where an arrow leaves a figure: in its middle, or opposite its aim. */
static double leaves_at(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to,
                        double port)
{
    const double length = picture->wide ? svg_cells_bottom(from) - svg_cells_top(from) : svg_cells_width(from);
    const double half = length / 2 - STEP, centre = centre_of(picture, from);
    if (from->column != to->column || from->line == to->line)
        return centre;
    return svg_rank_of(from) == SVG_SOURCES || fabs(port - centre) > half ? centre : port;
}

/* From an earlier line: straight, or round two corners; arrows past other lines run along the near edge from sources,
 * else along the far one. */
static void draw_onward(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to,
                        double port, double depth)
{
    const double leaves = leaves_at(picture, from, to, port);
    const bool source = svg_rank_of(from) == SVG_SOURCES;
    /* It turns below this line; from a source to a column, below the matrices. */
    const size_t line = to->column > 0 && source && picture->bus > 0 ? picture->bus - 1 : to->line - 1;
    const size_t which = (size_t)(from - picture->figures),
                 apart = svg_rank_of(to) == SVG_BACK_MATRICES ? which % 2 : 0;
    const double out = picture->bottoms[from->line] + BELOW + STEP * (double)(source ? which : apart);
    const double edge = to->column > 0 ? picture->lane : -SVG_LANE;
    const double lane = source ? edge - depth * 0.6 : picture->far + SVG_LANE + STEP * (double)apart;
    begin_wire(picture, leaves, end_of(picture, from) + 4);
    const bool around = from->line < line && (leaves != port || passes(from, to));
    if (around) {
        go_along(picture, out);
        go_across(picture, lane);
    }
    if (around || leaves != port) {
        go_along(picture, picture->bottoms[line] + BELOW + depth + (around ? STEP * (double)apart : 0));
        go_across(picture, port);
    }
    end_wire(picture, port, (picture->wide ? to->x : to->y) - ABOVE_TIP, TIP_ONWARD);
}

/* Where the first arrow from above arrives, so that one that is nearly straight becomes straight. */
static double first_port(const struct svg_picture *picture, const struct svg_figure *to,
                         const struct svg_figure *const *from, size_t count)
{
    double first = centre_of(picture, to) - (double)(count - 1) / 2 * PORT, nearest = STRAIGHTENED;
    double shift = 0;
    for (size_t i = 0; i < count; i++) {
        const double off = centre_of(picture, from[i]) - (first + (double)i * PORT);
        if (fabs(off) < nearest && !passes(from[i], to)) {
            nearest = fabs(off);
            shift = off;
        }
    }
    return first + shift;
}

/* How many of the arrows come from nearer: those from further turn lower, so that none cross. */
static size_t nearer(const struct svg_picture *picture, const struct svg_figure *const *from, size_t count, size_t i,
                     double first)
{
    const double far = fabs(centre_of(picture, from[i]) - (first + (double)i * PORT));
    size_t less = 0;
    for (size_t j = 0; j < count; j++)
        less += j != i && fabs(centre_of(picture, from[j]) - (first + (double)j * PORT)) < far;
    return less;
}

const struct svg_figure *svg_arrows_first(const struct svg_picture *picture, const struct svg_figure *to)
{
    const struct svg_figure *all[ARROWS];
    return list_sources(picture, to, all) > 0 ? all[0] : to;
}

/* Begins an arrow; a pointer that rests on it shows what it leads to, and the formula: of the gradient of a parameter,
 * whose figure has none, the sum that each number is. */
static void begin_arrow(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to)
{
    const char *name = to->panel.sample.table->name;
    struct problem problem = *picture->result->problem;
    char formula[SVG_FORMULA_BYTES];
    problem.chosen.cell_name = NULL;
    if (svg_stage_of(to) == STAGE_GRAD_PARAMETERS &&
        parameters_find(&problem.parameters, problem.plan.stacked, name + strlen("grad_"), &problem.chosen.cell_place))
        problem.chosen.cell_name = name;
    stage_formula(&problem, svg_stage_of(to), formula, sizeof formula);
    output_print(picture->output, "<g><title>");
    svg_words(picture->output, "%s → %s = %s", from->panel.sample.table->name, name, formula);
    output_print(picture->output, "</title>\n");
}

void svg_arrows_draw(const struct svg_picture *picture, const struct svg_figure *to)
{
    const struct svg_figure *all[ARROWS], *above[ARROWS];
    const size_t sources = list_sources(picture, to, all);
    size_t count = 0;
    for (size_t i = 0; i < sources; i++)
        if (all[i]->line == to->line) {
            begin_arrow(picture, all[i], to);
            draw_beside(picture, all[i], to);
            output_print(picture->output, "</g>\n");
        } else {
            above[count++] = all[i];
        }
    const double first = count > 0 ? first_port(picture, to, above, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const bool source = svg_rank_of(above[i]) == SVG_SOURCES; /* all arrows of one source turn at one height */
        size_t depth = source ? 0 : nearer(picture, above, count, i, first);
        if (svg_rank_of(to) == SVG_BACK_MATRICES || (svg_rank_of(to) == SVG_BACK_LAST && passes(above[i], to)))
            depth = memory_larger(depth, 1);            /* apart from those within a line, and that pass none */
        const struct svg_figure *behind = above[i] + 1; /* the first source's arrows go around the others */
        for (; source && behind < picture->figures + picture->count; behind++)
            depth += svg_rank_of(behind) == SVG_SOURCES;
        begin_arrow(picture, above[i], to);
        draw_onward(picture, above[i], to, first + (double)i * PORT, STEP * (double)depth);
        output_print(picture->output, "</g>\n");
    }
}
