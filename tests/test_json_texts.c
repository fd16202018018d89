/* SPDX-License-Identifier: MIT */
/* JSON on both sides of RFC 8259: each text of tests/hostile/json.texts as the value of "comment" in an input that is
 * computed. What is valid runs, what is not is refused at its line and column. */
#include "check.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PATH[] = "tests/hostile/json.texts";

/* The text stands on lines of its own. */
static const char BEFORE[] = "{\"inputs\": [[1, 2]], \"comment\":\n", AFTER[] = "}";

/* Undoes the escapes in place; returns the length. */
static size_t unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        char digits[3] = "";
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        switch (*++from) {
        case 'n':
            *to++ = '\n';
            break;
        case 'r':
            *to++ = '\r';
            break;
        case 't':
            *to++ = '\t';
            break;
        case 'x':
            memcpy(digits, from + 1, 2);
            *to++ = (char)strtoul(digits, NULL, 16);
            from += 2;
            break;
        default:
            *to++ = *from;
        }
    }
    return (size_t)(to - text);
}

static void check_row(const char *place, const char *text, size_t length)
{
    const size_t before = strlen(BEFORE), after = strlen(AFTER);
    struct made made;
    char expected[64];
    char *input = malloc(before + length + after);
    if (input == NULL)
        abort();
    memcpy(input, BEFORE, before);
    memcpy(input + before, text, length);
    memcpy(input + before + length, AFTER, after);
    const enum status status = support_make_bytes(&made, "self", input, before + length + after);
    if (strcmp(place, "valid") == 0) {
        CHECK(status == STATUS_OK, "expected it to run, got: %s", made.error.message);
    } else {
        const char *colon = strchr(place, ':');
        snprintf(expected, sizeof expected, "test.json:%lu%s: ", strtoul(place, NULL, 10) + 1, colon);
        CHECK(status == STATUS_USAGE && strncmp(made.error.message, expected, strlen(expected)) == 0,
              "expected %s..., got status %d: %s", expected, (int)status, made.error.message);
        CHECK(strchr(made.error.detail, '^') != NULL, "expected a caret, got: %s", made.error.detail);
    }
    arena_free(&made.arena);
    free(input);
}

int main(void)
{
    char *table = support_read(PATH);
    for (char *line = table, *next; *line != '\0'; line = next) {
        next = line + strcspn(line, "\n");
        if (*next != '\0')
            *next++ = '\0';
        char *what = strchr(line, '\t'), *text = what != NULL ? strchr(what + 1, '\t') : NULL;
        if (*line == '#')
            continue;
        check_begin("%s: %s", PATH, line);
        if (!CHECK(text != NULL, "expected PLACE, what it is and the text, parted by tabs"))
            continue;
        *what = *text = '\0';
        check_row(line, text + 1, unescape(text + 1));
    }
    free(table);
    return check_end();
}
