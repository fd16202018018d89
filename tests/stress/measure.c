/* SPDX-License-Identifier: MIT */
#include "stress/measure.h"

#include "model/stage_id.h"
#include "stress/runs.h"
#include "why/why.h"

#include <math.h>
#include <string.h>

/* The last table as a recipe makes it. */
static const double *make(struct measure *measure, const struct recipe *recipe, enum stage stage, size_t *count)
{
    struct made *made = &measure->made;
    struct plain plain = {0};
    if (plain_run(&plain, recipe, made->problem.chosen.rows, made->problem.chosen.row_count,
                  stage_closure(STAGE_BIT(stage)), NULL, &made->arena, &made->arena, &made->error) != STATUS_OK)
        return NULL;
    *count = plain_count(plain.problem, stage, plain.row_count);
    return plain.stages[stage];
}

/* One guess of why; a mistake that cannot be made here is passed over. */
static enum status take(struct measure *measure, enum stage stage, const struct trial_guess *guess)
{
    struct made *made = &measure->made;
    struct recipe recipe;
    size_t count = 0;
    if (stress_is_later(MISTAKES[guess->choices[0].id].name))
        return STATUS_OK;
    if (recipe_create(&recipe, &made->problem, guess->choices, guess->count, false, &made->arena, &made->error) !=
            STATUS_OK ||
        recipe.reason != NULL)
        return made->error.status;
    struct measured *measured = &measure->mistakes[measure->count];
    measured->choice = guess->choices[0];
    measured->numbers = (double *)make(measure, &recipe, stage, &count);
    mistake_text(measured->choice, measured->name);
    if (measured->numbers != NULL && count != measure->numbers)
        return error_usage(&made->error, "%s: expected %zu numbers, got %zu", measured->name, measure->numbers, count);
    measure->count++;
    return made->error.status;
}

static enum status take_right(struct measure *measure, enum stage stage)
{
    struct made *made = &measure->made;
    struct recipe recipe;
    if (recipe_create(&recipe, &made->problem, NULL, 0, false, &made->arena, &made->error) != STATUS_OK)
        return made->error.status;
    measure->right = (double *)make(measure, &recipe, stage, &measure->numbers);
    for (size_t i = 0; measure->right != NULL && i < measure->numbers; i++)
        measure->largest = fmax(measure->largest, isfinite(measure->right[i]) ? fabs(measure->right[i]) : 0);
    return made->error.status;
}

enum status measure_create(struct measure *measure, const char *command_line, const char *json)
{
    struct made *made = &measure->made;
    struct why why = {.mine.count = 1, .arena = &made->arena, .error = &made->error};
    struct why_guesses guesses;
    *measure = (struct measure){0};
    if (support_make(made, command_line, json) != STATUS_OK)
        return made->error.status;
    const enum stage stage = made->problem.chosen.stages[made->problem.chosen.stage_count - 1];
    why.mine.tables[0].stage = stage;
    if (why_singles(&why, &made->problem, false, &guesses) != STATUS_OK || take_right(measure, stage) != STATUS_OK)
        return made->error.status;
    measure->mistakes = arena_allocate(&made->arena, guesses.count, sizeof measure->mistakes[0], &made->error);
    for (size_t i = 0; measure->mistakes != NULL && i < guesses.count && made->error.status == STATUS_OK; i++)
        take(measure, stage, &guesses.items[i]);
    return made->error.status;
}

double measure_distance(const struct measure *measure, const double *a, const double *b)
{
    double largest = 0;
    for (size_t i = 0; i < measure->numbers; i++) {
        if (isfinite(a[i]) && isfinite(b[i]))
            largest = fmax(largest, fabs(a[i] - b[i]));
        else if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return INFINITY;
    }
    return largest;
}

bool measure_is_same(const struct measure *measure, double distance)
{
    return distance <= 1e-6 * measure->largest;
}

size_t measure_lists(const size_t *shape, size_t rank, size_t at)
{
    size_t lists = 0, block = 1;
    while (rank-- > 0) {
        block *= shape[rank];
        lists += at % block == 0;
    }
    return lists;
}
