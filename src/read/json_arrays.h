/* SPDX-License-Identifier: MIT */
/* Arrays of numbers, read while the grammar of their text is checked, so that no tree is made of them.
 *
 * A member of the top object whose value is a regular array of finite numbers, at most TENSOR_RANK deep, is cut out of
 * the text and replaced by an array as deep with one 0. Any other value stays as it is. */
#ifndef ATTN_READ_JSON_ARRAYS_H
#define ATTN_READ_JSON_ARRAYS_H

#include "tensor/tensor.h"

struct json_array {
    size_t member;           /* of the object at the top, from 0 */
    const char *begin, *end; /* where it stands in the text */
    size_t rank, shape[TENSOR_RANK];
    double *numbers; /* (shape), of malloc */
};

/* Starts as {0}. */
struct json_arrays {
    struct json_array *found; /* (count) as they stand in the text */
    size_t count, room;
    struct json_array present;   /* the one that is being read: its rank is 0 before its first number, its shape[i] 0
                                  before the first end of an array at that depth */
    size_t depth;                /* of what is being read, from 1; 0 where that is no such array */
    size_t lengths[TENSOR_RANK]; /* (depth) what the open arrays hold so far */
    size_t read, numbers_room;   /* numbers of the present one */
};

/* An array begins that is the value of a member of the object at the top: at its bracket. */
void json_arrays_begin(struct json_arrays *arrays, size_t member, const char *at);

/* Each bracket or other value within it. Once it turns out to be no array of numbers, these do nothing. */
void json_arrays_open(struct json_arrays *arrays);
void json_arrays_other(struct json_arrays *arrays);

/* A number, which is text[0 .. length) and obeys the grammar; and the end of an array, behind its bracket. False where
 * memory is short. */
bool json_arrays_number(struct json_arrays *arrays, const char *text, size_t length);
bool json_arrays_close(struct json_arrays *arrays, const char *end);

/* Takes what was found out of text[0 .. length), in place. Returns the length that is left, at which there is a NUL. */
size_t json_arrays_cut(const struct json_arrays *arrays, char *text, size_t length);

void json_arrays_free(struct json_arrays *arrays);

#endif
