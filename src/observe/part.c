/* SPDX-License-Identifier: MIT */
/* The wrong part of a table, in words. */
#include "observe/observing.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

const char *observe_axis_name(const struct observing *observing, enum observe_axis axis)
{
    static const char *const NAMES[] = {"item", "head", "row", "column"};
    return axis == OBSERVE_COLUMN && observe_is_square(observing->observed) ? "key" : NAMES[axis];
}

size_t observe_place(const struct observing *observing, size_t i, enum observe_axis axis)
{
    const size_t *size = observing->observed->right.size;
    size_t stride = 1;
    for (int inner = OBSERVE_COLUMN; inner > (int)axis; inner--)
        stride *= size[inner];
    return i / stride % size[axis];
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
    bool is_range = count > 2;
    for (size_t i = 1; i < count; i++)
        is_range = is_range && places[i] == places[0] + i;
    if (count == 1) {
        observe_add_place(observing, axis, places[0], text);
        return;
    }
    text_add(text, "%ss %zu", observe_axis_name(observing, axis), position_of(observing, axis, places[0]));
    if (is_range)
        text_add(text, " to %zu", position_of(observing, axis, places[count - 1]));
    for (size_t i = 1; i < count && i < MOST && !is_range; i++)
        text_add(text, "%s %zu", i + 1 == count ? " and" : ",", position_of(observing, axis, places[i]));
    if (count > MOST && !is_range)
        text_add(text, ", ... (%zu)", count);
}

/* Adds "rows 9 to 16 of every 16" if the places repeat so, at least twice. */
static bool add_period(const struct observing *observing, enum observe_axis axis, const bool *in, struct text *text)
{
    const size_t count = observing->observed->right.size[axis];
    for (size_t period = 2; 2 * period <= count; period++) {
        size_t first = period, last = 0, held = 0, i = 0;
        for (size_t k = 0; k < period; k++)
            if (in[k]) {
                first = memory_smaller(first, k);
                last = k;
                held++;
            }
        while (i < count && in[i] == in[i % period])
            i++;
        if (i < count || held == 0 || last - first + 1 != held)
            continue;
        text_add(text, "%ss %zu", observe_axis_name(observing, axis), first + 1);
        text_add(text, held > 1 ? " to %zu of every %zu" : ", %zu, ... (one in %zu)",
                 held > 1 ? last + 1 : first + 1 + period, period);
        return true;
    }
    return false;
}

/* Adds " (a tile of 16)", " (sequence 2)" or " (from page 3 on)". */
static void add_tile(const struct observing *observing, enum observe_axis axis, size_t first, size_t end,
                     struct text *text)
{
    const struct problem *problem = observing->observed->problem;
    const size_t count = end - first, whole = observing->observed->right.size[axis];
    const struct mask_sequences *sequences = problem != NULL ? &problem->mask.sequences : NULL;
    for (size_t s = 0; axis == OBSERVE_ROW && sequences != NULL && s < sequences->count; s++)
        if ((size_t)sequences->query_starts[s] == first && (size_t)sequences->query_starts[s + 1] == end) {
            text_add(text, " (sequence %zu)", s + 1);
            return;
        }
    if (axis >= OBSERVE_ROW && count >= 8 && count <= 256 && (count & (count - 1)) == 0 && first % count == 0)
        text_add(text, " (a tile of %zu)", count);
    else if (axis >= OBSERVE_ROW && end == whole && first > 0 && whole % 8 != 0 && first == whole / 8 * 8)
        text_add(text, " (the rest after tiles of 8)");
}

/* Adds "row 3 (starts)", "rows 33 to 48", "heads 1, 2 and 5" or "rows 9 to 16 of every 16". Returns whether that is
 * more than one. */
static bool add_places(const struct observing *observing, enum observe_axis axis, const bool *in, struct text *text)
{
    enum { FEW = 6 };
    const size_t count = observing->observed->right.size[axis];
    size_t held = 0, *places = arena_allocate(observing->arena, count, sizeof *places, observing->error);
    for (size_t i = 0; i < count && places != NULL; i++)
        if (in[i])
            places[held++] = i;
    if (held == 0)
        return true;
    const bool is_range = places[held - 1] - places[0] + 1 == held;
    if (is_range || held <= FEW)
        observe_add_list(observing, axis, places, held, text);
    else if (!add_period(observing, axis, in, text))
        text_add(text, "%zu of the %zu %ss", held, count, observe_axis_name(observing, axis));
    if (is_range && held > 1)
        add_tile(observing, axis, places[0], places[held - 1] + 1, text);
    return held > 1;
}

/* --- rows by their number of keys -------------------------------------------------------------------------------- */

static bool is_ragged(size_t keys, size_t number)
{
    return keys % number != 0;
}

static bool is_multiple(size_t keys, size_t number)
{
    return keys % number == 0;
}

static bool is_above(size_t keys, size_t number)
{
    return keys > number;
}

static bool is_below(size_t keys, size_t number)
{
    return keys < number;
}

/* What the wrong rows may have in common; `sizes`: for sizes of tiles, else for any number. */
static const struct rule {
    bool (*holds)(size_t keys, size_t number);
    bool sizes;
    const char *words;
} RULES[] = {
    {is_ragged, true, "the rows whose number of keys is no multiple of %zu"},
    {is_multiple, true, "the rows whose number of keys is a multiple of %zu"},
    {is_above, false, "the rows with more than %zu keys"},
    {is_below, false, "the rows with fewer than %zu keys"},
};

/* Whether the rule holds for the wrong lines alone. One key has a weight of 1 whatever is wrong. */
static bool obeys(const struct observing *observing, const bool *lines, const struct rule *rule, size_t number)
{
    enum { LEAST = 2 };
    size_t counts[2] = {0, 0};
    for (size_t line = 0; line < observing->lines; line++) {
        const size_t keys = observing->keys[line];
        if (keys == 1 && !lines[line])
            continue;
        if (lines[line] != rule->holds(keys, number))
            return false;
        counts[lines[line]]++;
    }
    return counts[false] >= LEAST && counts[true] >= LEAST;
}

static bool add_rule(const struct observing *observing, const bool *lines, struct text *text)
{
    static const size_t SIZES[] = {8, 16, 32, 64, 128, 256, 4, 2};
    for (size_t r = 0; r < sizeof RULES / sizeof RULES[0] && observing->keys != NULL; r++)
        for (size_t i = 0; i < (RULES[r].sizes ? sizeof SIZES / sizeof SIZES[0] : observing->lines); i++) {
            const size_t number = RULES[r].sizes ? SIZES[i] : observing->keys[i];
            if (!obeys(observing, lines, &RULES[r], number))
                continue;
            text_add(text, RULES[r].words, number);
            return true;
        }
    return false;
}

/* --- a set of numbers -------------------------------------------------------------------------------------------- */

static bool is_range(const bool *in, size_t count)
{
    size_t changes = 0;
    for (size_t i = 1; i < count; i++)
        changes += in[i] != in[i - 1];
    return changes < 2 || (changes == 2 && !in[0]);
}

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
static bool describe(const struct observing *observing, const bool *only, const bool *lines, int but, struct text *text)
{
    const size_t *size = observing->observed->right.size;
    bool *in[OBSERVE_AXES], plural = true;
    size_t held[OBSERVE_AXES] = {0}, line_count = 0;
    for (int axis = 0; axis < OBSERVE_AXES; axis++) {
        in[axis] = arena_allocate(observing->arena, size[axis], sizeof *in[axis], observing->error);
        if (in[axis] == NULL)
            return true;
        memset(in[axis], 0, size[axis] * sizeof *in[axis]);
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
    const bool is_product = (double)line_count >= 0.9 * product;
    if ((!is_product || !is_range(in[OBSERVE_ROW], size[OBSERVE_ROW])) && add_rule(observing, lines, text))
        return true;
    if (!is_product)
        text_add(text, "%zu of the %zu rows", line_count, observing->lines);
    for (int axis = is_product ? OBSERVE_ITEM : OBSERVE_COLUMN; axis < OBSERVE_AXES; axis++)
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
    bool *lines = arena_allocate(observing->arena, observing->lines, sizeof *lines, observing->error);
    struct text text = text_begin(part->where, sizeof part->where);
    if (lines == NULL)
        return false;
    memset(lines, 0, observing->lines * sizeof *lines);
    for (size_t i = 0; i < observing->count; i++)
        lines[i / columns] = lines[i / columns] || only[i];
    part->only = only;
    part->lines = lines;
    part->plural = describe(observing, only, lines, but, &text);
    return observing->error->status == STATUS_OK;
}

/* The number of keys of each line, if its rows are queries; NULL: unknown. */
static const size_t *count_keys(const struct observing *observing)
{
    const struct observed *observed = observing->observed;
    const struct problem *problem = observed->problem;
    if (problem == NULL || STAGES[observed->right.stage].backward || stage_is_of_keys(observed->right.stage))
        return NULL;
    size_t *keys = arena_allocate(observing->arena, observing->lines, sizeof *keys, observing->error);
    double *bias = arena_allocate(observing->arena, problem->size.keys, sizeof *bias, observing->error);
    for (size_t line = 0; line < observing->lines && keys != NULL && bias != NULL; line++) {
        const size_t first = line * observed->right.size[OBSERVE_COLUMN];
        mask_row(&problem->mask, observe_index_of(observing, first, OBSERVE_ITEM),
                 observe_index_of(observing, first, OBSERVE_HEAD), observe_index_of(observing, first, OBSERVE_ROW),
                 bias);
        keys[line] = 0;
        for (size_t key = 0; key < problem->size.keys; key++)
            keys[line] += bias[key] != -INFINITY;
    }
    return bias != NULL ? keys : NULL;
}

enum status observe_find_part(struct observing *observing)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    bool *only = arena_allocate(observing->arena, observing->count, sizeof *only, observing->error);
    bool *in = arena_allocate(observing->arena, columns, sizeof *in, observing->error);
    observing->keys = count_keys(observing);
    for (size_t i = 0; i < sizeof observing->rooms / sizeof observing->rooms[0]; i++)
        observing->rooms[i] =
            arena_allocate(observing->arena, observing->count, sizeof *observing->rooms[i], observing->error);
    if (only == NULL || in == NULL)
        return observing->error->status;
    memset(in, 0, columns * sizeof *in);
    for (size_t i = 0; i < observing->count; i++)
        in[i % columns] = in[i % columns] || observing->wrong[i];
    for (size_t line = 0; line < observing->lines; line++) {
        bool is_wrong = false;
        for (size_t c = 0; c < columns; c++)
            is_wrong = is_wrong || observing->wrong[line * columns + c];
        for (size_t c = 0; c < columns; c++)
            only[line * columns + c] = is_wrong && in[c];
    }
    observe_part(observing, only, OBSERVE_NO_AXIS, &observing->part);
    return observing->error->status;
}
