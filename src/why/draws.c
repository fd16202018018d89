/* SPDX-License-Identifier: MIT */
/* Other settings of draws: seeds, skips, the way and order of drawing parameters, and their columns. */
#include "why/why.h"

#include "base/threads.h"
#include "build/problem_create.h"
#include "why/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_SKIP = 1000, LAST_SEED = 9999, MOST_SIZES = 4, MOST_NEAR = 384, CHUNK = 128, ORDERS = 6 };
enum { MOST_WAYS = INIT_COUNT + 2 };

/* Settings that may differ from the user's. */
struct variation {
    uint64_t seed, skip, d_out, heads, dropout_seed;
    bool stacked, bias, seeds_dropout;
    enum init init;
    enum torch_random_build rng;
    size_t order; /* 0: right; else a form of draw-order, from 1 */
};

/* The job of a variation. */
struct variation_job {
    struct trial_guess names; /* of slot draw: the differences */
    struct options options;
    struct problem problem;
    struct mine mine;
    struct trial_base base;
};

/* --- the settings of a variation --------------------------------------------------------------------------------- */

/* A setting from the command line or the file; `otherwise` if it is not recorded. */
static uint64_t setting_of(const struct problem *problem, const char *setting, uint64_t otherwise)
{
    for (size_t i = 0; i < problem->record.setting_count; i++)
        if (strcmp(problem->record.settings[i].name, setting) == 0)
            return strtoull(problem->record.settings[i].text, NULL, 10);
    return otherwise;
}

/* The user's settings. */
static struct variation start_from(const struct why *why)
{
    const struct options *options = why->options;
    const struct parameters_plan *plan = &why->problem->plan;
    return (struct variation){.seed = setting_of(why->problem, "seed", options->seed),
                              .skip = setting_of(why->problem, "skip", options->skip),
                              .d_out = plan->d_out,
                              .heads = why->problem->size.heads,
                              .stacked = plan->stacked,
                              .bias = plan->qkv_bias,
                              .init = plan->init,
                              .rng = why->problem->drop.generator.build};
}

/* Adds a differing setting, by its option and its name of slot draw. */
static void say(struct variation_job *job, enum option_id option, enum mistake id, double form)
{
    job->options.origin[option] = ORIGIN_COMMAND_LINE;
    job->names.choices[job->names.count++] = (struct mistake_choice){id, form};
}

/* Sets a number that differs from the asked one. */
static void set(struct variation_job *job, uint64_t *number, uint64_t asked, uint64_t other, enum option_id option,
                enum mistake id)
{
    if (other == asked)
        return;
    *number = other;
    say(job, option, id, (double)other);
}

/* Adds a mistake, for settings without an option. */
static void add_mistake(struct variation_job *job, enum mistake id, double form)
{
    job->options.mistakes[job->options.mistake_count++] = (struct mistake_choice){id, form};
    job->names.choices[job->names.count++] = (struct mistake_choice){id, form};
}

/* Sets the command line of a variation, and its differences. */
static void apply(const struct why *why, const struct variation *variation, struct variation_job *job)
{
    static const enum mistake INITS_NAMED[] = {MISTAKE_DRAW_LINEAR, MISTAKE_DRAW_RAND, MISTAKE_DRAW_RANDN};
    const struct variation asked = start_from(why);
    job->options = *why->options;
    job->names.count = 0;
    if (variation->init != asked.init) {
        job->options.init = variation->init;
        if (variation->init < INIT_RAND_CENTRED)
            say(job, OPTION_INIT, INITS_NAMED[variation->init], 0);
        else
            say(job, OPTION_INIT, MISTAKE_DRAW_INIT, variation->init - INIT_RAND_CENTRED);
    }
    if (variation->stacked != asked.stacked) {
        job->options.stacked = variation->stacked;
        if (variation->stacked)
            say(job, OPTION_STACKED, MISTAKE_DRAW_STACKED, 0);
        else if (why->options->origin[OPTION_STACKED] == ORIGIN_COMMAND_LINE)
            say(job, OPTION_STACKED, MISTAKE_DRAW_SPLIT, 0);
        else /* the file says that heads are stacked; no option reverses that */
            add_mistake(job, MISTAKE_DRAW_SPLIT, 0);
    }
    set(job, &job->options.d_out, asked.d_out, variation->d_out, OPTION_D_OUT, MISTAKE_DRAW_D_OUT);
    set(job, &job->options.heads, asked.heads, variation->heads, OPTION_HEADS, MISTAKE_DRAW_HEADS);
    if (variation->bias && !asked.bias) {
        job->options.qkv_bias = true;
        say(job, OPTION_QKV_BIAS, MISTAKE_DRAW_BIAS, 0);
    }
    if (!variation->bias && asked.bias) {
        if (variation->init != INIT_LINEAR) /* draws none, whatever the options say */
            job->options.qkv_bias = false;
        else
            add_mistake(job, MISTAKE_DRAW_BIAS_MISSING, 0);
    }
    if (variation->order > 0)
        add_mistake(job, MISTAKE_DRAW_ORDER, (double)(variation->order - 1));
    set(job, &job->options.seed, asked.seed, variation->seed, OPTION_SEED, MISTAKE_DRAW_SEED);
    if (variation->seeds_dropout) {
        job->options.dropout_seed = variation->dropout_seed;
        say(job, OPTION_DROPOUT_SEED, MISTAKE_DRAW_SEED, (double)variation->dropout_seed);
    }
    set(job, &job->options.skip, asked.skip, variation->skip, OPTION_SKIP, MISTAKE_DRAW_SKIP);
    if (variation->rng != asked.rng) {
        job->options.rng = variation->rng;
        say(job, OPTION_RNG, MISTAKE_DRAW_MKL, 0);
    }
}

/* --- one variation ----------------------------------------------------------------------------------------------- */

/* Makes the problem of a variation and matches the tables; false if there is none, or they match no stage. */
static bool make(const struct why *why, const struct variation *variation, struct variation_job *job,
                 struct arena *arena, struct error *error)
{
    apply(why, variation, job);
    job->mine = why->mine;
    if (problem_create(&job->problem, &job->options, why->files, arena, error) != STATUS_OK)
        return false;
    const bool same = why->mine.count > 0 && job->problem.plan.d_out == why->problem->plan.d_out &&
                      job->problem.size.heads == why->problem->size.heads &&
                      job->problem.plan.stacked == why->problem->plan.stacked;
    return same || mine_place(&job->mine, &job->problem, why->options, arena, error) == STATUS_OK;
}

struct batch {
    struct why *why;
    const struct variation *variations;
    double loose;                      /* factor of the tolerance; 0: 1 */
    const struct why_guesses *guesses; /* mistakes to try with each; NULL: none */
    bool fits[CHUNK];                  /* the tables match its stages */
    struct error errors[CHUNK];        /* of the system */
    bool agrees[CHUNK];
    size_t guess[CHUNK]; /* the guess that agrees, */
    size_t made[CHUNK];  /* of so many that can be made */
};

/* Multiplies the tables' tolerance. */
static void loosen(struct mine *mine, double times, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < mine->count; i++) {
        const struct mine_table *table = &mine->tables[i];
        double *tolerance = arena_allocate(arena, table->count, sizeof *tolerance, error);
        for (size_t k = 0; k < table->count && tolerance != NULL; k++)
            tolerance[k] = table->tolerance[k] * times;
        if (tolerance != NULL)
            mine->tables[i].tolerance = tolerance;
    }
}

static void run_variation(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct batch *batch = context;
    struct arena arena = {0};
    struct error error = {0};
    struct variation_job job = {.names = {.count = 0}};
    batch->agrees[task] = false;
    batch->made[task] = 0;
    batch->fits[task] = make(batch->why, &batch->variations[task], &job, &arena, &error);
    if (batch->fits[task] && batch->loose > 0)
        loosen(&job.mine, batch->loose, &arena, &error);
    if (batch->fits[task] && trial_start_bare(&job.base, &job.problem, &job.mine, &arena, &error) == STATUS_OK)
        for (size_t i = 0; i < (batch->guesses != NULL ? batch->guesses->count : 1) && !batch->agrees[task]; i++) {
            const struct trial_guess *guess = batch->guesses != NULL ? &batch->guesses->items[i] : TRIAL_NONE;
            struct arena scratch = {0};
            struct trial trial;
            batch->agrees[task] =
                (batch->loose > 0 ? trial_run(&job.base, guess, false, &trial, &scratch, &error)
                                  : trial_confirm(&job.base, guess, &trial, &scratch, &error)) == STATUS_OK &&
                trial.end == TRIAL_AGREES;
            batch->guess[task] = i;
            batch->made[task] += trial.end != TRIAL_REFUSED;
            arena_free(&scratch);
        }
    batch->errors[task] = error;
    arena_free(&arena);
}

/* Adds a finding as an explanation, in lasting memory. */
static enum status take_found(struct why *why, const struct variation *variation, const struct trial_guess *with)
{
    struct variation_job *job = arena_allocate(why->arena, 1, sizeof *job, why->error);
    struct arena scratch = {0};
    struct trial trial;
    if (job == NULL || !make(why, variation, job, why->arena, why->error) ||
        trial_start(&job->base, &job->problem, &job->mine, why->arena, why->error) ||
        trial_run(&job->base, with, true, &trial, &scratch, why->error))
        return why->error->status;
    struct trial_guess guess = *with;
    for (size_t i = 0; i < job->names.count && guess.count < TRIAL_CHOICES; i++)
        guess.choices[guess.count++] = job->names.choices[i];
    why_take(why, &job->base, &job->options, &guess, &trial);
    arena_free(&scratch);
    return why->error->status;
}

/* Takes and counts the results of a chunk: explanations, or an error of the system. */
static enum status take_chunk(struct why *why, const struct batch *batch, size_t count)
{
    for (size_t i = 0; i < count && why->error->status == STATUS_OK; i++) {
        why->fits = why->fits || batch->fits[i];
        *(batch->guesses != NULL ? &why->budget.both : &why->budget.settings) +=
            batch->guesses != NULL ? batch->made[i] : 1;
        if (batch->errors[i].status == STATUS_SYSTEM)
            *why->error = batch->errors[i];
        else if (batch->agrees[i])
            take_found(why, &batch->variations[i],
                       batch->guesses != NULL ? &batch->guesses->items[batch->guess[i]] : TRIAL_NONE);
    }
    return why->error->status;
}

/* Tries variations in order, until some agree or the budget ends. */
static enum status try_all(struct why *why, const struct variation *variations, size_t count,
                           const struct why_guesses *guesses)
{
    const struct trial_base base = {.problem = why->problem};
    static const double JOB = 2e4; /* what making a small one takes */
    const double work = (JOB + trial_work(&base)) * (guesses != NULL ? (double)guesses->count : 1);
    const size_t before = why->count;
    struct batch *batch = arena_allocate(why->arena, 1, sizeof *batch, why->error);
    size_t tried = 0;
    if (batch == NULL)
        return why->error->status;
    progress_begin(why->progress, guesses != NULL ? "settings and a mistake" : "settings", (double)count);
    while (tried < count && why->count == before && why->budget.done < why->budget.most) {
        const size_t now = memory_smaller(CHUNK, count - tried);
        *batch = (struct batch){.why = why, .variations = variations + tried, .guesses = guesses};
        threads_run(why->problem->path.threads, now, run_variation, batch);
        if (take_chunk(why, batch, now) != STATUS_OK)
            return why->error->status;
        tried += now;
        why->budget.done += work * (double)now;
        progress_update(why->progress, (double)tried);
    }
    if (why->count == 0)
        why->budget.left += work * (double)(count - tried);
    progress_end(why->progress);
    return STATUS_OK;
}

/* --- information about draws in a table -------------------------------------------------------------------------- */

/* The range of each number of the main stage over some unused seeds; of rows after the first, of the difference from
 * the row before, since rows of weights that hardly differ give rows that tell little more than one. */
struct spread {
    double *lowest, *highest;
    size_t count, columns, rows;
};

static enum status widen(struct why *why, uint64_t seed, struct spread *spread)
{
    struct variation variation = start_from(why);
    struct arena arena = {0};
    struct error error = {0};
    struct variation_job job;
    variation.seed = variation.dropout_seed = seed;
    variation.seeds_dropout = why->problem->drop.share > 0;
    if (make(why, &variation, &job, &arena, &error) &&
        trial_start(&job.base, &job.problem, &job.mine, &arena, &error) == STATUS_OK)
        for (size_t i = 0; i < spread->count; i++) {
            const bool first = i / spread->columns % spread->rows == 0;
            const double number = job.base.shown[i] - (first ? 0 : job.base.shown[i - spread->columns]);
            spread->lowest[i] = fmin(spread->lowest[i], number);
            spread->highest[i] = fmax(spread->highest[i], number);
        }
    arena_free(&arena);
    if (error.status == STATUS_SYSTEM)
        *why->error = error;
    return why->error->status;
}

/* Bits of information about seeds in the last table: how far its numbers vary with the seed. 0 if out of memory. */
static double bits_of_draws(struct why *why)
{
    enum { SEEDS = 12 };
    const struct trial_base base = {.problem = why->problem, .mine = &why->mine};
    const struct mine_table *table = &why->mine.tables[why->mine.count - 1];
    struct spread spread = {.count = trial_numbers(&base),
                            .columns = table->layout.whole[MINE_COLUMN],
                            .rows = table->layout.whole[MINE_ROW]};
    double tolerance = 0, bits = 0;
    spread.lowest = arena_allocate(why->arena, spread.count, sizeof *spread.lowest, why->error);
    spread.highest = arena_allocate(why->arena, spread.count, sizeof *spread.highest, why->error);
    if (spread.lowest == NULL || spread.highest == NULL)
        return 0;
    for (size_t i = 0; i < spread.count; i++) {
        spread.lowest[i] = INFINITY;
        spread.highest[i] = -INFINITY;
    }
    for (unsigned seed = 0; seed < SEEDS; seed++)
        if (widen(why, UINT64_C(4026531840) + seed, &spread) != STATUS_OK)
            return 0;
    for (size_t i = 0; i < table->count; i++)
        tolerance += table->tolerance[i] / (double)table->count;
    for (size_t i = 0; i < spread.count; i++) {
        const double unit = i / spread.columns % spread.rows == 0 ? 2 * tolerance : 4 * tolerance;
        if (isfinite(spread.highest[i] - spread.lowest[i]))
            bits += fmax(0, log2((spread.highest[i] - spread.lowest[i]) / unit));
    }
    return bits / (double)spread.count * (double)table->count - log2((double)mine_indices(table));
}

bool why_can_tell(struct why *why, enum why_kind kind)
{
    const bool draws = kind != WHY_SINGLES && kind != WHY_PAIRS;
    double bits = why->bits;
    if (draws && why->mine.count > 0) {
        if (isnan(why->bits_of_draws))
            why->bits_of_draws = bits_of_draws(why);
        bits = fmin(bits, why->bits_of_draws);
    }
    if (bits >= why_bits_needed(kind))
        return true;
    why->untold |= 1U << kind;
    return false;
}

/* --- which variations -------------------------------------------------------------------------------------------- */

/* Lists columns of the projections that can give the last table its number of columns. */
static size_t list_sizes(const struct why *why, uint64_t sizes[MOST_SIZES])
{
    const struct mine *mine = &why->mine;
    const struct tensor *tensor =
        mine->count > 0 ? &mine->tables[mine->count - 1].named->tensor : &mine->file.tensors[0].tensor;
    const uint64_t columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 0, heads = why->problem->size.heads;
    const uint64_t wanted[] = {why->problem->plan.d_out, columns, columns % heads == 0 ? columns / heads : 0,
                               columns * heads};
    size_t count = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        bool again = wanted[i] == 0 || wanted[i] > 1 << 20;
        for (size_t k = 0; k < count; k++)
            again = again || sizes[k] == wanted[i];
        if (!again)
            sizes[count++] = wanted[i];
    }
    return count;
}

static bool may_draw_parameters(const struct why *why)
{
    return problem_projects(why->problem) && !why->problem->parameters.given;
}

/* Ways to draw a matrix: as asked, then the others, those of nn.Linear first. */
static size_t list_ways(const struct variation *asked, struct variation ways[MOST_WAYS])
{
    size_t count = 1;
    ways[0] = *asked;
    for (int bias = 1; bias >= 0; bias--)
        for (enum init init = INIT_LINEAR; init < (bias ? INIT_LINEAR + 1 : INIT_COUNT); init++)
            if (init != asked->init || bias != asked->bias) {
                ways[count] = *asked;
                ways[count].init = init;
                ways[count++].bias = bias;
            }
    return count;
}

static bool is_rare(enum init init, enum init asked)
{
    return init >= INIT_RAND_CENTRED && init != asked;
}

/* Whether modules before this way to draw are worth a search: of the rare ways only before nn.MultiheadAttention. */
static bool may_follow(const struct variation *way, const struct variation *asked, const struct why *why)
{
    return !is_rare(way->init, asked->init) || (way->init == INIT_MHA && why->problem->plan.has_out);
}

/* Lists each way to draw the parameters, with each number of columns, the nearest first; then other heads. Rare ways
 * only where the other settings are as asked, with no mistake and no module before. */
static size_t list_near(const struct why *why, enum why_depth depth, struct variation near[MOST_NEAR])
{
    const bool orders = depth == WHY_NEAR || depth == WHY_BOTH;
    const struct variation asked = start_from(why);
    uint64_t sizes[MOST_SIZES] = {0};
    struct variation ways[MOST_WAYS];
    const size_t size_count = list_sizes(why, sizes), way_count = list_ways(&asked, ways),
                 order_count = orders ? ORDERS + (size_t)why->problem->plan.has_out : 1; /* the last: out_proj first */
    const bool splits =
        MECHANISMS[why->problem->mechanism].splits && why->problem->size.heads == why->problem->size.kv_heads;
    size_t count = 0;
    for (size_t size = 0; size < size_count; size++)
        for (int other = 0; other <= (int)splits; other++)
            for (size_t way = 0; way < way_count; way++)
                for (size_t order = 0; order < order_count && count < MOST_NEAR; order++) {
                    const bool rare = is_rare(ways[way].init, asked.init), far = ways[way].init <= INIT_MHA;
                    if (rare && (size > 0 || other || order > 0 || depth > WHY_FAR || (depth == WHY_FAR && !far)))
                        continue;
                    struct variation *added = &near[count++];
                    *added = ways[way];
                    added->d_out = sizes[size];
                    added->stacked = other ? !asked.stacked : asked.stacked;
                    added->order = order;
                }
    for (uint64_t heads = 1; splits && heads <= 64; heads++)
        for (size_t way = 0; way < 2 && heads != asked.heads && asked.d_out % heads == 0 && count < MOST_NEAR; way++) {
            near[count] = ways[way];
            near[count++].heads = heads;
        }
    return count;
}

/* Popular seeds, the most common first; then larger ones: round numbers, runs of digits. */
static const uint64_t USUAL[] = {
    123,      42,        0,         1,          789,        1337,       2024,       3407,      7,       10,
    100,      1234,      2,         2025,       2026,       2023,       3,          13,        21,      37,
    99,       101,       111,       321,        456,        555,        666,        777,       999,     1000,
    1111,     2020,      2021,      2022,       2027,       4242,       9999,       4,         5,       6,
    8,        9,         11,        12,         12345,      54321,      31337,      65535,     65536,   99999,
    100000,   112358,    123123,    123456,     271828,     314159,     424242,     654321,    1000000, 1234567,
    12345678, 123456789, 987654321, 1234567890, 2147483647, 3141592653, 3735928559, 4294967295};
enum { USUAL_SEEDS = sizeof USUAL / sizeof USUAL[0], MOST_USUAL = 12 /* after which far skips are rare */ };

/* Tries dropout with each build of PyTorch, drawn on after the parameters or with a popular seed right before it; other
 * popular seeds of the parameters with the most popular of these. Without dropout, as if it were on, and other seeds of
 * the parameters only without a seed before it. */
static enum status try_dropout(struct why *why, const struct variation *ways, size_t way_count)
{
    enum { FEW = 5, MOST = 2 * 2 * (USUAL_SEEDS + 1) * (FEW + 2 + 1) };
    static const double SHARE = 0.02; /* of the budget */
    struct why_guesses singles, on = {NULL, 0, NULL};
    struct variation *list = arena_allocate(why->arena, MOST, sizeof *list, why->error);
    const struct variation asked = start_from(why);
    const size_t few = why->problem->drop.share > 0 ? FEW + 1 : 0;
    size_t count = 0;
    if (list == NULL || why_singles(why, why->problem, true, &singles) != STATUS_OK)
        return why->error->status;
    for (size_t i = 0; i < singles.count; i++)
        if (singles.items[i].choices[0].id == MISTAKE_DROPOUT_ON)
            on = (struct why_guesses){on.items == NULL ? &singles.items[i] : on.items, on.count + 1, NULL};
    if (why->problem->drop.share == 0 && on.count == 0)
        return STATUS_OK;
    for (size_t seed = 0; seed <= (may_draw_parameters(why) ? USUAL_SEEDS : 0); seed++)
        for (size_t way = 0; way < way_count; way++)
            for (int mkl = 0; mkl < 2; mkl++)
                for (size_t i = 0; i <= (seed == 0 ? USUAL_SEEDS : few); i++) {
                    struct variation *added = &list[count++];
                    *added = ways[way];
                    added->seed = seed == 0 ? asked.seed : USUAL[seed - 1];
                    added->rng = mkl ? TORCH_RANDOM_MKL : asked.rng;
                    added->seeds_dropout = i > 0;
                    added->dropout_seed = i == 0 ? 0 : i == FEW + 1 && seed > 0 ? added->seed : USUAL[i - 1];
                    count -= seed > 0 && seed <= FEW && i == FEW + 1; /* there already */
                }
    const struct trial_base base = {.problem = why->problem};
    const double most = SHARE * why->budget.most / trial_work(&base) / (double)memory_larger(on.count, 1);
    return try_all(why, list, most < (double)count ? (size_t)most : count, why->problem->drop.share > 0 ? NULL : &on);
}

/* Lists 0 to 9999, popular larger seeds, and the dates of some years. */
static size_t list_seeds(uint64_t *seeds)
{
    size_t count = 0;
    for (uint64_t seed = 0; seed <= LAST_SEED; seed++)
        seeds[count++] = seed;
    for (size_t i = 0; i < USUAL_SEEDS; i++)
        if (USUAL[i] > LAST_SEED)
            seeds[count++] = USUAL[i];
    for (uint64_t year = 2018; year <= 2027; year++)
        for (uint64_t month = 1; month <= 12; month++)
            for (uint64_t day = 1; day <= 31; day++)
                seeds[count++] = (year * 100 + month) * 100 + day;
    return count;
}

enum { MOST_SEEDS = LAST_SEED + 1 + 64 + 10 * 12 * 31 };

/* Whether none of `count` other seeds, drawn as `found` is, comes near: then `found` does not fit by chance. */
static enum status is_alone(struct why *why, const struct variation *found, const struct trial_guess *with,
                            const uint64_t *seeds, size_t count, bool *alone)
{
    enum { SOME = 4096 };
    static const double LOOSE = 3;
    struct trial_guess guess = *with;
    const struct why_guesses guesses = {&guess, 1, NULL};
    struct batch *batch = arena_allocate(why->arena, 1, sizeof *batch, why->error);
    struct variation *list = arena_allocate(why->arena, CHUNK, sizeof *list, why->error);
    *alone = true;
    for (size_t tried = 0; tried < memory_smaller(count, SOME) && batch != NULL && list != NULL && *alone;
         tried += CHUNK) {
        const size_t now = memory_smaller(CHUNK, count - tried);
        for (size_t i = 0; i < now; i++) {
            list[i] = *found;
            list[i].seed = seeds[tried + i];
            list[i].skip = 0; /* chance is the same after any, and none is the quickest */
        }
        *batch = (struct batch){.why = why, .variations = list, .loose = LOOSE, .guesses = &guesses};
        threads_run(why->problem->path.threads, now, run_variation, batch);
        for (size_t i = 0; i < now; i++)
            *alone = *alone && (!batch->agrees[i] || list[i].seed == found->seed);
    }
    return why->error->status;
}

/* The mistakes of an explanation, without its settings. */
static struct trial_guess mistakes_of(const struct trial_guess *guess)
{
    struct trial_guess mistakes = {.count = 0};
    for (size_t i = 0; i < guess->count; i++)
        if (MISTAKES[guess->choices[i].id].slot != MISTAKE_SLOT_DRAW)
            mistakes.choices[mistakes.count++] = guess->choices[i];
    return mistakes;
}

/* Removes findings if other seeds come as near. */
static enum status keep_if_alone(struct why *why, const struct variation *near, const uint64_t *seeds, size_t count)
{
    enum { PLENTY = 400 }; /* more bits than chance can fit */
    bool alone = true;
    if (why->count == 0 || why->mine.count == 0 || why->bits_of_draws > (double)PLENTY)
        return STATUS_OK;
    struct variation found = *near;
    const struct trial_guess mistakes = mistakes_of(&why->explanations[0].guess);
    const struct options *options = why->explanations[0].options;
    found.seed = options->origin[OPTION_SEED] == ORIGIN_COMMAND_LINE ? options->seed : near->seed;
    found.skip = options->origin[OPTION_SKIP] == ORIGIN_COMMAND_LINE ? options->skip : near->skip;
    if (is_alone(why, &found, &mistakes, seeds, count, &alone) == STATUS_OK && !alone) {
        why->count = 0;
        why->untold |= 1U << WHY_SETTINGS;
    }
    return why->error->status;
}

/* --- many seeds and skips, by a screen --------------------------------------------------------------------------- */

enum { MOST_HITS = LAST_SKIP + 1 };

/* Numbers of many streams, which the ways to draw uniforms share, or those of one size normals: `span` after each skip
 * of a list, which are far apart in a stream, or else from the first skip on. */
struct drawn {
    struct variation way; /* of normals */
    struct drawn *next;
    float *numbers; /* (seeds, skips to `last` or 1, span); NULL: not yet, or too many */
    size_t span;
    uint64_t last;
    bool there;
    struct arena *arena;
};

/* Seeds, each with the skips from first to last, or those of a list. */
struct streams {
    const uint64_t *seeds;
    size_t seed_count;
    uint64_t first, last;
    const uint64_t *skips; /* ascending, those at first to last of it; NULL: no list */
    struct drawn *drawn;   /* or NULL */
};

struct scan {
    const struct screen *screen;
    struct streams streams; /* a chunk of seeds, */
    size_t from;            /* the first of them among all */
    enum torch_random_build rng;
    size_t hit_count[CHUNK];
    uint64_t (*hits)[MOST_HITS]; /* (CHUNK) skips that pass */
    struct error errors[CHUNK];
};

/* Writes the numbers after a skip of the list; those that `before` has of the skip before it are moved, not drawn
 * again. */
static void draw_after(struct torch_random *generator, const struct streams *streams, uint64_t at, const float *before,
                       float *u, size_t count)
{
    const uint64_t drawn = at > streams->first ? streams->skips[at - 1] + count : 0, skip = streams->skips[at];
    const size_t kept = skip < drawn ? (size_t)(drawn - skip) : 0;
    memmove(u, before + (count - kept), kept * sizeof *u);
    torch_random_skip(generator, skip > drawn ? skip - drawn : 0);
    torch_random_uniform(generator, 0, 1, u + kept, count - kept);
}

static void scan_seed(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct scan *scan = context;
    const struct streams *streams = &scan->streams;
    const struct screen *screen = scan->screen;
    const struct drawn *drawn = streams->drawn;
    const bool listed = streams->skips != NULL, together = !listed && !screen->is_normal;
    const uint64_t step = together ? SCREEN_LANES : 1;
    const size_t need = screen->numbers + SCREEN_LANES - 1 + (together ? (size_t)(streams->last - streams->first) : 0);
    const bool keeps = drawn != NULL && drawn->numbers != NULL && need <= drawn->span && streams->last <= drawn->last,
               there = keeps && drawn->there;
    const size_t span = keeps ? drawn->span : need,
                 rows = listed && keeps ? (size_t)(drawn->last - streams->first) + 1 : 1;
    struct arena arena = {0};
    struct torch_random generator;
    float *u = keeps ? drawn->numbers + (scan->from + task) * rows * span
                     : arena_allocate(&arena, span, sizeof *u, &scan->errors[task]);
    double *scratch = arena_allocate(&arena, screen->scratch, sizeof *scratch, &scan->errors[task]);
    size_t *count = &scan->hit_count[task];
    if (!there)
        torch_random_seed(&generator, scan->rng, streams->seeds[task]);
    if (u != NULL && scratch != NULL && !listed && !there) {
        torch_random_skip(&generator, streams->first);
        if (together)
            torch_random_uniform(&generator, 0, 1, u, span);
    }
    for (uint64_t at = streams->first; at <= streams->last && u != NULL && scratch != NULL; at += step) {
        const uint64_t left = streams->last - at + 1;
        float *own = u + (together ? at - streams->first : keeps ? (at - streams->first) * span : 0);
        if (listed && !there)
            draw_after(&generator, streams, at, keeps && at > streams->first ? own - span : own, own, span);
        else if (!listed && !together && !there)
            screen_draw(screen, &generator, own);
        const uint64_t passes = screen_passes(screen, own, (size_t)(left < step ? left : step), scratch);
        for (unsigned lane = 0; lane < SCREEN_LANES && passes >> lane != 0 && *count < MOST_HITS; lane++)
            if (passes >> lane & 1)
                scan->hits[task][(*count)++] = listed ? streams->skips[at] : at + lane;
    }
    arena_free(&arena);
}

/* Tries the streams that pass the screen, drawn as `near` is, each also with the mistakes to guess. */
static enum status try_passing(struct why *why, const struct variation *near, const struct screen *screen,
                               const struct streams *streams, const struct why_guesses *guesses, struct arena *arena)
{
    static const double SMALL = 1e6; /* multiply-adds that are quicker without a thread */
    const bool there = streams->drawn != NULL && streams->drawn->there;
    const double each = (double)(streams->last - streams->first + 1);
    struct scan *scan = arena_allocate(arena, 1, sizeof *scan, why->error);
    uint64_t(*skips)[MOST_HITS] = arena_allocate(arena, CHUNK, sizeof *skips, why->error);
    const size_t before = why->count;
    for (size_t tried = 0; tried < streams->seed_count && scan != NULL && skips != NULL && why->count == before &&
                           why->budget.done < why->budget.most;
         tried += CHUNK) {
        const size_t now = memory_smaller(CHUNK, streams->seed_count - tried);
        const double all = each * (double)now;
        size_t hits = 0, count = 0;
        *scan = (struct scan){.screen = screen, .streams = *streams, .from = tried, .rng = near->rng, .hits = skips};
        scan->streams.seeds += tried;
        threads_run(all * screen_work(screen) < SMALL && there ? 1 : why->problem->path.threads, now, scan_seed, scan);
        for (size_t i = 0; i < now; i++)
            hits += scan->hit_count[i];
        struct variation *list = arena_allocate(arena, hits, sizeof *list, why->error);
        for (size_t i = 0; i < now && list != NULL; i++) {
            if (scan->errors[i].status != STATUS_OK)
                *why->error = scan->errors[i];
            for (size_t k = 0; k < scan->hit_count[i]; k++) {
                list[count] = *near;
                list[count].seed = scan->streams.seeds[i];
                list[count++].skip = scan->hits[i][k];
            }
        }
        why->budget.done += all * screen_work(screen);
        *(guesses != NULL ? &why->budget.both : &why->budget.settings) += (size_t)all - count;
        if (why->error->status != STATUS_OK || try_all(why, list, count, guesses) != STATUS_OK)
            return why->error->status;
    }
    return why->error->status;
}

/* Tries all of the streams where no screen can judge. */
static enum status try_each(struct why *why, const struct variation *near, const struct streams *streams,
                            const struct why_guesses *guesses)
{
    const size_t each = (size_t)(streams->last - streams->first) + 1, count = each * streams->seed_count;
    struct variation *list = arena_allocate(why->arena, count, sizeof *list, why->error);
    for (size_t i = 0; i < count && list != NULL; i++) {
        list[i] = *near;
        list[i].seed = streams->seeds[i / each];
        list[i].skip = streams->first + i % each;
    }
    return list == NULL ? why->error->status : try_all(why, list, count, guesses);
}

/* How many streams the tables can tell apart, each drawn in a few ways, perhaps with a mistake; with some bits more so
 * that no wrong one fits by chance. */
static double told(const struct why *why, const struct why_guesses *guesses)
{
    enum { WAYS = 4, MORE = 8, MISTAKES_EACH = 6 };
    const int more = WAYS + MORE + (guesses != NULL ? MISTAKES_EACH : 0);
    return exp2(fmin(why->bits, why->bits_of_draws) - more);
}

/* Makes room for the numbers of streams; of uniforms, for twice as many as this way to draw reads; not for too many. */
static void keep_drawn(const struct streams *streams, size_t numbers, struct error *error)
{
    enum { MOST = 1 << 24 };
    struct drawn *drawn = streams->drawn;
    const uint64_t more = streams->last - streams->first;
    const size_t times = INIT_ROWS[drawn->way.init].normal ? 1 : 2;
    drawn->last = streams->last;
    drawn->span = times * numbers + SCREEN_LANES + (streams->skips == NULL ? (size_t)more : 0);
    const double rows = (double)streams->seed_count * (streams->skips == NULL ? 1 : (double)(more + 1));
    drawn->numbers = rows * (double)drawn->span > (times == 1 ? MOST / 8 : MOST)
                         ? NULL
                         : arena_allocate(drawn->arena, (size_t)rows, drawn->span * sizeof(float), error);
}

/* Whether a way to draw is of the asked size and in the asked order. */
static bool is_of_size(const struct variation *way, const struct variation *asked)
{
    return way->d_out == asked->d_out && way->stacked == asked->stacked && way->heads == asked->heads &&
           way->order == asked->order;
}

/* Numbers that streams drawn so share with earlier searches; NULL if out of memory. */
static struct drawn *drawn_as(struct why *why, const struct variation *way)
{
    struct drawn *drawn = why->drawn;
    while (drawn != NULL && (INIT_ROWS[drawn->way.init].normal != INIT_ROWS[way->init].normal ||
                             (INIT_ROWS[way->init].normal && !is_of_size(&drawn->way, way))))
        drawn = drawn->next;
    if (drawn == NULL && (drawn = arena_allocate(why->arena, 1, sizeof *drawn, why->error)) != NULL) {
        *drawn = (struct drawn){.way = *way, .next = why->drawn, .arena = why->arena};
        why->drawn = drawn;
    }
    return drawn;
}

/* Tries streams drawn as `near` is; `work`: only if a screen rejects nearly all, and as many skips as these
 * multiply-adds allow; 0: all. */
static enum status try_streams(struct why *why, const struct variation *near, enum screen_kind kind,
                               struct streams streams, double work, const struct why_guesses *guesses)
{
    struct arena arena = {0};
    struct error error = {0};
    struct variation_job *job = arena_allocate(&arena, 1, sizeof *job, why->error);
    struct screen screen;
    if (job != NULL && make(why, near, job, &arena, &error)) {
        const bool judges = screen_create(&screen, &job->problem, &job->mine, kind, &arena, &error) &&
                            (work == 0 || !screen.is_normal || streams.skips == NULL);
        if (work > 0 && judges && screen.is_normal) /* these are drawn again for each skip */
            streams.drawn = NULL;
        const double most =
            judges ? fmin(work / screen_work(&screen), told(why, guesses)) / (double)streams.seed_count : 0;
        if (work > 0 && most < (double)(streams.last - streams.first)) {
            streams.last = streams.first + (uint64_t)most;
            why->untold |= most * (double)streams.seed_count < told(why, guesses) ? 0 : 1U << WHY_MODULES;
        }
        if (judges && (work == 0 || (screen.is_sharp && most >= 1))) {
            const bool draws = streams.drawn != NULL && !streams.drawn->there;
            if (draws)
                keep_drawn(&streams, screen.numbers, why->error);
            try_passing(why, near, &screen, &streams, guesses, &arena);
            if (draws) /* but a finding ends it, even one that is dropped then */
                streams.drawn->there = why->count == 0;
        }
        if (!judges && work == 0)
            try_each(why, near, &streams, guesses);
    }
    if (error.status == STATUS_SYSTEM)
        *why->error = error;
    arena_free(&arena);
    return why->error->status;
}

/* Tries seeds right before dropout. */
static enum status try_dropout_seeds(struct why *why, const struct why_guesses *guesses)
{
    struct variation *list = arena_allocate(why->arena, LAST_SEED + 1, sizeof *list, why->error);
    for (int mkl = 0; mkl < 2 && list != NULL && why->problem->drop.share > 0 && why->count == 0; mkl++) {
        for (uint64_t seed = 0; seed <= LAST_SEED; seed++) {
            list[seed] = start_from(why);
            list[seed].seeds_dropout = true;
            list[seed].dropout_seed = seed;
            list[seed].rng = mkl ? TORCH_RANDOM_MKL : list[seed].rng;
        }
        if (try_all(why, list, LAST_SEED + 1, guesses) != STATUS_OK)
            return why->error->status;
    }
    return list == NULL ? why->error->status : STATUS_OK;
}

/* Lists the guesses that can be made on the job of `near`, whatever it draws: [1] those that a screen of SCREEN_VALUES
 * can judge, and [0] the others. */
static enum status select_guesses(const struct why *why, const struct variation *near,
                                  const struct why_guesses *guesses, struct why_guesses selected[2],
                                  struct arena *arena)
{
    struct variation_job *job = arena_allocate(arena, 1, sizeof *job, why->error);
    struct recipe *recipe = arena_allocate(arena, 1, sizeof *recipe, why->error);
    for (int judged = 0; judged < 2; judged++)
        selected[judged].items = arena_allocate(arena, guesses->count, sizeof *guesses->items, why->error);
    if (why->error->status != STATUS_OK || !make(why, near, job, arena, why->error))
        return why->error->status;
    for (size_t i = 0; i < guesses->count; i++) {
        struct why_guesses *list = &selected[MISTAKES[guesses->items[i].choices[0].id].any_seed];
        if (recipe_create(recipe, &job->problem, guesses->items[i].choices, 1, false, arena, why->error) != STATUS_OK)
            return why->error->status;
        if (recipe->reason == NULL)
            list->items[list->count++] = guesses->items[i];
    }
    return STATUS_OK;
}

/* Tries popular seeds without a skip with mistakes, and the asked seed's skips as it is drawn by the user's settings,
 * where no screen can judge. */
static enum status try_unscreened(struct why *why, const struct variation *near, const struct why_guesses *guesses)
{
    const struct variation asked = start_from(why);
    const struct streams skips = {&near->seed, 1, 0, LAST_SKIP, NULL, NULL},
                         seeds = {USUAL, USUAL_SEEDS, near->skip, near->skip, NULL, NULL};
    if (try_each(why, near, &seeds, guesses) != STATUS_OK || why->count > 0 || !is_of_size(near, &asked) ||
        near->init != asked.init || near->bias != asked.bias)
        return why->error->status;
    return try_each(why, near, &skips, guesses);
}

/* Tries skips, then seeds, each with the given ways to draw; all of them with mistakes that a screen can judge. */
static enum status try_far(struct why *why, const struct variation *near, size_t near_count,
                           const struct why_guesses *guesses)
{
    uint64_t *seeds = arena_allocate(why->arena, MOST_SEEDS, sizeof *seeds, why->error);
    if (seeds == NULL)
        return why->error->status;
    const size_t count = list_seeds(seeds);
    const enum screen_kind kind = guesses != NULL ? SCREEN_VALUES : SCREEN_RIGHT;
    for (size_t i = 0; i < near_count; i++) {
        const struct streams ways[] = {{&near[i].seed, 1, 0, LAST_SKIP, NULL, NULL},
                                       {seeds, count, near[i].skip, near[i].skip, NULL, drawn_as(why, &near[i])}};
        struct why_guesses selected[2] = {{NULL, 0, NULL}, {NULL, 0, NULL}};
        struct arena arena = {0};
        if (guesses != NULL)
            select_guesses(why, &near[i], guesses, selected, &arena);
        for (size_t k = 0; k < 2 && why->error->status == STATUS_OK && why->count == 0; k++)
            if (try_streams(why, &near[i], kind, ways[k], 0, guesses != NULL ? &selected[1] : NULL) == STATUS_OK)
                keep_if_alone(why, &near[i], seeds, count);
        if (why->error->status == STATUS_OK && why->count == 0 && selected[0].count > 0)
            try_unscreened(why, &near[i], &selected[0]);
        arena_free(&arena);
    }
    return why->error->status;
}

enum { MOST_MODULES = 8192, FAR_SKIP = 7000000, LAST_MODULE = 40000000 };

static void add_skip(uint64_t skip, uint64_t *skips, size_t *count)
{
    if (*count < MOST_MODULES && skip <= LAST_MODULE)
        skips[(*count)++] = skip;
}

static int compare_skips(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What torch.randn draws for so many numbers: the last 16 again unless they are a block. */
static uint64_t normals(uint64_t numbers)
{
    return numbers + (numbers % 16 > 0 ? 16 : 0);
}

/* Lists what modules draw that people make before attention, ascending without repeats: nn.Linear, one to four of them
 * as in an attention class, feed-forward layers; embeddings, of tokens, and of positions after them. */
static size_t list_modules(const struct why *why, uint64_t skips[MOST_MODULES])
{
    static const uint64_t WORDS[] = {50257, 50304, 30522, 32000, 10000, 5000, 1000, 100, 128000, 65536, 20000, 2000};
    const uint64_t widths[] = {
        why->problem->size.d_in, why->problem->plan.d_out, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024};
    enum { WIDTHS = sizeof widths / sizeof widths[0] };
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < WIDTHS; i++) {
        const uint64_t in = widths[i], wide = 4 * in * in;
        for (size_t k = 0; k < WIDTHS; k++)
            for (uint64_t times = 1; times <= 4; times++) {
                add_skip(times * in * widths[k], skips, &count);                   /* without biases */
                add_skip(times * (in + 1) * widths[k], skips, &count);             /* with them */
                add_skip((times * in + widths[k] + 1) * widths[k], skips, &count); /* and out_proj with its own */
            }
        add_skip(2 * wide + 5 * in, skips, &count);
        add_skip(4 * in * (in + 1) + 2 * wide + 5 * in, skips, &count);
        for (size_t word = 0; word < sizeof WORDS / sizeof WORDS[0]; word++) {
            add_skip(normals(WORDS[word] * in), skips, &count);
            for (uint64_t places = 4; places <= 2048; places *= 2)
                add_skip(normals(WORDS[word] * in) + normals(places * in), skips, &count);
        }
    }
    qsort(skips, count, sizeof *skips, compare_skips);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || skips[i] != skips[i - 1])
            skips[kept++] = skips[i];
    return kept;
}

/* Tries the asked seed and popular ones after other modules: each with many skips and the ways to draw of the asked
 * size, then with fewer and all ways, then all seeds, and last with common mistakes. */
static enum status try_modules(struct why *why, const struct variation *near, size_t near_count)
{
    const struct variation asked = start_from(why);
    uint64_t *seeds = arena_allocate(why->arena, MOST_SEEDS + MOST_MODULES, sizeof *seeds, why->error);
    struct why_guesses singles;
    if (seeds == NULL || why_singles(why, why->problem, true, &singles) != STATUS_OK)
        return why->error->status;
    uint64_t *skips = seeds + MOST_SEEDS;
    const size_t count = list_seeds(seeds), most = list_modules(why, skips);
    size_t few = 0;
    while (few < most && skips[few] < FAR_SKIP)
        few++;
    const struct {
        struct streams streams;
        double share;          /* of the budget, at most, for each way */
        bool of_size, of_init; /* of the asked sizes; and of the asked --init, with biases or without */
        enum screen_kind kind;
        const struct why_guesses *guesses;
    } STEPS[] = {
        {{&asked.seed, 1, 0, 300000, NULL, NULL}, 0.005, true, false, SCREEN_RIGHT, NULL},
        {{USUAL, USUAL_SEEDS, 0, 20000, NULL, NULL}, 0.005, true, false, SCREEN_RIGHT, NULL},
        {{USUAL, USUAL_SEEDS, 0, LAST_SKIP, NULL, NULL}, 0.005, false, false, SCREEN_RIGHT, NULL},
        {{USUAL, MOST_USUAL, 0, 300000, NULL, NULL}, 0.005, true, true, SCREEN_RIGHT, NULL},
        {{USUAL, USUAL_SEEDS, 0, few - 1, skips, NULL}, 0.005, true, true, SCREEN_RIGHT, NULL},
        {{USUAL, MOST_USUAL, few, most - 1, skips, NULL}, 0.005, true, true, SCREEN_RIGHT, NULL},
        {{seeds, LAST_SEED + 1, 0, LAST_SKIP, NULL, NULL}, 0.012, true, true, SCREEN_RIGHT, NULL},
        {{USUAL, USUAL_SEEDS, 0, LAST_SKIP, NULL, NULL}, 0.005, true, false, SCREEN_ROW, &singles},
    };
    for (size_t step = 0; step < sizeof STEPS / sizeof STEPS[0] && why->error->status == STATUS_OK; step++) {
        struct streams streams = STEPS[step].streams;
        struct arena arena = {0};
        struct drawn drawn = {.arena = &arena};
        streams.drawn = &drawn;
        for (size_t i = 0; i < near_count && why->count == 0 && why->error->status == STATUS_OK; i++) {
            const struct variation *way = &near[i];
            if ((is_of_size(way, &asked) || !STEPS[step].of_size) &&
                (way->init == asked.init || !STEPS[step].of_init) && may_follow(way, &asked, why) &&
                try_streams(why, way, STEPS[step].kind, streams,
                            fmin(STEPS[step].share * why->budget.most, fmax(1, why->budget.most - why->budget.done)),
                            STEPS[step].guesses) == STATUS_OK)
                keep_if_alone(why, way, seeds, count);
        }
        arena_free(&arena);
    }
    return why->error->status;
}

enum status why_orders(struct why *why)
{
    struct variation list[ORDERS];
    if (!may_draw_parameters(why))
        return STATUS_OK;
    for (size_t i = 0; i < ORDERS; i++) {
        list[i] = start_from(why);
        list[i].order = i + 1;
    }
    return try_all(why, list, ORDERS, NULL);
}

/* Keeps the variations whose stages match the tables; returns their number. */
static size_t keep_fitting(const struct why *why, struct variation *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct arena arena = {0};
        struct error error = {0};
        struct variation_job job;
        if (make(why, &list[i], &job, &arena, &error))
            list[kept++] = list[i];
        arena_free(&arena);
    }
    return kept;
}

enum status why_draws(struct why *why, enum why_depth depth)
{
    struct variation *near = arena_allocate(why->arena, MOST_NEAR, sizeof *near, why->error);
    struct why_guesses singles;
    const struct variation asked = start_from(why);
    if (near == NULL || why_singles(why, why->problem, true, &singles) != STATUS_OK)
        return why->error->status;
    if (depth != WHY_NEAR && !why_can_tell(why, depth == WHY_BOTH ? WHY_WITH_MISTAKES : WHY_SETTINGS))
        return STATUS_OK;
    size_t count = may_draw_parameters(why) ? list_near(why, depth, near) : 0, of_size = 0;
    if (depth == WHY_NEAR) {
        const bool drops = why->problem->drop.share > 0;
        if (try_all(why, near, count, NULL) != STATUS_OK || why->count > 0 || why->mine.count == 0 ||
            (!drops && why_is_nearly_right(why)) || !why_can_tell(why, WHY_SETTINGS) ||
            try_dropout(why, near, memory_smaller(count, 2)) != STATUS_OK || why->count > 0 || why_is_nearly_right(why))
            return why->error->status;
        return try_modules(why, near, keep_fitting(why, near, count));
    }
    count = keep_fitting(why, near, count);
    while (of_size < count && is_of_size(&near[of_size], &asked))
        of_size++;
    if (depth == WHY_FAR)
        return try_far(why, near, of_size, NULL) || try_dropout_seeds(why, NULL) ? why->error->status : STATUS_OK;
    if (depth == WHY_OTHER_SIZES) /* and then with a mistake each, all but the nearest, which are already done */
        return try_far(why, near + of_size, count - of_size, NULL) || count < 2 || !why_can_tell(why, WHY_WITH_MISTAKES)
                   ? why->error->status
                   : try_far(why, near + 1, count - 1, &singles);
    if (try_all(why, near, count, &singles) || try_far(why, near, memory_smaller(count, 1), &singles))
        return why->error->status;
    return try_dropout_seeds(why, &singles);
}
