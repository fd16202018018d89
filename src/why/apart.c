/* SPDX-License-Identifier: MIT */
/* Where two answers remain: the number of an earlier stage that tells them apart. */
#include "why/why.h"

#include <math.h>

/* Makes all stages of an answer. */
static enum status make_all(const struct why_explanation *answer, struct trial_made *made, struct arena *arena,
                            struct error *error)
{
    const struct trial_base base = {.problem = answer->problem,
                                    .mine = answer->mine,
                                    .stages = trial_stages(answer->problem, answer->mine),
                                    .arena = arena};
    struct recipe *recipe = arena_allocate(arena, 1, sizeof *recipe, error);
    *made = (struct trial_made){.plain.wants_normed = mine_table_of(answer->mine, STAGE_NORMED) != NULL};
    if (recipe == NULL ||
        recipe_create(recipe, answer->problem, answer->guess.choices, answer->guess.count, arena, error) != STATUS_OK)
        return error->status;
    return trial_make(&base, recipe, answer->problem->chosen.rows, answer->problem->chosen.row_count, made, arena,
                      error);
}

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
    size_t other = 1;
    struct why_apart found = {.stage = STAGE_NAMES};
    struct arena arena = {0};
    while (other < why->count && why->explanations[other].same_as == 0)
        other++;
    why->apart.stage = STAGE_NAMES;
    if (other >= why->count || why->explanations[0].alone != 0 || mine_has_backward(&why->mine) ||
        why->explanations[0].problem != why->problem || why->explanations[other].problem != why->problem)
        return STATUS_OK;
    struct trial_made *made = arena_allocate(&arena, 2, sizeof *made, why->error);
    if (made != NULL && make_all(&why->explanations[0], &made[0], &arena, why->error) == STATUS_OK &&
        make_all(&why->explanations[other], &made[1], &arena, why->error) == STATUS_OK &&
        made[0].plain.row_count == made[1].plain.row_count)
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            if (made[0].plain.stages[stage] != NULL && made[1].plain.stages[stage] != NULL)
                look_at_stage(made[0].plain.stages[stage], made[1].plain.stages[stage],
                              plain_count(why->problem, (enum stage)stage, made[0].plain.row_count), &found,
                              (enum stage)stage);
    found.rows = made != NULL ? made[0].plain.row_count : 0;
    found.other = other;
    if (found.share > LEAST && found.rows == why->problem->chosen.row_count)
        why->apart = found;
    arena_free(&arena);
    return why->error->status;
}
