/* SPDX-License-Identifier: MIT */
/* From stage to stage: computes each of somebody's stages from their own stages before it, so that a wrong step shows,
 * whatever went wrong before. */
#include "base/threads.h"
#include "model/stages.h"
#include "why/fit.h"
#include "why/why.h"

#include <math.h>
#include <string.h>

/* --- somebody's own stages --------------------------------------------------------------------------------------- */

/* Whether the table is the complete stage, so that others can be made from it. */
static bool is_whole(const struct mine_table *table)
{
    for (int axis = 0; axis < MINE_AXES; axis++)
        if (table->layout.size[axis] != table->layout.whole[axis])
            return false;
    return table->layout.rows == NULL && table->places == NULL;
}

/* A table's numbers, or their tolerances, in the order of the stage, (B, H, rows, columns). */
static double *in_order(const struct mine_table *table, const double *numbers_of_table, struct arena *arena,
                        struct error *error)
{
    const struct mine_layout *layout = &table->layout;
    double *numbers = arena_allocate(arena, table->count, sizeof *numbers, error);
    const struct mine_index first = {{0}};
    for (size_t i = 0; i < table->count && numbers != NULL; i++) {
        const struct mine_index at = mine_place_of(table, first, i);
        size_t place = 0;
        for (int axis = 0; axis < MINE_AXES; axis++)
            place = place * layout->whole[axis] + at.at[axis];
        numbers[place] = numbers_of_table[i];
    }
    return numbers;
}

/* Takes all complete stages before it for a step. If not all queries are selected, their rows are not all that
 * projections need. */
static void take_own(const struct why *why, const double *const whole[STAGE_COUNT], enum stage stage,
                     const double *own[STAGE_COUNT])
{
    const uint64_t before = stage_closure(STAGE_BIT(stage)) & ~STAGE_BIT(stage);
    const bool some = why->problem->chosen.row_count < why->problem->size.queries;
    for (enum stage i = 0; i < STAGE_COUNT; i++) {
        const bool of_inputs = stage_is_of_inputs(i);
        const bool of_all = of_inputs || (projection_of(i) == PROJECTION_QUERY && !STAGES[i].repeats);
        own[i] = before & STAGE_BIT(i) && !(some && of_all) && (of_inputs || problem_made_as(why->problem, i) == i)
                     ? whole[i]
                     : NULL;
    }
}

/* --- one step with one guess ------------------------------------------------------------------------------------- */

struct stepping {
    struct why *why;
    const struct trial_base *base;    /* for steps: tables with a wider tolerance */
    const struct trial_base *exact;   /* as the tables are */
    const double *whole[STAGE_COUNT]; /* somebody's complete stages, in order; else NULL */
};

/* Few bits: single numbers agree with much that is nearly right, so their noise together decides. */
static bool has_few_bits(const struct trial_base *base)
{
    return dtype_is_coarse(base->mine->dtype) && base->noise[0] != NULL;
}

/* The distance of a stage's tables from the computed ones, the largest. */
static double rms_of(const struct trial_base *base, const struct trial_made *made, enum stage stage,
                     const struct trial *trial)
{
    double rms = 0;
    for (size_t i = 0; i < base->mine->count; i++)
        if (base->mine->tables[i].stage == stage)
            rms = fmax(rms, fit_rms_of_table(base, made, i, trial));
    return rms;
}

/* Computes the stage from somebody's own stages before it, with these mistakes between; sets whether that is their
 * stage. `early`: exchanges roles when made. */
static enum status run_step(const struct stepping *stepping, enum stage stage, const struct trial_guess *guess,
                            bool early, struct trial *trial, struct error *error)
{
    const struct trial_base *base = stepping->base;
    struct arena arena = {0};
    struct trial_made all = {.plain.wants_normed = true};
    struct plain *plain = &all.plain;
    struct plain_columns columns = base->columns;
    struct recipe recipe;
    *trial = (struct trial){.end = TRIAL_REFUSED};
    if (recipe_create(&recipe, base->problem, guess->choices, guess->count, false, &arena, error) == STATUS_OK &&
        recipe.reason == NULL && (!recipe.across || base->problem->chosen.row_count == base->problem->size.queries)) {
        const enum stage made = problem_made_as(base->problem, stage);
        const bool back = STAGES[stage].backward;
        recipe.roles_early = early && STAGES[stage].operand;
        take_own(stepping->why, stepping->whole, stage, plain->own);
        if (back ? recipe.not_differentiable != NULL ||
                       gradients_make(&recipe.problem, base->mine, all.gradients, &arena, error) != STATUS_OK
                 : plain_run(plain, &recipe, base->problem->chosen.rows, base->problem->chosen.row_count,
                             stage_closure(STAGE_BIT(made)), &columns, &arena, &arena, error) != STATUS_OK) {
            arena_free(&arena);
            return error->status;
        }
        trial_compare(base, &all, false, true, stage, trial);
        if (has_few_bits(base)) {
            trial->rms = rms_of(base, &all, stage, trial);
            trial->end = trial->rms <= 2 * fit_most_rms(base, guess) ? trial->end : TRIAL_DEPARTS;
        }
    }
    arena_free(&arena);
    return error->status;
}

static double step_work(const struct stepping *stepping)
{
    struct trial_base all_rows = *stepping->base;
    all_rows.has_few = false;
    all_rows.few_columns = 0;
    return trial_work(&all_rows);
}

static enum status try_step(const struct stepping *stepping, enum stage stage, const struct trial_guess *guess,
                            bool early, struct trial *trial)
{
    stepping->why->budget.done += step_work(stepping);
    return run_step(stepping, stage, guess, early, trial, stepping->why->error);
}

enum { CHUNK = 64 };

/* Guesses of a step, tried by all threads. */
struct batch {
    const struct stepping *stepping;
    struct trial_guess guesses[CHUNK];
    enum stage stage;
    struct trial trials[CHUNK];
    struct error errors[CHUNK];
};

static void run_guess(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct batch *batch = context;
    batch->errors[task] = (struct error){0};
    run_step(batch->stepping, batch->stage, &batch->guesses[task], true, &batch->trials[task], &batch->errors[task]);
}

/* Finds the guesses that give the stage, up to WHY_STEP_GUESSES. */
static enum status find_guesses(const struct stepping *stepping, struct why_step *step,
                                const struct why_guesses *guesses, size_t *tried)
{
    struct why *why = stepping->why;
    const double work = step_work(stepping);
    struct batch *batch = arena_allocate(why->arena, 1, sizeof *batch, why->error);
    if (batch == NULL)
        return why->error->status;
    batch->stepping = stepping;
    batch->stage = step->stage;
    for (size_t i = 0;
         i < guesses->count && step->guess_count < WHY_STEP_GUESSES && why->budget.done < why->budget.most; i++) {
        const double left = ceil((why->budget.most - why->budget.done) / work);
        const size_t at = i % CHUNK, rest = memory_smaller(CHUNK, guesses->count - i);
        for (size_t k = 0; at == 0 && k < rest; k++)
            batch->guesses[k] = why_guess(guesses, i + k);
        if (at == 0)
            threads_run(why->problem->path.threads, left < (double)rest ? (size_t)left : rest, run_guess, batch);
        const struct trial trial = batch->trials[at];
        why->budget.done += work;
        if (batch->errors[at].status != STATUS_OK) {
            *why->error = batch->errors[at];
            return why->error->status;
        }
        *tried += trial.end != TRIAL_REFUSED;
        if (trial.end != TRIAL_AGREES ||
            (has_few_bits(stepping->base) &&
             (trial.rms > fit_most_rms(stepping->base, &batch->guesses[at]) || 2 * trial.rms > step->rms)))
            continue;
        step->guesses[step->guess_count++] = batch->guesses[at];
        step->agree = trial.agree;
        step->of = trial.of;
        step->largest = trial.largest;
    }
    return STATUS_OK;
}

/* --- tolerance of printed stages --------------------------------------------------------------------------------- */

/* Somebody's own stage with each number moved by its tolerance, up or down depending on `turn`. */
static const double *move_own(const struct stepping *stepping, enum stage stage, unsigned turn, struct arena *arena,
                              struct error *error)
{
    const struct why *why = stepping->why;
    const struct mine_table *table = mine_table_of(&why->mine, stage);
    double *moved = in_order(table, table->numbers, arena, error);
    const double *tolerance = in_order(table, table->tolerance, arena, error);
    uint32_t state = 2463534242U + turn;
    for (size_t i = 0; i < table->count && moved != NULL && tolerance != NULL; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        moved[i] += isfinite(moved[i]) ? (state & 1 ? tolerance[i] : -tolerance[i]) : 0;
    }
    return moved;
}

/* Computes the stage from their own stages up to `from`, moved or not (turn 0), without a mistake. */
static enum status run_from_own(const struct stepping *stepping, enum stage stage, enum stage from, unsigned turn,
                                struct plain *plain, struct arena *arena)
{
    struct why *why = stepping->why;
    const struct problem *problem = why->problem;
    struct plain_columns columns = stepping->base->columns;
    struct recipe *recipe = arena_allocate(arena, 1, sizeof *recipe, why->error); /* `plain` refers to it */
    *plain = (struct plain){.wants_normed = true};
    if (recipe == NULL)
        return why->error->status;
    take_own(why, stepping->whole, from, plain->own);
    for (enum stage own = 0; own < STAGE_COUNT && turn > 0; own++)
        if (plain->own[own] != NULL)
            plain->own[own] = move_own(stepping, own, turn, arena, why->error);
    if (why->error->status != STATUS_OK)
        return why->error->status;
    const enum status status = recipe_create(recipe, problem, NULL, 0, false, arena, why->error);
    return status != STATUS_OK ? status
                               : plain_run(plain, recipe, problem->chosen.rows, problem->chosen.row_count,
                                           stage_closure(STAGE_BIT(stage)), &columns, arena, arena, why->error);
}

/* Computes a table's numbers from their own stages, moved or not (turn 0). */
static enum status make_from_own(const struct stepping *stepping, const struct mine_table *table, unsigned turn,
                                 double *made)
{
    const enum stage stage = problem_made_as(stepping->why->problem, table->stage);
    struct arena arena = {0};
    struct plain plain;
    if (run_from_own(stepping, stage, table->stage, turn, &plain, &arena) == STATUS_OK)
        for (size_t i = 0; i < table->count; i++)
            made[i] = trial_number(&plain, table->stage, mine_place_of(table, (struct mine_index){{0}}, i));
    arena_free(&arena);
    return stepping->why->error->status;
}

/* Widens a table's tolerance for a step: adds what the digits of the stages before it leave open. */
static enum status widen_step(const struct stepping *stepping, struct mine_table *table)
{
    enum { TURNS = 4 };
    struct why *why = stepping->why;
    double *right = arena_allocate(why->arena, table->count, sizeof *right, why->error);
    double *moved = arena_allocate(why->arena, table->count, sizeof *moved, why->error);
    double *tolerance = arena_allocate(why->arena, table->count, sizeof *tolerance, why->error);
    if (right == NULL || moved == NULL || tolerance == NULL || make_from_own(stepping, table, 0, right) != STATUS_OK)
        return why->error->status;
    memset(tolerance, 0, table->count * sizeof *tolerance);
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        if (make_from_own(stepping, table, turn, moved) != STATUS_OK)
            return why->error->status;
        for (size_t i = 0; i < table->count; i++)
            if (isfinite(moved[i]) && isfinite(right[i]))
                tolerance[i] = fmax(tolerance[i], fabs(moved[i] - right[i]));
    }
    for (size_t i = 0; i < table->count; i++)
        tolerance[i] = table->tolerance[i] + 2 * tolerance[i];
    table->tolerance = tolerance;
    return STATUS_OK;
}

/* Makes the base for steps, whose tables have that tolerance. */
static enum status widen_steps(struct stepping *stepping)
{
    struct why *why = stepping->why;
    struct mine *mine = arena_allocate(why->arena, 1, sizeof *mine, why->error);
    struct trial_base *base = arena_allocate(why->arena, 1, sizeof *base, why->error);
    if (mine == NULL || base == NULL)
        return why->error->status;
    *mine = why->mine;
    for (size_t i = 0; i < mine->count; i++)
        mine->tables[i].screen = 0;
    for (size_t i = 0; i < mine->count; i++)
        if (!mine_is_backward(&mine->tables[i]) && is_whole(&mine->tables[i]) &&
            widen_step(stepping, &mine->tables[i]) != STATUS_OK)
            return why->error->status;
    *base = *stepping->base;
    base->mine = mine;
    stepping->base = base;
    return STATUS_OK;
}

/* --- masked first, then scaled ----------------------------------------------------------------------------------- */

/* Whether `masked` is right except for the scale, which comes later: each number times the scale is right. */
static bool is_masked_first(const struct mine_table *table, const double *rights, double scale)
{
    bool other = false;
    for (size_t i = 0; i < table->count; i++) {
        const double right = rights[i], mine = table->numbers[i];
        const bool hidden = right == -INFINITY && (mine == -INFINITY || mine <= PLAIN_MASKED);
        if (!hidden && !(fabs(mine * scale - right) <= table->tolerance[i] * fmax(1, fabs(scale))))
            return false;
        other = other || (!hidden && fabs(mine - right) > table->tolerance[i]);
    }
    return other;
}

/* Whether the first stage after them is right when made without them; else they are not merely exchanged. */
static enum status is_right_behind(const struct stepping *stepping, bool *right)
{
    const struct why *why = stepping->why;
    *right = false;
    for (size_t i = 0; i < why->mine.count; i++)
        if (stage_follows(why->mine.tables[i].stage, STAGE_MASKED) && why->mine.tables[i].stage != STAGE_MASKED) {
            struct trial trial;
            const enum status status = try_step(stepping, why->mine.tables[i].stage, TRIAL_NONE, true, &trial);
            *right = trial.end == TRIAL_AGREES;
            return status;
        }
    return STATUS_OK;
}

/* Whether `scaled` is right for allowed keys; also if there is no such table. */
static bool is_scaled_right(const struct mine_table *table, const double *rights)
{
    for (size_t i = 0; table != NULL && i < table->count; i++)
        if (rights[i] != -INFINITY && !(fabs(table->numbers[i] - rights[i]) <= table->tolerance[i]))
            return false;
    return true;
}

/* Whether their `masked`, made from their own scores, is right except for the scale. */
static enum status compare_masked(const struct stepping *stepping, const struct mine_table *masked, bool *first)
{
    const struct why *why = stepping->why;
    struct arena arena = {0};
    struct plain plain;
    const enum status status = run_from_own(stepping, STAGE_MASKED, STAGE_SCALED, 0, &plain, &arena);
    const double *rights = plain.stages[STAGE_MASKED];
    if (status == STATUS_OK && rights != NULL)
        *first = is_masked_first(masked, rights, why->problem->scaling.factor) &&
                 is_scaled_right(mine_table_of(&why->mine, STAGE_SCALED), rights);
    arena_free(&arena);
    return why->error->status;
}

/* Drops `scaled` and `masked` if they only come in the other order. */
static enum status look_for_masked_first(struct stepping *stepping)
{
    struct why *why = stepping->why;
    const struct mine_table *masked = mine_table_of(&why->mine, STAGE_MASKED);
    struct stepping without = *stepping;
    const struct mine_table *scaled = mine_table_of(&why->mine, STAGE_SCALED);
    if (masked == NULL || !is_whole(masked) || (scaled != NULL && !is_whole(scaled)) ||
        why->problem->scaling.factor == 1 || compare_masked(stepping, masked, &why->masked_first) || !why->masked_first)
        return why->error->status;
    for (int stage = STAGE_SCALED; stage <= STAGE_MASKED; stage++)
        without.whole[stage] = NULL;
    if (is_right_behind(&without, &why->masked_first) != STATUS_OK)
        return why->error->status;
    if (why->masked_first)
        *stepping = without;
    return STATUS_OK;
}

/* --- all steps --------------------------------------------------------------------------------------------------- */

static enum status look_at_steps(struct stepping *stepping)
{
    struct why *why = stepping->why;
    for (size_t i = 0; i < why->mine.count; i++) {
        struct why_step *step = &why->steps[why->step_count];
        struct trial trial;
        *step = (struct why_step){.stage = why->mine.tables[i].stage};
        if ((why->masked_first && stage_follows(step->stage, STAGE_SCALED) &&
             stage_follows(STAGE_MASKED, step->stage)) ||
            (i > 0 && step->stage == why->mine.tables[i - 1].stage))
            continue;
        if (try_step(stepping, step->stage, TRIAL_NONE, true, &trial) != STATUS_OK)
            return why->error->status;
        step->departs = trial.end != TRIAL_AGREES;
        step->rms = trial.rms;
        step->agree = trial.agree;
        step->of = trial.of;
        step->largest = trial.largest;
        why->step_count++;
    }
    return STATUS_OK;
}

/* Adds a choice in the order of slots; false if the slot has another one. */
static bool add_choice(struct trial_guess *all, struct mistake_choice choice)
{
    size_t at = 0;
    while (at < all->count && MISTAKES[all->choices[at].id].slot < MISTAKES[choice.id].slot)
        at++;
    if (at < all->count && MISTAKES[all->choices[at].id].slot == MISTAKES[choice.id].slot)
        return all->choices[at].id == choice.id && all->choices[at].form == choice.form;
    memmove(all->choices + at + 1, all->choices + at, (all->count - at) * sizeof all->choices[0]);
    all->choices[at] = choice;
    all->count++;
    return true;
}

/* Joins one guess of each wrong step before `end`, in the i-th way; false if two exclude each other. */
static bool join_steps(const struct why *why, const struct why_step *end, size_t i, struct trial_guess *all)
{
    bool joined = true;
    *all = (struct trial_guess){.count = 0};
    for (const struct why_step *step = why->steps; step < end; step++) {
        const struct trial_guess *guess = &step->guesses[i % memory_larger(step->guess_count, 1)];
        i /= memory_larger(step->guess_count, 1);
        for (size_t k = 0; step->guess_count > 0 && k < guess->count; k++)
            joined = joined && add_choice(all, guess->choices[k]);
    }
    return joined;
}

/* Finds what gives a gradient, or a stage after parts, from which nothing can be made: the mistakes of the steps before
 * it, or one more of the backward pass. */
static enum status find_consequence(const struct stepping *stepping, struct why_step *step,
                                    const struct why_guesses *singles)
{
    struct why *why = stepping->why;
    struct trial_guess before, *items = arena_allocate(why->arena, singles->count + 1, sizeof *items, why->error);
    struct why_guesses guesses = {items, 0, NULL};
    if (items == NULL || !join_steps(why, step, 0, &before))
        return why->error->status;
    if (before.count > 0)
        items[guesses.count++] = before;
    for (size_t i = 0; i < singles->count; i++)
        if (MISTAKES[singles->items[i].choices[0].id].slot == MISTAKE_SLOT_GRAD) {
            items[guesses.count] = before;
            guesses.count += add_choice(&items[guesses.count], singles->items[i].choices[0]);
        }
    return find_guesses(stepping, step, &guesses, &why->budget.singles);
}

/* Whether all numbers of somebody's table of the stage are equal, such as 0, which some pair of mistakes nearly always
 * gives. */
static bool is_blank(const struct why *why, enum stage stage)
{
    for (size_t i = 0; i < why->mine.count; i++)
        if (why->mine.tables[i].stage == stage && tensor_blank(&why->mine.tables[i].named->tensor) != NULL)
            return true;
    return false;
}

static enum status explain_step(const struct stepping *stepping, struct why_step *step,
                                const struct why_guesses *singles, const struct why_guesses *pairs)
{
    struct why *why = stepping->why;
    if ((STAGES[step->stage].backward || mine_has_part(&why->mine)) &&
        find_consequence(stepping, step, singles) != STATUS_OK)
        return why->error->status;
    if (step->guess_count == 0 && find_guesses(stepping, step, singles, &why->budget.singles) != STATUS_OK)
        return why->error->status;
    return step->guess_count == 0 && !is_blank(why, step->stage)
               ? find_guesses(stepping, step, pairs, &why->budget.pairs)
               : STATUS_OK;
}

static enum status explain_steps(struct stepping *stepping)
{
    struct why *why = stepping->why;
    struct why_guesses singles, common, pairs;
    if (why_singles(why, why->problem, false, &singles) || why_singles(why, why->problem, true, &common) ||
        why_pairs(why, &common, &pairs))
        return why->error->status;
    for (size_t i = 0; i < why->step_count; i++) {
        struct why_step *step = &why->steps[i];
        if (step->departs && explain_step(stepping, step, &singles, &pairs) != STATUS_OK)
            return why->error->status;
    }
    if (why->budget.done >= why->budget.most) /* guesses left out: about as many again */
        why->budget.left = fmax(why->budget.left, why->budget.most);
    return STATUS_OK;
}

/* The number of ways to take one guess of each step; 0 if a step has none. */
static size_t count_ways(const struct why *why)
{
    enum { MOST = 512 };
    size_t ways = 1;
    for (size_t i = 0; i < why->step_count; i++)
        if (why->steps[i].departs && (ways < MOST || why->steps[i].guess_count == 0))
            ways *= why->steps[i].guess_count;
    return ways;
}

/* Tries the joined mistakes from the inputs on: all tables must agree. */
static enum status try_from_inputs(struct why *why, const struct trial_base *base, const struct trial_guess *all,
                                   bool *taken)
{
    struct arena scratch = {0};
    struct trial trial;
    if (trial_run(base, all, true, &trial, &scratch, why->error) == STATUS_OK) {
        why_take(why, base, why->options, all, &trial);
        *taken = why->count > 0;
    }
    arena_free(&scratch);
    return why->error->status;
}

/* Tries each step from somebody's own stages before it, with all of the mistakes; that, too, can give all of their
 * numbers. */
static enum status take_steps(const struct stepping *stepping, const struct trial_guess *all, bool *taken)
{
    struct why *why = stepping->why;
    struct trial sum = {.end = TRIAL_AGREES, .has_counts = true, .rms = NAN};
    for (size_t i = 0; i < why->step_count; i++) {
        struct trial trial;
        if (try_step(stepping, why->steps[i].stage, all, why->steps[i].departs, &trial) != STATUS_OK ||
            trial.end != TRIAL_AGREES)
            return why->error->status;
        sum.agree += trial.agree;
        sum.of += trial.of;
        sum.largest = fmax(sum.largest, trial.largest);
    }
    *taken = true;
    return why_add(why, stepping->exact, why->options, all, &sum);
}

static bool gives(const struct why_step *step, const struct trial_guess *guess)
{
    for (size_t i = 0; i < step->guess_count; i++) {
        size_t k = 0; /* choices have different slots, so equal counts mean equal sets */
        while (k < guess->count && trial_makes(&step->guesses[i], guess->choices[k]))
            k++;
        if (k == guess->count && k == step->guesses[i].count)
            return true;
    }
    return false;
}

/* Whether all wrong stages are gradients, each explained, with enough numbers that none fits by chance. */
static bool can_be_apart(const struct why *why, const struct trial_base *base)
{
    size_t departing = 0;
    for (size_t i = 0; i < why->step_count; i++) {
        const struct why_step *step = &why->steps[i];
        if (!step->departs)
            continue;
        const enum why_kind kind = step->guesses[0].count > 1 ? WHY_PAIRS : WHY_SINGLES;
        if (!STAGES[step->stage].backward || step->guess_count == 0 ||
            why_bits(base, STAGE_BIT(step->stage)) < why_bits_needed(kind))
            return false;
        departing++;
    }
    return departing > 0;
}

/* The wrong gradients, without those in `told`, that a guess gives, and how well. */
static uint64_t given_by(const struct why *why, const struct trial_guess *guess, uint64_t told, struct trial *sum)
{
    uint64_t given = 0;
    *sum = (struct trial){.end = TRIAL_AGREES, .has_counts = true, .rms = NAN};
    for (size_t i = 0; i < why->step_count; i++) {
        const struct why_step *step = &why->steps[i];
        if (!step->departs || told & STAGE_BIT(step->stage) || !gives(step, guess))
            continue;
        given |= STAGE_BIT(step->stage);
        sum->agree += step->agree;
        sum->of += step->of;
        sum->largest = fmax(sum->largest, step->largest);
    }
    return given;
}

/* A kernel may compute each gradient separately: then a mistake shows in one of them, and the others are right. Each
 * explanation is a mistake with the gradients that it gives, followed by those that give the same. */
static enum status take_apart(const struct stepping *stepping)
{
    struct why *why = stepping->why;
    uint64_t told = 0, more = 0;
    for (size_t i = 0; i < why->step_count && can_be_apart(why, stepping->exact); i++, told |= more, more = 0)
        for (size_t k = 0, first = why->count; k < why->steps[i].guess_count; k++) {
            struct trial sum;
            const struct trial_guess *guess = &why->steps[i].guesses[k];
            const uint64_t given = given_by(why, guess, told, &sum);
            if (!(given & STAGE_BIT(why->steps[i].stage)) || (k > 0 && given != more))
                continue;
            if (why_add(why, stepping->exact, why->options, guess, &sum) != STATUS_OK)
                return why->error->status;
            if (why->count == first) /* no more fit */
                break;
            why->explanations[why->count - 1].alone = more = given;
            why->explanations[why->count - 1].same_as = first;
        }
    return STATUS_OK;
}

/* Tries the joined guesses from the inputs on, else from stage to stage, else each gradient apart. Not from stage to
 * stage with few bits, where near misses of a mistake fit, too. */
static enum status take_joined(const struct stepping *stepping)
{
    struct why *why = stepping->why;
    const size_t ways = count_ways(why);
    bool taken = false;
    const bool few_bits = has_few_bits(stepping->exact);
    for (int by_steps = 0; by_steps < (few_bits ? 1 : 2); by_steps++)
        for (size_t i = 0; i < ways && !taken; i++) {
            struct trial_guess all;
            if (join_steps(why, why->steps + why->step_count, i, &all) &&
                (by_steps ? take_steps(stepping, &all, &taken) : try_from_inputs(why, stepping->exact, &all, &taken)) !=
                    STATUS_OK)
                return why->error->status;
        }
    if (!taken && take_apart(stepping) != STATUS_OK)
        return why->error->status;
    for (size_t i = 0; i < why->step_count && few_bits && why->count == 0; i++)
        why->steps[i].guess_count = 0;
    return STATUS_OK;
}

enum status why_steps(struct why *why, const struct trial_base *base)
{
    struct stepping stepping = {.why = why, .base = base, .exact = base};
    for (size_t i = 0; i < why->mine.count; i++)
        if (!mine_is_backward(&why->mine.tables[i]) && is_whole(&why->mine.tables[i])) {
            stepping.whole[why->mine.tables[i].stage] =
                in_order(&why->mine.tables[i], why->mine.tables[i].numbers, why->arena, why->error);
            if (stepping.whole[why->mine.tables[i].stage] == NULL)
                return why->error->status;
        }
    if (widen_steps(&stepping) || look_for_masked_first(&stepping) || look_at_steps(&stepping) ||
        explain_steps(&stepping))
        return why->error->status;
    return take_joined(&stepping);
}
