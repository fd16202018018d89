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

struct fitting {
    const struct tunable *tunable;
    struct observing *observing, some; /* all numbers, and a few rows, */
    struct observed part;              /* these rows, */
    struct problem problem;            /* of a job in at least float32 */
    size_t *map;                       /* (some.count) their indices among all */
    size_t groups, *places;            /* the numbers of the setting, and their heads or items */
    bool *open;                        /* (groups) has wrong numbers; the others keep the right value */
    double *right, *values, *best;     /* (groups); `values` are being tried */
    double *least, *width;  /* (groups) sum of squares of the best; its move that moves a number a tolerance */
    double *errors, *moved; /* (some.count) in tolerances */
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

/* Changes the job; false if it cannot have these values. */
static bool set_values(const struct fitting *f, struct recipe *recipe, const double *values)
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
    for (size_t g = 0; g < f->groups; g++)
        numbers[f->places[g]] = values[g];
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

/* --- a few rows -------------------------------------------------------------------------------------------------- */

/* Whether a line at that place of the axis has a wrong number; OBSERVE_AXES: any. */
static bool is_wrong(const struct observing *observing, enum observe_axis axis, size_t at)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    size_t line = 0;
    while (line < observing->lines && !(observing->part.lines[line] &&
                                        (axis == OBSERVE_AXES || observe_place(observing, line * columns, axis) == at)))
        line++;
    return line < observing->lines;
}

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

/* Makes a large output in its first columns only; returns how many. */
static size_t narrow(struct problem *problem, const struct observe_table *right)
{
    struct projection *out = &problem->parameters.out;
    const size_t columns = right->size[OBSERVE_COLUMN];
    if (right->stage != STAGE_OUTPUT || !problem->plan.has_out || !out->transposed || columns <= SOME_COLUMNS ||
        columns != problem->plan.d_output)
        return columns;
    problem->plan.d_output = SOME_COLUMNS;
    out->weight = tensor_rows(&out->weight, 0, SOME_COLUMNS);
    if (out->bias.rank > 0)
        out->bias = tensor_rows(&out->bias, 0, SOME_COLUMNS);
    return SOME_COLUMNS;
}

/* The numbers of all, or of the sample, with these values (NULL: the right ones); NULL: the job cannot have them. */
static const double *make(const struct fitting *f, struct observing *observing, const double *values)
{
    struct recipe *recipe = observe_recipe(observing, NULL);
    return recipe != NULL && (values == NULL || set_values(f, recipe, values)) ? observe_make(observing, recipe) : NULL;
}

/* Takes a few rows, in at least float32: coarser numbers do not follow a value that moves by little. */
static bool take_some(struct fitting *f)
{
    struct observing *observing = f->observing;
    const struct observe_table *right = &observing->observed->right;
    size_t *rows = arena_allocate(observing->arena, right->size[OBSERVE_ROW], 2 * sizeof *rows, observing->error);
    f->problem = *observing->observed->problem;
    f->some = *observing;
    f->part = *observing->observed;
    if (rows == NULL)
        return false;
    if (dtype_is_coarse(f->problem.rounding.dtype))
        f->problem.rounding.dtype = f->problem.rounding.softmax_dtype = DTYPE_F32;
    const size_t some = choose_rows(observing, rows), columns = narrow(&f->problem, right);
    size_t *size = f->part.right.size, *index = rows + right->size[OBSERVE_ROW];
    size[OBSERVE_ROW] = some;
    size[OBSERVE_COLUMN] = columns;
    for (size_t i = 0; i < some; i++)
        index[i] = observe_index(right, OBSERVE_ROW, rows[i]);
    f->part.right.index[OBSERVE_ROW] = index;
    f->part.problem = &f->problem;
    f->some.observed = &f->part;
    f->some.columns = (struct plain_columns){.made = {NULL}};
    f->some.count = observe_count(&f->part.right);
    f->map = arena_allocate(observing->arena, f->some.count, sizeof *f->map, observing->error);
    f->errors = arena_allocate(observing->arena, f->some.count, sizeof *f->errors, observing->error);
    f->moved = arena_allocate(observing->arena, f->some.count, sizeof *f->moved, observing->error);
    for (size_t i = 0; some > 0 && columns > 0 && i < f->some.count && f->map != NULL; i++) {
        const size_t row = i / columns, matrix = row / some;
        f->map[i] = (matrix * right->size[OBSERVE_ROW] + rows[row % some]) * right->size[OBSERVE_COLUMN] + i % columns;
    }
    return observing->error->status == STATUS_OK && make(f, &f->some, NULL) != NULL; /* that fills f->some.columns */
}

/* --- the search -------------------------------------------------------------------------------------------------- */

/* The group of number i of all. */
static size_t group_of(const struct fitting *f, size_t i)
{
    return f->groups > 1 ? observe_place(f->observing, i, f->tunable->axis) : 0;
}

/* The errors of the sample in tolerances, and their sums of squares by group; infinite if it cannot be made. */
static void take_errors(struct fitting *f, const double *values, double *errors, double *sums)
{
    static const double FAR_OFF = 1e9;
    struct arena scratch = {0};
    f->some.arena = &scratch;
    const double *made = make(f, &f->some, values);
    for (size_t g = 0; g < f->groups; g++)
        sums[g] = made != NULL ? 0 : INFINITY;
    for (size_t i = 0; i < f->some.count && made != NULL; i++) {
        const double mine = f->observing->observed->mine[f->map[i]];
        const double off =
            observe_is(mine, made[i], 0) ? 0 : (mine - made[i]) / observe_tolerance(f->observing, f->map[i], made[i]);
        errors[i] = isfinite(off) ? fmax(-FAR_OFF, fmin(off, FAR_OFF)) : FAR_OFF;
        sums[group_of(f, f->map[i])] += errors[i] * errors[i];
    }
    arena_free(&scratch);
}

static double step_from(const struct tunable *tunable, double value, double step, double most)
{
    step = isfinite(step) ? fmax(-most, fmin(step, most)) : 0;
    return tunable->span == BY_FACTOR ? value * exp(step) : value + step;
}

/* Gauss-Newton steps from f->values, each group on its own; keeps the best. */
static void refine(struct fitting *f, double *sums)
{
    const double most = f->tunable->span == BY_FACTOR ? log(f->tunable->by) : f->tunable->by, by = most * 1e-3;
    double *moved = sums + f->groups, *squares = moved + f->groups, *along = squares + f->groups;
    bool moves = true;
    for (int step = 0, worse = 0; step < STEPS && moves && worse++ < 4; step++) {
        for (size_t g = 0; g < f->groups; g++)
            moved[g] = f->open[g] ? step_from(f->tunable, f->values[g], by, most) : f->values[g];
        take_errors(f, moved, f->moved, sums);
        take_errors(f, f->values, f->errors, sums);
        memset(squares, 0, 2 * f->groups * sizeof *squares);
        for (size_t i = 0; i < f->some.count; i++) {
            const double slope = (f->moved[i] - f->errors[i]) / by;
            squares[group_of(f, f->map[i])] += slope * slope;
            along[group_of(f, f->map[i])] += slope * f->errors[i];
        }
        moves = false;
        for (size_t g = 0; g < f->groups; g++) {
            if (!f->open[g])
                continue;
            if (sums[g] < f->least[g]) {
                worse = sums[g] < 0.9 * f->least[g] ? 0 : worse;
                f->least[g] = sums[g];
                f->best[g] = f->values[g];
                f->width[g] = 1 / sqrt(squares[g]);
            }
            f->values[g] = step_from(f->tunable, f->values[g], -along[g] / squares[g], most * pow(0.8, step));
            moves = moves || fabs(f->values[g] - f->best[g]) > 1e-9 * fabs(f->best[g]);
        }
    }
}

/* The values to try, at most GRID; returns how many. */
static size_t list_values(const struct fitting *f, double *grid)
{
    const struct tunable *tunable = f->tunable;
    const double unit = tunable->relative ? fabs(f->right[0]) : 1, keys = (double)f->problem.size.keys;
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

/* The largest sum of squares of a group that fits: 1 for each of its numbers. */
static double most_squares(const struct fitting *f)
{
    return (double)(f->some.count / f->groups);
}

/* Whether the best values fit the sample. */
static bool fits(const struct fitting *f)
{
    size_t g = 0;
    while (g < f->groups && (!f->open[g] || f->least[g] <= most_squares(f)))
        g++;
    return g == f->groups;
}

/* Searches the value of each group by the sums of the grid: the one that fits, or the lowest ones refined. */
static void search_grid(struct fitting *f, const double *grid, double *sums, size_t count, double *room)
{
    const size_t groups = f->groups;
    const double most = most_squares(f);
    for (int start = 0; start < (f->tunable->span == EACH ? 1 : STARTS); start++) {
        for (size_t g = 0; g < groups; g++) {
            size_t lowest = 0, fitting = 0;
            for (size_t k = 0; k < count; k++) {
                lowest = sums[k * groups + g] < sums[lowest * groups + g] ? k : lowest;
                fitting += sums[k * groups + g] <= most;
            }
            f->values[g] = f->open[g] ? grid[lowest] : f->right[g];
            if (f->tunable->span == EACH) {
                f->best[g] = f->values[g];
                f->least[g] = fitting == 1 ? 0 : INFINITY;
                f->width[g] = 0;
            }
            for (size_t k = lowest - (lowest > 0); k < count && k <= lowest + 1; k++)
                sums[k * groups + g] = INFINITY;
        }
        if (f->tunable->span != EACH)
            refine(f, room);
        if (fits(f))
            return;
    }
}

/* Whether some value fits the sample for each group. */
static bool search(struct fitting *f)
{
    struct arena scratch = {0};
    double grid[GRID], *sums = arena_allocate(&scratch, (GRID + 4) * f->groups, sizeof *sums, f->some.error);
    const size_t count = sums != NULL ? list_values(f, grid) : 0;
    for (size_t g = 0; g < f->groups; g++) {
        f->least[g] = INFINITY;
        f->best[g] = f->right[g];
        f->width[g] = 0;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t g = 0; g < f->groups; g++)
            f->values[g] = f->open[g] ? grid[k] : f->right[g];
        take_errors(f, f->values, f->errors, sums + k * f->groups);
    }
    if (count > 0)
        search_grid(f, grid, sums, count, sums + GRID * f->groups);
    arena_free(&scratch);
    return fits(f);
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
static bool is_proven(const struct fitting *f, size_t group)
{
    const struct observing *observing = f->observing;
    const struct observed *observed = observing->observed;
    const size_t columns = observed->right.size[OBSERVE_COLUMN];
    const bool each = f->tunable->span == EACH;
    double bits = 0, most = each ? log2(GRID) : 0;
    for (size_t row = 0; row < observing->lines; row++) {
        double of_row = 0, most_of_row = 0;
        if (!observing->part.lines[row] || group_of(f, row * columns) != group)
            continue;
        for (size_t i = row * columns; i < (row + 1) * columns; i++) {
            const double off = fabs(observed->mine[i] - observed->right.numbers[i]);
            const double own = fmin(20, log2(1 + off / observe_tolerance(observing, i, observed->mine[i])));
            of_row += observing->wrong[i] ? own : 0;
            most_of_row = fmax(most_of_row, observing->wrong[i] ? own : 0);
        }
        bits += each ? of_row : fmin(of_row, freedom(observing, row) * most_of_row);
        most = fmax(most, most_of_row);
    }
    return bits >= OBSERVE_BITS + most;
}

/* Whether the best values give all numbers. */
static bool gives_all(const struct fitting *f)
{
    const double *made = make(f, f->observing, f->best);
    return made != NULL && observe_fits(f->observing, made, NULL, 1);
}

/* A value in as few digits as its width allows, or 6; rounds it to them if they are so few. */
static const char *value_text(double *value, double width, char text[VALUE_BYTES])
{
    double rounded = NAN;
    for (int digits = 1; digits <= 6 && !(fabs(rounded - *value) <= width); digits++) {
        snprintf(text, VALUE_BYTES, "%.*g", digits, *value);
        rounded = strtod(text, NULL);
    }
    *value = fabs(rounded - *value) <= width ? rounded : *value;
    if (*value == rounded && fabs(rounded) < 1e9 && rounded == round(rounded))
        snprintf(text, VALUE_BYTES, "%.0f", rounded);
    return text;
}

/* Adds "is 0.360555, 1 / sqrt(8), not 0.353553". */
static void add_value(const struct fitting *f, size_t group, struct text *text)
{
    char is[VALUE_BYTES], right[VALUE_BYTES];
    const double none = f->tunable->none, best = f->best[group], of = 1 / (best * best), width = f->width[group];
    text_add(text, "is %s", best == none ? "missing" : value_text(&(double){best}, 0, is));
    if (f->tunable->relative && best > 0 && best < 1 && fabs(of - round(of)) <= 2 * width * of && width * of < 0.1)
        text_add(text, ", 1 / sqrt(%.0f)", of);
    if (f->right[group] != none)
        text_add(text, ", not %s", value_text(&(double){f->right[group]}, 0, right));
}

static double width_of(const struct fitting *f, size_t group)
{
    return f->width[group] * (f->tunable->span == BY_FACTOR ? fabs(f->best[group]) : 1);
}

/* Whether the numbers prove the best values, and tell them from others. */
static bool are_certain(const struct fitting *f)
{
    for (size_t g = 0; g < f->groups; g++) {
        const double off = f->right[g] != f->tunable->none ? fabs(f->best[g] - f->right[g]) : INFINITY;
        if (f->open[g] && (!is_proven(f, g) || f->width[g] > 0.05 || off <= 8 * width_of(f, g)))
            return false;
    }
    return true;
}

/* Whether the best values give all numbers: rounded to what somebody may have typed, or as they are. */
static bool are_right(struct fitting *f)
{
    char text[VALUE_BYTES];
    memcpy(f->values, f->best, f->groups * sizeof *f->best);
    for (size_t g = 0; g < f->groups; g++)
        value_text(&f->best[g], 3 * width_of(f, g), text);
    if (gives_all(f))
        return true;
    memcpy(f->best, f->values, f->groups * sizeof *f->best);
    return gives_all(f);
}

/* Says "the sink of head 2 is 0.5, not 1; of head 3 is 2, not 1". */
static void say(const struct fitting *f)
{
    enum { MOST = 3 };
    struct observing *observing = f->observing;
    char words[OBSERVE_TEXT_BYTES], place[OBSERVE_WHERE_BYTES];
    struct text text = text_begin(words, sizeof words), where = text_begin(place, sizeof place);
    size_t told = 0, open = 0, same = 0;
    for (size_t g = 0; g < f->groups; g++) {
        open += f->open[g];
        same += f->open[g] && f->best[g] == f->best[0] && f->right[g] == f->right[0];
    }
    text_add(&text, "the %s", f->tunable->name);
    for (size_t g = 0; g < f->groups; g++) {
        if (!f->open[g] || (same == f->groups && g > 0) || told++ >= MOST)
            continue;
        text_add(&text, told > 1 ? "; of " : f->groups > 1 ? " of " : "");
        if (f->groups > 1 && same == f->groups)
            text_add(&text, "every %s", observe_axis_name(observing, f->tunable->axis));
        else if (f->groups > 1)
            observe_add_place(observing, f->tunable->axis, g, &text);
        if (f->groups > 1 && open == 1)
            observe_add_place(observing, f->tunable->axis, g, &where);
        text_add(&text, " ");
        add_value(f, g, &text);
    }
    if (told > MOST)
        text_add(&text, "; and %zu more", told - MOST);
    if (f->right[0] == f->tunable->none)
        text_add(&text, "; this job has none");
    observe_say(observing, place, "%s", words);
}

/* The groups of the setting, with the right values; false: it does not apply to this table. */
static bool take_groups(struct fitting *f)
{
    struct observing *observing = f->observing;
    const struct observe_table *right = &observing->observed->right;
    const struct problem *problem = observing->observed->problem;
    const enum observe_axis axis = f->tunable->axis;
    f->groups = axis == OBSERVE_AXES ? 1 : right->size[axis];
    f->places = arena_allocate(observing->arena, f->groups, sizeof *f->places, observing->error);
    f->open = arena_allocate(observing->arena, f->groups, sizeof *f->open, observing->error);
    f->right = arena_allocate(observing->arena, f->groups, 5 * sizeof *f->right, observing->error);
    if (!f->tunable->applies(problem) || f->places == NULL || f->open == NULL || f->right == NULL ||
        (axis == OBSERVE_HEAD &&
         (stage_is_of_keys(right->stage) || (right->size[axis] == 1 && problem->size.heads > 1))))
        return false;
    f->values = f->right + f->groups;
    f->best = f->values + f->groups;
    f->least = f->best + f->groups;
    f->width = f->least + f->groups;
    for (size_t g = 0; g < f->groups; g++) {
        f->places[g] = axis != OBSERVE_AXES ? observe_index(right, axis, g) : g;
        f->right[g] = right_of(f->tunable, problem, f->places[g]);
        f->open[g] = is_wrong(observing, axis, g);
    }
    return true;
}

void observe_setting(struct observing *observing)
{
    struct fitting *f = arena_allocate(observing->arena, 1, sizeof *f, observing->error);
    size_t same = 0;
    while (same < observing->count && observe_is(observing->observed->mine[same], observing->observed->mine[0], 0))
        same++;
    if (f == NULL || same == observing->count) /* equal numbers prove nothing */
        return;
    *f = (struct fitting){.observing = observing};
    if (!take_some(f))
        return;
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0] && observing->error->status == STATUS_OK; i++) {
        f->tunable = &SETTINGS[i];
        if (take_groups(f) && search(f) && are_certain(f) && are_right(f))
            say(f);
    }
}
