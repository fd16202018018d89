/* Decimals as they stand on a page, added and multiplied to the last digit.
 *
 * A number is read from its printed text, fixed or with an exponent, and kept as a fixed-point integer with digits from
 * 10^-684 to 10^683: enough for the product of any two printed doubles and for long sums of them. So whether what is
 * printed adds up is decided on the digits that a reader sees, and never by a binary fraction near to them. A number
 * that has other digits is lost. */
#ifndef ATTN_EXACT_H
#define ATTN_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXACT_LIMBS = 152 };

/* The sum of limbs[i] x 10^(9 (i - EXACT_LIMBS / 2)) over first <= i < end, where each limb is below 10^9 in magnitude
 * and has a sign of its own. {0} is 0. */
struct exact {
    size_t first, end;
    bool lost; /* it has digits that no limb holds: it is not known, and neither is what is made of it */
    int64_t limbs[EXACT_LIMBS];
};

/* The number becomes 0. */
void exact_clear(struct exact *number);

/* Reads "-1.25", "3" or "1.5e-07" into *number. False where the text is no such decimal: "nan", "-inf". */
bool exact_read(const char *text, struct exact *number);

/* *sum += sign x number, where sign is 1 or -1. */
void exact_add(struct exact *sum, const struct exact *number, int sign);

/* *product = a x b; product is neither of them. */
void exact_multiply(const struct exact *a, const struct exact *b, struct exact *product);

/* False where either is lost. */
bool exact_equal(const struct exact *a, const struct exact *b);

#endif
