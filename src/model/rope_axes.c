/* SPDX-License-Identifier: MIT */
/* Positions of several axes: the text of --rope-axes, which axis turns a pair, and the coordinates of a grid. */
#include "base/text.h"
#include "model/rope.h"

#include <stdlib.h>
#include <string.h>

static const char *const WORDS[] = {ROPE_AXES_KINDS(CHOICE_WORD)};

/* Whether pairs take the axes in turn, and whether the frequencies of each axis are those of its own columns. */
static const struct {
    bool in_turn, restarted;
} KINDS[] = {
    [ROPE_AXES_INTERLEAVED] = {.in_turn = true},
    [ROPE_AXES_RESTARTED] = {.restarted = true},
    [ROPE_AXES_RESTARTED_INTERLEAVED] = {true, true},
    [ROPE_AXES_STRIDED] = {false, false},
};

/* --- which axis -------------------------------------------------------------------------------------------------- */

bool rope_has_axis(const struct rope_axes *axes, size_t axis)
{
    for (size_t i = 0; i < axes->count; i++)
        if (axes->axis[i] == axis)
            return true;
    return false;
}

static bool shares_equally(const struct rope_axes *axes)
{
    return axes->pairs[0] + axes->pairs[1] + axes->pairs[2] == 0;
}

/* The axis of a pair, as its place in the order of pairs, and how many pairs of a block come before. */
static size_t find_place(const struct rope_axes *axes, size_t pairs, size_t pair, size_t *before)
{
    const bool equal = shares_equally(axes);
    size_t place = 0;
    if (KINDS[axes->kind].in_turn) {
        place = pair % axes->count;
        *before = pair - pair / axes->count;
        return equal || pair / axes->count < axes->pairs[place] ? place : 0;
    }
    for (*before = 0; place + 1 < axes->count; place++) {
        const size_t own = equal ? pairs / axes->count : axes->pairs[place];
        if (pair < *before + own)
            break;
        *before += own;
    }
    return place;
}

struct rope_axis rope_axis(const struct rope_axes *axes, size_t pairs, size_t pair)
{
    size_t before;
    if (axes->kind == ROPE_AXES_NONE)
        return (struct rope_axis){.index = pair, .of = pairs};
    const size_t place = find_place(axes, pairs, pair, &before);
    struct rope_axis found = {axes->axis[place], pair, pairs};
    if (KINDS[axes->kind].restarted) {
        found.of = shares_equally(axes) ? pairs / axes->count : axes->pairs[place];
        found.index = pair - before;
    } else if (axes->kind == ROPE_AXES_STRIDED) {
        found.index = (pair - before) * axes->count + place;
    }
    return found;
}

enum status rope_axes_check(const struct rope_axes *axes, size_t pairs, struct error *error)
{
    const bool equal = shares_equally(axes), needs_equal = axes->kind > ROPE_AXES_RESTARTED;
    size_t counts[ROPE_AXES] = {0}, before;
    if (axes->kind == ROPE_AXES_INTERLEAVED && !equal) /* its numbers are the most that each has */
        return STATUS_OK;
    for (size_t pair = 0; pair < pairs; pair++)
        counts[find_place(axes, pairs, pair, &before)]++;
    for (size_t i = 0; i < axes->count; i++)
        if (counts[i] != ((equal || needs_equal) ? pairs / axes->count : axes->pairs[i]) ||
            ((equal || needs_equal) && pairs % axes->count != 0))
            return error_usage(error,
                               "--rope-axes: %s cannot give the %zu pairs of rotated columns to these %zu axes; "
                               "expected %s that sum to %zu",
                               WORDS[axes->kind], pairs, axes->count, needs_equal ? "equal shares" : "numbers of pairs",
                               pairs);
    return STATUS_OK;
}

/* --- a grid ------------------------------------------------------------------------------------------------------ */

struct grid {
    const struct rope_axes *axes;
    const size_t *sizes;
    bool in_double;
    double *next; /* where the next patch's coordinates go */
};

static double coordinate(const struct grid *grid, size_t at, size_t axis)
{
    static const float TWO_PI = 6.28318530717958647692F;
    const double size = (double)grid->sizes[axis], middle = ((double)at + 0.5) / size;
    if (!grid->axes->centred)
        return (double)(at + grid->axes->from);
    return grid->in_double ? (2 * middle - 1) * 6.28318530717958647692
                           : (double)(TWO_PI * (2 * (float)middle - 1)); /* each step is rounded, as in float32 */
}

/* Adds the patches of rows top .. bottom and columns left .. right: windows, blocks in them, patches in these. */
static void add_patches(struct grid *grid, size_t time, int level, const size_t from[2], const size_t to[2])
{
    const size_t sizes[] = {grid->axes->window, grid->axes->merge, 1};
    const size_t side = sizes[level] > 0 ? sizes[level] : level == 0 ? SIZE_MAX : 1;
    for (size_t row = from[0]; row < to[0]; row += memory_smaller(side, to[0]))
        for (size_t column = from[1]; column < to[1]; column += memory_smaller(side, to[1])) {
            const size_t end[] = {row + memory_smaller(side, to[0] - row), column + memory_smaller(side, to[1] - column)};
            if (level < 2) {
                add_patches(grid, time, level + 1, (size_t[]){row, column}, end);
                continue;
            }
            grid->next[0] = coordinate(grid, time, 0);
            grid->next[1] = coordinate(grid, row, 1);
            grid->next[2] = coordinate(grid, column, 2);
            grid->next += ROPE_AXES;
        }
}

enum status rope_grid(const struct rope_axes *axes, const size_t sizes[ROPE_AXES], bool in_double, double *coordinates,
                      struct error *error)
{
    struct grid grid = {axes, sizes, in_double, coordinates};
    for (int i = 1; i < ROPE_AXES; i++) {
        if (axes->merge > 0 && sizes[i] % axes->merge != 0)
            return error_usage(error,
                               "--positions grid:%zux%zu: tokens come in blocks of %zu x %zu patches; expected "
                               "multiples of %zu",
                               sizes[1], sizes[2], axes->merge, axes->merge, axes->merge);
        if (axes->within > 0 && sizes[i] > axes->within)
            return error_usage(error,
                               "--positions grid:%zux%zu: this layer masks keys of other windows of %zu x %zu patches, "
                               "which attn does not compute; expected a grid of one window",
                               sizes[1], sizes[2], axes->within, axes->within);
    }
    for (size_t time = 0; time < sizes[0]; time++)
        add_patches(&grid, time, 0, (size_t[]){0, 0}, sizes + 1);
    return STATUS_OK;
}

/* --- the text ---------------------------------------------------------------------------------------------------- */

enum { SHOWN = 40, MOST = 65536 };

/* Words after the axes: those that take a number, and others. */
static const struct {
    const char *word;
    bool takes_number;
    size_t place;
} FACTS[] = {
    {"merge=", true, offsetof(struct rope_axes, merge)},       {"window=", true, offsetof(struct rope_axes, window)},
    {"within=", true, offsetof(struct rope_axes, within)},     {"from=", true, offsetof(struct rope_axes, from)},
    {"centred", false, offsetof(struct rope_axes, centred)},   {"rest-first", false, offsetof(struct rope_axes, rest_first)},
    {"rest-last", false, offsetof(struct rope_axes, rest_last)},
};

/* Reads digits text[0 .. length), which may be empty where `optional`. */
static bool read_count(const char *text, size_t length, bool optional, size_t *count)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *count = length > 0 ? value : 0;
    return length == 0 ? optional : text_is_digit(text[0]) && end == text + length && value <= MOST;
}

/* Reads "h24", "h" or a fact; whether it is one. */
static bool read_item(const char *item, size_t length, struct rope_axes *axes)
{
    for (size_t i = 0; i < sizeof FACTS / sizeof FACTS[0]; i++) {
        const size_t word = strlen(FACTS[i].word);
        if (length < word || memcmp(item, FACTS[i].word, word) != 0)
            continue;
        if (FACTS[i].takes_number)
            return read_count(item + word, length - word, false, (size_t *)((char *)axes + FACTS[i].place));
        *(bool *)((char *)axes + FACTS[i].place) = true;
        return length == word;
    }
    const char *letter = length > 0 ? memchr(ROPE_AXIS_LETTERS, item[0], ROPE_AXES) : NULL;
    if (letter == NULL || rope_has_axis(axes, (size_t)(letter - ROPE_AXIS_LETTERS)))
        return false;
    axes->axis[axes->count] = (size_t)(letter - ROPE_AXIS_LETTERS);
    return read_count(item + 1, length - 1, true, &axes->pairs[axes->count++]);
}

enum status rope_axes_parse(const char *place, const char *text, struct rope_axes *axes, struct error *error)
{
    const size_t kind = strcspn(text, ":");
    *axes = (struct rope_axes){0};
    if (strcmp(text, WORDS[ROPE_AXES_NONE]) == 0)
        return STATUS_OK;
    for (size_t i = 1; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strlen(WORDS[i]) == kind && memcmp(text, WORDS[i], kind) == 0)
            axes->kind = (enum rope_axes_kind)i;
    for (const char *item = text + kind; axes->kind != ROPE_AXES_NONE && *item != '\0'; item += strcspn(item, ",")) {
        const size_t length = strcspn(++item, ",");
        if (!read_item(item, length, axes))
            return error_usage(error,
                               "%s: '%.*s' is neither an axis t, h or w, each once, nor merge=N, window=N, within=N, "
                               "from=N, centred, rest-first or rest-last",
                               place, (int)memory_smaller(length, SHOWN), item);
    }
    return axes->kind != ROPE_AXES_NONE && axes->count > 1
               ? STATUS_OK
               : error_usage(error,
                             "%s '%.40s' is not a rotation by several axes; expected blocks, interleaved, restarted, "
                             "restarted-interleaved or strided with axes, such as blocks:t16,h24,w24 or restarted:h,w",
                             place, text);
}
