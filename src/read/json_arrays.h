/* SPDX-License-Identifier: MIT */
/* Reads arrays of numbers while json_syntax checks their grammar, without building a tree.
 *
 * For each member of the top object whose value is a regular array of finite numbers, at most TENSOR_RANK deep,
 * json_arrays_cut replaces the text by an array of that depth with one 0. Other values stay. */
#pragma once

#include "tensor/tensor.h"

struct json_array {
    size_t member;           /* of the object at the top, from 0 */
    const char *begin, *end; /* its text */
    size_t rank, shape[TENSOR_RANK];
    double *numbers; /* (shape), of malloc */
};

/* Starts as {0}. */
struct json_arrays {
    struct json_array *found; /* (count) in the order of the text */
    size_t count, room;
    struct json_array present;   /* being read: its rank is 0 before its first number, its shape[i] 0 before the first
                                    end of an array at that depth */
    size_t depth;                /* of the present array, from 1; 0: none */
    size_t lengths[TENSOR_RANK]; /* (depth) elements of the open arrays so far */
    size_t read, numbers_room;   /* numbers of the present one */
};

/* Begins at the bracket of an array that is the value of a member of the top object. */
void json_arrays_begin(struct json_arrays *arrays, size_t member, const char *at);

/* Notes a bracket, or another value, within it. Both do nothing once the array has another element than numbers. */
void json_arrays_open(struct json_arrays *arrays);
void json_arrays_other(struct json_arrays *arrays);

/* Adds the number text[0 .. length), which obeys the grammar; ends an array, whose bracket precedes `end`. False where
 * memory is short. */
bool json_arrays_number(struct json_arrays *arrays, const char *text, size_t length);
bool json_arrays_close(struct json_arrays *arrays, const char *end);

/* Replaces the arrays in text[0 .. length), in place. Returns the new length, after which comes a NUL. */
size_t json_arrays_cut(const struct json_arrays *arrays, char *text, size_t length);

void json_arrays_free(struct json_arrays *arrays);
