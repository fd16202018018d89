/* SPDX-License-Identifier: MIT */
/* Numbers as people and programs print them: 3, +1.5, 1., .5, 1.5e-07, nan, -inf, True, np.inf.
 *
 * Rounded to the nearest double, ties to even. Underscores, hexadecimal digits and complex numbers are no numbers; nor
 * are leading zeros, which a decimal comma leaves. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum printed_kind {
    PRINTED_FIXED,
    PRINTED_EXPONENT, /* with one */
    PRINTED_SPECIAL,  /* nan, inf; in JSON's words null (minus infinity), "NaN", "Infinity" */
    PRINTED_TRUTH,    /* True, false: 1 or 0 */
};

struct printed_number {
    enum printed_kind kind;
    double value; /* infinite where a number above 1.8e308 overflows */
    int decimals; /* digits after the point, at most PRINTED_MOST */
    int exponent; /* the power of ten after the e, at most PRINTED_MOST in magnitude */
};

enum { PRINTED_MOST = 9999 };

/* Reads the number at the beginning of a NUL-terminated text; returns its length, or 0. Anything may follow a number;
 * no letter may follow a word such as nan. */
size_t printed_number_read(const char *text, struct printed_number *number);

/* Whether a number or word may end before this character: a blank, a comma, a closing bracket, the end. */
bool printed_number_ends(char next);

/* A hint for text that is no number, or follows one: "; a complex number, and attn computes with real ones", or "". */
const char *printed_number_hint(const char *text);

/* Whether the text begins with "..." or its character, for omitted numbers. */
bool printed_number_is_elided(const char *text);
