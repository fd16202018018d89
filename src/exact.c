#include "exact.h"

#include <stdlib.h>
#include <string.h>

enum { LIMB_DIGITS = 9, LIMB = 1000000000, POINT = EXACT_LIMBS / 2 };

/* Carries until each limb is below 10^9 in magnitude; a limb keeps the sign that it has. */
static void settle(struct exact *number)
{
    for (size_t i = number->first; i < number->end; i++) {
        const int64_t carry = number->limbs[i] / LIMB;
        if (carry == 0)
            continue;
        if (i + 1 == number->end)
            number->limbs[number->end++] = 0;
        number->limbs[i] -= carry * LIMB;
        number->limbs[i + 1] += carry;
    }
}

/* Makes limbs first .. end - 1 part of the number. */
static void widen(struct exact *number, size_t first, size_t end)
{
    if (number->first == number->end)
        number->first = number->end = first;
    while (number->first > first)
        number->limbs[--number->first] = 0;
    while (number->end < end)
        number->limbs[number->end++] = 0;
}

/* Adds digit x 10^power. */
static void add_digit(struct exact *number, int digit, int power)
{
    const int place = power + POINT * LIMB_DIGITS;
    const size_t limb = (size_t)(place / LIMB_DIGITS);
    int64_t value = digit;
    for (int i = place % LIMB_DIGITS; i > 0; i--)
        value *= 10;
    widen(number, limb, limb + 1);
    number->limbs[limb] += value;
}

bool exact_read(const char *text, struct exact *number)
{
    const int sign = *text == '-' ? -1 : 1;
    const char *digits = text + (*text == '-');
    const size_t length = strspn(digits, "0123456789."), whole = strspn(digits, "0123456789");
    number->first = number->end = 0;
    if (length == 0 || (digits[length] != '\0' && digits[length] != 'e'))
        return false;
    int power = (int)whole - 1 + (digits[length] == 'e' ? (int)strtol(digits + length + 1, NULL, 10) : 0);
    for (size_t i = 0; i < length; i++)
        if (digits[i] != '.')
            add_digit(number, sign * (digits[i] - '0'), power--);
    return true;
}

void exact_add(struct exact *sum, const struct exact *number, int sign)
{
    if (number->first == number->end)
        return;
    widen(sum, number->first, number->end);
    for (size_t i = number->first; i < number->end; i++)
        sum->limbs[i] += sign * number->limbs[i];
    settle(sum);
}

void exact_multiply(const struct exact *a, const struct exact *b, struct exact *product)
{
    product->first = product->end = 0;
    if (a->first == a->end || b->first == b->end)
        return;
    widen(product, a->first + b->first - POINT, a->end + b->end - POINT);
    for (size_t i = a->first; i < a->end; i++) {
        for (size_t j = b->first; j < b->end; j++)
            product->limbs[i + j - POINT] += a->limbs[i] * b->limbs[j];
        settle(product);
    }
}

/* No smaller limbs together weigh as much as 1 of a larger one, so 0 has none but 0. */
bool exact_equal(const struct exact *a, const struct exact *b)
{
    struct exact difference = *a;
    exact_add(&difference, b, -1);
    for (size_t i = difference.first; i < difference.end; i++)
        if (difference.limbs[i] != 0)
            return false;
    return true;
}
