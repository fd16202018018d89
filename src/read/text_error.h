/* SPDX-License-Identifier: MIT */
/* An error in a text, with its position and an excerpt of the line. */
#pragma once

#include "base/error.h"

/* The text [text, end), where *end == '\0', and its name in messages. */
struct text_source {
    const char *source;
    const char *text, *end;
};

/* STATUS_USAGE "source:line:column: " and a printf-like message; as detail, the line (clipped around the position) with
 * a caret. Lines and columns count from 1; a column is a character, not a byte. */
enum status text_error_at(const struct text_source *source, const char *at, struct error *error, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* The same with "expected ..., got ...", naming the character, the byte, or the end of the text. */
enum status text_error_expected(const struct text_source *source, const char *at, struct error *error,
                                const char *expected);

/* The character at `at` in words: "'x'", "byte 0xff", "end of input". */
struct text_error_found {
    char name[32];
};
struct text_error_found text_error_describe(const struct text_source *source, const char *at);
