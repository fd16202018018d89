/* SPDX-License-Identifier: MIT */
#include "read/json_arrays.h"

#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

void json_arrays_begin(struct json_arrays *arrays, size_t member, const char *at)
{
    arrays->present = (struct json_array){.member = member, .begin = at, .numbers = arrays->present.numbers};
    arrays->read = 0;
    arrays->depth = 1;
    arrays->lengths[0] = 0;
}

/* The next array reuses the memory of the numbers. */
void json_arrays_other(struct json_arrays *arrays)
{
    arrays->depth = 0;
}

void json_arrays_open(struct json_arrays *arrays)
{
    const size_t depth = arrays->depth;
    if (depth == 0)
        return;
    if (depth == TENSOR_RANK) {
        json_arrays_other(arrays);
        return;
    }
    arrays->lengths[depth - 1]++;
    arrays->lengths[depth] = 0;
    arrays->depth++;
}

/* Doubles the room if one more item of `size` bytes does not fit. NULL where memory is short. */
static void *grown(void *items, size_t count, size_t size, size_t *room)
{
    if (count < *room)
        return items;
    const size_t larger = *room > 0 ? *room * 2 : FIRST_ROOM;
    items = realloc(items, memory_product(larger, size));
    *room = items != NULL ? larger : *room;
    return items;
}

bool json_arrays_number(struct json_arrays *arrays, const char *text, size_t length)
{
    struct json_array *array = &arrays->present;
    double number;
    if (arrays->depth == 0)
        return true;
    if (array->rank == 0)
        array->rank = arrays->depth;
    if (array->rank != arrays->depth || !decimal_to_double(text, length, &number) || !isfinite(number)) {
        json_arrays_other(arrays);
        return true;
    }
    double *numbers = grown(array->numbers, arrays->read, sizeof numbers[0], &arrays->numbers_room);
    if (numbers == NULL)
        return false;
    numbers[arrays->read++] = number;
    array->numbers = numbers;
    arrays->lengths[arrays->depth - 1]++;
    return true;
}

/* Adds the present array, which is complete, to `found`. */
static bool keep(struct json_arrays *arrays, const char *end)
{
    struct json_array *array = &arrays->present;
    struct json_array *found = grown(arrays->found, arrays->count, sizeof found[0], &arrays->room);
    if (found == NULL)
        return false;
    arrays->found = found;
    double *fitting = realloc(array->numbers, arrays->read * sizeof fitting[0]);
    if (fitting != NULL)
        array->numbers = fitting;
    array->end = end;
    found[arrays->count++] = *array;
    array->numbers = NULL;
    arrays->numbers_room = 0;
    return true;
}

bool json_arrays_close(struct json_arrays *arrays, const char *end)
{
    if (arrays->depth == 0)
        return true;
    const size_t depth = arrays->depth - 1, length = arrays->lengths[depth];
    size_t *expected = &arrays->present.shape[depth];
    *expected = *expected == 0 ? length : *expected;
    if (length == 0 || length != *expected) {
        json_arrays_other(arrays);
        return true;
    }
    arrays->depth = depth;
    return depth > 0 || keep(arrays, end);
}

/* Moves a piece of the text down to `to`; returns the end of the piece there. */
static char *move(char *to, const char *from, const char *end)
{
    memmove(to, from, (size_t)(end - from));
    return to + (end - from);
}

/* Writes the brackets of an array of that rank around a 0. No array is shorter. */
static char *put_stub(char *to, size_t rank)
{
    memset(to, '[', rank);
    to[rank] = '0';
    memset(to + rank + 1, ']', rank);
    return to + 2 * rank + 1;
}

size_t json_arrays_cut(const struct json_arrays *arrays, char *text, size_t length)
{
    char *to = text;
    const char *from = text;
    for (size_t i = 0; i < arrays->count; i++) {
        const struct json_array *array = &arrays->found[i];
        to = put_stub(move(to, from, array->begin), array->rank);
        from = array->end;
    }
    to = move(to, from, text + length);
    *to = '\0';
    return (size_t)(to - text);
}

void json_arrays_free(struct json_arrays *arrays)
{
    for (size_t i = 0; i < arrays->count; i++)
        free(arrays->found[i].numbers);
    free(arrays->found);
    free(arrays->present.numbers);
    *arrays = (struct json_arrays){0};
}
