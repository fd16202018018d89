/* SPDX-License-Identifier: MIT */
/* Every case of tests/golden, made by PyTorch, and every figure of tests/book-tables.json, as chapters print them. */
#include "check.h"
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, BOOK_FIGURES = 316, BOOK_ASIDES = 5 };

static double expected[ROOM], got[ROOM];

/* Loads a table and what is expected of it; false, and a failed check, where the sizes differ. */
static bool load_table(struct made *made, const cJSON *item, size_t *count)
{
    const struct result_table *table = support_table(made, item->string);
    if (!CHECK(table != NULL, "expected a table '%s', got none", item->string))
        return false;
    *count = support_numbers(item, expected, ROOM);
    size_t got_count = support_table_numbers(made, table, got, ROOM);
    return CHECK(got_count == *count && *count <= ROOM, "%s: expected %zu numbers, got %zu", item->string, *count,
                 got_count);
}

static void check_parameters(struct made *made, const cJSON *parameters, const char *init)
{
    for (const cJSON *item = parameters->child; item != NULL; item = item->next) {
        size_t count;
        if (!load_table(made, item, &count))
            continue;
        const bool normal = strncmp(init, "randn", 5) == 0 || strncmp(init, "normal", 6) == 0;
        const double tolerance = normal && count >= 16 ? 2e-6 : 0;
        for (size_t i = 0; i < count; i++)
            CHECK(fabs(got[i] - (float)expected[i]) <= tolerance, "%s[%zu]: expected %.9g, got %.9g", item->string, i,
                  expected[i], got[i]);
    }
}

static void check_stages(struct made *made, const cJSON *stages)
{
    for (const cJSON *item = stages->child; item != NULL; item = item->next) {
        size_t count;
        if (!load_table(made, item, &count))
            continue;
        for (size_t i = 0; i < count; i++)
            CHECK(fabs(got[i] - expected[i]) <= 1e-6 + 1e-5 * fabs(expected[i]), "%s[%zu]: expected %.9g, got %.9g",
                  item->string, i, expected[i], got[i]);
    }
}

/* One case with the parameters drawn, or given as the file has them. */
static void check_case(const cJSON *golden, const char *name, bool given)
{
    const cJSON *settings = cJSON_GetObjectItemCaseSensitive(golden, "settings");
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(golden, "parameters");
    const char *init = cJSON_GetObjectItemCaseSensitive(settings, "init")->valuestring;
    struct made made;
    char line[SUPPORT_LINE_BYTES];
    support_golden_line(cJSON_GetObjectItemCaseSensitive(settings, "mechanism")->valuestring, settings, line);
    check_begin("golden %s, parameters %s: %s", name, given ? "given" : "drawn", line);
    cJSON_InitHooks(NULL);
    char *text = support_golden_input(golden, given);
    enum status status = support_make(&made, line, text);
    free(text);
    if (CHECK(status == STATUS_OK, "expected a result, got: %s", made.error.message)) {
        check_parameters(&made, parameters, given ? "given" : init);
        check_stages(&made, cJSON_GetObjectItemCaseSensitive(golden, "stages"));
    }
    arena_free(&made.arena);
}

static void check_goldens(void)
{
    struct dirent **entries;
    int count = scandir("tests/golden", &entries, support_is_golden, alphasort);
    check_begin("the golden cases are there");
    CHECK(count == 34, "expected 29 cases, got %d", count);
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "tests/golden/%s", entries[i]->d_name);
        cJSON *golden = support_json(path);
        check_case(golden, entries[i]->d_name, false);
        check_case(golden, entries[i]->d_name, true);
        cJSON_InitHooks(NULL);
        cJSON_Delete(golden);
        free(entries[i]);
    }
    free(entries);
}

/* A figure as it is printed: 4 decimals, a negative zero as zero. */
static double printed(double number)
{
    char text[64];
    snprintf(text, sizeof text, "%.4f", number);
    return strtod(text, NULL) + 0.0;
}

static size_t check_figures(struct made *made, const cJSON *tables)
{
    size_t figures = 0;
    for (const cJSON *item = tables ? tables->child : NULL; item != NULL; item = item->next) {
        size_t count;
        if (!load_table(made, item, &count))
            continue;
        for (size_t i = 0; i < count; i++)
            CHECK(printed(got[i]) == expected[i], "%s[%zu]: expected %.4f, got %.4f (%.9g)", item->string, i,
                  expected[i], printed(got[i]), got[i]);
        figures += count;
    }
    return figures;
}

/* The key and value rows of token 2, and its score against itself, which the chapter's walk prints apart. */
static size_t check_token_2(struct made *made, const cJSON *book)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(book, "rows_of_token_2");
    const cJSON *score = cJSON_GetObjectItemCaseSensitive(book, "score_of_query_2_and_key_2");
    size_t figures = 0;
    for (const cJSON *item = rows ? rows->child : NULL; item != NULL; item = item->next) {
        const size_t width = support_numbers(item, expected, ROOM);
        const struct result_table *table = support_table(made, item->string);
        double numbers[8];
        result_row(&made->result, table, 0, 1, numbers);
        for (size_t i = 0; i < width; i++)
            CHECK(printed(numbers[i]) == expected[i], "%s of token 2 [%zu]: expected %.4f, got %.9g", item->string, i,
                  expected[i], numbers[i]);
        figures += width;
    }
    if (score == NULL)
        return figures;
    double scores[8];
    result_row(&made->result, support_table(made, "scores"), 0, 0, scores);
    CHECK(fabs(scores[1] - score->valuedouble) <= 1e-6, "expected %.9g, got %.9g", score->valuedouble, scores[1]);
    return figures + 1;
}

static void check_book(void)
{
    cJSON *books = support_json("tests/book-tables.json");
    size_t figures = 0, asides = 0;
    for (const cJSON *book = books->child; book != NULL; book = book->next) {
        struct made made;
        char line[SUPPORT_LINE_BYTES];
        support_golden_line(cJSON_GetObjectItemCaseSensitive(book, "command")->valuestring,
                            cJSON_GetObjectItemCaseSensitive(book, "settings"), line);
        check_begin("book: %s", cJSON_GetObjectItemCaseSensitive(book, "name")->valuestring);
        cJSON_InitHooks(NULL);
        char *text = support_golden_input(book, false);
        if (CHECK(support_make(&made, line, text) == STATUS_OK, "expected a result, got: %s", made.error.message)) {
            figures += check_figures(&made, cJSON_GetObjectItemCaseSensitive(book, "parameters"));
            figures += check_figures(&made, cJSON_GetObjectItemCaseSensitive(book, "stages"));
            asides += check_token_2(&made, book);
        }
        free(text);
        arena_free(&made.arena);
    }
    check_begin("every figure of the book was compared");
    CHECK(figures == BOOK_FIGURES, "expected %d figures, got %zu", BOOK_FIGURES, figures);
    CHECK(asides == BOOK_ASIDES, "expected %d figures beside the tables, got %zu", BOOK_ASIDES, asides);
    cJSON_InitHooks(NULL);
    cJSON_Delete(books);
}

int main(void)
{
    check_goldens();
    check_book();
    return check_end();
}
