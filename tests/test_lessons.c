/* The lessons of man/attn.1: that their source is read whole, and keeps the rules by which they can be done; that a source
 * which is not written so is refused at its line; how text is shown; and what is said of numbers that a reader finds. */
#include "check.h"
#include "lesson/lessons.h"
#include "lesson/mdoc.h"
#include "lesson/session/ask.h"
#include "lesson/session/show.h"
#include "lesson/session/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { EXERCISES = 2, MOST_COLUMNS = 78 };

/* --- the manual --------------------------------------------------------------------------------------------------- */

/* Whether it stands in what was printed: a number as it is written, a word between other characters. */
static bool stands_in(const char *printed, const char *what, bool word)
{
    if (!word)
        return verdict_has_number(printed, what);
    const char *found = strstr(printed, what);
    return found != NULL && (found == printed || found[-1] == ' ' || found[-1] == '\n') &&
           strchr(" \n", found[strlen(what)]) != NULL;
}

/* The next command behind a part that prints something, or NULL. */
static const struct lesson_part *command_behind(const struct lesson *lesson, size_t part)
{
    while (++part < lesson->count)
        if (lesson->parts[part].kind == LESSON_COMMAND && lesson->parts[part].printed[0] != '\0')
            return &lesson->parts[part];
    return NULL;
}

static void check_prediction(const struct lesson *lesson, size_t part)
{
    const struct lesson_part *asked = &lesson->parts[part], *command = command_behind(lesson, part);
    CHECK(command != NULL, "line %zu: expected a command behind the prediction", asked->line);
    if (command == NULL)
        return;
    CHECK(asked->predicts_word || verdict_is_number(asked->predicted), "line %zu: expected a number, got '%s'",
          asked->line, asked->predicted);
    CHECK(stands_in(command->printed, asked->predicted, asked->predicts_word),
          "line %zu: expected '%s' in what the command at line %zu prints", asked->line, asked->predicted,
          command->line);
}

static void check_answer(const struct lessons *lessons, const struct lesson_part *exercise)
{
    const struct lesson *answer = lessons_answer(lessons, exercise->exercise_lesson, exercise->exercise);
    size_t commands = 0;
    bool there = exercise->expected == NULL;
    CHECK(answer != NULL, "line %zu: expected an answer to exercise %zu.%zu", exercise->line, exercise->exercise_lesson,
          exercise->exercise);
    for (size_t i = 0; answer != NULL && i < answer->count; i++) {
        const struct lesson_part *part = &answer->parts[i];
        commands += part->kind == LESSON_COMMAND && part->printed[0] != '\0';
        there = there || (part->kind == LESSON_COMMAND && stands_in(part->printed, exercise->expected, false));
    }
    CHECK(answer == NULL || commands > 0, "expected a command that prints something in answer %zu.%zu",
          exercise->exercise_lesson, exercise->exercise);
    CHECK(answer == NULL || there, "expected %s in what the answer %zu.%zu prints",
          exercise->expected != NULL ? exercise->expected : "", exercise->exercise_lesson, exercise->exercise);
    if (exercise->expected != NULL)
        CHECK(verdict_is_number(exercise->expected), "line %zu: expected a number, got '%s'", exercise->line,
              exercise->expected);
}

static void check_lines(const char *lines, size_t line)
{
    char text[512];
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, lines);
        CHECK(text_columns(text) <= MOST_COLUMNS, "line %zu: expected at most %d columns: %s", line, MOST_COLUMNS,
              text);
        lines += length + (lines[length] == '\n');
    }
}

static void check_section(const struct lesson *section)
{
    CHECK(section->count > 0, "expected some text");
    for (size_t i = 0; i < section->count; i++) {
        const struct lesson_part *part = &section->parts[i];
        CHECK(part->text[0] != '\0', "line %zu: expected a text", part->line);
        CHECK(part->kind != LESSON_COMMAND || ask_is_command(part->text),
              "line %zu: expected a command that a reader may type", part->line);
        if (part->kind != LESSON_TEXT)
            check_lines(part->text, part->line);
        if (part->kind == LESSON_COMMAND)
            check_lines(part->printed, part->line);
    }
}

static void check_lesson(const struct lessons *lessons, const struct lesson *lesson)
{
    size_t predictions = 0, exercises = 0, commands = 0;
    check_begin("lesson %zu: %s", lesson->number, lesson->title);
    check_section(lesson);
    for (size_t i = 0; i < lesson->count; i++) {
        const struct lesson_part *part = &lesson->parts[i];
        commands += part->kind == LESSON_COMMAND;
        if (part->predicted != NULL) {
            predictions++;
            check_prediction(lesson, i);
        }
        if (part->exercise == 0)
            continue;
        exercises++;
        CHECK(part->exercise_lesson == lesson->number && part->exercise == exercises,
              "line %zu: expected exercise %zu.%zu, got %zu.%zu", part->line, lesson->number, exercises,
              part->exercise_lesson, part->exercise);
        check_answer(lessons, part);
    }
    CHECK(predictions > 0 && commands > 0, "expected a prediction and a command, got %zu and %zu", predictions,
          commands);
    CHECK(exercises == EXERCISES, "expected %d exercises, got %zu", EXERCISES, exercises);
}

static bool has_exercise(const struct lessons *lessons, size_t lesson, size_t exercise)
{
    for (size_t i = 0; lesson > 0 && lesson <= lessons->count && i < lessons->lessons[lesson - 1].count; i++)
        if (lessons->lessons[lesson - 1].parts[i].exercise == exercise)
            return true;
    return false;
}

static void test_manual(void)
{
    struct arena arena = {0};
    struct error error = {0};
    struct lessons lessons;
    check_begin("the lessons of the manual");
    const enum status status =
        lessons_read(&lessons, (const char *)lesson_source_bytes, lesson_source_length, LESSON_SOURCE, &arena, &error);
    CHECK(status == STATUS_OK, "expected them to be read, got: %s", error.message);
    CHECK(status == STATUS_OK && lessons.count >= 2, "expected several lessons");
    if (status == STATUS_OK) {
        check_section(&lessons.introduction);
        for (size_t i = 0; i < lessons.count; i++) {
            char title[LESSON_TITLE_BYTES] = "";
            check_lesson(&lessons, &lessons.lessons[i]);
            CHECK(lesson_title(i + 1, title), "expected a title that is found");
            CHECK_TEXT(lessons.lessons[i].title, title);
        }
        for (size_t i = 0; i < lessons.answer_count; i++) {
            const struct lesson *answer = &lessons.answers[i];
            check_begin("answer %zu.%zu", answer->number, answer->exercise);
            check_section(answer);
            CHECK(has_exercise(&lessons, answer->number, answer->exercise), "expected an exercise to it");
            CHECK(lessons_answer(&lessons, answer->number, answer->exercise) == answer, "expected no other to it");
        }
        check_begin("behind the last lesson");
        char title[LESSON_TITLE_BYTES];
        CHECK(!lesson_title(lessons.count + 1, title) && !lesson_title(0, title), "expected no title");
    }
    arena_free(&arena);
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

#define BEFORE ".Dd today\n.Sh LESSONS\nHello.\n.Ss Lesson 1: One\n"
#define AFTER "\n.Sh OTHER\n.Xx not read\n.Sh ANSWERS\n.Ss Answer 1.1\nYes.\n"

/* A lesson's source between those two, and what is said of it. */
static const struct {
    const char *lesson, *message;
} WRONG[] = {
    {".Bq what", "a:5: unknown macro '.Bq'"},
    {"Text.\n.Fn f", "a:6: unknown macro '.Fn'"},
    {"a \\(lq b", "a:5: unknown escape '\\(lq b'"},
    {".Bd -literal\n$ attn \\fBself\n.Ed", "a:6: unknown escape '\\fBself'"},
    {".Bd -literal\n.Va a\n.Ed", "a:6: a macro in a literal block; expected .Ed"},
    {".Ss Lesson 3: Three", "a:5: a heading that is not the next lesson's, \"Lesson 2: ...\""},
    {".Ss Two", "a:5: a heading that is not the next lesson's, \"Lesson 2: ...\""},
    {".Em Predict :\nwhat?", "a:5: a prediction without a comment before it that says what comes"},
    {".\\\" predict 1\n.Em Exercise 1.1 :", "a:6: a comment says what comes, and no prediction or exercise follows it"},
    {".\\\" expect 1\n.Va a", "a:6: a comment says what comes, and no prediction or exercise follows it"},
    {".\\\" expect 1\nText", "a:6: a comment says what comes, and no prediction or exercise follows it"},
    {".\\\" expect 1\n.Pp", "a:6: a comment says what comes, and no prediction or exercise follows it"},
    {".Em Exercise one :", "a:5: an exercise without a number, such as 5.1"},
    {".It a", "a:5: an item without a list"},
    {".Bl -hang", "a:5: a list that is no -tag, -bullet or -enum"},
    {".Bl -bullet\n.It\n.Bl -enum", "a:7: a list in a list"},
    {".Bl -bullet\n.It\na", "a:7: a list without its end"},
    {"a\n\nb", "a:6: a line that is empty or begins with a blank"},
    {" a", "a:5: a line that is empty or begins with a blank"},
};

static enum status read_source(struct lessons *lessons, const char *source, struct arena *arena, struct error *error)
{
    return lessons_read(lessons, source, strlen(source), "a", arena, error);
}

static void test_wrong(void)
{
    char source[1024];
    struct lessons lessons;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        struct arena arena = {0};
        struct error error = {0};
        check_begin("refused: %s", WRONG[i].lesson);
        snprintf(source, sizeof source, BEFORE "%s" AFTER, WRONG[i].lesson);
        CHECK(read_source(&lessons, source, &arena, &error) == STATUS_USAGE, "expected an error");
        CHECK_TEXT(WRONG[i].message, error.message);
        arena_free(&arena);
    }
    struct arena arena = {0};
    struct error error = {0};
    check_begin("no lessons, or no answers");
    CHECK(read_source(&lessons, ".Sh NAME\n", &arena, &error) == STATUS_USAGE, "expected an error");
    CHECK_TEXT("a:1: no section LESSONS", error.message);
    CHECK(read_source(&lessons, BEFORE "Text.\n", &arena, &error) == STATUS_USAGE, "expected an error");
    CHECK_TEXT("a:5: no section ANSWERS behind the lessons", error.message);
    check_begin("a block or a command without its end");
    CHECK(read_source(&lessons, BEFORE ".Bd -literal\n$ a\nb\n", &arena, &error) == STATUS_USAGE, "expected an error");
    CHECK_TEXT("a:7: a literal block without its .Ed", error.message);
    CHECK(read_source(&lessons, BEFORE ".Bd -literal\n$ a \\e\n", &arena, &error) == STATUS_USAGE, "expected an error");
    CHECK_TEXT("a:6: a command without its end", error.message);
    arena_free(&arena);
}

/* A lesson with all that may stand in one. */
static const char WHOLE[] = BEFORE "Text of\n"
                                   ".Nm .\n"
                                   ".Pp\n"
                                   ".\\\" predict word one\n"
                                   ".Em Predict :\n"
                                   "which?\n"
                                   ".Bd -literal -offset 2n\n"
                                   "$ cat >a <<END\n"
                                   "$ no command\n"
                                   "END\n"
                                   "$ attn self \\e\n"
                                   "    a\n"
                                   "x\\(ha2\n"
                                   "\n"
                                   "end\n"
                                   ".Ed\n"
                                   "right behind it\n"
                                   ".Bl -tag -width abc -compact\n"
                                   ".It Va a\n"
                                   "first\n"
                                   ".It Va b\n"
                                   "second\n"
                                   ".El\n"
                                   ".Pp\n"
                                   ".\\\" expect 5\n"
                                   ".Em Exercise 1.1 :\n"
                                   "do it." AFTER;

static void test_whole(void)
{
    struct arena arena = {0};
    struct error error = {0};
    struct lessons lessons;
    check_begin("all that a lesson may hold");
    const bool read = read_source(&lessons, WHOLE, &arena, &error) == STATUS_OK;
    CHECK(read && lessons.count == 1 && lessons.lessons[0].count == 8, "expected 8 parts, got: %s", error.message);
    if (read && lessons.count == 1 && lessons.lessons[0].count == 8) {
        const struct lesson_part *parts = lessons.lessons[0].parts;
        CHECK_TEXT("Hello.", lessons.introduction.parts[0].text);
        CHECK_TEXT("Text of \1attn\3.", parts[0].text);
        CHECK_TEXT("\2Predict\3: which?", parts[1].text);
        CHECK_TEXT("one", parts[1].predicted);
        CHECK(parts[1].predicts_word, "expected a word");
        CHECK_TEXT("cat >a <<END\n$ no command\nEND", parts[2].text);
        CHECK_TEXT("", parts[2].printed);
        CHECK_TEXT("attn self \\\n    a", parts[3].text);
        CHECK_TEXT("x^2\n\nend\n", parts[3].printed);
        CHECK(!parts[2].close && parts[3].close && parts[4].close, "expected an empty line before the block alone");
        CHECK_TEXT("\2a\3", parts[5].tag);
        CHECK(parts[5].indent == 7 && parts[6].close, "expected items that are indented, and close");
        CHECK(parts[7].exercise_lesson == 1 && parts[7].exercise == 1, "expected exercise 1.1");
        CHECK_TEXT("5", parts[7].expected);
        CHECK(parts[7].tag == NULL && parts[7].indent == 0, "expected no item");
        CHECK(lessons_answer(&lessons, 1, 1) != NULL && lessons_answer(&lessons, 1, 2) == NULL, "expected one answer");
    }
    arena_free(&arena);
}

/* Lines of macros, and their texts. */
static const char *const MACROS[][2] = {
    {"Nm", "\1attn\3"},
    {"Nm ,", "\1attn\3,"},
    {"Fl \\-init Cm rand", "\1--init\3 \1rand\3"},
    {"Fl d Ar N ,", "\1-d\3 \2N\3,"},
    {"Va W_query , W_key", "\2W_query\3, \2W_key\3"},
    {"Em two words", "\2two words\3"},
    {"Dq one ,", "\"one\","},
    {"Dq Va one two )", "\"\2one two\3\")"},
    {"Ql \"6 x 3\"", "'6 x 3'"},
    {"Xr attn\\-why 1 .", "attn-why(1)."},
    {"Pq", NULL},
    {"Li ( a )", "(a)"},
    {"Sx LESSONS ;", "\2LESSONS\3;"},
};

static void test_macros(void)
{
    char bytes[256];
    for (size_t i = 0; i < sizeof MACROS / sizeof MACROS[0]; i++) {
        struct error error = {0};
        struct text text = text_begin(bytes, sizeof bytes);
        const char *line = MACROS[i][0];
        check_begin(".%s", line);
        const bool added = mdoc_add_macro(&text, line, line + strlen(line), &error) == STATUS_OK;
        CHECK_TEXT(MACROS[i][1], added ? bytes : NULL);
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
    {"0.94", "0.9374", "You said 0.94; it is 0.9374: right, as far as you said it."},
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
        if (CHECK(verdict_is_number(NUMBERS[i].said), "expected a number"))
            verdict_of_number(NUMBERS[i].said, NUMBERS[i].right, &sentence);
        CHECK_TEXT(NUMBERS[i].sentence, bytes);
    }
    check_begin("no numbers");
    static const char *const NONE[] = {"", "one", "0,5", "0x1", "nan", "inf", "1 2", "1e999", "--1", "5%"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        CHECK(!verdict_is_number(NONE[i]), "expected '%s' to be none", NONE[i]);
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
     "context, row journey: yours has 0.5679, the answer 0.5678"},
    {"a row too few", HEAD "context = c  1 x 1\n  Your     0.1234\n", HEAD CONTEXT, VERDICT_DIFFERENT,
     "context: yours has no row journey"},
    {"a column too few", HEAD "scores = s  2 x 2\n  Your     0.2000\n", HEAD SCORES, VERDICT_DIFFERENT,
     "scores, row Your: yours has nothing, the answer 0.3000"},
    {"a column too many", HEAD "context = c  2 x 2\n  Your     0.1234  0.5\n  journey  0.5678  0.5\n", HEAD CONTEXT,
     VERDICT_DIFFERENT, "context, row Your: yours has 0.5, the answer nothing"},
    {"no decimals", HEAD "context = c  2 x 1\n  Your     0\n  journey  1\n", HEAD CONTEXT, VERDICT_DIFFERENT,
     "context, row Your: yours has 0, the answer 0.1234"},
    {"a table too few", HEAD SCORES, HEAD SCORES "\n" CONTEXT, VERDICT_PART, "the answer shows context"},
    {"another table", HEAD SCORES, HEAD CONTEXT, VERDICT_ELSE, "the answer shows context"},
    {"another table, and a wrong one", HEAD "scores = s  2 x 2\n  Your     0.2000   0.3001\n", HEAD CONTEXT "\n" SCORES,
     VERDICT_DIFFERENT, "scores, row Your: yours has 0.3001, the answer 0.3000"},
    {"nothing", "", HEAD CONTEXT, VERDICT_ELSE, "the answer shows context"},
    {"a heatmap", "weights = w  1 x 2\n  the     0.23\xe2\x96\x92\xe2\x96\x92  0.25\xe2\x96\x93\n",
     "weights = w  1 x 2\n  the     0.23\xe2\x96\x92\xe2\x96\x92  0.26\xe2\x96\x93\n", VERDICT_DIFFERENT,
     "weights, row the: yours has 0.25, the answer 0.26"},
    {"a heatmap with another scale before it",
     SCORES "\n  0.03 |  \xe2\x96\x92| 0.86\n\n" CONTEXT "\n  0.00 |  | 0.57\n", CONTEXT "\n  0.00 |  | 0.57\n",
     VERDICT_RIGHT, ""},
    {"words", "the mask is missing\n", "the mask is missing\n", VERDICT_RIGHT, ""},
    {"other words", "the scale is missing\n", "the mask is missing\n", VERDICT_ELSE, "the answer prints other lines"},
    {"a line with a number", "same: 3 tables\n", "same: 4 tables\n", VERDICT_DIFFERENT,
     "same, row same: yours has 3, the answer 4"},
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
    test_wrong();
    test_whole();
    test_macros();
    test_shown();
    test_numbers();
    test_outputs();
    return check_end();
}
