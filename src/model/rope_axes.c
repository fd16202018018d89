/* SPDX-License-Identifier: MIT */
/* Positions of several axes: which one turns a pair, the coordinates of a grid, and the text of --rope-axes. */
#include "base/text.h"
#include "model/rope.h"

#include <stdlib.h>
#include <string.h>

/* The pairs of axis i: its number, or an equal share. */
static size_t pairs_of(const struct rope_axes *axes, size_t pairs, size_t i)
{
    return axes->pairs[0] + axes->pairs[1] + axes->pairs[2] == 0 ? pairs / axes->count : axes->pairs[i];
}

struct rope_axis rope_axis(const struct rope_axes *axes, size_t pairs, size_t pair)
{
    size_t i = 0, own = pair; /* the axis, and the number of its pair among its own */
    if (axes->count == 0)
        return (struct rope_axis){0, pair, pairs};
    if (axes->interleaved) {
        own = pair / axes->count;
        i = own < pairs_of(axes, pairs, pair % axes->count) ? pair % axes->count : 0;
    }
    for (; !axes->interleaved && i + 1 < axes->count && own >= pairs_of(axes, pairs, i); i++)
        own -= pairs_of(axes, pairs, i);
    if (axes->restarted)
        return (struct rope_axis){axes->axis[i], own, pairs_of(axes, pairs, i)};
    return (struct rope_axis){axes->axis[i], axes->strided ? own * axes->count + i : pair, pairs};
}

enum status rope_axes_check(const struct rope_axes *axes, size_t pairs, struct error *error)
{
    size_t sum = 0;
    for (size_t i = 0; i < axes->count; i++)
        sum += pairs_of(axes, pairs, i);
    return axes->count == 0 || sum == pairs || (axes->interleaved && !axes->restarted)
               ? STATUS_OK
               : error_usage(error,
                             "--rope-axes: %zu axes have %zu pairs of columns together; expected %zu, those rotated",
                             axes->count, sum, pairs);
}

/* The coordinate of patch `at` of so many. */
static double coordinate(const struct rope_axes *axes, size_t at, size_t count, bool in_double)
{
    static const double TWO_PI = 6.28318530717958647692;
    const double middle = ((double)at + 0.5) / (double)count;
    if (!axes->centred)
        return (double)(at + axes->from);
    return in_double ? TWO_PI * (2 * middle - 1) : (double)((float)TWO_PI * (2 * (float)middle - 1));
}

enum status rope_grid(const struct rope_axes *axes, const size_t sizes[ROPE_AXES], bool in_double, double *coordinates,
                      int64_t *groups, struct error *error)
{
    const size_t rows = sizes[1], columns = sizes[2], block = memory_larger(axes->merge, 1),
                 window = axes->window > 0 ? axes->window : memory_larger(rows, columns);
    int64_t group = 0;
    if (rows % block != 0 || columns % block != 0)
        return error_usage(error, "--positions grid:%zux%zu: patches come in blocks of %zu x %zu; expected multiples",
                           rows, columns, block, block);
    for (size_t t = 0; t < sizes[0]; t++, group += axes->frames_apart && !axes->windows_apart)
        for (size_t top = 0; top < rows; top += window)
            for (size_t left = 0; left < columns; left += window, group += axes->windows_apart != 0)
                for (size_t y = top; y < rows && y < top + window; y += block)
                    for (size_t x = left; x < columns && x < left + window; x += block)
                        for (size_t i = 0; i < block * block; i++, coordinates += ROPE_AXES) {
                            coordinates[0] = coordinate(axes, t, sizes[0], in_double);
                            coordinates[1] = coordinate(axes, y + i / block, rows, in_double);
                            coordinates[2] = coordinate(axes, x + i % block, columns, in_double);
                            *groups++ = group;
                        }
    return STATUS_OK;
}

enum { SHOWN = 40, MOST = 65536 };

/* What may follow the axes; a number after '='. */
#define FACT(field, word) {word, offsetof(struct rope_axes, field)},
static const struct {
    const char *word;
    size_t place;
} FACTS[] = {ROPE_AXES_FACTS(FACT)};

/* Reads the number text[0 .. length), which may be missing. */
static bool read_count(const char *text, size_t length, size_t *count)
{
    *count = length > 0 ? strtoul(text, NULL, 10) : 0;
    return strspn(text, "0123456789") >= length && *count <= MOST;
}

/* Reads "h24", "h" or a fact; whether it is one. */
static bool read_item(const char *item, size_t length, struct rope_axes *axes)
{
    for (size_t i = 0; i < sizeof FACTS / sizeof FACTS[0]; i++) {
        const size_t word = strlen(FACTS[i].word);
        size_t *fact = (size_t *)((char *)axes + FACTS[i].place);
        if (length < word || memcmp(item, FACTS[i].word, word) != 0)
            continue;
        *fact = 1;
        return FACTS[i].word[word - 1] == '=' ? read_count(item + word, length - word, fact) : length == word;
    }
    const char *letter = length > 0 ? strchr(ROPE_AXIS_LETTERS, item[0]) : NULL;
    const size_t axis = letter != NULL ? (size_t)(letter - ROPE_AXIS_LETTERS) : ROPE_AXES;
    if (axis >= ROPE_AXES || axes->has[axis])
        return false;
    axes->has[axis] = true;
    axes->axis[axes->count] = axis;
    return read_count(item + 1, length - 1, &axes->pairs[axes->count++]);
}

enum status rope_axes_parse(const char *place, const char *text, struct rope_axes *axes, struct error *error)
{
    bool right = true;
    *axes = (struct rope_axes){0};
    if (strcmp(text, "none") == 0)
        return STATUS_OK;
    for (const char *item = text; item != NULL && right;
         item = item[strcspn(item, ",")] == ',' ? strchr(item, ',') + 1 : NULL)
        right = read_item(item, strcspn(item, ","), axes);
    const bool equal = axes->strided || (axes->interleaved && axes->restarted);
    return right && axes->count > 1 && !(equal && axes->pairs[0] > 0)
               ? STATUS_OK
               : error_usage(error,
                             "%s '%.*s' are no axes; expected t, h and w, each with its number of pairs or none with "
                             "one, then interleaved, restarted, strided or merge=N, as in t16,h24,w24 or "
                             "h,w,restarted,merge=2",
                             place, SHOWN, text);
}
