/* SPDX-License-Identifier: MIT */
/* A minimal test harness: a test is a name and the checks that follow it; one failed check fails the test, and prints
 * the expected and the actual value. A program ends with `return check_end();`, whose last line is "N passed, N failed"
 * (and ", N skipped" if tests were skipped). */
#ifndef ATTN_CHECK_H
#define ATTN_CHECK_H

#include <stdbool.h>

/* Ends the test before it and starts the next one. The name is printf-like. */
void check_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A check of the present test: if it fails, prints file, line and the printf-like message with the expected and the
 * actual value. Returns whether it passed. */
#define CHECK(holds, ...) check_that((holds), __FILE__, __LINE__, __VA_ARGS__)
bool check_that(bool holds, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Compares two strings, byte for byte; NULL equals only NULL. */
#define CHECK_TEXT(expected, got) check_text((expected), (got), __FILE__, __LINE__)
bool check_text(const char *expected, const char *got, const char *file, int line);

/* Skips the present test, with a reason; it counts as skipped, unless one of its checks has failed. */
void check_skip(const char *reason);

/* Ends the last test, and prints the counts. Returns the program's exit status: 0 if none failed, else 1. */
int check_end(void);

#endif
