/* SPDX-License-Identifier: MIT */
#include "design.h"

#include <string.h>

enum { MOST_ATTEMPTS = 3 };

/* --- pairs ------------------------------------------------------------------------------------------------------- */

static unsigned char *pair_state(struct design *design, int a, int b)
{
    return a < b ? &design->states[a][b] : &design->states[b][a];
}

static bool is_open(struct design *design, int a, int b)
{
    return *pair_state(design, a, b) == DESIGN_OPEN;
}

static void cover(struct design *design, const struct design_row *row)
{
    for (size_t i = 0; i < row->count; i++)
        for (size_t j = i + 1; j < row->count; j++)
            *pair_state(design, row->values[i], row->values[j]) = DESIGN_COVERED;
}

size_t design_pairs(const struct design *design, enum design_state state)
{
    size_t pairs = 0;
    for (int a = 0; a < design->count; a++)
        for (int b = a + 1; b < design->count; b++)
            pairs += design->factors[a] != design->factors[b] && design->states[a][b] == state;
    return pairs;
}

static void refuse(struct design *design, int a, int b)
{
    *pair_state(design, a, b) = DESIGN_REFUSED;
    design->refused[a][b] = design->refused[b][a] = true;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static struct design_row empty_row(void)
{
    struct design_row row = {0};
    for (size_t factor = 0; factor < DESIGN_FACTORS; factor++)
        row.of_factor[factor] = DESIGN_NONE;
    return row;
}

static void push(const struct design *design, struct design_row *row, int value)
{
    row->values[row->count++] = value;
    row->of_factor[design->factors[value]] = value;
}

static bool has(const struct design *design, const struct design_row *row, int value)
{
    return row->of_factor[design->factors[value]] == value;
}

/* Whether the row, whose last value is new, has values that were refused together. */
static bool clashes(struct design *design, const struct design_row *row)
{
    const int value = row->values[row->count - 1];
    for (size_t i = 0; i + 1 < row->count; i++)
        if (design->refused[row->values[i]][value] || design->suspects[row->values[i]][value])
            return true;
    for (size_t clash = 0; clash < design->clash_count; clash++) {
        size_t found = 0;
        for (size_t i = 0; i < design->clashes[clash].count; i++)
            found += has(design, row, design->clashes[clash].values[i]);
        if (found == design->clashes[clash].count)
            return true;
    }
    return false;
}

/* How many open pairs the value makes with the row. */
static size_t gain(struct design *design, const struct design_row *row, int value)
{
    size_t open = 0;
    for (size_t i = 0; i < row->count; i++)
        open += is_open(design, row->values[i], value);
    return open;
}

static bool add(struct design *design, struct design_row *row, int value);

/* Adds the value of that factor that gains most, of those that are allowed (NULL: of all). */
static bool add_best(struct design *design, struct design_row *row, int factor, const bool *allows)
{
    bool tried[DESIGN_VALUES] = {false};
    for (;;) {
        int best = DESIGN_NONE;
        size_t most = 0;
        for (int i = 0; i < design->count; i++) {
            const int value = design->order[i];
            if (design->factors[value] != factor || tried[value] || (allows != NULL && !allows[value]))
                continue;
            const size_t open = gain(design, row, value);
            if (best == DESIGN_NONE || open > most) {
                best = value;
                most = open;
            }
        }
        if (best == DESIGN_NONE)
            return false;
        tried[best] = true;
        if (add(design, row, best))
            return true;
    }
}

/* Adds a value and what it needs beside it; where that does not go with the row, leaves the row as it is. */
static bool add(struct design *design, struct design_row *row, int value)
{
    const struct design_row before = *row;
    const struct design_need *need = &design->needs[value];
    if (has(design, row, value))
        return true;
    if (row->of_factor[design->factors[value]] != DESIGN_NONE || design->dead[value])
        return false;
    push(design, row, value);
    bool added = !clashes(design, row);
    if (added && need->factor != DESIGN_NONE) {
        const int there = row->of_factor[need->factor];
        added = there != DESIGN_NONE ? need->allows[there] : add_best(design, row, need->factor, need->allows);
    }
    if (!added)
        *row = before;
    return added;
}

/* The value that gains most of those that go with the row; false where none gains anything. */
static bool add_any(struct design *design, struct design_row *row)
{
    bool tried[DESIGN_VALUES] = {false};
    for (;;) {
        int best = DESIGN_NONE;
        size_t most = 0;
        for (int i = 0; i < design->count; i++) {
            const int value = design->order[i];
            if (tried[value] || row->of_factor[design->factors[value]] != DESIGN_NONE)
                continue;
            const size_t open = gain(design, row, value);
            if (open > most) {
                best = value;
                most = open;
            }
        }
        if (best == DESIGN_NONE)
            return false;
        tried[best] = true;
        if (add(design, row, best))
            return true;
    }
}

static void fill(struct design *design, struct design_row *row)
{
    for (int factor = 0; factor < design->always; factor++)
        if (row->of_factor[factor] == DESIGN_NONE)
            add_best(design, row, factor, NULL);
    while (row->count < design->width && add_any(design, row))
        continue;
}

/* --- trying ------------------------------------------------------------------------------------------------------ */

static bool is_over(const struct design *design)
{
    return design->rows >= design->most_rows;
}

static bool try_row(struct design *design, const struct design_row *row)
{
    design->rows++;
    const bool accepted = design->accepts(row);
    if (accepted)
        cover(design, row);
    return accepted;
}

/* Tries the value beside each value of the factor. */
static void learn_need_of(struct design *design, int value, int factor)
{
    struct design_need *need = &design->needs[value];
    for (int other = 0; other < design->count && !is_over(design); other++) {
        struct design_row row = empty_row();
        if (design->factors[other] != factor || factor == design->factors[value])
            continue;
        push(design, &row, value);
        push(design, &row, other);
        need->allows[other] = try_row(design, &row);
        if (need->allows[other])
            need->factor = factor;
    }
}

/* What a value needs that was refused alone: the first factor of which some values make it accepted, of those that the
 * refusal blames and those that each row has. */
static void learn_need(struct design *design, int value)
{
    struct design_need *need = &design->needs[value];
    bool blamed[DESIGN_FACTORS];
    for (int factor = 0; factor < design->factor_count; factor++)
        blamed[factor] = design->blames(factor);
    for (int factor = 0; factor < design->factor_count && need->factor == DESIGN_NONE; factor++)
        if (blamed[factor])
            learn_need_of(design, value, factor);
    for (int factor = 0; factor < design->always && need->factor == DESIGN_NONE; factor++)
        if (!blamed[factor])
            learn_need_of(design, value, factor);
    design->dead[value] = need->factor == DESIGN_NONE && !is_over(design);
}

static void learn_alone(struct design *design, int value)
{
    struct design_row row = empty_row();
    push(design, &row, value);
    design->known[value] = true;
    if (!try_row(design, &row))
        learn_need(design, value);
}

/* A row of these values, and of what they have in `whole` that they need. */
static struct design_row part_of(const struct design *design, const struct design_row *whole, const int *values,
                                 size_t count)
{
    struct design_row row = empty_row();
    for (size_t i = 0; i < count; i++)
        if (!has(design, &row, values[i]))
            push(design, &row, values[i]);
    for (size_t i = 0; i < row.count; i++) {
        const int factor = design->needs[row.values[i]].factor;
        if (factor != DESIGN_NONE && row.of_factor[factor] == DESIGN_NONE && whole->of_factor[factor] != DESIGN_NONE)
            push(design, &row, whole->of_factor[factor]);
    }
    return row;
}

/* The values that the last refusal blames in front; returns how many. */
static size_t blamed_first(struct design *design, struct design_row *row)
{
    size_t blamed = 0;
    for (size_t i = 0; i < row->count; i++) {
        const int value = row->values[i];
        if (!design->blames(design->factors[value]))
            continue;
        memmove(row->values + blamed + 1, row->values + blamed, (i - blamed) * sizeof *row->values);
        row->values[blamed++] = value;
    }
    return blamed;
}

/* The fewest values of a row that are refused together: the shortest beginning that is refused ends in one of them; with
 * that one in front, again. */
static struct design_row reduce(struct design *design, struct design_row *row)
{
    int kept[2 * DESIGN_FACTORS];
    size_t count = 0, left = row->count;
    if (blamed_first(design, row) == 2) {
        const struct design_row blamed = part_of(design, row, row->values, 2);
        if (!try_row(design, &blamed))
            return blamed;
    }
    while (left > 0 && !is_over(design)) {
        size_t accepted = 0, few = left;
        while (few - accepted > 1) {
            const size_t middle = accepted + (few - accepted) / 2;
            memcpy(kept + count, row->values, middle * sizeof *kept);
            const struct design_row part = part_of(design, row, kept, count + middle);
            if (try_row(design, &part))
                accepted = middle;
            else
                few = middle;
        }
        kept[count++] = row->values[few - 1];
        left = few - 1;
        const struct design_row refused = part_of(design, row, kept, count);
        if (left > 0 && !try_row(design, &refused))
            break;
    }
    return part_of(design, row, kept, count);
}

/* What two values of these factors may do, each other value of either may do, too: they are tried alone. */
static void try_alike(struct design *design, int a, int b)
{
    for (int value = 0; value < design->count && !is_over(design); value++)
        for (int side = 0; side < 2; side++) {
            const int kept = side == 0 ? a : b, replaced = side == 0 ? b : a;
            struct design_row row = empty_row();
            if (design->factors[value] != design->factors[replaced] || !is_open(design, kept, value) ||
                !add(design, &row, kept) || !add(design, &row, value))
                continue;
            if (!try_row(design, &row) && row.count == 2)
                refuse(design, kept, value);
        }
}

static void learn(struct design *design, struct design_row *row)
{
    const struct design_row refused = reduce(design, row);
    if (refused.count == 2) {
        refuse(design, refused.values[0], refused.values[1]);
        try_alike(design, refused.values[0], refused.values[1]);
    } else if (refused.count > 2 && refused.count <= DESIGN_MOST_OF_CLASH && design->clash_count < DESIGN_CLASHES) {
        design->clashes[design->clash_count].count = refused.count;
        memcpy(design->clashes[design->clash_count++].values, refused.values, refused.count * sizeof(int));
    }
}

/* The two without what they need. */
static void try_bare(struct design *design, int a, int b)
{
    struct design_row row = empty_row();
    if (design->fixed != DESIGN_NONE && !add(design, &row, design->fixed))
        return;
    if (!has(design, &row, a) && row.of_factor[design->factors[a]] == DESIGN_NONE)
        push(design, &row, a);
    if (!has(design, &row, b) && row.of_factor[design->factors[b]] == DESIGN_NONE)
        push(design, &row, b);
    if (try_row(design, &row) || !is_open(design, a, b))
        return;
    if (design->fixed == DESIGN_NONE)
        refuse(design, a, b);
    else
        *pair_state(design, a, b) = DESIGN_REFUSED;
}

/* Two of which nothing good is known: alone, with what they need. */
static void try_suspects(struct design *design, int a, int b)
{
    struct design_row row = empty_row();
    design->suspects[a][b] = design->suspects[b][a] = false;
    if (add(design, &row, a) && add(design, &row, b) && !try_row(design, &row))
        refuse(design, a, b);
}

static void try_pair(struct design *design, int a, int b)
{
    if (design->suspects[a][b])
        try_suspects(design, a, b);
    for (int attempt = 0; attempt < MOST_ATTEMPTS && is_open(design, a, b) && !is_over(design); attempt++) {
        struct design_row row = empty_row();
        if ((design->fixed != DESIGN_NONE && !add(design, &row, design->fixed)) || !add(design, &row, a) ||
            !add(design, &row, b))
            break;
        fill(design, &row);
        if (!try_row(design, &row))
            learn(design, &row);
    }
    if (is_open(design, a, b) && (design->dead[a] || design->dead[b]))
        refuse(design, a, b);
    else if (is_open(design, a, b) && !is_over(design))
        try_bare(design, a, b);
}

void design_begin(struct design *design)
{
    design->fixed = DESIGN_NONE;
    design->rows = 0;
    design->clash_count = 0;
    memset(design->refused, 0, sizeof design->refused);
    memset(design->suspects, 0, sizeof design->suspects);
    for (int value = 0; value < design->count; value++) {
        design->order[value] = value;
        design->known[value] = design->dead[value] = false;
        design->needs[value] = (struct design_need){.factor = DESIGN_NONE};
    }
}

void design_run(struct design *design)
{
    for (int a = 0; a < design->count; a++)
        for (int b = 0; b < design->count; b++)
            design->states[a][b] = design->refused[a][b] ? DESIGN_REFUSED : DESIGN_OPEN;
    for (int value = 0; value < design->count && !is_over(design); value++)
        if (!design->known[value])
            learn_alone(design, value);
    for (int i = 0; i < design->count; i++)
        for (int j = i + 1; j < design->count && !is_over(design); j++) {
            const int a = design->order[i], b = design->order[j];
            if (design->factors[a] != design->factors[b] && is_open(design, a, b))
                try_pair(design, a, b);
        }
}
