/* SPDX-License-Identifier: MIT */
/* Errors without a pattern: as large as those of a coarser dtype, or those of an approximate exp. */
#include "observe/observing.h"

#include "model/mistake.h"

#include <math.h>
#include <string.h>

enum { LEAST_NUMBERS = 64 };

/* --- rounding ---------------------------------------------------------------------------------------------------- */

/* The root mean square of differences from the right numbers, of those from `first` to before `end`. */
static double rms_of(const struct observing *observing, const double *numbers, size_t first, size_t end)
{
    double squares = 0;
    for (size_t i = first; i < end; i++) {
        const double by = numbers[i] - observing->observed->right.numbers[i];
        squares += isfinite(by) ? by * by : 0;
    }
    return sqrt(squares / (double)(end - first));
}

/* Whether the errors look like those of `rounded`: nearly as large in each row, up and down, none far beyond. */
static bool is_alike(const struct observing *observing, const double *rounded, double ratio)
{
    static const double MOST_TIMES = 4, LEAST_SHARE = 0.9;
    const double *mine = observing->observed->mine, *right = observing->observed->right.numbers;
    const size_t count = observing->count, columns = count / observing->lines;
    double sum = 0, largest = 0, of_rounded = 0;
    size_t alike = 0, lines = 0;
    for (size_t i = 0; i < count; i++) {
        const double by = mine[i] == right[i] ? 0 : mine[i] - right[i];
        sum += by;
        largest = fmax(largest, fabs(by));
        of_rounded = fmax(of_rounded, fabs(rounded[i] - right[i]));
        if (!isfinite(by))
            return false;
    }
    for (size_t line = 0; line < observing->lines; line++) {
        const double of = rms_of(observing, mine, line * columns, (line + 1) * columns) /
                          rms_of(observing, rounded, line * columns, (line + 1) * columns);
        lines += isfinite(of) != 0;
        alike += of > ratio / MOST_TIMES && of < ratio * MOST_TIMES;
    }
    return largest <= MOST_TIMES * ratio * of_rounded && (double)alike >= LEAST_SHARE * (double)lines &&
           fabs(sum) <= 0.5 * rms_of(observing, mine, 0, count) * (double)count;
}

/* A computation that rounds each stage: the finest dtype that is coarse enough explains them. */
void observe_rounding(struct observing *observing)
{
    static const enum dtype DTYPES[] = {DTYPE_F16, DTYPE_BF16};
    static const char *const NAMES[] = {"float16 or TF32", "bfloat16"};
    const double mine = rms_of(observing, observing->observed->mine, 0, observing->count);
    const double *zeros = observe_zeros(observing, observing->count, sizeof *zeros);
    if (zeros == NULL || mine >= rms_of(observing, zeros, 0, observing->count)) /* nothing of the right numbers */
        return;
    for (size_t i = 0; i < sizeof DTYPES / sizeof DTYPES[0] && observing->count >= LEAST_NUMBERS; i++) {
        const struct mistake_choice choice = {.id = mistake_of_dtype(DTYPES[i])};
        const struct recipe *recipe = observe_recipe(observing, &choice);
        if (recipe == NULL)
            return;
        const double *made = observe_make(observing, recipe);
        const double ratio = made != NULL ? mine / rms_of(observing, made, 0, observing->count) : INFINITY;
        if (made == NULL || !(ratio < 1.5))
            continue;
        if (ratio > 1.0 / 8 && is_alike(observing, made, ratio))
            observe_say(observing, "",
                        "the errors are as small as those of %s: their root mean square is %.2g, and %.2g where "
                        "each stage is rounded to it",
                        NAMES[i], mine, mine / ratio);
        return;
    }
}

/* Small errors, without another line: next to how far the right numbers vary. */
void observe_near(struct observing *observing)
{
    enum { LEAST = 32 };
    static const double MOST = 0.05;
    double *means = observe_zeros(observing, observing->count, sizeof *means), sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < observing->count; i++) {
        sum += observing->observed->right.numbers[i];
        finite += observing->wrong[i] && isfinite(observing->observed->mine[i]);
    }
    for (size_t i = 0; i < observing->count && means != NULL; i++)
        means[i] = sum / (double)observing->count;
    const double share = means != NULL ? rms_of(observing, observing->observed->mine, 0, observing->count) /
                                             rms_of(observing, means, 0, observing->count)
                                       : INFINITY;
    if (finite >= LEAST && share < MOST)
        observe_say(
            observing, observing->part.where,
            "the errors are small: their root mean square is %.2g %% of the standard deviation of the right numbers, "
            "as where numbers are rounded or a setting is nearly right",
            100 * share);
}

/* --- exp --------------------------------------------------------------------------------------------------------- */

enum { BINS = 32 };

/* Takes the mean of each group out of its numbers that are not NaN; returns the sum of their squares then. */
static double take_out(double *numbers, size_t count, const size_t *groups, size_t group_count, double *sums)
{
    double squares = 0;
    memset(sums, 0, 2 * group_count * sizeof *sums);
    for (size_t i = 0; i < count; i++)
        if (!isnan(numbers[i])) {
            sums[groups[i]] += numbers[i];
            sums[group_count + groups[i]]++;
        }
    for (size_t i = 0; i < count; i++)
        if (!isnan(numbers[i])) {
            numbers[i] -= sums[groups[i]] / sums[group_count + groups[i]];
            squares += numbers[i] * numbers[i];
        }
    return squares;
}

/* Whether log(mine / right) of weights, less the mean of its row, depends on the power of 2 that a weight is of the
 * largest one: on its fraction, as an exp2 by parts computes only that nearly, or on all of it. */
void observe_exp(struct observing *observing)
{
    enum { ROUNDS = 4, LEAST = 256 };
    static const char *const WORDS[] = {"the fraction of its power of 2: as by an approximate exp2",
                                        "its score: as by another function than exp"};
    const struct observed *observed = observing->observed;
    const double *right = observed->right.numbers;
    const size_t count = observing->count, columns = count / observing->lines;
    size_t *rows = observe_zeros(observing, count, sizeof *rows), *bins = observe_zeros(observing, count, sizeof *bins);
    double *logs = observing->rooms[0];
    double *sums = observe_zeros(observing, observing->lines + BINS, 2 * sizeof *sums);
    for (int kind = 0; kind < 2 && rows != NULL && bins != NULL && sums != NULL; kind++) {
        size_t of = 0;
        double noise = 0, largest = 0; /* of the row */
        for (size_t i = 0; i < count; i++) {
            for (size_t k = i; i % columns == 0 && k < i + columns; k++)
                largest = fmax(k > i ? largest : 0, right[k]);
            const double power = -log2(right[i] / largest), off = observed->tolerance[i] / right[i];
            const bool tells = right[i] > 8 * observed->tolerance[i] && observed->mine[i] > 0 && power > 0;
            logs[i] = tells ? log(observed->mine[i] / right[i]) : (double)NAN;
            rows[i] = i / columns;
            bins[i] = tells ? (size_t)fmin(BINS - 1, kind == 0 ? (power - floor(power)) * (double)BINS : power * 4) : 0;
            of += tells;
            noise += tells ? off * off : 0;
        }
        const double before = take_out(logs, count, rows, observing->lines, sums);
        double after = before;
        for (int round = 0; round < ROUNDS; round++) {
            take_out(logs, count, bins, BINS, sums);
            after = take_out(logs, count, rows, observing->lines, sums);
        }
        if (of < LEAST || before < noise || after > 0.05 * before)
            continue;
        observe_say(observing, "", "each weight is off by a share, %.2g on average, that depends on %s",
                    sqrt(before / (double)of), WORDS[kind]);
        return;
    }
}
