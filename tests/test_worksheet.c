/* SPDX-License-Identifier: MIT */
/* The sheets of attn worksheet for many seeds: their numbers are easy, the answers are attn's own, and a sheet shows none
 * of them. */
#include "check.h"
#include "model/stages.h"
#include "support.h"
#include "worksheet/worksheet.h"
#include "worksheet/writers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 8, VARIANTS = 30, ROOM = 4096, TEXT_BYTES = 1 << 14, WORDS = 24 };

static const char *const CASES[] = {
    "self",
    "causal",
    "causal --random 4x3",
    "self --random 3x3 -d 9",
    "self -d 2 --scale 1/2",
    "self --temperature 2 --scale 1",
    "multihead -H 2",
    "multihead -H 2 --no-causal",
    "multihead -H 4 --kv-heads 2 --qkv-bias",
    "multihead -H 2 --stacked -d 4",
    "causal --random 2x3x2",
    "sdpa",
    "sdpa --random 2x3x4 --causal",
    "sdpa --heads 2 --random 3x8",
};
enum { CASE_COUNT = sizeof CASES / sizeof CASES[0] };

/* A worksheet and the result of its first sheet. */
struct tried {
    char line[128], words[256];
    struct options options;
    struct worksheet worksheet;
    struct result result;
    struct progress progress;
    struct sheet sheet;
    struct arena arena;
    struct error error;
};

static struct tried tried;
static double numbers[ROOM], others[ROOM];

/* Words parted by blanks -> options. */
static bool parse(const char *line)
{
    char *argv[WORDS] = {"attn"};
    int argc = 1;
    snprintf(tried.words, sizeof tried.words, "%s", line);
    for (char *word = strtok(tried.words, " "); word != NULL && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    return CHECK(options_parse(&tried.options, argc, argv, &tried.error) == STATUS_OK, "%s: %s", line,
                 tried.error.message);
}

static void release(void)
{
    arena_free(&tried.arena);
}

static bool make(const char *words, int seed)
{
    memset(&tried, 0, sizeof tried);
    snprintf(tried.line, sizeof tried.line, "worksheet %s --seed %d", words, seed);
    if (!parse(tried.line) ||
        !CHECK(worksheet_create(&tried.worksheet, &tried.options, &tried.arena, &tried.error) == STATUS_OK, "%s: %s",
               tried.line, tried.error.message))
        return false;
    struct problem *problem = &tried.worksheet.first;
    problem->chosen.explained_count = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (tried.worksheet.blank & STAGE_BIT(stage))
            problem->chosen.explained[problem->chosen.explained_count++] = (enum stage)stage;
    const struct sheet_plan plan = {tried.worksheet.shown,
                                    tried.worksheet.blank,
                                    tried.worksheet.given,
                                    2,
                                    tried.worksheet.easy,
                                    "a sheet",
                                    "",
                                    0,
                                    false};
    return CHECK(result_create(&tried.result, problem, &tried.progress, false, &tried.arena, &tried.error) ==
                         STATUS_OK &&
                     sheet_make(&tried.sheet, &plan, &tried.result, &tried.arena, &tried.error) == STATUS_OK,
                 "%s: %s", tried.line, tried.error.message);
}

/* All numbers of a table, (matrices, rows, columns); returns how many. */
static size_t load(struct result *result, const struct result_table *table, double *into)
{
    const size_t rows = result_rows(table), columns = result_columns(table), matrices = result_matrices(table);
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0; row < rows; row++)
            result_row(result, table, matrix, row, into + (matrix * rows + row) * columns);
    return matrices * rows * columns;
}

static size_t load_stage(enum stage stage, double *into)
{
    const struct result_table *table = result_table_of(&tried.result, stage);
    return table != NULL ? load(&tried.result, table, into) : 0;
}

/* --- easy --------------------------------------------------------------------------------------------------------- */

static void check_whole(enum stage stage, double most)
{
    const size_t count = load_stage(stage, numbers);
    for (size_t i = 0; i < count; i++)
        if (!CHECK(numbers[i] == floor(numbers[i]) && fabs(numbers[i]) <= most,
                   "%s: %s has %g, expected whole numbers "
                   "up to %g",
                   tried.line, stage_name(stage), numbers[i], most))
            return;
}

/* No row and no column of what is given is all zeros, and no two rows of inputs are the same. */
static void check_given(void)
{
    for (size_t i = 0; i < tried.sheet.given_count; i++) {
        const struct sheet_table *table = &tried.sheet.given[i];
        for (size_t row = 0; row < table->rows; row++) {
            bool zero = true, same = row > 0 && strcmp(table->title, "inputs") == 0;
            for (size_t column = 0; column < table->columns; column++) {
                const char *cell = table->cells[row * table->columns + column];
                zero = zero && strcmp(cell, "0") == 0;
                same = same && strcmp(cell, table->cells[(row - 1) * table->columns + column]) == 0;
            }
            CHECK((!zero || strstr(table->title, "bias") != NULL) && !same, "%s: %s: row %zu is %s", tried.line,
                  table->title, row + 1, zero ? "all zeros" : "that before it");
        }
    }
}

static double rounded(double number)
{
    return round(number * 100) / 100;
}

/* The row by hand, every number to two decimals, against what the answers show. */
static void check_row(const double *masked, const double *weights, size_t keys, double *by_hand)
{
    double largest = -INFINITY, least = INFINITY, sum = 0;
    size_t seen = 0;
    for (size_t j = 0; j < keys; j++)
        if (masked[j] > -INFINITY) {
            largest = fmax(largest, masked[j]);
            least = fmin(least, masked[j]);
            sum += rounded(exp(masked[j]));
            seen++;
        }
    CHECK(largest - least <= 3 && (seen < 2 || largest > least), "%s: a row from %g to %g", tried.line, least, largest);
    sum = 0;
    for (size_t j = 0; j < keys; j++)
        sum += rounded(exp(masked[j] - largest));
    for (size_t j = 0; j < keys; j++) {
        by_hand[j] = rounded(rounded(exp(masked[j] - largest)) / sum);
        CHECK(fabs(by_hand[j] - rounded(weights[j])) < 0.0101, "%s: by hand the weight is %g, the answer %g",
              tried.line, by_hand[j], weights[j]);
    }
}

static void check_by_hand(void)
{
    static double masked[ROOM], weights[ROOM], value[ROOM], context[ROOM], by_hand[ROOM];
    struct problem *problem = &tried.worksheet.first;
    const size_t keys = problem->size.keys, group = problem->size.heads / problem->size.kv_heads,
                 d = problem->size.d_value;
    const enum stage before = problem->masks ? STAGE_MASKED : STAGE_SCALED;
    const size_t rows = load_stage(before, masked) / keys;
    load_stage(STAGE_WEIGHTS, weights);
    load_stage(STAGE_VALUE, value);
    load_stage(STAGE_CONTEXT, context);
    for (size_t row = 0; row < rows; row++) {
        const size_t matrix = row / problem->size.queries, item = matrix / problem->size.heads,
                     head = matrix % problem->size.heads;
        const double *values = value + (item * problem->size.kv_heads + head / group) * keys * d;
        check_row(masked + row * keys, weights + row * keys, keys, by_hand);
        for (size_t column = 0; column < d && !problem->size.heads_packed; column++) {
            double sum = 0;
            for (size_t j = 0; j < keys; j++)
                sum += by_hand[j] * values[j * d + column];
            CHECK(fabs(sum - rounded(context[row * d + column])) < 0.0151,
                  "%s: by hand the context is %g, the answer %g", tried.line, sum, context[row * d + column]);
        }
    }
}

/* --- the answers -------------------------------------------------------------------------------------------------- */

/* The numbers of the sheet as an input, JSON. */
static void write_input(char *text)
{
    struct text json = text_begin(text, TEXT_BYTES);
    text_add(&json, "{");
    for (size_t i = 0; i < tried.result.table_count; i++) {
        const struct result_table *table = &tried.result.tables[i];
        const bool given =
            !stage_exists(table->stage) || (STAGES[table->stage].operand && !problem_projects(&tried.worksheet.first));
        if (!given)
            continue;
        const size_t count = load(&tried.result, table, numbers);
        text_add(&json, "%s\"%s\": ", json.length > 1 ? ", " : "", table->name);
        for (size_t at = 0; at < count; at++) {
            size_t inner = 1;
            for (size_t axis = table->rank; axis-- > 0; inner *= table->shape[axis])
                text_add(&json, at % (inner * table->shape[axis]) == 0 ? "[" : "");
            text_add(&json, "%g", numbers[at]);
            inner = 1;
            for (size_t axis = table->rank; axis-- > 0; inner *= table->shape[axis])
                text_add(&json, (at + 1) % (inner * table->shape[axis]) == 0 ? "]" : "");
            text_add(&json, at + 1 < count ? ", " : "");
        }
    }
    text_add(&json, "}");
    CHECK(!json.cut, "%s: the input has more than %d bytes", tried.line, TEXT_BYTES);
}

/* The command line without the options that say what is drawn. Operands that were packed are a result's by head. */
static void write_line(const char *words, char *line, size_t size)
{
    const bool sdpa = strncmp(words, "sdpa", 4) == 0;
    char copy[128];
    struct text text = text_begin(line, size);
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        if (strcmp(word, "--random") == 0 || (sdpa && strcmp(word, "--heads") == 0))
            strtok(NULL, " ");
        else
            text_add(&text, "%s%s", text.length > 0 ? " " : "", word);
    }
    text_add(&text, "%s", sdpa ? " --stages scores,scaled,masked,weights,context" : "");
}

/* A task's cells, against the numbers that the mechanism's own command has. */
static void check_task(struct made *made, const struct sheet_task *task)
{
    const struct result_table *table = support_table(made, stage_name(task->stage));
    const size_t each = task->stage == STAGE_WEIGHTS ? 2 : 1;
    size_t at = 0;
    if (!CHECK(table != NULL, "%s: no %s", tried.line, stage_name(task->stage)))
        return;
    const size_t count = support_table_numbers(made, table, others, ROOM);
    for (size_t t = each - 1; t < task->count; t += each)
        for (size_t c = 0; c < task->tables[t].rows * task->tables[t].columns; c++, at++) {
            const char *cell = task->tables[t].cells[c];
            const double shown = strtod(cell, NULL);
            CHECK(at < count && (shown == others[at] || fabs(shown - others[at]) <= 0.00501),
                  "%s: %s: the answer is %s, attn has %g", tried.line, stage_name(task->stage), cell, others[at]);
        }
    CHECK(at == count, "%s: %s has %zu answers of %zu", tried.line, stage_name(task->stage), at, count);
}

/* The answers are the numbers that the mechanism's own command gives on the same input. The context of packed heads
 * lies side by side, where it has theirs one behind the other. */
static void check_answers(const char *words)
{
    static char input[TEXT_BYTES];
    struct made made;
    char line[160];
    write_input(input);
    write_line(words, line, sizeof line);
    if (CHECK(support_make(&made, line, input) == STATUS_OK, "%s: %s", line, made.error.message))
        for (size_t i = 0; i < tried.sheet.task_count; i++)
            if (!(tried.worksheet.first.size.heads_packed && tried.sheet.tasks[i].stage == STAGE_CONTEXT))
                check_task(&made, &tried.sheet.tasks[i]);
    arena_free(&made.arena);
}

/* --- no answer on a sheet ----------------------------------------------------------------------------------------- */

static const struct sheet_dialect *const DIALECTS[] = {&sheet_as_text, &sheet_as_markdown, &sheet_as_latex,
                                                       &sheet_as_html};
enum { DIALECT_COUNT = sizeof DIALECTS / sizeof DIALECTS[0] };

static char *write(const struct sheet_dialect *dialect, struct output *output)
{
    size_t length;
    const struct page page = {dialect, output, false};
    output_open_text(output, &tried.arena, &tried.error);
    sheet_write(&page, &tried.sheet, false);
    return output_close_text(output, &length);
}

/* With other answers the sheet is the same, byte for byte. */
static void check_silent(void)
{
    static struct output output;
    char *before[DIALECT_COUNT];
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        before[i] = write(DIALECTS[i], &output);
    for (size_t i = 0; i < tried.sheet.task_count; i++)
        for (size_t t = 0; t < tried.sheet.tasks[i].count; t++) {
            struct sheet_table *table = &tried.sheet.tasks[i].tables[t];
            table->widest = 40;
            for (size_t c = 0; c < table->rows * table->columns; c++)
                table->cells[c] = "9.99";
        }
    tried.sheet.worked = "9.99\n";
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        const char *after = write(DIALECTS[i], &output);
        CHECK(before[i][0] != '\0' && strstr(after, "9.99") == NULL, "%s: the sheet shows an answer", tried.line);
        CHECK_TEXT(before[i], after);
    }
}

/* --- the key ------------------------------------------------------------------------------------------------------ */

/* Whether a cell of the key has these numbers, and no others. */
static bool has_numbers(const char *cell, const struct sheet_table *table, size_t row)
{
    for (size_t column = 0; column < table->columns; column++) {
        const char *number = table->cells[row * table->columns + column];
        cell += strspn(cell, " ");
        if (strncmp(cell, number, strlen(number)) != 0)
            return false;
        cell += strlen(number);
    }
    return *cell == '\0';
}

/* Each row of a table is in the line of its sheet and its label. */
static void check_column(const struct sheet_table *key, size_t column, const struct sheet_table *table)
{
    CHECK(key->group == table->rows, "%s: %s has %zu rows in the key", tried.line, table->title, key->group);
    for (size_t line = 0; line < key->rows && key->group == table->rows; line++) {
        const char *cell = key->cells[line * key->columns + column], *label = strchr(key->row_labels[line], ' ');
        const size_t row = line % key->group;
        CHECK(label != NULL && strcmp(label + 1, table->row_labels[row]) == 0 && has_numbers(cell, table, row),
              "%s: line '%s' of the key has '%s' for %s", tried.line, key->row_labels[line], cell, table->title);
    }
}

/* All tables of two sheets are in their key, in order, on pages of any width and length. */
static void check_key(size_t columns, size_t lines)
{
    const struct sheet sheets[] = {tried.sheet, tried.sheet};
    const struct key_plan plan = {sheets, 2, columns, lines, false};
    struct sheet *pages;
    size_t count, sheet = 0, taken = 0;
    if (!CHECK(key_make(&plan, &pages, &count, &tried.arena, &tried.error) == STATUS_OK, "%s: %s", tried.line,
               tried.error.message))
        return;
    for (size_t page = 0; page < count; page++, sheet += 2 / count) {
        const struct sheet_table *table = tried.sheet.tasks[0].tables;
        for (size_t task = 0; task < pages[page].task_count; task++) {
            const struct sheet_table *made = pages[page].tasks[task].tables;
            taken += made->rows;
            CHECK((size_t)strtoul(made->row_labels[0], NULL, 10) == sheet + 1 &&
                      (size_t)strtoul(made->row_labels[made->rows - 1], NULL, 10) == sheet + 2 / count,
                  "%s: the lines of page %zu do not name their sheets", tried.line, page + 1);
            for (size_t column = 0; column < made->columns; column++)
                check_column(made, column, table++);
        }
        const struct sheet_task *last = &tried.sheet.tasks[tried.sheet.task_count - 1];
        CHECK(table == last->tables + last->count, "%s: the key has not all tables", tried.line);
    }
    CHECK(count == 2 || taken <= lines, "%s: %zu lines are on one page", tried.line, taken);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void check_sheet(const char *words, int seed)
{
    check_begin("%s, seed %d", words, seed);
    if (make(words, seed)) {
        CHECK(tried.worksheet.easy, "%s: no easy numbers", tried.line);
        check_whole(STAGE_QUERY, 4);
        check_whole(STAGE_KEY, 4);
        check_whole(STAGE_VALUE, 4);
        check_whole(STAGE_SCORES, 16);
        check_whole(STAGE_SCALED, 3);
        check_given();
        check_by_hand();
        check_answers(words);
        check_key(1, 20);
        check_key(70, 1);
        check_key(SIZE_MAX, SIZE_MAX);
        check_silent();
    }
    release();
}

/* The first sheets of a class are those of the seed alone, and no two are the same. */
static void check_variants(const char *words)
{
    static float first[ROOM];
    check_begin("%s: %d sheets", words, VARIANTS);
    if (!make(words, 7)) {
        release();
        return;
    }
    const size_t size = load_stage(STAGE_QUERY, numbers);
    const struct numbers alone = tried.worksheet.numbers[0];
    memcpy(first, alone.made[NUMBERS_QUERY], size * sizeof *first);
    release();
    char line[128];
    snprintf(line, sizeof line, "%s --variants %d", words, VARIANTS);
    if (make(line, 7)) {
        const struct worksheet *worksheet = &tried.worksheet;
        CHECK(memcmp(first, worksheet->numbers[0].made[NUMBERS_QUERY], size * sizeof *first) == 0,
              "the first sheet is another one");
        for (size_t i = 0; i < VARIANTS; i++)
            for (size_t j = 0; j < i; j++)
                CHECK(!numbers_same(&worksheet->numbers[i], &worksheet->numbers[j], &worksheet->plan),
                      "sheets %zu and %zu are the same", j + 1, i + 1);
    }
    release();
}

/* The same on every machine: what the first seeds draw stands here. */
static void check_frozen(void)
{
    static const float INPUTS[] = {2, 2, 2, 1, 0, 1}, QUERY[] = {2, 1, 1, 0, -1, 1, 0, 1};
    check_begin("the numbers of causal, seed 123");
    if (make("causal", 123)) {
        const struct numbers *drawn = &tried.worksheet.numbers[0];
        CHECK(memcmp(drawn->inputs, INPUTS, sizeof INPUTS) == 0, "other inputs");
        CHECK(memcmp(drawn->weights[NUMBERS_QUERY], QUERY, sizeof QUERY) == 0, "another W_query");
    }
    release();
}

int main(void)
{
    const int seeds = getenv("ATTN_ALL") != NULL ? 10 * SEEDS : getenv("ATTN_QUICK") != NULL ? 1 : SEEDS;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        for (int seed = 0; seed < seeds; seed++)
            check_sheet(CASES[i], seed);
        if (i < 2 || getenv("ATTN_WHOLE") != NULL)
            check_variants(CASES[i]);
    }
    check_frozen();
    return check_end();
}
