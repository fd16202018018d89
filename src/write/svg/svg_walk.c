/* SPDX-License-Identifier: MIT */
/* The walk of a query of one head, as an animation in CSS: the query meets each key and fills a cell of the scores,
 * that row becomes shares, and each share takes its part of a value to the context. Without animation, or where a
 * reader asks for no motion, the picture is its end: all tables, complete. */
#include "write/svg/svg_picture.h"

#include "base/text.h"
#include "model/stages.h"

#include <math.h>
#include <string.h>

static const double CELL_WIDTH = 44, HEIGHT = 26, GAP = 34, TITLE_SIZE = 14, SAID = 18, NUMBER = 13, BAR = 36;
static const double BEGIN = 0.6, STEP = 2, TURN = 2.4, HOLD = 6, FADE = 0.3, FLIGHT = 1.1, SECOND = 0.8,
                    DONE = 1.7; /* seconds */

enum { MOST_ROWS = 12, MOST_TABLES = 8, WRITTEN_OUT = 3, WORDS_BYTES = 512 };

struct spot {
    double x, y;
};

struct walk {
    const struct svg_picture *picture;
    struct output *output;
    const struct svg_panel *query, *key, *value, *context;
    const struct svg_panel *rows[MOST_TABLES]; /* T x T tables: the first are the scores, the last are the shares */
    size_t row_count, item, head, row, keys;
    double cell;
    struct spot at_query, at_keys, at_rows, at_values;
    double now, total; /* seconds */
    size_t moves;      /* so far: each has a name */
};

/* --- tables ------------------------------------------------------------------------------------------------------ */

/* The matrix of the walk's item and head, or of the head of key and value that it uses. */
static size_t matrix_of(const struct walk *walk, const struct svg_panel *panel)
{
    const size_t items = svg_items_of(panel->sample.table), heads = panel->sample.matrices / items;
    return (items > 1 ? walk->item * heads : 0) + walk->head * heads / panel->result->problem->size.heads;
}

static size_t index_of(const struct walk *walk, const struct svg_panel *panel, size_t row, size_t column)
{
    const bool packed = panel == walk->context && panel->sample.columns > walk->value->sample.columns;
    return downsample_index(&panel->sample, matrix_of(walk, panel), row,
                            column + (packed ? walk->head * walk->value->sample.columns : 0));
}

static double number_of(const struct walk *walk, const struct svg_panel *panel, size_t row, size_t column)
{
    return panel->sample.numbers[index_of(walk, panel, row, column)];
}

static const struct svg_panel *shares_of(const struct walk *walk)
{
    return walk->rows[walk->row_count - 1];
}

static bool is_allowed(const struct walk *walk, size_t key)
{
    return !shares_of(walk)->sample.masked[index_of(walk, shares_of(walk), walk->row, key)];
}

/* The position of a cell in a table that begins there. */
static struct spot cell_at(const struct walk *walk, struct spot begin, size_t row, size_t column)
{
    return (struct spot){begin.x + walk->cell * (double)column, begin.y + HEIGHT * (double)row};
}

static struct spot row_at(const struct walk *walk, size_t i)
{
    return (struct spot){walk->at_rows.x, walk->at_rows.y + (HEIGHT + GAP) * (double)i};
}

static struct spot context_at(const struct walk *walk)
{
    return (struct spot){walk->at_values.x, row_at(walk, walk->row_count - 1).y};
}

static void draw_cell(const struct walk *walk, const struct svg_panel *panel, double number, bool masked,
                      struct spot at)
{
    char text[CELL_NUMBER_BYTES], class[SVG_CLASS_BYTES];
    const bool plain = masked || isnan(number);
    const size_t level = plain ? 0 : colormap_level(&panel->scale, number);
    svg_rect(walk->output,
             plain ? "fill=\"url(#attn-masked)\"" : svg_cell_attribute(panel->scale.diverging, level, class), at.x + 1,
             at.y + 1, walk->cell - 2, HEIGHT - 2);
    svg_text(walk->output, at.x + walk->cell / 2, at.y + HEIGHT / 2 + 0.36 * NUMBER, 0,
             plain ? "muted" : svg_ink_class(panel->scale.diverging, level), svg_panel_number(panel, number, text));
}

static void draw_frame(const struct walk *walk, struct spot at, size_t rows, size_t columns)
{
    svg_rect(walk->output, "class=\"wire\" rx=\"4\"", at.x - 1, at.y - 1, walk->cell * (double)columns + 2,
             HEIGHT * (double)rows + 2);
}

/* --- time -------------------------------------------------------------------------------------------------------- */

static double percent(const struct walk *walk, double seconds)
{
    return 100 * seconds / walk->total;
}

/* Opens a group that is there from `from` to `until`, or from then on where that is the end. */
static void open_shown(struct walk *walk, double from, double until, const char *classes)
{
    const size_t move = walk->moves++;
    const bool stays = until >= walk->total;
    output_print(walk->output, "<style>@keyframes m%zu", move);
    svg_tag(walk->output, "{0%,#%{opacity:0}#%", percent(walk, from), percent(walk, from + FADE));
    if (stays)
        output_print(walk->output, "{opacity:1}}");
    else
        svg_tag(walk->output, ",#%{opacity:1}#%,100%{opacity:0}}", percent(walk, until - FADE / 2),
                percent(walk, until));
    output_print(walk->output, ".m%zu{animation:m%zu ", move, move);
    svg_tag(walk->output, "#s infinite}</style>\n", walk->total);
    output_print(walk->output, "<g class=\"m%zu%s %s\">\n", move, stays ? "" : " gone", classes);
}

static void close_shown(struct walk *walk)
{
    output_print(walk->output, "</g>\n");
}

/* A cell flies from one spot to another, `later` than now. */
static void fly(struct walk *walk, const struct svg_panel *panel, double number, double later, struct spot from,
                struct spot to)
{
    const size_t move = walk->moves++;
    const double begin = walk->now + later, x = to.x - from.x, y = to.y - from.y;
    output_print(walk->output, "<style>@keyframes m%zu", move);
    svg_tag(walk->output, "{0%,#%{opacity:0}#%{opacity:1;transform:none}#%{opacity:1;transform:translate(#px,#px)}",
            percent(walk, begin), percent(walk, begin + FADE / 2), percent(walk, begin + FLIGHT - FADE), x, y);
    svg_tag(walk->output, "#%,100%{opacity:0;transform:translate(#px,#px)}}", percent(walk, begin + FLIGHT), x, y);
    output_print(walk->output, ".m%zu{animation:m%zu ", move, move);
    svg_tag(walk->output, "#s infinite}</style>\n", walk->total);
    output_print(walk->output, "<g class=\"m%zu gone middle\">\n", move);
    draw_cell(walk, panel, number, false, from);
    close_shown(walk);
}

/* Says a line beneath the tables, for so long; until the end where that is the last. */
static void say(struct walk *walk, double seconds, const char *words)
{
    open_shown(walk, walk->now, walk->now + seconds, "said ink");
    svg_text(walk->output, 0, context_at(walk).y + HEIGHT + BAR + GAP, 0, "said", words);
    close_shown(walk);
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

/* A token, or "token 12" where it has no name, into text (SVG_LABEL_BYTES). */
static const char *label_of(const struct walk *walk, bool of_query, size_t index, char *text)
{
    const struct svg_panel *panel = of_query ? walk->query : walk->key;
    struct text words = text_begin(text, SVG_LABEL_BYTES);
    char label[SVG_LABEL_BYTES];
    svg_panel_label(panel, true, matrix_of(walk, panel), of_query ? walk->row : index, label);
    text_add(&words, "%s%s", panel->result->problem->labels.keys.texts != NULL ? "" : "token ", label);
    return text;
}

/* "step x one: 0.15 x -0.57 + 0.22 x 0.27 = 0.05" */
static void say_score(struct walk *walk, size_t key)
{
    char from[SVG_LABEL_BYTES], to[SVG_LABEL_BYTES], a[CELL_NUMBER_BYTES], text[WORDS_BYTES];
    const size_t columns = walk->query->sample.columns;
    struct text words = text_begin(text, sizeof text);
    text_add(&words, "query of %s \xc2\xb7 key of %s = ", label_of(walk, true, 0, from),
             label_of(walk, false, key, to));
    for (size_t i = 0; i < 2 * columns && columns <= WRITTEN_OUT; i++) {
        const bool of_query = i % 2 == 0;
        const double number =
            of_query ? number_of(walk, walk->query, walk->row, i / 2) : number_of(walk, walk->key, key, i / 2);
        const bool bracketed = i > 0 && number < 0;
        text_add(&words, "%s%s%s%s",
                 i == 0     ? ""
                 : of_query ? " + "
                            : " \xc3\x97 ",
                 bracketed ? "(" : "", svg_panel_number(of_query ? walk->query : walk->key, number, a),
                 bracketed ? ")" : "");
    }
    text_add(&words, "%s%s", columns <= WRITTEN_OUT ? " \xe2\x89\x88 " : "",
             svg_panel_number(walk->rows[0], number_of(walk, walk->rows[0], walk->row, key), a));
    say(walk, STEP, text);
}

/* The query and a key meet, number by number; their products fill a cell. */
static void walk_score(struct walk *walk, size_t key)
{
    const struct spot target = cell_at(walk, row_at(walk, 0), 0, key);
    say_score(walk, key);
    open_shown(walk, walk->now, walk->now + STEP, "");
    draw_frame(walk, walk->at_query, 1, walk->query->sample.columns);
    draw_frame(walk, cell_at(walk, walk->at_keys, 0, key), walk->key->sample.columns, 1);
    close_shown(walk);
    for (size_t i = 0; i < walk->query->sample.columns; i++) {
        const double number = number_of(walk, walk->query, walk->row, i);
        const struct spot meets = cell_at(walk, walk->at_keys, i, key);
        fly(walk, walk->query, number, 0, cell_at(walk, walk->at_query, 0, i), meets);
        fly(walk, walk->rows[0], number * number_of(walk, walk->key, key, i), SECOND, meets, target);
    }
    open_shown(walk, walk->now + DONE, walk->total, "middle");
    draw_cell(walk, walk->rows[0], number_of(walk, walk->rows[0], walk->row, key), false, target);
    close_shown(walk);
    walk->now += STEP;
}

/* A row becomes the next one; the shares have a bar each. */
static void walk_row(struct walk *walk, size_t i)
{
    const struct svg_panel *from = walk->rows[i - 1], *to = walk->rows[i];
    const bool shares = i + 1 == walk->row_count;
    char formula[SVG_FORMULA_BYTES], text[WORDS_BYTES + SVG_FORMULA_BYTES], class[SVG_CLASS_BYTES];
    snprintf(text, sizeof text, "%s = %s%s", to->sample.table->name, svg_formula(to->result, to->sample.table, formula),
             shares ? ": shares of 1" : "");
    say(walk, TURN, text);
    for (size_t key = 0; key < walk->keys; key++) {
        const struct spot begin = cell_at(walk, row_at(walk, i - 1), 0, key),
                          end = cell_at(walk, row_at(walk, i), 0, key);
        if (!from->sample.masked[index_of(walk, from, walk->row, key)])
            fly(walk, from, number_of(walk, from, walk->row, key), 0, begin, end);
    }
    open_shown(walk, walk->now + FLIGHT, walk->total, "middle");
    for (size_t key = 0; key < walk->keys; key++) {
        const bool masked = to->sample.masked[index_of(walk, to, walk->row, key)];
        const double number = number_of(walk, to, walk->row, key), high = BAR * fmin(fmax(number, 0), 1);
        const struct spot at = cell_at(walk, row_at(walk, i), 0, key);
        draw_cell(walk, to, masked && !shares ? -INFINITY : number, masked, at);
        if (shares && !masked && !isnan(number))
            svg_rect(walk->output, svg_cell_attribute(false, COLORMAP_LEVELS * 2 / 3, class), at.x + 6,
                     at.y + HEIGHT + 3, walk->cell - 12, high);
    }
    close_shown(walk);
    walk->now += TURN;
}

/* A share of a value is added to the context, whose sum so far stands there. */
static void walk_value(struct walk *walk, size_t key, double *sums, bool last)
{
    const struct svg_panel *shares = shares_of(walk);
    const double share = number_of(walk, shares, walk->row, key);
    const size_t columns = walk->value->sample.columns;
    const struct spot at = cell_at(walk, walk->at_values, key, 0), target = context_at(walk);
    char to[SVG_LABEL_BYTES], number[CELL_NUMBER_BYTES], text[WORDS_BYTES];
    snprintf(text, sizeof text, "%s \xc3\x97 value of %s, added to the context",
             svg_panel_number(shares, share, number), label_of(walk, false, key, to));
    say(walk, STEP, text);
    open_shown(walk, walk->now, walk->now + STEP, "");
    draw_frame(walk, at, 1, columns);
    draw_frame(walk, cell_at(walk, row_at(walk, walk->row_count - 1), 0, key), 1, 1);
    close_shown(walk);
    fly(walk, shares, share, 0, cell_at(walk, row_at(walk, walk->row_count - 1), 0, key),
        (struct spot){at.x - walk->cell, at.y});
    for (size_t i = 0; i < columns; i++) {
        const double part = share * number_of(walk, walk->value, key, i);
        fly(walk, walk->context, part, SECOND, cell_at(walk, at, 0, i), cell_at(walk, target, 0, i));
        sums[i] += part;
    }
    open_shown(walk, walk->now + DONE, last ? walk->total : walk->now + STEP + DONE, "middle");
    for (size_t i = 0; i < columns; i++)
        draw_cell(walk, walk->context, last ? number_of(walk, walk->context, walk->row, i) : sums[i], false,
                  cell_at(walk, target, 0, i));
    close_shown(walk);
    walk->now += STEP;
}

/* --- what stands still ------------------------------------------------------------------------------------------- */

static void title(const struct walk *walk, double x, double y, const char *words, const char *formula)
{
    svg_text(walk->output, x, y, 0, "title ink", words);
    if (formula != NULL)
        svg_text(walk->output, x + svg_width(words, TITLE_SIZE) + 10, y, 0, "small muted", formula);
}

static void draw_still(const struct walk *walk)
{
    char text[WORDS_BYTES], label[SVG_LABEL_BYTES], formula[SVG_FORMULA_BYTES];
    const size_t columns = walk->value->sample.columns;
    const struct result_table *query = walk->query->sample.table;
    const size_t items = svg_items_of(query);
    struct text words = text_begin(text, sizeof text);
    text_add(&words, "query of %s", label_of(walk, true, 0, label));
    if (result_is_of(query, AXIS_HEAD)) /* with --head the table has that one alone */
        text_add(&words, ", head %zu", query->head + (walk->query->sample.matrices > items ? walk->head : 0) + 1);
    if (items > 1)
        text_add(&words, ", item %zu", walk->item + 1);
    title(walk, walk->at_query.x, walk->at_query.y - 10, text, NULL);
    title(walk, walk->at_keys.x, 12, "keys, a column each", NULL);
    title(walk, walk->at_values.x, walk->at_values.y - 10, "values, a row each", NULL);
    title(walk, walk->at_values.x, context_at(walk).y + HEIGHT + 18, walk->context->sample.table->name, NULL);
    for (size_t i = 0; i < walk->row_count; i++)
        title(walk, row_at(walk, i).x + walk->cell * (double)walk->keys + 12, row_at(walk, i).y + 18,
              walk->rows[i]->sample.table->name,
              svg_formula(walk->rows[i]->result, walk->rows[i]->sample.table, formula));
    output_print(walk->output, "<g class=\"middle\">\n");
    for (size_t i = 0; i < walk->query->sample.columns; i++)
        draw_cell(walk, walk->query, number_of(walk, walk->query, walk->row, i), false,
                  cell_at(walk, walk->at_query, 0, i));
    for (size_t key = 0; key < walk->keys; key++) {
        const struct spot top = cell_at(walk, walk->at_keys, 0, key),
                          value = cell_at(walk, walk->at_values, key, columns);
        svg_panel_label(walk->key, true, matrix_of(walk, walk->key), key, label);
        svg_label(label, walk->cell, NUMBER, text);
        svg_text(walk->output, top.x + walk->cell / 2, top.y - 6, 0, "ink", text);
        for (size_t i = 0; i < walk->key->sample.columns; i++)
            draw_cell(walk, walk->key, number_of(walk, walk->key, key, i), false, cell_at(walk, walk->at_keys, i, key));
        for (size_t i = 0; i < columns; i++)
            draw_cell(walk, walk->value, number_of(walk, walk->value, key, i), false,
                      cell_at(walk, walk->at_values, key, i));
        for (size_t i = 0; i < walk->row_count; i++)
            svg_rect(walk->output, "class=\"edge\"", cell_at(walk, row_at(walk, i), 0, key).x + 1,
                     row_at(walk, i).y + 1, walk->cell - 2, HEIGHT - 2);
        svg_text(walk->output, value.x + 8, value.y + HEIGHT / 2 + 5, 0, "ink start", text);
    }
    for (size_t i = 0; i < columns; i++)
        svg_rect(walk->output, "class=\"edge\"", cell_at(walk, context_at(walk), 0, i).x + 1, context_at(walk).y + 1,
                 walk->cell - 2, HEIGHT - 2);
    output_print(walk->output, "</g>\n");
}

/* --- layout ------------------------------------------------------------------------------------------------------ */

static const struct svg_panel *panel_of(const struct svg_picture *picture, enum stage stage)
{
    const struct svg_figure *figure = svg_figure_of(picture, stage);
    return figure != NULL ? &figure->panel : NULL;
}

/* The tables, their order and where they are. False where one is missing. */
static bool make_walk(const struct svg_picture *picture, struct walk *walk)
{
    double names = 0;
    char formula[SVG_FORMULA_BYTES];
    *walk = (struct walk){.picture = picture, .output = picture->output, .cell = CELL_WIDTH, .now = BEGIN};
    walk->query = panel_of(picture, STAGE_QUERY);
    walk->key = panel_of(picture, STAGE_KEY);
    walk->value = panel_of(picture, STAGE_VALUE);
    walk->context = panel_of(picture, STAGE_CONTEXT);
    for (size_t i = 0; i < picture->count; i++) {
        const struct svg_figure *figure = &picture->figures[i];
        if (svg_rank_of(figure) != SVG_SQUARES || walk->row_count == MOST_TABLES)
            continue;
        walk->rows[walk->row_count++] = &figure->panel;
        walk->cell = fmax(walk->cell, figure->panel.cell_width + 4);
        names = fmax(names, svg_width(figure->panel.sample.table->name, TITLE_SIZE) + 10 +
                                svg_width(svg_formula(figure->panel.result, figure->panel.sample.table, formula), 12));
    }
    if (walk->query == NULL || walk->key == NULL || walk->value == NULL || walk->context == NULL ||
        walk->row_count == 0)
        return false;
    const struct problem_chosen *chosen = &walk->query->result->problem->chosen;
    if (chosen->has_cell && chosen->cell.item != SIZE_MAX)
        walk->item = chosen->cell.item;
    if (chosen->has_cell && chosen->cell.head != SIZE_MAX)
        walk->head = chosen->cell.head;
    if (walk->query->sample.table->heads > 0)
        walk->head = walk->query->sample.table->head;
    walk->row = walk->query->sample.rows - 1;
    walk->keys = walk->key->sample.rows;
    const double columns = (double)walk->query->sample.columns, keys = (double)walk->keys;
    walk->cell = fmax(walk->cell, fmax(walk->key->cell_width, walk->value->cell_width) + 4);
    walk->at_keys = (struct spot){fmax(columns * walk->cell, 150) + GAP, 44};
    walk->at_rows = (struct spot){walk->at_keys.x, walk->at_keys.y + columns * HEIGHT + GAP};
    const double above = walk->at_rows.y + (HEIGHT + GAP) * (double)(walk->row_count - 1) - GAP - keys * HEIGHT;
    walk->at_rows.y += fmax(0, 24 - above);
    walk->at_keys.y += fmax(0, 24 - above);
    walk->at_query = (struct spot){0, walk->at_rows.y};
    walk->at_values = (struct spot){walk->at_rows.x + keys * walk->cell + names + 12 + GAP, fmax(24, above)};
    size_t allowed = 0;
    for (size_t key = 0; key < walk->keys; key++)
        allowed += is_allowed(walk, key);
    walk->total = BEGIN + STEP * (double)(walk->keys + allowed) + TURN * (double)(walk->row_count - 1) + HOLD;
    return true;
}

bool svg_walk_takes(enum stage stage)
{
    const bool operand = stage == STAGE_QUERY || stage == STAGE_KEY || stage == STAGE_VALUE;
    return operand || stage == STAGE_CONTEXT || (stage_is_square(stage) && !STAGES[stage].backward);
}

enum status svg_walk_layout(struct svg_picture *picture)
{
    struct walk walk;
    if (svg_flow_layout(picture) != STATUS_OK)
        return picture->error->status;
    picture->wide = true;
    memset(&picture->palette, true, sizeof picture->palette); /* of products too */
    if (!make_walk(picture, &walk))
        return error_usage(picture->error, "--animate draws query, key, value, scores, weights and context; leave out "
                                           "--stages");
    picture->width = walk.at_values.x + walk.cell * (double)walk.value->sample.columns + 80;
    picture->height = context_at(&walk).y + HEIGHT + BAR + GAP + 8;
    return STATUS_OK;
}

void svg_walk_draw(const struct svg_picture *picture)
{
    struct walk walk;
    double sums[MOST_ROWS] = {0};
    char text[WORDS_BYTES], label[SVG_LABEL_BYTES];
    if (!make_walk(picture, &walk)) /* as svg_walk_layout has checked */
        return;
    output_print(picture->output,
                 "<style>.gone{opacity:0}.start{text-anchor:start}.said{font-size:%.0fpx}\n"
                 "@media (prefers-reduced-motion:reduce){g{animation:none!important}}</style>\n",
                 SAID);
    draw_still(&walk);
    for (size_t key = 0; key < walk.keys; key++)
        walk_score(&walk, key);
    for (size_t i = 1; i < walk.row_count; i++)
        walk_row(&walk, i);
    size_t last = 0;
    for (size_t key = 0; key < walk.keys; key++)
        last = is_allowed(&walk, key) ? key : last;
    for (size_t key = 0; key < walk.keys; key++)
        if (is_allowed(&walk, key))
            walk_value(&walk, key, sums, key == last);
    snprintf(text, sizeof text, "context of %s: each value times its share, added up", label_of(&walk, true, 0, label));
    say(&walk, walk.total, text);
}
