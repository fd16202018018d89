#include "stage/stage.h"
#include "write/svg/svg_formula.h"
#include "write/svg/svg_picture.h"

#include <math.h>
#include <string.h>

static const double CELL_WIDTH = 34, TOKEN_WIDTH = 56, CELL_HEIGHT = 22, LONGEST_LABEL = 64, NARROWEST = 128,
                    LABEL_SIZE = 11;
static const double NAME = 16, FORMULA = 15, HEAD = 16, ITEM = 22, GAP = 24, BETWEEN = 42, BESIDE = 14, BELOW = 10,
                    LANE = 9, TIP = 6, ABOVE_TIP = 3, PORT = 13, STEP = 8, STRAIGHTENED = 16;

enum { MOST_ROWS = 12, MOST_MATRICES = 4, COLUMNS = 4, ARROWS = 8 };

/* The lines of a flow, from above to below; a line may become several. */
enum rank { RANK_SOURCES, RANK_WEIGHTS, RANK_PROJECTED, RANK_NORMED, RANK_OPERANDS, RANK_SQUARES, RANK_LAST, RANKS };

bool svg_flow_holds(const struct result_table *table)
{
    bool fits = result_rows(table) <= MOST_ROWS && result_columns(table) <= MOST_ROWS;
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        fits &= table->shape[axis] <= MOST_MATRICES;
    return fits;
}

/* --- what a figure is -------------------------------------------------------------------------------------------- */

static enum stage stage_of(const struct svg_figure *figure)
{
    return figure->panel.sample.table->stage;
}

static bool is_matrix(const struct svg_figure *figure)
{
    return stage_of(figure) == STAGE_PARAMETERS;
}

static enum rank rank_of(const struct svg_figure *figure)
{
    const enum stage stage = is_matrix(figure) ? figure->makes : stage_of(figure);
    if (!stage_exists(stage) || stage == STAGE_NORMED)
        return RANK_SOURCES;
    if (stage_is_attended(stage))
        return stage_is_square(stage) ? RANK_SQUARES : RANK_LAST;
    if (is_matrix(figure))
        return RANK_WEIGHTS;
    if (STAGES[stage].operand)
        return RANK_OPERANDS;
    return (STAGES[stage].from & STAGE_BIT(STAGE_INPUTS)) != 0 ? RANK_PROJECTED : RANK_NORMED;
}

/* That of the query, the key or the value, from 1 on. */
static size_t column_of(const struct svg_figure *figure)
{
    const enum rank rank = rank_of(figure);
    if (rank == RANK_SOURCES || rank >= RANK_SQUARES)
        return 0;
    return 1 + (size_t)projection_of(is_matrix(figure) ? figure->makes : stage_of(figure));
}

static size_t items_of(const struct result_table *table)
{
    return result_is_of(table, AXIS_ITEM) ? table->shape[0] : 1;
}

static size_t heads_of(const struct svg_figure *figure)
{
    return figure->panel.sample.matrices / items_of(figure->panel.sample.table);
}

static struct svg_figure *find_figure(const struct svg_picture *picture, enum stage stage)
{
    for (size_t i = 0; i < picture->count; i++)
        if (stage_of(&picture->figures[i]) == stage)
            return &picture->figures[i];
    return NULL;
}

/* --- size -------------------------------------------------------------------------------------------------------- */

static double left_of(const struct svg_figure *figure)
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

/* All cells of a line of heads. */
static double cells_width(const struct svg_figure *figure)
{
    return (double)(figure->per_line - 1) * step_across(figure) + svg_panel_width(&figure->panel);
}

/* The middle of the cells: where arrows go, and from where they come. */
static double cells_centre(const struct svg_figure *figure)
{
    return figure->x + left_of(figure) + cells_width(figure) / 2;
}

static double cells_middle(const struct svg_figure *figure)
{
    return figure->y + figure->title + figure->panel.above + svg_panel_height(&figure->panel) / 2;
}

static double cells_right(const struct svg_figure *figure)
{
    return figure->x + left_of(figure) + cells_width(figure);
}

/* What follows from the heads in a line. */
static void measure_figure(struct svg_figure *figure, size_t per_line)
{
    const struct result_table *table = figure->panel.sample.table;
    const size_t heads = heads_of(figure), lines = (heads + per_line - 1) / per_line;
    char text[SVG_FORMULA_BYTES];
    figure->per_line = per_line;
    figure->width = fmax(NARROWEST, left_of(figure) + cells_width(figure) + figure->panel.beyond);
    figure->width = fmax(figure->width, svg_width(svg_name(table, text), 1.1 * LABEL_SIZE));
    figure->title = NAME + 6 + (heads > 1 ? HEAD : 0);
    figure->title += FORMULA * (double)svg_paragraph(NULL, 0, 0, figure->width, "", LABEL_SIZE,
                                                     svg_formula(figure->panel.result, table, text));
    figure->height = figure->title + figure->panel.above + svg_panel_height(&figure->panel);
    figure->height += (double)(lines - 1) * step_down(figure);
}

static void measure_cells(struct svg_picture *picture, struct svg_figure *figure, double width)
{
    svg_panel_measure(&figure->panel,
                      (struct svg_measure){width, CELL_HEIGHT, LONGEST_LABEL, LABEL_SIZE, false, picture->decimals},
                      &picture->palette);
}

/* As many heads in each of as few lines as `most` in a line allow. */
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
        const size_t most = is_matrix(figure) ? MOST_ROWS + 2 : MOST_ROWS; /* with its gap and its bias */
        if (downsample_create(&panel->sample, picture->result, panel->sample.table, most, most, picture->arena,
                              picture->error) != STATUS_OK)
            return picture->error->status;
        panel->result = picture->result;
        figure->column = column_of(figure);
        measure_cells(picture, figure, CELL_WIDTH);
        measure_figure(figure, heads_of(figure));
    }
    return STATUS_OK;
}

/* How many T x T tables stand side by side, at least so wide, and all of one width. */
static size_t fit_squares(struct svg_picture *picture)
{
    double left = 0, cell = CELL_WIDTH, columns = 1;
    for (size_t i = 0; i < picture->count; i++)
        if (rank_of(&picture->figures[i]) == RANK_SQUARES) {
            const struct svg_panel *panel = &picture->figures[i].panel;
            left = fmax(left, panel->left);
            cell = fmax(cell, panel->cell_width);
            columns = (double)panel->sample.columns;
        }
    const double room = SVG_PAGE_WIDTH - left;
    const size_t fit = (size_t)fmax(1, floor((room + GAP) / (columns * cell + GAP)));
    const size_t most = fit > MOST_MATRICES ? MOST_MATRICES : fit;
    cell = fmax(cell, fmin(TOKEN_WIDTH, floor(((room + GAP) / (double)(most < 2 ? most : 2) - GAP) / columns)));
    for (size_t i = 0; i < picture->count; i++) {
        struct svg_figure *figure = &picture->figures[i];
        if (rank_of(figure) != RANK_SQUARES)
            continue;
        measure_cells(picture, figure, cell);
        measure_figure(figure, even(heads_of(figure), most));
    }
    return most;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

/* Whether the rows of both have the same labels, in the same places. */
static bool same_labels(const struct svg_figure *one, const struct svg_figure *other)
{
    const struct downsample *a = &one->panel.sample, *b = &other->panel.sample;
    char label[SVG_LABEL_BYTES], another[SVG_LABEL_BYTES];
    if (a->rows != b->rows || is_matrix(one) != is_matrix(other))
        return false;
    if (is_matrix(one))
        return one->panel.biased && other->panel.biased;
    for (size_t item = 0; item < items_of(a->table); item++)
        for (size_t row = 0; row < a->rows; row++) {
            svg_panel_label(&one->panel, true, item * heads_of(one), row, label);
            svg_panel_label(&other->panel, true, item * heads_of(other), row, another);
            if (strcmp(label, another) != 0)
                return false;
        }
    return true;
}

/* Beside the figure before it in a line, a figure needs no labels of its own that are the same. */
static void set_bare(struct svg_figure *figure, const struct svg_figure *before, size_t per_line)
{
    figure->bare = before != NULL && same_labels(before, figure);
    measure_figure(figure, even(heads_of(figure), per_line));
}

/* The next figure of a rank behind that one, of any where `figure` is NULL; NULL where there is none. */
static struct svg_figure *next_of(const struct svg_picture *picture, enum rank rank, struct svg_figure *figure)
{
    for (figure = figure == NULL ? picture->figures : figure + 1; figure < picture->figures + picture->count; figure++)
        if (rank_of(figure) == rank)
            return figure;
    return NULL;
}

/* Columns for query, key and value from x on, with at most so many heads in a line; returns where they end, x where
 * there are none. A matrix begins where the cells beneath it do. */
static double place_columns(const struct svg_picture *picture, double x, size_t per_line)
{
    double widths[COLUMNS] = {0}, left[COLUMNS] = {0};
    for (int rank = RANK_OPERANDS; rank >= RANK_WEIGHTS; rank--)
        for (struct svg_figure *before = NULL, *figure; (figure = next_of(picture, (enum rank)rank, before)) != NULL;
             before = figure) {
            const size_t column = figure->column;
            set_bare(figure, before, per_line);
            if (is_matrix(figure) && !figure->bare)
                figure->panel.left = fmax(figure->panel.left, fmin(left[column], widths[column] - cells_width(figure)));
            measure_figure(figure, figure->per_line);
            left[column] = fmax(left[column], left_of(figure));
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

/* Figures of a rank one behind the other, in as many lines as they need from `line` on; returns the line behind. */
static size_t place_rank(const struct svg_picture *picture, enum rank rank, size_t line, size_t per_line)
{
    struct svg_figure *before = NULL;
    double x = 0;
    for (struct svg_figure *figure = NULL; (figure = next_of(picture, rank, figure)) != NULL; before = figure) {
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

/* From sources to operands: matrices beside the sources where there is room, else beneath them. Returns the line
 * behind. */
static size_t place_operands(struct svg_picture *picture)
{
    size_t line = place_rank(picture, RANK_SOURCES, 0, MOST_MATRICES), per_line = MOST_MATRICES;
    double sources = 0;
    while (per_line > 1 && place_columns(picture, 0, per_line) > SVG_PAGE_WIDTH + GAP)
        per_line--;
    for (struct svg_figure *figure = NULL; (figure = next_of(picture, RANK_SOURCES, figure)) != NULL;)
        sources = fmax(sources, figure->x + figure->width + GAP);
    const bool beside = line == 1 && next_of(picture, RANK_WEIGHTS, NULL) != NULL &&
                        place_columns(picture, sources, per_line) <= SVG_PAGE_WIDTH + GAP;
    if (beside)
        line = 0;
    else
        place_columns(picture, 0, per_line);
    for (int rank = RANK_WEIGHTS; rank <= RANK_OPERANDS; rank++) {
        struct svg_figure *figure = NULL;
        while ((figure = next_of(picture, (enum rank)rank, figure)) != NULL)
            figure->line = line;
        line += next_of(picture, (enum rank)rank, NULL) != NULL;
        picture->bus = rank == RANK_WEIGHTS ? line : picture->bus;
    }
    return line;
}

/* The context with so many heads in a line that what follows it stands beside it, if that can be. */
static size_t heads_of_last(const struct svg_picture *picture)
{
    size_t per_line = MOST_MATRICES;
    for (; per_line > 1; per_line--) {
        double width = 0;
        for (struct svg_figure *figure = NULL; (figure = next_of(picture, RANK_LAST, figure)) != NULL;) {
            measure_figure(figure, even(heads_of(figure), per_line));
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

/* Where a figure stands among those of its rank. */
static int order_of(const struct svg_figure *figure)
{
    const enum stage stage = is_matrix(figure) ? figure->makes : stage_of(figure);
    return 2 * (stage == STAGE_NORMED ? STAGE_NAMES : (int)stage) + !is_matrix(figure);
}

/* By rank and in it from left to right, in whatever order the stages were asked for. */
static void sort_figures(const struct svg_picture *picture)
{
    for (size_t i = 1; i < picture->count; i++)
        for (size_t j = i; j > 0; j--) {
            struct svg_figure *one = &picture->figures[j - 1], *other = one + 1;
            const int ranks = (int)rank_of(one) - (int)rank_of(other);
            if (ranks < 0 || (ranks == 0 && order_of(one) <= order_of(other)))
                break;
            const struct svg_figure moved = *one;
            *one = *other;
            *other = moved;
        }
}

enum status svg_flow_layout(struct svg_picture *picture)
{
    sort_figures(picture);
    if (make_samples(picture) != STATUS_OK)
        return picture->error->status;
    const size_t squares = fit_squares(picture);
    size_t lines = place_operands(picture);
    lines = place_rank(picture, RANK_SQUARES, lines, squares);
    lines = place_rank(picture, RANK_LAST, lines, heads_of_last(picture));
    picture->bottoms = arena_allocate(picture->arena, lines, sizeof *picture->bottoms, picture->error);
    if (picture->bottoms == NULL)
        return picture->error->status;
    for (size_t line = 0; line < lines; line++)
        picture->bottoms[line] = place_line(picture, line, line > 0 ? picture->bottoms[line - 1] + BETWEEN : 0);
    for (size_t i = 0; i < picture->count; i++)
        picture->width = fmax(picture->width, picture->figures[i].x + picture->figures[i].width);
    const size_t items = items_of(picture->figures[0].panel.sample.table);
    picture->height = picture->bottoms[lines - 1] + LANE;
    picture->height = (picture->height + (items > 1 ? ITEM + BETWEEN : 0)) * (double)items;
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

/* Whether a matrix makes the figure: it stands before the first of its stages. */
static bool multiplies(const struct svg_picture *picture, const struct svg_figure *matrix,
                       const struct svg_figure *figure)
{
    if (!is_matrix(matrix) || is_matrix(figure))
        return false;
    if (!stage_exists(stage_of(figure)) || matrix->column != figure->column)
        return false;
    if (matrix->column == 0)
        return stage_of(figure) == matrix->makes;
    return !stage_exists(stage_before(picture->result->problem, stage_of(figure))) ||
           stage_before(picture->result->problem, stage_of(figure)) == STAGE_NORMED;
}

/* From how far to the right an arrow comes: sources lie at the left, and who passes other lines comes along the right
 * edge. */
static double comes_from(const struct svg_figure *from, const struct svg_figure *to)
{
    const bool passes = from->line + 1 < to->line && from->column != to->column;
    return rank_of(from) == RANK_SOURCES ? -INFINITY : passes ? INFINITY : cells_centre(from);
}

/* The figures that one is made from, from left to right, into list (ARROWS); returns how many. */
static size_t list_sources(const struct svg_picture *picture, const struct svg_figure *to,
                           const struct svg_figure **list)
{
    const uint64_t sources = find_sources(picture, stage_of(to));
    size_t count = 0;
    for (size_t i = 0; i < picture->count && count < ARROWS; i++) {
        const struct svg_figure *figure = &picture->figures[i];
        if (!multiplies(picture, figure, to) && (is_matrix(figure) || (sources & STAGE_BIT(stage_of(figure))) == 0))
            continue;
        size_t place = count++;
        for (; place > 0 && comes_from(list[place - 1], to) > comes_from(figure, to); place--)
            list[place] = list[place - 1];
        list[place] = figure;
    }
    return count;
}

static void draw_tip(struct output *output, double x, double y, const char *shape)
{
    char across[SVG_NUMBER_BYTES], along[SVG_NUMBER_BYTES];
    output_print(output, "<path class=\"tip\" d=\"M%s %s%s\"/>\n", svg_number(x, across), svg_number(y, along), shape);
}

/* In a line: to the next figure, or beneath those between to the one behind them. */
static void draw_beside(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to)
{
    char numbers[5][SVG_NUMBER_BYTES];
    const double start = cells_right(from) + 4;
    const double beneath = picture->bottoms[from->line] + LANE;
    if (to == from + 1) {
        const double tip = to->x - ABOVE_TIP, y = cells_middle(to->height < from->height ? to : from);
        output_print(picture->output, "<path class=\"wire\" d=\"M%s %sH%s\"/>\n", svg_number(start, numbers[0]),
                     svg_number(y, numbers[1]), svg_number(tip - TIP, numbers[2]));
        draw_tip(picture->output, tip, y, "l-7 -4v8z");
        return;
    }
    output_print(picture->output, "<path class=\"wire\" d=\"M%s %sV%sH%sV%s\"/>\n",
                 svg_number(cells_centre(from), numbers[0]), svg_number(from->y + from->height + 4, numbers[1]),
                 svg_number(beneath, numbers[2]), svg_number(cells_centre(to), numbers[3]),
                 svg_number(to->y + to->height + 4 + TIP, numbers[4]));
    draw_tip(picture->output, cells_centre(to), to->y + to->height + 4, "l-4 7h8z");
}

/* The line beneath which an arrow from above turns to its figure: that from a source to a column turns beneath the
 * matrices. */
static size_t turns_beneath(const struct svg_picture *picture, const struct svg_figure *from,
                            const struct svg_figure *to)
{
    return to->column > 0 && rank_of(from) == RANK_SOURCES && picture->bus > 0 ? picture->bus - 1 : to->line - 1;
}

/* Where an arrow leaves a figure: in its middle, or above its aim. */
static double leaves_at(const struct svg_figure *from, const struct svg_figure *to, double port)
{
    const double half = cells_width(from) / 2 - STEP, centre = cells_centre(from);
    if (from->column != to->column || from->line == to->line)
        return centre;
    return rank_of(from) == RANK_SOURCES || fabs(port - centre) > half ? centre : port;
}

/* How many sources stand behind that one. The first one's arrows go around those of the next. */
static double sources_behind(const struct svg_picture *picture, const struct svg_figure *source)
{
    double behind = 0;
    for (const struct svg_figure *figure = source + 1; figure < picture->figures + picture->count; figure++)
        behind += rank_of(figure) == RANK_SOURCES;
    return behind;
}

/* From above: straight down, or round two corners; past other lines along the left edge from sources, else along the
 * right one. */
static void draw_down(const struct svg_picture *picture, const struct svg_figure *from, const struct svg_figure *to,
                      double port, double depth)
{
    char numbers[7][SVG_NUMBER_BYTES];
    const size_t line = turns_beneath(picture, from, to);
    const double x = leaves_at(from, to, port), end = to->y - ABOVE_TIP;
    const bool source = rank_of(from) == RANK_SOURCES;
    const double out = picture->bottoms[from->line] + BELOW + (source ? STEP * (double)(from - picture->figures) : 0);
    const double lane = source ? -LANE - depth * 0.6 : picture->width + LANE;
    output_print(picture->output, "<path class=\"wire\" d=\"M%s %s", svg_number(x, numbers[0]),
                 svg_number(from->y + from->height + 4, numbers[1]));
    if (from->line < line && x != port)
        output_print(picture->output, "V%sH%s", svg_number(out, numbers[2]), svg_number(lane, numbers[3]));
    if (x != port)
        output_print(picture->output, "V%sH%s", svg_number(picture->bottoms[line] + BELOW + depth, numbers[4]),
                     svg_number(port, numbers[5]));
    output_print(picture->output, "V%s\"/>\n", svg_number(end - TIP, numbers[6]));
    draw_tip(picture->output, port, end, "l-4 -7h8z");
}

/* Where the first arrow from above arrives: so that one that is nearly straight is straight. */
static double first_port(const struct svg_figure *to, const struct svg_figure *const *from, size_t count)
{
    double first = cells_centre(to) - (double)(count - 1) / 2 * PORT, nearest = STRAIGHTENED;
    double shift = 0;
    for (size_t i = 0; i < count; i++) {
        const double off = cells_centre(from[i]) - (first + (double)i * PORT);
        if (fabs(off) < nearest && (from[i]->line + 1 == to->line || from[i]->column == to->column)) {
            nearest = fabs(off);
            shift = off;
        }
    }
    return first + shift;
}

/* How many of the arrows come from less far: what comes from further turns further down, so that none cross. */
static size_t nearer(const struct svg_figure *const *from, size_t count, size_t i, double first)
{
    const double far = fabs(cells_centre(from[i]) - (first + (double)i * PORT));
    size_t less = 0;
    for (size_t j = 0; j < count; j++)
        less += j != i && fabs(cells_centre(from[j]) - (first + (double)j * PORT)) < far;
    return less;
}

static void draw_arrows_to(const struct svg_picture *picture, const struct svg_figure *to)
{
    const struct svg_figure *all[ARROWS], *above[ARROWS];
    const size_t sources = list_sources(picture, to, all);
    size_t count = 0;
    for (size_t i = 0; i < sources; i++)
        if (all[i]->line == to->line)
            draw_beside(picture, all[i], to);
        else
            above[count++] = all[i];
    const double first = count > 0 ? first_port(to, above, count) : 0;
    for (size_t i = 0; i < count; i++) {
        const bool source = rank_of(above[i]) == RANK_SOURCES; /* all that comes from one turns at one height */
        const double depth =
            STEP * (source ? sources_behind(picture, above[i]) : (double)nearer(above, count, i, first));
        draw_down(picture, above[i], to, first + (double)i * PORT, depth);
    }
}

/* --- figures ----------------------------------------------------------------------------------------------------- */

static void draw_figure(const struct svg_figure *figure, struct output *output, size_t item)
{
    const struct svg_panel *panel = &figure->panel;
    const size_t heads = heads_of(figure), first = items_of(panel->sample.table) > 1 ? item * heads : 0;
    const double left = figure->x + left_of(figure), top = figure->y + figure->title + panel->above;
    char text[SVG_FORMULA_BYTES];
    svg_text(output, figure->x, figure->y + 12, 0, "title ink", svg_name(panel->sample.table, text));
    svg_paragraph(output, figure->x, figure->y + 12 + FORMULA, figure->width, "muted", LABEL_SIZE,
                  svg_formula(panel->result, panel->sample.table, text));
    for (size_t head = 0; head < heads; head++) {
        const size_t across = head % figure->per_line, down = head / figure->per_line;
        const double x = left + (double)across * step_across(figure), y = top + (double)down * step_down(figure);
        if (heads > 1) {
            snprintf(text, sizeof text, "head %zu", head + 1);
            svg_text(output, x, y - panel->above - 6, 0, "ink", text);
        }
        svg_panel_draw(panel, output, first + head, x, y, across == 0 && !figure->bare);
    }
}

void svg_flow_draw(const struct svg_picture *picture)
{
    const size_t items = items_of(picture->figures[0].panel.sample.table);
    const double height = picture->height / (double)items, above = items > 1 ? ITEM : 0;
    char text[SVG_NUMBER_BYTES];
    for (size_t item = 0; item < items; item++) {
        output_print(picture->output, "<g class=\"small\" transform=\"translate(0 %s)\">\n",
                     svg_number(height * (double)item + above, text));
        snprintf(text, sizeof text, "item %zu", item + 1);
        if (items > 1)
            svg_text(picture->output, 0, -8, 0, "name ink", text);
        for (size_t i = 0; i < picture->count; i++)
            if (stage_exists(stage_of(&picture->figures[i])))
                draw_arrows_to(picture, &picture->figures[i]);
        for (size_t i = 0; i < picture->count; i++)
            draw_figure(&picture->figures[i], picture->output, item);
        output_print(picture->output, "</g>\n");
    }
}
