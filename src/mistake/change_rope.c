/* SPDX-License-Identifier: MIT */
/* Mistakes of slots rope, rope_theta and rope_scaling: other positions, in a copy of the positions, or other angles, in
 * a copy of the frequencies. */
#include "mistake/recipe.h"

static const char NO_ROPE[] = "there is no rotation";

enum { BOTH = OF_QUERY | OF_KEY };

/* Marks query, key or both as changed, with a formula. */
static const char *change_steps(struct recipe *recipe, unsigned ids, const char *formula)
{
    recipe->changed_steps |= ids;
    for (enum projection_id id = 0; id < PROJECTION_COUNT && formula != NULL; id++)
        if (ids & 1U << id)
            recipe_tells(recipe, projection_stage(id), formula);
    return NULL;
}

/* --- which columns, which angles --------------------------------------------------------------------------------- */

/* Makes the rotation from other settings, or returns why it cannot. */
static const char *make_rope(struct recipe *recipe, const struct rope_settings *settings, size_t width)
{
    struct problem *problem = &recipe->problem;
    struct error error = {0};
    const enum status status =
        rope_create(&problem->rotation.rope, settings, width, problem->rotation.highest, recipe->arena, &error);
    if (status == STATUS_SYSTEM)
        *recipe->error = error;
    problem->rotation.settings = *settings;
    change_steps(recipe, BOTH, NULL);
    return status == STATUS_USAGE ? "the columns or the angles do not allow this rotation" : NULL;
}

static const char *read_as(struct recipe *recipe, enum rope_kind kind)
{
    if (recipe->problem.rotation.rope.kind == ROPE_NONE)
        return NO_ROPE;
    if (recipe->problem.rotation.rope.kind == kind)
        return "columns are already rotated this way";
    recipe->problem.rotation.rope.kind = recipe->problem.rotation.settings.kind = kind;
    return change_steps(recipe, BOTH, NULL);
}

CHANGE(ROPE_PAIRS, read_as(recipe, ROPE_PAIRS))
CHANGE(ROPE_HALVES, read_as(recipe, ROPE_HALF))

CHANGE_BY(ROPE_THETA)
{
    struct rope_settings settings = problem->rotation.settings;
    if (settings.kind == ROPE_NONE)
        return NO_ROPE;
    if (settings.theta == form)
        return "the rotation has this theta already";
    settings.theta = form;
    return make_rope(recipe, &settings, problem->size.d_head);
}

/* The forms of the exponents, -(step i + start) / n: -i / n, -4 i / n, -2 (i + 1) / n, -2 i / d_in. */
CHANGE_BY(ROPE_EXPONENT)
{
    struct rope_settings settings = problem->rotation.settings;
    if (form == 3 && (!problem_projects(problem) || problem->size.d_in == problem->rotation.rope.columns))
        return "the inputs are as wide as the rotated columns, or unknown";
    settings.step = form == 0 ? 1 : form == 1 ? 4 : 2;
    if (form == 3)
        settings.step = 2 * (double)problem->rotation.rope.columns / (double)problem->size.d_in;
    settings.start = form == 2 ? 2 : 0;
    return settings.kind == ROPE_NONE ? NO_ROPE : make_rope(recipe, &settings, problem->size.d_head);
}

static const char NO_SCALING[] = "the frequencies are not scaled";

/* Makes the rotation with another scaling, unless it is the same, or of a kind that the mistake does not know. */
static const char *scale_as(struct recipe *recipe, bool known, struct rope_scaling scaling, const char *otherwise)
{
    struct rope_settings settings = recipe->problem.rotation.settings;
    if (settings.kind == ROPE_NONE || settings.scaling.kind == ROPE_SCALING_NONE)
        return NO_SCALING;
    settings.scaling = scaling;
    return known ? make_rope(recipe, &settings, recipe->problem.size.d_head) : otherwise;
}

/* The job's scaling with the numbers of most models. */
static struct rope_scaling usual_scaling(struct rope_scaling scaling)
{
    const bool llama = scaling.kind == ROPE_SCALING_LLAMA3;
    if (llama)
        return (struct rope_scaling){.kind = scaling.kind, .factor = 8, .low = 1, .high = 4, .old = 8192};
    scaling.fast = 32;
    scaling.slow = 1;
    scaling.attention = 0;
    return scaling;
}

/* Changes a field of a copy of the job's scaling. */
#define SCALING(id, known, otherwise, what)                                      \
    CHANGE_BY(id)                                                                \
    {                                                                            \
        struct rope_scaling scaling = recipe->problem.rotation.settings.scaling; \
        const enum rope_scaling_kind kind = scaling.kind;                        \
        (void)kind;                                                              \
        what;                                                                    \
        return scale_as(recipe, known, scaling, otherwise);                      \
    }

SCALING(ROPE_SCALING_MISSING, true, NULL, scaling = (struct rope_scaling){.kind = ROPE_SCALING_NONE})
SCALING(ROPE_SCALING_LINEAR, kind != ROPE_SCALING_LINEAR && scaling.factor > 0,
        "the scaling is linear, or has no factor",
        scaling = ((struct rope_scaling){.kind = ROPE_SCALING_LINEAR, .factor = scaling.factor}))
SCALING(ROPE_ATTENTION_MISSING, recipe->problem.rotation.rope.attention != 1, "the scaling has no attention factor",
        scaling.attention = 1)
SCALING(ROPE_SCALING_TRUNCATE, kind == ROPE_SCALING_YARN, "the scaling is not yarn",
        scaling.whole_ramp = !scaling.whole_ramp)
SCALING(ROPE_SCALING_OLD, scaling.old > 0 && scaling.factor > 0, "the scaling has no such length",
        scaling.old *= scaling.factor)
SCALING(ROPE_SCALING_USUAL, kind == ROPE_SCALING_LLAMA3 || kind == ROPE_SCALING_YARN,
        "the scaling is neither llama3 nor yarn", scaling = usual_scaling(scaling))
SCALING(ROPE_SCALING_SWAPPED, kind == ROPE_SCALING_LLAMA3 || kind == ROPE_SCALING_YARN,
        "the scaling is neither llama3 nor yarn", scaling.low = recipe->problem.rotation.settings.scaling.high;
        scaling.high = recipe->problem.rotation.settings.scaling.low; scaling.fast = scaling.slow;
        scaling.slow = recipe->problem.rotation.settings.scaling.fast)
SCALING(ROPE_SCALING_LISTS, kind == ROPE_SCALING_LONGROPE, "the scaling is not longrope",
        scaling.short_list = scaling.long_list;
        scaling.long_list = recipe->problem.rotation.settings.scaling.short_list)

CHANGE_BY(ROPE_SCALING_ATTENTION_ALONE)
{
    const double attention = problem->rotation.rope.attention;
    const char *reason = change_ROPE_SCALING_MISSING(recipe, problem, mask, form);
    problem->rotation.rope.attention = attention;
    return attention == 1 ? "the scaling has no attention factor" : reason;
}

/* Rotates so many columns, 0: all, at the end of a head or not, where only some are rotated. */
static const char *rotate_others(struct recipe *recipe, size_t columns, bool last)
{
    const struct rope *rope = &recipe->problem.rotation.rope;
    struct rope_settings settings = recipe->problem.rotation.settings;
    settings.columns = columns;
    settings.last = last;
    return rope->kind == ROPE_NONE        ? NO_ROPE
           : rope->columns == rope->width ? "all columns are rotated"
                                          : make_rope(recipe, &settings, recipe->problem.size.d_head);
}

CHANGE(ROPE_ALL_COLUMNS, rotate_others(recipe, 0, false))
CHANGE(ROPE_OTHER_END, rotate_others(recipe, problem->rotation.settings.columns, !problem->rotation.settings.last))

/* The forms: twice, or half as many. */
CHANGE_BY(ROPE_COLUMNS)
{
    const struct rope *rope = &problem->rotation.rope;
    struct rope_settings settings = problem->rotation.settings;
    settings.columns = form == 0 ? 2 * rope->columns : rope->columns / 2;
    return rope->kind == ROPE_NONE                                       ? NO_ROPE
           : settings.columns > rope->width || settings.columns % 2 != 0 ? "a head has no such columns"
           : settings.columns == rope->width                             ? "rope-all-columns does the same"
                                             : make_rope(recipe, &settings, problem->size.d_head);
}

/* Uses the exponents -2 i / d in place of -2 i / n. */
CHANGE_BY(ROPE_EXPONENT_OF_HEAD)
{
    const struct rope right = problem->rotation.rope;
    const char *reason = change_ROPE_ALL_COLUMNS(recipe, problem, mask, form);
    problem->rotation.rope.first = right.first;
    problem->rotation.rope.columns = right.columns;
    return reason;
}

/* Multiplies all frequencies by a factor, and rounds them to a dtype. */
static const char *multiply(struct recipe *recipe, double factor, enum dtype dtype, const char *formula)
{
    struct rope *rope = &recipe->problem.rotation.rope;
    if (rope->kind == ROPE_NONE)
        return NO_ROPE;
    double *frequencies = arena_allocate(recipe->arena, rope->columns / 2, sizeof *frequencies, recipe->error);
    for (size_t i = 0; i < rope->columns / 2 && frequencies != NULL; i++)
        frequencies[i] = rope->frequencies[i] * factor;
    if (frequencies != NULL)
        dtype_round(dtype, frequencies, rope->columns / 2);
    rope->frequencies = frequencies;
    return change_steps(recipe, BOTH, formula);
}

CHANGE(ROPE_BACKWARDS, multiply(recipe, -1, DTYPE_F64, ", rotated the wrong way"))
CHANGE(ROPE_DEGREES, multiply(recipe, 3.14159265358979323846 / 180, DTYPE_F64, ", its angles taken as degrees"))

/* --- how a pair turns --------------------------------------------------------------------------------------------- */

static const char *turn(struct recipe *recipe, enum recipe_turn kind, const char *query, const char *key)
{
    if (recipe->problem.rotation.rope.kind == ROPE_NONE)
        return NO_ROPE;
    recipe->turn = kind;
    change_steps(recipe, BOTH, NULL);
    recipe_makes(recipe, STAGE_QUERY, query);
    return recipe_makes(recipe, STAGE_KEY, key);
}

#define BOTH_BY(how) ", " how, ", " how

/* The forms: angles of other columns, or other columns with the right angles. */
CHANGE_BY(ROPE_MIXED)
{
    const enum rope_kind kind = problem->rotation.rope.kind;
    if (kind == ROPE_PAIRS_TO_HALVES)
        return "pairs are written as halves";
    if (form == 1 && kind != ROPE_NONE)
        read_as(recipe, kind == ROPE_PAIRS ? ROPE_HALF : ROPE_PAIRS);
    return turn(recipe, RECIPE_TURN_MIXED, BOTH_BY("rotated by the angles of other columns"));
}

CHANGE(ROPE_MINUS_MISSING, turn(recipe, RECIPE_TURN_PLUS, BOTH_BY("rotated without a minus")))
CHANGE(ROPE_BY_HEADS, problem->size.heads == 1
                          ? "there is one head"
                          : turn(recipe, RECIPE_TURN_HEADS, BOTH_BY("rotated by the number of its head")))

/* The forms: cosines, frequencies, angles. */
CHANGE(ROPE_BF16, problem->rounding.dtype == DTYPE_BF16 ? "all is in bfloat16"
                  : form == 1                           ? multiply(recipe, 1, DTYPE_BF16, NULL)
                  : form == 0 ? turn(recipe, RECIPE_TURN_BF16_COSINES, BOTH_BY("cosines in bfloat16"))
                              : turn(recipe, RECIPE_TURN_BF16_ANGLES, BOTH_BY("angles in bfloat16")))

CHANGE_BY(ROPE_BEFORE_SPLIT)
{
    const struct rope right = problem->rotation.rope;
    const struct rope_settings settings = problem->rotation.settings;
    const size_t heads[] = {problem->size.heads, problem->size.kv_heads};
    if (heads[0] == 1 || right.columns != right.width)
        return right.kind == ROPE_NONE ? NO_ROPE
               : heads[0] == 1         ? "there is one head"
                                       : "only some columns are rotated";
    for (int id = PROJECTION_QUERY; id <= PROJECTION_KEY; id++) {
        const char *reason = make_rope(recipe, &settings, heads[id] * problem->size.d_head);
        if (reason != NULL)
            return reason;
        recipe->all_heads[id] = problem->rotation.rope;
    }
    problem->rotation.rope = right;
    return turn(recipe, RECIPE_TURN_ALL_HEADS, BOTH_BY("all heads rotated as one"));
}

CHANGE_BY(ROPE_TWICE)
{
    if (problem->rotation.rope.kind == ROPE_PAIRS_TO_HALVES)
        return "pairs written as halves cannot be rotated twice";
    problem->rotation.rope.attention *= problem->rotation.rope.attention;
    return multiply(recipe, 2, DTYPE_F64, ", rotated twice by its position");
}

/* --- which rows, which positions --------------------------------------------------------------------------------- */

/* A move by this much removes the rotation. */
#define NOWHERE INT64_MAX

/* Gives the changed problem its own positions: `by` more, or none. */
static const char *move(struct recipe *recipe, enum projection_id id, int64_t by)
{
    struct problem *problem = &recipe->problem;
    const bool of_query = id == PROJECTION_QUERY;
    const size_t rows = of_query ? problem->size.queries : problem->size.keys - problem->rotation.past,
                 count = problem->size.items * rows;
    const size_t *positions = of_query ? problem->rotation.positions : problem->rotation.key_positions;
    if (problem->rotation.rope.kind == ROPE_NONE)
        return NO_ROPE;
    if (problem->rotation.settings.coordinates != NULL && by != NOWHERE)
        return "positions have several axes";
    size_t *moved = arena_allocate(recipe->arena, count, sizeof *moved, recipe->error);
    for (size_t i = 0; i < count && moved != NULL; i++) {
        if (by != NOWHERE && (int64_t)positions[i] + by < 0)
            return "a position would be below 0";
        if (by != NOWHERE && (int64_t)positions[i] + by > ROPE_POSITION_LIMIT)
            return "a position would be too high";
        moved[i] = by != NOWHERE ? (size_t)((int64_t)positions[i] + by) : SIZE_MAX;
    }
    *(of_query ? &problem->rotation.positions : &problem->rotation.key_positions) = moved;
    return NULL;
}

/* Moves the positions of query, key, or both. */
static const char *move_all(struct recipe *recipe, unsigned ids, int64_t by, const char *formula)
{
    const char *reason = ids & OF_QUERY ? move(recipe, PROJECTION_QUERY, by) : NULL;
    change_steps(recipe, ids, formula);
    return reason == NULL && ids & OF_KEY ? move(recipe, PROJECTION_KEY, by) : reason;
}

static const char NOT_TURNED[] = ", not rotated";

CHANGE(ROPE_MISSING, move_all(recipe, BOTH, NOWHERE, NOT_TURNED))
CHANGE(ROPE_QUERY_MISSING, move_all(recipe, OF_QUERY, NOWHERE, NOT_TURNED))
CHANGE(ROPE_KEY_MISSING, move_all(recipe, OF_KEY, NOWHERE, NOT_TURNED))

static const char LATER[] = ", rotated by its position + 1", EARLIER[] = ", rotated by its position - 1";

CHANGE(ROPE_QUERY_PLUS_1, move_all(recipe, OF_QUERY, 1, LATER))
CHANGE(ROPE_QUERY_MINUS_1, move_all(recipe, OF_QUERY, -1, EARLIER))
CHANGE(ROPE_KEY_PLUS_1, move_all(recipe, OF_KEY, 1, LATER))
CHANGE(ROPE_KEY_MINUS_1, move_all(recipe, OF_KEY, -1, EARLIER))
CHANGE(ROPE_POSITIONS_FROM, move_all(recipe, BOTH, (int64_t)form, ", rotated by a position that starts higher"))

/* Keys of the past keep their positions, by which they are rotated already. */
CHANGE(ROPE_PAST_MISSING, problem->rotation.past == 0 ? "there is no past"
                                                      : move_all(recipe, BOTH, -(int64_t)problem->rotation.past,
                                                                 ", rotated as if there were no past"))

static const char ONE_AXIS[] = "all axes have the same positions";

/* The first time of the picture of a row, whose neighbours have the same time; 0 for other rows. */
static double picture_start(const double *coordinates, size_t row, size_t rows, double before)
{
    const double *time = coordinates + row * ROPE_AXES;
    const bool same = row > 0 && time[-ROPE_AXES] == time[0], next = row + 1 < rows && time[ROPE_AXES] == time[0];
    return !same && !next ? 0 : same && before > 0 ? before : time[0];
}

static const double FROM_0 = 9; /* a form */

/* Gives each axis the coordinates of another one, or (ROPE_AXES) the numbers of the tokens; FROM_0: height and width of
 * a picture begin at 0. */
CHANGE_BY(ROPE_AXES_ROWS)
{
    static const size_t FROM[][ROPE_AXES] = {{0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1},
                                             {0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {0, 1, 2}};
    const struct rope_settings *right = &problem->rotation.settings;
    const size_t count = ROPE_AXES * (problem->size.keys - problem->rotation.past);
    double *others = arena_allocate(recipe->arena, count, sizeof *others, recipe->error);
    const size_t rows = count / ROPE_AXES;
    double start = 0;
    for (size_t i = 0; i < count && others != NULL && right->coordinates != NULL; i++) {
        const size_t own = i % ROPE_AXES, axis = FROM[(size_t)form][own], row = i / ROPE_AXES;
        if (axis < ROPE_AXES && axis != own && !right->axes.has[axis])
            return "positions lack an axis";
        others[i] = axis < ROPE_AXES ? right->coordinates[row * ROPE_AXES + axis] : (double)row;
        if (form == FROM_0 && own == 0)
            start = picture_start(right->coordinates, row, rows, start);
        else if (form == FROM_0)
            others[i] -= start;
    }
    if (right->coordinates == NULL)
        return ONE_AXIS;
    problem->rotation.rope.coordinates = problem->rotation.settings.coordinates = others;
    return change_steps(recipe, BOTH, NULL);
}

/* The forms: in turn, in turn without limits, in blocks, the axes or only their counts reversed, frequencies that start
 * again on each axis or do not. */
CHANGE_BY(ROPE_AXES_PAIRS)
{
    struct rope_settings settings = problem->rotation.settings;
    struct rope_axes *axes = &settings.axes;
    const struct rope_axes right = *axes;
    const size_t last = axes->count - 1;
    if (settings.coordinates == NULL)
        return ONE_AXIS;
    if ((form == 0 && axes->interleaved) || (form == 2 && !axes->interleaved))
        return "pairs take the axes so already";
    axes->interleaved = form < 2 || (form != 2 && axes->interleaved);
    axes->restarted = axes->restarted != (form == 5);
    for (size_t i = 0; i <= last; i++) {
        axes->axis[i] = form == 3 ? right.axis[last - i] : right.axis[i];
        axes->pairs[i] = form == 1                ? problem->size.d_head
                         : form == 3 || form == 4 ? right.pairs[last - i]
                                                  : right.pairs[i];
    }
    return make_rope(recipe, &settings, problem->size.d_head);
}

CHANGE_BY(ROPE_ON_VALUES)
{
    if (problem->rotation.rope.kind == ROPE_NONE)
        return NO_ROPE;
    if (problem->size.d_value != problem->size.d_head)
        return "value and key differ in columns";
    recipe->rotates_value = true;
    recipe->changed_steps |= OF_VALUE;
    return recipe_makes(recipe, STAGE_VALUE, "value, rotated by its position like key");
}
