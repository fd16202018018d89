/* SPDX-License-Identifier: MIT */
/* A text that grows within its room: all of it where it fits, and no byte behind its room where it does not. */
#include "base/text.h"
#include "check.h"

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
    return check_end();
}
