/* SPDX-License-Identifier: MIT */
#include "model/stages.h"
#include "write/svg/svg_picture.h"

#include <math.h>
#include <string.h>

/* Below its smallest size a font is unreadable; below this height a row has no room for its label. */
static const double SMALLEST_NUMBER = 8, LARGEST_NUMBER = 13, LABELLED = 12, SLANTED = 1.4, LABEL_GAP = 7;

/* --- labels ------------------------------------------------------------------------------------------------------ */

static enum axis axis_of(const struct svg_panel *panel, bool of_rows)
{
    return of_rows ? result_row_axis(panel->sample.table) : result_column_axis(panel->sample.table);
}

void svg_panel_label(const struct svg_panel *panel, bool of_rows, size_t matrix, size_t index, char *text)
{
    const size_t block = of_rows ? panel->sample.row_block : panel->sample.column_block;
    size_t item, head, position;
    result_place(panel->sample.table, matrix, &item, &head);
    const char *token = result_label(panel->result, axis_of(panel, of_rows), item, index * block, &position);
    if (token != NULL && (of_rows ? panel->row_tokens : panel->column_tokens))
        svg_label(token, panel->longest, panel->label_size, text);
    else
        snprintf(text, SVG_LABEL_BYTES, "%zu", position);
}

/* The widest label of an axis, over all items. */
static double widest_label(const struct svg_panel *panel, bool of_rows)
{
    const size_t count = of_rows ? panel->sample.rows : panel->sample.columns;
    char text[SVG_LABEL_BYTES];
    double widest = 0;
    for (size_t matrix = 0; matrix < panel->sample.matrices; matrix++)
        for (size_t i = 0; i < count; i++) {
            svg_panel_label(panel, of_rows, matrix, i, text);
            widest = fmax(widest, svg_width(text, panel->label_size));
        }
    return widest;
}

static void measure_labels(struct svg_panel *panel)
{
    static const double SLANT = 0.7071; /* of 45 degrees */
    panel->row_tokens = panel->cell_height >= LABELLED && panel->sample.row_block == 1;
    panel->column_tokens = panel->cell_width >= LABELLED && panel->sample.column_block == 1;
    panel->left = panel->biased                         ? svg_width("bias", panel->label_size) + LABEL_GAP
                  : axis_of(panel, true) == AXIS_COLUMN ? 0
                                                        : widest_label(panel, true) + LABEL_GAP;
    panel->above = panel->beyond = 0;
    panel->slanted = false;
    if (panel->sample.sharp)
        panel->beyond = SVG_SHARP;
    if (axis_of(panel, false) == AXIS_COLUMN || axis_of(panel, false) == AXIS_WORD)
        return;
    const double widest = widest_label(panel, false);
    panel->slanted = panel->column_tokens && widest > panel->cell_width - 3;
    panel->above = panel->slanted ? widest * SLANT + panel->label_size : panel->label_size + LABEL_GAP;
    if (panel->slanted && panel->cell_width < SLANTED * panel->label_size) { /* they would lie on each other */
        panel->column_tokens = panel->slanted = false;
        panel->above = panel->label_size + LABEL_GAP;
    }
    if (panel->slanted)
        panel->beyond = fmax(panel->beyond, widest * SLANT - panel->cell_width / 2);
}

/* --- size -------------------------------------------------------------------------------------------------------- */

const char *svg_panel_number(const struct svg_panel *panel, double number, char *text)
{
    char plain[CELL_NUMBER_BYTES];
    cell_number_text(panel->number, number, plain);
    const bool negative = plain[0] == '-';
    return text_format(text, CELL_NUMBER_BYTES, "%s%s", negative ? "\xe2\x88\x92" : "",
                       isinf(number) ? "\xe2\x88\x9e" : plain + negative);
}

/* What a cell says: its number, in a table of words behind the word. Into text
 * (SVG_LABEL_BYTES + CELL_NUMBER_BYTES); returns text. */
static const char *cell_text(const struct svg_panel *panel, size_t index, char *text)
{
    const struct downsample *sample = &panel->sample;
    char number[CELL_NUMBER_BYTES];
    size_t position;
    svg_panel_number(panel, sample->numbers[index], number);
    text[0] = '\0';
    if (sample->words != NULL) {
        svg_label(result_label(panel->result, AXIS_WORD, 0, sample->words[index], &position), panel->longest,
                  panel->label_size, text);
        strcat(text, " ");
    }
    return strcat(text, number);
}

/* In ems. */
static double widest_number(const struct svg_panel *panel)
{
    const size_t count = panel->sample.matrices * panel->sample.rows * panel->sample.columns;
    char text[SVG_LABEL_BYTES + CELL_NUMBER_BYTES];
    double widest = svg_width("\xe2\x88\x92\xe2\x88\x9e", 1);
    for (size_t i = 0; i < count; i++)
        if (!panel->sample.masked[i])
            widest = fmax(widest, svg_width(cell_text(panel, i, text), 1));
    return widest;
}

static void measure_cells(struct svg_panel *panel, struct svg_measure measure)
{
    const double number = widest_number(panel);
    panel->cell_width = measure.width;
    panel->cell_height = measure.square ? measure.width : measure.height;
    if (!measure.square)
        panel->cell_width = fmax(measure.width, ceil(number * measure.label_size) + 6);
    const double size = fmin(LARGEST_NUMBER, (panel->cell_width - 6) / number);
    panel->number_size = size >= SMALLEST_NUMBER ? floor(size * 2) / 2 : 0;
    if (!measure.square)
        panel->number_size = measure.label_size;
}

/* The step of a cell; COLORMAP_LEVELS where it has none. */
static size_t level_of(const struct svg_panel *panel, size_t index)
{
    if (panel->sample.masked[index] || isnan(panel->sample.numbers[index]))
        return COLORMAP_LEVELS;
    return colormap_level(&panel->scale, panel->sample.numbers[index]);
}

void svg_panel_measure(struct svg_panel *panel, struct svg_measure measure, struct svg_palette *palette)
{
    const struct downsample *sample = &panel->sample;
    panel->scale = colormap_scale(sample->low, sample->high);
    panel->number = cell_number_style(sample, measure.decimals);
    panel->longest = measure.longest_label;
    panel->label_size = measure.label_size;
    measure_cells(panel, measure);
    measure_labels(panel);
    for (size_t i = 0; i < sample->matrices * sample->rows * sample->columns; i++) {
        const size_t level = level_of(panel, i);
        if (level < COLORMAP_LEVELS)
            palette->used[panel->scale.diverging][level] = true;
    }
}

double svg_panel_width(const struct svg_panel *panel)
{
    return panel->cell_width * (double)panel->sample.columns;
}

double svg_panel_height(const struct svg_panel *panel)
{
    return panel->cell_height * (double)panel->sample.rows;
}

/* --- drawing ----------------------------------------------------------------------------------------------------- */

/* A matrix while it is drawn, its first cell at x, y. */
struct pen {
    const struct svg_panel *panel;
    struct output *output;
    size_t matrix;
    double x, y;
};

/* A cell with its number, apart from its neighbours. */
static void draw_numbered(const struct pen *pen, size_t row, size_t column)
{
    const struct svg_panel *panel = pen->panel;
    const size_t index = downsample_index(&panel->sample, pen->matrix, row, column), level = level_of(panel, index);
    const double x = pen->x + panel->cell_width * (double)column, y = pen->y + panel->cell_height * (double)row;
    const bool masked = panel->sample.masked[index], plain = level == COLORMAP_LEVELS;
    char text[SVG_LABEL_BYTES + CELL_NUMBER_BYTES], name[SVG_CLASS_BYTES];
    const double middle = x + panel->cell_width / 2, base = y + panel->cell_height / 2 + 0.36 * panel->number_size;
    if ((panel->gap_row > 0 && row == panel->gap_row) || (panel->gap_column > 0 && column == panel->gap_column)) {
        svg_text(pen->output, middle, base, 0, "muted", "\xe2\x80\xa6");
        return;
    }
    output_print(pen->output, "<rect %s%s\"",
                 masked  ? "fill=\"url(#attn-masked)"
                 : plain ? "class=\"edge"
                         : "class=\"",
                 plain ? "" : svg_cell_class(panel->scale.diverging, level, name));
    svg_tag(pen->output, " x=\"#\" y=\"#\" width=\"#\" height=\"#\" rx=\"2\"/>", x + 1, y + 1, panel->cell_width - 2,
            panel->cell_height - 2);
    const enum stage stage = panel->sample.table->stage;
    const double forbidden = stage_is_shares(stage) || STAGES[stage].backward ? 0 : -INFINITY;
    if (masked)
        svg_panel_number(panel, forbidden, text);
    else
        cell_text(panel, index, text);
    svg_text(pen->output, middle, base, 0, plain ? "muted" : svg_ink_class(panel->scale.diverging, level),
             masked && forbidden == 0 ? "0" : text);
}

/* Draws all cells of a step as one path, neighbours in a row as one rectangle. Returns whether there were any. */
static bool draw_step(const struct pen *pen, size_t level, const char *opening)
{
    const struct svg_panel *panel = pen->panel;
    const size_t columns = panel->sample.columns;
    bool any = false;
    for (size_t row = 0; row < panel->sample.rows; row++)
        for (size_t column = 0, run; column < columns; column += run) {
            const size_t first = downsample_index(&panel->sample, pen->matrix, row, column);
            const bool here = level_of(panel, first) == level;
            run = 1;
            while (column + run < columns && (level_of(panel, first + run) == level) == here)
                run++;
            if (here)
                output_print(pen->output, "%sM%zu %zuh%zuv1h-%zuz", any ? "" : opening, column, row, run, run);
            any |= here;
        }
    if (any)
        output_print(pen->output, "\"/>\n");
    return any;
}

/* In units of cells, so that numbers are short. Masked cells come first: their pattern must not be scaled. */
static void draw_cells(const struct pen *pen)
{
    const struct svg_panel *panel = pen->panel;
    char opening[64], name[SVG_CLASS_BYTES];
    if (panel->sample.any_masked || panel->sample.any_nan)
        svg_rect(pen->output, "fill=\"url(#attn-masked)\"", pen->x, pen->y, svg_panel_width(panel),
                 svg_panel_height(panel));
    svg_tag(pen->output, "<g shape-rendering=\"crispEdges\" transform=\"translate(# #) scale(# #)\">\n", pen->x, pen->y,
            panel->cell_width, panel->cell_height);
    for (size_t level = 0; level < COLORMAP_LEVELS; level++) {
        snprintf(opening, sizeof opening, "<path class=\"%s\" d=\"",
                 svg_cell_class(panel->scale.diverging, level, name));
        draw_step(pen, level, opening);
    }
    output_print(pen->output, "</g>\n");
}

/* The step between positions: 1, 5, 10, 20, 50 ... */
static size_t tick_step(double cell, double room)
{
    const size_t step = downsample_step(cell, room);
    return step == 2 ? 5 : step;
}

static size_t row_step(const struct svg_panel *panel)
{
    return panel->row_tokens ? 1 : tick_step(panel->cell_height, panel->label_size + 8);
}

static void draw_row_labels(const struct pen *pen)
{
    const struct svg_panel *panel = pen->panel;
    const size_t step = row_step(panel);
    char text[SVG_LABEL_BYTES];
    for (size_t row = panel->biased ? panel->sample.rows - 1 : 0; row < panel->sample.rows; row++) {
        if (!downsample_is_labelled(row, step, panel->sample.row_block))
            continue;
        if (panel->biased)
            snprintf(text, sizeof text, "bias");
        else
            svg_panel_label(panel, true, pen->matrix, row, text);
        svg_text(pen->output, pen->x - LABEL_GAP,
                 pen->y + panel->cell_height * ((double)row + 0.5) + 0.36 * panel->label_size, 0, "ink end", text);
    }
}

static void draw_sharpness(const struct pen *pen)
{
    const struct svg_panel *panel = pen->panel;
    const size_t step = row_step(panel);
    const double sum = pen->x + svg_panel_width(panel) + 0.4 * SVG_SHARP, entropy = sum + 0.58 * SVG_SHARP;
    char text[CELL_NUMBER_BYTES];
    svg_text(pen->output, sum, pen->y - LABEL_GAP, 0, "muted end", "sum");
    svg_text(pen->output, entropy, pen->y - LABEL_GAP, 0, "muted end", "entropy");
    for (size_t row = 0; row < panel->sample.rows; row++) {
        if (!downsample_is_labelled(row, step, 1))
            continue;
        const struct sharpness sharpness = downsample_sharpness(&panel->sample, pen->matrix, row);
        const double y = pen->y + panel->cell_height * ((double)row + 0.5) + 0.36 * panel->label_size;
        svg_text(pen->output, sum, y, 0, "ink end", svg_panel_number(panel, sharpness.sum, text));
        svg_text(pen->output, entropy, y, 0, "ink end", svg_panel_number(panel, sharpness.entropy, text));
    }
}

static void draw_column_labels(const struct pen *pen)
{
    const struct svg_panel *panel = pen->panel;
    const size_t step =
        panel->column_tokens ? 1 : tick_step(panel->cell_width, svg_width("0000", panel->label_size) + LABEL_GAP);
    char text[SVG_LABEL_BYTES];
    for (size_t column = 0; column < panel->sample.columns; column++) {
        if (!downsample_is_labelled(column, step, panel->sample.column_block))
            continue;
        svg_panel_label(panel, false, pen->matrix, column, text);
        const double x = pen->x + panel->cell_width * ((double)column + 0.5);
        if (panel->slanted)
            svg_text(pen->output, x + 3, pen->y - 5, -45, "ink", text);
        else
            svg_text(pen->output, x, pen->y - LABEL_GAP, 0, "ink middle", text);
    }
}

void svg_panel_draw(const struct svg_panel *panel, struct output *output, size_t matrix, double x, double y,
                    bool with_row_labels)
{
    const struct pen pen = {panel, output, matrix, x, y};
    if (panel->number_size > 0) {
        svg_tag(output, "<g class=\"middle\" style=\"font-size:#px\">\n", panel->number_size);
        for (size_t i = 0; i < panel->sample.rows * panel->sample.columns; i++)
            draw_numbered(&pen, i / panel->sample.columns, i % panel->sample.columns);
        output_print(output, "</g>\n");
    } else {
        draw_cells(&pen);
    }
    if (with_row_labels && (panel->biased || axis_of(panel, true) != AXIS_COLUMN))
        draw_row_labels(&pen);
    if (panel->above > 0)
        draw_column_labels(&pen);
    if (panel->sample.sharp)
        draw_sharpness(&pen);
}
