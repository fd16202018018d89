/* SPDX-License-Identifier: MIT */
/* The reference to the bit: its sums in the order that stage/dot_products.h says, in heads of every width; and rows
 * that are made as bytes, by blocks and threads, are the rows that result_row gives. */
#include "check.h"
#include "model/torch_random.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 12, TEXT_BYTES = 1 << 18, HEADS = 2 };

static char text[TEXT_BYTES];

static bool make(struct made *made, const char *line)
{
    check_begin("%s", line);
    return CHECK(support_make(made, line, text) == STATUS_OK, "expected a result, got: %s", made->error.message);
}

/* Adds a member of `matrices` (0: no such axis) x rows x columns normals. */
static size_t add_numbers(size_t length, const char *name, size_t matrices, size_t rows, size_t columns)
{
    static struct torch_random generator;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\"%s\": %s", length ? ", " : "{", name,
                               matrices ? "[" : "");
    for (size_t row = 0; row < (matrices ? matrices : 1) * rows; row++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                                   row == 0          ? "[["
                                   : row % rows == 0 ? "]], [["
                                                     : "], [");
        for (size_t column = 0; column < columns; column++) {
            float number;
            torch_random_seed(&generator, TORCH_RANDOM_VECTOR, length);
            torch_random_normal(&generator, &number, 1);
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%.9g", column ? ", " : "", number);
        }
    }
    return length + (size_t)snprintf(text + length, sizeof text - length, "]]%s", matrices ? "]" : "");
}

/* --- the order of sums ------------------------------------------------------------------------------------------- */

struct stages {
    double query[ROOM], key[ROOM], value[ROOM], scores[ROOM], weights[ROOM], context[ROOM];
};

static void load(struct made *made, const char *name, double *numbers)
{
    const struct result_table *table = support_table(made, name);
    if (CHECK(table != NULL, "expected a table '%s'", name))
        CHECK(support_table_numbers(made, table, numbers, ROOM) <= ROOM, "expected room for %s", name);
}

/* Four sums side by side, those beyond the last whole four in the first of them. */
static double product(const double *query, const double *key, size_t d)
{
    double sums[4] = {0};
    for (size_t k = 0; k < d; k++)
        sums[k < d / 4 * 4 ? k % 4 : 0] += query[k] * key[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double share(const double *weights, const double *value, size_t tokens, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < tokens; j++)
        sum += weights[j] == 0 ? 0 : weights[j] * value[j * d];
    return sum;
}

static void check_sums(size_t tokens, size_t d, const char *more)
{
    static struct stages of;
    struct made made;
    char line[160];
    size_t length = add_numbers(0, "query", HEADS, tokens, d);
    length = add_numbers(length, "key", HEADS, tokens, d);
    length = add_numbers(length, "value", HEADS, tokens, d);
    snprintf(text + length, sizeof text - length, "}");
    snprintf(line, sizeof line, "sdpa --dtype f64 --stages query,key,value,scores,weights,context %s", more);
    if (make(&made, line)) {
        load(&made, "query", of.query);
        load(&made, "key", of.key);
        load(&made, "value", of.value);
        load(&made, "scores", of.scores);
        load(&made, "weights", of.weights);
        load(&made, "context", of.context);
        for (size_t row = 0; row < HEADS * tokens; row++) {
            const size_t first = row / tokens * tokens; /* of the head */
            for (size_t j = 0; j < tokens; j++)
                CHECK(of.scores[row * tokens + j] == product(of.query + row * d, of.key + (first + j) * d, d),
                      "row %zu, key %zu: expected the sums in their order", row, j);
            for (size_t c = 0; c < d; c++)
                CHECK(of.context[row * d + c] == share(of.weights + row * tokens, of.value + first * d + c, tokens, d),
                      "row %zu, column %zu: expected the keys in their order", row, c);
        }
    }
    arena_free(&made.arena);
}

/* --- rows as bytes ----------------------------------------------------------------------------------------------- */

static void count_call(void *context)
{
    ++*(int *)context;
}

/* The rows of a block, of which `rows` makes the same ones by themselves. */
static void check_block(struct made *blocks, struct made *rows, size_t index, size_t matrix, size_t row, size_t count)
{
    const struct result_table *table = &blocks->result.tables[index];
    const size_t columns = result_columns(table), row_bytes = columns * dtype_size(table->dtype);
    unsigned char *bytes = malloc(count * row_bytes), *expected = malloc(row_bytes);
    double *numbers = malloc(columns * sizeof *numbers);
    int calls = 0;
    result_encode(&blocks->result, table, matrix, row, count, bytes, (struct background_work){count_call, &calls});
    CHECK(calls == 1, "%s: expected what is done beside it once, got %d times", table->name, calls);
    for (size_t i = 0; i < count; i++) {
        result_row(&rows->result, &rows->result.tables[index], matrix, row + i, numbers);
        dtype_encode(table->dtype, numbers, columns, expected);
        CHECK(memcmp(bytes + i * row_bytes, expected, row_bytes) == 0,
              "%s: matrix %zu, row %zu: expected the same bytes", table->name, matrix, row + i);
    }
    free(numbers);
    free(expected);
    free(bytes);
}

static void check_bytes(const char *line, size_t tokens)
{
    struct made blocks, rows;
    size_t parts = 0;
    snprintf(text + add_numbers(0, "inputs", 0, tokens, 6), 2, "}");
    if (!make(&blocks, line) || !make(&rows, line))
        return;
    for (size_t index = 0; index < blocks.result.table_count; index++) {
        const struct result_table *table = &blocks.result.tables[index];
        const size_t all = result_rows(table), most = result_rows_at_once(&blocks.result, table);
        for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
            for (size_t row = 0, count; row < all; row += count, parts++) {
                count = most < all - row ? most : all - row;
                check_block(&blocks, &rows, index, matrix, row, count);
            }
    }
    CHECK(parts > blocks.result.table_count, "expected more than a block, got %zu", parts);
    arena_free(&rows.arena);
    arena_free(&blocks.arena);
}

int main(void)
{
    static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 19, 34};
    static const size_t counts[] = {1, 2, 3, 4, 5, 9, 12};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            check_sums(counts[j], widths[i], "");
            check_sums(counts[j], widths[i], "--causal");
            check_sums(counts[j], widths[i], "--window 1,2");
        }
    check_bytes("multihead -H 2 --threads 3 --stages query,masked,weights,context,output", 1300);
    check_bytes("multihead -H 2 --threads 2 --dropout 0.2 --stages weights,dropped,output", 1300);
    check_bytes("multihead -H 3 --dtype bf16 --window 3,1 --alibi slopes --stages scaled,weights,context,lse", 40);
    return check_end();
}
