/* SPDX-License-Identifier: MIT */
#include "model/rope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_PI = 6.28318530717958647692;

/* --- pairs ------------------------------------------------------------------------------------------------------- */

/* Whether the two numbers of a pair are adjacent where read, and where written. */
static const struct {
    bool from_adjacent, to_adjacent;
} KINDS[ROPE_KIND_COUNT] = {
    [ROPE_PAIRS] = {true, true},
    [ROPE_PAIRS_TO_HALVES] = {true, false},
};

static void pair_columns(const struct rope *rope, size_t pair, bool adjacent, size_t columns[2])
{
    columns[0] = rope->first + (adjacent ? 2 * pair : pair);
    columns[1] = columns[0] + (adjacent ? 1 : rope->columns / 2);
}

struct rope_pair rope_pair(const struct rope *rope, size_t pair)
{
    struct rope_pair columns = {0};
    pair_columns(rope, pair, KINDS[rope->kind].from_adjacent, columns.from);
    pair_columns(rope, pair, KINDS[rope->kind].to_adjacent, columns.to);
    return columns;
}

size_t rope_pair_of(const struct rope *rope, bool back, size_t column, size_t *which)
{
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_pair columns = rope_pair(rope, pair);
        for (*which = 0; *which < 2; (*which)++)
            if ((back ? columns.from : columns.to)[*which] == column)
                return pair;
    }
    return SIZE_MAX;
}

/* --- frequencies ------------------------------------------------------------------------------------------------- */

/* The inputs of the frequencies, n / 2 of which go to `frequencies`. */
struct plan {
    const struct rope_settings *settings;
    size_t columns, highest;
    double *frequencies;
};

/* The result of a step. A sum, product, quotient or root in double, rounded to float32, equals the float32
 * operation. */
static double step(bool in_double, double number)
{
    return in_double ? number : (double)(float)number;
}

/* base^(2 i / n). Rounded to float32, powers, cosines and sines do not depend on the C library's variant (0 of 8
 * million differ between glibc with and without FMA), so parts of two machines join. */
static double wave(const struct plan *plan, double base, size_t pair)
{
    const struct rope_settings *settings = plan->settings;
    const struct rope_axis axis = rope_axis(&settings->axes, plan->columns / 2, pair);
    const double each = settings->step > 0 ? settings->step : 2, at = each * (double)axis.index + settings->start;
    return step(settings->in_double, pow(base, step(settings->in_double, at / (2 * (double)axis.of))));
}

static double theta_of(const struct plan *plan)
{
    return step(plan->settings->in_double, plan->settings->theta);
}

static void fill(const struct plan *plan, double base)
{
    for (size_t i = 0; i < plan->columns / 2; i++)
        plan->frequencies[i] = step(plan->settings->in_double, 1 / wave(plan, base, i));
}

static void scale_none(const struct plan *plan)
{
    fill(plan, theta_of(plan));
}

static void scale_linear(const struct plan *plan)
{
    const bool wide = plan->settings->in_double;
    scale_none(plan);
    for (size_t i = 0; i < plan->columns / 2; i++)
        plan->frequencies[i] = step(wide, plan->frequencies[i] / step(wide, plan->settings->scaling.factor));
}

/* "NTK-aware": beyond `old` positions theta grows with the number of positions. */
static void scale_dynamic(const struct plan *plan)
{
    const struct rope_scaling *scaling = &plan->settings->scaling;
    const bool wide = plan->settings->in_double;
    const double n = (double)plan->columns, positions = (double)plan->highest + 1;
    if (positions <= scaling->old) {
        scale_none(plan);
        return;
    }
    const double product = step(wide, step(wide, scaling->factor) * step(wide, positions));
    const double longer = step(wide, product / step(wide, scaling->old));
    const double stretch = step(wide, longer - step(wide, scaling->factor - 1));
    fill(plan, step(wide, theta_of(plan) * step(wide, pow(stretch, n / (n - 2)))));
}

/* Divides frequencies with few turns within `old` positions, keeps those with many, and mixes between. */
static double scale_llama3_one(double frequency, const struct rope_scaling *scaling, bool wide)
{
    const double length = step(wide, step(wide, 1 / frequency) * step(wide, TWO_PI));
    const double factor = step(wide, scaling->factor);
    if (length < step(wide, scaling->old / scaling->high))
        return frequency;
    if (length > step(wide, scaling->old / scaling->low))
        return step(wide, frequency / factor);
    const double turns = step(wide, step(wide, 1 / length) * step(wide, scaling->old));
    const double above = step(wide, turns - step(wide, scaling->low));
    const double smooth = step(wide, above / step(wide, scaling->high - scaling->low));
    const double divided = step(wide, step(wide, step(wide, 1 - smooth) * frequency) / factor);
    return step(wide, divided + step(wide, smooth * frequency));
}

static void scale_llama3(const struct plan *plan)
{
    const struct rope_settings *settings = plan->settings;
    scale_none(plan);
    for (size_t i = 0; i < plan->columns / 2; i++)
        plan->frequencies[i] = scale_llama3_one(plan->frequencies[i], &settings->scaling, settings->in_double);
}

/* The fractional pair that makes `turns` turns within `old` positions: Peng et al. 2023, "YaRN", section 3.2. */
static double pair_of_turns(const struct plan *plan, double turns)
{
    const struct rope_settings *settings = plan->settings;
    return (double)plan->columns * log(settings->scaling.old / (turns * TWO_PI)) / (2 * log(settings->theta));
}

/* Keeps pairs below `low`, divides those above `high`, with a ramp between. */
static void scale_yarn(const struct plan *plan)
{
    const struct rope_scaling *scaling = &plan->settings->scaling;
    const bool wide = plan->settings->in_double;
    double low = pair_of_turns(plan, scaling->fast), high = pair_of_turns(plan, scaling->slow);
    low = fmax(scaling->whole_ramp ? floor(low) : low, 0);
    high = fmin(scaling->whole_ramp ? ceil(high) : high, (double)plan->columns - 1);
    if (low == high)
        high += 0.001;
    for (size_t i = 0; i < plan->columns / 2; i++) {
        const double length = wave(plan, theta_of(plan), i);
        const double ramp = step(wide, step(wide, (double)i - step(wide, low)) / step(wide, high - low));
        const double kept = step(wide, 1 - fmin(fmax(ramp, 0), 1));
        const double slower = step(wide, 1 / step(wide, step(wide, scaling->factor) * length));
        const double divided = step(wide, slower * step(wide, 1 - kept));
        plan->frequencies[i] = step(wide, divided + step(wide, step(wide, 1 / length) * kept));
    }
}

/* A divisor for each pair: Ding et al. 2024, "LongRoPE". */
static void scale_longrope(const struct plan *plan)
{
    const struct rope_scaling *scaling = &plan->settings->scaling;
    const bool wide = plan->settings->in_double, is_long = (double)plan->highest + 1 > scaling->old;
    char *number = (char *)(is_long ? scaling->long_list.text : scaling->short_list.text);
    for (size_t i = 0; i < plan->columns / 2; i++) {
        const double divisor = step(wide, strtod(number, &number));
        plan->frequencies[i] = step(wide, 1 / step(wide, divisor * wave(plan, theta_of(plan), i)));
        number++;
    }
}

/* The pairs beyond a share of them do not turn. */
static void scale_proportional(const struct plan *plan)
{
    const size_t turning = (size_t)floor(plan->settings->scaling.share * (double)plan->columns / 2);
    scale_linear(plan);
    for (size_t i = turning; i < plan->columns / 2; i++)
        plan->frequencies[i] = 0;
}

static double attention_none(const struct rope_scaling *scaling)
{
    (void)scaling;
    return 1;
}

static double attention_yarn(const struct rope_scaling *scaling)
{
    return scaling->factor <= 1 ? 1 : 0.1 * log(scaling->factor) + 1;
}

static double attention_longrope(const struct rope_scaling *scaling)
{
    const double factor = scaling->max / scaling->old;
    return factor <= 1 ? 1 : sqrt(1 + log(factor) / log(scaling->old));
}

/* For each kind: its function, and the least columns and theta. */
static const struct {
    void (*scale)(const struct plan *plan);
    double (*attention)(const struct rope_scaling *scaling);
    size_t least_columns;
    double theta_above;
} SCALINGS[ROPE_SCALING_COUNT] = {
    [ROPE_SCALING_NONE] = {scale_none, attention_none, 2, 0},
    [ROPE_SCALING_LINEAR] = {scale_linear, attention_none, 2, 0},
    [ROPE_SCALING_DYNAMIC] = {scale_dynamic, attention_none, 4, 0},
    [ROPE_SCALING_LLAMA3] = {scale_llama3, attention_none, 2, 0},
    [ROPE_SCALING_YARN] = {scale_yarn, attention_yarn, 2, 1},
    [ROPE_SCALING_LONGROPE] = {scale_longrope, attention_longrope, 2, 0},
    [ROPE_SCALING_PROPORTIONAL] = {scale_proportional, attention_none, 2, 0},
};

/* --- uses of the frequencies
 * ---------------------------------------------------------------------------------------- */

static enum status check_list(const char *name, const struct rope_list *list, size_t columns, struct error *error)
{
    if (list->text != NULL && list->count != columns / 2)
        return error_usage(error, "--rope-scaling: %s has %zu numbers; expected %zu, half of the %zu rotated columns",
                           name, list->count, columns / 2, columns);
    return STATUS_OK;
}

static enum status check_settings(const struct rope_settings *settings, size_t columns, size_t width, size_t highest,
                                  struct error *error)
{
    const struct rope_scaling *scaling = &settings->scaling;
    if (width < 2)
        return error_usage(error, "--rope rotates pairs of columns; expected a head of 2 columns or more, got %zu",
                           width);
    if (columns % 2 != 0 || columns > width)
        return error_usage(error,
                           "--rope rotates pairs of columns, but got %zu of %zu columns; expected an even number of "
                           "--rope-columns, 2 to %zu",
                           columns, width, width / 2 * 2);
    if (columns < SCALINGS[scaling->kind].least_columns)
        return error_usage(error, "--rope-scaling has no rule for %zu columns; expected %zu or more", columns,
                           SCALINGS[scaling->kind].least_columns);
    if (!(settings->theta > SCALINGS[scaling->kind].theta_above && settings->theta <= 1e30))
        return error_usage(error, "--rope-theta %.10g is out of range; expected a number above %g, up to 1e30",
                           settings->theta, SCALINGS[scaling->kind].theta_above);
    if (scaling->kind != ROPE_SCALING_NONE && (settings->axes.restarted || settings->axes.strided))
        return error_usage(error, "--rope-scaling has no rule for --rope-axes restarted or strided; expected none");
    if (rope_axes_check(&settings->axes, columns / 2, error) != STATUS_OK)
        return error->status;
    if (highest > ROPE_POSITION_LIMIT)
        return error_usage(error, "position %zu is out of range; expected 0..2^31-1", highest);
    enum status status = check_list("short", &scaling->short_list, columns, error);
    return status == STATUS_OK ? check_list("long", &scaling->long_list, columns, error) : status;
}

double rope_coordinate(const struct rope *rope, size_t position, size_t pair)
{
    return rope->coordinates == NULL
               ? (double)position
               : rope->coordinates[position * ROPE_AXES + rope_axis(&rope->axes, rope->columns / 2, pair).axis];
}

size_t rope_highest(const struct rope_settings *settings, const size_t *positions, size_t count, size_t least)
{
    double highest = (double)least;
    for (size_t i = 0; i < count * ROPE_AXES; i++) {
        const size_t position = positions[i / ROPE_AXES];
        if (position != SIZE_MAX)
            highest = fmax(highest, settings->coordinates == NULL
                                        ? (double)position
                                        : settings->coordinates[position * ROPE_AXES + i % ROPE_AXES]);
    }
    return (size_t)highest;
}

static double turned(const struct rope *rope, double coordinate, size_t pair)
{
    return step(rope->in_double, step(rope->in_double, coordinate) * rope->frequencies[pair]);
}

static enum status check_angles(const struct rope *rope, size_t highest, struct error *error)
{
    for (size_t i = 0; i < rope->columns / 2; i++)
        if (!isfinite(turned(rope, (double)highest, i)))
            return error_usage(error,
                               "--rope: the angle of position %zu is beyond float%s; expected a larger "
                               "--rope-theta, or larger numbers in --rope-scaling",
                               highest, rope->in_double ? "64" : "32");
    return STATUS_OK;
}

enum status rope_create(struct rope *rope, const struct rope_settings *settings, size_t width, size_t highest,
                        struct arena *arena, struct error *error)
{
    const struct rope_scaling *scaling = &settings->scaling;
    const size_t columns = settings->columns > 0 ? settings->columns : width;
    *rope = (struct rope){.kind = settings->kind, .in_double = settings->in_double, .width = width, .attention = 1};
    if (settings->kind == ROPE_NONE)
        return STATUS_OK;
    if (check_settings(settings, columns, width, highest, error))
        return error->status;
    double *frequencies = arena_allocate(arena, columns / 2, sizeof *frequencies, error);
    if (frequencies == NULL)
        return error->status;
    rope->first = settings->last ? width - columns : 0;
    rope->columns = columns;
    rope->frequencies = frequencies;
    rope->axes = settings->axes;
    rope->coordinates = settings->coordinates;
    rope->attention = step(rope->in_double, scaling->beyond > 0 && (double)highest + 1 > scaling->old ? scaling->beyond
                                            : scaling->attention > 0 ? scaling->attention
                                                                     : SCALINGS[scaling->kind].attention(scaling));
    SCALINGS[scaling->kind].scale(&(struct plan){settings, columns, highest, frequencies});
    return check_angles(rope, highest, error);
}

/* --- rotation ---------------------------------------------------------------------------------------------------- */

/* Per rounding: the dtypes of cos and sin, each operation, and the result; F64 rounds nothing. */
struct steps {
    enum dtype turn, operation, result;
};

static struct steps steps_of(enum rope_rounding rounding, enum dtype dtype)
{
    const struct steps steps[] = {
        [ROPE_ROUNDING_ONCE] = {DTYPE_F64, DTYPE_F64, DTYPE_F64},
        [ROPE_ROUNDING_EACH] = {dtype, dtype, dtype},
        [ROPE_ROUNDING_COSINE] = {dtype, dtype_storage(dtype), dtype},
        [ROPE_ROUNDING_FLOAT] = {DTYPE_F64, dtype_storage(dtype), dtype},
    };
    return steps[rounding];
}

static double rounded(enum dtype dtype, double number)
{
    if (dtype != DTYPE_F64) /* the usual case, and this runs for each number */
        dtype_round(dtype, &number, 1);
    return number;
}

struct rope_turn rope_turn(const struct rope *rope, size_t position, size_t pair, enum rope_rounding rounding,
                           enum dtype dtype)
{
    const struct steps steps = steps_of(rounding, dtype);
    const double angle = turned(rope, rope_coordinate(rope, position, pair), pair);
    const double cosine = step(rope->in_double, cos(angle)), sine = step(rope->in_double, sin(angle));
    return (struct rope_turn){
        .angle = angle,
        .cosine = rounded(steps.turn, step(rope->in_double, cosine * rope->attention)),
        .sine = rounded(steps.turn, step(rope->in_double, sine * rope->attention)),
    };
}

void rope_turns(const struct rope *rope, size_t position, enum rope_rounding rounding, enum dtype dtype,
                double *cosines, double *sines)
{
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_turn turn = rope_turn(rope, position, pair, rounding, dtype);
        cosines[pair] = turn.cosine;
        sines[pair] = turn.sine;
    }
}

static void rotate_pair(const struct rope *rope, size_t pair, double cosine, double sine, struct steps steps,
                        const double *x, double *y)
{
    const struct rope_pair at = rope_pair(rope, pair);
    const double a = x[at.from[0]], b = x[at.from[1]];
    const double first = rounded(steps.operation, a * cosine) - rounded(steps.operation, b * sine);
    const double second = rounded(steps.operation, b * cosine) + rounded(steps.operation, a * sine);
    y[at.to[0]] = rounded(steps.result, rounded(steps.operation, first));
    y[at.to[1]] = rounded(steps.result, rounded(steps.operation, second));
}

static void copy_rest(const struct rope *rope, const double *x, double *y)
{
    const size_t end = rope->first + rope->columns;
    memcpy(y, x, rope->first * sizeof *y);
    memcpy(y + end, x + end, (rope->width - end) * sizeof *y);
}

void rope_rotate(const struct rope *rope, const double *cosines, const double *sines, enum rope_rounding rounding,
                 enum dtype dtype, const double *x, double *y)
{
    const struct steps steps = steps_of(rounding, dtype);
    copy_rest(rope, x, y);
    for (size_t pair = 0; pair < rope->columns / 2; pair++)
        rotate_pair(rope, pair, cosines[pair], sines[pair], steps, x, y);
}

void rope_row(const struct rope *rope, size_t position, enum rope_rounding rounding, enum dtype dtype, const double *x,
              double *y)
{
    const struct steps steps = steps_of(rounding, dtype);
    copy_rest(rope, x, y);
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_turn turn = rope_turn(rope, position, pair, rounding, dtype);
        rotate_pair(rope, pair, turn.cosine, turn.sine, steps, x, y);
    }
}
