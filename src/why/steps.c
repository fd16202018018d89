/* From stage to stage: each of somebody's stages is computed again from their own ones before it, so that a step that is
 * wrong shows itself, whatever went wrong before. */
#include "why/why.h"

#include <math.h>
#include <string.h>

/* --- somebody's own stages --------------------------------------------------------------------------------------- */

/* Whether the table is the stage whole, so that others can be made from it. */
static bool is_whole(const struct mine_table *table)
{
    for (int axis = 0; axis < MINE_AXES; axis++)
        if (table->layout.size[axis] != table->layout.whole[axis])
            return false;
    return table->layout.rows == NULL;
}

/* Its numbers in the order of the stage, (B, H, rows, columns). */
static double *in_order(const struct mine_table *table, struct arena *arena, struct error *error)
{
    const struct mine_layout *layout = &table->layout;
    double *numbers = arena_allocate(arena, table->count, sizeof *numbers, error);
    const struct mine_index first = {{0}};
    for (size_t i = 0; i < table->count && numbers != NULL; i++) {
        const struct mine_index at = mine_place_of(table, first, i);
        size_t place = 0;
        for (int axis = 0; axis < MINE_AXES; axis++)
            place = place * layout->whole[axis] + at.at[axis];
        numbers[place] = table->numbers[i];
    }
    return numbers;
}

/* What a step goes on from: all whole stages before it. Where query has fewer rows than tokens it cannot stand in. */
static enum status take_own(const struct why *why, const double *const whole[STAGE_COUNT], enum stage stage,
                            const double *own[STAGE_COUNT])
{
    const uint64_t before = stage_closure(STAGE_BIT(stage)) & ~STAGE_BIT(stage);
    const bool some = why->problem->row_count < why->problem->queries;
    for (int i = 0; i < STAGE_COUNT; i++)
        own[i] = before & STAGE_BIT(i) && !(some && i == STAGE_QUERY) &&
                         !problem_is_side_by_side(why->problem, (enum stage)i)
                     ? whole[i]
                     : NULL;
    return STATUS_OK;
}

/* --- one step with one guess ------------------------------------------------------------------------------------- */

struct stepping {
    struct why *why;
    const struct trial_base *base;
    const double *whole[STAGE_COUNT]; /* somebody's whole stages, in order; else NULL */
};

/* The stage from somebody's own ones before it, with these mistakes in between; whether that is their stage. */
static enum status try_step(const struct stepping *stepping, enum stage stage, const struct trial_guess *guess,
                            struct trial *trial)
{
    const struct trial_base *base = stepping->base;
    struct error *error = stepping->why->error;
    struct arena arena = {0};
    struct plain plain = {0};
    struct plain_columns columns = base->columns;
    struct recipe recipe;
    const char *reason;
    size_t refused;
    *trial = (struct trial){.end = TRIAL_REFUSED};
    if (recipe_create(&recipe, base->problem, guess->choices, guess->count, &refused, &reason, &arena, error) ==
            STATUS_OK &&
        reason == NULL && (!recipe.across || base->problem->row_count == base->problem->queries)) {
        const enum stage made = problem_is_side_by_side(base->problem, stage) ? STAGE_OUTPUT : stage;
        recipe.roles_early = STAGES[stage].operand;
        take_own(stepping->why, stepping->whole, stage, plain.own);
        if (plain_run(&plain, &recipe, base->problem->rows, base->problem->row_count, stage_closure(STAGE_BIT(made)),
                      &columns, &arena, &arena, error) == STATUS_OK)
            trial_compare(base, &plain, NULL, true, stage, trial);
    }
    stepping->why->budget.done += trial_work(base);
    arena_free(&arena);
    return error->status;
}

/* The first of the guesses that gives the stage. */
static enum status find_guess(const struct stepping *stepping, struct why_step *step, const struct why_guesses *guesses,
                              size_t *tried)
{
    struct why *why = stepping->why;
    for (size_t i = 0; i < guesses->count && !step->explained && why->budget.done < why->budget.most; i++) {
        struct trial trial;
        if (try_step(stepping, step->stage, &guesses->items[i], &trial) != STATUS_OK)
            return why->error->status;
        ++*tried;
        if (trial.end != TRIAL_AGREES)
            continue;
        step->explained = true;
        step->guess = guesses->items[i];
        step->agree = trial.agree;
        step->of = trial.of;
        step->largest = trial.largest;
    }
    return STATUS_OK;
}

/* --- masked first, then scaled ----------------------------------------------------------------------------------- */

static const struct mine_table *table_of(const struct mine *mine, enum stage stage)
{
    for (size_t i = 0; i < mine->count; i++)
        if (mine->tables[i].stage == stage)
            return &mine->tables[i];
    return NULL;
}

/* Whether `masked` is what it should be but for the scale, which comes later: each number times it is right. */
static bool is_masked_first(const struct mine_table *table, const struct plain *plain, double scale)
{
    bool other = false;
    for (size_t i = 0; i < table->count; i++) {
        const double right = plain->stages[STAGE_MASKED][i], mine = table->numbers[i];
        const bool hidden = right == -INFINITY && (mine == -INFINITY || mine <= -1e4);
        if (!hidden && !(fabs(mine * scale - right) <= table->tolerance[i] * fmax(1, fabs(scale))))
            return false;
        other = other || (!hidden && fabs(mine - right) > table->tolerance[i]);
    }
    return other;
}

/* Leaves out `scaled` and `masked` where they are only the other way round. */
static enum status look_for_masked_first(struct stepping *stepping)
{
    struct why *why = stepping->why;
    const struct mine_table *masked = table_of(&why->mine, STAGE_MASKED);
    struct arena arena = {0};
    struct plain plain = {0};
    struct plain_columns columns = stepping->base->columns;
    struct recipe recipe;
    const char *reason;
    size_t refused;
    if (masked == NULL || !is_whole(masked) || why->problem->scale == 1)
        return STATUS_OK;
    take_own(why, stepping->whole, STAGE_SCALED, plain.own);
    if (recipe_create(&recipe, why->problem, NULL, 0, &refused, &reason, &arena, why->error) == STATUS_OK &&
        plain_run(&plain, &recipe, why->problem->rows, why->problem->row_count, stage_closure(STAGE_BIT(STAGE_MASKED)),
                  &columns, &arena, &arena, why->error) == STATUS_OK)
        why->masked_first = is_masked_first(masked, &plain, why->problem->scale);
    arena_free(&arena);
    for (int stage = STAGE_SCALED; stage <= STAGE_MASKED && why->masked_first; stage++)
        stepping->whole[stage] = NULL;
    return why->error->status;
}

/* --- all steps --------------------------------------------------------------------------------------------------- */

static bool is_left_out(const struct why *why, enum stage stage)
{
    return why->masked_first && (stage == STAGE_SCALED || stage == STAGE_CAPPED || stage == STAGE_MASKED);
}

static enum status look_at_steps(struct stepping *stepping)
{
    struct why *why = stepping->why;
    const struct trial_guess none = {.count = 0};
    for (size_t i = 0; i < why->mine.count; i++) {
        struct why_step *step = &why->steps[why->step_count];
        struct trial trial;
        *step = (struct why_step){.stage = why->mine.tables[i].stage};
        if (is_left_out(why, step->stage))
            continue;
        if (try_step(stepping, step->stage, &none, &trial) != STATUS_OK)
            return why->error->status;
        step->departs = trial.end != TRIAL_AGREES;
        step->agree = trial.agree;
        step->of = trial.of;
        step->largest = trial.largest;
        why->step_count++;
    }
    return STATUS_OK;
}

static enum status explain_steps(struct stepping *stepping)
{
    struct why *why = stepping->why;
    struct why_guesses singles, common, pairs;
    if (why_singles(why, why->problem, false, &singles) || why_singles(why, why->problem, true, &common) ||
        why_pairs(why, &common, &pairs))
        return why->error->status;
    for (size_t i = 0; i < why->step_count; i++)
        if (why->steps[i].departs && (find_guess(stepping, &why->steps[i], &singles, &why->budget.singles) ||
                                      find_guess(stepping, &why->steps[i], &pairs, &why->budget.pairs)))
            return why->error->status;
    return STATUS_OK;
}

/* The mistakes of all steps together, one of a slot; false where a step is not explained, or two do not go together. */
static bool join_steps(const struct why *why, struct trial_guess *all)
{
    bool taken[MISTAKE_SLOT_COUNT] = {false};
    *all = (struct trial_guess){.count = 0};
    for (size_t i = 0; i < why->step_count; i++) {
        const struct why_step *step = &why->steps[i];
        if (!step->departs)
            continue;
        if (!step->explained)
            return false;
        for (size_t k = 0; k < step->guess.count; k++) {
            const struct mistake_choice choice = step->guess.choices[k];
            bool again = false;
            for (size_t j = 0; j < all->count; j++)
                again = again || (all->choices[j].id == choice.id && all->choices[j].form == choice.form);
            if (again)
                continue;
            if (taken[MISTAKES[choice.id].slot])
                return false;
            taken[MISTAKES[choice.id].slot] = true;
            size_t at = all->count++;
            for (; at > 0 && MISTAKES[all->choices[at - 1].id].slot > MISTAKES[choice.id].slot; at--)
                all->choices[at] = all->choices[at - 1];
            all->choices[at] = choice;
        }
    }
    return true;
}

/* Each step is given by somebody's own stages before it: that is all of their numbers. */
static enum status take_joined(struct why *why, const struct trial_base *base)
{
    struct trial_guess all;
    struct trial trial = {.end = TRIAL_AGREES, .has_counts = true};
    if (!join_steps(why, &all))
        return STATUS_OK;
    for (size_t i = 0; i < why->step_count; i++) {
        trial.agree += why->steps[i].agree;
        trial.of += why->steps[i].of;
        trial.largest = fmax(trial.largest, why->steps[i].largest);
    }
    return why_add(why, base, why->options, &all, &trial);
}

enum status why_steps(struct why *why, const struct trial_base *base)
{
    struct stepping stepping = {.why = why, .base = base};
    for (size_t i = 0; i < why->mine.count; i++)
        if (is_whole(&why->mine.tables[i])) {
            stepping.whole[why->mine.tables[i].stage] = in_order(&why->mine.tables[i], why->arena, why->error);
            if (stepping.whole[why->mine.tables[i].stage] == NULL)
                return why->error->status;
        }
    if (look_for_masked_first(&stepping) || look_at_steps(&stepping) || explain_steps(&stepping))
        return why->error->status;
    return take_joined(why, base);
}
