/* SPDX-License-Identifier: MIT */
/* The wrong part of a table, in words. */
#include "observe/observing.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

void *observe_zeros(const struct observing *observing, size_t count, size_t size)
{
    void *room = arena_allocate(observing->arena, count, size, observing->error);
    return room != NULL ? memset(room, 0, count * size) : NULL;
}

bool observe_is_square(const struct observed *observed)
{
    const enum stage stage = observed->right.stage;
    return stage_exists(stage) && STAGES[stage].columns == STAGE_COLUMNS_KEYS;
}

const char *observe_axis_name(const struct observing *observing, enum observe_axis axis)
{
    static const char *const NAMES[] = {"item", "head", "row", "column"};
    return axis == OBSERVE_COLUMN && observe_is_square(observing->observed) ? "key" : NAMES[axis];
}

size_t observe_stride(const struct observing *observing, enum observe_axis axis)
{
    size_t stride = 1;
    for (int inner = OBSERVE_COLUMN; inner > (int)axis; inner--)
        stride *= observing->observed->right.size[inner];
    return stride;
}

size_t observe_place(const struct observing *observing, size_t i, enum observe_axis axis)
{
    return i / observe_stride(observing, axis) % observing->observed->right.size[axis];
}

size_t observe_index(const struct observe_table *table, enum observe_axis axis, size_t place)
{
    return table->index[axis] != NULL ? table->index[axis][place] : place;
}

size_t observe_index_of(const struct observing *observing, size_t i, enum observe_axis axis)
{
    return observe_index(&observing->observed->right, axis, observe_place(observing, i, axis));
}

/* The position in the stage, from 1. */
static size_t position_of(const struct observing *observing, enum observe_axis axis, size_t place)
{
    return observe_index(&observing->observed->right, axis, place) + 1;
}

void observe_add_place(const struct observing *observing, enum observe_axis axis, size_t place, struct text *text)
{
    const struct observed *observed = observing->observed;
    text_add(text, "%s %zu", observe_axis_name(observing, axis), position_of(observing, axis, place));
    if (axis != OBSERVE_ROW || observed->labels == NULL || observed->labels[place] == NULL)
        return;
    char shown[128];
    text_shown(observed->labels[place], 20, shown, sizeof shown);
    text_add(text, " (%s)", shown);
}

void observe_add_list(const struct observing *observing, enum observe_axis axis, const size_t *places, size_t count,
                      struct text *text)
{
    enum { MOST = 8 };
    bool in_order = count > 2;
    for (size_t i = 1; i < count; i++)
        in_order = in_order && places[i] == places[0] + i;
    if (count == 1) {
        observe_add_place(observing, axis, places[0], text);
        return;
    }
    text_add(text, "%ss %zu", observe_axis_name(observing, axis), position_of(observing, axis, places[0]));
    if (in_order)
        text_add(text, " to %zu", position_of(observing, axis, places[count - 1]));
    for (size_t i = 1; i < count && i < MOST && !in_order; i++)
        text_add(text, "%s %zu", i + 1 == count ? " and" : ",", position_of(observing, axis, places[i]));
    if (count > MOST && !in_order)
        text_add(text, ", ... (%zu)", count);
}

/* Whether the places are a range. */
static bool is_range(const bool *in, size_t count)
{
    size_t changes = 0;
    for (size_t i = 1; i < count; i++)
        changes += in[i] != in[i - 1];
    return changes < 2 || (changes == 2 && !in[0]);
}

/* Adds "rows 9 to 16 of every 16" if the places repeat so, at least twice. */
static bool add_period(const struct observing *observing, enum observe_axis axis, const bool *in, struct text *text)
{
    const size_t count = observing->observed->right.size[axis];
    for (size_t period = 2; 2 * period <= count && !observing->observed->elided; period++) {
        size_t first = 0, held = 0, i = 0;
        while (i < count && in[i] == in[i % period])
            i++;
        if (i < count || !is_range(in, period))
            continue;
        for (size_t k = period; k-- > 0;) {
            first = in[k] ? k : first;
            held += in[k];
        }
        text_add(text, "%ss %zu", observe_axis_name(observing, axis), first + 1);
        text_add(text, held > 1 ? " to %zu of every %zu" : ", %zu, ... (one in %zu)",
                 first + (held > 1 ? held : 1 + period), period);
        return true;
    }
    return false;
}

/* Adds " (a tile of 16)", " (the rest after tiles of 16)" or " (sequence 2)". */
static void add_tile(const struct observing *observing, enum observe_axis axis, size_t first, size_t end,
                     struct text *text)
{
    const struct problem *problem = observing->observed->problem;
    const size_t whole = observing->observed->right.size[axis];
    const struct mask_sequences *sequences = problem != NULL ? &problem->mask.sequences : NULL;
    for (size_t s = 0; axis == OBSERVE_ROW && sequences != NULL && s < sequences->count; s++)
        if ((size_t)sequences->query_starts[s] == first && (size_t)sequences->query_starts[s + 1] == end) {
            text_add(text, " (sequence %zu)", s + 1);
            return;
        }
    for (size_t tile = 8; tile <= 256 && axis >= OBSERVE_ROW && !observing->observed->elided; tile *= 2)
        if (first % tile == 0 && (end == first + tile || (end == whole && first > 0 && whole / tile * tile == first))) {
            text_add(text, end == first + tile ? " (a tile of %zu)" : " (the rest after tiles of %zu)", tile);
            return;
        }
}

/* Adds "row 3 (starts)", "rows 33 to 48", "heads 1, 2 and 5" or "rows 9 to 16 of every 16". Returns whether that is
 * more than one. */
static bool add_places(const struct observing *observing, enum observe_axis axis, const bool *in, struct text *text)
{
    enum { FEW = 6 };
    const size_t count = observing->observed->right.size[axis];
    size_t held = 0, *places = observe_zeros(observing, count, sizeof *places);
    for (size_t i = 0; i < count && places != NULL; i++)
        if (in[i])
            places[held++] = i;
    if (held == 0)
        return true;
    if (is_range(in, count) || held <= FEW)
        observe_add_list(observing, axis, places, held, text);
    else if (!add_period(observing, axis, in, text))
        text_add(text, "%zu of the %zu %ss", held, count, observe_axis_name(observing, axis));
    if (is_range(in, count) && held > 1)
        add_tile(observing, axis, places[0], places[held - 1] + 1, text);
    return held > 1;
}

/* --- rows by their number of keys -------------------------------------------------------------------------------- */

/* What the wrong rows may have in common, for sizes of tiles or, from ANY_NUMBER on, for any number. */
enum { ANY_NUMBER = 4 };
static const char *const RULES[] = {"the rows without keys",
                                    "the rows with keys",
                                    "the rows whose number of keys is no multiple of %zu",
                                    "the rows whose number of keys is a multiple of %zu",
                                    "the rows with more than %zu keys",
                                    "the rows with fewer than %zu keys"};

/* Whether the rule holds for the wrong lines alone. One key has a weight of 1 whatever is wrong. */
static bool obeys(const struct observing *observing, const bool *lines, size_t rule, size_t number)
{
    enum { LEAST = 2 };
    size_t counts[2] = {0, 0};
    for (size_t line = 0; line < observing->lines; line++) {
        const size_t keys = observing->keys[line], rest = keys % memory_larger(1, number);
        const bool holds[] = {keys == 0, keys > 0, rest != 0, rest == 0 && keys > 0, keys > number, keys < number};
        if (keys == 1 && !lines[line])
            continue;
        if (lines[line] != holds[rule])
            return false;
        counts[lines[line]]++;
    }
    return counts[false] >= LEAST && counts[true] >= LEAST;
}

static bool add_rule(const struct observing *observing, const bool *lines, struct text *text)
{
    static const size_t SIZES[] = {8, 16, 32, 64, 128, 256, 4, 2};
    for (size_t rule = 0; rule < sizeof RULES / sizeof RULES[0] && observing->keys != NULL; rule++)
        for (size_t i = 0; i < (rule < ANY_NUMBER ? sizeof SIZES / sizeof SIZES[0] : observing->lines); i++) {
            const size_t number = rule < ANY_NUMBER ? SIZES[i] : observing->keys[i];
            if (!obeys(observing, lines, rule, number))
                continue;
            text_add(text, RULES[rule], number);
            return true;
        }
    return false;
}

/* --- a set of numbers -------------------------------------------------------------------------------------------- */

/* Whether these lines have numbers in other columns, not only the zeros of masked keys. */
static bool leaves_any(const struct observing *observing, const bool *lines, const bool *in)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    size_t i = 0;
    while (i < observing->count && (!lines[i / columns] || in[i % columns] ||
                                    (observing->observed->right.numbers[i] == 0 && !observing->wrong[i]) ||
                                    isinf(observing->observed->right.numbers[i])))
        i++;
    return i < observing->count;
}

/* Adds where the numbers are: "head 2, rows 33 to 48"; nothing for all, and nothing of the axis `but`. Returns whether
 * that is more than one. */
static bool describe(const struct observing *observing, const bool *only, const bool *lines, int but, bool *is_product,
                     struct text *text)
{
    const size_t *size = observing->observed->right.size;
    bool *in[OBSERVE_AXES], plural = true;
    size_t held[OBSERVE_AXES] = {0}, line_count = 0;
    for (int axis = 0; axis < OBSERVE_AXES; axis++) {
        in[axis] = observe_zeros(observing, size[axis], sizeof *in[axis]);
        if (in[axis] == NULL)
            return true;
    }
    for (size_t i = 0; i < observing->count; i++)
        for (int axis = 0; axis < OBSERVE_AXES && only[i]; axis++)
            in[axis][observe_place(observing, i, axis)] = true;
    for (int axis = 0; axis < OBSERVE_AXES; axis++)
        for (size_t i = 0; i < size[axis]; i++)
            held[axis] += in[axis][i];
    for (size_t line = 0; line < observing->lines; line++)
        line_count += lines[line];
    const double product = (double)held[OBSERVE_ITEM] * (double)held[OBSERVE_HEAD] * (double)held[OBSERVE_ROW];
    *is_product = (double)line_count >= 0.9 * product;
    if ((!*is_product || !is_range(in[OBSERVE_ROW], size[OBSERVE_ROW])) && add_rule(observing, lines, text))
        return true;
    if (!*is_product)
        text_add(text, "%zu of the %zu rows", line_count, observing->lines);
    for (int axis = *is_product ? OBSERVE_ITEM : OBSERVE_COLUMN; axis < OBSERVE_AXES; axis++)
        if (held[axis] < size[axis] && axis != but &&
            (axis != OBSERVE_COLUMN || leaves_any(observing, lines, in[OBSERVE_COLUMN]))) {
            text_add(text, "%s", text->length > 0 ? ", " : "");
            plural = add_places(observing, axis, in[axis], text);
        }
    return plural;
}

bool observe_part(const struct observing *observing, const bool *only, int but, struct observe_part *part)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    bool *lines = observe_zeros(observing, observing->lines, sizeof *lines);
    struct text text = text_begin(part->where, sizeof part->where);
    if (lines == NULL)
        return false;
    for (size_t i = 0; i < observing->count; i++)
        lines[i / columns] = lines[i / columns] || only[i];
    part->only = only;
    part->lines = lines;
    part->plural = describe(observing, only, lines, but, &part->is_product, &text);
    return observing->error->status == STATUS_OK;
}

const double *observe_bias(const struct observing *observing, size_t i, double *bias)
{
    mask_row(&observing->observed->problem->mask, observe_index_of(observing, i, OBSERVE_ITEM),
             observe_index_of(observing, i, OBSERVE_HEAD), observe_index_of(observing, i, OBSERVE_ROW), bias);
    return bias;
}

/* The number of keys of each line, if its rows are queries; NULL: unknown. */
static const size_t *count_keys(const struct observing *observing)
{
    const struct observed *observed = observing->observed;
    const struct problem *problem = observed->problem;
    if (problem == NULL || STAGES[observed->right.stage].backward || stage_is_of_keys(observed->right.stage))
        return NULL;
    size_t *keys = observe_zeros(observing, observing->lines, sizeof *keys);
    double *bias = observe_zeros(observing, problem->size.keys, sizeof *bias);
    for (size_t line = 0; line < observing->lines && keys != NULL && bias != NULL; line++) {
        observe_bias(observing, line * observed->right.size[OBSERVE_COLUMN], bias);
        for (size_t key = 0; key < problem->size.keys; key++)
            keys[line] += bias[key] != -INFINITY;
    }
    return bias != NULL ? keys : NULL;
}

void observe_find_part(struct observing *observing)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    bool *only = observe_zeros(observing, observing->count, sizeof *only);
    bool *in = observe_zeros(observing, columns, sizeof *in),
         *lines = observe_zeros(observing, observing->lines, sizeof *lines);
    observing->keys = count_keys(observing);
    for (size_t i = 0; i < sizeof observing->rooms / sizeof observing->rooms[0]; i++)
        observing->rooms[i] = observe_zeros(observing, observing->count, sizeof *observing->rooms[i]);
    for (size_t i = 0; i < observing->count && observing->error->status == STATUS_OK; i++) {
        in[i % columns] = in[i % columns] || observing->wrong[i];
        lines[i / columns] = lines[i / columns] || observing->wrong[i];
    }
    for (size_t i = 0; i < observing->count && observing->error->status == STATUS_OK; i++)
        only[i] = lines[i / columns] && in[i % columns];
    if (observing->error->status == STATUS_OK)
        observe_part(observing, only, OBSERVE_NO_AXIS, &observing->part);
}
