/* SPDX-License-Identifier: MIT */
/* The lessons of man/attn-lessons.7: that a reader can type their commands and see what they print (the other rules hold when they
 * are built: tests/check_lessons.sh); how text is shown; and what is said of numbers that a reader finds. */
#include "check.h"
#include "lesson/lessons.h"
#include "lesson/session/ask.h"
#include "lesson/session/show.h"
#include "lesson/session/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 78 };

/* --- the manual --------------------------------------------------------------------------------------------------- */

static void check_lines(const char *lines)
{
    char text[512];
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, lines);
        CHECK(text_columns(text) <= MOST_COLUMNS, "expected at most %d columns: %s", MOST_COLUMNS, text);
        lines += length + (lines[length] == '\n');
    }
}

/* Whether all of the text is a number, as attn prints it. */
static bool is_number(const char *text)
{
    char number[VERDICT_NUMBER_BYTES];
    const char *rest = text;
    return verdict_next_number(&rest, number) && strcmp(number, text) == 0;
}

static void check_section(const struct lesson *section)
{
    CHECK(section->count > 0, "expected some text");
    for (size_t i = 0; i < section->count; i++) {
        const struct lesson_part *part = &section->parts[i];
        CHECK(part->text[0] != '\0', "expected a text in part %zu", i);
        CHECK(part->kind != LESSON_COMMAND || ask_is_command(part->text),
              "expected a command that a reader may type, got %s", part->text);
        CHECK(part->predicted == NULL || part->predicts_word || is_number(part->predicted),
              "expected a number, got '%s'", part->predicted);
        CHECK(part->expected == NULL || is_number(part->expected), "expected a number, got '%s'", part->expected);
        if (part->kind != LESSON_TEXT)
            check_lines(part->text);
        if (part->kind == LESSON_COMMAND)
            check_lines(part->printed);
        if (part->answer != NULL)
            check_section(part->answer);
    }
}

static void test_manual(void)
{
    check_begin("the lessons of the manual");
    CHECK(LESSON_COUNT >= 2, "expected several lessons");
    for (size_t i = 0; i <= LESSON_COUNT; i++) {
        check_begin("lesson %zu: %s", i, LESSONS[i].title);
        check_section(&LESSONS[i]);
    }
}

/* --- what is shown ------------------------------------------------------------------------------------------------ */

static void check_shown(const char *columns, bool color, const char *tag, const char *expected)
{
    struct arena arena = {0};
    struct error error = {0};
    struct output *output = arena_allocate(&arena, 1, sizeof *output, &error);
    size_t length;
    setenv("COLUMNS", columns, 1);
    output_open_text(output, &arena, &error);
    show_text(&(struct show){output, color}, "Some \2underlined words\3, and \1bold\3 ones \xe2\x89\x88 1.", tag,
              tag != NULL ? 6 : 0);
    CHECK_TEXT(expected, output_close_text(output, &length));
    arena_free(&arena);
}

static void test_shown(void)
{
    check_begin("text is wrapped");
    check_shown("200", false, NULL, "Some underlined words, and bold ones \xe2\x89\x88 1.\n");
    check_shown("37", false, NULL, "Some underlined words, and bold ones\n\xe2\x89\x88 1.\n");
    check_shown("38", false, NULL, "Some underlined words, and bold ones \xe2\x89\x88\n1.\n");
    check_begin("and stands out, but for its margin");
    check_shown("30", true, NULL,
                "Some \033[4munderlined words\033[0m, and\n\033[1mbold\033[0m ones \xe2\x89\x88 1.\n");
    check_shown("30", true, "\1a\3",
                "  \033[1ma\033[0m   Some \033[4munderlined words\033[0m,\n"
                "      and \033[1mbold\033[0m ones \xe2\x89\x88 1.\n");
    check_begin("a tag that is too long stands alone");
    check_shown("30", false, "longer", "  longer\n      Some underlined words,\n      and bold ones \xe2\x89\x88 1.\n");
    unsetenv("COLUMNS");
}

/* --- verdicts ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *said, *right, *sentence;
} NUMBERS[] = {
    {"0.5", "0.9374", "You said 0.5; it is 0.9374: 0.4374 too low."},
    {"1", "0.9374", "You said 1; it is 0.9374: 0.0626 too high."},
    {"0.9374", "0.9374", "You said 0.9374, and it is: well done."},
    {".9374", "0.9374", "You said .9374, and it is: well done."},
    {"0.94", "0.9374", "You said 0.94; it is 0.9374: right, to the digits that you gave."},
    {"0.93", "0.9374", "You said 0.93; it is 0.9374: 0.0074 too low."},
    {"0.9", "0.9374", "You said 0.9; it is 0.9374: 0.0374 too low."},
    {"0.93741", "0.9374", "You said 0.93741; it is 0.9374: 0.00001 too high."},
    {"-2", "3", "You said -2; it is 3: 5 too low."},
    {"1e300", "3", "You said 1e300; it is 3: 1e+300 too high."},
    {"0", "1e-9", "You said 0; it is 1e-9: 1e-09 too low."},
};

static void test_numbers(void)
{
    char bytes[256];
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        struct text sentence = text_begin(bytes, sizeof bytes);
        check_begin("%s for %s", NUMBERS[i].said, NUMBERS[i].right);
        if (CHECK(is_number(NUMBERS[i].said), "expected a number"))
            verdict_of_number(NUMBERS[i].said, NUMBERS[i].right, &sentence);
        CHECK_TEXT(NUMBERS[i].sentence, bytes);
    }
    check_begin("no numbers");
    static const char *const NONE[] = {"", "one", "0,5", "0x1", "nan", "inf", "1 2", "1e999", "--1", "5%"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        CHECK(!is_number(NONE[i]), "expected '%s' to be none", NONE[i]);
    check_begin("words");
    struct text sentence = text_begin(bytes, sizeof bytes);
    verdict_of_word("Milk", "milk", &sentence);
    CHECK_TEXT("You said Milk, and it is: well done.", bytes);
    sentence = text_begin(bytes, sizeof bytes);
    verdict_of_word("cat", "milk", &sentence);
    CHECK_TEXT("You said cat; it is milk.", bytes);
}

#define HEAD "self-attention: 2 tokens, d_in 3, seed 123,\n  query 2\n\n"
#define SCORES                                                                                                     \
    "scores = query . key^T      2 x 2\n         Your   journey\n  Your     0.2000   0.3000\n  journey  0.4000   " \
    "0.5000\n"
#define CONTEXT "context = weights . value   2 x 1\n  Your     0.1234\n  journey  0.5678\n"

static const struct {
    const char *name, *printed, *answer;
    enum verdict verdict;
    const char *sentence;
} OUTPUTS[] = {
    {"the same", HEAD SCORES, HEAD SCORES, VERDICT_RIGHT, ""},
    {"other settings in the first line", SCORES, HEAD SCORES, VERDICT_RIGHT, ""},
    {"more tables", HEAD CONTEXT "\n" SCORES, HEAD SCORES, VERDICT_RIGHT, ""},
    {"more rows", HEAD SCORES, HEAD "scores = query . key^T   1 x 2\n  journey  0.4000   0.5000\n", VERDICT_RIGHT, ""},
    {"more decimals", HEAD "context = c   2 x 1\n  Your     0.123412\n  journey  0.567791\n", HEAD CONTEXT,
     VERDICT_RIGHT, ""},
    {"JSON", "{\"context\": [[0.123412], [0.567791]]}", HEAD CONTEXT, VERDICT_RIGHT, ""},
    {"CSV", "stage,row,1\ncontext,Your,0.1234\ncontext,journey,0.5678\n", HEAD CONTEXT, VERDICT_RIGHT, ""},
    {"a number", HEAD "context = c  2 x 1\n  Your     0.1234\n  journey  0.5679\n", HEAD CONTEXT, VERDICT_DIFFERENT,
     "context, row journey: your output has 0.5679, the answer 0.5678"},
    {"a row too few", HEAD "context = c  1 x 1\n  Your     0.1234\n", HEAD CONTEXT, VERDICT_DIFFERENT,
     "context: your output has no row \"journey\""},
    {"a column too few", HEAD "scores = s  2 x 2\n  Your     0.2000\n", HEAD SCORES, VERDICT_DIFFERENT,
     "scores, row Your: your output has nothing, the answer 0.3000"},
    {"a column too many", HEAD "context = c  2 x 2\n  Your     0.1234  0.5\n  journey  0.5678  0.5\n", HEAD CONTEXT,
     VERDICT_DIFFERENT, "context, row Your: your output has 0.5, the answer nothing"},
    {"no decimals", HEAD "context = c  2 x 1\n  Your     0\n  journey  1\n", HEAD CONTEXT, VERDICT_DIFFERENT,
     "context, row Your: your output has 0, the answer 0.1234"},
    {"a table too few", HEAD SCORES, HEAD SCORES "\n" CONTEXT, VERDICT_PART, "the answer shows context"},
    {"another table", HEAD SCORES, HEAD CONTEXT, VERDICT_ELSE, "the answer shows context"},
    {"another table, and a wrong one", HEAD "scores = s  2 x 2\n  Your     0.2000   0.3001\n", HEAD CONTEXT "\n" SCORES,
     VERDICT_DIFFERENT, "scores, row Your: your output has 0.3001, the answer 0.3000"},
    {"nothing", "", HEAD CONTEXT, VERDICT_ELSE, "the answer shows context"},
    {"a heatmap", "weights = w  1 x 2\n  the     0.23\xe2\x96\x92\xe2\x96\x92  0.25\xe2\x96\x93\n",
     "weights = w  1 x 2\n  the     0.23\xe2\x96\x92\xe2\x96\x92  0.26\xe2\x96\x93\n", VERDICT_DIFFERENT,
     "weights, row the: your output has 0.25, the answer 0.26"},
    {"a heatmap with another scale before it",
     SCORES "\n  0.03 |  \xe2\x96\x92| 0.86\n\n" CONTEXT "\n  0.00 |  | 0.57\n", CONTEXT "\n  0.00 |  | 0.57\n",
     VERDICT_RIGHT, ""},
    {"words", "the mask is missing\n", "the mask is missing\n", VERDICT_RIGHT, ""},
    {"other words", "the scale is missing\n", "the mask is missing\n", VERDICT_ELSE, "the answer prints other lines"},
    {"a line with a number", "same: 3 tables\n", "same: 4 tables\n", VERDICT_DIFFERENT,
     "same, row same: your output has 3, the answer 4"},
};

static void test_outputs(void)
{
    char bytes[512];
    for (size_t i = 0; i < sizeof OUTPUTS / sizeof OUTPUTS[0]; i++) {
        struct text sentence = text_begin(bytes, sizeof bytes);
        check_begin("printed: %s", OUTPUTS[i].name);
        const enum verdict verdict = verdict_of_output(OUTPUTS[i].printed, OUTPUTS[i].answer, &sentence);
        CHECK(verdict == OUTPUTS[i].verdict, "expected verdict %d, got %d", (int)OUTPUTS[i].verdict, (int)verdict);
        CHECK_TEXT(OUTPUTS[i].sentence, bytes);
    }
    check_begin("a number among others");
    CHECK(verdict_has_number("(0.5, x=0.25)", "0.25") && verdict_has_number("| 5 |", "5"), "expected it to be there");
    CHECK(!verdict_has_number("0.250 10.25 0.255", "0.25"), "expected it not to be there");
}

int main(void)
{
    test_manual();
    test_shown();
    test_numbers();
    test_outputs();
    return check_end();
}
