/* Mistakes of slot rope. Rows that are turned by another position have it in a copy of the positions; other angles are
 * other frequencies, in a copy of these. */
#include "mistake/recipe.h"

#include <string.h>

static const char NO_ROPE[] = "nothing is turned by its position";

enum { BOTH = 1U << PROJECTION_QUERY | 1U << PROJECTION_KEY };

/* Query, key or both come out otherwise; the stages tell how. */
static void turn_anew(struct recipe *recipe, unsigned ids, const char *formula)
{
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (ids & 1U << id) {
            recipe->steps_anew[id] = true;
            if (formula != NULL)
                recipe_tells(recipe, projection_stage((enum projection_id)id), formula);
        }
}

/* --- which columns, which angles --------------------------------------------------------------------------------- */

/* The rotation made of other settings, or why there is none. */
static const char *make_rope(struct recipe *recipe, const struct rope_settings *settings)
{
    struct problem *problem = &recipe->problem;
    struct error error = {0};
    const enum status status =
        rope_create(&problem->rope, settings, problem->d_head, problem->rope_highest, recipe->arena, &error);
    if (status == STATUS_SYSTEM)
        *recipe->error = error;
    problem->rope_settings = *settings;
    turn_anew(recipe, BOTH, NULL);
    return status == STATUS_USAGE ? "the columns, or the angles, allow no such rotation" : NULL;
}

static const char *read_as(struct recipe *recipe, enum rope_kind kind)
{
    if (recipe->problem.rope.kind == ROPE_NONE)
        return NO_ROPE;
    if (recipe->problem.rope.kind == kind)
        return "it is how columns are turned";
    recipe->problem.rope.kind = recipe->problem.rope_settings.kind = kind;
    turn_anew(recipe, BOTH, NULL);
    return NULL;
}

const char *mistake_rope_pairs(struct recipe *recipe, double form)
{
    (void)form;
    return read_as(recipe, ROPE_PAIRS);
}

const char *mistake_rope_halves(struct recipe *recipe, double form)
{
    (void)form;
    return read_as(recipe, ROPE_HALF);
}

const char *mistake_rope_theta(struct recipe *recipe, double form)
{
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE)
        return NO_ROPE;
    if (settings.theta == form)
        return "it is the theta that is asked for";
    settings.theta = form;
    return make_rope(recipe, &settings);
}

static const char NO_SCALING[] = "the frequencies are not scaled";

const char *mistake_rope_scaling_missing(struct recipe *recipe, double form)
{
    (void)form;
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE || settings.scaling.kind == ROPE_SCALING_NONE)
        return NO_SCALING;
    settings.scaling = (struct rope_scaling){.kind = ROPE_SCALING_NONE};
    return make_rope(recipe, &settings);
}

const char *mistake_rope_scaling_linear(struct recipe *recipe, double form)
{
    (void)form;
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE || settings.scaling.factor <= 0)
        return NO_SCALING;
    if (settings.scaling.kind == ROPE_SCALING_LINEAR)
        return "the scaling is linear";
    settings.scaling = (struct rope_scaling){.kind = ROPE_SCALING_LINEAR, .factor = settings.scaling.factor};
    return make_rope(recipe, &settings);
}

const char *mistake_rope_attention_missing(struct recipe *recipe, double form)
{
    (void)form;
    struct rope *rope = &recipe->problem.rope;
    if (rope->kind == ROPE_NONE || rope->attention == 1)
        return "cosines and sines are multiplied with nothing";
    rope->attention = 1;
    turn_anew(recipe, BOTH, NULL);
    return NULL;
}

static const char ALL_COLUMNS[] = "all columns are turned";

const char *mistake_rope_all_columns(struct recipe *recipe, double form)
{
    (void)form;
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE)
        return NO_ROPE;
    if (recipe->problem.rope.columns == recipe->problem.rope.width)
        return ALL_COLUMNS;
    settings.columns = 0;
    settings.last = false;
    return make_rope(recipe, &settings);
}

const char *mistake_rope_other_end(struct recipe *recipe, double form)
{
    (void)form;
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE)
        return NO_ROPE;
    if (recipe->problem.rope.columns == recipe->problem.rope.width)
        return ALL_COLUMNS;
    settings.last = !settings.last;
    return make_rope(recipe, &settings);
}

/* The exponents -2 i / d in place of -2 i / n. */
const char *mistake_rope_exponent_of_head(struct recipe *recipe, double form)
{
    (void)form;
    const struct rope right = recipe->problem.rope;
    struct rope_settings settings = recipe->problem.rope_settings;
    if (settings.kind == ROPE_NONE)
        return NO_ROPE;
    if (right.columns == right.width)
        return ALL_COLUMNS;
    settings.columns = 0;
    settings.last = false;
    const char *reason = make_rope(recipe, &settings);
    recipe->problem.rope.first = right.first;
    recipe->problem.rope.columns = right.columns;
    return reason;
}

/* All frequencies times a factor. */
static const char *multiply(struct recipe *recipe, double factor, const char *formula)
{
    struct rope *rope = &recipe->problem.rope;
    if (rope->kind == ROPE_NONE)
        return NO_ROPE;
    double *frequencies = arena_allocate(recipe->arena, rope->columns / 2, sizeof *frequencies, recipe->error);
    for (size_t i = 0; i < rope->columns / 2 && frequencies != NULL; i++)
        frequencies[i] = rope->frequencies[i] * factor;
    rope->frequencies = frequencies;
    turn_anew(recipe, BOTH, formula);
    return NULL;
}

const char *mistake_rope_backwards(struct recipe *recipe, double form)
{
    (void)form;
    return multiply(recipe, -1, ", turned the other way");
}

const char *mistake_rope_twice(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.rope.kind == ROPE_PAIRS_TO_HALVES)
        return "what is written as halves is no pair any more";
    recipe->problem.rope.attention *= recipe->problem.rope.attention;
    return multiply(recipe, 2, ", turned twice by its position");
}

/* --- which rows, which positions --------------------------------------------------------------------------------- */

/* What becomes of a position. */
enum moving { MOVE_BY, MOVE_NOWHERE };

/* Positions of their own for the changed problem: `by` more, or none. */
static const char *move(struct recipe *recipe, enum projection_id id, enum moving moving, int64_t by)
{
    struct problem *problem = &recipe->problem;
    const bool of_query = id == PROJECTION_QUERY;
    const size_t rows = of_query ? problem->queries : problem->keys - problem->past, count = problem->items * rows;
    const size_t *positions = of_query ? problem->positions : problem->key_positions;
    if (problem->rope.kind == ROPE_NONE)
        return NO_ROPE;
    size_t *moved = arena_allocate(recipe->arena, count, sizeof *moved, recipe->error);
    for (size_t i = 0; i < count && moved != NULL; i++) {
        if (moving == MOVE_BY && (int64_t)positions[i] + by < 0)
            return "a position would be below 0";
        if (moving == MOVE_BY && (int64_t)positions[i] + by > ROPE_POSITION_LIMIT)
            return "a position would be too high";
        moved[i] = moving == MOVE_BY ? (size_t)((int64_t)positions[i] + by) : SIZE_MAX;
    }
    *(of_query ? &problem->positions : &problem->key_positions) = moved;
    return NULL;
}

static const char *move_one(struct recipe *recipe, enum projection_id id, enum moving moving, int64_t by,
                            const char *formula)
{
    const char *reason = move(recipe, id, moving, by);
    turn_anew(recipe, 1U << id, formula);
    return reason;
}

static const char *move_both(struct recipe *recipe, enum moving moving, int64_t by, const char *formula)
{
    const char *reason = move(recipe, PROJECTION_QUERY, moving, by);
    turn_anew(recipe, BOTH, formula);
    return reason != NULL ? reason : move(recipe, PROJECTION_KEY, moving, by);
}

static const char NOT_TURNED[] = ", not turned";

const char *mistake_rope_missing(struct recipe *recipe, double form)
{
    (void)form;
    return move_both(recipe, MOVE_NOWHERE, 0, NOT_TURNED);
}

const char *mistake_rope_query_missing(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_QUERY, MOVE_NOWHERE, 0, NOT_TURNED);
}

const char *mistake_rope_key_missing(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_KEY, MOVE_NOWHERE, 0, NOT_TURNED);
}

static const char LATER[] = ", turned by its position + 1", EARLIER[] = ", turned by its position - 1";

const char *mistake_rope_query_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_QUERY, MOVE_BY, 1, LATER);
}

const char *mistake_rope_query_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_QUERY, MOVE_BY, -1, EARLIER);
}

const char *mistake_rope_key_plus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_KEY, MOVE_BY, 1, LATER);
}

const char *mistake_rope_key_minus_1(struct recipe *recipe, double form)
{
    (void)form;
    return move_one(recipe, PROJECTION_KEY, MOVE_BY, -1, EARLIER);
}

const char *mistake_rope_positions_from(struct recipe *recipe, double form)
{
    return move_both(recipe, MOVE_BY, (int64_t)form, ", turned by a position that begins higher");
}

/* Keys of the past keep the positions by which they are turned already. */
const char *mistake_rope_past_missing(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.past == 0)
        return "there is no past";
    return move_both(recipe, MOVE_BY, -(int64_t)recipe->problem.past, ", turned as if there were no past");
}

const char *mistake_rope_on_values(struct recipe *recipe, double form)
{
    (void)form;
    if (recipe->problem.rope.kind == ROPE_NONE)
        return NO_ROPE;
    if (recipe->problem.d_value != recipe->problem.d_head)
        return "value has other columns than key";
    recipe->turns_value = recipe->steps_anew[PROJECTION_VALUE] = true;
    recipe_makes(recipe, STAGE_VALUE, "value, turned by its position as key is");
    return NULL;
}
