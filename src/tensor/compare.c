/* SPDX-License-Identifier: MIT */
#include "tensor/compare.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 256,       /* pairs loaded at once, on a small stack */
    PARTS = 64,        /* tasks for the threads; each has complete chunks */
    FOR_ONE = 1 << 17, /* one thread compares so many pairs while another starts */
};

/* In long double the squares of doubles neither overflow nor vanish (where it is wider, as on x86-64 and aarch64). */
struct sums {
    long double a, b, product, error, beyond; /* of a^2, b^2, a b, (a - b)^2, and its part that no rounding explains */
};

enum dtype compare_coarser(enum dtype a, enum dtype b)
{
    a = dtype_is_working(a) ? a : DTYPE_F32;
    b = dtype_is_working(b) ? b : DTYPE_F32;
    return dtype_precision(a) < dtype_precision(b) ? a : b;
}

/* ULPs from the indices of a and b that dtype_places gives. */
static uint64_t steps_between(uint64_t first, uint64_t second, double a, double b)
{
    if (signbit(a) != signbit(b))
        return first + second;
    return first > second ? first - second : second - first;
}

uint64_t compare_ulps(enum dtype dtype, double a, double b)
{
    uint64_t first, second;
    dtype_places(dtype, &a, 1, &first);
    dtype_places(dtype, &b, 1, &second);
    return steps_between(first, second, a, b);
}

/* Returns the first of two zeros, whose order fmax leaves open; `second` is never NaN. */
static double larger(double first, double second)
{
    return second > first ? second : first;
}

static void note_worst(struct comparison *comparison, size_t index, double a, double b)
{
    comparison->worst = index;
    comparison->worst_a = a;
    comparison->worst_b = b;
}

static void note_special(struct comparison *comparison, size_t index, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return;
    if (comparison->unmatched == 0)
        note_worst(comparison, index, a, b);
    comparison->unequal++;
    comparison->unmatched++;
    comparison->outside++;
    comparison->hidden_a += isinf(a) && a < 0;
    comparison->hidden_b += isinf(b) && b < 0;
    if ((isinf(a) && a < 0) || (isinf(b) && b < 0))
        comparison->most_for_hidden = larger(comparison->most_for_hidden, fmax(a, b));
}

double compare_half_unit(const int16_t *last_digit, size_t index)
{
    return last_digit == NULL || last_digit[index] == INT16_MIN ? 0 : 0.5 * pow(10, last_digit[index]);
}

/* Counts a pair of different finite numbers; `units`: half units of their last printed digits. */
static void note_finite(struct comparison *comparison, struct compare_tolerance tolerance, double units, size_t index,
                        double a, double b, uint64_t ulps)
{
    const double error = fabs(a - b), relative = error / fabs(a), printed = units > tolerance.absolute ? units : 0;
    comparison->unequal++;
    comparison->outside += !(error <= tolerance.absolute + tolerance.relative * fabs(a) + printed);
    comparison->printed = larger(comparison->printed, printed);
    comparison->relative = larger(comparison->relative, relative);
    comparison->ulps = ulps > comparison->ulps ? ulps : comparison->ulps;
    if (!(error > comparison->absolute))
        return;
    comparison->absolute = error;
    if (comparison->unmatched == 0)
        note_worst(comparison, index, a, b);
}

/* --- what is compared -------------------------------------------------------------------------------------------- */

struct pairs {
    struct compare_side a, b;
    struct compare_tolerance tolerance;
    size_t count;
};

static void load(const struct compare_side *side, size_t first, size_t count, double *numbers)
{
    tensor_load(side->tensor, first, count, numbers);
    if (side->tensor->dtype == DTYPE_F64)
        dtype_round(side->dtype, numbers, count);
}

static const char *bytes_at(const struct compare_side *side, size_t index)
{
    return (const char *)side->tensor->data + index * dtype_size(side->tensor->dtype);
}

/* Whether these pairs have the same bits and mean the same numbers. */
static bool are_same(const struct pairs *pairs, size_t first, size_t count)
{
    const struct compare_side *a = &pairs->a, *b = &pairs->b;
    return a->tensor->dtype == b->tensor->dtype && a->dtype == b->dtype &&
           memcmp(bytes_at(a, first), bytes_at(b, first), count * dtype_size(a->tensor->dtype)) == 0;
}

/* The part of the error of pair `index` that its printed digits explain. */
static double printed_of(const struct pairs *pairs, size_t index)
{
    return pairs->tolerance.given
               ? 0
               : compare_half_unit(pairs->a.last_digit, index) + compare_half_unit(pairs->b.last_digit, index);
}

/* --- sums, in the order of the pairs ----------------------------------------------------------------------------- */

static void add_pair(struct sums *sums, double printed, double a, double b)
{
    const long double expected = a, got = b, error = expected - got, beyond = fmaxl(fabsl(error) - printed, 0);
    sums->a += expected * expected;
    sums->b += got * got;
    sums->product += expected * got;
    sums->error += error * error;
    sums->beyond += beyond * beyond;
}

static void add_equal(struct sums *sums, const double *numbers, size_t count)
{
    long double a = sums->a, b = sums->b, product = sums->product;
    for (size_t i = 0; i < count; i++) {
        const long double square = (long double)numbers[i] * numbers[i];
        a += square;
        b += square;
        product += square;
    }
    sums->a = a;
    sums->b = b;
    sums->product = product;
}

/* Adds finite pairs without printed digits, here or before: `beyond` equals `error`. */
static void add_plain(struct sums *sums, const double *expected, const double *got, size_t count)
{
    long double a = sums->a, b = sums->b, product = sums->product, error = sums->error;
    for (size_t i = 0; i < count; i++) {
        const long double apart = (long double)expected[i] - got[i];
        a += (long double)expected[i] * expected[i];
        b += (long double)got[i] * got[i];
        product += (long double)expected[i] * got[i];
        error += apart * apart;
    }
    *sums = (struct sums){a, b, product, error, error};
}

static void add_chunk(const struct pairs *pairs, size_t first, size_t count, struct sums *sums)
{
    double a[CHUNK], b[CHUNK];
    const bool same = are_same(pairs, first, count);
    const double *const got = same ? a : b;
    load(&pairs->a, first, count, a);
    if (!same)
        load(&pairs->b, first, count, b);
    const bool finite = dtype_finite(DTYPE_F64, a, count) && (same || dtype_finite(DTYPE_F64, b, count));
    if (finite && same)
        add_equal(sums, a, count);
    else if (finite && pairs->a.last_digit == NULL && pairs->b.last_digit == NULL)
        add_plain(sums, a, b, count);
    else
        for (size_t i = 0; i < count; i++)
            if (isfinite(a[i]) && isfinite(got[i]))
                add_pair(sums, printed_of(pairs, first + i), a[i], got[i]);
}

static void conclude(struct comparison *comparison, const struct sums *sums)
{
    comparison->nmse = (double)(sums->error / sums->a);
    comparison->nmse_beyond = (double)(sums->beyond / sums->a);
    comparison->ratio = (double)(sums->product / sums->a);
    comparison->cosine = (double)(sums->product / (sqrtl(sums->a) * sqrtl(sums->b)));
    if (sums->a == 0)
        comparison->nmse = comparison->nmse_beyond = comparison->ratio = sums->b == 0 ? 0 : (double)NAN;
    if (sums->a == 0 || sums->b == 0)
        comparison->cosine = sums->a == sums->b;
}

/* --- the pairs, part by part -------------------------------------------------------------------------------------- */

static void note_chunk(const struct pairs *pairs, size_t first, size_t count, struct comparison *found)
{
    double a[CHUNK], b[CHUNK];
    uint64_t places_a[CHUNK], places_b[CHUNK];
    if (are_same(pairs, first, count))
        return;
    load(&pairs->a, first, count, a);
    load(&pairs->b, first, count, b);
    dtype_places(pairs->tolerance.dtype, a, count, places_a);
    dtype_places(pairs->tolerance.dtype, b, count, places_b);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(a[i]) || !isfinite(b[i]))
            note_special(found, first + i, a[i], b[i]);
        else if (a[i] != b[i])
            note_finite(found, pairs->tolerance, printed_of(pairs, first + i), first + i, a[i], b[i],
                        steps_between(places_a[i], places_b[i], a[i], b[i]));
}

static struct comparison nothing_found(size_t count)
{
    return (struct comparison){.count = count, .worst = count, .most_for_hidden = -INFINITY};
}

/* The pairs from .. end. */
static void note_pairs(const struct pairs *pairs, size_t from, size_t end, struct comparison *found)
{
    *found = nothing_found(pairs->count);
    for (size_t first = from; first < end; first += CHUNK)
        note_chunk(pairs, first, memory_smaller(end - first, CHUNK), found);
}

static void merge(struct comparison *whole, const struct comparison *part)
{
    if (whole->unmatched == 0 && (part->unmatched > 0 || part->absolute > whole->absolute))
        note_worst(whole, part->worst, part->worst_a, part->worst_b);
    whole->unequal += part->unequal;
    whole->outside += part->outside;
    whole->unmatched += part->unmatched;
    whole->hidden_a += part->hidden_a;
    whole->hidden_b += part->hidden_b;
    whole->most_for_hidden = larger(whole->most_for_hidden, part->most_for_hidden);
    whole->absolute = larger(whole->absolute, part->absolute);
    whole->relative = larger(whole->relative, part->relative);
    whole->printed = larger(whole->printed, part->printed);
    whole->ulps = part->ulps > whole->ulps ? part->ulps : whole->ulps;
}

struct comparing {
    struct pairs pairs;
    size_t part; /* pairs of each part but the last */
    struct sums sums;
    struct comparison parts[PARTS];
};

/* Sums have the same bits only in one order: one thread adds them up, while others compare the parts. */
static void run_task(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct comparing *comparing = context;
    const struct pairs *pairs = &comparing->pairs;
    if (task == 0) {
        for (size_t first = 0; first < pairs->count; first += CHUNK)
            add_chunk(pairs, first, memory_smaller(pairs->count - first, CHUNK), &comparing->sums);
        return;
    }
    struct comparison found;
    const size_t from = (task - 1) * comparing->part;
    note_pairs(pairs, from, memory_smaller(from + comparing->part, pairs->count), &found);
    comparing->parts[task - 1] = found;
}

void compare_tensors(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance, unsigned threads,
                     struct comparison *comparison)
{
    struct comparing comparing;
    const size_t count = tensor_count(a.tensor), part = (count / PARTS / CHUNK + 1) * CHUNK,
                 parts = (count + part - 1) / part;
    comparing.pairs = (struct pairs){a, b, tolerance, count};
    comparing.part = part;
    comparing.sums = (struct sums){0};
    threads_run(count < FOR_ONE ? 1 : threads, 1 + parts, run_task, &comparing);
    *comparison = nothing_found(count);
    for (size_t i = 0; i < parts; i++)
        merge(comparison, &comparing.parts[i]);
    conclude(comparison, &comparing.sums);
}

void compare_counts(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance,
                    struct comparison *comparison)
{
    const struct pairs pairs = {a, b, tolerance, tensor_count(a.tensor)};
    note_pairs(&pairs, 0, pairs.count, comparison);
}

bool compare_departs(const struct comparison *comparison)
{
    return comparison->outside > 0 || comparison->nmse_beyond > COMPARE_LARGEST_NMSE;
}
