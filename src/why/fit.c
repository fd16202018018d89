/* SPDX-License-Identifier: MIT */
#include "why/fit.h"

#include "why/noise.h"

#include <math.h>
#include <string.h>

/* --- how far they may be apart ----------------------------------------------------------------------------------- */

/* The terms of the longest sum behind somebody's tables: a projection, score, context or output, and in the backward
 * pass the queries and keys of all items. */
static double terms_of(const struct trial_base *base)
{
    const struct problem *problem = base->problem;
    size_t terms = memory_larger(problem->size.keys, memory_larger(problem->size.d_in, problem->size.d_head));
    if (problem->plan.has_out)
        terms = memory_larger(terms, problem->size.heads * problem->size.d_value);
    if (mine_has_backward(base->mine))
        terms = memory_larger(terms, problem->size.items * problem->size.heads *
                                         memory_larger(problem->size.queries, problem->size.keys));
    return (double)terms;
}

/* A kernel sums in float32 or wider, in any order: at worst term by term, with an error of a few times the root of
 * their number. Numbers of fewer bits are only rounded, not summed. */
double fit_most_noise(const struct trial_base *base)
{
    return dtype_is_coarse(base->mine->dtype) ? 8 : 16 + 4 * sqrt(terms_of(base));
}

/* The largest accepted rms error relative to the noise. In bfloat16 and float16 a right kernel stays below 0.5,
 * whatever it rounds (measured). Near misses of mistakes are larger; pairs have many, so their limit is lower. */
double fit_most_rms(const struct trial_base *base, const struct trial_guess *guess)
{
    static const double COARSE[] = {0.5, 0.45, 0.2};
    return dtype_is_coarse(base->mine->dtype) ? COARSE[guess->count < 2 ? guess->count : 2] : fit_most_noise(base) / 2;
}

/* --- how well it fits -------------------------------------------------------------------------------------------- */

/* Whether the result has this table, of that shape. */
static bool has_table(const struct trial_made *made, const struct mine_table *table, size_t at)
{
    return !mine_is_backward(table) || made->gradients[at] != NULL;
}

/* The computed value of number i of a table; infinite if the result lacks it. */
static double number_at(const struct trial_made *made, const struct mine_table *table, size_t at,
                        const struct trial *trial, size_t i)
{
    return has_table(made, table, at)
               ? trial_table_number(made, table, made->gradients[at], mine_index(table, trial->indices[at]), i)
               : INFINITY;
}

bool fit_make(const struct trial_base *base, const struct problem *problem, const struct trial_guess *guess,
              struct trial_made *made, struct arena *arena, struct error *error)
{
    const struct trial_base on = {.problem = problem, .mine = base->mine, .stages = base->stages, .arena = arena};
    struct recipe *recipe = arena_allocate(arena, 1, sizeof *recipe, error);
    *made = (struct trial_made){.plain.wants_normed = mine_table_of(base->mine, STAGE_NORMED) != NULL};
    return recipe != NULL &&
           recipe_create(recipe, problem, guess->choices, guess->count, false, arena, error) == STATUS_OK &&
           recipe->reason == NULL &&
           trial_make(&on, recipe, problem->chosen.rows, problem->chosen.row_count, made, arena, error) == STATUS_OK;
}

/* A noise run: moves the inputs by a share of each number, and maybe the terms of the softmax's gradient. */
struct run {
    double share;
    bool moves_terms;
    unsigned number;
};

/* Adds the squares of one run's moves to squares. */
static enum status add_run(const struct trial_base *base, const struct trial_guess *guess, const struct trial *trial,
                           const struct trial_made *made, struct run run, double *const squares[MINE_TABLES],
                           struct error *error)
{
    struct arena arena = {0};
    struct problem *problem = arena_allocate(&arena, 1, sizeof *problem, error);
    struct trial_made *moved = arena_allocate(&arena, 1, sizeof *moved, error);
    bool is_made = problem != NULL && moved != NULL &&
                   noise_move(problem, base->problem, run.share, run.number, &arena, error) == STATUS_OK;
    if (is_made && !run.moves_terms)
        problem->loss.noise = 0;
    is_made = is_made && fit_make(base, problem, guess, moved, &arena, error);
    for (size_t t = 0; t < base->mine->count && is_made && squares[t] != NULL; t++) {
        const struct mine_table *table = &base->mine->tables[t];
        for (size_t i = 0; i < table->count && has_table(moved, table, t) && has_table(made, table, t); i++) {
            const double by = number_at(moved, table, t, trial, i) - number_at(made, table, t, trial, i);
            squares[t][i] += isfinite(by) ? by * by : 0;
        }
    }
    arena_free(&arena);
    return error->status;
}

/* Turns the sum of squares of all runs into the noise of each number, plus half a unit of its own. Below the smallest
 * normal float32 some machines have only 0. */
static void take_noise(const struct trial_base *base, const struct trial *trial, const struct trial_made *made,
                       size_t at, double *squares, double *off)
{
    const unsigned runs = noise_runs(base->problem);
    static const double LEAST_NORMAL = 0x1p-126;
    const struct mine_table *table = &base->mine->tables[at];
    const enum dtype dtype = base->mine->dtype;
    const double least = fmax(LEAST_NORMAL, dtype_smallest(dtype) / 2);
    for (size_t i = 0; i < table->count; i++) {
        const double number = number_at(made, table, at, trial, i);
        const double own = isfinite(number) ? noise_unit(dtype) / 2 * number : 0;
        off[i] = trial_error(table->stage, table->numbers[i], number);
        off[i] = squares[i] == 0 && off[i] <= table->tolerance[i] ? -1 : off[i];
        squares[i] = sqrt(squares[i] / runs + own * own) + least;
    }
}

double fit_rms_of_table(const struct trial_base *base, const struct trial_made *made, size_t at,
                        const struct trial *trial)
{
    const struct mine_table *table = &base->mine->tables[at];
    double sum = 0;
    for (size_t i = 0; i < table->count; i++) {
        const double error = trial_error(table->stage, table->numbers[i], number_at(made, table, at, trial, i));
        const double beyond = fmax(0, error - table->printed[i]) / base->noise[at][i];
        sum += beyond * beyond;
    }
    return sqrt(sum / (double)table->count);
}

/* Judges whether the errors are those of rounding; counts the numbers whose own error is. */
static void judge(const struct trial_base *base, const struct trial_guess *guess, const struct trial_made *made,
                  struct trial *trial)
{
    const enum dtype dtype = base->mine->dtype;
    double sum = 0, rest = 0, off = 0;
    trial->agree = trial->of = trial->rows = trial->outside = 0;
    trial->largest = 0;
    trial->worst.table = base->mine->count;
    for (size_t t = 0; t < base->mine->count; t++) {
        const struct mine_table *table = &base->mine->tables[t];
        trial->rows += memory_larger(table->rows, 1);
        for (size_t i = 0; i < table->count; i++) {
            const double number = number_at(made, table, t, trial, i);
            const double error = trial_error(table->stage, table->numbers[i], number);
            const double beyond = fmax(0, error - table->printed[i]), noise = trial->noise[t][i];
            trial->of++;
            trial->largest = fmax(trial->largest, error);
            trial->outside += beyond > dtype_absolute_tolerance(dtype) + dtype_relative_tolerance(dtype) * fabs(number);
            sum += beyond / noise * (beyond / noise);
            if (beyond <= fit_most_noise(base) * noise) {
                trial->agree++;
                rest += beyond / noise * (beyond / noise);
            } else if (error > off) {
                off = error;
                trial->worst = (struct trial_worst){t, i, number};
            }
        }
    }
    trial->rms = sqrt(sum / (double)trial->of);
    trial->rest_is_right = sqrt(rest / (double)trial->agree) <= fit_most_rms(base, guess);
    trial->end = trial->agree == trial->of && trial->rms <= fit_most_rms(base, guess) ? TRIAL_AGREES : TRIAL_DEPARTS;
    trial->has_counts = true;
}

/* The job in float32, for numbers of fewer bits. */
static struct problem in_float32(const struct problem *problem)
{
    struct problem exact = *problem;
    if (dtype_is_coarse(problem->rounding.dtype)) {
        exact.rounding.softmax_dtype =
            problem->rounding.softmax_dtype == problem->rounding.dtype ? DTYPE_F32 : problem->rounding.softmax_dtype;
        exact.rounding.dtype = DTYPE_F32;
    }
    return exact;
}

/* Lists the computed numbers of all tables, in order (trial->of). */
static double *list_numbers(const struct trial_base *base, const struct trial_made *made, const struct trial *trial,
                            struct arena *arena, struct error *error)
{
    double *numbers = arena_allocate(arena, trial->of, sizeof *numbers, error);
    size_t count = 0;
    for (size_t t = 0; t < base->mine->count && numbers != NULL; t++)
        for (size_t i = 0; i < base->mine->tables[t].count; i++)
            numbers[count++] = number_at(made, &base->mine->tables[t], t, trial, i);
    return numbers;
}

/* For few bits: a kernel may keep intermediate numbers in float32, which attn does not in such a job; or the job is in
 * float32 and the kernel rounded throughout. Takes the better fit and its numbers. The verdict of attn diff stays that
 * of the job itself. */
static enum status judge_otherwise(const struct trial_base *base, const struct trial_guess *guess, struct trial *trial,
                                   double **numbers, struct arena *arena, struct error *error)
{
    struct arena scratch = {0};
    struct trial_made *other = arena_allocate(&scratch, 1, sizeof *other, error);
    const struct problem problem = in_float32(base->problem);
    struct trial_guess rounded = *guess;
    struct trial otherwise = *trial;
    if (!dtype_is_coarse(base->problem->rounding.dtype) && rounded.count < TRIAL_CHOICES)
        rounded.choices[rounded.count++].id = mistake_of_dtype(base->mine->dtype);
    if (other != NULL && fit_make(base, &problem, &rounded, other, &scratch, error)) {
        judge(base, guess, other, &otherwise);
        otherwise.largest = trial->largest;
        otherwise.outside = otherwise.rms == 0 ? 0 : memory_larger(otherwise.outside, trial->outside);
        if (otherwise.rms < trial->rms) {
            *trial = otherwise;
            *numbers = list_numbers(base, other, trial, arena, error);
        }
    }
    arena_free(&scratch);
    return error->status;
}

/* The numbers of the tables by a guess in float32; NULL if it cannot be made. */
static const double *make_exact(const struct trial_base *base, const struct trial_guess *guess,
                                const struct trial *trial, struct arena *arena, struct error *error)
{
    struct arena scratch = {0};
    struct trial_made *made = arena_allocate(&scratch, 1, sizeof *made, error);
    const struct problem problem = in_float32(base->problem);
    const double *numbers = made != NULL && fit_make(base, &problem, guess, made, &scratch, error)
                                ? list_numbers(base, made, trial, arena, error)
                                : NULL;
    arena_free(&scratch);
    return numbers;
}

/* Sums over the remaining errors and what one mistake of the guess changes, relative to the noise. */
struct remainder {
    double change, along, left; /* sums of squares, and of products */
};

static struct remainder take_remainder(const struct trial_base *base, const struct trial *trial, const double *numbers,
                                       const double *without)
{
    struct remainder sums = {0};
    size_t count = 0;
    for (size_t t = 0; t < base->mine->count; t++)
        for (size_t i = 0; i < base->mine->tables[t].count; i++, count++) {
            const double noise = trial->noise[t][i], change = (trial->exact[count] - without[count]) / noise;
            const double error = (base->mine->tables[t].numbers[i] - numbers[count]) / noise;
            if (!isfinite(change) || !isfinite(error))
                continue;
            sums.change += change * change;
            sums.along += change * error;
            sums.left += error * error;
        }
    return sums;
}

/* Whether the remaining errors follow what a mistake changes, forwards or back: then it is only nearly the mistake, as
 * a scale of 1.37 is nearly sqrt(2). Also measures how far the guess is from the right result. */
static enum status look_for_remainder(const struct trial_base *base, const struct trial_guess *guess,
                                      struct trial *trial, const double *numbers, struct arena *arena,
                                      struct error *error)
{
    static const double MOST_ERRORS = 4, LEAST_SHARE = 0.01;
    trial->exact = make_exact(base, guess, trial, arena, error);
    if (trial->exact == NULL || base->exact == NULL)
        return error->status;
    trial->apart = sqrt(take_remainder(base, trial, numbers, base->exact).change / (double)trial->of);
    for (size_t k = 0; k < guess->count; k++) {
        struct trial_guess others = *guess;
        memmove(others.choices + k, others.choices + k + 1, (guess->count - k - 1) * sizeof others.choices[0]);
        others.count--;
        const double *without = others.count == 0 ? base->exact : make_exact(base, &others, trial, arena, error);
        if (error->status != STATUS_OK)
            return error->status;
        if (without == NULL) /* the others need it */
            continue;
        const struct remainder sums = take_remainder(base, trial, numbers, without);
        if (fabs(sums.along) > LEAST_SHARE * sums.change &&
            fabs(sums.along) > MOST_ERRORS * sqrt(sums.left / (double)trial->of * sums.change))
            trial->end = TRIAL_DEPARTS;
    }
    return STATUS_OK;
}

/* Zeros, one for each number of each table. */
static bool make_squares(const struct trial_base *base, double *squares[MINE_TABLES], struct arena *arena,
                         struct error *error)
{
    for (size_t t = 0; t < base->mine->count; t++) {
        const size_t count = base->mine->tables[t].count;
        squares[t] = arena_allocate(arena, count, sizeof *squares[t], error);
        if (squares[t] == NULL)
            return false;
        memset(squares[t], 0, count * sizeof *squares[t]);
    }
    return true;
}

/* Whether other inputs would give other numbers. */
static enum status look_for_moves(const struct trial_base *base, const struct trial_guess *guess,
                                  const struct trial_made *made, struct trial *trial, struct arena *arena,
                                  struct error *error)
{
    static const struct run FAR = {.share = 0.5};
    double *squares[MINE_TABLES] = {NULL};
    if (!make_squares(base, squares, arena, error) || add_run(base, guess, trial, made, FAR, squares, error))
        return error->status;
    for (size_t t = 0; t < base->mine->count; t++)
        for (size_t i = 0; i < base->mine->tables[t].count && squares[t] != NULL; i++)
            trial->moves = trial->moves || sqrt(squares[t][i]) > fit_most_noise(base) * trial->noise[t][i];
    return STATUS_OK;
}

enum status fit_weigh(const struct trial_base *base, const struct trial_guess *guess, const struct trial_made *made,
                      struct trial *trial, struct arena *arena, struct error *error)
{
    struct run run = {noise_unit(base->mine->dtype), true, 0};
    double *squares[MINE_TABLES] = {NULL}, *off[MINE_TABLES] = {NULL};
    const unsigned runs = noise_runs(base->problem);
    trial->work += (runs + (dtype_is_coarse(base->mine->dtype) ? 3 : 0)) * trial_work(base);
    if (!make_squares(base, squares, arena, error) || !make_squares(base, off, arena, error))
        return error->status;
    for (; run.number < runs; run.number++)
        if (add_run(base, guess, trial, made, run, squares, error) != STATUS_OK)
            return error->status;
    for (size_t t = 0; t < base->mine->count; t++) {
        take_noise(base, trial, made, t, squares[t], off[t]);
        trial->noise[t] = squares[t];
        trial->off[t] = off[t];
    }
    judge(base, guess, made, trial);
    if (dtype_is_coarse(base->mine->dtype)) {
        double *numbers = list_numbers(base, made, trial, arena, error);
        if (numbers == NULL || judge_otherwise(base, guess, trial, &numbers, arena, error) ||
            look_for_remainder(base, guess, trial, numbers, arena, error))
            return error->status;
    }
    if (trial->end != TRIAL_AGREES)
        trial->shown = NULL;
    return trial->end == TRIAL_AGREES && guess->count == 0 ? look_for_moves(base, guess, made, trial, arena, error)
                                                           : STATUS_OK;
}

bool fit_beats(const struct trial *trial, const struct trial *right)
{
    /* NO_CHANCE is in nats, with one error per row, since one weight may cause all errors of a row. */
    static const double LEAST_RMS = 0.05, NO_CHANCE = 12, VISIBLE = 0.02;
    const double apart = trial->rms == 0 ? VISIBLE : right->rms / 2;
    if (!right->has_counts) /* the tables match no stage of the job itself */
        return true;
    if (right->end != TRIAL_AGREES)
        return 2 * trial->rms <= right->rms;
    return 2 * trial->rms <= right->rms && trial->apart >= apart &&
           (double)trial->rows * log(right->rms / fmax(trial->rms, LEAST_RMS)) >= NO_CHANCE;
}
