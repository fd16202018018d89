/* SPDX-License-Identifier: MIT */
/* A number as people and programs print it: 3, +1.5, 1., .5, 1.5e-07, nan, -inf, True, np.inf.
 *
 * Read to the nearest double, ties to even. No underscores, hexadecimal digits or complex numbers, and no leading
 * zeros: they are what a decimal comma leaves behind. */
#ifndef ATTN_READ_PRINTED_NUMBER_H
#define ATTN_READ_PRINTED_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum printed_kind {
    PRINTED_FIXED,    /* without an exponent */
    PRINTED_EXPONENT, /* with one */
    PRINTED_SPECIAL,  /* nan, inf; in JSON's words null (minus infinity), "NaN", "Infinity" */
    PRINTED_TRUTH,    /* True, false: 1 or 0 */
};

struct printed_number {
    enum printed_kind kind;
    double value; /* infinite where a number above 1.8e308 overflows */
    int decimals; /* digits behind the point, most PRINTED_MOST */
    int exponent; /* the power of ten behind the e, at most PRINTED_MOST in magnitude */
};

enum { PRINTED_MOST = 9999 };

/* Reads the number that begins at text, which a NUL ends: returns its length, 0 where there is none. Anything may
 * follow a number; a word such as nan ends where no letter follows. */
size_t printed_number_read(const char *text, struct printed_number *number);

/* Whether the number, or the word, ends at this character: a blank, a comma, a closing bracket, the end. */
bool printed_number_ends(char next);

/* A hint for text that is no number, or continues one: "; a complex number, and attn computes with real ones", or "".
 * */
const char *printed_number_hint(const char *text);

/* Whether "..." or its character is there, in place of numbers that were not printed. */
bool printed_number_is_elided(const char *text);

#endif
