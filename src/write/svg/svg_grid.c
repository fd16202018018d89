/* SPDX-License-Identifier: MIT */
#include "model/stage_id.h"
#include "write/svg/svg_picture.h"

#include "write/table_text.h"

#include <math.h>

/* A heatmap is no wider than a page; its cells are no larger than a number needs. Cells smaller than a share,
 * "0.25", or a signed number, "-0.25", show no number; below another size there are no tokens. */
static const double LARGEST_CELL = 56, SHARE_CELL = 26, SIGNED_CELL = 32, LABELLED_CELL = 18, SMALLEST_CELL = 2;
static const double LONGEST_LABEL = 96;
static const double TITLE = 30, HEAD = 18, GAP = 22, BAR_WIDTH = 196, BAR_HEIGHT = 10, LEGEND = 34, LEGEND_SIZE = 12;
static const double SLIDE_TABLE = 300, LEGIBLE = 13; /* the most that a table takes across, and the least type */

/* The most cells of all matrices of a table, and of one matrix in a row; larger tables are reduced. */
enum { MOST_CELLS = 1 << 17, MOST_SIDE = 128, SMALLEST_SIDE = 8, SMALL_GRID = 4 };

/* The size of cells with so many matrices in a line. */
static double cell_for(const struct downsample *sample, size_t per_line)
{
    const double room = (SVG_PAGE_WIDTH - LONGEST_LABEL) / (double)per_line - GAP - (sample->sharp ? SVG_SHARP : 0);
    return fmax(SMALLEST_CELL, fmin(LARGEST_CELL, floor(room / (double)sample->columns)));
}

/* How many matrices to put side by side if cells may have any size: the heads of an item together where there are
 * several items, else so many that the grid is about 1.5 times as wide as high, with few empty cells. */
static size_t choose_per_line(const struct result_table *table)
{
    const size_t count = result_matrices(table);
    if (result_is_of(table, AXIS_ITEM) && result_is_of(table, AXIS_HEAD) && table->shape[1] <= 8 && table->shape[1] > 1)
        return table->shape[1];
    size_t best = 1;
    double least = INFINITY;
    for (size_t per_line = 1; per_line <= count && per_line <= 16; per_line++) {
        const size_t lines = (count + per_line - 1) / per_line, empty = lines * per_line - count;
        const double cost =
            fabs(log((double)per_line / (double)lines / 1.5)) + 1.5 * (double)empty / (double)(lines * per_line);
        if (cost < least) {
            least = cost;
            best = per_line;
        }
    }
    return best;
}

/* How many matrices fit with cells of that size; 0 where fewer than `least` do. Never mixes heads of two items. */
static size_t fit(const struct downsample *sample, double cell, size_t least, size_t most)
{
    const bool of_items = result_is_of(sample->table, AXIS_ITEM) && downsample_heads(sample->table) > 1;
    for (size_t per_line = most; per_line >= least && per_line > 0; per_line--)
        if (cell_for(sample, per_line) >= cell && (!of_items || downsample_heads(sample->table) % per_line == 0))
            return per_line;
    return 0;
}

/* Fewer, if cells then have room for their numbers, or in a small grid at least for tokens; of more than two
 * matrices two still stand in a line. */
static size_t choose_readable(const struct downsample *sample)
{
    const size_t most = choose_per_line(sample->table),
                 least = memory_smaller(sample->matrices <= 2 || sample->sharp ? 1 : 2, most);
    const size_t numbered = fit(sample, stage_is_shares(sample->table->stage) ? SHARE_CELL : SIGNED_CELL, least, most);
    const size_t labelled = sample->matrices <= SMALL_GRID ? fit(sample, LABELLED_CELL, least, most) : 0;
    return numbered > 0 ? numbered : labelled > 0 ? labelled : most;
}

/* Whether a line holds matrices of several items, whose tokens may differ, so that each needs its labels. */
static bool labels_each(const struct svg_figure *figure)
{
    const struct result_table *table = figure->panel.sample.table;
    return result_is_of(table, AXIS_ITEM) &&
           (downsample_heads(table) == 1 || downsample_heads(table) % figure->per_line != 0);
}

/* From one matrix to the next, across and down. */
static double step_across(const struct svg_figure *figure)
{
    return svg_panel_width(&figure->panel) + (labels_each(figure) ? figure->panel.left : 0) +
           fmax(GAP, figure->panel.beyond + 6);
}

static double step_down(const struct svg_figure *figure)
{
    const bool titled = figure->panel.sample.table->rank > 2;
    return (titled ? HEAD : 0) + figure->panel.above + svg_panel_height(&figure->panel) + GAP;
}

/* --- the legend -------------------------------------------------------------------------------------------------- */

static const double MARK_GAP = 22, LEGEND_GAP = 7;

/* The marks of a legend, from x on; `output` NULL: only measures. Returns where they end. NaN leaves a cell empty
 * where cells have numbers, and looks masked where they have none. Infinities have the colours of the bar's ends. */
static double draw_marks(const struct svg_panel *panel, struct output *output, double x, double y)
{
    const struct downsample *sample = &panel->sample;
    const bool numbered = panel->number_size > 0, hatched = sample->any_nan && !numbered;
    char low[SVG_CLASS_BYTES], high[SVG_CLASS_BYTES];
    const struct {
        bool here;
        const char *attributes, *words;
    } MARKS[] = {
        {sample->any_masked || hatched, "class=\"edge\" style=\"fill:url(#attn-masked)\"",
         !hatched             ? "masked"
         : sample->any_masked ? "masked, or NaN"
                              : "NaN"},
        {sample->any_nan && numbered, "class=\"edge\"", "NaN"},
        {sample->any_below, svg_cell_attribute(panel->scale.diverging, 0, low), "\xe2\x88\x92\xe2\x88\x9e"},
        {sample->any_above, svg_cell_attribute(panel->scale.diverging, COLORMAP_LEVELS - 1, high), "\xe2\x88\x9e"},
    };
    for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++) {
        if (!MARKS[i].here)
            continue;
        x += MARK_GAP;
        if (output != NULL)
            svg_mark(output, MARKS[i].attributes, MARKS[i].words, x, y);
        x += SVG_MARK_WIDTH + svg_width(MARKS[i].words, LEGEND_SIZE);
    }
    return x;
}

/* Where the bar begins: after its lowest number, which goes into low (CELL_NUMBER_BYTES). */
static double bar_left(const struct svg_panel *panel, char *low)
{
    if (panel->scale.low == 0)
        snprintf(low, CELL_NUMBER_BYTES, "0");
    else
        svg_panel_number(panel, panel->scale.low, low);
    return fmax(panel->left, svg_width(low, LEGEND_SIZE) + LEGEND_GAP);
}

/* The bar from low to high, a rectangle for each step, and the marks. */
static void draw_legend(const struct svg_figure *figure, struct output *output)
{
    const struct svg_panel *panel = &figure->panel;
    const double y = figure->y + figure->height - LEGEND + 14, step = BAR_WIDTH / (double)COLORMAP_LEVELS;
    char text[CELL_NUMBER_BYTES], class[SVG_CLASS_BYTES];
    const double x = figure->x + bar_left(panel, text);
    svg_text(output, x - LEGEND_GAP, y + BAR_HEIGHT - 1, 0, "ink end", text);
    output_print(output, "<g shape-rendering=\"crispEdges\">\n");
    for (size_t level = 0; level < COLORMAP_LEVELS; level++)
        svg_rect(output, svg_cell_attribute(panel->scale.diverging, level, class), x + step * (double)level, y, step,
                 BAR_HEIGHT);
    output_print(output, "</g>\n");
    svg_panel_number(panel, panel->scale.high, text);
    const double after = x + BAR_WIDTH + LEGEND_GAP;
    svg_text(output, after, y + BAR_HEIGHT - 1, 0, "ink", text);
    draw_marks(panel, output, after + svg_width(text, LEGEND_SIZE), y);
}

/* --- layout ------------------------------------------------------------------------------------------------------ */

/* The size of a figure whose panel and per_line are set. */
static void measure_figure(struct svg_figure *figure)
{
    const size_t matrices = figure->panel.sample.matrices, per_line = figure->per_line;
    const size_t lines = (matrices + per_line - 1) / per_line, across = memory_smaller(matrices, per_line);
    char text[CELL_NUMBER_BYTES];
    const double bar_end = bar_left(&figure->panel, text) + BAR_WIDTH + LEGEND_GAP;
    svg_panel_number(&figure->panel, figure->panel.scale.high, text);
    const double legend = draw_marks(&figure->panel, NULL, bar_end + svg_width(text, LEGEND_SIZE), 0);
    figure->width = fmax(figure->panel.left + (double)across * step_across(figure), legend);
    figure->height = TITLE + (double)lines * step_down(figure) + LEGEND;
}

static void place_down(struct svg_picture *picture)
{
    double y = 0;
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        struct svg_panel *panel = &figure->panel;
        figure->per_line = choose_readable(&panel->sample);
        const double cell = cell_for(&panel->sample, figure->per_line);
        svg_panel_measure(panel, (struct svg_measure){cell, cell, LONGEST_LABEL, LEGEND_SIZE, true, picture->decimals},
                          &picture->palette);
        measure_figure(figure);
        figure->y = y;
        y += figure->height + (i + 1 < picture->count ? GAP : 0);
        picture->width = fmax(picture->width, figure->width);
    }
    picture->width = fmax(picture->width, 420);
    picture->height = y;
}

/* On a slide, side by side, with so many matrices in a line; cells are square and show no number where `height` is 0.
 * Returns how far the picture can be magnified. */
static double place_beside(struct svg_picture *picture, double width, double height, size_t per_line)
{
    double x = 0;
    picture->height = 0;
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        const double cell = fmax(SMALLEST_CELL, fmin(width, floor(SLIDE_TABLE / (double)figure->panel.sample.columns)));
        const struct svg_measure measure = {height > 0 ? width : cell, height, LONGEST_LABEL, LEGEND_SIZE, height == 0,
                                            picture->decimals};
        svg_panel_measure(&figure->panel, measure, &picture->palette);
        figure->per_line = memory_smaller(per_line, figure->panel.sample.matrices);
        measure_figure(figure);
        figure->x = x;
        x += figure->width + 2 * GAP;
        picture->height = fmax(picture->height, figure->height);
        picture->width = x - 2 * GAP;
    }
    return svg_page(picture->width, picture->height, true).scale;
}

/* Numbers if they can be read on the slide, else tokens, else colours alone; so many matrices in a line that the cells
 * are largest. */
static void place_slide(struct svg_picture *picture)
{
    static const struct {
        double width, height;
    } CELLS[] = {{40, 24}, {LABELLED_CELL, 0}, {LABELLED_CELL - 5, 0}, {LABELLED_CELL - 7, 0}};
    enum { WAYS = sizeof CELLS / sizeof CELLS[0], MOST_PER_LINE = 16 };
    for (size_t way = 0, best = 1; way < WAYS; way++) {
        double largest = 0;
        for (size_t per_line = 1; per_line <= MOST_PER_LINE; per_line++) {
            const double scale = place_beside(picture, CELLS[way].width, CELLS[way].height, per_line);
            best = scale > largest ? per_line : best;
            largest = fmax(largest, scale);
        }
        place_beside(picture, CELLS[way].width, CELLS[way].height, best);
        if (LEGEND_SIZE * largest >= LEGIBLE)
            return;
    }
}

enum status svg_grid_layout(struct svg_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_panel *panel = &picture->figures[i].panel;
        size_t side = MOST_SIDE;
        while (side > SMALLEST_SIDE && result_matrices(panel->sample.table) > MOST_CELLS / (side * side))
            side /= 2;
        if (downsample_create(&panel->sample, picture->result, panel->sample.table, side, side, picture->pool,
                              picture->arena, picture->error) != STATUS_OK)
            return picture->error->status;
        downsample_sharpen(&panel->sample, picture->entropy);
        panel->result = picture->result;
    }
    if (picture->wide)
        place_slide(picture);
    else
        place_down(picture);
    for (size_t i = 0; i < picture->count; i++)
        for (size_t level = 0; level < COLORMAP_LEVELS; level++) /* the bar has them all */
            picture->palette.used[picture->figures[i].panel.scale.diverging][level] = true;
    return STATUS_OK;
}

/* --- drawing ----------------------------------------------------------------------------------------------------- */

static void draw_title(const struct svg_figure *figure, struct output *output)
{
    const struct result_table *table = figure->panel.sample.table;
    char formula[SVG_FORMULA_BYTES];
    if (figure->x > 0)
        svg_tag(output, "<text x=\"#\" y=\"#\"><tspan class=\"name ink\">", figure->x, figure->y + 15);
    else
        svg_tag(output, "<text y=\"#\"><tspan class=\"name ink\">", figure->y + 15);
    svg_words(output, "%s", table->name);
    output_print(output, "</tspan> <tspan class=\"muted\">");
    svg_words(output, "= ");
    svg_runs(output, svg_formula(figure->panel.result, table, formula));
    output_print(output, "</tspan></text>\n");
}

static void draw_figure(const struct svg_figure *figure, struct output *output)
{
    const struct svg_panel *panel = &figure->panel;
    const bool titled = panel->sample.table->rank > 2;
    char text[TABLE_TEXT_LABEL_BYTES];
    draw_title(figure, output);
    for (size_t matrix = 0; matrix < panel->sample.matrices; matrix++) {
        const size_t across = matrix % figure->per_line, down = matrix / figure->per_line;
        const double x = figure->x + panel->left + (double)across * step_across(figure);
        const double y = figure->y + TITLE + (double)down * step_down(figure) + (titled ? HEAD : 0) + panel->above;
        table_text_place(&panel->result->problem->labels.heads, panel->sample.table, matrix, text);
        if (svg_width(text, LEGEND_SIZE) > step_across(figure)) /* without the head's name */
            table_text_place(&(struct token_labels){0}, panel->sample.table, matrix, text);
        if (titled)
            svg_text(output, x, y - panel->above - 8, 0, "head ink", text);
        svg_panel_draw(panel, output, matrix, x, y, labels_each(figure) || matrix % figure->per_line == 0);
    }
    draw_legend(figure, output);
}

void svg_grid_draw(const struct svg_picture *picture)
{
    for (size_t i = 0; i < picture->count && !picture->output->failed; i++)
        draw_figure(&picture->figures[i], picture->output);
}
