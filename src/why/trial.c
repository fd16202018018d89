/* SPDX-License-Identifier: MIT */
#include "why/trial.h"

#include "model/stages.h"
#include "why/fit.h"

#include <math.h>
#include <string.h>

/* The budget counts so many rows of a table with many. */
enum { FEW = 3, MANY = 12 };

bool trial_makes(const struct trial_guess *guess, struct mistake_choice choice)
{
    size_t i = 0;
    while (i < guess->count && (guess->choices[i].id != choice.id || guess->choices[i].form != choice.form))
        i++;
    return i < guess->count;
}

enum stage trial_stage(const struct mine *mine)
{
    return mine->tables[mine->count - 1].stage;
}

/* --- a number of a stage ----------------------------------------------------------------------------------------- */

double trial_number(const struct plain *plain, enum stage stage, struct mine_index index)
{
    const size_t row = index.at[MINE_ROW];
    return plain_number(plain, stage, index.at[MINE_ITEM], index.at[MINE_HEAD],
                        stage_is_of_keys(stage) ? row : plain->problem->chosen.rows[row], index.at[MINE_COLUMN]);
}

/* --- somebody's numbers against it ------------------------------------------------------------------------------- */

/* In masked scores any number up to PLAIN_MASKED counts as minus infinity. */
double trial_error(enum stage stage, double mine, double made)
{
    const bool masked = STAGES[stage].infinite && made == -INFINITY && mine <= PLAIN_MASKED;
    if (isfinite(mine) && isfinite(made))
        return fabs(mine - made);
    return (isnan(mine) && isnan(made)) || mine == made || masked ? 0 : INFINITY;
}

struct fit {
    size_t agree, of;
    size_t close; /* numbers within tolerance without the screen */
    double largest;
    size_t worst; /* the number furthest beyond its tolerance, and */
    double off;   /* its error; 0: none */
    double made;  /* its right value */
};

/* Gradients are complete. */
double trial_made_number(const struct trial_made *made, const struct mine_table *table, const double *gradient,
                         struct mine_index index)
{
    size_t at = 0;
    if (!mine_is_backward(table))
        return trial_number(&made->plain, table->stage, index);
    for (int axis = 0; axis < MINE_AXES; axis++)
        at = at * table->layout.whole[axis] + index.at[axis];
    return gradient[at];
}

double trial_table_number(const struct trial_made *made, const struct mine_table *table, const double *gradient,
                          struct mine_index first, size_t i)
{
    struct file_sum sum = {.count = i < table->shown ? 0 : mine_layout_count(table)};
    for (size_t k = 0; k < sum.count; k++) {
        const double number = trial_made_number(made, table, gradient, mine_place_at(table, first, k));
        sum.sum += number;
        sum.squares += number * number;
    }
    return sum.count == 0 ? trial_made_number(made, table, gradient, mine_place_of(table, first, i))
                          : mine_total(table, i, sum);
}

static struct fit fit_at(const struct trial_base *base, const struct trial_made *made, size_t at,
                         struct mine_index first, bool few, bool whole)
{
    const struct mine_table *table = &base->mine->tables[at];
    const double *gradient = made->gradients[at], *noise = base->noise[at];
    const double most_noise = noise != NULL ? fit_most_noise(base) : 0;
    struct fit fit = {.of = 0};
    if (mine_is_backward(table) && gradient == NULL) /* the result lacks the table, or has another shape */
        return (struct fit){.of = table->count, .largest = INFINITY};
    const bool listed = few && at + 1 == base->mine->count;
    for (size_t k = 0; k < (listed ? base->few_numbers_count : table->count); k++) {
        const size_t i = listed ? base->few_numbers[k] : k;
        if (few && !listed && !stage_is_of_keys(table->stage) &&
            (i >= table->shown || mine_place_of(table, first, i).at[MINE_ROW] != base->few_row))
            continue;
        const double number = trial_table_number(made, table, gradient, first, i);
        const double error = trial_error(table->stage, table->numbers[i], number);
        fit.of++;
        fit.largest = fmax(fit.largest, error);
        fit.close += error <= table->tolerance[i];
        /* a screen, before the noise of the guess is known */
        if (error <= table->tolerance[i] + table->screen + (noise != NULL ? most_noise * noise[i] : 0)) {
            fit.agree++;
            continue;
        }
        if (!whole)
            return fit;
        if (error > fit.off) {
            fit.off = error;
            fit.worst = i;
            fit.made = number;
        }
    }
    return fit;
}

static bool is_better(struct fit a, struct fit b)
{
    if (a.agree != b.agree)
        return a.agree > b.agree;
    return a.close != b.close ? a.close > b.close : a.largest < b.largest;
}

static struct fit fit_best(const struct trial_base *base, const struct trial_made *made, size_t at, bool few,
                           bool whole, size_t *best)
{
    const struct mine_table *table = &base->mine->tables[at];
    const size_t indices = mine_indices(table);
    struct fit found = {.largest = INFINITY};
    *best = 0;
    for (size_t i = 0; i < indices; i++) {
        const struct fit fit = fit_at(base, made, at, mine_index(table, i), few, whole);
        if (i == 0 || is_better(fit, found)) {
            found = fit;
            *best = i;
        }
        if (fit.agree == fit.of && !whole)
            break;
    }
    return found;
}

void trial_compare(const struct trial_base *base, const struct trial_made *made, bool few, bool whole, enum stage only,
                   struct trial *trial)
{
    trial->end = TRIAL_AGREES;
    trial->agree = trial->of = 0;
    trial->largest = 0;
    trial->worst.table = base->mine->count;
    double off = 0;
    for (size_t i = 0; i < base->mine->count; i++) {
        const struct mine_table *table = &base->mine->tables[i];
        if (only != STAGE_NAMES && table->stage != only)
            continue;
        const struct fit fit = fit_best(base, made, i, few, whole, &trial->indices[i]);
        trial->agree += fit.agree;
        trial->of += fit.of;
        trial->largest = fmax(trial->largest, fit.largest);
        if (fit.off > off) {
            off = fit.off;
            trial->worst = (struct trial_worst){i, fit.worst, fit.made};
        }
        if (fit.agree < fit.of)
            trial->end = TRIAL_DEPARTS;
        if (trial->end == TRIAL_DEPARTS && !whole)
            return;
    }
}

/* --- a guess ----------------------------------------------------------------------------------------------------- */

uint64_t trial_stages(const struct problem *problem, const struct mine *mine)
{
    uint64_t stages = 0;
    for (size_t i = 0; i < mine->count; i++)
        if (!STAGES[mine->tables[i].stage].backward)
            stages |= STAGE_BIT(problem_made_as(problem, mine->tables[i].stage));
    return stage_closure(stages);
}

/* The computed main stage, and the count of its numbers. */
static const double *shown_of(const struct trial_made *trial_made, const struct mine *mine, size_t *count,
                              struct arena *arena, struct error *error)
{
    const struct plain *plain = &trial_made->plain;
    const enum stage stage = trial_stage(mine);
    if (STAGES[stage].backward) {
        *count = mine_whole(&mine->tables[mine->count - 1]);
        return trial_made->gradients[mine->count - 1];
    }
    const enum stage made = problem_made_as(plain->problem, stage);
    const struct tensor *operand = plain_tensor(plain, stage);
    if (operand == NULL) {
        *count = plain_count(plain->problem, made, plain->row_count);
        return plain->stages[made];
    }
    *count = tensor_count(operand);
    double *numbers = arena_allocate(arena, *count, sizeof *numbers, error);
    if (numbers != NULL)
        tensor_load(operand, 0, *count, numbers);
    return numbers;
}

/* Whether the first `some` of each row of `columns` numbers are the same. */
static bool all_alike(const double *a, const double *b, const double *sizes, size_t count, size_t columns, size_t some)
{
    size_t i = 0;
    while (i < count && (i % columns >= some || a[i] == b[i] || (isnan(a[i]) && isnan(b[i])) ||
                         fabs(a[i] - b[i]) <= 1e-6 * sizes[i]))
        i++;
    return i == count;
}

enum status trial_make(const struct trial_base *base, const struct recipe *recipe, const size_t *rows, size_t count,
                       struct trial_made *made, struct arena *arena, struct error *error)
{
    struct plain_columns columns = base->columns;
    struct plain *plain = &made->plain;
    plain->row_count = count;
    if (gradients_make(&recipe->problem, base->mine, made->gradients, arena, error) != STATUS_OK)
        return error->status;
    if (base->stages == 0 && mine_has_backward(base->mine))
        return STATUS_OK;
    rows = plain_rows(recipe, rows, &count, arena, error);
    return rows == NULL ? error->status
                        : plain_run(plain, recipe, rows, count, base->stages, &columns, arena, arena, error);
}

/* What a look at a guess makes: of which rows, and maybe only some columns of output. */
struct look {
    bool few;       /* the row alone; else all */
    size_t row;     /* of the selected */
    size_t columns; /* as plain->few_columns */
    bool whole;     /* compares all numbers */
};

/* Of numbers of the main stage, those of that row; query and key are made of all tokens. NULL: all are compared at
 * once. */
static const double *few_of(const struct trial_base *base, const double *numbers, size_t row, struct arena *arena,
                            struct error *error)
{
    const enum stage stage = trial_stage(base->mine);
    const size_t rows = base->problem->chosen.row_count, all = trial_numbers(base),
                 columns = problem_columns_of_head(base->problem, problem_made_as(base->problem, stage));
    if (!base->has_few || numbers == NULL || (projection_of(stage) != PROJECTION_COUNT && !STAGES[stage].repeats))
        return base->has_few ? numbers : NULL;
    double *few = arena_allocate(arena, all / rows, sizeof *few, error);
    for (size_t i = 0; i < all / columns / rows && few != NULL; i++)
        memcpy(few + i * columns, numbers + (i * rows + row) * columns, columns * sizeof *few);
    return few;
}

/* Whether the main stage is the same as without mistakes; with recipe->across, only if all queries are selected. */
static bool is_hidden(const struct trial_base *base, const struct recipe *recipe, const struct trial_made *made,
                      struct look look, struct arena *arena, struct error *error)
{
    size_t count;
    const bool all = made->plain.row_count == base->problem->chosen.row_count;
    const bool is_output = trial_stage(base->mine) == STAGE_OUTPUT && look.columns > 0;
    const double *shown = shown_of(made, base->mine, &count, arena, error);
    const bool other = look.few && look.row != base->few_row;
    const double *sizes = other      ? few_of(base, base->sizes, look.row, arena, error)
                          : look.few ? base->sizes_few
                                     : base->sizes;
    const double *right = recipe->across && !all ? NULL
                          : other                ? few_of(base, base->shown, look.row, arena, error)
                          : look.few             ? base->shown_few
                                                 : base->shown;
    if (recipe->across && look.few && shown != NULL && right != NULL && right != base->shown) {
        shown = few_of(base, shown, look.row, arena, error);
        count /= made->plain.row_count;
    }
    return shown != NULL && right != NULL && sizes != NULL &&
           all_alike(shown, right, sizes, count, is_output ? problem_columns_of_head(base->problem, STAGE_OUTPUT) : 1,
                     is_output ? look.columns : 1);
}

static enum status look_at(const struct trial_base *base, const struct recipe *recipe, struct look look,
                           struct trial *trial, struct trial_made *made, struct arena *arena, struct error *error)
{
    const struct problem *problem = base->problem;
    size_t count;
    *made = (struct trial_made){.plain = {.wants_normed = mine_table_of(base->mine, STAGE_NORMED) != NULL,
                                          .few_columns = look.columns,
                                          .has_only = look.few && recipe->across,
                                          .only = problem->chosen.rows[look.row]}};
    if (trial_make(base, recipe, problem->chosen.rows + look.row, look.few ? 1 : problem->chosen.row_count, made, arena,
                   error) != STATUS_OK)
        return error->status;
    trial->made += made->plain.row_count;
    if (look.few ? look.row == base->few_row : look.columns == 0)
        trial_compare(base, made, look.few, look.whole, STAGE_NAMES, trial);
    trial->hidden = is_hidden(base, recipe, made, look, arena, error);
    const double *shown = shown_of(made, base->mine, &count, arena, error);
    trial->shown = trial->end == TRIAL_AGREES && !look.few && made->plain.row_count == problem->chosen.row_count
                       ? (double *)shown
                       : NULL;
    return error->status;
}

/* The projections that it changes, in whatever way. */
static unsigned changed_of(const struct recipe *recipe)
{
    unsigned changed = recipe->changed_projections;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        changed |= recipe->moved[id] != NULL || recipe->addends[id] != NULL ? 1U << id : 0;
    return changed;
}

/* What x . W of changed projections adds to the work; others share it. */
static double projecting_work(const struct recipe *recipe)
{
    const struct problem *problem = &recipe->problem;
    double work = 0;
    for (int id = PROJECTION_KEY; id < PROJECTION_COUNT; id++)
        if (changed_of(recipe) & 1U << id)
            work += 2 * (double)problem->size.items * (double)problem->size.keys * (double)problem->size.d_key_in *
                    (double)(problem->size.kv_heads * problem->size.d_head);
    return work;
}

enum status trial_run(const struct trial_base *base, const struct trial_guess *guess, bool whole, struct trial *trial,
                      struct arena *arena, struct error *error)
{
    struct recipe recipe;
    struct trial_made *made = arena_allocate(arena, 1, sizeof *made, error);
    *trial = (struct trial){.end = TRIAL_REFUSED, .work = base->work};
    if (made == NULL)
        return error->status;
    const bool moves = !mine_has_backward(base->mine); /* gradients need the parameters */
    if (recipe_create(&recipe, base->problem, guess->choices, guess->count, moves, arena, error) != STATUS_OK)
        return error->status;
    trial->work += projecting_work(&recipe);
    trial->possible = recipe.reason == NULL;
    trial->projects = changed_of(&recipe) != 0;
    if (recipe.reason != NULL || (recipe.not_differentiable != NULL && mine_has_backward(base->mine)))
        return STATUS_OK;
    if (base->has_few && !whole) {
        if (look_at(base, &recipe, (struct look){true, base->few_row, base->few_columns, false}, trial, made, arena,
                    error) != STATUS_OK ||
            (trial->end == TRIAL_DEPARTS && (!trial->hidden || guess->count > 1)))
            return error->status;
        if (trial->end == TRIAL_DEPARTS) /* one mistake: is it hidden in another row, and in all? */
            return look_at(base, &recipe, (struct look){true, base->few_row / 2, base->few_columns, false}, trial, made,
                           arena, error) != STATUS_OK ||
                           !trial->hidden
                       ? error->status
                       : look_at(base, &recipe, (struct look){false, 0, base->few_columns, false}, trial, made, arena,
                                 error);
    }
    if (look_at(base, &recipe, (struct look){false, 0, 0, whole}, trial, made, arena, error) != STATUS_OK || !whole)
        return error->status;
    return fit_weigh(base, guess, made, trial, arena, error);
}

enum status trial_confirm(const struct trial_base *base, const struct trial_guess *guess, struct trial *trial,
                          struct arena *arena, struct error *error)
{
    if (trial_run(base, guess, false, trial, arena, error) != STATUS_OK || trial->end != TRIAL_AGREES)
        return error->status;
    const bool hidden = trial->hidden;
    const double work = trial->work;
    if (trial_run(base, guess, true, trial, arena, error) == STATUS_OK) {
        trial->hidden = hidden;
        trial->work += work;
    }
    return error->status;
}

static size_t main_numbers(const struct problem *problem, const struct mine *mine)
{
    const struct mine_table *table = &mine->tables[mine->count - 1];
    const enum stage stage = table->stage;
    if (mine_is_backward(table))
        return mine_whole(table);
    if (projection_of(stage) != PROJECTION_COUNT)
        return problem->size.items *
               (stage_is_of_keys(stage) ? problem->size.kv_heads * problem->size.keys
                                        : problem->size.heads * problem->size.queries) *
               problem_columns(problem, stage);
    return problem->size.items * problem->chosen.row_count * problem_columns(problem, stage) *
           (problem_is_side_by_side(problem, stage) || STAGES[stage].joins_heads ? 1 : problem->size.heads);
}

size_t trial_numbers(const struct trial_base *base)
{
    return main_numbers(base->problem, base->mine);
}

bool trial_alike(const struct problem *problem, const struct mine *mine, const struct trial_base *base)
{
    return trial_stage(mine) == trial_stage(base->mine) && main_numbers(problem, mine) == trial_numbers(base);
}

bool trial_same(const struct trial_base *base, const double *shown, const double *other)
{
    return shown != NULL && other != NULL && all_alike(shown, other, base->sizes, trial_numbers(base), 1, 1);
}

double trial_work(const struct trial_base *base)
{
    const struct problem *problem = base->problem;
    const size_t all = problem->chosen.row_count;
    const double rows = base->has_few && all >= MANY ? (double)FEW : (double)all;
    const size_t columns = base->few_columns > 0 ? base->few_columns : SIZE_MAX;
    const double pairs = (double)problem->size.items * (double)problem->size.heads * rows * (double)problem->size.keys;
    const double operands = (double)problem->size.items * (double)(problem->size.queries + 2 * problem->size.keys) *
                            (double)(problem->size.heads * problem->size.d_head);
    const double out = problem->plan.has_out ? (double)problem->size.items * (rows + 4) *
                                                   (double)(problem->size.heads * problem->size.d_value) *
                                                   (double)memory_smaller(problem->plan.d_output, columns)
                                             : 0;
    const double back = problem->loss.is_given && base->mine != NULL && mine_has_backward(base->mine) ? 4 : 1;
    return back * (4e3 + pairs * (double)(problem->size.d_head + problem->size.d_value + 24) + 4 * operands + out);
}

/* --- the base ---------------------------------------------------------------------------------------------------- */

/* Chooses the row of somebody's to compare first, if its place is known: the last, which has the most keys under a
 * causal mask. */
static enum status choose_few(struct trial_base *base, struct error *error)
{
    enum { COLUMNS = 64 };
    const struct mine_table *table = &base->mine->tables[base->mine->count - 1];
    const struct mine_layout *layout = &table->layout;
    const size_t rows = layout->size[MINE_ROW];
    const bool known = layout->rows != NULL || rows == layout->whole[MINE_ROW];
    if (mine_has_backward(base->mine) || rows < 2 || !known || stage_is_of_keys(table->stage) || table->shown == 0)
        return STATUS_OK;
    const size_t last = mine_place_of(table, (struct mine_index){{0}}, table->shown - 1).at[MINE_ROW];
    base->few_numbers = arena_allocate(base->arena, table->count, sizeof base->few_numbers[0], error);
    if (base->few_numbers == NULL)
        return error->status;
    base->has_few = true;
    base->few_row = last;
    base->few_columns = stage_is_attended(table->stage) ? COLUMNS : 0;
    for (size_t i = 0; i < table->shown; i++) {
        const struct mine_index at = mine_place_of(table, (struct mine_index){{0}}, i);
        if (at.at[MINE_ROW] == last && (table->stage != STAGE_OUTPUT || at.at[MINE_COLUMN] < COLUMNS))
            base->few_numbers[base->few_numbers_count++] = i;
    }
    return STATUS_OK;
}

static void take_larger(double *largest, double number)
{
    *largest = isfinite(number) ? fmax(*largest, fabs(number)) : *largest;
}

/* For each number of the main stage, the largest of its row, or of its column if smaller; at least a millionth of all,
 * below which numbers are only rounding errors. */
static double *sizes_of(struct trial_base *base, size_t count, struct error *error)
{
    const struct mine_table *table = &base->mine->tables[base->mine->count - 1];
    const size_t columns = table->layout.whole[MINE_COLUMN], rows = count / columns;
    const double *shown = base->shown;
    double *sizes = arena_allocate(base->arena, count, sizeof *sizes, error), largest = 0;
    double *of_columns = arena_allocate(base->arena, columns, sizeof *of_columns, error);
    if (sizes == NULL || of_columns == NULL)
        return NULL;
    memset(of_columns, 0, columns * sizeof *of_columns);
    for (size_t i = 0; i < count; i++) {
        take_larger(&of_columns[i % columns], shown[i]);
        take_larger(&largest, shown[i]);
    }
    for (size_t row = 0; row < rows; row++) {
        double of_row = 0;
        for (size_t c = 0; c < columns; c++)
            take_larger(&of_row, shown[row * columns + c]);
        for (size_t c = 0; c < columns; c++)
            sizes[row * columns + c] = fmax(fmin(of_row, of_columns[c]), 1e-6 * largest);
    }
    base->largest = fmax(base->largest, largest);
    return sizes;
}

/* Keeps a lasting copy of the main stage without mistakes. */
static enum status keep_shown(struct trial_base *base, const struct recipe *recipe, struct error *error)
{
    struct trial_made all = {.plain.wants_normed = mine_table_of(base->mine, STAGE_NORMED) != NULL};
    struct arena scratch = {0};
    size_t numbers = 0;
    const double *made = NULL;
    if (gradients_make(&recipe->problem, base->mine, all.gradients, &scratch, error) == STATUS_OK &&
        plain_run(&all.plain, recipe, base->problem->chosen.rows, base->problem->chosen.row_count, base->stages,
                  &base->columns, base->arena, &scratch, error) == STATUS_OK)
        made = shown_of(&all, base->mine, &numbers, &scratch, error);
    base->shown = made == NULL ? NULL : arena_allocate(base->arena, numbers, sizeof *made, error);
    if (base->shown != NULL) {
        memcpy(base->shown, made, numbers * sizeof *made);
        base->sizes = sizes_of(base, numbers, error);
    }
    arena_free(&scratch);
    return error->status;
}

/* Prepares for both: the recipe without a mistake, and the rows to compare first. */
static enum status start(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                         struct recipe *recipe, struct arena *arena, struct error *error)
{
    *base = (struct trial_base){.problem = problem, .mine = mine, .arena = arena};
    if (recipe_create(recipe, problem, NULL, 0, false, arena, error) || choose_few(base, error))
        return error->status;
    base->columns.out_columns = base->few_columns;
    base->stages = trial_stages(problem, mine);
    base->work = trial_work(base);
    return STATUS_OK;
}

/* Makes x . W once for all guesses. */
enum status trial_start_bare(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                             struct arena *arena, struct error *error)
{
    struct recipe recipe;
    struct plain plain = {0};
    return start(base, problem, mine, &recipe, arena, error) ||
                   plain_run(&plain, &recipe, problem->chosen.rows, 0, 0, &base->columns, arena, arena, error)
               ? error->status
               : STATUS_OK;
}

enum status trial_start_like(struct trial_base *base, const struct trial_base *other, const struct mine *mine,
                             struct arena *arena, struct error *error)
{
    struct recipe recipe;
    const enum status status = start(base, other->problem, mine, &recipe, arena, error);
    base->columns = other->columns;
    return status;
}

enum status trial_start(struct trial_base *base, const struct problem *problem, const struct mine *mine,
                        struct arena *arena, struct error *error)
{
    struct recipe recipe;
    if (start(base, problem, mine, &recipe, arena, error) || keep_shown(base, &recipe, error))
        return error->status;
    base->shown_few = few_of(base, base->shown, base->few_row, base->arena, error);
    base->sizes_few = few_of(base, base->sizes, base->few_row, base->arena, error);
    return error->status;
}
