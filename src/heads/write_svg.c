/* SPDX-License-Identifier: MIT */
/* heads -> SVG: layers x heads, each head a small map, queries down and keys across; HTML around it. And the choice of
 * the writer. */
#include "heads/heads.h"

#include "write/svg/svg.h"

#include <math.h>

enum { WORDS_BYTES = 2048, NAME_BYTES = 96 };
static const double WIDTH = 656, LEFT = 56, GAP = 8, LARGEST = 132, SMALLEST = 24, ABOVE = 44, BELOW = 18;

static const char *name_head(const struct head_line *line, char *text)
{
    if (line->layer == MODULE_NO_LAYER)
        snprintf(text, NAME_BYTES, "head %zu", line->head);
    else
        snprintf(text, NAME_BYTES, "layer %zu, head %zu", line->layer, line->head);
    return text;
}

/* A row of cells of the same colour is one rectangle. */
static void draw_map(struct output *output, const struct head_line *line, double side, double x, double y)
{
    const struct colormap_scale scale = colormap_scale(0, 1);
    const double width = side / (double)line->columns, height = side / (double)line->rows;
    char class[SVG_CLASS_BYTES];
    svg_rect(output, svg_cell_attribute(false, 0, class), x, y, side, side);
    for (size_t row = 0; row < line->rows; row++)
        for (size_t column = 0, end; column < line->columns; column = end) {
            const size_t level = colormap_level(&scale, line->map[row][column]);
            for (end = column + 1; end < line->columns; end++)
                if (colormap_level(&scale, line->map[row][end]) != level)
                    break;
            if (level > 0)
                svg_rect(output, svg_cell_attribute(false, level, class), x + width * (double)column,
                         y + height * (double)row, width * (double)(end - column), height);
        }
}

/* A map with its numbers as a tooltip; a frame and words where it is the best of a kind. */
static void draw_head(struct output *output, const struct heads *heads, const struct head_line *line, int precision,
                      double side, double x, double y)
{
    char name[NAME_BYTES], bytes[160], number[64];
    struct text words = text_begin(bytes, sizeof bytes);
    output_print(output, "<g><title>%s", name_head(line, name));
    for (int measure = 0; measure < HEAD_MEASURES; measure++) {
        text_number(number, sizeof number, precision, false, line->means[measure].mean);
        if (line->means[measure].queries > 0)
            output_print(output, ", %s %s", HEAD_MEASURE[measure].name, number);
        if (heads->best[measure] == line)
            text_add(&words, "%s%s %s", words.length > 0 ? ", " : "", HEAD_MEASURE[measure].name, number);
    }
    output_print(output, "</title>\n");
    draw_map(output, line, side, x, y);
    if (words.length > 0)
        svg_tag(output, "<path class=\"wire\" style=\"fill:none;stroke-width:2\" d=\"M# #h#v#h#z\"/>\n", x - 2, y - 2,
                side + 4, side + 4, -side - 4);
    if (words.length > 0 && svg_width(bytes, 11) <= side + GAP)
        svg_text(output, x, y + side + 14, 0, "ink small", bytes);
    output_print(output, "</g>\n");
}

void heads_svg(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    const enum theme theme = options_said(options, OPTION_THEME) ? options->theme : FORMATS[options->format].theme;
    struct svg_palette palette = {0};
    char bytes[WORDS_BYTES], name[NAME_BYTES], number[64];
    struct text words = text_begin(bytes, sizeof bytes);
    const size_t first = heads->lines->head;
    size_t across = 0, down = 0;
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next) {
        across = memory_larger(across, line->head - first + 1);
        down += line->head == first;
    }
    text_add(&words,
             "%s. Queries down, keys across; a cell is the largest weight in it, from 0 to 1. Layers count from 0, "
             "heads from 1.",
             heads->words);
    for (int measure = 0; measure < HEAD_ENTROPY; measure++)
        if (heads->best[measure] != NULL)
            text_add(&words, " %s: %s, %s.", HEAD_MEASURE[measure].name, name_head(heads->best[measure], name),
                     text_number(number, sizeof number, precision, false, heads->best[measure]->means[measure].mean));
    const double side = fmax(SMALLEST, fmin(LARGEST, (WIDTH - LEFT) / (double)across - GAP)), step = side + GAP;
    const double width = fmax(WIDTH, LEFT + step * (double)across), height = ABOVE + (step + BELOW) * (double)down;
    const size_t lines = svg_paragraph(NULL, 0, 0, width, "", 11, bytes);
    const struct svg_page page = svg_page(width, height + 15 * (double)(lines + 1), false);
    for (size_t level = 0; level < COLORMAP_LEVELS; level++)
        palette.used[0][level] = true;
    svg_open(output, page);
    output_print(output, "<title id=\"attn-title\">What each head attends to</title>\n<desc id=\"attn-desc\">");
    svg_words(output, "%s", bytes);
    output_print(output, "</desc>\n");
    svg_open_page(output, page, &palette, theme);
    svg_text(output, 0, 13, 0, "ink title", "What each head attends to");
    double y = ABOVE - step - BELOW;
    for (const struct head_line *line = heads->lines; line != NULL; line = line->next) {
        const double x = LEFT + step * (double)(line->head - first);
        y += line->head == first ? step + BELOW : 0;
        snprintf(name, sizeof name, "layer %zu", line->layer);
        if (line->head == first && heads->layers != NULL)
            svg_text(output, LEFT - 8, y + side / 2 + 4, 0, "ink small end", name);
        snprintf(name, sizeof name, side >= 48 ? "head %zu" : "%zu", line->head);
        if (y <= ABOVE)
            svg_text(output, x + side / 2, ABOVE - 8, 0, "ink small middle", name);
        draw_head(output, heads, line, precision, side, x, y);
    }
    svg_paragraph(output, 0, height + 15, width, "small muted", 11, bytes);
    output_print(output, "</g>\n</svg>\n");
}

void heads_html(const struct heads *heads, const struct options *options, int precision, struct output *output)
{
    output_print(output, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                         "'unsafe-inline'\">\n<meta name=\"generator\" content=\"attn\">\n<title>Heads</title>\n");
    heads_svg(heads, options, precision, output);
    output_print(output, "</html>\n");
}

enum status heads_write(const struct heads *heads, const struct options *options, struct output *output)
{
    static heads_writer *const WRITERS[FORMAT_COUNT] = {[FORMAT_TEXT] = heads_text,
                                                        [FORMAT_JSON] = heads_json,
                                                        [FORMAT_CSV] = heads_csv,
                                                        [FORMAT_SVG] = heads_svg,
                                                        [FORMAT_HTML] = heads_html};
    const bool said = options_said(options, OPTION_PRECISION);
    WRITERS[options->format](heads, options, said ? (int)options->precision : 2, output);
    return output_close(output);
}
