/* SPDX-License-Identifier: MIT */
/* The shortest decimal, found directly: Raffaello Giulietti's Schubfach algorithm ("The Schubfach way to render
 * doubles"), with powers of ten of 128 bits (decimal_powers.h).
 *
 * A number is c * 2^q with integers c and q. The decimals that read back as this number lie between the midpoints to
 * its two neighbours: from (c - 1/2) 2^q to (c + 1/2) 2^q; but from (c - 1/4) 2^q where c is a power of two, since the
 * numbers below lie twice as dense there. Ties read as even, so the two ends belong to the interval where c is even.
 *
 * Let k be the largest integer for which 10^k is not wider than the interval. Then at least one multiple of 10^k lies
 * in it, and at most one multiple of 10^(k+1), which has fewer digits. (Schubfach, the pigeonhole, is the name of this
 * argument.) So there are four candidates: the multiples of 10^(k+1) next to the number, else those of 10^k. (Only 10
 * has no fewer digits than 9; but where both lie in the interval of a float or double, 10 is the nearer one.)
 *
 * The number, the ends, the candidates and the middle between two candidates are compared in units of 10^k / 4. In
 * these the candidates and the middle are even integers. So the odd integer can replace any number between two even
 * ones: no comparison with an even integer changes. See scale(). */
#include "base/decimal.h"

#include "base/decimal_powers.h"

#include <string.h>

enum {
    FLOAT_FRACTION_BITS = 23,
    FLOAT_LOWEST_EXPONENT = -149, /* of two, in the smallest number */
    DOUBLE_FRACTION_BITS = 52,
    DOUBLE_LOWEST_EXPONENT = -1074,
    MOST_DIGITS = 17,
    LOWEST_PLAIN_POINT = -4, /* 0.1 * 10^-4 is 1e-5 */
    HIGHEST_PLAIN_POINT = 16
};

struct decimal {
    uint64_t digits;
    int exponent; /* the value is digits * 10^exponent */
};

/* factor * power / 2^128, without the power's own exponent; rounded to the odd integer between two even ones, unless it
 * is even itself. The factor is below 2^60.
 *
 * A power that lies up to one unit too high makes the result too high by less than 2^-68. For all numbers and all ends
 * of their intervals the exact result either is an even integer or stays 2^-62.6 away from every one. (Giulietti proves
 * such a bound; this one is the minimum over all q, from the continued fractions of 2^q / 10^k.) So 64 bits of the
 * fraction, 0 or not, tell whether it is an even integer.
 *
 * The factors of floats, and of the smallest doubles, fit in 32 bits. There the bound is 2^-30.8, and the upper half of
 * the power is enough: less than 2^-32 too high, which leaves 32 bits of the fraction. */
static inline uint64_t scale(uint64_t factor, const struct decimal_power *power)
{
    if (factor <= UINT32_MAX) {
        struct decimal_product product = decimal_multiply(factor, power->high + 1);
        return product.high | (product.low >> 32 != 0);
    }
    struct decimal_product upper = decimal_multiply(factor, power->high);
    struct decimal_product lower = decimal_multiply(factor, power->low);
    uint64_t fraction = upper.low + lower.high;
    uint64_t whole = upper.high + (fraction < lower.high);
    return whole | (fraction != 0);
}

/* The largest k for which 10^k <= 2^q, or 3/4 2^q: q log10(2) + log10(3/4) rounded down, exact for every q of a double.
 * (The shift of a negative number is arithmetic wherever gcc and clang compile.) */
static int floor_log10(int q, bool three_quarters)
{
    return (q * 315653 - (three_quarters ? 131008 : 0)) >> 20;
}

static struct decimal strip_zeros(uint64_t digits, int exponent)
{
    for (; digits % 10 == 0; digits /= 10)
        exponent++;
    return (struct decimal){digits, exponent};
}

/* Of c * 2^q; dense_below where the numbers below it are twice as dense. */
static struct decimal shortest_decimal(uint64_t c, int q, bool dense_below)
{
    int k = floor_log10(q, dense_below);
    const struct decimal_power *power = &DECIMAL_POWERS[-k - DECIMAL_LOWEST_POWER];
    int shift = q + decimal_power_exponent(-k) + 128; /* 1..4, because 1 <= 2^q / 10^k < 13.4 */
    uint64_t open = c & 1;
    uint64_t number = scale(4 * c << shift, power);
    uint64_t first = scale((4 * c - (dense_below ? 1 : 2)) << shift, power) + open;
    uint64_t last = scale((4 * c + 2) << shift, power) - open;

    uint64_t below = number / 4;
    uint64_t tens_below = below / 10 * 10;
    if (first <= 4 * tens_below)
        return strip_zeros(tens_below, k);
    if (4 * (tens_below + 10) <= last)
        return strip_zeros(tens_below + 10, k);

    /* The nearest of the two, the even one of two as near. It lies in the interval, unless it is the one below and the
     * interval is shorter there. */
    uint64_t middle = 4 * below + 2;
    bool above = number > middle || (number == middle && below % 2 == 1) || 4 * below < first;
    return (struct decimal){below + above, k};
}

/* Writes digits that end at `end`; returns where they begin. */
static char *write_digits_before(char *end, uint64_t digits)
{
    do
        *--end = (char)('0' + digits % 10);
    while ((digits /= 10) != 0);
    return end;
}

/* The point follows `point` digits; where `point` is negative, that many zeros follow it before the digits. */
static size_t write_plain(const char *digits, size_t count, int point, char *text)
{
    if (point <= 0) {
        size_t zeros = (size_t)-point;
        memcpy(text, "0.0000", 2 + zeros);
        memcpy(text + 2 + zeros, digits, count);
        return 2 + zeros + count;
    }
    size_t before = (size_t)point;
    if (before >= count) {
        memcpy(text, digits, count);
        memset(text + count, '0', before - count);
        return before;
    }
    memcpy(text, digits, before);
    text[before] = '.';
    memcpy(text + before + 1, digits + before, count - before);
    return count + 1;
}

static size_t write_scientific(const char *digits, size_t count, int exponent, char *text)
{
    size_t length = 0;
    text[length++] = digits[0];
    if (count > 1) {
        text[length++] = '.';
        memcpy(text + length, digits + 1, count - 1);
        length += count - 1;
    }
    text[length++] = 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    length += magnitude < 10 ? 1 : magnitude < 100 ? 2 : 3;
    write_digits_before(text + length, magnitude);
    return length;
}

static size_t write_decimal(struct decimal decimal, char *text)
{
    char room[MOST_DIGITS];
    char *end = room + sizeof room;
    const char *digits = write_digits_before(end, decimal.digits);
    size_t count = (size_t)(end - digits);
    int point = (int)count + decimal.exponent;
    if (point < LOWEST_PLAIN_POINT || point > HIGHEST_PLAIN_POINT)
        return write_scientific(digits, count, point - 1, text);
    return write_plain(digits, count, point, text);
}

size_t decimal_from_bits(bool negative, uint64_t magnitude, int fraction_bits, int lowest_exponent, char *text)
{
    text[0] = '-';
    size_t length = negative;
    if (magnitude == 0) {
        text[length++] = '0';
    } else {
        int biased = (int)(magnitude >> fraction_bits);
        uint64_t hidden = (uint64_t)1 << fraction_bits;
        uint64_t fraction = magnitude & (hidden - 1);
        bool normal = biased > 0;
        uint64_t c = normal ? hidden | fraction : fraction;
        int q = lowest_exponent + (normal ? biased - 1 : 0);
        length += write_decimal(shortest_decimal(c, q, fraction == 0 && biased > 1), text + length);
    }
    text[length] = '\0';
    return length;
}

/* One float has a shortest decimal that a reader with doubles takes for another float: the double nearest to
 * 7.038531e-26 is the very middle between this float and the next, which is even. One digit more tells it apart. (All
 * 2^31 magnitudes were tried; see the test.) */
enum { DOUBLY_ROUNDED = 0x15ae43fd };

size_t decimal_from_float(float number, char *text)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    if ((bits & UINT32_MAX >> 1) == DOUBLY_ROUNDED) {
        strcpy(text, bits >> 31 ? "-7.0385307e-26" : "7.0385307e-26");
        return strlen(text);
    }
    return decimal_from_bits(bits >> 31, bits & UINT32_MAX >> 1, FLOAT_FRACTION_BITS, FLOAT_LOWEST_EXPONENT, text);
}

size_t decimal_from_double(double number, char *text)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return decimal_from_bits(bits >> 63, bits & UINT64_MAX >> 1, DOUBLE_FRACTION_BITS, DOUBLE_LOWEST_EXPONENT, text);
}
