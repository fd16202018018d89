/* SPDX-License-Identifier: MIT */
/* The shortest decimal that reads back to the same number.
 *
 * Of the decimals that round to the number (nearest, ties to even), the one with the fewest significant digits; of
 * several with as many digits, the nearest to the number. A float's also reads back through a double, as readers of
 * JSON take it. The text is as in JSON: plain between 1e-5 and 1e16 ("0.1", "3", "-0", "120000"), else with an exponent
 * ("1.5e-7", "1e+20"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_BYTES = 32 }; /* room for any number and its NUL */

/* The number must be finite. Writes the text and a NUL to text (DECIMAL_BYTES), returns its length. */
size_t decimal_from_float(float number, char *text);
size_t decimal_from_double(double number, char *text);

/* The text itself, such as decimal_text(number, (char[DECIMAL_BYTES]){0}). */
static inline const char *decimal_text(double number, char *text)
{
    decimal_from_double(number, text);
    return text;
}

/* The same for a number of few bits: its sign; biased exponent and fraction as one integer; and the power of two of its
 * smallest number. */
size_t decimal_from_bits(bool negative, uint64_t magnitude, int fraction_bits, int lowest_exponent, char *text);

/* Whether text[0 .. length) is a decimal number and nothing else; then *number is the nearest double, or infinite. A
 * NUL, or a byte that no number contains, must follow it. */
bool decimal_to_double(const char *text, size_t length, double *number);
