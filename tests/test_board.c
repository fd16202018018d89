/* SPDX-License-Identifier: MIT */
/* Lines on a board that have more sides, terms and letters than those of attn's own arithmetic. */
#include "check.h"
#include "explain/worked_line.h"

#include <string.h>

static struct arena arena;
static struct error error;
static struct output output;

/* "label  1 + 2 = 3 = ..." of so many sides and terms in each. */
static void write_line(struct worked_line *lines, const char *label, size_t sides, size_t terms, const char *number)
{
    worked_line_line(lines, 0, label, strlen(label));
    for (size_t side = 0; side < sides; side++) {
        if (side > 0)
            worked_line_relation(lines);
        for (size_t term = 0; term < terms; term++)
            worked_line_number(lines, '+', number);
    }
    worked_line_end(lines);
}

/* What a board with room for `room` terms makes of two such lines. */
static const char *write_board(size_t room, size_t sides, size_t terms)
{
    struct worked_line lines;
    size_t length;
    output_open_text(&output, &arena, &error);
    if (worked_line_create(&lines, &output, room, &arena, &error) != STATUS_OK)
        return error.message;
    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? worked_line_measure : worked_line_print)(&lines);
        write_line(&lines, "one", sides, terms, "1");
        write_line(&lines, "minus", sides, terms, "-10");
    }
    return output_close_text(&output, &length);
}

int main(void)
{
    check_begin("as many sides as are aligned");
    CHECK_TEXT("    one      1 =   1 =   1 =   1\n    minus  -10 = -10 = -10 = -10\n",
               write_board(4, WORKED_LINE_SIDES, 1));
    check_begin("more sides: they are aligned as the last one is");
    CHECK_TEXT("    one      1 =   1 =   1 =   1 =   1 =   1\n    minus  -10 = -10 = -10 = -10 = -10 = -10\n",
               write_board(6, WORKED_LINE_SIDES + 2, 1));
    check_begin("more terms than were announced");
    const char *text = write_board(0, 1, 400);
    CHECK(text != NULL && strncmp(text, "    one ", 8) == 0, "expected the beginning of the line, got: %.80s", text);
    arena_free(&arena);
    return check_end();
}
