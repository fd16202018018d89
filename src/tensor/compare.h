/* SPDX-License-Identifier: MIT */
/* Compares the numbers of two tensors.
 *
 * a is expected, b is checked. attn reads both in chunks, so a mapped file is never all in memory; a chunk with the
 * same bits in both only adds to the sums.
 *
 * Where a or b is NaN or infinite, NaN must meet NaN and an infinity the same infinity; any other such pair is
 * `unmatched` and outside every tolerance. Errors, sums and ULPs count only pairs where both are finite. */
#pragma once

#include "tensor/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* Above this normalised mean squared error two tensors differ, even if every pair is within the tolerance. Otherwise
 * any numbers below the absolute tolerance would agree. */
#define COMPARE_LARGEST_NMSE 1e-3

/* A tensor to compare, and its dtype, to which numbers stored wider, as JSON's are, are rounded. */
struct compare_side {
    const struct tensor *tensor;
    enum dtype dtype;
    const int16_t *last_digit; /* of a printed table: number i is rounded to a multiple of 10^last_digit[i], or exact
                                  for INT16_MIN; else NULL */
};

/* |a - b| <= absolute + relative |a| + printed; `dtype` is that of the ULPs. `printed` is half a unit of the last
 * printed digit, both sides added, where that is more than `absolute`; else 0. */
struct compare_tolerance {
    enum dtype dtype;
    double absolute, relative;
    bool given; /* by the user: then `printed` is 0 */
};

struct comparison {
    size_t count;              /* pairs */
    size_t unequal;            /* pairs of different numbers, within the tolerance or not */
    size_t outside;            /* pairs outside the tolerance, including the unmatched */
    size_t unmatched;          /* pairs where NaN or an infinity meets something else */
    size_t hidden_a, hidden_b; /* unmatched pairs where only a is minus infinity, and where only b is */
    double most_for_hidden;    /* the largest number that meets minus infinity; minus infinity: none */
    double absolute, relative; /* the largest |a - b|, and |a - b| / |a|, infinite where only a is 0 */
    uint64_t ulps;             /* the largest compare_ulps */
    double printed;            /* the largest `printed` of a pair's tolerance */
    double nmse;               /* sum (a - b)^2 / sum a^2; 0 where both sums are 0, NaN where only sum a^2 is */
    double nmse_beyond;        /* the same, each |a - b| less half units of its printed digits, if these count; else
                                  nmse */
    double cosine;             /* sum a b / sqrt(sum a^2 sum b^2); 1 where both are all 0, 0 where one is */
    double ratio;              /* sum a b / sum a^2: the factor that brings a nearest to b */
    size_t worst;              /* the first unmatched pair, else that of the largest |a - b|; `count`: none */
    double worst_a, worst_b;   /* its numbers */
};

/* Half a unit of the last printed digit of a number (struct compare_side); 0: exact, or not printed. */
double compare_half_unit(const int16_t *last_digit, size_t index);

/* The dtype with the coarser numbers, those of fewer significant bits; integers and truth values count as f32. */
enum dtype compare_coarser(enum dtype a, enum dtype b);

/* The steps from a to b among the numbers of the working dtype; both are finite and rounded to it first. 0 and -0 are
 * one number, so the distance of numbers with different signs is the sum of their distances from 0. */
uint64_t compare_ulps(enum dtype dtype, double a, double b);

/* Compares tensors of equal count, number by number. The result has the same bits for any number of threads. */
void compare_tensors(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance, unsigned threads,
                     struct comparison *comparison);

/* The same without sums: nmse, nmse_beyond, cosine and ratio are 0. */
void compare_counts(struct compare_side a, struct compare_side b, struct compare_tolerance tolerance,
                    struct comparison *comparison);

/* Whether the tensors differ: a pair is outside the tolerance, or nmse_beyond is above COMPARE_LARGEST_NMSE. */
bool compare_departs(const struct comparison *comparison);
