/* SPDX-License-Identifier: MIT */
/* What is taken out of a JSON text as arrays of numbers, and what is left of it. Every text stands in a block of exactly
 * its size, so that the address sanitizer sees a step past its end. */
#include "check.h"
#include "read/json_arrays.h"
#include "read/json_syntax.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAKEN_BYTES = 1024 };

/* `taken`: "member:shape:numbers" of each, behind one another; `rest`: the text that is left. */
static const struct row {
    const char *text, *taken, *rest;
} rows[] = {
    /* What is taken. */
    {"{\"a\": [1]}", "0:1:1 ", "{\"a\": [0]}"},
    {"{\"a\":[1,-2.5,3e2]}", "0:3:1,-2.5,300 ", "{\"a\":[0]}"},
    {"{\"a\":[[1,2],[3,4],[5,6]]}", "0:3x2:1,2,3,4,5,6 ", "{\"a\":[[0]]}"},
    {"{\"a\":[[[[1]]]]}", "0:1x1x1x1:1 ", "{\"a\":[[[[0]]]]}"},
    {"{\"a\":[[[1,2,3]],[[4,5,6]]]}", "0:2x1x3:1,2,3,4,5,6 ", "{\"a\":[[[0]]]}"},
    {" { \"a\" : [ [ 1 , 2 ]\n, [\t3, 4 ] ] , \"b\" : [ 5 ] } \n", "0:2x2:1,2,3,4 1:1:5 ",
     " { \"a\" : [[0]] , \"b\" : [0] } \n"},
    {"{\"x\":1,\"a\":[2],\"y\":\"[3]\",\"b\":[4,5]}", "1:1:2 3:2:4,5 ", "{\"x\":1,\"a\":[0],\"y\":\"[3]\",\"b\":[0]}"},
    {"{\"a\":[1],\"a\":[2,3]}", "0:1:1 1:2:2,3 ", "{\"a\":[0],\"a\":[0]}"},
    {"{\"{[,\\\"\":[1]}", "0:1:1 ", "{\"{[,\\\"\":[0]}"},
    {"{\"a\":[-0]}", "0:1:-0 ", "{\"a\":[0]}"},
    {"{\"a\":[1e-999,1e308]}", "0:2:0,1e+308 ", "{\"a\":[0]}"},
    {"{\"a\":[0.100000000000000000000000000000000000000000000000000000000000000001]}", "0:1:0.1 ", "{\"a\":[0]}"},
    {"{\"a\":[[1],[2]],\"b\":[[1],[2,3]],\"c\":[[4]]}", "0:2x1:1,2 2:1x1:4 ",
     "{\"a\":[[0]],\"b\":[[1],[2,3]],\"c\":[[0]]}"},
    {"{\"a\":[1,2,\"x\"],\"b\":[3]}", "1:1:3 ", "{\"a\":[1,2,\"x\"],\"b\":[0]}"},
    /* What is no regular array of finite numbers. */
    {"{\"a\":[]}", "", NULL},
    {"{\"a\":[[]]}", "", NULL},
    {"{\"a\":[[1],[]]}", "", NULL},
    {"{\"a\":[[],[1]]}", "", NULL},
    {"{\"a\":[[1],2]}", "", NULL},
    {"{\"a\":[1,[2]]}", "", NULL},
    {"{\"a\":[[1],[[2]]]}", "", NULL},
    {"{\"a\":[[[1]],[2]]}", "", NULL},
    {"{\"a\":[[1,2],[3]]}", "", NULL},
    {"{\"a\":[[1],[2,3]]}", "", NULL},
    {"{\"a\":[[[1],[2]],[[3]]]}", "", NULL},
    {"{\"a\":[[[[[1]]]]]}", "", NULL},
    {"{\"a\":[1,1e999]}", "", NULL},
    {"{\"a\":[-1e999]}", "", NULL},
    {"{\"a\":[1,null]}", "", NULL},
    {"{\"a\":[null]}", "", NULL},
    {"{\"a\":[true,false]}", "", NULL},
    {"{\"a\":[1,\"NaN\"]}", "", NULL},
    {"{\"a\":[1,{}]}", "", NULL},
    {"{\"a\":[{\"b\":[1]},2]}", "", NULL},
    {"{\"a\":[1,{\"b\":2}]}", "", NULL},
    {"{\"a\":[[1,2],\"x\",[3,4]]}", "", NULL},
    /* What is no array of the object at the top. */
    {"{\"a\":1,\"b\":{\"c\":[1]},\"d\":{}}", "", NULL},
    {"{\"a\":{\"b\":{\"c\":[1]}}}", "", NULL},
    {"[1,2]", "", NULL},
    {"[{\"a\":[1]}]", "", NULL},
    {"[[1],{\"a\":[2]}]", "", NULL},
    {"1", "", NULL},
    {"{}", "", NULL},
};

static void describe(const struct json_arrays *arrays, char *taken)
{
    size_t length = 0;
    taken[0] = '\0';
    for (size_t i = 0; i < arrays->count; i++) {
        const struct json_array *array = &arrays->found[i];
        size_t count = 1;
        length += (size_t)snprintf(taken + length, TAKEN_BYTES - length, "%zu:", array->member);
        for (size_t k = 0; k < array->rank; k++) {
            length += (size_t)snprintf(taken + length, TAKEN_BYTES - length, "%s%zu", k ? "x" : "", array->shape[k]);
            count *= array->shape[k];
        }
        for (size_t k = 0; k < count; k++)
            length += (size_t)snprintf(taken + length, TAKEN_BYTES - length, "%c%g", k ? ',' : ':', array->numbers[k]);
        length += (size_t)snprintf(taken + length, TAKEN_BYTES - length, " ");
    }
}

static char *block(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void check_row(const struct row *row)
{
    struct json_arrays arrays = {0};
    struct error error = {0};
    size_t length = strlen(row->text);
    char taken[TAKEN_BYTES], *text = block(row->text, length);
    check_begin("%s", row->text);
    CHECK(json_syntax("t.json", text, length, &arrays, &error) == STATUS_OK, "refused: %s", error.message);
    describe(&arrays, taken);
    CHECK_TEXT(row->taken, taken);
    length = json_arrays_cut(&arrays, text, length);
    CHECK_TEXT(row->rest != NULL ? row->rest : row->text, text);
    CHECK(length == strlen(text), "expected the length %zu, got %zu", strlen(text), length);
    json_arrays_free(&arrays);
    free(text);
}

/* Every beginning of the text: what was taken until then is freed. */
static void check_beginnings(const struct row *row)
{
    check_begin("beginnings of %s", row->text);
    for (size_t length = 0; length < strlen(row->text); length++) {
        struct json_arrays arrays = {0};
        struct error error = {0};
        char *text = block(row->text, length);
        json_syntax("t.json", text, length, &arrays, &error);
        json_arrays_free(&arrays);
        free(text);
    }
}

/* A number that the tree could not hold is rewritten in the second pass, in which nothing is taken twice. */
static void test_rewritten(void)
{
    const char *before = "{\"a\":[1,2],\"b\":[\"\\u0000\"],\"c\":[3]}";
    check_begin("%s", before);
    struct json_arrays arrays = {0};
    struct error error = {0};
    char taken[TAKEN_BYTES], *text = block(before, strlen(before));
    CHECK(json_syntax("t.json", text, strlen(before), &arrays, &error) == STATUS_OK, "refused: %s", error.message);
    describe(&arrays, taken);
    CHECK_TEXT("0:2:1,2 2:1:3 ", taken);
    json_arrays_cut(&arrays, text, strlen(before));
    CHECK_TEXT("{\"a\":[0],\"b\":[\"\\ufffd\"],\"c\":[0]}", text);
    json_arrays_free(&arrays);
    free(text);
}

/* Rows and columns of more numbers than there is room for at first, many times. */
static void test_many(void)
{
    enum { ROWS = 300, COLUMNS = 70 };
    char *text = malloc(ROWS * COLUMNS * 8 + 64);
    if (text == NULL)
        abort();
    size_t length = (size_t)sprintf(text, "{\"a\": [");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        length += (size_t)sprintf(text + length, "%s%d%s",
                                  i % COLUMNS > 0 ? ", "
                                  : i > 0         ? ", ["
                                                  : "[",
                                  i, i % COLUMNS == COLUMNS - 1 ? "]" : "");
    length += (size_t)sprintf(text + length, "]}");
    check_begin("%d x %d", ROWS, COLUMNS);
    struct json_arrays arrays = {0};
    struct error error = {0};
    CHECK(json_syntax("t.json", text, length, &arrays, &error) == STATUS_OK, "refused: %s", error.message);
    if (CHECK(arrays.count == 1, "expected one array, got %zu", arrays.count)) {
        const struct json_array *array = &arrays.found[0];
        CHECK(array->rank == 2 && array->shape[0] == ROWS && array->shape[1] == COLUMNS, "got %zu x %zu",
              array->shape[0], array->shape[1]);
        int wrong = 0;
        for (int i = 0; i < ROWS * COLUMNS; i++)
            wrong += fabs(array->numbers[i] - i) > 0;
        CHECK(wrong == 0, "%d numbers are wrong", wrong);
    }
    json_arrays_free(&arrays);
    free(text);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i]);
        check_beginnings(&rows[i]);
    }
    test_rewritten();
    test_many();
    return check_end();
}
