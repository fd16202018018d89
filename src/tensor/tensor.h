/* SPDX-License-Identifier: MIT */
/* Numbers with a shape and a dtype, row-major. The data belongs to an arena or to a mapped file. */
#pragma once

#include "base/memory.h"
#include "tensor/dtype.h"

enum { TENSOR_RANK = 4, TENSOR_SHAPE_BYTES = 96 };

struct tensor {
    size_t rank; /* 1 to TENSOR_RANK; 0 where there is no tensor */
    size_t shape[TENSOR_RANK];
    enum dtype dtype;
    void *data; /* the product of shape[0 .. rank) numbers, aligned for their type, in the machine's byte order */
};

/* Allocates a tensor of that shape, not cleared. STATUS_SYSTEM where the product overflows or memory is short. */
enum status tensor_create(struct tensor *tensor, enum dtype dtype, size_t rank, const size_t *shape,
                          struct arena *arena, struct error *error);

/* F64 becomes BOOL: true where a number is not 0. STATUS_SYSTEM where memory is short. */
enum status tensor_to_boolean(struct tensor *tensor, struct arena *arena, struct error *error);

/* How many numbers it has; the rank must not be 0. */
size_t tensor_count(const struct tensor *tensor);

/* Loads numbers first .. first + count, as dtype_load does. */
void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers);

/* Stores them, as dtype_store does; for a working dtype. */
void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers);

/* "0", "NaN", "inf" or "-inf" if that is every number, as in a result that a program never wrote; else NULL. */
const char *tensor_blank(const struct tensor *tensor);

bool tensor_same_shape(const struct tensor *a, const struct tensor *b);

/* Rows first .. first + count, which share the data. */
struct tensor tensor_rows(const struct tensor *tensor, size_t first, size_t count);

/* "6 x 3" into shape (TENSOR_SHAPE_BYTES); returns shape. SHAPE_TEXT brings its own buffer, valid to the end of the
 * block. */
const char *tensor_shape_text(const struct tensor *tensor, char *shape);
#define SHAPE_TEXT(tensor) tensor_shape_text((tensor), (char[TENSOR_SHAPE_BYTES]){0})

enum { TENSOR_PLACE_BYTES = 160 };

/* "item 1, row 2, column 3": the first `depth` indices (from 0) into a tensor of that rank, into place
 * (TENSOR_PLACE_BYTES); returns place. tensor_place_of does so for number i of a tensor. */
const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *place);
const char *tensor_place_of(const struct tensor *tensor, size_t i, char *place);

typedef enum status tensor_conversion(const struct tensor *tensor, enum dtype dtype, const char *source,
                                      const char *name, bool *finite, struct tensor *converted, struct arena *arena,
                                      struct error *error);

/* Rounds the numbers once to a working dtype, in its storage: returns the tensor itself where nothing changes, else a
 * copy in the arena. STATUS_USAGE "source: name: row 2, column 3: ..." where a number overflows by rounding, or is not
 * finite at all unless `finite` is given: then *finite becomes false instead. */
tensor_conversion tensor_convert;

/* The same in the working dtype itself, not in its storage: returns a tensor that has that dtype unchecked. */
tensor_conversion tensor_round;

/* Whether all numbers of a working dtype are finite; uses up to `threads` threads for a large tensor. */
bool tensor_finite(const struct tensor *tensor, unsigned threads);

/* As tensor_convert, but without a copy where the working dtype holds every number of the tensor's dtype, whatever its
 * storage: for callers that use tensor_load or ask the dtype. STATUS_USAGE as above for numbers that are not finite. */
enum status tensor_keep(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                        struct tensor *kept, struct arena *arena, struct error *error);
