/* SPDX-License-Identifier: MIT */
/* Adds guesses that agree as explanations, and counts how many guesses a table can distinguish. */
#include "why/why.h"

#include "why/fit.h"

#include <math.h>
#include <string.h>

double *why_keep(struct why *why, const double *numbers, size_t count)
{
    double *copy = numbers == NULL ? NULL : arena_allocate(why->arena, count, sizeof *copy, why->error);
    if (copy != NULL)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

enum status why_add(struct why *why, const struct trial_base *base, const struct options *options,
                    const struct trial_guess *guess, const struct trial *trial)
{
    if (why->explanations == NULL)
        why->explanations = arena_allocate(why->arena, WHY_MOST, sizeof why->explanations[0], why->error);
    if (why->explanations == NULL || why->count == WHY_MOST)
        return why->error->status;
    struct why_explanation *added = &why->explanations[why->count];
    *added = (struct why_explanation){*guess, options, base->problem, base->mine, *trial, why->count, 0};
    added->trial.shown = why_keep(why, trial->shown, trial_numbers(base));
    if (why->error->status != STATUS_OK)
        return why->error->status;
    for (size_t i = 0; i < why->count && added->same_as == why->count; i++)
        if (trial_alike(why->explanations[i].problem, why->explanations[i].mine, base) &&
            trial_same(base, why->explanations[i].trial.shown, added->trial.shown))
            added->same_as = why->explanations[i].same_as;
    why->count++;
    return STATUS_OK;
}

/* Notes a mistake that fits about as well as what is right. */
static void note_as_well(struct why *why, const struct trial_base *base, const struct options *options,
                         const struct trial_guess *guess, const struct trial *trial)
{
    enum { MOST = 4 };
    static const double MUCH = 1.25;
    for (size_t i = 0; i < why->as_well_count; i++)
        if (why->as_well[i].guess.choices[0].id == guess->choices[0].id)
            return;
    if (why->as_well == NULL)
        why->as_well = arena_allocate(why->arena, MOST, sizeof why->as_well[0], why->error);
    if (why->as_well != NULL && why->as_well_count < MOST && trial->rms <= MUCH * why->right.rms)
        why->as_well[why->as_well_count++] =
            (struct why_explanation){*guess, options, base->problem, base->mine, *trial, 0, 0};
}

enum status why_take(struct why *why, const struct trial_base *base, const struct options *options,
                     const struct trial_guess *guess, const struct trial *trial)
{
    if (trial->end != TRIAL_AGREES)
        return why->error->status;
    if (fit_beats(trial, &why->right))
        return why_add(why, base, options, guess, trial);
    if (why->right.end == TRIAL_AGREES && 2 * trial->apart >= why->right.rms)
        note_as_well(why, base, options, guess, trial);
    return why->error->status;
}

/* --- information in a table -------------------------------------------------------------------------------------- */

/* The bits of distinguishable tables, less those of the places that it may have. */
double why_bits(const struct trial_base *base, uint64_t stages)
{
    enum { MOST = 20, OF_A_BLANK = 12, OF_A_TOTAL = 4 };
    double bits = 0;
    for (size_t i = 0; i < base->mine->count; i++) {
        const struct mine_table *table = &base->mine->tables[i];
        if (!(stages & STAGE_BIT(table->stage)))
            continue;
        bits -= log2((double)mine_indices(table));
        const char *blank = tensor_blank(&table->named->tensor);
        if (blank != NULL) { /* equal numbers: some pair nearly always gives them */
            bits += strcmp(blank, "0") == 0 ? 0 : OF_A_BLANK;
            continue;
        }
        double most = 0;
        for (size_t k = 0; k < table->count; k++) { /* a number larger than all right ones counts, too */
            const double error = table->places != NULL && base->off[i] != NULL ? base->off[i][k] : 0;
            const double size = isfinite(table->numbers[k]) ? fabs(table->numbers[k]) : 0;
            const double off = table->tolerance[k] + (base->noise[i] != NULL ? base->noise[i][k] : 0);
            /* Totals of guesses are about as far from each other as this one from the right one. */
            const double range = k < table->shown ? fmax(base->largest, size) : pow(2, -OF_A_TOTAL) * error;
            const double more = error < 0 ? 0 : fmin(MOST, fmax(0, log2(range / off)));
            bits += more;
            most = fmax(most, more);
        }
        if (table->places != NULL && table->shown > 1) /* one of few weights follows from the others */
            bits -= most;
    }
    return bits;
}

double why_bits_needed(enum why_kind kind)
{
    static const double NEEDED[] = {[WHY_SINGLES] = 8 + 4,
                                    [WHY_PAIRS] = 13 + 6,
                                    [WHY_NEAR_SETTINGS] = 8 + 4,
                                    [WHY_SETTINGS] = 16 + 8,
                                    [WHY_WITH_MISTAKES] = 22 + 8};
    return NEEDED[kind];
}
