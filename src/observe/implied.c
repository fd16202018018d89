/* SPDX-License-Identifier: MIT */
/* The weights that a context implies: where a head has at least as many columns as keys, and its values are
 * independent, only one set of weights gives a row. */
#include "observe/observing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of wrong weights: of masked keys, of allowed keys without weight, and others. */
enum { ALSO, MISSES, OTHER, FOUND_KINDS };

/* Wrong weights of one kind: how many, the first, and whether all are of its key, or as far from the query. */
struct found {
    size_t count, line, key;
    double is, right;
    bool same_key, same_distance;
};

/* The values of a head: context = weights . values. */
struct implied {
    struct observing *observing;
    size_t keys, columns;
    const double *values;     /* (keys, columns) */
    double *inverse;          /* (keys, keys) of values . values^T */
    double *made;             /* (keys) the weights of a row */
    double *error, sum_error; /* (keys) how far an error of 1 in the row moves a weight; and their sum */
    double bits;              /* of evidence that weights of these values made the table */
    struct found found[FOUND_KINDS];
    size_t sums;        /* rows whose weights do not sum as they should, */
    double least, most; /* and these sums */
};

/* Inverts values . values^T in place, by Gauss-Jordan elimination; false if the values are not independent. */
static bool invert(struct implied *implied)
{
    const size_t n = implied->keys, columns = implied->columns;
    double *inverse = implied->inverse, of_sum = 0;
    for (size_t i = 0; i < n * n; i++) {
        inverse[i] = 0;
        for (size_t c = 0; c < columns; c++)
            inverse[i] += implied->values[i / n * columns + c] * implied->values[i % n * columns + c];
        if (i / n == i % n)
            implied->error[i / n] = inverse[i];
    }
    for (size_t p = 0; p < n; p++) {
        const double pivot = inverse[p * n + p];
        if (!(pivot > 1e-9 * implied->error[p]))
            return false;
        inverse[p * n + p] = 1;
        for (size_t j = 0; j < n; j++)
            inverse[p * n + j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            const double by = inverse[i * n + p];
            inverse[i * n + p] = i == p ? by : 0;
            for (size_t j = 0; j < n && i != p; j++)
                inverse[i * n + j] -= by * inverse[p * n + j];
        }
    }
    for (size_t i = 0; i < n * n; i++)
        of_sum += inverse[i];
    for (size_t i = 0; i < n; i++)
        implied->error[i] = sqrt(inverse[i * n + i]);
    implied->sum_error = sqrt(of_sum);
    return true;
}

/* Finds the weights of a row by least squares; false if no weights give it. */
static bool solve(struct implied *implied, size_t line, double tolerance)
{
    const size_t n = implied->keys, columns = implied->columns;
    const double *mine = implied->observing->observed->mine + line * columns, *values = implied->values;
    memset(implied->made, 0, n * sizeof *implied->made);
    for (size_t j = 0; j < n; j++) {
        double along = 0;
        for (size_t c = 0; c < columns; c++)
            along += values[j * columns + c] * mine[c];
        for (size_t i = 0; i < n; i++)
            implied->made[i] += implied->inverse[i * n + j] * along;
    }
    for (size_t c = 0; c < columns; c++) {
        double left = mine[c];
        for (size_t j = 0; j < n; j++)
            left -= implied->made[j] * values[j * columns + c];
        if (!(fabs(left) <= 2 * tolerance))
            return false;
        implied->bits +=
            columns > n ? log2(1 + fabs(mine[c]) / tolerance) * (double)(columns - n) / (double)columns : 0;
    }
    return true;
}

/* Compares the weights of a row with the right ones. */
static void compare(struct implied *implied, size_t line, const double *right, double tolerance)
{
    static const double CERTAIN = 0.02, VISIBLE = 1e-3;
    const size_t rows = implied->observing->observed->right.size[OBSERVE_ROW];
    double sum = 0, of_right = 0;
    for (size_t key = 0; key < implied->keys; key++) {
        const double limit = fmax(4 * tolerance * implied->error[key], VISIBLE), made = implied->made[key];
        struct found *found = &implied->found[right[key] == 0 ? ALSO : fabs(made) <= limit ? MISSES : OTHER];
        sum += made;
        of_right += right[key];
        if (limit > CERTAIN || fabs(made - right[key]) <= 2 * limit)
            continue;
        if (found->count++ == 0)
            *found = (struct found){1, line, key, made, right[key], true, true};
        found->same_key = found->same_key && key == found->key;
        found->same_distance = found->same_distance && key + found->line % rows == found->key + line % rows;
    }
    const double limit = 4 * tolerance * implied->sum_error;
    if (fabs(sum - of_right) <= limit) {
        implied->bits += fmax(0, -log2(limit));
        return;
    }
    implied->least = implied->sums == 0 ? sum : fmin(implied->least, sum);
    implied->most = implied->sums++ == 0 ? sum : fmax(implied->most, sum);
}

/* Says weights of a kind: "row 5 also gives 0.31 to key 7". */
static void say_found(struct implied *implied, int kind)
{
    struct observing *observing = implied->observing;
    const struct found *found = &implied->found[kind];
    const size_t *size = observing->observed->right.size;
    const long long from = (long long)found->key - (long long)(found->line % size[OBSERVE_ROW]);
    char row[OBSERVE_WHERE_BYTES], words[OBSERVE_TEXT_BYTES];
    struct text text = text_begin(words, sizeof words);
    if (found->count == 0)
        return;
    observe_line(observing, found->line * size[OBSERVE_COLUMN], row);
    text_add(&text, "%s %s ", row, kind == ALSO ? "also gives" : "gives");
    if (kind == MISSES)
        text_add(&text, "nothing");
    else
        text_add(&text, "%.3g", found->is);
    text_add(&text, " to key %zu", found->key + 1);
    if (kind != ALSO)
        text_add(&text, ", expected %.3g", found->right);
    if (found->count > 1)
        text_add(&text, " (and %zu more such weights", found->count - 1);
    if (found->count > 1 && found->same_key)
        text_add(&text, ", each of key %zu", found->key + 1);
    else if (found->count > 1 && found->same_distance)
        text_add(&text, ", each of key i %c %lld of row i", from < 0 ? '-' : '+', llabs(from));
    observe_say(observing, found->count == 1 ? row : "", "%s%s", words, found->count > 1 ? ")" : "");
}

static void say(struct implied *implied)
{
    say_found(implied, ALSO);
    say_found(implied, MISSES);
    if (implied->sums > 0)
        observe_say(implied->observing, "", "by its values, the weights of %zu rows sum to %.3g ... %.3g, not to 1",
                    implied->sums, implied->least, implied->most);
    if (implied->found[ALSO].count + implied->found[MISSES].count + implied->sums == 0)
        say_found(implied, OTHER);
}

/* Compares the rows of a head that have wrong numbers; false if its values do not determine them. */
static bool compare_head(struct implied *implied, const struct observe_table *weights, size_t first, size_t rows)
{
    const struct observing *observing = implied->observing;
    for (size_t line = first; line < first + rows; line++) {
        double squares = 0;
        bool wrong = false;
        for (size_t i = line * implied->columns; i < (line + 1) * implied->columns; i++) {
            wrong = wrong || observing->wrong[i];
            squares += observing->observed->tolerance[i] * observing->observed->tolerance[i];
        }
        const double tolerance = sqrt(squares / (double)implied->columns);
        if (wrong && !solve(implied, line, tolerance))
            return false;
        if (wrong)
            compare(implied, line, weights->numbers + line * implied->keys, tolerance);
    }
    return true;
}

void observe_implied(struct observing *observing)
{
    const struct observe_table *right = &observing->observed->right;
    const struct problem *problem = observing->observed->problem;
    const size_t keys = problem->size.keys, columns = problem->size.d_value, rows = right->size[OBSERVE_ROW];
    struct implied implied = {.observing = observing, .keys = keys, .columns = columns};
    if (keys > columns || right->size[OBSERVE_COLUMN] != columns || right->size[OBSERVE_HEAD] != problem->size.heads)
        return;
    const struct observe_table *value = observe_other(observing, STAGE_VALUE);
    const struct observe_table *weights =
        observe_other(observing, problem->drop.share > 0 ? STAGE_DROPPED : STAGE_WEIGHTS);
    implied.inverse = observe_zeros(observing, keys, keys * sizeof(double));
    implied.made = observe_zeros(observing, 2 * keys, sizeof(double));
    if (value == NULL || weights == NULL || implied.inverse == NULL || implied.made == NULL)
        return;
    implied.error = implied.made + keys;
    for (size_t matrix = 0; matrix < right->size[OBSERVE_ITEM] * problem->size.heads; matrix++) {
        implied.values = observe_values(observing, value, matrix * rows * columns);
        if (!invert(&implied) || !compare_head(&implied, weights, matrix * rows, rows))
            return;
    }
    if (implied.bits >= OBSERVE_BITS)
        say(&implied);
}
