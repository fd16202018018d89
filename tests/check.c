/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_FAILURES = 8 };

static struct {
    char name[256];
    int failures;
    bool open, skipped;
} test;

static int passed, failed, skipped;

static void close_test(void)
{
    if (!test.open)
        return;
    if (test.failures > SHOWN_FAILURES)
        printf("  (%d more)\n", test.failures - SHOWN_FAILURES);
    passed += !test.skipped && test.failures == 0;
    failed += test.failures > 0;
    skipped += test.skipped && test.failures == 0;
    test.open = false;
}

void check_begin(const char *format, ...)
{
    close_test();
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(test.name, sizeof test.name, format, arguments);
    va_end(arguments);
    test.failures = 0;
    test.skipped = false;
    test.open = true;
}

bool check_that(bool holds, const char *file, int line, const char *format, ...)
{
    if (holds)
        return true;
    if (test.failures == 0)
        printf("FAILED: %s\n", test.name);
    if (test.failures++ < SHOWN_FAILURES) {
        printf("  %s:%d: ", file, line);
        va_list arguments;
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        putchar('\n');
    }
    return false;
}

bool check_text(const char *expected, const char *got, const char *file, int line)
{
    bool same = expected == NULL || got == NULL ? expected == got : strcmp(expected, got) == 0;
    return check_that(same, file, line, "expected:\n%s\n  got:\n%s", expected ? expected : "(null)",
                      got ? got : "(null)");
}

void check_skip(const char *reason)
{
    printf("skipped: %s: %s\n", test.name, reason);
    test.skipped = true;
}

int check_end(void)
{
    close_test();
    printf("%d passed, %d failed", passed, failed);
    if (skipped > 0)
        printf(", %d skipped", skipped);
    putchar('\n');
    return failed > 0;
}
