/* SPDX-License-Identifier: MIT */
/* Printed decimals, added and multiplied to the last digit.
 *
 * decimal_exact_read turns a printed text, fixed or with an exponent, into a fixed-point integer with digits from
 * 10^-684 to 10^683: enough for the product of any two printed doubles and for long sums of them. So the digits that a
 * reader sees decide whether a sum is right, not a binary fraction near them. A number that needs other digits is
 * lost. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_EXACT_LIMBS = 152 };

/* The sum of limbs[i] x 10^(9 (i - DECIMAL_EXACT_LIMBS / 2)) over first <= i < end, where each limb is below 10^9 in
 * magnitude and has its own sign. {0} is 0. */
struct decimal_exact {
    size_t first, end;
    bool lost; /* it has digits that no limb holds: it is unknown, and so is any result made from it */
    int64_t limbs[DECIMAL_EXACT_LIMBS];
};

void decimal_exact_clear(struct decimal_exact *number);

/* Reads "-1.25", "3" or "1.5e-07" into *number. False where the text is no such decimal: "nan", "-inf". */
bool decimal_exact_read(const char *text, struct decimal_exact *number);

/* *sum += sign x number, where sign is 1 or -1. */
void decimal_exact_add(struct decimal_exact *sum, const struct decimal_exact *number, int sign);

/* *product = a x b; product is neither of them. */
void decimal_exact_multiply(const struct decimal_exact *a, const struct decimal_exact *b,
                            struct decimal_exact *product);

/* False where either is lost. */
bool decimal_exact_equal(const struct decimal_exact *a, const struct decimal_exact *b);
