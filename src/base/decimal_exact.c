/* SPDX-License-Identifier: MIT */
#include "base/decimal_exact.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIMB_DIGITS = 9,
    LIMB = 1000000000,
    POINT = DECIMAL_EXACT_LIMBS / 2,
    PLACES = DECIMAL_EXACT_LIMBS * LIMB_DIGITS, /* digits of a number */
    BEHIND_POINT = POINT * LIMB_DIGITS,         /* those after the point */
};

void decimal_exact_clear(struct decimal_exact *number)
{
    number->first = number->end = 0;
    number->lost = false;
}

/* Carries until each limb is below 10^9 in magnitude; a limb keeps the sign that it has. */
static void settle(struct decimal_exact *number)
{
    for (size_t i = number->first; i < number->end; i++) {
        const int64_t carry = number->limbs[i] / LIMB;
        if (carry == 0)
            continue;
        number->limbs[i] -= carry * LIMB;
        if (i + 1 == DECIMAL_EXACT_LIMBS) {
            number->lost = true;
            break;
        }
        if (i + 1 == number->end)
            number->limbs[number->end++] = 0;
        number->limbs[i + 1] += carry;
    }
}

/* Makes limbs first .. end - 1 part of the number. */
static void widen(struct decimal_exact *number, size_t first, size_t end)
{
    if (number->first == number->end)
        number->first = number->end = first;
    while (number->first > first)
        number->limbs[--number->first] = 0;
    while (number->end < end)
        number->limbs[number->end++] = 0;
}

static void add_digit(struct decimal_exact *number, int digit, long power)
{
    const long place = power + BEHIND_POINT;
    int64_t value = digit;
    if (place < 0 || place >= PLACES) {
        number->lost = number->lost || digit != 0;
        return;
    }
    const size_t limb = (size_t)(place / LIMB_DIGITS);
    for (long i = place % LIMB_DIGITS; i > 0; i--)
        value *= 10;
    widen(number, limb, limb + 1);
    number->limbs[limb] += value;
}

/* The power of ten after the e, at most 4 PLACES in magnitude, which is beyond all limbs. */
static long read_exponent(const char *text)
{
    const long exponent = strtol(text, NULL, 10), most = 4L * PLACES;
    return exponent < -most ? -most : exponent > most ? most : exponent;
}

bool decimal_exact_read(const char *text, struct decimal_exact *number)
{
    const int sign = *text == '-' ? -1 : 1;
    const char *digits = text + (*text == '-');
    const size_t length = strspn(digits, "0123456789."), whole = strspn(digits, "0123456789");
    decimal_exact_clear(number);
    if (length == 0 || (digits[length] != '\0' && digits[length] != 'e'))
        return false;
    long power = (long)whole - 1 + (digits[length] == 'e' ? read_exponent(digits + length + 1) : 0);
    for (size_t i = 0; i < length; i++)
        if (digits[i] != '.')
            add_digit(number, sign * (digits[i] - '0'), power--);
    return true;
}

void decimal_exact_add(struct decimal_exact *sum, const struct decimal_exact *number, int sign)
{
    sum->lost = sum->lost || number->lost;
    if (number->first == number->end)
        return;
    widen(sum, number->first, number->end);
    for (size_t i = number->first; i < number->end; i++)
        sum->limbs[i] += sign * number->limbs[i];
    settle(sum);
}

/* *first .. *end: the limbs without zeros at either end. */
static void trim(const struct decimal_exact *number, size_t *first, size_t *end)
{
    *first = number->first;
    *end = number->end;
    while (*first < *end && number->limbs[*first] == 0)
        ++*first;
    while (*first < *end && number->limbs[*end - 1] == 0)
        --*end;
}

void decimal_exact_multiply(const struct decimal_exact *a, const struct decimal_exact *b, struct decimal_exact *product)
{
    size_t a_first, a_end, b_first, b_end;
    decimal_exact_clear(product);
    product->lost = a->lost || b->lost;
    trim(a, &a_first, &a_end);
    trim(b, &b_first, &b_end);
    if (a_first == a_end || b_first == b_end)
        return;
    if (a_first + b_first < POINT || a_end + b_end - 1 > DECIMAL_EXACT_LIMBS + POINT) {
        product->lost = true;
        return;
    }
    widen(product, a_first + b_first - POINT, a_end + b_end - 1 - POINT);
    for (size_t i = a_first; i < a_end; i++) {
        for (size_t j = b_first; j < b_end; j++)
            product->limbs[i + j - POINT] += a->limbs[i] * b->limbs[j];
        settle(product);
    }
}

/* All smaller limbs together weigh less than 1 in a larger one, so a difference of 0 has only limbs of 0. */
bool decimal_exact_equal(const struct decimal_exact *a, const struct decimal_exact *b)
{
    struct decimal_exact difference = *a;
    decimal_exact_add(&difference, b, -1);
    for (size_t i = difference.first; i < difference.end; i++)
        if (difference.limbs[i] != 0)
            return false;
    return !difference.lost;
}
