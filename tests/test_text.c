/* SPDX-License-Identifier: MIT */
/* A text that grows within its room: all of it where it fits, and no byte behind its room where it does not. Numbers
 * with fixed decimals: those of printf. */
#include "base/text.h"
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 12 };

/* The pieces into so many bytes, with guards behind them. */
static void check_pieces(const char *const *pieces, size_t count, size_t size, const char *expected, bool cut)
{
    char bytes[SIZE + 8];
    memset(bytes, '#', sizeof bytes);
    struct text text = text_begin(bytes, size);
    for (size_t i = 0; i < count; i++)
        text_add(&text, "%s", pieces[i]);
    CHECK_TEXT(expected, bytes);
    CHECK(text.length == strlen(expected), "expected the length %zu, got %zu", strlen(expected), text.length);
    CHECK(text.cut == cut, "expected it to be %s", cut ? "cut" : "whole");
    for (size_t i = size; i < sizeof bytes; i++)
        CHECK(bytes[i] == '#', "expected nothing behind the room, got byte 0x%02x at %zu", (unsigned char)bytes[i], i);
}

static void check_number(double number, int decimals)
{
    char expected[400], text[400];
    snprintf(expected, sizeof expected, "%.*f", decimals, number);
    const char *wanted = expected + (expected[0] == '-' && strspn(expected + 1, "0.") == strlen(expected + 1));
    CHECK_TEXT(wanted, text_number(text, sizeof text, decimals, false, number));
    char least[400]; /* with room for this text alone, then for one byte less */
    memset(least, '#', sizeof least);
    CHECK_TEXT(wanted, text_number(least, strlen(expected) + 1, decimals, false, number));
    text_number(least, strlen(wanted), decimals, false, number);
    CHECK(strlen(least) < strlen(wanted), "expected the text to be cut, got %s", least);
}

/* Halves of a unit of the last decimal, and their neighbours; all sizes, about 2^40 units too. */
static void check_numbers(void)
{
    static const double ALONE[] = {0,    0.5,  1.5,   2.5,    0.125,          0.25,    0.375,
                                   1e15, 1e22, 1e300, 5e-324, 109951162.7776, INFINITY};
    uint64_t state = 1;
    for (int decimals = 0; decimals <= 12; decimals++) {
        for (size_t i = 0; i < sizeof ALONE / sizeof ALONE[0]; i++) {
            check_number(ALONE[i], decimals);
            check_number(-ALONE[i], decimals);
        }
        for (int i = 0; i < 3000; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            const double unit = pow(10, -decimals), count = ldexp((double)(state >> 33), i % 48 - 32);
            check_number(count * unit, decimals);
            const double half = (floor(count) + 0.5) * unit;
            check_number(half, decimals);
            check_number(-nextafter(half, 0), decimals);
            check_number(nextafter(half, INFINITY), decimals);
            check_number((floor(count) + 0.5 + ldexp(1, -(i % 20))) * unit, decimals);
        }
    }
}

int main(void)
{
    static const char *const FITS[] = {"four", "", "five5", "xy"}, *const LONG[] = {"four", "eleven bytes", "x"};
    static const char *const WIDE[] = {"123456789", "\xe2\x89\x88", "x"};
    check_begin("nothing");
    check_pieces(FITS, 0, SIZE, "", false);
    check_begin("what fits");
    check_pieces(FITS, 3, SIZE, "fourfive5", false);
    check_begin("to the last byte");
    check_pieces(FITS, 4, SIZE, "fourfive5xy", false);
    check_begin("what does not fit is cut, and what comes behind it left out");
    check_pieces(LONG, 3, SIZE, "foureleven ", true);
    check_begin("not within a character");
    check_pieces(WIDE, 3, SIZE, "123456789", true);
    check_begin("a character that fits just so");
    check_pieces(WIDE, 2, SIZE + 1, "123456789\xe2\x89\x88", false);
    check_begin("no room at all");
    check_pieces(FITS, 2, 1, "", true);
    check_begin("numbers with fixed decimals");
    check_numbers();
    return check_end();
}
