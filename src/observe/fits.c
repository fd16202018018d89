/* SPDX-License-Identifier: MIT */
/* The setting that gives the table: a number of the job, or one for each head or item, is another than it should be. */
#include "observe/observing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the settings ------------------------------------------------------------------------------------------------ */

#define WHERE(name, condition)                      \
    static bool name(const struct problem *problem) \
    {                                               \
        return condition;                           \
    }

WHERE(any, problem != NULL)
WHERE(scales_query, problem->scaling.on_query)
WHERE(scales_scores, !problem->scaling.on_query)
WHERE(rotates, problem->rotation.rope.kind != ROPE_NONE)
WHERE(has_factor, rotates(problem) && (problem->rotation.settings.scaling.kind == ROPE_SCALING_NONE ||
                                       problem->rotation.settings.scaling.factor > 0))
WHERE(has_old, rotates(problem) && problem->rotation.settings.scaling.old > 0)
WHERE(has_positions, problem->mask.sequences.count == 0 && problem->mask.images == NULL)
WHERE(sees_later_keys, has_positions(problem) && !problem->mask.causal)
WHERE(has_offset, has_positions(problem) && problem->mask.lengths == NULL && problem->masks)
WHERE(has_lengths, problem->mask.lengths != NULL)
WHERE(has_prefix, problem->mask.given[MASK_PREFIX].number > 0)
WHERE(has_chunks, problem->mask.given[MASK_CHUNK].number > 0)
WHERE(norms_heads, problem_projects(problem) && problem->parameters.norms[NORM_QUERY].kind != NORM_NONE)
WHERE(drops, problem->drop.share > 0)
/* Its eps makes all projections again, which only small jobs can afford. */
WHERE(norms_inputs, problem->given.residual && problem->parameters.norms[NORM_INPUTS].kind != NORM_NONE &&
                        problem_work(problem) < 1e7)

/* How its values are tried: real ones on a grid, by factors or steps, and then refined; or each. */
enum tried { BY_FACTOR, BY_STEP, EACH };

struct tunable {
    const char *name;
    bool (*applies)(const struct problem *problem);
    size_t at;              /* the offset in struct problem of a double, or an int64_t if `whole`, */
    enum observe_axis axis; /* or of the array of one for each head or item; else OBSERVE_AXES */
    enum tried span;
    double none;                 /* the value that means that there is none; NaN: there is always one */
    double first, last, by;      /* last 0: all keys */
    unsigned steps, projections; /* the sets of operands that it changes */
    bool whole, relative;        /* relative: first and last are multiples of the right value, of both signs */
};

#define NUMBER(member) .at = offsetof(struct problem, member), .axis = OBSERVE_AXES
#define ARRAY(member, of) .at = offsetof(struct problem, member), .axis = (of)
#define ROTATED .steps = (OF_QUERY | OF_KEY)
#define EACH_KEY(from) .whole = true, .span = EACH, .first = (from), .by = 1

/* clang-format off */
static const struct tunable SETTINGS[] = {
    {"scale", scales_scores, NUMBER(scaling.factor), .none = NAN, .first = 1.0 / 64, .last = 64, .by = 2,
     .relative = true},
    {"scale", scales_query, NUMBER(scaling.query_factor), .none = NAN, .first = 1.0 / 64, .last = 64, .by = 2,
     .relative = true, .steps = OF_QUERY},
    {"softcap", any, NUMBER(scaling.softcap), .none = 0, .first = 0.5, .last = 1000, .by = 2},
    {"rope theta", rotates, NUMBER(rotation.settings.theta), .none = NAN, .first = 50, .last = 5e8, .by = 1.6, ROTATED},
    {"factor of the rope scaling", has_factor, NUMBER(rotation.settings.scaling.factor), .none = 0, .first = 0.5,
     .last = 128, .by = 1.4, ROTATED},
    {"original length of the rope scaling", has_old, NUMBER(rotation.settings.scaling.old), .none = NAN, .first = 8,
     .last = 1e6, .by = 1.4, ROTATED},
    {"ALiBi slope", has_positions, ARRAY(mask.alibi_slopes, OBSERVE_HEAD), .none = 0, .first = 0x1p-11, .last = 4,
     .by = 2},
    {"sink", any, ARRAY(mask.sinks, OBSERVE_HEAD), .none = -INFINITY, .span = BY_STEP, .first = -8, .last = 12, .by = 2},
    {"window before a query", has_positions, NUMBER(mask.left), .none = -1, EACH_KEY(-1)},
    {"window after a query", sees_later_keys, NUMBER(mask.right), .none = -1, EACH_KEY(-1)},
    {"offset of the queries", has_offset, NUMBER(mask.offset), .none = NAN, EACH_KEY(-64)},
    {"number of keys", has_lengths, ARRAY(mask.lengths, OBSERVE_ITEM), .none = NAN, EACH_KEY(0)},
    {"prefix", has_prefix, NUMBER(mask.given[MASK_PREFIX].number), .none = 0, EACH_KEY(0)},
    {"chunk", has_chunks, NUMBER(mask.given[MASK_CHUNK].number), .none = 0, EACH_KEY(0)},
    {"eps of the inputs' norm", norms_inputs, NUMBER(parameters.norms[NORM_INPUTS].eps), .none = NAN, .first = 1e-12,
     .last = 1, .by = 10, .projections = OF_ALL},
    {"eps of the norm of query and key", norms_heads, NUMBER(parameters.norms[NORM_QUERY].eps), .none = NAN,
     .first = 1e-12, .last = 1, .by = 10, ROTATED},
    {"dropout", drops, NUMBER(drop.share), .none = NAN, .span = EACH, .first = 0.01, .last = 0.99, .by = 0.01},
};
/* clang-format on */

enum { STARTS = 3, STEPS = 12, SOME_ROWS = 3, SOME_COLUMNS = 64, GRID = 512, VALUE_BYTES = 32 };

/* A number of the setting: of all, or of a head or item. */
struct group {
    size_t place;              /* its head or item */
    bool open;                 /* has wrong numbers; else it keeps the right value */
    double right, value, best; /* `value` is being tried */
    double sum, least;         /* of squares of errors in tolerances: of the value, of the best; */
    size_t count;              /* of how many numbers */
    double width;              /* the move of the best that moves a number by a tolerance */
    double from, of_from, squares, along, sums[GRID]; /* of a step, and of the grid */
};

struct fitting {
    const struct tunable *tunable;
    struct observing *observing, *some; /* all numbers, and the sample */
    const bool *only;                   /* (observing->count) the numbers that the setting gives; NULL: all */
    size_t group_count;
    struct group *groups;
    double *errors, *moved; /* (some->count) in tolerances */
};

static double right_of(const struct tunable *tunable, const struct problem *problem, size_t at)
{
    const char *field = (const char *)problem + tunable->at;
    const void *array = field;
    double number;
    int64_t whole;
    if (tunable->axis != OBSERVE_AXES)
        memcpy(&array, field, sizeof array);
    if (array == NULL)
        return tunable->none;
    memcpy(&number, (const double *)array + at, sizeof number);
    memcpy(&whole, (const int64_t *)array + at, sizeof whole);
    number = tunable->whole ? (double)whole : number;
    return number < 0 && tunable->none == -1 ? -1 : number;
}

/* Changes the job to the values being tried; false if it cannot have these. */
static bool set_values(const struct fitting *f, struct recipe *recipe)
{
    const struct tunable *tunable = f->tunable;
    struct problem *problem = &recipe->problem;
    struct norm *norms = problem->parameters.norms;
    struct rope_settings *rope = &problem->rotation.settings;
    const size_t counts[] = {problem->size.items, problem->size.heads, 1, 1, 1}, count = counts[tunable->axis];
    double *numbers = arena_allocate(recipe->arena, count, sizeof *numbers, recipe->error);
    int64_t *wholes = arena_allocate(recipe->arena, count, sizeof *wholes, recipe->error);
    const void *array = tunable->whole ? (const void *)wholes : numbers;
    const bool is_array = tunable->axis != OBSERVE_AXES;
    struct error error = {0};
    if (numbers == NULL || wholes == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = right_of(tunable, problem, i);
    for (size_t g = 0; g < f->group_count; g++)
        numbers[f->groups[g].place] = f->groups[g].value;
    for (size_t i = 0; i < count && tunable->whole; i++)
        wholes[i] = (int64_t)numbers[i];
    const double eps = norms[NORM_QUERY].eps;
    memcpy((char *)problem + tunable->at, is_array ? (const void *)&array : array,
           is_array ? sizeof array : sizeof eps);
    norms[NORM_KEY].eps += norms[NORM_QUERY].eps - eps;
    if (rope->scaling.kind == ROPE_SCALING_NONE && rope->scaling.factor > 0)
        rope->scaling.kind = ROPE_SCALING_LINEAR;
    problem->masks = mask_has_rules(&problem->mask) || mask_has_bias(&problem->mask);
    recipe->changed_steps |= tunable->steps;
    recipe->changed_projections |= tunable->projections;
    return (tunable->steps & OF_KEY) == 0 || rope_create(&problem->rotation.rope, rope, problem->size.d_head,
                                                         problem->rotation.highest, recipe->arena, &error) == STATUS_OK;
}

/* The numbers of all, or of the sample, with the values being tried; NULL: the job cannot have them. */
static const double *make(const struct fitting *f, struct observing *observing)
{
    struct recipe *recipe = observe_recipe(observing, NULL);
    return recipe != NULL && (f->tunable == NULL || set_values(f, recipe)) ? observe_make(observing, recipe) : NULL;
}

/* --- a few rows -------------------------------------------------------------------------------------------------- */

/* Up to SOME_ROWS rows with wrong numbers, or all rows of a small table. */
static size_t choose_rows(const struct observing *observing, size_t *rows)
{
    enum { FEW_NUMBERS = 512 };
    const size_t all = observing->observed->right.size[OBSERVE_ROW];
    size_t count = 0;
    for (size_t row = 0; row < all; row++) {
        size_t line = row; /* of any head and item */
        while (line < observing->lines && !observing->part.lines[line])
            line += all;
        if (observing->count <= FEW_NUMBERS || line < observing->lines)
            rows[count++] = row;
    }
    const size_t some = observing->count <= FEW_NUMBERS ? count : memory_smaller(count, SOME_ROWS);
    for (size_t i = 0; i < some; i++)
        rows[i] = rows[(i + 1) * count / some - 1];
    return some;
}

/* The sample: a few rows, of an output a few columns, in at least float32: coarser numbers do not follow a value that
 * moves by little. NULL: there is none. */
static struct observing *take_sample(struct observing *observing)
{
    const struct observe_table *right = &observing->observed->right;
    struct observing *some = arena_allocate(observing->arena, 1, sizeof *some, observing->error);
    struct observed *part = arena_allocate(observing->arena, 1, sizeof *part, observing->error);
    struct problem *problem = arena_allocate(observing->arena, 1, sizeof *problem, observing->error);
    size_t *rows = observe_zeros(observing, right->size[OBSERVE_ROW], 2 * sizeof *rows);
    if (some == NULL || part == NULL || problem == NULL || rows == NULL)
        return NULL;
    *problem = *observing->observed->problem;
    *some = *observing;
    *part = *observing->observed;
    if (dtype_is_coarse(problem->rounding.dtype)) {
        problem->rounding.dtype = problem->rounding.softmax_dtype = DTYPE_F32;
        some->columns = (struct plain_columns){.made = {NULL}};
    }
    const size_t count = choose_rows(observing, rows), most = right->size[OBSERVE_COLUMN];
    const size_t columns = right->stage == STAGE_OUTPUT ? memory_smaller(SOME_COLUMNS, most) : most;
    size_t *size = part->right.size, *index = rows + right->size[OBSERVE_ROW];
    size[OBSERVE_ROW] = count;
    size[OBSERVE_COLUMN] = columns;
    for (size_t i = 0; i < count; i++)
        index[i] = observe_index(right, OBSERVE_ROW, rows[i]);
    part->right.index[OBSERVE_ROW] = index;
    part->problem = problem;
    some->observed = part;
    some->columns.out_weight = NULL; /* it makes fewer */
    some->columns.out_columns = columns > 0 ? observe_index(right, OBSERVE_COLUMN, columns - 1) + 1 : 0;
    some->count = observe_count(&part->right);
    some->map = observe_zeros(observing, some->count, sizeof *some->map);
    for (size_t i = 0; count > 0 && columns > 0 && i < some->count && some->map != NULL; i++) {
        const size_t row = i / columns, matrix = row / count;
        some->map[i] =
            (matrix * right->size[OBSERVE_ROW] + rows[row % count]) * right->size[OBSERVE_COLUMN] + i % columns;
    }
    struct recipe *recipe = observe_recipe(some, NULL);
    return recipe != NULL && some->map != NULL && observe_make(some, recipe) != NULL ? some : NULL; /* with columns */
}

/* The error of number i of the sample in tolerances. */
static double error_of(const struct observing *observing, const struct observing *some, const double *made, size_t i)
{
    static const double FAR_OFF = 1e9;
    const size_t at = some->map[i];
    const double mine = observing->observed->mine[at];
    const double off =
        observe_is(mine, made[i], 0) ? 0 : (mine - made[i]) / observe_tolerance(observing, at, made[i], 1);
    return isfinite(off) ? fmax(-FAR_OFF, fmin(off, FAR_OFF)) : FAR_OFF;
}

/* Whether a change of a recipe may give the wrong part, or that of some place on the axis, by the sample alone; true
 * where there is none. */
static bool may_fit(struct observing *observing, observe_change *change, size_t form, enum observe_axis axis)
{
    struct observing some;
    struct arena scratch = {0};
    if (observing->sample == NULL)
        return true;
    some = *observing->sample;
    some.arena = &scratch;
    const size_t places = axis == OBSERVE_NO_AXIS ? 1 : some.observed->right.size[axis];
    double *sums = observe_zeros(&some, places, sizeof *sums), *counts = observe_zeros(&some, places, sizeof *counts);
    struct recipe *recipe = observe_recipe(&some, NULL);
    if (recipe != NULL)
        change(recipe, form);
    const double *made = recipe != NULL ? observe_make(&some, recipe) : NULL;
    bool fits = false;
    for (size_t i = 0; i < some.count && made != NULL && sums != NULL && counts != NULL; i++) {
        const size_t place = axis == OBSERVE_NO_AXIS ? 0 : observe_place(&some, i, axis);
        const double off = observing->part.only[some.map[i]] ? error_of(observing, &some, made, i) : 0;
        sums[place] += off * off;
        counts[place] += observing->part.only[some.map[i]];
    }
    for (size_t place = 0; place < places && counts != NULL && sums != NULL; place++)
        fits = fits || (counts[place] > 0 && sums[place] <= counts[place]);
    arena_free(&scratch);
    return fits;
}

const double *observe_changed(struct observing *observing, observe_change *change, size_t form, enum observe_axis axis)
{
    struct recipe *recipe = may_fit(observing, change, form, axis) ? observe_recipe(observing, NULL) : NULL;
    if (recipe != NULL)
        change(recipe, form);
    return recipe != NULL ? observe_make(observing, recipe) : NULL;
}

/* --- the search -------------------------------------------------------------------------------------------------- */

/* The group of number i of all. */
static struct group *group_of(const struct fitting *f, size_t i)
{
    return &f->groups[f->group_count > 1 ? observe_place(f->observing, i, f->tunable->axis) : 0];
}

/* The errors of the sample in tolerances, and their sums of squares by group; infinite if it cannot be made. */
static void take_errors(struct fitting *f, double *errors)
{
    struct arena scratch = {0};
    f->some->arena = &scratch;
    const double *made = make(f, f->some);
    for (size_t g = 0; g < f->group_count; g++) {
        f->groups[g].sum = made != NULL ? 0 : INFINITY;
        f->groups[g].count = 0;
    }
    for (size_t i = 0; i < f->some->count && made != NULL; i++) {
        const size_t at = f->some->map[i];
        const bool counts = f->only == NULL || f->only[at];
        errors[i] = counts ? error_of(f->observing, f->some, made, i) : 0;
        group_of(f, at)->sum += errors[i] * errors[i];
        group_of(f, at)->count += counts;
    }
    arena_free(&scratch);
}

static double step_from(const struct tunable *tunable, double value, double step, double most)
{
    step = isfinite(step) ? fmax(-most, fmin(step, most)) : 0;
    return tunable->span == BY_FACTOR ? value * exp(step) : value + step;
}

/* Gauss-Newton steps from the values, each group on its own; keeps the best. */
static void refine(struct fitting *f)
{
    const double most = f->tunable->span == BY_FACTOR ? log(f->tunable->by) : f->tunable->by, by = most * 1e-3;
    struct group *const end = f->groups + f->group_count;
    bool moves = true;
    for (int step = 0, worse = 0; step < STEPS && moves && worse++ < 4; step++) {
        take_errors(f, f->errors);
        for (struct group *g = f->groups; g < end; g++) {
            g->from = g->value;
            g->of_from = g->sum;
            g->squares = g->along = 0;
            g->value = g->open ? step_from(f->tunable, g->from, by, most) : g->from;
        }
        take_errors(f, f->moved);
        for (size_t i = 0; i < f->some->count; i++) {
            const double slope = (f->moved[i] - f->errors[i]) / by;
            group_of(f, f->some->map[i])->squares += slope * slope;
            group_of(f, f->some->map[i])->along += slope * f->errors[i];
        }
        moves = false;
        for (struct group *g = f->groups; g < end; g++) {
            if (!g->open)
                continue;
            if (g->of_from < g->least) {
                worse = g->of_from < 0.9 * g->least ? 0 : worse;
                g->least = g->of_from;
                g->best = g->from;
                g->width = 1 / sqrt(g->squares);
            }
            g->value = step_from(f->tunable, g->from, -g->along / g->squares, most * pow(0.8, step));
            moves = moves || fabs(g->value - g->best) > 1e-9 * fabs(g->best);
        }
    }
}

/* The values to try, at most GRID; returns how many. */
static size_t list_values(const struct fitting *f, double *grid)
{
    const struct tunable *tunable = f->tunable;
    const double unit = tunable->relative ? fabs(f->groups[0].right) : 1,
                 keys = (double)f->observing->observed->problem->size.keys;
    const double last = tunable->last > 0 ? unit * tunable->last : keys + 2 * fmin(0, tunable->none); /* -1: all keys */
    double value = fmax(unit * tunable->first, -keys);
    size_t count = 0;
    for (; count < GRID && value <= last * (1 + 1e-9); count++) {
        grid[count] = value;
        value = tunable->span == BY_FACTOR ? value * tunable->by : value + tunable->by;
    }
    for (size_t i = 0; i < count && tunable->relative && 2 * count <= GRID; i++)
        grid[count + i] = -grid[i];
    return tunable->relative && 2 * count <= GRID ? 2 * count : count;
}

/* Begins at the lowest sum of the grid, of which later starts know nothing. A value of EACH fits if no other does. */
static void begin(const struct fitting *f, struct group *group, const double *grid, size_t count)
{
    double *sums = group->sums;
    size_t lowest = 0, fitting = 0;
    for (size_t k = 0; k < count; k++) {
        lowest = sums[k] < sums[lowest] ? k : lowest;
        fitting += sums[k] <= (double)group->count;
    }
    group->value = group->open ? grid[lowest] : group->right;
    if (f->tunable->span == EACH) {
        group->best = group->value;
        group->least = fitting == 1 ? 0 : INFINITY;
    }
    for (size_t k = lowest - (lowest > 0); k < count && k <= lowest + 1; k++)
        sums[k] = INFINITY;
}

/* Whether some value fits the sample for each group: 1 in the sum of squares for each of its numbers. */
static bool search(struct fitting *f)
{
    double grid[GRID];
    const size_t count = list_values(f, grid);
    struct group *const end = f->groups + f->group_count;
    for (size_t k = 0; k < count; k++) {
        for (struct group *g = f->groups; g < end; g++)
            g->value = g->open ? grid[k] : g->right;
        take_errors(f, f->errors);
        for (struct group *g = f->groups; g < end; g++)
            g->sums[k] = g->sum;
    }
    for (int start = 0; start < (f->tunable->span == EACH ? 1 : STARTS) && count > 0; start++) {
        for (struct group *g = f->groups; g < end; g++)
            begin(f, g, grid, count);
        if (f->tunable->span != EACH)
            refine(f);
        struct group *g = f->groups;
        while (g < end && (!g->open || g->least <= (double)g->count))
            g++;
        if (g == end)
            return true;
    }
    return false;
}

/* --- the answer -------------------------------------------------------------------------------------------------- */

/* The free numbers of a row: one less than a query's allowed keys where a softmax made it, for each head. */
static double freedom(const struct observing *observing, size_t line)
{
    const struct observe_table *right = &observing->observed->right;
    const struct problem *problem = observing->observed->problem;
    const double heads = right->size[OBSERVE_HEAD] == problem->size.heads ? 1 : (double)problem->size.heads;
    if (!stage_follows(right->stage, STAGE_WEIGHTS) || observing->keys == NULL)
        return INFINITY;
    return heads * ((double)observing->keys[line] - (problem->mask.sinks == NULL));
}

/* Whether the wrong numbers of a group prove its value, which takes the bits of a number, or of a place in the grid. */
static bool is_proven(const struct fitting *f, const struct group *group)
{
    const struct observing *observing = f->observing;
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    const bool each = f->tunable->span == EACH;
    double bits = 0, most = each ? log2(GRID) : 0;
    for (size_t row = 0; row < observing->lines; row++) {
        double of_row = 0, most_of_row = 0;
        if (!observing->part.lines[row] || group_of(f, row * columns) != group)
            continue;
        for (size_t i = row * columns; i < (row + 1) * columns; i++) {
            const double of = observing->wrong[i] ? observe_bits_of(observing, i) : 0;
            of_row += of;
            most_of_row = fmax(most_of_row, of);
        }
        bits += each ? of_row : fmin(of_row, freedom(observing, row) * most_of_row);
        most = fmax(most, most_of_row);
    }
    return bits >= OBSERVE_BITS + most;
}

/* A value in as few digits as its width allows, or 6; rounds it to them if they are so few. */
static const char *value_text(double *value, double width, char text[VALUE_BYTES])
{
    double rounded = NAN;
    *value = fabs(*value) <= width ? 0 : *value;
    for (int digits = 1; digits <= 6 && !(fabs(rounded - *value) <= width); digits++) {
        snprintf(text, VALUE_BYTES, "%.*g", digits, *value);
        rounded = strtod(text, NULL);
    }
    *value = fabs(rounded - *value) <= width ? rounded : *value;
    if (*value == rounded && fabs(rounded) < 1e9 && rounded == round(rounded))
        snprintf(text, VALUE_BYTES, "%.0f", rounded);
    return text;
}

/* Whether the best values, rounded to what somebody may have typed or as they are, give all numbers, which prove them
 * and tell them from others. */
static bool are_right(struct fitting *f)
{
    char text[VALUE_BYTES];
    struct group *const end = f->groups + f->group_count;
    for (struct group *g = f->groups; g < end; g++) {
        const double off = g->right != f->tunable->none ? fabs(g->best - g->right) : INFINITY, width = g->width;
        g->width *= f->tunable->span == BY_FACTOR ? fabs(g->best) : 1;
        if (g->open && (!is_proven(f, g) || width > 0.05 || off <= 8 * g->width))
            return false;
    }
    for (int rounds = 2; rounds-- > 0;) {
        for (struct group *g = f->groups; g < end; g++) {
            g->value = g->best;
            if (rounds > 0)
                value_text(&g->value, 3 * g->width, text);
        }
        const double *made = make(f, f->observing);
        if (made == NULL || !observe_fits(f->observing, made, f->only, 1))
            continue;
        for (struct group *g = f->groups; g < end; g++)
            g->best = g->value;
        return true;
    }
    return false;
}

/* Adds "is 0.360555, 1 / sqrt(8), not 0.353553". */
static void add_value(const struct tunable *tunable, const struct group *group, struct text *text)
{
    char is[VALUE_BYTES], right[VALUE_BYTES];
    const double best = group->best, of = 1 / (best * best), width = group->width / best;
    text_add(text, " is %s", best == tunable->none ? "missing" : value_text(&(double){best}, 0, is));
    if (tunable->relative && best > 0 && best < 1 && fabs(of - round(of)) <= 2 * width * of && width * of < 0.1)
        text_add(text, ", 1 / sqrt(%.0f)", of);
    if (group->right != tunable->none)
        text_add(text, ", not %s", value_text(&(double){group->right}, 0, right));
}

/* Says "the sink of head 2 is 0.5, not 1; of head 3 is 2, not 1". */
static void say(const struct fitting *f)
{
    enum { MOST = 3 };
    struct observing *observing = f->observing;
    char words[OBSERVE_TEXT_BYTES], place[OBSERVE_WHERE_BYTES];
    struct text text = text_begin(words, sizeof words), where = text_begin(place, sizeof place);
    const struct group *first = f->groups;
    size_t told = 0, open = 0, same = 0;
    for (size_t g = 0; g < f->group_count; g++) {
        open += first[g].open;
        same += first[g].open && first[g].best == first->best && first[g].right == first->right;
    }
    text_add(&text, "%s%sthe %s", f->only != NULL ? observing->part.where : "", f->only != NULL ? ": " : "",
             f->tunable->name);
    for (size_t g = 0; g < f->group_count; g++) {
        if (!first[g].open || (same == f->group_count && g > 0) || told++ >= MOST)
            continue;
        text_add(&text, told > 1 ? "; of " : f->group_count > 1 ? " of " : "");
        if (f->group_count > 1 && same == f->group_count)
            text_add(&text, "every %s", observe_axis_name(observing, f->tunable->axis));
        else if (f->group_count > 1)
            observe_add_place(observing, f->tunable->axis, g, &text);
        if (f->group_count > 1 && open == 1)
            observe_add_place(observing, f->tunable->axis, g, &where);
        add_value(f->tunable, &first[g], &text);
    }
    if (told > MOST)
        text_add(&text, "; and %zu more", told - MOST);
    if (first->right == f->tunable->none)
        text_add(&text, "; this job has none");
    if (f->only != NULL)
        observe_say_part(observing, &observing->part, words);
    else
        observe_say(observing, place, "%s", words);
}

/* The groups of the setting, with the right values; false: it does not apply to this table. */
static bool take_groups(struct fitting *f)
{
    struct observing *observing = f->observing;
    const struct observe_table *right = &observing->observed->right;
    const struct problem *problem = observing->observed->problem;
    const enum observe_axis axis = f->tunable->axis;
    f->group_count = axis == OBSERVE_AXES ? 1 : right->size[axis];
    if (!f->tunable->applies(problem) ||
        (axis == OBSERVE_HEAD &&
         (stage_is_of_keys(right->stage) || (right->size[axis] == 1 && problem->size.heads > 1))))
        return false;
    f->groups = observe_zeros(observing, f->group_count, sizeof *f->groups);
    for (size_t g = 0; g < f->group_count && f->groups != NULL; g++) {
        struct group *group = &f->groups[g];
        group->place = axis != OBSERVE_AXES ? observe_index(right, axis, g) : g;
        group->right = group->best = right_of(f->tunable, problem, group->place);
        group->least = INFINITY;
    }
    for (size_t line = 0; line < observing->lines && f->groups != NULL; line++)
        if (observing->part.lines[line])
            group_of(f, line * right->size[OBSERVE_COLUMN])->open = true;
    return f->groups != NULL;
}

/* Of all numbers; or else (other_form) of the wrong ones alone, if these are few: a head, say, has another scale. */
void observe_setting(struct observing *observing)
{
    struct fitting *f = observe_zeros(observing, 1, sizeof *f);
    const bool *only = observing->other_form ? observing->part.only : NULL;
    size_t same = 0, wrong = 0;
    while (same < observing->count && observe_is(observing->observed->mine[same], observing->observed->mine[0], 0))
        same++;
    for (size_t line = 0; line < observing->lines; line++)
        wrong += observing->part.lines[line];
    if (f == NULL || same == observing->count || /* equal numbers prove nothing */
        (only != NULL && (!observing->part.is_product || 4 * wrong >= 3 * observing->lines)))
        return;
    if (observing->sample == NULL)
        observing->sample = take_sample(observing);
    struct observing some = observing->sample != NULL ? *observing->sample : *observing;
    *f = (struct fitting){.observing = observing, .some = &some, .only = only};
    f->errors = observe_zeros(observing, some.count, sizeof *f->errors);
    f->moved = observe_zeros(observing, some.count, sizeof *f->moved);
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0] && observing->sample != NULL; i++) {
        f->tunable = &SETTINGS[i];
        if (observing->error->status == STATUS_OK && take_groups(f) && search(f) && are_right(f))
            say(f);
    }
}
