/* SPDX-License-Identifier: MIT */
/* What the wrong part of a table holds instead: one number, another part's numbers, the right numbers of fewer or more
 * keys. */
#include "observe/observing.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

/* --- one number -------------------------------------------------------------------------------------------------- */

/* Sets `only` to the wrong numbers that are `value`, in lines of which all numbers in the same columns are it; returns
 * how many. */
static size_t find_value(const struct observing *observing, double value, bool *only)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    const double *mine = observing->observed->mine;
    bool *in = observe_zeros(observing, columns, sizeof *in);
    size_t held = 0, in_count = 0;
    for (size_t i = 0; i < observing->count && in != NULL; i++) {
        only[i] = observing->part.only[i] && observing->wrong[i] && observe_is(mine[i], value, 0);
        in_count += only[i] && !in[i % columns];
        in[i % columns] = in[i % columns] || only[i];
    }
    if (in_count == 0 || (isfinite(value) && value != 0 && in_count < 2)) /* any column may have one */
        return 0;
    for (size_t line = 0; line < observing->lines; line++) {
        const size_t first = line * columns;
        bool all = true, some = false;
        for (size_t c = 0; c < columns; c++) {
            some = some || only[first + c];
            all = all && (!in[c] || observe_is(mine[first + c], value, 0));
        }
        for (size_t c = 0; c < columns; c++)
            held += only[first + c] = some && all && in[c];
    }
    return held;
}

/* The whole wrong part holds one number, or else (other_form) a part of it. */
void observe_value(struct observing *observing)
{
    const enum stage stage = observing->observed->right.stage;
    const bool masks = stage != STAGE_NAMES && STAGES[stage].infinite; /* with minus infinity */
    const double *mine = observing->observed->mine;
    double values[] = {0, NAN, INFINITY, -INFINITY, 0};
    bool *only = observe_zeros(observing, observing->count, sizeof *only);
    struct observe_part part;
    for (size_t i = 0; i < observing->count && values[4] == 0; i++)
        values[4] = observing->part.only[i] && observing->wrong[i] && isfinite(mine[i]) ? mine[i] : 0;
    for (size_t k = 0; k < (values[4] != 0 ? 5 : 4) && only != NULL; k++) {
        const size_t held = find_value(observing, values[k], only);
        if (held < (k == 4 ? 4 : 2) || (k == 3 && masks) ||
            (!observing->other_form &&
             observe_wrong(observing, only) < observe_wrong(observing, observing->part.only)) ||
            (isfinite(values[k]) && observe_bits(observing, only) < OBSERVE_BITS) ||
            !observe_part(observing, only, OBSERVE_NO_AXIS, &part))
            continue;
        if (isnan(values[k]))
            observe_tell(observing, &part, "NaN");
        else
            observe_tell(observing, &part, "%s%.6g", part.plural && part.where[0] != '\0' ? "all " : "", values[k]);
        return;
    }
}

/* --- another part's numbers -------------------------------------------------------------------------------------- */

/* Whether the numbers at a place on an axis, that of number `first`, all or those of `only`, are the right ones of
 * another place. */
static bool is_copy(const struct observing *observing, const bool *only, enum observe_axis axis, size_t first,
                    size_t other)
{
    const size_t size = observing->observed->right.size[axis], place = observe_place(observing, first, axis);
    const size_t stride = observe_stride(observing, axis);
    bool is = true;
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
                        struct observe_part *part)
{
    const size_t size = observing->observed->right.size[axis], *to = copies->to, *from = copies->from;
    const size_t moved = copies->count, shift = (size + from[0] - to[0]) % size;
    const char *name = observe_axis_name(observing, axis);
    char words[OBSERVE_TEXT_BYTES];
    struct text text = text_begin(words, sizeof words);
    bool rolled = moved == size && moved > 2, reversed = moved + 1 >= size && moved > 2, one = true;
    for (size_t i = 0; i < moved; i++) {
        rolled = rolled && (to[i] + shift) % size == from[i];
        reversed = reversed && from[i] == size - 1 - to[i];
        one = one && from[i] == from[0];
    }
    if (part->where[0] != '\0')
        text_add(&text, "%s%s ", part->where, rolled || reversed ? ":" : ",");
    if (reversed) {
        text_add(&text, "the %ss are in reverse order", name);
    } else if (rolled) {
        text_add(&text, "the %ss are rolled by %zu: %s 1 is %s %zu", name, size - shift, name, name, shift + 1);
    } else {
        observe_add_list(observing, axis, to, moved, &text);
        struct text where = text_begin(part->where, sizeof part->where);
        text_add(&where, "%s", words);
        const bool swapped = moved == 2 && from[0] == to[1] && from[1] == to[0];
        text_add(&text, swapped ? " are swapped" : moved == 1 ? " is " : one ? " are all " : " are those of ");
        if (!swapped)
            observe_add_list(observing, axis, from, one ? 1 : moved, &text);
    }
    observe_say_part(observing, part, words);
}

/* Finds the place on an axis whose right numbers each wrong place holds; `only` becomes these numbers. */
static bool find_copies(struct observing *observing, enum observe_axis axis, struct copies *copies, bool *only)
{
    const size_t size = observing->observed->right.size[axis], stride = observe_stride(observing, axis);
    size_t *first = observe_zeros(observing, size, sizeof *first); /* wrong number of each, and 1 */
    bool *whole = observe_zeros(observing, size, sizeof *whole), *held = observe_zeros(observing, size, sizeof *held);
    copies->to = observe_zeros(observing, size, sizeof *copies->to);
    copies->from = observe_zeros(observing, size, sizeof *copies->from);
    copies->count = 0;
    if (first == NULL || whole == NULL || held == NULL || copies->to == NULL || copies->from == NULL)
        return false;
    for (size_t i = 0; i < observing->count; i++)
        if (observing->wrong[i] && observing->part.only[i])
            first[observe_place(observing, i, axis)] = i + 1;
    for (size_t x = 0; x < size; x++)
        for (size_t y = 0; y < size && first[x] > 0 && !held[x]; y++)
            if (y != x && observe_is_copy(observing, first[x] - 1, first[x] - 1 + y * stride - x * stride) &&
                is_copy(observing, observing->part.only, axis, first[x] - 1, y)) {
                held[x] = true;
                whole[x] = is_copy(observing, NULL, axis, first[x] - 1, y);
                copies->to[copies->count] = x;
                copies->from[copies->count++] = y;
            }
    for (size_t i = 0; i < observing->count; i++) {
        const size_t place = observe_place(observing, i, axis);
        only[i] = held[place] && (observing->part.only[i] || whole[place]);
    }
    return copies->count > 0;
}

/* Places hold those of others: all wrong numbers, or else (other_form) a good part of them. */
void observe_copy(struct observing *observing)
{
    enum { ONE_IN = 8 };
    bool *only = observe_zeros(observing, observing->count, sizeof *only);
    const size_t wrong = observe_wrong(observing, observing->part.only);
    for (enum observe_axis axis = OBSERVE_ITEM; axis < OBSERVE_AXES && only != NULL; axis++) {
        const double bits_of_place = log2((double)observing->observed->right.size[axis]);
        struct copies copies;
        struct observe_part part;
        const bool any = find_copies(observing, axis, &copies, only);
        const size_t held = observe_wrong(observing, only);
        if (any && (observing->other_form ? held * ONE_IN >= wrong : held == wrong) &&
            observe_bits(observing, only) >= OBSERVE_BITS + (double)copies.count * bits_of_place &&
            observe_part(observing, only, axis, &part)) {
            tell_copies(observing, &copies, axis, &part);
            return;
        }
    }
}

/* --- the key or the value of another head ------------------------------------------------------------------------ */

/* The same row of a later head of key and value, the first after the last. */
static size_t later_head(const struct recipe *recipe, size_t item, size_t head, size_t key)
{
    const struct problem_sizes *size = &recipe->problem.size;
    return (item * size->kv_heads + (head + recipe->source_form) % size->kv_heads) * size->keys + key;
}

/* Key (1), value (2) or both (3) are those of heads further on: form is 4 times how far, plus which. */
static void read_later(struct recipe *recipe, size_t form)
{
    recipe->source_form = form / 4;
    for (enum projection_id id = PROJECTION_KEY; id <= PROJECTION_VALUE; id++)
        if (form & 1U << (id - PROJECTION_KEY))
            recipe_reads(recipe, id, later_head, NULL);
}

/* The heads of query that read so. */
static void try_heads(struct observing *observing, const struct problem_sizes *size, size_t by, size_t way)
{
    static const char *const WORDS[] = {"", "keys", "values", "keys and values"};
    const double *made = observe_changed(observing, read_later, 4 * by + way, OBSERVE_HEAD);
    struct observe_part part;
    if (made == NULL)
        return;
    size_t count = 0, of = 0, heads = observing->observed->right.size[OBSERVE_HEAD];
    bool *all = observe_zeros(observing, observing->count, sizeof *all),
         *only = observe_zeros(observing, observing->count, sizeof *only);
    for (size_t head = 0; head < heads && all != NULL && only != NULL; head++) {
        for (size_t i = 0; i < observing->count; i++)
            only[i] = observing->part.only[i] && observe_place(observing, i, OBSERVE_HEAD) == head;
        if (observe_bits(observing, only) < OBSERVE_BITS + 8 || !observe_fits(observing, made, only, 1))
            continue;
        for (size_t i = 0; i < observing->count; i++)
            all[i] = all[i] || only[i];
        of = observe_index(&observing->observed->right, OBSERVE_HEAD, head) / (size->heads / size->kv_heads);
        count++;
    }
    if (count == 0 || !observe_part(observing, all, OBSERVE_NO_AXIS, &part))
        return;
    const char *key = size->heads == size->kv_heads ? "" : "key ";
    if (count == 1)
        observe_tell(observing, &part, "right with the %s of %shead %zu, not %zu", WORDS[way], key,
                     (of + by) % size->kv_heads + 1, of + 1);
    else
        observe_tell(observing, &part, "right with the %s of %sheads %zu further on", WORDS[way], key, by);
}

void observe_heads(struct observing *observing)
{
    const struct problem_sizes *size = &observing->observed->problem->size;
    const enum stage stage = observing->observed->right.stage;
    for (size_t by = 1; by < size->kv_heads; by++)
        for (size_t way = 1; way <= (stage == STAGE_CONTEXT ? 3 : 1); way++)
            try_heads(observing, size, by, way);
}

/* --- the part alone ---------------------------------------------------------------------------------------------- */

void observe_part_alone(struct observing *observing)
{
    enum { LEAST_WRONG = 2, LEAST_RIGHT = 8 }; /* numbers; a single wrong one needs no words */
    size_t right = 0;
    for (size_t i = 0; i < observing->count; i++)
        right += !observing->wrong[i] && isfinite(observing->observed->mine[i]) && observing->observed->mine[i] != 0;
    if (observing->part.where[0] != '\0' && observing->wrong_count >= LEAST_WRONG && right >= LEAST_RIGHT &&
        observe_rest_is_right(observing, observing->part.only))
        observe_tell(observing, &observing->part, "wrong");
}
