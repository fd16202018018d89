/* SPDX-License-Identifier: MIT */
/* steps -> one SVG: a row for each step, a column for each key; new keys, cached keys, and keys outside the window.
 * Items of different lengths have a grid each. */
#include "base/text.h"
#include "model/stage_id.h"
#include "steps/steps.h"
#include "write/head_lines.h"
#include "write/svg/svg.h"

#include <math.h>
#include <string.h>

enum { CACHED = 14, NEW = 38, CAPTION_BYTES = 2048, LINE_BYTES = 128, MOST_SLANTED = 40 };

static const char MASKED[] = "class=\"edge\" style=\"fill:url(#attn-masked)\"";
static const double WIDTH = 656, LABELS = 64, TITLE = 26, LEGEND = 34, ABOVE = 52;

struct drawing {
    const struct steps *steps;
    struct output *output;
    double cell, row; /* width of a key, height of a step */
    double above;     /* room for the names of keys */
    bool named;       /* keys have names, which are slanted */
    size_t grids;     /* items that are drawn */
    char words[CAPTION_BYTES];
};

/* The step between labels, so that each has so much room: 1, or 5, 10, 25, 60 ... */
static size_t tick(double size, double room)
{
    size_t step = 1;
    while ((double)step * size < room)
        step = step == 1 ? 5 : step % 3 == 2 ? step * 2 : step / 2 * 5;
    return step;
}

static double grid_height(const struct drawing *drawing)
{
    return drawing->above + drawing->row * (double)drawing->steps->count + TITLE;
}

/* "reads 4, keeps 8", into text (LINE_BYTES); returns it. */
static const char *numbers_text(const struct step *step, char *text)
{
    return text_format(text, LINE_BYTES, "reads %zu, keeps %zu", step->read, step->kept);
}

static void lay_out(struct drawing *drawing)
{
    const struct problem *problem = drawing->steps->problem;
    char words[LINE_BYTES];
    double numbers = 0;
    for (size_t i = 0; i < drawing->steps->count; i++)
        numbers = fmax(numbers, svg_width(numbers_text(&drawing->steps->steps[i], words), 11));
    const double room = WIDTH - LABELS - numbers - 8;
    drawing->cell = fmin(26, room / (double)problem->size.keys);
    drawing->row = fmax(3, fmin(22, 560 / (double)drawing->steps->count));
    drawing->named = problem_key_labels(problem, 0) != NULL && problem->labels.keys.lists <= 1 &&
                     problem->size.keys <= MOST_SLANTED && drawing->cell >= 11;
    drawing->above = drawing->named ? ABOVE : 18;
    drawing->grids = problem->mask.lengths != NULL ? problem->size.items : 1;
}

/* --- a grid ------------------------------------------------------------------------------------------------------- */

/* Draws keys first .. end - 1 of a row; nothing where there are none. */
static void draw_run(const struct drawing *drawing, const char *attributes, size_t first, size_t end, double y)
{
    const double gap = drawing->row >= 8 ? 1 : 0;
    if (first < end)
        svg_rect(drawing->output, attributes, LABELS + drawing->cell * (double)first, y,
                 drawing->cell * (double)(end - first), drawing->row - gap);
}

static void draw_step(const struct drawing *drawing, size_t item, size_t i, double y)
{
    const struct problem *problem = drawing->steps->problem;
    const struct step *step = &drawing->steps->steps[i];
    const struct span allowed = steps_allowed(problem, item, step->first, step->end);
    const size_t start = (size_t)mask_offset(&problem->mask, item, 0) + step->first;
    const size_t needed = steps_needed(problem, item, step->first);
    char class[SVG_CLASS_BYTES];
    draw_run(drawing, MASKED, 0, needed, y);
    draw_run(drawing, svg_cell_attribute(false, CACHED, class), needed,
             memory_smaller(start, memory_larger(allowed.end, needed)), y);
    draw_run(drawing, svg_cell_attribute(false, NEW, class), start, start + step->end - step->first, y);
}

/* The queries before a row, and the numbers that it reads and keeps after it. */
static void label_step(const struct drawing *drawing, size_t i, double y)
{
    const struct step *step = &drawing->steps->steps[i];
    const double right = LABELS + drawing->cell * (double)drawing->steps->problem->size.keys + 8;
    char words[LINE_BYTES];
    if (i % tick(drawing->row, 13) != 0)
        return;
    snprintf(words, sizeof words, step->end == step->first + 1 ? "%zu" : "%zu\xe2\x80\x93%zu", step->first + 1,
             step->end);
    svg_text(drawing->output, LABELS - 8, y + drawing->row / 2 + 4, 0, "ink small end", words);
    svg_text(drawing->output, right, y + drawing->row / 2 + 4, 0, "muted small", numbers_text(step, words));
}

/* The names of the keys, or positions, and lines between cells that are wide enough. */
static void draw_columns(const struct drawing *drawing, double y)
{
    const struct problem *problem = drawing->steps->problem;
    const char **names = problem_key_labels(problem, 0);
    const size_t step = drawing->named ? 1 : tick(drawing->cell, 30);
    char label[SVG_LABEL_BYTES];
    for (size_t key = 0; key < problem->size.keys; key++) {
        const double x = LABELS + drawing->cell * ((double)key + 0.5);
        snprintf(label, sizeof label, "%zu", key + 1);
        if (drawing->named)
            svg_label(names[key], ABOVE, 11, label);
        if (drawing->named || key == 0 || (key + 1) % step == 0)
            svg_text(drawing->output, x + (drawing->named ? 3 : 0), y - 6, drawing->named ? -45 : 0,
                     drawing->named ? "ink small" : "ink small middle", label);
        if (drawing->cell >= 6 && key > 0)
            svg_rect(drawing->output, "class=\"page\"", x - drawing->cell / 2 - 0.5, y, 1,
                     drawing->row * (double)drawing->steps->count);
    }
}

static void draw_grid(const struct drawing *drawing, size_t item, double y)
{
    char title[LINE_BYTES] = "Queries of each step, and the keys that they read";
    const size_t length = strlen(title);
    if (drawing->grids > 1)
        snprintf(title + length, sizeof title - length, ", item %zu", item + 1);
    svg_text(drawing->output, 0, y + 13, 0, "ink title", title);
    y += TITLE + drawing->above;
    for (size_t i = 0; i < drawing->steps->count; i++) {
        draw_step(drawing, item, i, y + drawing->row * (double)i);
        label_step(drawing, i, y + drawing->row * (double)i);
    }
    draw_columns(drawing, y);
}

static void draw_legend(const struct drawing *drawing, double y)
{
    static const char *const WORDS[] = {"made in this step", "from the cache", "outside the window, dropped"};
    char class[SVG_CLASS_BYTES];
    double x = LABELS;
    for (size_t i = 0; i < (drawing->steps->problem->mask.left < 0 ? 2 : 3); i++) {
        const char *cell = svg_cell_attribute(false, i == 0 ? NEW : CACHED, class);
        svg_mark(drawing->output, i == 2 ? MASKED : cell, WORDS[i], x, y);
        x += SVG_MARK_WIDTH + svg_width(WORDS[i], 12) + 22;
    }
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* The settings in one line, and the picture in words. */
static enum status write_words(struct drawing *drawing, struct arena *arena, struct error *error)
{
    const struct steps *steps = drawing->steps;
    struct text words = text_begin(drawing->words, sizeof drawing->words);
    if (head_lines_add(steps->problem, &words, arena, error) != STATUS_OK)
        return error->status;
    text_add(&words,
             ". A row is a step, a column a key. In all, the steps read %zu numbers (%.0f bytes) from the cache and "
             "keep %zu (%.0f bytes). %zu of %zu rows of %s have the same bits as in one full pass.",
             steps->total.read, steps_bytes(steps, steps->total.read), steps->total.kept,
             steps_bytes(steps, steps->total.kept), steps->total.same, steps->total.rows, stage_name(steps->stage));
    return STATUS_OK;
}

static void open_document(const struct drawing *drawing, double height, enum theme theme)
{
    const struct svg_page page = svg_page(WIDTH, height, false);
    struct output *output = drawing->output;
    struct svg_palette palette = {0};
    palette.used[0][CACHED] = palette.used[0][NEW] = true;
    svg_open(output, page);
    output_print(output, "<title id=\"attn-title\">");
    svg_words(output, "%zu steps of %.*s", drawing->steps->count, (int)strcspn(drawing->words, ","), drawing->words);
    output_print(output, "</title>\n<desc id=\"attn-desc\">");
    svg_words(output, "%s", drawing->words);
    output_print(output, "</desc>\n");
    svg_open_page(output, page, &palette, theme);
}

enum status steps_svg(const struct steps *steps, const struct options *options, struct output *output,
                      struct arena *arena, struct error *error)
{
    struct drawing drawing = {.steps = steps, .output = output};
    if (write_words(&drawing, arena, error) != STATUS_OK)
        return error->status;
    lay_out(&drawing);
    const double grids = (grid_height(&drawing) + 16) * (double)drawing.grids;
    const size_t lines = options->no_caption ? 0 : svg_paragraph(NULL, 0, 0, WIDTH, "", 11, drawing.words);
    open_document(&drawing, grids + LEGEND + 15 * (double)lines,
                  options_said(options, OPTION_THEME) ? options->theme : options_format(options)->theme);
    for (size_t item = 0; item < drawing.grids; item++)
        draw_grid(&drawing, item, (grid_height(&drawing) + 16) * (double)item);
    draw_legend(&drawing, grids);
    if (lines > 0)
        svg_paragraph(output, 0, grids + LEGEND, WIDTH, "small muted", 11, drawing.words);
    output_print(output, "</g>\n</svg>\n");
    return STATUS_OK;
}
