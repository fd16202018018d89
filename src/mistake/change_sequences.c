/* SPDX-License-Identifier: MIT */
/* Mistakes of slot sequences: wrong arguments to FlashAttention's varlen interface. */
#include "mistake/recipe.h"

#include <math.h>
#include <string.h>

static const char NO_SEQUENCES[] = "there are no sequences", ONE_SEQUENCE[] = "there is one sequence";

static const char *why_not(const struct recipe *recipe)
{
    const size_t count = recipe->problem.mask.sequences.count;
    return count == 0 ? NO_SEQUENCES : count == 1 ? ONE_SEQUENCE : NULL;
}

CHANGE_BY(SEQUENCES_MISSING)
{
    const char *reason = why_not(recipe);
    if (reason != NULL)
        return reason;
    mask->offset = mask->sequences.from_end ? (int64_t)mask->keys - (int64_t)mask->queries : 0;
    mask->sequences.count = 0;
    return NULL;
}

/* --- keys of other sequences ------------------------------------------------------------------------------------- */

/* Allows each sequence so many keys before and after its own. Its keys begin at an even index of the list and end at an
 * odd one, so that those of two sequences may overlap; queries keep their positions. */
static const char *leak(struct recipe *recipe, double before, double behind)
{
    const struct mask *mask = &recipe->problem.mask;
    const struct mask_sequences right = mask->sequences;
    const size_t count = 2 * right.count + 1;
    const char *reason = why_not(recipe);
    if (reason != NULL)
        return reason;
    int64_t *queries = arena_allocate(recipe->arena, count, sizeof *queries, recipe->error);
    int64_t *keys = arena_allocate(recipe->arena, count, sizeof *keys, recipe->error);
    size_t *of_query = arena_allocate(recipe->arena, mask->queries, sizeof *of_query, recipe->error);
    if (queries == NULL || keys == NULL || of_query == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t edge = (i + 1) / 2;
        const double by = i % 2 == 0 ? -before : behind;
        keys[i] = (int64_t)fmin(fmax((double)right.key_starts[edge] + by, 0), (double)mask->keys);
        queries[i] = right.query_starts[edge] + keys[i] - right.key_starts[edge];
    }
    for (size_t i = 0; i < mask->queries; i++)
        of_query[i] = 2 * right.of_query[i];
    recipe->problem.mask.sequences = (struct mask_sequences){count - 1, queries, keys, of_query, right.from_end};
    recipe->plain = true; /* kernels assume that no two overlap */
    return NULL;
}

CHANGE(SEQUENCES_BEFORE_SEEN, leak(recipe, (double)problem->size.keys, 0))
CHANGE(SEQUENCES_LEAK_BEFORE, leak(recipe, form, 0))
CHANGE(SEQUENCES_LEAK_BEHIND, leak(recipe, 0, form))

/* --- cumulative lengths that are off by one ---------------------------------------------------------------------- */

/* Copies a list with number `at` `by` more, or all between the first and the last; NULL if it would decrease, or out of
 * memory. */
static int64_t *move_starts(struct recipe *recipe, const int64_t *starts, size_t sequences, size_t at, int by)
{
    int64_t *moved = arena_allocate(recipe->arena, sequences + 1, sizeof *moved, recipe->error);
    if (moved == NULL)
        return NULL;
    memcpy(moved, starts, (sequences + 1) * sizeof *moved);
    for (size_t i = 1; i < sequences; i++)
        moved[i] += i == at || at == 0 ? by : 0;
    for (size_t i = 0; i < sequences; i++)
        if (moved[i] > moved[i + 1])
            return NULL;
    return moved;
}

static const char *move(struct recipe *recipe, bool queries, bool keys, double form, int by)
{
    struct mask *mask = &recipe->problem.mask;
    const struct mask_sequences right = mask->sequences;
    const char *reason = why_not(recipe);
    if (reason != NULL)
        return reason;
    if (form >= (double)right.count)
        return "cu_seqlens has fewer numbers between 0 and its end";
    const int64_t *starts[] = {right.query_starts, right.key_starts};
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? !queries : !keys)
            continue;
        starts[i] = move_starts(recipe, starts[i], right.count, (size_t)form, by);
        if (starts[i] == NULL)
            return "the sequence is empty, and would end before it begins";
    }
    size_t *of_query = arena_allocate(recipe->arena, mask->queries, sizeof *of_query, recipe->error);
    for (size_t i = 0; i < right.count && of_query != NULL; i++)
        for (int64_t query = starts[0][i]; query < starts[0][i + 1]; query++)
            of_query[query] = i;
    mask->sequences = (struct mask_sequences){right.count, starts[0], starts[1], of_query, right.from_end};
    return NULL;
}

CHANGE(SEQUENCES_START_PLUS_1, move(recipe, true, true, form, 1))
CHANGE(SEQUENCES_START_MINUS_1, move(recipe, true, true, form, -1))
CHANGE(SEQUENCES_KEYS_PLUS_1, move(recipe, false, true, form, 1))
CHANGE(SEQUENCES_KEYS_MINUS_1, move(recipe, false, true, form, -1))
CHANGE(SEQUENCES_QUERIES_PLUS_1, move(recipe, true, false, form, 1))
CHANGE(SEQUENCES_QUERIES_MINUS_1, move(recipe, true, false, form, -1))
