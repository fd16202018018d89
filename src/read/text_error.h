/* SPDX-License-Identifier: MIT */
/* An error in a text, with its place and an excerpt of the line. */
#ifndef ATTN_READ_TEXT_ERROR_H
#define ATTN_READ_TEXT_ERROR_H

#include "base/error.h"

/* The text [text, end), which *end == '\0' ends, and the name that messages have for it. */
struct text_source {
    const char *source;
    const char *text, *end;
};

/* STATUS_USAGE "source:line:column: " and what is said, printf-like; as detail, the line (clipped around the place)
 * with a caret. Lines and columns count from 1; a column is a character, not a byte. */
enum status text_error_at(const struct text_source *source, const char *at, struct error *error, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* The same: "expected ..., got ..." and what is there: a character, a byte, or the end of the text. */
enum status text_error_expected(const struct text_source *source, const char *at, struct error *error,
                                const char *expected);

/* What is there, in words: "'x'", "byte 0xff", "end of input". */
struct text_error_found {
    char name[32];
};
struct text_error_found text_error_describe(const struct text_source *source, const char *at);

#endif
