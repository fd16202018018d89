/* SPDX-License-Identifier: MIT */
/* How numbers are stored. What is particular to a dtype stands in dtype_rows.h; here is what can be asked of any. */
#ifndef ATTN_TENSOR_DTYPE_H
#define ATTN_TENSOR_DTYPE_H

#include "tensor/dtype_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTYPE_CONSTANT(id, ...) DTYPE_##id,
enum dtype { DTYPE_ROWS(DTYPE_CONSTANT, DTYPE_CONSTANT) DTYPE_COUNT };
#undef DTYPE_CONSTANT

/* The names of the working dtypes, each at its place in the enum; then NULL. */
extern const char *const DTYPE_NAMES[];

/* "f32" as options have it, "float32" in words; its code in .safetensors, its storage in a .pt, its type in .npy or
 * NULL: no .npy holds it. */
const char *dtype_name(enum dtype dtype);
const char *dtype_title(enum dtype dtype);
const char *dtype_safetensors(enum dtype dtype);
const char *dtype_torch(enum dtype dtype);
const char *dtype_npy(enum dtype dtype);

/* The dtype to which a function such as those above gives that text, or DTYPE_COUNT. */
enum dtype dtype_find(const char *(*name)(enum dtype), const char *text);

/* "F32, F64 or F16": what such a function gives, but for NULL, into text (DTYPE_LIST_BYTES); returns text. */
enum { DTYPE_LIST_BYTES = 160 };
const char *dtype_list(const char *(*name)(enum dtype), char *text);
#define DTYPE_LIST(name) dtype_list((name), (char[DTYPE_LIST_BYTES]){0})

/* Whether stages may be rounded to it: floating point. Else its numbers are whole, or truth values. */
bool dtype_is_working(enum dtype dtype);
bool dtype_is_whole(enum dtype dtype);
bool dtype_is_boolean(enum dtype dtype);

/* Bytes of one number. */
size_t dtype_size(enum dtype dtype);

/* Of a working dtype: how its numbers lie in memory, F64 or F32, which holds them exactly. */
enum dtype dtype_storage(enum dtype dtype);

/* Of a working dtype: its significant bits, its smallest number above 0, the largest that is finite, and whether
 * infinity is a number of it. */
int dtype_precision(enum dtype dtype);
double dtype_smallest(enum dtype dtype);
double dtype_largest(enum dtype dtype);
bool dtype_has_infinity(enum dtype dtype);

/* Of a working dtype: whether it has fewer significant bits than float32. */
bool dtype_is_coarse(enum dtype dtype);

/* Of a working dtype: whether ONNX's reference rounds each addition of a softmax to it. */
bool dtype_rounds_sums(enum dtype dtype);

/* Of a working dtype: a and b agree where |a - b| <= absolute + relative |a|. The values are those of PyTorch's
 * torch.testing.assert_close. */
double dtype_absolute_tolerance(enum dtype dtype);
double dtype_relative_tolerance(enum dtype dtype);

/* `count` numbers as they lie in memory, in the machine's byte order, as doubles, exactly (an I64 above 2^53 is
 * rounded). */
void dtype_load(enum dtype dtype, const void *data, size_t count, double *numbers);

/* The same as floats, for a working dtype that float32 holds: all but F64. */
void dtype_load_floats(enum dtype dtype, const void *data, size_t count, float *numbers);

/* Whether all of them are finite, for a working dtype. */
bool dtype_finite(enum dtype dtype, const void *data, size_t count);

/* The other way, rounded once to nearest, ties to even; for a working dtype. */
void dtype_store(enum dtype dtype, const double *numbers, size_t count, void *data);

/* Whether a working dtype has every number of the other one. */
bool dtype_holds(enum dtype dtype, enum dtype other);

/* Rounds each number once to a working dtype, to nearest, ties to even; what is too large becomes infinite, or the
 * largest where the dtype has no infinity. Infinity stays: that of a masked score, which no rounding may allow. */
void dtype_round(enum dtype dtype, double *numbers, size_t count);

/* Numbers as the bytes of a file, the least significant first on any machine: bytes (count x dtype_size) written, each
 * number rounded once, infinity too where the dtype has none. There is one NaN. */
void dtype_encode(enum dtype dtype, const double *numbers, size_t count, unsigned char *bytes);

/* The same of many numbers, which have the dtype `from` in memory: put takes the bytes in order, piece by piece, as
 * they lie where a file has them so. It returns false where no more is wanted. */
void dtype_encode_all(enum dtype dtype, enum dtype from, const void *numbers, size_t count,
                      bool (*put)(void *context, const void *bytes, size_t length), void *context);

/* The bits of a number in a working dtype, rounded once. Those of its magnitude number the dtype's numbers from 0
 * on. */
uint64_t dtype_bits(enum dtype dtype, double number);

/* The same without the sign, for numbers that are finite: the place of each magnitude among the dtype's numbers. */
void dtype_places(enum dtype dtype, const double *numbers, size_t count, uint64_t *places);

/* The shortest decimal that reads back to the number in a dtype, which it has; it must be finite. A truth value is true
 * or false. Writes the text (DECIMAL_BYTES) and returns its length. */
size_t dtype_decimal(enum dtype dtype, double number, char *text);

#endif
