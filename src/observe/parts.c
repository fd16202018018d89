/* SPDX-License-Identifier: MIT */
/* What the wrong part of a table holds instead: one number, another part's numbers, the right numbers of fewer or more
 * keys. */
#include "observe/observing.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

/* --- one number -------------------------------------------------------------------------------------------------- */

/* The wrong numbers that are `value`, in lines of which all numbers in the same columns are it. */
static const bool *find_value(const struct observing *observing, double value)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    const double *mine = observing->observed->mine;
    bool *only = arena_allocate(observing->arena, observing->count, sizeof *only, observing->error);
    bool *in = arena_allocate(observing->arena, columns, sizeof *in, observing->error);
    size_t held = 0;
    bool any = false;
    if (only == NULL || in == NULL)
        return NULL;
    memset(in, 0, columns * sizeof *in);
    for (size_t i = 0; i < observing->count; i++) {
        only[i] = observing->part.only[i] && observing->wrong[i] && observe_is(mine[i], value, 0);
        in[i % columns] = in[i % columns] || only[i];
    }
    for (size_t c = 0; c < columns; c++)
        held += in[c];
    if (isfinite(value) && value != 0 && held < 2) /* any column may have one */
        return NULL;
    for (size_t line = 0; line < observing->lines; line++) {
        bool all = true, some = false;
        for (size_t c = 0; c < columns; c++) {
            some = some || only[line * columns + c];
            all = all && (!in[c] || observe_is(mine[line * columns + c], value, 0));
        }
        for (size_t c = 0; c < columns; c++)
            only[line * columns + c] = some && all && in[c];
        any = any || (some && all);
    }
    return any ? only : NULL;
}

/* Says which part holds one number; with `all` only if the whole wrong part does. */
static enum status try_values(struct observing *observing, bool all)
{
    enum { LEAST = 2 }; /* numbers, and more if it is not 0 or NaN */
    const bool masks = observing->observed->right.stage != STAGE_NAMES &&
                       STAGES[observing->observed->right.stage].infinite; /* with minus infinity */
    const double *mine = observing->observed->mine;
    double values[] = {0, NAN, INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < observing->count && values[4] == 0; i++)
        values[4] = observing->part.only[i] && observing->wrong[i] && isfinite(mine[i]) ? mine[i] : 0;
    for (size_t k = 0; k < sizeof values / sizeof values[0] && (k < 4 || values[k] != 0); k++) {
        const bool *only = find_value(observing, values[k]);
        struct observe_part part;
        size_t held = 0, left = 0;
        for (size_t i = 0; i < observing->count && only != NULL; i++) {
            held += only[i];
            left += observing->part.only[i] && observing->wrong[i] && !only[i];
        }
        if (only == NULL || (all && left > 0) || held < LEAST || (k == 4 && held / 2 < LEAST) || (k == 3 && masks) ||
            (isfinite(values[k]) && observe_bits(observing, only) < OBSERVE_BITS) ||
            !observe_part(observing, only, OBSERVE_NO_AXIS, &part))
            continue;
        if (isnan(values[k]))
            observe_tell(observing, &part, "NaN");
        else
            observe_tell(observing, &part, "%s%.6g", part.plural ? "all " : "", values[k]);
        break;
    }
    return observing->error->status;
}

enum status observe_value(struct observing *observing)
{
    return try_values(observing, true);
}

enum status observe_some_value(struct observing *observing)
{
    return try_values(observing, false);
}

/* --- another part's numbers -------------------------------------------------------------------------------------- */

/* Whether the numbers at a place on an axis, all or those of `only`, are the right ones of another place. `first` is
 * one of them, to begin with. */
static bool is_copy(const struct observing *observing, const bool *only, enum observe_axis axis, size_t first,
                    size_t other)
{
    const size_t size = observing->observed->right.size[axis], place = observe_place(observing, first, axis);
    size_t stride = 1;
    for (int inner = OBSERVE_COLUMN; inner > (int)axis; inner--)
        stride *= observing->observed->right.size[inner];
    bool is = observe_is_copy(observing, first, first + other * stride - place * stride);
    for (size_t block = 0; block < observing->count && is; block += stride * size)
        for (size_t i = block + place * stride; i < block + (place + 1) * stride && is; i++)
            is = (only != NULL && !only[i]) || observe_is_copy(observing, i, i + other * stride - place * stride);
    return is;
}

/* Where the numbers of `count` places on an axis come from. */
struct copies {
    size_t count, *to, *from;
};

/* Says it: the order of all, or which hold those of others; `part` is the place on the other axes. */
static void tell_copies(struct observing *observing, const struct copies *copies, enum observe_axis axis,
                        const struct observe_part *part)
{
    const size_t size = observing->observed->right.size[axis], *to = copies->to, *from = copies->from;
    const size_t moved = copies->count, shift = (size + from[0] - to[0]) % size;
    const char *name = observe_axis_name(observing, axis);
    char words[OBSERVE_TEXT_BYTES];
    struct text text = text_begin(words, sizeof words);
    struct observe_part whole = *part;
    struct text where = text_begin(whole.where, sizeof whole.where);
    bool rolled = moved == size && moved > 2, reversed = moved + 1 >= size && moved > 2, one = true;
    for (size_t i = 0; i < moved; i++) {
        rolled = rolled && (to[i] + shift) % size == from[i];
        reversed = reversed && from[i] == size - 1 - to[i];
        one = one && from[i] == from[0];
    }
    if (part->where[0] != '\0')
        text_add(&text, "%s%s ", part->where, rolled || reversed ? ":" : ",");
    if (reversed)
        text_add(&text, "the %ss are in reverse order", name);
    else if (rolled)
        text_add(&text, "the %ss are rolled by %zu: %s 1 is %s %zu", name, size - shift, name, name, shift + 1);
    if (rolled || reversed) {
        observe_say_part(observing, part, words);
        return;
    }
    observe_add_list(observing, axis, to, moved, &text);
    text_add(&where, "%s", words);
    if (moved == 2 && from[0] == to[1] && from[1] == to[0]) {
        text_add(&text, " are swapped");
    } else {
        text_add(&text, moved == 1 ? " is " : one ? " are all " : " are those of ");
        observe_add_list(observing, axis, from, one ? 1 : moved, &text);
    }
    observe_say_part(observing, &whole, words);
}

/* Finds the place on an axis whose right numbers each wrong place holds. */
static enum status find_copies(struct observing *observing, enum observe_axis axis, struct copies *copies, bool *only)
{
    const size_t size = observing->observed->right.size[axis];
    size_t *from = arena_allocate(observing->arena, size, sizeof *from, observing->error);
    copies->to = arena_allocate(observing->arena, size, sizeof *copies->to, observing->error);
    copies->from = arena_allocate(observing->arena, size, sizeof *copies->from, observing->error);
    size_t *first = arena_allocate(observing->arena, size, sizeof *first, observing->error); /* wrong number of each */
    bool *whole = arena_allocate(observing->arena, size, sizeof *whole, observing->error);
    copies->count = 0;
    if (from == NULL || first == NULL || whole == NULL || copies->to == NULL || copies->from == NULL)
        return observing->error->status;
    for (size_t x = 0; x < size; x++)
        from[x] = first[x] = SIZE_MAX;
    for (size_t i = 0; i < observing->count; i++)
        if (observing->wrong[i] && observing->part.only[i])
            first[observe_place(observing, i, axis)] = i;
    for (size_t x = 0; x < size; x++)
        for (size_t y = 0; y < size && first[x] != SIZE_MAX && from[x] == SIZE_MAX; y++)
            if (y != x && is_copy(observing, observing->part.only, axis, first[x], y)) {
                whole[x] = is_copy(observing, NULL, axis, first[x], y);
                from[x] = y;
                copies->to[copies->count] = x;
                copies->from[copies->count++] = y;
            }
    for (size_t i = 0; i < observing->count; i++) {
        const size_t place = observe_place(observing, i, axis);
        only[i] = from[place] < size && (observing->part.only[i] || whole[place]);
    }
    return STATUS_OK;
}

/* Says which places hold those of others; with `all` only if all wrong numbers do, else a good part of them. */
static enum status try_copies(struct observing *observing, bool all)
{
    enum { ONE_IN = 8 };
    const size_t *size = observing->observed->right.size;
    bool *only = arena_allocate(observing->arena, observing->count, sizeof *only, observing->error);
    for (enum observe_axis axis = OBSERVE_ITEM; axis < OBSERVE_AXES && only != NULL; axis++) {
        struct copies copies;
        struct observe_part part;
        if (find_copies(observing, axis, &copies, only) != STATUS_OK)
            return observing->error->status;
        size_t wrong = 0, held = 0;
        for (size_t i = 0; i < observing->count; i++) {
            wrong += observing->part.only[i] && observing->wrong[i];
            held += only[i] && observing->wrong[i];
        }
        if (copies.count > 0 && (all ? held == wrong : held * ONE_IN >= wrong) &&
            observe_bits(observing, only) >= OBSERVE_BITS + (double)copies.count * log2((double)size[axis]) &&
            observe_part(observing, only, axis, &part)) {
            tell_copies(observing, &copies, axis, &part);
            return STATUS_OK;
        }
    }
    return observing->error->status;
}

enum status observe_copy(struct observing *observing)
{
    return try_copies(observing, true);
}

enum status observe_some_copy(struct observing *observing)
{
    return try_copies(observing, false);
}

/* --- the part alone ---------------------------------------------------------------------------------------------- */

enum status observe_part_alone(struct observing *observing)
{
    enum { LEAST_WRONG = 2, LEAST_RIGHT = 8 }; /* numbers; a single wrong one needs no words */
    size_t right = 0;
    for (size_t i = 0; i < observing->count; i++)
        right += !observing->wrong[i] && isfinite(observing->observed->mine[i]) && observing->observed->mine[i] != 0;
    if (observing->part.where[0] != '\0' && observing->wrong_count >= LEAST_WRONG && right >= LEAST_RIGHT)
        observe_tell(observing, &observing->part, "wrong");
    return observing->error->status;
}
