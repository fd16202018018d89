/* SPDX-License-Identifier: MIT */
/* Numbers with a shape and a dtype, row-major. The data belongs to an arena or to a mapped file; a tensor is passed by
 * value or const pointer. */
#ifndef ATTN_TENSOR_TENSOR_H
#define ATTN_TENSOR_TENSOR_H

#include "base/memory.h"
#include "tensor/dtype.h"

enum { TENSOR_RANK = 4, TENSOR_SHAPE_BYTES = 96 };

struct tensor {
    size_t rank; /* 1 to TENSOR_RANK; 0 where there is no tensor */
    size_t shape[TENSOR_RANK];
    enum dtype dtype;
    void *data; /* the product of shape[0 .. rank) numbers, aligned for their type, in the machine's byte order */
};

/* Room for a tensor of that shape, not cleared. STATUS_SYSTEM where the product overflows or memory is short. */
enum status tensor_create(struct tensor *tensor, enum dtype dtype, size_t rank, const size_t *shape,
                          struct arena *arena, struct error *error);

/* F64 becomes BOOL: true where a number is not 0. STATUS_SYSTEM where memory is short. */
enum status tensor_to_boolean(struct tensor *tensor, struct arena *arena, struct error *error);

/* How many numbers it has; for a tensor that exists. */
size_t tensor_count(const struct tensor *tensor);

/* Numbers first .. first + count of the tensor as dtype_load has them. */
void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers);

/* The other way, as dtype_store; for a working dtype. */
void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers);

/* "0", "NaN", "inf" or "-inf" where it has nothing but that, as a result that nobody has written; else NULL. */
const char *tensor_blank(const struct tensor *tensor);

bool tensor_same_shape(const struct tensor *a, const struct tensor *b);

/* Rows first .. first + count of it, which stay where they are. */
struct tensor tensor_rows(const struct tensor *tensor, size_t first, size_t count);

/* "6 x 3" into shape (TENSOR_SHAPE_BYTES); returns shape. SHAPE_TEXT has room of its own, to the end of the block. */
const char *tensor_shape_text(const struct tensor *tensor, char *shape);
#define SHAPE_TEXT(tensor) tensor_shape_text((tensor), (char[TENSOR_SHAPE_BYTES]){0})

enum { TENSOR_PLACE_BYTES = 160 };

/* "item 1, row 2, column 3": the first `depth` indices (from 0) into a tensor of that rank, into place
 * (TENSOR_PLACE_BYTES); returns place. And the same of its number i. */
const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *place);
const char *tensor_place_of(const struct tensor *tensor, size_t i, char *place);

typedef enum status tensor_conversion(const struct tensor *tensor, enum dtype dtype, const char *source,
                                      const char *name, bool *finite, struct tensor *converted, struct arena *arena,
                                      struct error *error);

/* The same numbers rounded once to a working dtype and lying in its storage: the tensor itself where nothing changes,
 * else a copy in the arena. STATUS_USAGE "source: name: row 2, column 3: ..." where a number is not finite only once it
 * is rounded, or is not finite at all, unless `finite` is given: then *finite becomes false there. */
tensor_conversion tensor_convert;

/* The same in the working dtype itself, not in its storage: the tensor as it lies where it has that dtype, and then
 * nobody has looked at its numbers. */
tensor_conversion tensor_round;

/* Whether all numbers of a working dtype are finite, looked at by so many threads where they are many. */
bool tensor_finite(const struct tensor *tensor, unsigned threads);

/* As tensor_convert, without a copy where every number of its dtype is one of the working dtype, whatever the storage
 * of that: for what is read by tensor_load, or asked for its dtype. Numbers that are not finite are STATUS_USAGE as
 * above. */
enum status tensor_keep(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                        struct tensor *kept, struct arena *arena, struct error *error);

#endif
