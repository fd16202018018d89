/* SPDX-License-Identifier: MIT */
#include "write/text/text.h"

#include "base/text.h"
#include "base/wrap.h"
#include "model/stage_id.h"
#include "write/picture/cell_number.h"
#include "write/picture/terminal_color.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    GAP = 3,           /* between heads */
    TOKEN_COLUMNS = 9, /* a cell is not widened for a longer token */
    LABEL_COLUMNS = 20,
    LABEL_BYTES = 4 * LABEL_COLUMNS + 64,
    SWATCH = 2, /* shades behind a number */
    SCALE_COLUMNS = 24,
    SCALE_FEWEST = 8,
    SHARP_COLUMNS = 15, /* "  1.00     0.69" */
};

static const char MASKED[] = "\xc2\xb7"; /* a middle dot */

struct heatmap {
    struct result *result;
    const struct result_table *table;
    int decimals; /* below 0: two, or what the numbers need */
    enum terminal_color_depth depth;
    size_t columns; /* that a line may have */
    enum pool pool;
    struct output *output;
    struct downsample sample;
    struct colormap_scale scale;
    struct terminal_color terminal;
    struct cell_number_style number;
    bool numbered;       /* the cells have room for their numbers */
    size_t number_width; /* of the longest */
    size_t cell;         /* columns of a cell */
    bool tokens_above;   /* whether tokens stand above the columns, or positions */
    size_t position;     /* columns of the positions before the tokens of rows; 0: there are none */
    size_t longest;      /* columns of a row that a token may have */
    size_t label;        /* columns of the widest one */
    size_t per_line;     /* heads side by side */
    size_t blanks;       /* that wait */
    size_t painted;      /* the step whose colours are on; COLORMAP_LEVELS: none */
};

/* --- labels ------------------------------------------------------------------------------------------------------ */

static size_t digits_of(size_t number)
{
    char text[24];
    return (size_t)snprintf(text, sizeof text, "%zu", number);
}

static enum axis axis_of(const struct heatmap *map, bool of_rows)
{
    return of_rows ? result_row_axis(map->table) : result_column_axis(map->table);
}

/* The token of a row or column in at most `columns`, or else its position; returns its width in columns. */
static size_t label_text(const struct heatmap *map, bool of_rows, size_t item, size_t index, size_t columns, char *text)
{
    size_t position;
    const char *label = result_label(map->result, axis_of(map, of_rows), item, index, &position);
    if (label != NULL)
        return text_cut(label, columns, text, LABEL_BYTES);
    return (size_t)snprintf(text, LABEL_BYTES, "%zu", position);
}

static size_t position_of(const struct heatmap *map, bool of_rows, size_t index)
{
    size_t position;
    result_label(map->result, axis_of(map, of_rows), 0, index, &position);
    return position;
}

/* The label of a row of the picture: its token, or the positions of the tokens that it stands for. */
static size_t row_text(const struct heatmap *map, size_t item, size_t row, char *text)
{
    const size_t block = map->sample.row_block, first = row * block, rows = result_rows(map->table);
    if (block == 1)
        return label_text(map, true, item, row, map->longest, text);
    const size_t last = memory_smaller(first + block, rows) - 1;
    if (first == last)
        return (size_t)snprintf(text, LABEL_BYTES, "%zu", position_of(map, true, first));
    return (size_t)snprintf(text, LABEL_BYTES, "%zu-%zu", position_of(map, true, first), position_of(map, true, last));
}

/* The widest label of an axis, over all items: queries and keys may have their own lists. */
static size_t widest_label(const struct heatmap *map, bool of_rows)
{
    const struct problem *problem = map->result->problem;
    const size_t lists = memory_larger(problem->labels.keys.lists, problem->labels.queries.lists);
    const size_t count = of_rows ? result_rows(map->table) : result_columns(map->table);
    char text[LABEL_BYTES];
    size_t widest = 1;
    for (size_t item = 0; item < lists || item == 0; item++)
        for (size_t i = 0; i < count; i++)
            widest = memory_larger(widest, label_text(map, of_rows, item, i, map->longest, text));
    return widest;
}

/* --- what fits --------------------------------------------------------------------------------------------------- */

static size_t margin_of(const struct heatmap *map)
{
    return INDENT + (map->position > 0 ? map->position + 1 : 0) + map->label + 1;
}

static size_t extra_of(const struct heatmap *map)
{
    return map->sample.sharp ? SHARP_COLUMNS : 0;
}

/* Whether so many heads with cells of that width fit into a line. */
static bool fits(const struct heatmap *map, size_t heads, size_t cell)
{
    const size_t width = margin_of(map) + heads * (map->sample.columns * cell + extra_of(map)) + (heads - 1) * GAP;
    return width <= map->columns;
}

/* Cells with numbers, as wide as possible: two heads in a line are worth more than margins, numbers more than both.
 * False where numbers do not fit. */
static bool fit_numbers(struct heatmap *map, size_t token)
{
    char text[CELL_NUMBER_BYTES];
    map->number_width = strlen(cell_number_longest(&map->sample, map->number, text));
    const size_t swatch = map->depth == TERMINAL_COLOR_SHADES ? SWATCH : 0, taken = map->number_width + swatch;
    const size_t widths[] = {memory_larger(taken + 2, memory_smaller(token, TOKEN_COLUMNS) + 1), taken + 2, taken + 1};
    for (size_t heads = downsample_heads(map->table) > 1 ? 2 : 1; heads > 0; heads--)
        for (size_t i = 0; i < 3; i++)
            if (fits(map, heads, widths[i])) {
                map->cell = widths[i];
                return true;
            }
    return false;
}

/* Labels columns by position. Rows then have their position before the token, to match them. */
static void count_positions(struct heatmap *map)
{
    const bool has_tokens = result_label(map->result, axis_of(map, true), 0, 0, &map->position) != NULL;
    map->tokens_above = false;
    map->position = 0;
    if (map->sample.row_block == 1 && has_tokens)
        map->position = digits_of(position_of(map, true, result_rows(map->table) - 1));
}

/* Cells of colour alone; `wanted` is the style of the numbers on the scale. */
static void drop_numbers(struct heatmap *map, struct cell_number_style wanted)
{
    map->numbered = false;
    map->number = wanted;
    map->cell = fits(map, 1, 2) ? 2 : 1;
}

static void fit_cells(struct heatmap *map)
{
    const size_t token = widest_label(map, false);
    map->tokens_above = true;
    if (map->sample.column_block > 1)
        count_positions(map);
    const struct cell_number_style wanted = map->number = cell_number_style(&map->sample, map->decimals);
    map->numbered = fit_numbers(map, token);
    while (!map->numbered && map->number.decimals > 1) {
        map->number.decimals--;
        map->numbered = fit_numbers(map, token);
    }
    if (!map->numbered)
        drop_numbers(map, wanted);
    if (map->tokens_above && map->cell < 5 && token > map->cell - (map->cell > 1)) {
        count_positions(map);
        if (!fits(map, 1, map->cell))
            drop_numbers(map, wanted);
    }
    map->per_line = 1;
    while (map->per_line < downsample_heads(map->table) && fits(map, map->per_line + 1, map->cell))
        map->per_line++;
}

/* Makes the sample: unreduced where one column for each cell fits, else in cells of two columns, which are about
 * square. */
static enum status make_sample(struct heatmap *map, struct arena *arena, struct error *error)
{
    const size_t rows = result_rows(map->table), columns = result_columns(map->table);
    const size_t digits = digits_of(position_of(map, true, rows - 1)), ranges = 2 * digits + 1;
    map->longest = memory_smaller(map->columns / 3, LABEL_COLUMNS);
    map->label = widest_label(map, true);
    size_t room = memory_left(map->columns, margin_of(map) + digits + 1);
    if (columns > room || rows > room)
        room /= 2;
    if (rows > room) { /* each row of the picture then has positions for a label */
        map->label = ranges;
        const size_t without_tokens = memory_left(map->columns, margin_of(map)) / 2;
        room = rows > without_tokens ? without_tokens : room;
    }
    return downsample_create(&map->sample, map->result, map->table, room, room, map->pool, arena, error);
}

/* --- drawing ----------------------------------------------------------------------------------------------------- */

/* Blanks wait for what follows them, so that no line ends in blanks. */
static void write_blanks(struct heatmap *map, size_t count)
{
    map->blanks += count;
}

static void write_word(struct heatmap *map, const char *word)
{
    for (; map->blanks > 0; map->blanks--)
        output_write(map->output, " ", 1);
    output_write(map->output, word, strlen(word));
}

__attribute__((format(printf, 2, 3))) static void print(struct heatmap *map, const char *format, ...)
{
    char text[128];
    TEXT_FORMAT(text, format);
    write_word(map, text);
}

static void end_line(struct heatmap *map)
{
    map->blanks = 0;
    write_word(map, "\n");
}

static void set_paint(struct heatmap *map, size_t level)
{
    if (level == map->painted || map->depth == TERMINAL_COLOR_SHADES)
        return;
    write_word(map, level == COLORMAP_LEVELS ? TEXT_PLAIN : map->terminal.levels[level]);
    map->painted = level;
}

/* So many columns of a step: blanks in its colours, or its shade. */
static void write_swatch(struct heatmap *map, size_t level, size_t columns)
{
    const bool blank =
        map->depth != TERMINAL_COLOR_SHADES || level == COLORMAP_LEVELS || terminal_color_shade(level)[0] == ' ';
    for (size_t i = 0; i < columns; i++)
        if (blank)
            write_blanks(map, 1);
        else
            write_word(map, terminal_color_shade(level));
}

static void write_centred(struct heatmap *map, const char *word, size_t taken, size_t columns)
{
    const size_t before = memory_left(columns, taken) / 2;
    write_blanks(map, before);
    write_word(map, word);
    write_blanks(map, memory_left(columns, taken + before));
}

/* The number, right-aligned, then its shade where there are no colours. */
static void write_number(struct heatmap *map, double number, size_t level)
{
    char text[CELL_NUMBER_BYTES];
    const bool shades = map->depth == TERMINAL_COLOR_SHADES;
    const size_t taken = map->number_width + (shades ? SWATCH : 0);
    const size_t before = (memory_left(map->cell, taken) + 1) / 2;
    cell_number_text(map->number, number, text);
    write_blanks(map, before + memory_left(map->number_width, strlen(text)));
    write_word(map, text);
    write_swatch(map, level, shades ? SWATCH : 0);
    write_blanks(map, memory_left(map->cell, taken + before));
}

static void write_cell(struct heatmap *map, size_t index)
{
    const double number = map->sample.numbers[index];
    const size_t level =
        map->sample.masked[index] || isnan(number) ? COLORMAP_LEVELS : colormap_level(&map->scale, number);
    set_paint(map, level);
    if (map->sample.masked[index])
        write_centred(map, MASKED, 1, map->cell);
    else if (map->numbered)
        write_number(map, number, level);
    else if (level == COLORMAP_LEVELS)
        write_centred(map, "?", 1, map->cell);
    else
        write_swatch(map, level, map->cell);
}

static void write_row(struct heatmap *map, size_t matrix, size_t heads, size_t row)
{
    char text[LABEL_BYTES];
    size_t item, head;
    result_place(map->table, matrix, &item, &head);
    write_blanks(map, INDENT);
    if (map->position > 0)
        print(map, "%*zu ", (int)map->position, position_of(map, true, row));
    const size_t taken = row_text(map, item, row, text);
    write_word(map, text);
    write_blanks(map, memory_left(map->label, taken) + 1);
    for (size_t i = 0; i < heads; i++) {
        write_blanks(map, i > 0 ? GAP : 0);
        for (size_t column = 0; column < map->sample.columns; column++)
            write_cell(map, downsample_index(&map->sample, matrix + i, row, column));
        set_paint(map, COLORMAP_LEVELS);
        const struct sharpness sharpness = downsample_sharpness(&map->sample, matrix + i, row);
        if (map->sample.sharp)
            print(map, "  %4.2f  %7.2f", sharpness.sum, fabs(sharpness.entropy));
    }
    end_line(map);
}

/* The positions above one head: 1, 5, 10, 15 ..., or the first of each block. */
static void write_ticks(struct heatmap *map)
{
    const size_t block = map->sample.column_block, width = map->sample.columns * map->cell;
    const size_t step = downsample_step((double)map->cell, (double)digits_of(result_columns(map->table)) + 1);
    size_t written = 0;
    for (size_t column = 0; column < map->sample.columns; column++) {
        const size_t position = position_of(map, false, column * block);
        const size_t place = column * map->cell + (map->numbered ? memory_left(map->cell, digits_of(position)) / 2 : 0);
        if (!downsample_is_labelled(column, step, block) || place < written || place + digits_of(position) > width)
            continue;
        write_blanks(map, memory_left(place, written));
        print(map, "%zu", position);
        written = place + digits_of(position);
    }
    write_blanks(map, memory_left(width, written));
}

static void write_column_labels(struct heatmap *map, size_t item, size_t heads)
{
    char text[LABEL_BYTES];
    write_blanks(map, margin_of(map));
    for (size_t i = 0; i < heads; i++) {
        write_blanks(map, i > 0 ? GAP : 0);
        if (!map->tokens_above)
            write_ticks(map);
        for (size_t column = 0; map->tokens_above && column < map->sample.columns; column++) {
            const size_t taken = label_text(map, false, item, column, map->cell - (map->cell > 1), text);
            write_centred(map, text, taken, map->cell);
        }
        if (map->sample.sharp)
            write_word(map, "   sum  entropy");
    }
    end_line(map);
}

/* "head 1" above each head in a line; its number alone where that is too wide, nothing where even that is. */
static void write_heads(struct heatmap *map, size_t first, size_t heads)
{
    char text[32];
    const size_t width = map->sample.columns * map->cell + extra_of(map) + GAP;
    write_blanks(map, margin_of(map));
    for (size_t i = 0; i < heads; i++) {
        const size_t behind = memory_left(map->columns, margin_of(map) + i * width);
        const size_t room = memory_smaller(behind, width - 1);
        size_t taken = (size_t)snprintf(text, sizeof text, "head %zu", first + i + 1);
        if (taken > room)
            taken = (size_t)snprintf(text, sizeof text, "%zu", first + i + 1);
        if (taken > room)
            text[taken = 0] = '\0';
        write_word(map, text);
        write_blanks(map, i + 1 < heads ? memory_left(width, taken) : 0);
    }
    end_line(map);
}

static void write_matrices(struct heatmap *map)
{
    const size_t all = downsample_heads(map->table);
    for (size_t matrix = 0, heads; matrix < map->sample.matrices && !map->output->failed; matrix += heads) {
        size_t item, head;
        result_place(map->table, matrix, &item, &head);
        heads = memory_smaller(all + map->table->head - head, map->per_line);
        if (matrix > 0)
            end_line(map);
        if (result_is_of(map->table, AXIS_ITEM) && head == map->table->head)
            print(map, "  item %zu\n", item + 1);
        if (result_is_of(map->table, AXIS_HEAD))
            write_heads(map, head, heads);
        write_column_labels(map, item, heads);
        for (size_t row = 0; row < map->sample.rows; row++)
            write_row(map, matrix, heads, row);
    }
}

/* --- beneath ----------------------------------------------------------------------------------------------------- */

/* The ends of the scale, with fewer decimals where the line is short. Returns the columns left between them. */
static size_t fit_scale(const struct heatmap *map, char *low, char *high)
{
    struct cell_number_style number = map->number;
    for (;; number.decimals--) {
        const size_t ends = strlen(cell_number_text(number, map->scale.low, low)) +
                            strlen(cell_number_text(number, map->scale.high, high)) + INDENT + 4;
        const size_t room = memory_left(map->columns, ends);
        if (room >= SCALE_FEWEST || number.decimals == 0)
            return memory_smaller(room, SCALE_COLUMNS);
    }
}

/* The map from low to high; returns its width in columns. */
static size_t write_scale(struct heatmap *map)
{
    char low[CELL_NUMBER_BYTES], high[CELL_NUMBER_BYTES];
    const size_t columns = fit_scale(map, low, high);
    const char *edge = map->depth == TERMINAL_COLOR_SHADES ? "|" : "";
    print(map, "\n  %s %s", low, edge);
    for (size_t i = 0; i < columns; i++) {
        const size_t level = i * (COLORMAP_LEVELS - 1) / memory_larger(1, memory_left(columns, 1));
        set_paint(map, level);
        write_swatch(map, level, 1);
    }
    set_paint(map, COLORMAP_LEVELS);
    print(map, "%s %s", edge, high);
    return INDENT + strlen(low) + columns + 2 * strlen(edge) + 2 + strlen(high);
}

/* The scale, what is not on it, and what a cell is. */
static void write_legend(struct heatmap *map)
{
    const size_t taken = write_scale(map), more = strlen("   . masked");
    char words[DOWNSAMPLE_WORDS_BYTES];
    if (map->sample.any_masked && taken + more > map->columns)
        end_line(map);
    if (map->sample.any_masked)
        print(map, "%s%s masked", taken + more > map->columns ? "  " : "   ", MASKED);
    end_line(map);
    if (!downsample_is_reduced(&map->sample))
        return;
    struct wrap line = {.output = map->output, .columns = map->columns, .indent = INDENT};
    wrap_words(&line, "  each cell is ");
    wrap_words(&line, downsample_words(&map->sample, words));
    end_line(map);
}

/* --- the terminal ------------------------------------------------------------------------------------------------ */

/* How many colours the terminal has, by its environment variables. */
static enum terminal_color_depth choose_depth(bool color)
{
    const char *colors = getenv("COLORTERM"), *term = getenv("TERM");
    if (!color)
        return TERMINAL_COLOR_SHADES;
    if (colors != NULL && (strcmp(colors, "truecolor") == 0 || strcmp(colors, "24bit") == 0))
        return TERMINAL_COLOR_TRUE;
    return term != NULL && strstr(term, "256color") != NULL ? TERMINAL_COLOR_256 : TERMINAL_COLOR_16;
}

/* By --theme, or by the terminal: COLORFGBG is "ink;ground" or "ink;default;ground", in numbers of the 16 colours,
 * of which 7 and 15 are white. Most terminals that do not set it are dark. */
static enum ground choose_ground(enum theme theme)
{
    if (theme != THEME_AUTO)
        return theme == THEME_LIGHT ? GROUND_LIGHT : GROUND_DARK;
    const char *colors = getenv("COLORFGBG");
    const char *ground = colors != NULL ? strrchr(colors, ';') : NULL;
    return ground != NULL && (strcmp(ground, ";7") == 0 || strcmp(ground, ";15") == 0) ? GROUND_LIGHT : GROUND_DARK;
}

enum status write_heatmap(const struct writing *writing, const struct result_table *table)
{
    struct heatmap map = {.result = writing->result,
                          .table = table,
                          .decimals = writing_cell_decimals(writing),
                          .depth = choose_depth(writing->color),
                          .columns = output_columns(writing->output),
                          .pool = writing->pool,
                          .output = writing->output,
                          .painted = COLORMAP_LEVELS};
    if (make_sample(&map, writing->arena, writing->error) != STATUS_OK)
        return writing->error->status;
    downsample_sharpen(&map.sample, writing->entropy);
    map.scale = colormap_scale(map.sample.low, map.sample.high);
    /* Shades have no sign: they go from the lowest number to the highest. */
    if (map.depth == TERMINAL_COLOR_SHADES && map.scale.diverging)
        map.scale = (struct colormap_scale){false, map.sample.low, map.sample.high};
    terminal_color_create(&map.terminal, map.depth, choose_ground(writing->theme), map.scale.diverging);
    fit_cells(&map);
    write_matrices(&map);
    write_legend(&map);
    return STATUS_OK;
}
