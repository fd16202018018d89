#include "stage/stage.h"
#include "write/svg/svg_picture.h"

#include <math.h>

static const double CELL_WIDTH = 40, TOKEN_WIDTH = 56, CELL_HEIGHT = 24, LONGEST_LABEL = 64, NARROWEST = 156;
static const double NAME = 18, LINE = 15, HEAD = 18, GAP = 64, BETWEEN = 34, BESIDE = 16, LANE = 22, TIP = 6,
                    STRAIGHTENED = 16;

enum { MOST_ROWS = 12, MOST_MATRICES = 4, COLUMNS = 8, SQUARES = 5 };

bool svg_flow_holds(const struct result_table *table)
{
    bool fits = result_rows(table) <= MOST_ROWS && result_columns(table) <= MOST_ROWS;
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        fits &= table->shape[axis] <= MOST_MATRICES;
    return fits;
}

/* --- layout ------------------------------------------------------------------------------------------------------ */

/* Inputs, normed; what query and key are made of, a column a step; these and value; T x T; context; output. */
static size_t column_of(enum stage stage)
{
    if (stage == STAGE_INPUTS || stage == STAGE_KEY_INPUTS)
        return 0;
    if (STAGES[stage].operand)
        return 4;
    if (!stage_is_attended(stage)) /* normed, projected_, normed_ */
        return STAGES[stage].joins_heads ? 1 : (STAGES[stage].from & STAGE_BIT(STAGE_INPUTS)) != 0 ? 2 : 3;
    return stage_is_square(stage) ? SQUARES : STAGES[stage].joins_heads ? 7 : 6;
}

static size_t items_of(const struct result_table *table)
{
    return result_is_of(table, AXIS_ITEM) ? table->shape[0] : 1;
}

static size_t heads_of(const struct svg_figure *figure)
{
    return figure->panel.sample.matrices / items_of(figure->panel.sample.table);
}

/* From one head to the next. */
static double step_across(const struct svg_figure *figure)
{
    return svg_panel_width(&figure->panel) + fmax(BESIDE, figure->panel.beyond + 4);
}

/* Where the cells begin and end, which is where arrows go. */
static double cells_top(const struct svg_figure *figure)
{
    return figure->y + figure->title + figure->panel.above;
}

static double cells_middle(const struct svg_figure *figure)
{
    return cells_top(figure) + svg_panel_height(&figure->panel) / 2;
}

static double cells_right(const struct svg_figure *figure)
{
    return figure->x + figure->panel.left + (double)(figure->per_line - 1) * step_across(figure) +
           svg_panel_width(&figure->panel);
}

static enum status measure(struct svg_picture *picture, struct svg_figure *figure)
{
    struct svg_panel *panel = &figure->panel;
    const struct result_table *table = panel->sample.table;
    if (downsample_create(&panel->sample, picture->result, table, MOST_ROWS, MOST_ROWS, picture->arena, picture->error))
        return picture->error->status;
    const double width = stage_is_square(table->stage) && panel->sample.columns <= 8 ? TOKEN_WIDTH : CELL_WIDTH;
    panel->result = picture->result;
    svg_panel_measure(panel, (struct svg_measure){width, CELL_HEIGHT, LONGEST_LABEL, false, picture->decimals},
                      &picture->palette);
    figure->per_line = heads_of(figure);
    figure->width = fmax(NARROWEST, cells_right(figure) + panel->beyond);
    figure->title = NAME + 8 + (figure->per_line > 1 ? HEAD : 0);
    if (table->formula[0] != '\0')
        figure->title += LINE * (double)svg_paragraph(NULL, 0, 0, figure->width, "", 11, table->formula);
    figure->height = figure->title + panel->above + svg_panel_height(panel);
    return STATUS_OK;
}

/* Columns from left to right, those without a figure left out. */
static void place_across(struct svg_picture *picture)
{
    double x = 0;
    size_t column = 0;
    for (size_t wanted = 0; wanted < COLUMNS; wanted++) {
        double width = 0;
        for (size_t i = 0; i < picture->count; i++) {
            struct svg_figure *figure = &picture->figures[i];
            if (column_of(figure->panel.sample.table->stage) != wanted)
                continue;
            figure->x = x;
            figure->column = column;
            width = fmax(width, figure->width);
        }
        x += width > 0 ? width + GAP : 0;
        column += width > 0;
    }
    picture->width = x - GAP;
}

static double column_height(const struct svg_picture *picture, size_t column, size_t *count)
{
    double height = 0;
    *count = 0;
    for (size_t i = 0; i < picture->count; i++)
        if (picture->figures[i].column == column) {
            height += picture->figures[i].height;
            ++*count;
        }
    return height;
}

static struct svg_figure *find_figure(const struct svg_picture *picture, enum stage stage)
{
    for (size_t i = 0; i < picture->count; i++)
        if (picture->figures[i].panel.sample.table->stage == stage)
            return &picture->figures[i];
    return NULL;
}

/* The cells of a figure stand beside those of the other. */
static void align(struct svg_figure *figure, const struct svg_figure *other)
{
    if (figure != NULL && other != NULL)
        figure->y = fmax(0, figure->y + cells_middle(other) - cells_middle(figure));
}

/* Inputs, and their norm, stand beside the key, so that their arrow to it is straight; of two inputs, one is above and
 * one below. What query and key are made of stands beside them. */
static void align_sources(const struct svg_picture *picture)
{
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (!stage_is_attended((enum stage)stage) && projection_of((enum stage)stage) != PROJECTION_COUNT)
            align(find_figure(picture, (enum stage)stage),
                  find_figure(picture, projection_stage(projection_of((enum stage)stage))));
    if (find_figure(picture, STAGE_KEY_INPUTS) != NULL)
        return;
    align(find_figure(picture, STAGE_INPUTS), find_figure(picture, STAGE_KEY));
    align(find_figure(picture, STAGE_NORMED), find_figure(picture, STAGE_KEY));
}

/* Figures of a column stand from the top to the bottom of the picture; one alone stands in its middle, or where it
 * follows from the column before, beside the last figure there. */
static void place_down(struct svg_picture *picture)
{
    const struct svg_figure *last = NULL;
    picture->height = 0;
    for (size_t column = 0, count; column < COLUMNS; column++) {
        const double height = column_height(picture, column, &count);
        picture->height = fmax(picture->height, height + BETWEEN * (double)(count > 0 ? count - 1 : 0));
    }
    for (size_t column = 0, count; column < COLUMNS; column++) {
        const double free = picture->height - column_height(picture, column, &count);
        double y = count == 1 ? free / 2 : 0;
        const struct svg_figure *before = last;
        for (size_t i = 0; i < picture->count; i++) {
            struct svg_figure *figure = &picture->figures[i];
            if (figure->column != column)
                continue;
            figure->y = y;
            if (count == 1 && before != NULL && column_of(figure->panel.sample.table->stage) > SQUARES)
                figure->y += fmin(cells_middle(before) - cells_middle(figure), free / 2);
            y += figure->height + (count > 1 ? free / (double)(count - 1) : 0);
            last = figure;
        }
    }
    picture->height += LANE;
    align_sources(picture);
}

enum status svg_flow_layout(struct svg_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        if (measure(picture, &picture->figures[i]) != STATUS_OK)
            return picture->error->status;
    place_across(picture);
    place_down(picture);
    const size_t items = items_of(picture->figures[0].panel.sample.table);
    picture->height = (picture->height + (items > 1 ? HEAD + BETWEEN : 0)) * (double)items;
    return STATUS_OK;
}

/* --- arrows ------------------------------------------------------------------------------------------------------ */

/* The stages with a figure that a stage is made from: its own sources, or where one is not drawn, that one's
 * sources. */
static uint64_t find_sources(const struct svg_picture *picture, enum stage stage)
{
    uint64_t sources = 0;
    const uint64_t from =
        stage_is_attended(stage) ? STAGES[stage].from : STAGE_BIT(stage_before(picture->result->problem, stage));
    for (int source = 0; source < STAGE_NAMES; source++) {
        if ((from & STAGE_BIT(source)) == 0)
            continue;
        if (find_figure(picture, (enum stage)source) != NULL)
            sources |= STAGE_BIT(source);
        else if (stage_exists((enum stage)source))
            sources |= find_sources(picture, (enum stage)source);
    }
    return sources;
}

static void draw_tip(struct output *output, double x, double y, bool down)
{
    char across[SVG_NUMBER_BYTES], along[SVG_NUMBER_BYTES];
    output_print(output, "<path class=\"tip\" d=\"M%s %s%s\"/>\n", svg_number(x, across), svg_number(y, along),
                 down ? "l-4 -7h8z" : "l-7 -4v8z");
}

/* Straight down to the next figure of the same column. */
static void draw_down(struct output *output, const struct svg_figure *from, const struct svg_figure *to)
{
    char numbers[3][SVG_NUMBER_BYTES];
    const double x = from->x + from->panel.left + svg_panel_width(&from->panel) / 2;
    output_print(output, "<path class=\"wire\" d=\"M%s %sV%s\"/>\n", svg_number(x, numbers[0]),
                 svg_number(from->y + from->height + 5, numbers[1]), svg_number(to->y - TIP, numbers[2]));
    draw_tip(output, x, to->y - 1, true);
}

/* Whether the arrow passes a column on its way. */
static bool goes_beneath(const struct svg_figure *from, const struct svg_figure *to)
{
    return to->column > from->column + 1;
}

/* To the right and round a corner; over more than a column along the lane beneath everything. */
static void draw_across(const struct svg_picture *picture, double bottom, const struct svg_figure *from,
                        const struct svg_figure *to, double port)
{
    char numbers[7][SVG_NUMBER_BYTES];
    const double start = cells_right(from) + 5, middle = cells_middle(from), end = to->x - TIP;
    const double corner = to->x - GAP / 2 + port, port_height = cells_middle(to) + port * 2;
    const bool lane = goes_beneath(from, to);
    const double aim = !lane && fabs(port_height - middle) < STRAIGHTENED ? middle : port_height;
    output_print(picture->output, "<path class=\"wire\" d=\"M%s %s", svg_number(start, numbers[0]),
                 svg_number(middle, numbers[1]));
    if (lane)
        output_print(picture->output, "H%sV%s", svg_number(from->x + from->width + GAP / 2, numbers[2]),
                     svg_number(bottom, numbers[3]));
    output_print(picture->output, "H%sV%sH%s\"/>\n", svg_number(corner, numbers[4]), svg_number(aim, numbers[5]),
                 svg_number(end - TIP, numbers[6]));
    draw_tip(picture->output, end, aim, false);
}

/* The arrows that lead to a figure, from above to below: those that pass beneath a column come in last. */
static void draw_arrows_to(const struct svg_picture *picture, double bottom, const struct svg_figure *to)
{
    const uint64_t sources = find_sources(picture, to->panel.sample.table->stage);
    size_t count = 0, arrived = 0;
    for (int source = 0; source < STAGE_NAMES; source++)
        count += (sources & STAGE_BIT(source)) != 0;
    for (int beneath = 0; beneath < 2; beneath++)
        for (int source = 0; source < STAGE_NAMES; source++) {
            const struct svg_figure *from = find_figure(picture, (enum stage)source);
            if (from == NULL || (sources & STAGE_BIT(source)) == 0 || goes_beneath(from, to) != beneath)
                continue;
            const double port = ((double)arrived++ - (double)(count - 1) / 2) * 10;
            if (from->column == to->column)
                draw_down(picture->output, from, to);
            else
                draw_across(picture, bottom, from, to, port);
        }
}

/* --- figures ----------------------------------------------------------------------------------------------------- */

static void draw_figure(const struct svg_figure *figure, struct output *output, size_t item)
{
    const struct svg_panel *panel = &figure->panel;
    const size_t first = items_of(panel->sample.table) > 1 ? item * figure->per_line : 0;
    char text[32];
    svg_text(output, figure->x, figure->y + 12, 0, "head ink", panel->sample.table->name);
    svg_paragraph(output, figure->x, figure->y + 12 + LINE, figure->width, "small muted", 11,
                  panel->sample.table->formula);
    for (size_t head = 0; head < figure->per_line; head++) {
        const double x = figure->x + panel->left + (double)head * step_across(figure);
        if (figure->per_line > 1) {
            snprintf(text, sizeof text, "head %zu", head + 1);
            svg_text(output, x, figure->y + figure->title - 6, 0, "small ink", text);
        }
        svg_panel_draw(panel, output, first + head, x, cells_top(figure), head == 0);
    }
}

void svg_flow_draw(const struct svg_picture *picture)
{
    const size_t items = items_of(picture->figures[0].panel.sample.table);
    const double height = picture->height / (double)items, above = items > 1 ? HEAD : 0;
    char text[SVG_NUMBER_BYTES];
    for (size_t item = 0; item < items; item++) {
        output_print(picture->output, "<g transform=\"translate(0 %s)\">\n",
                     svg_number(height * (double)item + above, text));
        snprintf(text, sizeof text, "item %zu", item + 1);
        if (items > 1)
            svg_text(picture->output, 0, -4, 0, "name ink", text);
        const double bottom = height - above - (items > 1 ? BETWEEN : 0) - LANE / 2 + 2;
        for (size_t i = 0; i < picture->count; i++)
            if (stage_exists(picture->figures[i].panel.sample.table->stage))
                draw_arrows_to(picture, bottom, &picture->figures[i]);
        for (size_t i = 0; i < picture->count; i++)
            draw_figure(&picture->figures[i], picture->output, item);
        output_print(picture->output, "</g>\n");
    }
}
