/* SPDX-License-Identifier: MIT */
/* Two tensors -> how far they are apart. Numbers alone: nothing here knows what a stage or a file is.
 *
 * a is what is expected, b what is checked. Both are read in chunks, so a mapped file is never held in memory; where a
 * chunk has the same bits in both, its numbers are summed and nothing else.
 *
 * Pairs where a or b is NaN or infinite count by position: NaN meets NaN, an infinity the same infinity; any other such
 * pair is `unmatched` and outside every tolerance. Errors, sums and ULPs are of the pairs where both are finite. */
#ifndef ATTN_TENSOR_COMPARE_H
#define ATTN_TENSOR_COMPARE_H

#include "tensor/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* Above this normalised mean squared error two tensors differ, even if every pair is within the tolerance. Without it
 * numbers below the absolute tolerance would agree with any others of that size. */
#define COMPARE_LARGEST_NMSE 1e-3

/* What is compared, and the dtype that it stands for: numbers that are stored wider, as JSON's are, are rounded to
 * it. */
struct compare_side {
    const struct tensor *tensor;
    enum dtype dtype;
    const int16_t *last_digit; /* of a printed table, else NULL: number i was rounded to a multiple of 10^last_digit[i];
                                  INT16_MIN where it was not */
};

/* |a - b| <= absolute + relative |a| + printed; `dtype` is that of the ULPs. `printed` is 0 unless numbers were rounded
 * as they were printed: then it is half a unit of the last digit, of both sides together, where that is more than
 * `absolute`. */
struct compare_tolerance {
    enum dtype dtype;
    double absolute, relative;
    bool given; /* by the user: then no digit adds to it */
};

struct comparison {
    size_t count;              /* pairs */
    size_t unequal;            /* those of two numbers, within the tolerance or not */
    size_t outside;            /* those outside the tolerance, the unmatched ones among them */
    size_t unmatched;          /* those where NaN or an infinity meets something else */
    size_t hidden_a, hidden_b; /* unmatched pairs where a alone is minus infinity, and where b alone is */
    double most_for_hidden;    /* the largest number that meets minus infinity in these; minus infinity: none */
    double absolute, relative; /* the largest |a - b|, and |a - b| / |a|: infinite where a alone is 0 */
    uint64_t ulps;             /* the largest compare_ulps */
    double printed;            /* the most that digits of a printed table added to the tolerance of a pair */
    double nmse;               /* sum (a - b)^2 / sum a^2; 0 where both sums are 0, NaN where only the second is */
    double nmse_beyond;        /* the same, of what is left of each |a - b| beyond half units of its digits, unless the
                                  tolerance was given; nmse where none was printed */
    double cosine;             /* sum a b / sqrt(sum a^2 sum b^2); 1 where both are all 0, 0 where one is */
    double ratio;              /* sum a b / sum a^2: the factor that brings a nearest to b */
    size_t worst;              /* which pair: the first unmatched one, else that of the largest |a - b|; count: none */
    double worst_a, worst_b;   /* its numbers */
};

/* The dtype with the coarser numbers, those of fewer significant bits; integers and truth values count as f32. */
enum dtype compare_coarser(enum dtype a, enum dtype b);

/* How many numbers of the working dtype it takes to step from a to b, both finite and rounded to it first. Zero is one
 * number, whatever its sign; so numbers of different signs are as far apart as both are from 0. */
uint64_t compare_ulps(enum dtype dtype, double a, double b);

/* The tensors have as many numbers, which meet in their order. The result is the same bits for any number of
 * threads. */
void compare_tensors(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance, unsigned threads,
                     struct comparison *comparison);

/* The same but for what is made of sums, which is 0: nmse, nmse_beyond, cosine and ratio. */
void compare_counts(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance,
                    struct comparison *comparison);

/* Whether b is not what a is: a pair is outside, or nmse_beyond above COMPARE_LARGEST_NMSE. */
bool compare_departs(const struct comparison *comparison);

#endif
