/* SPDX-License-Identifier: MIT */
/* What must hold for any numbers: properties of attention, whatever a golden case says. */
#include "check.h"
#include "model/torch_random.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 17, D_IN = 5, TEXT_BYTES = 1 << 16, ROOM = 1 << 14 };

static char text[TEXT_BYTES];
static double first[ROOM], second[ROOM];

/* An input of `items` (0: no batch axis) x TOKENS x D_IN normals; the last token of each is `last` times as large. */
static const char *random_input(size_t items, uint64_t seed, double last)
{
    struct torch_random generator;
    float numbers[D_IN];
    size_t length = (size_t)snprintf(text, sizeof text, "{\"inputs\": %s", items ? "[" : "");
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, seed);
    for (size_t item = 0; item < (items ? items : 1); item++) {
        for (size_t token = 0; token < TOKENS; token++) {
            torch_random_normal(&generator, numbers, D_IN);
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", token ? ", [" : item ? ", [[" : "[[");
            for (size_t i = 0; i < D_IN; i++)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%.9g", i ? ", " : "",
                                           numbers[i] * (token + 1 == TOKENS ? last : 1));
            length += (size_t)snprintf(text + length, sizeof text - length, "]");
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "]");
    }
    snprintf(text + length, sizeof text - length, "%s}", items ? "]" : "");
    return text;
}

static bool make(struct made *made, const char *command_line, const char *json)
{
    return CHECK(support_make(made, command_line, json) == STATUS_OK, "%s: expected a result, got: %s", command_line,
                 made->error.message);
}

static size_t load(struct made *made, const char *name, double *numbers)
{
    const struct result_table *table = support_table(made, name);
    if (!CHECK(table != NULL, "expected a table '%s'", name))
        return 0;
    size_t count = support_table_numbers(made, table, numbers, ROOM);
    CHECK(count <= ROOM, "expected at most %d numbers, got %zu", ROOM, count);
    return count;
}

static const char *const CASES[] = {
    "self", "causal", "multihead --heads 5", "multihead --heads 3 --stacked", "multihead --heads 5 --no-causal",
};

enum { CASE_COUNT = sizeof CASES / sizeof CASES[0] };

static void check_weights(void)
{
    for (size_t m = 0; m < CASE_COUNT; m++) {
        struct made made;
        check_begin("%s: each row of weights sums to 1, a masked weight is 0", CASES[m]);
        if (make(&made, CASES[m], random_input(2, 5 + m, 1))) {
            const struct result_table *table = support_table(&made, "weights");
            const size_t count = load(&made, "weights", first);
            CHECK(count == 2 * made.problem.size.heads * TOKENS * TOKENS, "got %zu weights", count);
            for (size_t row = 0; row < count / TOKENS; row++) {
                const struct result_mask mask = result_mask_of(&made.result, table, row / TOKENS, row % TOKENS);
                double sum = 0;
                for (size_t column = 0; column < TOKENS; column++) {
                    const double weight = first[row * TOKENS + column];
                    sum += weight;
                    if (result_masks(&mask, column))
                        CHECK(weight == 0, "row %zu, column %zu: expected 0, got %g", row, column, weight);
                    else
                        CHECK(weight > 0, "row %zu, column %zu: expected more than 0, got %g", row, column, weight);
                }
                CHECK(fabs(sum - 1) < 1e-6, "row %zu: expected a sum of 1, got %.9g", row, sum);
            }
        }
        arena_free(&made.arena);
    }
}

static void check_future(void)
{
    const char *const causal[] = {CASES[1], CASES[2], CASES[3]};
    for (size_t m = 0; m < 3; m++) {
        struct made made;
        check_begin("%s: another last token leaves the rows before it the same bits", causal[m]);
        size_t count = 0;
        if (make(&made, causal[m], random_input(0, 9, 1)))
            count = load(&made, "context", first);
        arena_free(&made.arena);
        if (make(&made, causal[m], random_input(0, 9, 3)))
            CHECK(load(&made, "context", second) == count, "expected %zu numbers", count);
        const size_t d = made.problem.size.d_head;
        for (size_t i = 0; i < count; i++) {
            const bool last = i / d % TOKENS == TOKENS - 1;
            CHECK((first[i] == second[i]) == !last, "[%zu]: %.9g and %.9g", i, first[i], second[i]);
        }
        arena_free(&made.arena);
    }
}

/* A head's own columns as a module of its own: the JSON of one causal head. */
static void one_head_input(const struct made *made, size_t head)
{
    static const char *const NAMES[] = {"W_query", "W_key", "W_value"};
    const struct problem *problem = &made->problem;
    const size_t d = problem->size.d_head;
    random_input(0, 21, 1);
    size_t length = strlen(text) - 1;
    for (size_t p = 0; p < 3; p++) {
        const struct projection *projection =
            &problem->parameters.modules[problem->plan.stacked ? head : 0].projections[p];
        const float *rows = (const float *)projection->weight.data + (problem->plan.stacked ? 0 : head * d) * D_IN;
        length += (size_t)snprintf(text + length, sizeof text - length, ", \"%s.weight\": [", NAMES[p]);
        for (size_t i = 0; i < d * D_IN; i++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%.9g%s",
                                       i % D_IN ? ""
                                       : i      ? ",["
                                                : "[",
                                       rows[i], i % D_IN == D_IN - 1 ? "]" : ",");
        length += (size_t)snprintf(text + length, sizeof text - length, "]");
    }
    snprintf(text + length, sizeof text - length, "}");
}

static void check_heads(void)
{
    const char *const lines[] = {"multihead --heads 3 --d-out 12", "multihead --heads 3 --stacked --d-out 4"};
    for (size_t m = 0; m < 2; m++) {
        struct made whole, head;
        check_begin("%s equals its heads, each computed alone", lines[m]);
        if (make(&whole, lines[m], random_input(0, 21, 1)) && load(&whole, "context", first) == 3 * TOKENS * 4)
            for (size_t h = 0; h < 3; h++) {
                one_head_input(&whole, h);
                if (make(&head, "causal", text) && load(&head, "context", second) == TOKENS * 4)
                    CHECK(memcmp(first + h * TOKENS * 4, second, TOKENS * 4 * sizeof *second) == 0,
                          "head %zu: expected the same bits", h);
                arena_free(&head.arena);
            }
        arena_free(&whole.arena);
    }
}

/* Rows asked for in another order, each on its own, are the same bits: dropout's generator is kept in step. */
static void check_order(const char *line, const char *name)
{
    struct made made;
    double numbers[TOKENS * 8];
    check_begin("%s: rows of %s in any order", line, name);
    if (make(&made, line, random_input(2, 33, 1))) {
        const struct result_table *table = support_table(&made, name);
        const size_t columns = result_columns(table), rows = result_rows(table), all = rows * result_matrices(table);
        load(&made, name, first);
        for (size_t i = 0; i < 200; i++) {
            const size_t at = i * 7919 % all;
            result_row(&made.result, table, at / rows, at % rows, numbers);
            for (size_t column = 0; column < columns; column++)
                CHECK(numbers[column] == first[at * columns + column], "row %zu, column %zu: expected %.9g, got %.9g",
                      at, column, first[at * columns + column], numbers[column]);
        }
    }
    arena_free(&made.arena);
}

/* The rows that --query asks for are those of the whole, in every stage. */
static void check_query(const char *line)
{
    static const char *const NAMES[] = {"query", "scores", "scaled", "weights", "context", "dropped"};
    struct made whole, part;
    char with_query[160];
    const size_t asked[] = {1, 4, 5, 6, TOKENS - 1};
    snprintf(with_query, sizeof with_query, "%s --query 5-7,2,%d,5", line, TOKENS);
    check_begin("%s: the rows of the whole", with_query);
    bool made = make(&whole, line, random_input(2, 40, 1));
    made = make(&part, with_query, text) && made;
    for (size_t s = 0; made && s < sizeof NAMES / sizeof NAMES[0]; s++) {
        const struct result_table *table = support_table(&part, NAMES[s]);
        if (table == NULL)
            continue;
        const size_t columns = result_columns(table), matrices = result_matrices(table);
        CHECK(result_rows(table) == 5, "%s: expected 5 rows, got %zu", NAMES[s], result_rows(table));
        load(&whole, NAMES[s], first);
        load(&part, NAMES[s], second);
        for (size_t i = 0; i < matrices * 5; i++)
            CHECK(memcmp(second + i * columns, first + (i / 5 * TOKENS + asked[i % 5]) * columns,
                         columns * sizeof *first) == 0,
                  "%s: row %zu of matrix %zu differs", NAMES[s], i % 5, i / 5);
    }
    arena_free(&whole.arena);
    arena_free(&part.arena);
}

/* --- masks, grouped heads, and sdpa on what others show ---------------------------------------------------------- */

/* Adds to the text, an object so far: , "name": and the numbers as matrices of rows x columns within lists of
 * `matrices` (0: the rows alone). */
static void add_tensor(const char *name, const double *numbers, size_t matrices, size_t rows, size_t columns)
{
    size_t length = strlen(text) - 1;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\"%s\": %s", length > 1 ? ", " : "", name,
                               matrices ? "[" : "");
    for (size_t i = 0; i < (matrices ? matrices : 1) * rows * columns; i++) {
        const bool row_ends = (i + 1) % columns == 0, ends = (i + 1) % (rows * columns) == 0;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ", " : "",
                                   i % (rows * columns) == 0 ? "[["
                                   : i % columns == 0        ? "["
                                                             : "");
        length +=
            (size_t)snprintf(text + length, sizeof text - length, isnan(numbers[i]) ? "\"NaN\"" : "%.9g", numbers[i]);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", row_ends ? "]" : "", ends ? "]" : "");
    }
    snprintf(text + length, sizeof text - length, "%s}", matrices ? "]" : "");
}

/* Adds a boolean attn_mask, true where allowed(i, j). */
static void add_mask(bool allowed(size_t i, size_t j))
{
    size_t length = strlen(text) - 1;
    for (size_t i = 0; i < TOKENS; i++)
        for (size_t j = 0; j < TOKENS; j++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       i + j == 0 ? ", \"attn_mask\": [["
                                       : j == 0   ? "], ["
                                                  : ", ",
                                       allowed(i, j) ? "true" : "false");
    snprintf(text + length, sizeof text - length, "]]}");
}

static bool lower_triangle(size_t i, size_t j)
{
    return j <= i;
}

static bool not_the_third(size_t i, size_t j)
{
    (void)i;
    return j != 2;
}

/* Two command lines on one text, or on two, give a table of the same bits. */
static void check_same(const char *line, const char *json, const char *other_line, const char *other_json,
                       const char *name)
{
    struct made one, other;
    size_t count = 0;
    if (make(&one, line, json))
        count = load(&one, name, first);
    if (make(&other, other_line, other_json) && CHECK(load(&other, name, second) == count, "expected %zu", count))
        for (size_t i = 0; i < count; i++)
            CHECK(memcmp(first + i, second + i, sizeof *first) == 0, "%s[%zu]: %.17g by %s, %.17g by %s", name, i,
                  first[i], line, second[i], other_line);
    arena_free(&one.arena);
    arena_free(&other.arena);
}

enum { GROUP = 2, KV_HEADS = 3, GROUPED_HEADS = GROUP * KV_HEADS, GROUPED_COLUMNS = 4 };

/* Grouped heads of key and value are as many heads as query has, each group's the same. */
static void check_groups(void)
{
    static double weight[GROUPED_HEADS * GROUPED_COLUMNS * D_IN], repeated[GROUPED_HEADS * GROUPED_COLUMNS * D_IN];
    static char grouped_text[TEXT_BYTES];
    const char *const names[] = {"W_query.weight", "W_key.weight", "W_value.weight", "out_proj.weight"};
    const size_t width = GROUPED_HEADS * GROUPED_COLUMNS, head = GROUPED_COLUMNS * D_IN;
    struct made made;
    check_begin("multihead --kv-heads %d of %d: the heads of key and value repeated", KV_HEADS, GROUPED_HEADS);
    if (make(&made, "multihead --heads 6 --kv-heads 3 --d-out 24", random_input(2, 77, 1))) {
        static char plain[TEXT_BYTES];
        strcpy(plain, text);
        for (int of_groups = 1; of_groups >= 0; of_groups--) {
            strcpy(text, plain);
            for (size_t n = 0; n < 4; n++) {
                const size_t count = load(&made, names[n], n == 3 ? first : weight);
                const bool of_keys = n == 1 || n == 2;
                for (size_t i = 0; of_keys && i < GROUPED_HEADS * head; i++)
                    repeated[i] = weight[i / head / GROUP * head + i % head];
                if (n == 3)
                    add_tensor(names[n], first, 0, width, width);
                else if (of_keys && !of_groups)
                    add_tensor(names[n], repeated, 0, width, D_IN);
                else
                    add_tensor(names[n], weight, 0, count / D_IN, D_IN);
            }
            if (of_groups)
                strcpy(grouped_text, text);
        }
        check_same("multihead --heads 6 --kv-heads 3", grouped_text, "multihead --heads 6", text, "context");
        check_same("multihead --heads 6 --kv-heads 3", grouped_text, "multihead --heads 6", text, "output");
    }
    arena_free(&made.arena);
}

/* sdpa on the query, key and value that a mechanism shows makes the same of them. */
static void check_given(const char *line, const char *sdpa_line, size_t heads, size_t kv_heads, size_t columns)
{
    struct made made;
    check_begin("%s: the same context by %s on its query, key and value", line, sdpa_line);
    if (make(&made, line, random_input(0, 78, 1))) {
        static char given[TEXT_BYTES];
        strcpy(text, "{}");
        load(&made, "query", first);
        add_tensor("query", first, heads, TOKENS, columns);
        load(&made, "key", first);
        add_tensor("key", first, kv_heads, TOKENS, columns);
        load(&made, "value", first);
        add_tensor("value", first, kv_heads, TOKENS, columns);
        strcpy(given, text);
        check_same(line, random_input(0, 78, 1), sdpa_line, given, "context");
    }
    arena_free(&made.arena);
}

static void check_masks(void)
{
    static char plain[TEXT_BYTES], masked[TEXT_BYTES];
    strcpy(plain, random_input(2, 79, 1));
    strcpy(masked, plain);
    strcpy(text, masked);
    add_mask(lower_triangle);
    strcpy(masked, text);
    const char *const stages[] = {"masked", "weights", "context"};
    for (size_t i = 0; i < 3; i++) {
        check_begin("a lower triangle in attn_mask is the causal rule: %s", stages[i]);
        check_same("self --stages masked,weights,context", masked, "causal --stages masked,weights,context", plain,
                   stages[i]);
        check_begin("a window of 0 keys ahead is the causal rule: %s", stages[i]);
        check_same("self --window -1,0 --stages masked,weights,context", plain,
                   "causal --stages masked,weights,context", plain, stages[i]);
        check_begin("a window that reaches past all keys is none: %s", stages[i]);
        check_same("multihead --heads 5 --no-causal --window 2147483647,2147483647 --stages masked,weights,context",
                   plain, "multihead --heads 5 --no-causal --stages masked,weights,context", plain, stages[i]);
        check_begin("a window that just reaches all keys is none: %s", stages[i]);
        check_same("self --window 16,16 --stages masked,weights,context", plain, "self --stages masked,weights,context",
                   plain, stages[i]);
    }
}

/* query, key and value of sdpa, 2 heads; key 3 and its value are NaN where `spoils`, and all forbid it. */
static void write_spoiled(bool spoils)
{
    enum { COLUMNS = 3, COUNT = 2 * TOKENS * COLUMNS };
    static const char *const NAMES[] = {"query", "key", "value"};
    struct torch_random generator;
    float drawn[COUNT];
    double numbers[COUNT];
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, 80);
    strcpy(text, "{}");
    for (size_t n = 0; n < 3; n++) {
        torch_random_normal(&generator, drawn, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            numbers[i] = spoils && n > 0 && i / COLUMNS % TOKENS == 2 ? (double)NAN : drawn[i];
        add_tensor(NAMES[n], numbers, 2, TOKENS, COLUMNS);
    }
    add_mask(not_the_third);
}

static void check_forbidden(const char *line)
{
    static char spoiled[TEXT_BYTES];
    const char *const stages[] = {"masked", "weights", "context", "lse", "entropy"};
    write_spoiled(true);
    strcpy(spoiled, text);
    write_spoiled(false);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        check_begin("%s: what a forbidden key holds leaves %s the same bits", line, stages[i]);
        check_same(line, spoiled, line, text, stages[i]);
    }
}

static void check_lse(const char *line)
{
    struct made made;
    check_begin("%s: exp(masked - lse) of each row sums to 1", line);
    write_spoiled(true);
    if (make(&made, line, text)) {
        const size_t rows = load(&made, "lse", first), count = load(&made, "masked", second);
        CHECK(count == rows * TOKENS, "expected %zu scores, got %zu", rows * TOKENS, count);
        for (size_t row = 0; row < rows; row++) {
            double sum = 0;
            for (size_t j = 0; j < TOKENS; j++)
                sum += exp(second[row * TOKENS + j] - first[row]);
            CHECK(fabs(sum - 1) < 1e-6, "row %zu: expected 1, got %.9g", row, sum);
        }
    }
    arena_free(&made.arena);
}

int main(void)
{
    const char *const dropping[] = {
        "causal --dropout 0.3",
        "causal --dropout 0.3 --rng torch-mkl",
        "multihead --heads 5 --dropout 0.4",
        "multihead --heads 3 --stacked --dropout 0.4",
        "multihead --heads 3 --stacked --dropout 0.4 --rng torch-mkl",
        "multihead --heads 3 --stacked --dropout 0.4 --dropout-seed 7",
    };
    check_weights();
    check_future();
    check_heads();
    for (size_t i = 0; i < sizeof dropping / sizeof dropping[0]; i++) {
        check_order(dropping[i], "dropped");
        check_order(dropping[i], "context");
        if (strncmp(dropping[i], "multihead", 9) == 0)
            check_order(dropping[i], "output");
        check_query(dropping[i]);
    }
    check_order("causal", "weights");
    check_query("self");
    check_query("multihead --heads 5");
    check_query("multihead --heads 6 --kv-heads 3 --d-out 12 --window 3,1 --softcap 2");
    check_groups();
    check_given("self --d-out 4", "sdpa", 1, 1, 4);
    check_given("causal --d-out 4", "sdpa --causal", 1, 1, 4);
    check_given("multihead --heads 3 --d-out 12 --softcap 2", "sdpa --causal --softcap 2", 3, 3, 4);
    check_given("multihead --heads 6 --kv-heads 2 --d-out 12 --no-causal --scale 0.3", "sdpa --scale 0.3", 6, 2, 2);
    check_given("multihead --heads 3 --stacked --d-out 4 --window 3,2", "sdpa --causal --window 3,2", 3, 3, 4);
    check_masks();
    check_forbidden("sdpa --stages masked,weights,context,lse,entropy");
    check_forbidden("sdpa --causal --window 5,0 --softcap 3 --stages masked,weights,context,lse,entropy");
    check_forbidden("sdpa --dropout 0.4 --dtype f64 --stages masked,weights,context,lse,entropy");
    check_lse("sdpa --stages masked,lse");
    check_lse("sdpa --causal --window 4,0 --softcap 1 --stages masked,lse");
    return check_end();
}
