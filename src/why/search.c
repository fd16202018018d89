/* SPDX-License-Identifier: MIT */
#include "why/why.h"

#include "base/threads.h"
#include "model/stages.h"
#include "why/fit.h"

#include <math.h>
#include <string.h>

/* --- many guesses, by all threads -------------------------------------------------------------------------------- */

/* Guesses tried together, between two checks of the clock and the budget. */
enum { CHUNK = 256 };

struct batch {
    const struct trial_base *base;
    struct trial_guess guesses[CHUNK];
    struct trial trials[CHUNK];
    struct error errors[CHUNK];
    struct arena arenas[CHUNK]; /* for guesses that agree */
};

static void run_guess(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct batch *batch = context;
    struct arena *arena = &batch->arenas[task];
    struct trial *trial = &batch->trials[task];
    *arena = (struct arena){0};
    if (trial_confirm(batch->base, &batch->guesses[task], trial, arena, &batch->errors[task]) != STATUS_OK ||
        trial->end != TRIAL_AGREES)
        arena_free(arena);
}

/* Whether the table is of NaN, which explains nothing with mistakes that may give only NaN. */
static bool tells_little(const struct trial_base *base, const struct trial_guess *guess)
{
    const struct mine_table *table = base->mine->count > 0 ? &base->mine->tables[base->mine->count - 1] : NULL;
    bool only_nan = false;
    for (size_t i = 0; i < guess->count; i++)
        only_nan = only_nan || MISTAKES[guess->choices[i].id].only_nan;
    return only_nan && table != NULL && isnan(table->numbers[0]) && tensor_blank(&table->named->tensor) != NULL;
}

static enum status try_chunk(struct why *why, struct batch *batch, const struct options *options, size_t count,
                             struct trial *trials)
{
    memset(batch->errors, 0, sizeof batch->errors);
    threads_run(why->problem->path.threads, count, run_guess, batch);
    for (size_t i = 0; i < count; i++) {
        if (batch->errors[i].status != STATUS_OK && why->error->status == STATUS_OK)
            *why->error = batch->errors[i];
        const struct trial *trial = &batch->trials[i];
        if (trial->end != TRIAL_REFUSED) /* else nothing was computed */
            why->budget.done += trial->work;
        why->budget.rows += trial->made;
        if (why->error->status == STATUS_OK && trial->end == TRIAL_AGREES &&
            !tells_little(batch->base, &batch->guesses[i]))
            why_take(why, batch->base, options, &batch->guesses[i], trial);
        if (trials != NULL)
            trials[i] = *trial;
        if (trial->end == TRIAL_AGREES)
            arena_free(&batch->arenas[i]);
    }
    return why->error->status;
}

/* Tries guesses on a base until the budget ends, *tried of them; writes trials (guesses.count) unless NULL. Adds those
 * that agree as explanations with these options. */
static enum status try_guesses(struct why *why, const struct trial_base *base, const struct options *options,
                               const struct why_guesses *guesses, const char *name, struct trial *trials, size_t *tried)
{
    struct batch *batch = arena_allocate(why->arena, 1, sizeof *batch, why->error);
    static const double MOST = 1e9; /* of work before the first answer can be written */
    const double work = trial_work(base);
    if (batch == NULL)
        return why->error->status;
    batch->base = base;
    progress_begin(why->progress, name, (double)guesses->count);
    for (*tried = 0; *tried < guesses->count && why->budget.done < why->budget.most;) {
        const double left = ceil((why->budget.most - why->budget.done) / work);
        size_t count = memory_smaller(CHUNK, guesses->count - *tried);
        count = left < (double)count ? (size_t)left : count;
        if ((double)count * work > MOST)
            count = memory_smaller(CHUNK, memory_larger(why->problem->path.threads, (size_t)(MOST / work)));
        count = memory_smaller(count, guesses->count - *tried);
        for (size_t i = 0; i < count; i++)
            batch->guesses[i] = why_guess(guesses, *tried + i);
        if (try_chunk(why, batch, options, count, trials == NULL ? NULL : trials + *tried) != STATUS_OK)
            return why->error->status;
        *tried += count;
        why_begin(why);
        progress_update(why->progress, (double)*tried);
    }
    why->budget.left += work * (double)(guesses->count - *tried);
    progress_end(why->progress);
    return STATUS_OK;
}

/* --- mistakes ---------------------------------------------------------------------------------------------------- */

/* Notes mistakes that can be made but are hidden, in every form. */
static void note_hidden(struct why *why, const struct why_guesses *singles, const struct trial *trials, size_t tried)
{
    for (size_t i = 0; i < tried; i++)
        if (trials[i].end != TRIAL_REFUSED && trials[i].hidden)
            why->hidden[singles->items[i].choices[0].id] = true;
    for (size_t i = 0; i < tried; i++)
        if (trials[i].end != TRIAL_REFUSED && !trials[i].hidden)
            why->hidden[singles->items[i].choices[0].id] = false;
}

static enum status try_singles(struct why *why, const struct trial_base *base)
{
    struct why_guesses singles;
    if (why_singles(why, why->problem, false, &singles) != STATUS_OK)
        return why->error->status;
    struct trial *trials = arena_allocate(why->arena, singles.count, sizeof *trials, why->error);
    size_t tried = 0;
    if (trials == NULL || try_guesses(why, base, why->options, &singles, "one mistake", trials, &tried) != STATUS_OK)
        return why->error->status;
    note_hidden(why, &singles, trials, tried);
    why->singles = (struct why_guesses){singles.items, tried, NULL};
    why->alone = trials;
    for (size_t i = 0; i < tried; i++)
        why->budget.singles += trials[i].end != TRIAL_REFUSED;
    return STATUS_OK;
}

/* Lists the mistakes that can be made here, as their trials alone showed, and those without one. */
static enum status list_possible(struct why *why, struct why_guesses *singles)
{
    static const double LARGE = 1e8;
    size_t count = 0;
    if (why_singles(why, why->problem, true, singles) != STATUS_OK)
        return why->error->status;
    for (size_t i = 0; i < singles->count; i++) {
        const struct mistake_choice choice = singles->items[i].choices[0];
        size_t at = 0;
        while (at < why->singles.count && !trial_makes(&why->singles.items[at], choice))
            at++;
        const struct trial *alone = at < why->singles.count ? &why->alone[at] : NULL;
        why->costly[choice.id] = alone != NULL && alone->projects && problem_work(why->problem) > LARGE;
        if (alone == NULL || alone->possible)
            singles->items[count++] = singles->items[i];
    }
    singles->count = count;
    return STATUS_OK;
}

static enum status try_pairs(struct why *why, const struct trial_base *base)
{
    struct why_guesses singles, pairs;
    size_t tried = 0;
    if (list_possible(why, &singles) || why_pairs(why, &singles, &pairs) ||
        try_guesses(why, base, why->options, &pairs, "two mistakes", NULL, &tried))
        return why->error->status;
    why->budget.pairs += tried;
    why->budget.pairs_left = pairs.count - tried;
    return STATUS_OK;
}

/* Tries each mistake of a pair alone, for the report. */
static enum status try_halves(struct why *why, const struct trial_base *base)
{
    const struct trial_guess *pair = why->count > 0 ? &why->explanations[0].guess : NULL;
    for (size_t i = 0; i < 2 && pair != NULL && pair->count == 2 && why->explanations[0].problem == why->problem; i++) {
        struct arena scratch = {0};
        const struct trial_guess half = {{pair->choices[i]}, 1};
        trial_run(base, &half, true, &why->halves[i], &scratch, why->error);
        arena_free(&scratch);
    }
    return why->error->status;
}

/* --- the search -------------------------------------------------------------------------------------------------- */

/* Tries the job without mistakes. */
static enum status try_right(struct why *why, struct trial_base *base)
{
    struct arena scratch = {0};
    if (trial_run(base, TRIAL_NONE, true, &why->right, &scratch, why->error) == STATUS_OK) {
        for (size_t i = 0; i < base->mine->count && why->right.has_counts; i++) {
            base->noise[i] = why_keep(why, why->right.noise[i], base->mine->tables[i].count);
            base->off[i] = why_keep(why, why->right.off[i], base->mine->tables[i].count);
        }
        base->exact = why_keep(why, why->right.exact, why->right.of);
    }
    why->right.shown = NULL;
    arena_free(&scratch);
    return why->error->status;
}

/* Adds the explanation that nothing is wrong. */
static enum status add_right(struct why *why, const struct trial_base *base)
{
    const bool low = base->mine->dtype != why->problem->rounding.dtype;
    struct trial_guess guess = {.count = low};
    if (low)
        guess.choices[0].id = mistake_of_dtype(base->mine->dtype);
    const struct mine_table *table = &base->mine->tables[0]; /* it may match another stage, or be a part of one */
    why->constant = !why->right.moves && base->mine->count == 1 &&
                    (!table->told || mine_indices(table) > 1 || table->places != NULL);
    why->low_precision = low && !why->constant;
    return why->constant ? STATUS_OK : why_add(why, base, why->options, &guess, &why->right);
}

/* Whether an explanation exchanges query, key and value, as another order of drawing may. */
static bool has_roles(const struct why *why)
{
    for (size_t i = 0; i < why->count; i++)
        for (size_t k = 0; k < why->explanations[i].guess.count; k++)
            if (MISTAKES[why->explanations[i].guess.choices[k].id].slot == MISTAKE_SLOT_ROLES)
                return true;
    return false;
}

/* --- one stage for another --------------------------------------------------------------------------------------- */

/* Tries the table as matched in `mine`: whether it is right, and not by chance, as few numbers could be. */
static enum status try_placed(struct why *why, const struct trial_base *main, struct mine *mine)
{
    struct trial_base *base = arena_allocate(why->arena, 1, sizeof *base, why->error);
    const struct trial right = why->right;
    struct arena scratch = {0};
    struct trial trial = {.end = TRIAL_DEPARTS};
    if (base != NULL && trial_start_like(base, main, mine, why->arena, why->error) == STATUS_OK)
        trial_run(base, TRIAL_NONE, false, &trial, &scratch, why->error);
    arena_free(&scratch);
    if (why->error->status != STATUS_OK || trial.end != TRIAL_AGREES ||
        trial_start(base, why->problem, mine, why->arena, why->error) != STATUS_OK ||
        why_bits(base, UINT64_MAX) < why_bits_needed(WHY_PAIRS) || try_right(why, base) != STATUS_OK ||
        (why->right.end == TRIAL_AGREES && add_right(why, base) != STATUS_OK))
        return why->error->status;
    if (why->count > 0 || why->constant)
        why->mine = *mine;
    else
        why->right = right;
    return STATUS_OK;
}

/* A copy of the tables with the one matched to that candidate; NULL if it does not fit, or out of memory. */
static struct mine *place(struct why *why, const struct mine_candidate *candidate)
{
    struct mine *mine = arena_allocate(why->arena, 1, sizeof *mine, why->error);
    if (mine == NULL)
        return NULL;
    *mine = why->mine;
    return mine_place_as(mine, why->problem, candidate, why->arena, why->error) ? mine : NULL;
}

/* With --grad, tries the table as any gradient of its shape, with one mistake. */
static enum status try_gradients(struct why *why)
{
    const struct mine_table *before = NULL;
    size_t count, most = 0;
    if (why->mine.count > 1 || why->mine.tables[0].told || !why->problem->loss.is_given)
        return STATUS_OK;
    const struct mine_candidate *candidates = mine_candidates(why->problem, &count, why->arena, why->error);
    for (size_t i = 0; i < count && candidates != NULL; i++) {
        struct mine *mine = STAGES[candidates[i].stage].backward ? place(why, &candidates[i]) : NULL;
        struct trial_base *base = arena_allocate(why->arena, 1, sizeof *base, why->error);
        why->budget.singles = 0;
        const struct mine_table *table = mine != NULL ? &mine->tables[0] : NULL;
        if (table == NULL || base == NULL ||
            (before != NULL && table->stage == before->stage && table->parameter == before->parameter &&
             memcmp(&table->layout, &before->layout, sizeof table->layout) == 0)) /* another way, but the same here */
            continue;
        before = table;
        if (trial_start(base, why->problem, mine, why->arena, why->error) ||
            (why_bits(base, UINT64_MAX) >= why_bits_needed(WHY_PAIRS) && try_singles(why, base) != STATUS_OK))
            return why->error->status;
        most = memory_larger(most, why->budget.singles);
    }
    why->budget.singles = most;
    return why->error->status;
}

/* Tries an unnamed table as other stages than the inferred one, without mistakes. */
static enum status try_other_stages(struct why *why, const struct trial_base *base)
{
    const enum stage taken = trial_stage(&why->mine);
    size_t count;
    if (why->mine.count > 1 || why->mine.tables[0].told)
        return STATUS_OK;
    const struct mine_candidate *candidates = mine_candidates(why->problem, &count, why->arena, why->error);
    for (size_t i = count; i-- > 0 && candidates != NULL && why->count == 0 && !why->constant;) {
        const bool skips_out = taken == STAGE_OUTPUT && candidates[i].stage == STAGE_CONTEXT &&
                               candidates[i].way == MINE_SIDE_BY_SIDE && why->problem->plan.has_out;
        struct mine *mine = skips_out ? NULL : place(why, &candidates[i]); /* out-missing gives such a context */
        if (mine != NULL && try_placed(why, base, mine) != STATUS_OK)
            return why->error->status;
    }
    why->taken = taken;
    return why->error->status;
}

/* Leaves out explanations that fit far worse than the best one. */
static void drop_rivals(struct why *why)
{
    static const double NOTHING = 0.1;
    struct why_explanation *all = why->explanations;
    size_t kept = 0, place[WHY_MOST];
    double best = INFINITY;
    for (size_t i = 0; i < why->count; i++)
        best = fmin(best, all[i].trial.rms);
    for (size_t i = 0; i < why->count; i++) {
        const size_t first = all[i].same_as;
        place[i] = SIZE_MAX;
        if (all[i].alone == 0 && all[i].trial.rms > 2 * best + NOTHING)
            continue;
        if (place[first] == SIZE_MAX) /* the first of its kind that is kept */
            place[first] = kept;
        all[kept] = all[i];
        all[kept++].same_as = place[first];
    }
    why->count = kept;
}

/* Puts the answer that fits best first, if it fits clearly better than the likelier one. */
static void put_best_first(struct why *why)
{
    size_t best = 0;
    for (size_t i = 1; i < why->count; i++)
        if (why->explanations[i].same_as == i && why->explanations[i].alone == 0 &&
            why->explanations[i].trial.rms + WHY_CLEARLY < why->explanations[best].trial.rms)
            best = i;
    for (size_t i = 0; i < why->count && best > 0; i++) {
        size_t *first = &why->explanations[i].same_as;
        *first = *first == 0 ? best : *first == best ? 0 : *first;
    }
    if (best == 0)
        return;
    const struct why_explanation answer = why->explanations[best];
    why->explanations[best] = why->explanations[0];
    why->explanations[0] = answer;
}

/* Rejects a table that is an input; without projections an operand may be the result of a mistake. */
static enum status refuse_input(struct why *why)
{
    return problem_projects(why->problem) && why->options->grad == NULL
               ? mine_refuse_input(&why->mine, why->files->inputs, why->error)
               : STATUS_OK;
}

/* Whether only a few numbers of the one table are wrong: other parameters would change all of them. */
static bool is_slip(const struct why *why)
{
    return why_is_nearly_right(why) && why->mine.count == 1 && why->problem->drop.share == 0;
}

static enum status search(struct why *why, const struct trial_base *base)
{
    if (try_other_stages(why, base) != STATUS_OK || why->count > 0 || why->constant || refuse_input(why) != STATUS_OK)
        return why->error->status;
    if (why_can_tell(why, WHY_SINGLES) && why_residual(why) != STATUS_OK)
        return why->error->status;
    const bool residual = why->count > 0; /* its mistake is listed with it */
    if (!residual && ((why->mine.count > 1 && why_steps(why, base) != STATUS_OK) || try_gradients(why) != STATUS_OK))
        return why->error->status;
    if ((residual || why->count == 0) && why_can_tell(why, WHY_SINGLES) && try_singles(why, base) != STATUS_OK)
        return why->error->status;
    if (why->count == 0 && why_can_tell(why, WHY_PAIRS) && why_layers(why) != STATUS_OK)
        return why->error->status;
    if (has_roles(why) && why->is_drawn && why->step_count == 0 && why_orders(why) != STATUS_OK)
        return why->error->status;
    if (why->count == 0 && why->is_drawn && why_can_tell(why, WHY_NEAR_SETTINGS) &&
        why_draws(why, WHY_NEAR) != STATUS_OK)
        return why->error->status;
    if (why->count == 0 && why_can_tell(why, WHY_PAIRS) && try_pairs(why, base) != STATUS_OK)
        return why->error->status;
    for (enum why_depth depth = WHY_FAR; depth <= WHY_OTHER_SIZES && why->is_drawn && why->count == 0; depth++)
        if (!is_slip(why) && why_draws(why, depth) != STATUS_OK)
            return why->error->status;
    drop_rivals(why);
    put_best_first(why);
    if (why->count == 0)
        return why_observe(why, base);
    return try_halves(why, base) || why_tell_apart(why) ? why->error->status : STATUS_OK;
}

/* The right result agrees. If attn diff calls some numbers different, a mistake may still fit far better. */
static enum status take_right(struct why *why, struct trial_base *base)
{
    if (dtype_is_coarse(base->mine->dtype) && why->right.outside > 0 &&
        why_bits(base, UINT64_MAX) >= why_bits_needed(WHY_SINGLES) && try_singles(why, base) != STATUS_OK)
        return why->error->status;
    if (why->count == 0)
        return add_right(why, base);
    drop_rivals(why);
    return STATUS_OK;
}

/* Tries other sizes if the table matches no stage. */
static enum status search_sizes(struct why *why)
{
    const struct error refused = *why->error;
    *why->error = (struct error){0};
    if (refuse_input(why) != STATUS_OK)
        return why->error->status;
    why->bits = mine_bits(&why->mine);
    for (enum why_depth depth = WHY_NEAR; depth <= WHY_OTHER_SIZES && why->is_drawn; depth++) {
        if (why_draws(why, depth) || why->count > 0)
            return why->error->status;
        if (!why->fits)
            break;
    }
    *why->error = refused;
    return refused.status;
}

/* Tries the tables without mistakes. */
static enum status start(struct why *why, struct trial_base *base)
{
    return trial_start(base, why->problem, &why->mine, why->arena, why->error) ? why->error->status
                                                                               : try_right(why, base);
}

/* Of a dump of ggml, takes the order of the columns of query and key with which more numbers are right. */
static enum status try_paired(struct why *why, struct trial_base *base)
{
    const size_t agree = why->right.agree;
    for (size_t i = 0; i < 2 && mine_is_dump(&why->mine) && why->right.end == TRIAL_DEPARTS; i++) {
        why->mine.in_pairs = i == 0;
        if (mine_place(&why->mine, why->problem, why->options, why->arena, why->error) || start(why, base) ||
            why->right.agree > agree)
            break;
    }
    return why->error->status;
}

enum status why_search(struct why *why, const struct options *options, const struct job_files *files,
                       const struct problem *problem, const bool *left_out, struct output *early,
                       struct progress *progress, struct arena *arena, struct error *error)
{
    struct trial_base *base = arena_allocate(arena, 1, sizeof *base, error);
    *why = (struct why){.options = options,
                        .files = files,
                        .problem = problem,
                        .budget = {.most = options->budget * 1e9},
                        .taken = STAGE_NAMES,
                        .bits_of_draws = NAN,
                        .left_out = left_out,
                        .early = early,
                        .progress = progress,
                        .arena = arena,
                        .error = error};
    const char *mistake = files->inputs != NULL ? input_file_setting(files->inputs, "mistake") : NULL;
    if (mistake != NULL)
        return error_usage(
            error, "%s: settings: mistake: the input makes the mistake %.80s on purpose; expected an input without one",
            files->inputs->source, mistake);
    why->is_drawn = (problem_projects(problem) && !problem->parameters.given) || problem->drop.share > 0;
    if (base == NULL || mine_read(&why->mine, options, arena, error) != STATUS_OK)
        return error->status;
    if (mine_place(&why->mine, problem, options, arena, error) != STATUS_OK)
        return error->status == STATUS_USAGE ? search_sizes(why) : error->status;
    /* Per thread, a guess and the guess from moved inputs. */
    const double needed = 2 * (double)problem->path.threads * plain_bytes(problem, problem->chosen.row_count);
    const double there = memory_there();
    if (needed > there)
        return error_system(error, 0,
                            "not enough memory: each thread holds all stages, %.1f GB in all, but only %.1f GB are "
                            "free; expected fewer --threads, tokens, heads or items",
                            needed / 1e9, there / 1e9);
    if (start(why, base) != STATUS_OK || try_paired(why, base) != STATUS_OK)
        return error->status;
    why->bits = why_bits(base, UINT64_MAX);
    return why->right.end == TRIAL_AGREES ? take_right(why, base) : search(why, base);
}

uint64_t why_departs(const struct why *why)
{
    uint64_t stages = 0;
    for (size_t i = 0; i < why->step_count; i++)
        if (why->steps[i].departs)
            stages |= STAGE_BIT(why->steps[i].stage);
    if (why->step_count == 0 && why->right.end == TRIAL_DEPARTS)
        for (size_t i = 0; i < why->mine.count; i++)
            stages |= STAGE_BIT(why->mine.tables[i].stage);
    return stages;
}
