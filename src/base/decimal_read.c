/* SPDX-License-Identifier: MIT */
/* The nearest double of a decimal: its digits as an integer, times a power of ten of 128 bits (decimal_powers.h).
 *
 * The product is exact but for the power, which lies too high by at most one unit. So 128 bits of the product are known
 * to two units, and rounding them to a double is right unless these two reach down across the middle between two
 * doubles: where the decimal is that middle, or as good as that. (Daniel Lemire, "Number Parsing at a Gigabyte per
 * Second", does the same with a power that lies too low.) The C library takes these and other rare cases: more than 19
 * digits, overflow, and powers outside the table; with the powers in it, no result is too small for a double with all
 * its bits. */
#include "base/decimal.h"

#include "base/decimal_powers.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DIGITS = 19, /* in 64 bits */
    MOST_EXPONENT = 9999,
    FRACTION_BITS = 52,
    DROPPED_BITS = 64 - FRACTION_BITS - 1, /* of the upper half of a product */
    EXPONENT_BIAS = 1075,                  /* of a double as a whole number times a power of two */
    HIGHEST_EXPONENT = 2046,               /* biased; beyond it a result is infinite */
};

/* Appends digits to *value, which keeps MOST_DIGITS after leading zeros. Returns what follows them. */
static const char *read_digits(const char *at, uint64_t *value)
{
    for (; text_is_digit(*at); at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Adds the number after an 'e' to *exponent. NULL where that is no exponent, or a very long one. */
static const char *read_exponent(const char *at, int *exponent)
{
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (!text_is_digit(*at))
        return NULL;
    int value = 0;
    for (; text_is_digit(*at) && value <= MOST_EXPONENT; at++)
        value = value * 10 + (*at - '0');
    *exponent += negative ? -value : value;
    return value <= MOST_EXPONENT ? at : NULL;
}

/* The double nearest to value * 10^exponent, where value is not 0. False where the 128 bits do not decide. */
static bool scale(uint64_t value, int exponent, uint64_t *bits)
{
    if (exponent < DECIMAL_LOWEST_POWER || exponent > DECIMAL_HIGHEST_POWER)
        return false;
    const struct decimal_power *power = &DECIMAL_POWERS[exponent - DECIMAL_LOWEST_POWER];
    int shift = __builtin_clzll(value);
    const struct decimal_product upper = decimal_multiply(value << shift, power->high),
                                 lower = decimal_multiply(value << shift, power->low);
    uint64_t low = upper.low + lower.high, high = upper.high + (low < lower.high);
    if (high >> 63 == 0) {
        high = high << 1 | low >> 63;
        low <<= 1;
        shift++;
    }
    /* The product is below high 2^64 + low + 2 and above high 2^64 + low - 2. The middle, where the first of the bits
     * that are dropped is 1 and no other, is even: what is below it here is so in truth. */
    const uint64_t middle = (uint64_t)1 << (DROPPED_BITS - 1), dropped = high & (2 * middle - 1);
    if (dropped == middle && low < 2)
        return false;
    const int biased = decimal_power_exponent(exponent) - shift + 128 + DROPPED_BITS + EXPONENT_BIAS;
    if (biased > HIGHEST_EXPONENT)
        return false;
    /* The hidden bit counts one in the exponent, as does a carry that runs through all bits. */
    *bits = ((uint64_t)(biased - 1) << FRACTION_BITS) + (high >> DROPPED_BITS) + (dropped >= middle);
    return true;
}

/* False where the text has another form, or scale does not decide. */
static bool read_usual(const char *text, size_t length, double *number)
{
    int exponent = 0;
    uint64_t value = 0, bits = 0;
    const char *const first = text + (*text == '-'), *at = read_digits(first, &value);
    if (at == first)
        return false;
    if (*at == '.') {
        const char *const behind = at + 1;
        at = read_digits(behind, &value);
        if (at - behind > MOST_EXPONENT)
            return false;
        exponent = (int)(behind - at);
    }
    if (at - first > MOST_DIGITS && at - first - (ptrdiff_t)strspn(first, "0.") > MOST_DIGITS)
        return false;
    if (*at == 'e' || *at == 'E')
        at = read_exponent(at + 1, &exponent);
    if (at != text + length || (value > 0 && !scale(value, exponent, &bits)))
        return false;
    bits |= (uint64_t)(*text == '-') << 63;
    memcpy(number, &bits, sizeof bits);
    return true;
}

bool decimal_to_double(const char *text, size_t length, double *number)
{
    char *end;
    if (read_usual(text, length, number))
        return true;
    if (length == 0 || strspn(text, "0123456789.eE+-") < length)
        return false;
    *number = strtod(text, &end); /* the process locale is never set */
    return end == text + length;
}
