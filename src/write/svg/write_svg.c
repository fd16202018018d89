/* SPDX-License-Identifier: MIT */
/* result -> one self-contained SVG: small inputs as a flow from table to table, T x T tables alone as heatmaps.
 *
 * A flow shows at most 12 rows and columns, 4 heads and 4 items. Where nobody asked for stages and the result is
 * larger, the weights are drawn alone, reduced where they are longer than 128. The bytes depend on the result alone. */
#include "write/writing.h"

#include "base/text.h"
#include "model/stage_id.h"
#include "write/head_lines.h"
#include "write/svg/svg_picture.h"

#include <math.h>
#include <string.h>

static const double CAPTION = 30, CAPTION_LINE = 15, SLIDE_MARGIN = 22, LEGIBLE = 7;

enum { CAPTION_BYTES = 1024, WHOLE_CAPTION_BYTES = 2 * CAPTION_BYTES, DESCRIBED_ROWS = 16, DESCRIBED_MATRICES = 4 };

/* --- what is drawn ----------------------------------------------------------------------------------------------- */

/* Keeps the weights, their gradient, and the next words, which make a flow; returns whether they do. */
static bool take_weights(struct svg_picture *picture)
{
    const enum stage kept[] = {STAGE_WEIGHTS, STAGE_GRAD_WEIGHTS, STAGE_PROBABILITIES};
    const struct result_table *words = result_table_of(picture->result, STAGE_PROBABILITIES);
    const bool flow =
        words != NULL && svg_flow_holds(words) && svg_flow_holds(result_table_of(picture->result, STAGE_WEIGHTS));
    picture->count = 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const struct result_table *table = result_table_of(picture->result, kept[i]);
        if (table != NULL && (flow || table != words))
            picture->figures[picture->count++] = (struct svg_figure){.panel.sample.table = table};
    }
    return flow;
}

static enum status choose_figures(struct svg_picture *picture, bool *flow)
{
    struct result *result = picture->result;
    const struct result_table *large = NULL;
    *flow = false;
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (table->stage == STAGE_PARAMETERS)
            *flow = true; /* svg_weights_add adds those that are matrices */
        if (table->stage == STAGE_PARAMETERS ||
            (table->stage == STAGE_INPUTS && table->tensor != &result->problem->given.bare))
            continue; /* a mask, slopes, sinks: the stages show what they do */
        if (picture->walks && !svg_walk_takes(table->stage))
            continue;
        picture->figures[picture->count++].panel.sample.table = table;
        *flow |= !stage_is_square(table->stage);
        if (large == NULL && !svg_flow_holds(table))
            large = table;
    }
    if (!*flow)
        return STATUS_OK;
    if (large == NULL)
        return picture->walks ? STATUS_OK : svg_weights_add(picture);
    if (result->problem->chosen.stages_asked)
        return error_usage(picture->error,
                           "--format svg draws '%s' with all its numbers, which is readable to 12 rows and columns, "
                           "4 heads and 4 items; expected --stages with tables of T x T alone, such as weights",
                           large->name);
    *flow = take_weights(picture);
    return STATUS_OK;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

/* The settings, the axes, and what was reduced, into text (WHOLE_CAPTION_BYTES). */
static void caption_text(const struct svg_picture *picture, bool flow, const char *settings, char *text)
{
    const struct downsample *sample = NULL;
    char words[DOWNSAMPLE_WORDS_BYTES];
    for (size_t i = 0; i < picture->count; i++)
        if (downsample_is_reduced(&picture->figures[i].panel.sample))
            sample = &picture->figures[i].panel.sample;
    struct text caption = text_begin(text, WHOLE_CAPTION_BYTES);
    text_add(&caption, "%s.%s", settings, flow ? "" : " A row is a query, a column a key.");
    if (sample != NULL)
        text_add(&caption, " Each cell is %s.", downsample_words(sample, words));
}

/* "weights of causal attention: 6 tokens": up to the first comma. */
static void write_title(const struct svg_picture *picture, bool flow, const char *settings)
{
    output_print(picture->output, "<title id=\"attn-title\">");
    for (size_t i = 0; i < picture->count && !flow; i++)
        svg_words(picture->output, "%s%s", i > 0 ? ", " : "", picture->figures[i].panel.sample.table->name);
    svg_words(picture->output, "%s of %.*s", flow ? "steps" : "", (int)strcspn(settings, ","), settings);
    output_print(picture->output, "</title>\n");
}

/* "journey to one 0.52" for the row's largest number. */
static void describe_row(const struct svg_picture *picture, const struct svg_panel *panel, size_t matrix, size_t row)
{
    char from[SVG_LABEL_BYTES], to[SVG_LABEL_BYTES], number[CELL_NUMBER_BYTES];
    size_t best = panel->sample.columns;
    double largest = -INFINITY;
    for (size_t column = 0; column < panel->sample.columns; column++) {
        const size_t index = downsample_index(&panel->sample, matrix, row, column);
        if (panel->sample.masked[index] || !(panel->sample.numbers[index] > largest))
            continue;
        best = column;
        largest = panel->sample.numbers[index];
    }
    svg_panel_label(panel, true, matrix, row, from);
    svg_words(picture->output, "%s", from);
    if (best == panel->sample.columns) {
        svg_words(picture->output, " to none");
        return;
    }
    svg_panel_label(panel, false, matrix, best, to);
    svg_words(picture->output, " to %s %s", to, cell_number_text(panel->number, largest, number));
}

/* The largest number of each row, for readers who cannot see the cells. */
static void describe_panel(const struct svg_picture *picture, const struct svg_panel *panel)
{
    const struct downsample *sample = &panel->sample;
    size_t item, head;
    svg_words(picture->output, " The largest of each row of %s", sample->table->name);
    for (size_t matrix = 0; matrix < sample->matrices && matrix < DESCRIBED_MATRICES; matrix++) {
        result_place(sample->table, matrix, &item, &head);
        svg_words(picture->output, matrix == 0 ? ":" : ";");
        if (result_is_of(sample->table, AXIS_ITEM))
            svg_words(picture->output, " item %zu", item + 1);
        if (result_is_of(sample->table, AXIS_HEAD))
            svg_words(picture->output, " head %zu", head + 1);
        for (size_t row = 0; row < sample->rows && row < DESCRIBED_ROWS; row++) {
            svg_words(picture->output, row == 0 ? " " : ", ");
            describe_row(picture, panel, matrix, row);
        }
    }
    svg_words(picture->output, "%s",
              sample->matrices > DESCRIBED_MATRICES || sample->rows > DESCRIBED_ROWS ? " and so on." : ".");
}

/* "scores = query . key^T, 6 x 6"; of a matrix "W_query.weight^T, 3 x 2, and its bias", or which columns are there. */
static void describe_table(const struct svg_picture *picture, const struct svg_panel *panel)
{
    const struct result_table *table = panel->sample.table;
    const bool matrix = table->stage == STAGE_PARAMETERS, told = table->formula[0] != '\0';
    svg_words(picture->output, "%s%s%s", table->name, !told ? "" : matrix ? ", " : " = ", table->formula);
    if (!matrix || !told)
        svg_words(picture->output, ", %zu x %zu", result_rows(table) - panel->biased, result_columns(table));
    svg_words(picture->output, "%s", panel->biased ? ", and its bias" : "");
}

/* Describes the picture table by table, and the largest number of each row of the weights, or else of the last T x T
 * table. */
static void write_description(const struct svg_picture *picture, bool flow, const char *caption)
{
    const struct svg_panel *told = NULL;
    output_print(picture->output, "<desc id=\"attn-desc\">");
    for (size_t i = 0; i < picture->count; i++) {
        const struct svg_panel *panel = &picture->figures[i].panel;
        const struct result_table *table = panel->sample.table;
        svg_words(picture->output, "%s", i > 0 ? "; " : "");
        describe_table(picture, panel);
        if (stage_is_square(table->stage) && (told == NULL || told->sample.table->stage != STAGE_WEIGHTS))
            told = panel;
    }
    svg_words(picture->output, ".");
    if (told != NULL && !downsample_is_reduced(&told->sample))
        describe_panel(picture, told);
    svg_words(picture->output, " %s%s", caption,
              picture->walks ? " The walk of one query, step by step."
              : flow         ? " Arrows lead from each table to those made from it."
                             : "");
    output_print(picture->output, "</desc>\n");
}

/* --- the document ------------------------------------------------------------------------------------------------ */

static void write_document(const struct svg_picture *picture, bool flow, const char *settings)
{
    char caption[WHOLE_CAPTION_BYTES];
    caption_text(picture, flow, settings, caption);
    const struct svg_page bare = svg_page(picture->width, picture->height + CAPTION, picture->wide);
    const double across = picture->wide ? bare.width - 2 * SLIDE_MARGIN : picture->width;
    const size_t lines = picture->caption ? svg_paragraph(NULL, 0, 0, across, "", 11, caption) : 0;
    const double height = picture->height + (lines > 0 ? CAPTION - CAPTION_LINE + CAPTION_LINE * (double)lines : 0);
    const struct svg_page page = svg_page(picture->width, height, picture->wide);
    svg_open(picture->output, page);
    write_title(picture, flow, settings);
    write_description(picture, flow, caption);
    svg_open_page(picture->output, page, &picture->palette, picture->theme);
    if (picture->walks)
        svg_walk_draw(picture);
    else if (flow)
        svg_flow_draw(picture);
    else
        svg_grid_draw(picture);
    if (picture->caption)
        svg_paragraph(picture->output, (picture->width - across) / 2, picture->height + CAPTION, across, "small muted",
                      11, caption);
    output_print(picture->output, "</g>\n</svg>\n");
}

static enum status begin_picture(const struct writing *writing, struct svg_picture *picture, bool *flow)
{
    const size_t figures = writing->result->table_count + SVG_WEIGHTS;
    *picture = (struct svg_picture){.result = writing->result,
                                    .decimals = writing_cell_decimals(writing),
                                    .theme = writing->theme,
                                    .pool = writing->pool,
                                    .caption = writing->caption,
                                    .entropy = writing->entropy,
                                    .wide = writing->shape == SHAPE_WIDE && !writing->walks,
                                    .walks = writing->walks,
                                    .output = writing->output,
                                    .arena = writing->arena,
                                    .error = writing->error};
    picture->figures = arena_allocate(writing->arena, figures, sizeof *picture->figures, writing->error);
    if (picture->figures == NULL)
        return writing->error->status;
    memset(picture->figures, 0, figures * sizeof *picture->figures);
    if (choose_figures(picture, flow) != STATUS_OK || *flow || !picture->walks)
        return picture->error->status;
    return error_usage(picture->error, "--animate shows every number of a head, which is readable to 12 rows and "
                                       "columns, 4 heads and 4 items; give it less, for example by --without");
}

enum status check_svg(const struct writing *writing)
{
    struct svg_picture picture;
    bool flow;
    return begin_picture(writing, &picture, &flow);
}

enum status write_svg(const struct writing *writing)
{
    struct svg_picture picture;
    char settings[CAPTION_BYTES];
    struct text words = text_begin(settings, sizeof settings);
    bool flow = false;
    if (begin_picture(writing, &picture, &flow) ||
        (flow && (picture.walks ? svg_walk_layout(&picture) : svg_flow_layout(&picture))))
        return writing->error->status;
    if (flow && picture.wide && !picture.walks && picture.type < LEGIBLE &&
        !writing->result->problem->chosen.stages_asked) {
        flow = take_weights(&picture);
        if (flow && svg_flow_layout(&picture) != STATUS_OK)
            return writing->error->status;
    }
    if ((!flow && svg_grid_layout(&picture)) ||
        head_lines_add(writing->result->problem, &words, writing->arena, writing->error))
        return writing->error->status;
    write_document(&picture, flow, settings);
    return STATUS_OK;
}
