/* SPDX-License-Identifier: MIT */
/* Where two answers remain: the number of an earlier stage that tells them apart. */
#include "why/fit.h"
#include "why/why.h"

#include <math.h>

/* The number of a stage, in rows of `columns`, that differs most, relative to the stage's largest. */
static void look_at_stage(const double *a, const double *b, size_t count, struct why_apart *apart, enum stage stage)
{
    static const double MORE = 1.5; /* a later stage must show it so much better */
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = isfinite(a[i]) ? fmax(largest, fabs(a[i])) : largest;
    for (size_t i = 0; i < count; i++) {
        const double share = a[i] == b[i] ? 0 : isfinite(a[i] - b[i]) ? fabs(a[i] - b[i]) / largest : 1;
        if (isnan(a[i]) || isnan(b[i]) ||
            !(share > MORE * apart->share || (stage == apart->stage && share > apart->share)))
            continue;
        *apart = (struct why_apart){.stage = stage, .at = i, .first = a[i], .second = b[i], .share = share};
    }
}

enum status why_tell_apart(struct why *why)
{
    static const double LEAST = 1e-3;
    const size_t rows = why->problem->chosen.row_count;
    size_t other = 1;
    struct why_apart found = {.stage = STAGE_NAMES};
    struct arena arena = {0};
    while (other < why->count && why->explanations[other].same_as == 0)
        other++;
    if (other >= why->count || why->explanations[0].alone != 0 || mine_has_backward(&why->mine) ||
        why->explanations[0].problem != why->problem || why->explanations[other].problem != why->problem)
        return STATUS_OK;
    struct trial_made *made = arena_allocate(&arena, 2, sizeof *made, why->error);
    const struct trial_base base = {.mine = &why->mine, .stages = trial_stages(why->problem, &why->mine)};
    if (made != NULL && fit_make(&base, why->problem, &why->explanations[0].guess, &made[0], &arena, why->error) &&
        fit_make(&base, why->problem, &why->explanations[other].guess, &made[1], &arena, why->error) &&
        made[0].plain.row_count == rows && made[1].plain.row_count == rows)
        for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
            const size_t count = plain_count(why->problem, stage, rows);
            if (made[0].plain.stages[stage] != NULL && made[1].plain.stages[stage] != NULL &&
                plain_count(made[0].plain.problem, stage, rows) == count && /* of other keys there are more, or less */
                plain_count(made[1].plain.problem, stage, rows) == count)
                look_at_stage(made[0].plain.stages[stage], made[1].plain.stages[stage], count, &found, stage);
        }
    found.other = other;
    if (found.share > LEAST)
        why->apart = found;
    arena_free(&arena);
    return why->error->status;
}
