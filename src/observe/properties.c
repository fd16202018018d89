/* SPDX-License-Identifier: MIT */
/* Properties of the table itself: sums of weights, masked keys, signs, the hull of the values, rows that are alike. */
#include "observe/observing.h"

#include <math.h>

const char *observe_line(const struct observing *observing, size_t i, char words[OBSERVE_WHERE_BYTES])
{
    struct text text = text_begin(words, OBSERVE_WHERE_BYTES);
    for (int axis = OBSERVE_ITEM; axis <= OBSERVE_ROW; axis++)
        if (axis == OBSERVE_ROW || observing->observed->right.size[axis] > 1) {
            text_add(&text, "%s", text.length > 0 ? ", " : "");
            observe_add_place(observing, (enum observe_axis)axis, observe_place(observing, i, (enum observe_axis)axis),
                              &text);
        }
    return words;
}

/* The sums of `count` numbers from `first` on, `step` apart: somebody's less 1, and how far rounding may move that. */
struct sums {
    double mine, right, tolerance;
};

static struct sums sum(const struct observing *observing, size_t first, size_t step, size_t count)
{
    const struct observed *observed = observing->observed;
    struct sums sums = {0};
    for (size_t i = first; i < first + count * step; i += step) {
        sums.mine += observed->mine[i];
        sums.right += observed->right.numbers[i];
        sums.tolerance += observed->tolerance[i];
    }
    return sums;
}

/* Whether each column of weights sums to 1, over the queries of its head. */
static bool columns_sum_to_1(const struct observing *observing)
{
    const size_t *size = observing->observed->right.size, columns = size[OBSERVE_COLUMN], rows = size[OBSERVE_ROW];
    size_t i = 0, sums_to_1 = 0;
    for (; columns > 0 && i < observing->count / rows; i++) {
        const struct sums of = sum(observing, i / columns * rows * columns + i % columns, columns, rows);
        sums_to_1 += fabs(of.mine - 1) <= of.tolerance;
    }
    return rows > 1 && sums_to_1 == i;
}

enum status observe_sums(struct observing *observing)
{
    const size_t columns = observing->observed->right.size[OBSERVE_COLUMN];
    double least = INFINITY, most = -INFINITY, right = NAN, tolerance = 0;
    size_t wrong = 0, first = 0;
    char row[OBSERVE_WHERE_BYTES];
    for (size_t line = observing->lines; line-- > 0;) {
        const struct sums of = sum(observing, line * columns, 1, columns);
        if (!isfinite(of.mine) || fabs(of.mine - of.right) <= of.tolerance)
            continue;
        wrong++;
        first = line;
        least = fmin(least, of.mine);
        most = fmax(most, of.mine);
        right = of.right;
        tolerance = fmax(tolerance, of.tolerance);
    }
    if (wrong == 0)
        return STATUS_OK;
    observe_line(observing, first * columns, row);
    if (columns_sum_to_1(observing))
        observe_say(observing, "", "each column of the weights sums to 1, not each row");
    else if (wrong == 1)
        observe_say(observing, row, "the weights of %s sum to %.3g, not %.3g", row, least, right);
    else if (most - least <= tolerance)
        observe_say(observing, "", "the weights of %zu of %zu rows sum to %.3g, from %s on", wrong, observing->lines,
                    least, row);
    else
        observe_say(observing, "", "the weights of %zu of %zu rows do not sum to 1, but to %.3g ... %.3g, from %s on",
                    wrong, observing->lines, least, most, row);
    return STATUS_OK;
}

/* Says the first number that is as `is` says, and how many more. */
static void say_first(struct observing *observing, bool (*is)(const struct observing *observing, size_t i),
                      const char *what)
{
    size_t first = 0, count = 0;
    char row[OBSERVE_WHERE_BYTES], key[OBSERVE_WHERE_BYTES], more[OBSERVE_WHERE_BYTES] = "";
    struct text key_text = text_begin(key, sizeof key), more_text = text_begin(more, sizeof more);
    for (size_t i = observing->count; i-- > 0;)
        if (observing->wrong[i] && is(observing, i)) {
            first = i;
            count++;
        }
    if (count == 0)
        return;
    observe_add_place(observing, OBSERVE_COLUMN, observe_place(observing, first, OBSERVE_COLUMN), &key_text);
    if (count > 1)
        text_add(&more_text, " (and %zu more such weights)", count - 1);
    observe_say(observing, count == 1 ? observe_line(observing, first, row) : "", "%s gives %.4g to %s%s%s",
                observe_line(observing, first, row), observing->observed->mine[first], key, what, more);
}

static bool is_negative(const struct observing *observing, size_t i)
{
    return observing->observed->mine[i] < -observing->observed->tolerance[i];
}

enum status observe_negative(struct observing *observing)
{
    say_first(observing, is_negative, ", less than 0");
    return STATUS_OK;
}

static bool is_masked(const struct observing *observing, size_t i)
{
    const struct observed *observed = observing->observed;
    return observed->right.numbers[i] == 0 && observed->mine[i] > observed->tolerance[i] &&
           mask_forbids(&observed->problem->mask, observe_index_of(observing, i, OBSERVE_ITEM),
                        observe_index_of(observing, i, OBSERVE_HEAD), observe_index_of(observing, i, OBSERVE_ROW),
                        observe_index_of(observing, i, OBSERVE_COLUMN));
}

enum status observe_masked(struct observing *observing)
{
    say_first(observing, is_masked, ", which the mask forbids");
    return STATUS_OK;
}

/* --- contexts ---------------------------------------------------------------------------------------------------- */

/* The least and the largest value of a column that a query may read; a sink counts as a value of 0. */
struct hull {
    double least, most;
};

static struct hull hull_of(const struct problem *problem, const double *values, const double *bias, size_t column)
{
    struct hull hull = {INFINITY, -INFINITY};
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bias[key] > -INFINITY) {
            hull.least = fmin(hull.least, values[key * problem->size.d_value + column]);
            hull.most = fmax(hull.most, values[key * problem->size.d_value + column]);
        }
    if (problem->mask.sinks != NULL)
        hull = (struct hull){fmin(hull.least, 0), fmax(hull.most, 0)};
    return hull;
}

enum status observe_hull(struct observing *observing)
{
    const struct observed *observed = observing->observed;
    const struct problem *problem = observed->problem;
    const struct observe_table *value = observe_other(observing, STAGE_VALUE);
    const size_t columns = observed->right.size[OBSERVE_COLUMN];
    double *bias = arena_allocate(observing->arena, problem->size.keys, sizeof *bias, observing->error);
    double most = 0;
    struct hull of_worst = {0};
    size_t count = 0, worst = 0;
    char row[OBSERVE_WHERE_BYTES];
    if (value == NULL || bias == NULL || problem->drop.share > 0)
        return observing->error->status;
    for (size_t i = 0; i < observing->count; i++) {
        if (i % columns == 0)
            mask_row(&problem->mask, observe_index_of(observing, i, OBSERVE_ITEM),
                     observe_index_of(observing, i, OBSERVE_HEAD), observe_index_of(observing, i, OBSERVE_ROW), bias);
        if (!observing->wrong[i])
            continue;
        const struct hull hull =
            hull_of(problem, observe_values(observing, value, i), bias, observe_index_of(observing, i, OBSERVE_COLUMN));
        const double by = fmax(observed->mine[i] - hull.most, hull.least - observed->mine[i]);
        count += isfinite(by) && by > observed->tolerance[i];
        if (isfinite(by) && by > fmax(most, observed->tolerance[i])) {
            most = by;
            worst = i;
            of_worst = hull;
        }
    }
    if (count > 0)
        observe_say(observing, "",
                    "%zu of %zu numbers lie outside the values that their query may read: %s, column %zu is %.4g, the "
                    "values go from %.4g to %.4g",
                    count, observing->count, observe_line(observing, worst, row),
                    observe_index_of(observing, worst, OBSERVE_COLUMN) + 1, observed->mine[worst], of_worst.least,
                    of_worst.most);
    return STATUS_OK;
}

enum status observe_uniform(struct observing *observing)
{
    struct recipe *recipe =
        stage_follows(observing->observed->right.stage, STAGE_WEIGHTS) ? observe_recipe(observing, NULL) : NULL;
    if (recipe == NULL)
        return observing->error->status;
    recipe->problem.scaling.factor = recipe->problem.scaling.query_factor = 0;
    recipe->changed_steps |= recipe->problem.scaling.on_query ? OF_QUERY : 0;
    const double *made = observe_make(observing, recipe);
    if (made != NULL && observe_fits(observing, made, NULL, 1) && observe_bits(observing, NULL) >= OBSERVE_BITS)
        observe_say(observing, "", "each query weighs its allowed keys alike: the scores do not count");
    return observing->error->status;
}

/* --- rows that are alike ----------------------------------------------------------------------------------------- */

/* Whether number i equals the one that `other` gives; `differ` adds the bits by which the right ones do not. */
static bool is_same(const struct observing *observing, size_t i, size_t other, double *differ)
{
    const struct observed *observed = observing->observed;
    const double tolerance = observed->tolerance[i] + observed->tolerance[other];
    *differ += log2(1 + fabs(observed->right.numbers[i] - observed->right.numbers[other]) / tolerance);
    return isfinite(observed->mine[i]) && fabs(observed->mine[i] - observed->mine[other]) <= tolerance;
}

/* Whether each number equals another one, of the first row of its head or across the diagonal, but not every one. */
static bool are_same(const struct observing *observing, bool across)
{
    const size_t *size = observing->observed->right.size, columns = size[OBSERVE_COLUMN];
    double bits = 0;
    bool differ = false;
    for (size_t i = 0; i < observing->count; i++) {
        const size_t row = observe_place(observing, i, OBSERVE_ROW), first = i - row * columns - i % columns;
        if (!is_same(observing, i, across ? first + i % columns * columns + row : i - row * columns, &bits))
            return false;
        differ = differ || observing->observed->mine[i] != observing->observed->mine[0];
    }
    return differ && bits >= 2 * OBSERVE_BITS;
}

enum status observe_alike(struct observing *observing)
{
    if (observing->observed->right.size[OBSERVE_ROW] > 1 && observing->wrong[0] && are_same(observing, false))
        observe_say(observing, "", "all rows are the same: the query does not count");
    return STATUS_OK;
}

enum status observe_symmetric(struct observing *observing)
{
    const size_t *size = observing->observed->right.size;
    if (observe_is_square(observing->observed) && size[OBSERVE_ROW] == size[OBSERVE_COLUMN] &&
        are_same(observing, true))
        observe_say(observing, "", "the table is symmetric: query i and key j have the number of query j and key i");
    return STATUS_OK;
}
