/* SPDX-License-Identifier: MIT */
/* Properties of the table itself: sums of weights, masked keys, signs, the hull of the values, rows that are alike. */
#include "observe/observing.h"

#include <math.h>

const char *observe_line(const struct observing *observing, size_t i, char words[OBSERVE_WHERE_BYTES])
{
    struct text text = text_begin(words, OBSERVE_WHERE_BYTES);
    for (enum observe_axis axis = OBSERVE_ITEM; axis <= OBSERVE_ROW; axis++)
        if (axis == OBSERVE_ROW || observing->observed->right.size[axis] > 1) {
            text_add(&text, "%s", text.length > 0 ? ", " : "");
            observe_add_place(observing, axis, observe_place(observing, i, axis), &text);
        }
    return words;
}

/* The sums of `count` numbers from `first` on, `step` apart, and how far rounding may move somebody's. */
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
    for (size_t i = 0; columns > 0 && i < observing->count / rows; i++) {
        const struct sums of = sum(observing, i / columns * rows * columns + i % columns, columns, rows);
        if (!(fabs(of.mine - 1) <= of.tolerance))
            return false;
    }
    return rows > 1;
}

void observe_sums(struct observing *observing)
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
    observe_line(observing, first * columns, row);
    if (wrong > 0 && columns_sum_to_1(observing))
        observe_say(observing, "", "each column of the weights sums to 1, not each row");
    else if (wrong == 1)
        observe_say(observing, row, "the weights of %s sum to %.3g, not %.3g", row, least, right);
    else if (wrong > 0 && most - least <= tolerance)
        observe_say(observing, "", "the weights of %zu of %zu rows sum to %.3g, from %s on", wrong, observing->lines,
                    least, row);
    else if (wrong > 0)
        observe_say(observing, "", "the weights of %zu of %zu rows do not sum to 1, but to %.3g ... %.3g, from %s on",
                    wrong, observing->lines, least, most, row);
}

/* Says the first wrong weight that is below 0, or (other_form) on a masked key, and how many more. */
void observe_weights(struct observing *observing)
{
    const bool masked = observing->other_form;
    const struct observed *observed = observing->observed;
    const size_t columns = observed->right.size[OBSERVE_COLUMN];
    double *bias = masked ? observe_zeros(observing, observed->problem->size.keys, sizeof *bias) : NULL;
    size_t first = 0, count = 0;
    char row[OBSERVE_WHERE_BYTES], words[OBSERVE_WHERE_BYTES];
    struct text text = text_begin(words, sizeof words);
    for (size_t i = observing->count; i-- > 0 && (bias != NULL || !masked);) {
        const double number = masked ? observed->mine[i] : -observed->mine[i];
        if (masked && i % columns + 1 == columns)
            observe_bias(observing, i, bias);
        if (observing->wrong[i] && number > observed->tolerance[i] &&
            (!masked ||
             (observed->right.numbers[i] == 0 && bias[observe_index_of(observing, i, OBSERVE_COLUMN)] == -INFINITY))) {
            first = i;
            count++;
        }
    }
    if (count == 0)
        return;
    observe_add_place(observing, OBSERVE_COLUMN, first % columns, &text);
    text_add(&text, masked ? ", which the mask forbids" : ", less than 0");
    if (count > 1)
        text_add(&text, " (and %zu more such weights)", count - 1);
    observe_line(observing, first, row);
    observe_say(observing, count == 1 ? row : "", "%s gives %.4g to %s", row, observed->mine[first], words);
}

/* --- contexts ---------------------------------------------------------------------------------------------------- */

/* The values of a column that a query may read; a sink counts as a value of 0. And how far a number is outside. */
struct hull {
    double least, most, by;
};

static struct hull hull_of(const struct observing *observing, const struct observe_table *value, size_t i, double *bias)
{
    const struct problem *problem = observing->observed->problem;
    const double *values = observe_values(observing, value, i) + observe_index_of(observing, i, OBSERVE_COLUMN);
    const double mine = observing->observed->mine[i];
    struct hull hull = {INFINITY, -INFINITY, 0};
    observe_bias(observing, i, bias);
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bias[key] > -INFINITY) {
            hull.least = fmin(hull.least, values[key * problem->size.d_value]);
            hull.most = fmax(hull.most, values[key * problem->size.d_value]);
        }
    if (problem->mask.sinks != NULL)
        hull = (struct hull){fmin(hull.least, 0), fmax(hull.most, 0), 0};
    hull.by = isfinite(mine) && isfinite(hull.least) ? fmax(mine - hull.most, hull.least - mine) : 0;
    return hull;
}

/* Numbers hardly outside say nothing: they are of rows with few keys. */
void observe_hull(struct observing *observing)
{
    static const double LEAST_SHARE = 1.0 / 32; /* of the range of right numbers */
    const struct observed *observed = observing->observed;
    const double *right = observed->right.numbers;
    const struct observe_table *value = observe_other(observing, STAGE_VALUE);
    double *bias = observe_zeros(observing, observed->problem->size.keys, sizeof *bias);
    double least = INFINITY, most = -INFINITY;
    struct hull of_worst = {0};
    size_t count = 0, worst = 0;
    char row[OBSERVE_WHERE_BYTES];
    if (value == NULL || bias == NULL || observed->problem->drop.share > 0)
        return;
    for (size_t i = 0; i < observing->count; i++) {
        const struct hull hull = observing->wrong[i] ? hull_of(observing, value, i, bias) : (struct hull){0};
        least = fmin(least, right[i]);
        most = fmax(most, right[i]);
        count += hull.by > observed->tolerance[i];
        if (hull.by > fmax(of_worst.by, observed->tolerance[i])) {
            of_worst = hull;
            worst = i;
        }
    }
    if (count > 0 && of_worst.by > LEAST_SHARE * (most - least))
        observe_say(observing, "",
                    "%zu of %zu numbers lie outside the values that their query may read: %s, column %zu is %.4g, the "
                    "values go from %.4g to %.4g",
                    count, observing->count, observe_line(observing, worst, row),
                    observe_index_of(observing, worst, OBSERVE_COLUMN) + 1, observed->mine[worst], of_worst.least,
                    of_worst.most);
}

static void scale_by_0(struct recipe *recipe, size_t form)
{
    (void)form;
    recipe->problem.scaling.factor = recipe->problem.scaling.query_factor = 0;
    recipe->changed_steps |= recipe->problem.scaling.on_query ? OF_QUERY : 0;
}

void observe_uniform(struct observing *observing)
{
    const double *made = stage_follows(observing->observed->right.stage, STAGE_WEIGHTS)
                             ? observe_changed(observing, scale_by_0, 0, OBSERVE_NO_AXIS)
                             : NULL;
    if (made != NULL && observe_fits(observing, made, NULL, 1) && observe_bits(observing, NULL) >= OBSERVE_BITS)
        observe_say(observing, "", "each query weighs its allowed keys alike: the scores do not count");
}

/* --- rows that are alike ----------------------------------------------------------------------------------------- */

/* Whether each number equals that of the first place on the axis, or across the diagonal (OBSERVE_NO_AXIS), where the
 * right ones do not; and not all numbers are the same. */
static bool are_same(const struct observing *observing, int axis)
{
    const struct observed *observed = observing->observed;
    const size_t columns = observed->right.size[OBSERVE_COLUMN], rows = observed->right.size[OBSERVE_ROW];
    double bits = 0;
    bool differ = false;
    for (size_t i = 0; i < observing->count; i++) {
        const size_t row = i / columns % rows, column = i % columns;
        const size_t other = axis == OBSERVE_NO_AXIS
                                 ? i - row * columns - column + column * columns + row
                                 : i - observe_place(observing, i, axis) * observe_stride(observing, axis);
        const double tolerance = observed->tolerance[i] + observed->tolerance[other];
        if (!(fabs(observed->mine[i] - observed->mine[other]) <= tolerance))
            return false;
        bits += log2(1 + fabs(observed->right.numbers[i] - observed->right.numbers[other]) / tolerance);
        differ = differ || observed->mine[i] != observed->mine[0];
    }
    return differ && bits >= 2 * OBSERVE_BITS;
}

void observe_alike(struct observing *observing)
{
    static const char *const WORDS[] = {"all items are the same", "all heads are the same",
                                        "all rows are the same: the query does not count"};
    for (enum observe_axis axis = OBSERVE_ROW + 1; axis-- > OBSERVE_ITEM && observing->wrong[0];)
        if (observing->observed->right.size[axis] > 1 && are_same(observing, axis)) {
            observe_say(observing, "", "%s", WORDS[axis]);
            return;
        }
}

void observe_symmetric(struct observing *observing)
{
    const size_t *size = observing->observed->right.size;
    if (observe_is_square(observing->observed) && size[OBSERVE_ROW] == size[OBSERVE_COLUMN] &&
        are_same(observing, OBSERVE_NO_AXIS))
        observe_say(observing, "", "the table is symmetric: query i and key j have the number of query j and key i");
}
