/* SPDX-License-Identifier: MIT */
/* The guesses and their order. */
#include "why/why.h"

#include <string.h>

enum { MOST_FORMS = 4096, FEW_FORMS = 64 };

/* --- forms ------------------------------------------------------------------------------------------------------- */

/* Lists tiles of fewer rows than the job's; `common`: powers of 2, `usual`: and multiples of 16. */
static size_t list_tiles(size_t rows, bool common, bool usual, double *forms)
{
    enum { MOST_TILE = 128 };
    size_t count = 0;
    for (size_t tile = 1; tile <= MOST_TILE && tile < rows; tile++)
        if ((tile & (tile - 1)) == 0 || (!common && (!usual || tile % 16 == 0)))
            forms[count++] = (double)tile;
    return count;
}

/* The same for a gradient, which depends only on where the last tile begins: of the kernels' tiles (powers of 2,
 * multiples of 16) with the same start, the largest. Others only for few rows, and not if `common`. */
static size_t list_last_tiles(size_t rows, bool common, double *forms)
{
    enum { MOST_TILE = 128, FEW_ROWS = 16 };
    size_t count = 0;
    for (size_t i = 0; i < 2 * (size_t)MOST_TILE && rows > 0; i++) {
        const size_t tile = MOST_TILE - i % MOST_TILE, last = rows - 1;
        const bool usual = (tile & (tile - 1)) == 0 || tile % 16 == 0;
        bool wanted = tile < rows && usual == (i < MOST_TILE);
        wanted = wanted && (i < MOST_TILE || (rows <= FEW_ROWS && !common));
        for (size_t k = 0; k < count && wanted; k++)
            wanted = last - last % (size_t)forms[k] != last - last % tile;
        if (wanted)
            forms[count++] = (double)tile;
    }
    return count;
}

/* Lists multiples to pad keys to, one for each number of added keys. */
static size_t list_paddings(const struct problem *problem, double *forms)
{
    size_t count = 0, seen[8] = {0};
    for (size_t multiple = 4; multiple <= 128; multiple *= 2) {
        const size_t added = (multiple - problem->size.keys % multiple) % multiple;
        bool again = added == 0;
        for (size_t i = 0; i < count; i++)
            again = again || seen[i] == added;
        if (again)
            continue;
        seen[count] = added;
        forms[count++] = (double)multiple;
    }
    return count;
}

/* Lists every used entry of block_table, with every other page. */
static size_t list_stale(const struct problem *problem, bool common, double *forms)
{
    const struct problem_pages *pages = problem->given.pages;
    size_t count = 0;
    if (pages == NULL)
        return 0;
    for (size_t entry = 0; entry < pages->items * pages->per_item; entry++)
        for (size_t page = 0; page < pages->count && count < (common ? FEW_FORMS : MOST_FORMS); page++)
            if (entry % pages->per_item * pages->size < pages->lengths[entry / pages->per_item] &&
                pages->table[entry] != (int64_t)page)
                forms[count++] = (double)(entry * pages->count + page);
    return count;
}

/* Lists first .. end, up to FEW_FORMS. */
static size_t list_range(size_t first, size_t end, double *forms)
{
    size_t count = 0;
    for (size_t at = first; at < end && count < FEW_FORMS; at++)
        forms[count++] = (double)at;
    return count;
}

/* Popular numbers, and those of published configs. */
static const struct {
    enum mistake id;
    unsigned count;
    double forms[6];
    bool scaled; /* also times the scale: people mask before they scale */
} GUESSED[] = {
    {MISTAKE_DROPOUT_ON, 5, {0.1, 0.2, 0.25, 0.3, 0.5}, false},
    {MISTAKE_FILL_SMALL, 4, {-9, -1, -5, 1}, true},
    {MISTAKE_FILL_ADDED, 2, {1, -1}, true},
    {MISTAKE_SCALE_ROUNDED, 4, {2, 1, 3, 4}, false},
    {MISTAKE_NORM_EPS, 6, {1e-5, 1e-6, 0, 1e-12, 1e-8, 1e-3}, false},
    {MISTAKE_QK_NORM_EPS, 6, {1e-5, 1e-6, 0, 1e-12, 1e-8, 1e-3}, false},
    {MISTAKE_ROPE_THETA, 4, {10000, 1e6, 500000, 1000}, false},
    {MISTAKE_SINKS_REPEATED, 6, {2, 3, 4, 5, 6, 8}, false},
    {MISTAKE_ROPE_POSITIONS_FROM, 4, {1, 2, 3, 4}, false},
    {MISTAKE_SEQUENCES_LEAK_BEFORE, 4, {1, 2, 3, 4}, false},
    {MISTAKE_SEQUENCES_LEAK_BEHIND, 4, {1, 2, 3, 4}, false},
};

/* Lists the forms of a mistake to guess. */
static size_t list_forms(const struct problem *problem, enum mistake id, bool common, double forms[MOST_FORMS])
{
    const struct mistake_row *row = &MISTAKES[id];
    if ((row->of_kernels && (common || problem_projects(problem))) || (row->alone && common))
        return 0;
    size_t words = 0, sequences = problem->mask.sequences.count;
    forms[0] = 0;
    while (row->forms != NULL && row->forms[words] != NULL)
        words++;
    if (row->forms != NULL)
        return list_range(0, words, forms);
    if (row->number == NULL)
        return 1;
    if (row->slot == MISTAKE_SLOT_TILES || row->of_kernels)
        return list_tiles(problem->size.keys, common, row->of_kernels, forms);
    if (id == MISTAKE_GRAD_QUERY_LAST_TILE)
        return list_last_tiles(problem->size.keys, common, forms);
    if (id == MISTAKE_GRAD_KEY_LAST_TILE)
        return list_last_tiles(problem->size.queries, common, forms);
    if (id == MISTAKE_KEYS_PADDING_COUNTED)
        return list_paddings(problem, forms);
    if (id == MISTAKE_PAGES_STALE)
        return list_stale(problem, common, forms);
    if (id == MISTAKE_PAGES_OTHER_ITEM)
        return list_range(1, problem->given.pages != NULL ? problem->given.pages->items : 0, forms);
    for (size_t i = 0; i < sizeof GUESSED / sizeof GUESSED[0]; i++)
        if (GUESSED[i].id == id) {
            const double scale = problem->scaling.factor * problem->scaling.query_factor;
            const size_t count = GUESSED[i].count;
            memcpy(forms, GUESSED[i].forms, count * sizeof *forms);
            for (size_t k = 0; k < count; k++)
                forms[count + k] = forms[k] * scale;
            return GUESSED[i].scaled && scale != 1 ? 2 * count : count;
        }
    /* Each number of cu_seqlens by itself, and all if there are several. */
    return row->slot == MISTAKE_SLOT_SEQUENCES ? list_range(sequences == 2, sequences, forms) : 0;
}

/* --- one mistake ------------------------------------------------------------------------------------------------- */

/* Not draws, which are settings, nor dtypes, which the numbers show, nor lse and gradients, unless a table needs
 * them. */
static bool is_guessed(const struct why *why, enum mistake id)
{
    const enum mistake_slot slot = MISTAKES[id].slot;
    return slot != MISTAKE_SLOT_DRAW && slot != MISTAKE_SLOT_LAYER && mistake_dtype(id) == DTYPE_COUNT &&
           (slot != MISTAKE_SLOT_GRAD || mine_has_backward(&why->mine)) &&
           (slot != MISTAKE_SLOT_LSE || mine_table_of(&why->mine, STAGE_LSE) != NULL) &&
           (why->left_out == NULL || !why->left_out[id]);
}

enum status why_singles(const struct why *why, const struct problem *problem, bool common, struct why_guesses *guesses)
{
    double forms[MOST_FORMS];
    size_t most = 0;
    for (enum mistake id = 0; id < MISTAKE_COUNT; id++)
        most += list_forms(problem, id, common, forms);
    *guesses = (struct why_guesses){arena_allocate(why->arena, most, sizeof guesses->items[0], why->error), 0, NULL};
    for (int i = 0; i < 2 * MISTAKE_COUNT && guesses->items != NULL; i++) {
        const int id = i % MISTAKE_COUNT; /* for a gradient, those of the backward pass come first */
        const bool turn = (MISTAKES[id].slot == MISTAKE_SLOT_GRAD) == (i < MISTAKE_COUNT);
        const size_t count =
            turn && is_guessed(why, (enum mistake)id) ? list_forms(problem, (enum mistake)id, common, forms) : 0;
        for (size_t form = 0; form < count; form++)
            guesses->items[guesses->count++] = (struct trial_guess){{{(enum mistake)id, forms[form]}}, 1};
    }
    return guesses->items == NULL ? why->error->status : STATUS_OK;
}

/* --- two of them ------------------------------------------------------------------------------------------------- */

struct trial_guess why_guess(const struct why_guesses *guesses, size_t i)
{
    if (guesses->pairs == NULL)
        return guesses->items[i];
    const struct why_pair pair = guesses->pairs[i];
    return (struct trial_guess){{guesses->items[pair.first].choices[0], guesses->items[pair.second].choices[0]}, 2};
}

static enum mistake id_of(const struct why_guesses *singles, size_t i)
{
    return singles->items[i].choices[0].id;
}

/* Pairs that people make more often than the order of single mistakes says: ports that permute for another rotation and
 * repeat keys for groups. */
static bool is_common(enum mistake_slot first, enum mistake_slot second)
{
    return (first == MISTAKE_SLOT_GROUPS || first == MISTAKE_SLOT_SCALE) && second == MISTAKE_SLOT_ROPE;
}

/* The common pairs come first, then those without a costly mistake, then the others. */
enum status why_pairs(const struct why *why, const struct why_guesses *singles, struct why_guesses *pairs)
{
    const size_t count = singles->count;
    struct why_pair *list = arena_allocate(why->arena, count * (count + 1) / 2, sizeof *list, why->error);
    *pairs = (struct why_guesses){singles->items, 0, list};
    for (int turn = 0; turn < 3 && list != NULL; turn++)
        for (size_t sum = 1; sum + 1 < 2 * count; sum++)
            for (size_t i = sum < count ? 0 : sum - count + 1; 2 * i < sum; i++) {
                const enum mistake a = id_of(singles, i), b = id_of(singles, sum - i);
                const enum mistake_slot of_a = MISTAKES[a].slot, of_b = MISTAKES[b].slot;
                const bool common = is_common(of_a, of_b) || is_common(of_b, of_a);
                if (of_a != of_b && (common ? 0 : why->costly[a] || why->costly[b] ? 2 : 1) == turn)
                    list[pairs->count++] = of_a < of_b ? (struct why_pair){i, sum - i} : (struct why_pair){sum - i, i};
            }
    return list == NULL ? why->error->status : STATUS_OK;
}
