/* SPDX-License-Identifier: MIT */
/* The weights that a context implies: where a head has at least as many columns as keys, and its values are
 * independent, only one set of weights gives a row. */
#include "observe/observing.h"

#include <math.h>
#include <string.h>

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
    const double *values;             /* (keys, columns) */
    double *inverse;                  /* (keys, keys) of values . values^T */
    double *made;                     /* (keys) the weights of a row */
    double *error, sum_error;         /* (keys) how far an error of 1 in the row moves a weight; and their sum */
    double bits;                      /* of evidence that weights of these values made the table */
    struct found also, misses, other; /* weights of masked keys, allowed keys without weight, other weights */
    size_t sums;                      /* rows whose weights do not sum as they should, */
    double least, most;               /* and these sums */
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

static void note(const struct implied *implied, struct found *found, size_t line, size_t key, double right)
{
    const size_t rows = implied->observing->observed->right.size[OBSERVE_ROW];
    if (found->count++ == 0)
        *found = (struct found){1, line, key, implied->made[key], right, true, true};
    found->same_key = found->same_key && key == found->key;
    found->same_distance = found->same_distance && key + found->line % rows == found->key + line % rows;
}

/* Compares the weights of a row with the right ones. */
static void compare(struct implied *implied, size_t line, const double *right, double tolerance)
{
    static const double CERTAIN = 0.02, VISIBLE = 1e-3;
    double sum = 0, of_right = 0;
    for (size_t key = 0; key < implied->keys; key++) {
        const double limit = fmax(4 * tolerance * implied->error[key], VISIBLE), made = implied->made[key];
        sum += made;
        of_right += right[key];
        if (limit > CERTAIN || fabs(made - right[key]) <= 2 * limit)
            continue;
        note(implied,
             right[key] == 0       ? &implied->also
             : fabs(made) <= limit ? &implied->misses
                                   : &implied->other,
             line, key, right[key]);
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
static void say_found(struct implied *implied, const struct found *found)
{
    struct observing *observing = implied->observing;
    const size_t *size = observing->observed->right.size;
    const long long from = (long long)found->key - (long long)(found->line % size[OBSERVE_ROW]);
    char row[OBSERVE_WHERE_BYTES], more[OBSERVE_WHERE_BYTES] = "";
    struct text text = text_begin(more, sizeof more);
    if (found->count > 1)
        text_add(&text, " (and %zu more such weights", found->count - 1);
    if (found->count > 1 && found->same_key)
        text_add(&text, ", each of key %zu", found->key + 1);
    else if (found->count > 1 && found->same_distance)
        text_add(&text, ", each of key i %c %lld of row i", from < 0 ? '-' : '+', from < 0 ? -from : from);
    text_add(&text, found->count > 1 ? ")" : "");
    observe_line(observing, found->line * size[OBSERVE_COLUMN], row);
    const char *where = found->count == 1 ? row : "";
    if (found == &implied->also)
        observe_say(observing, where, "%s also gives %.3g to key %zu%s", row, found->is, found->key + 1, more);
    else if (found == &implied->misses)
        observe_say(observing, where, "%s gives nothing to key %zu, expected %.3g%s", row, found->key + 1, found->right,
                    more);
    else
        observe_say(observing, where, "%s gives %.3g to key %zu, expected %.3g%s", row, found->is, found->key + 1,
                    found->right, more);
}

static void say(struct implied *implied)
{
    struct observing *observing = implied->observing;
    if (implied->bits < OBSERVE_BITS)
        return;
    if (implied->also.count > 0)
        say_found(implied, &implied->also);
    if (implied->misses.count > 0)
        say_found(implied, &implied->misses);
    if (implied->sums > 0)
        observe_say(observing, "", "by its values, the weights of %zu rows sum to %.3g ... %.3g, not to 1",
                    implied->sums, implied->least, implied->most);
    if (implied->also.count + implied->misses.count + implied->sums == 0 && implied->other.count > 0)
        say_found(implied, &implied->other);
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

enum status observe_implied(struct observing *observing)
{
    const struct observe_table *right = &observing->observed->right;
    const struct problem *problem = observing->observed->problem;
    const size_t keys = problem->size.keys, columns = problem->size.d_value, rows = right->size[OBSERVE_ROW];
    struct implied implied = {.observing = observing, .keys = keys, .columns = columns};
    if (keys > columns || right->size[OBSERVE_COLUMN] != columns || right->size[OBSERVE_HEAD] != problem->size.heads)
        return STATUS_OK;
    const struct observe_table *value = observe_other(observing, STAGE_VALUE);
    const struct observe_table *weights =
        observe_other(observing, problem->drop.share > 0 ? STAGE_DROPPED : STAGE_WEIGHTS);
    implied.inverse = arena_allocate(observing->arena, keys, keys * sizeof(double), observing->error);
    implied.made = arena_allocate(observing->arena, 2 * keys, sizeof(double), observing->error);
    if (value == NULL || weights == NULL || implied.inverse == NULL || implied.made == NULL)
        return observing->error->status;
    implied.error = implied.made + keys;
    for (size_t matrix = 0; matrix < right->size[OBSERVE_ITEM] * problem->size.heads; matrix++) {
        implied.values = observe_values(observing, value, matrix * rows * columns);
        if (!invert(&implied) || !compare_head(&implied, weights, matrix * rows, rows))
            return STATUS_OK;
    }
    say(&implied);
    return STATUS_OK;
}
