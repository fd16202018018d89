/* Numbers with a shape and a dtype, row-major. The data belongs to an arena or to a mapped file; a tensor is passed by
 * value or const pointer. */
#ifndef ATTN_TENSOR_TENSOR_H
#define ATTN_TENSOR_TENSOR_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_RANK = 4, TENSOR_SHAPE_BYTES = 96 };

/* How a number is stored. The first four are working dtypes; I64 and BOOL are read from files. */
enum dtype { DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16, DTYPE_I64, DTYPE_BOOL, DTYPE_COUNT };

struct tensor {
    size_t rank; /* 1 to TENSOR_RANK; 0 where there is no tensor */
    size_t shape[TENSOR_RANK];
    enum dtype dtype;
    void *data; /* the product of shape[0 .. rank) numbers, aligned for their type, in the machine's byte order */
};

/* Bytes of one number, and the name as options ("f32") and as .safetensors ("F32") have it. */
size_t dtype_size(enum dtype dtype);
const char *dtype_name(enum dtype dtype);
const char *dtype_code(enum dtype dtype);

/* The dtype of that code, or DTYPE_COUNT. */
enum dtype dtype_find(const char *code);

/* How the numbers of a working dtype lie in memory: F64 as they are, all others as F32, which holds f16 and bf16 exactly. */
enum dtype dtype_storage(enum dtype dtype);

/* The largest finite number of a working dtype. */
double dtype_largest(enum dtype dtype);

/* The bits of a number in F16 or BF16, rounded once. */
uint16_t dtype_bits(enum dtype dtype, double number);

/* The shortest decimal that reads back to the number in a working dtype, which it has; it must be finite. Writes the text
 * (DECIMAL_BYTES) and returns its length. */
size_t dtype_decimal(enum dtype dtype, double number, char *text);

/* Room for a tensor of that shape, not cleared. STATUS_SYSTEM where the product overflows or memory is short. */
enum status tensor_create(struct tensor *tensor, enum dtype dtype, size_t rank, const size_t *shape,
                          struct arena *arena, struct error *error);

/* How many numbers it has; for a tensor that exists. */
size_t tensor_count(const struct tensor *tensor);

/* Numbers first .. first + count of the tensor as doubles, exactly (an I64 above 2^53 is rounded). */
void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers);

/* The other way, rounded once to nearest, ties to even; for F32 and F64. */
void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers);

/* Rounds each number once to the working dtype, to nearest, ties to even; what is too large becomes infinite. */
void dtype_round(enum dtype dtype, double *numbers, size_t count);

/* "6 x 3" into shape (TENSOR_SHAPE_BYTES); returns shape. */
const char *tensor_shape_text(const struct tensor *tensor, char *shape);

enum { TENSOR_PLACE_BYTES = 160 };

/* "item 1, row 2, column 3": the first `depth` indices (from 0) into a tensor of that rank, into place
 * (TENSOR_PLACE_BYTES); returns place. */
const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *place);

/* The same numbers rounded once to a working dtype and lying in its storage: the tensor itself where nothing changes, else a
 * copy in the arena. STATUS_USAGE "source: name: row 2, column 3: ..." where a number is not finite only once it is
 * rounded, or is not finite at all, unless `finite` is given: then *finite becomes false there. */
enum status tensor_convert(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                           bool *finite, struct tensor *converted, struct arena *arena, struct error *error);

#endif
