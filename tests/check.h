/* SPDX-License-Identifier: MIT */
/* The smallest test harness that counts honestly: a test is a name and the checks that follow it; one failed check
 * fails the test, and prints what was expected and what came. A program ends with `return check_end();`, whose last
 * line is "N passed, N failed" (and ", N skipped" where a test said so). */
#ifndef ATTN_CHECK_H
#define ATTN_CHECK_H

#include <stdbool.h>

/* Ends the test before it and starts the next one. The name is printf-like. */
void check_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The check of the present test: where it does not hold, prints file, line and the message (printf-like) that says
 * what was expected and what came. Returns whether it held. */
#define CHECK(holds, ...) check_that((holds), __FILE__, __LINE__, __VA_ARGS__)
bool check_that(bool holds, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Two strings, byte for byte; NULL equals only NULL. */
#define CHECK_TEXT(expected, got) check_text((expected), (got), __FILE__, __LINE__)
bool check_text(const char *expected, const char *got, const char *file, int line);

/* The present test cannot run here, and why; it counts as skipped, unless one of its checks has failed. */
void check_skip(const char *reason);

/* Ends the last test, prints the counts; the program's exit status: 0 where none failed, else 1. */
int check_end(void);

#endif
