/* SPDX-License-Identifier: MIT */
/* How numbers are stored. dtype_rows.h has the rows; these functions ask them. */
#pragma once

#include "tensor/dtype_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTYPE_CONSTANT(id, ...) DTYPE_##id,
enum dtype { DTYPE_ROWS(DTYPE_CONSTANT, DTYPE_CONSTANT) DTYPE_COUNT };
#undef DTYPE_CONSTANT

/* The names of the working dtypes in the order of the enum; then NULL. */
extern const char *const DTYPE_NAMES[];

/* The name in options, "f32"; in words, "float32"; the code in .safetensors; the storage in a .pt; the type in .npy, or
 * NULL where .npy lacks it. */
const char *dtype_name(enum dtype dtype);
const char *dtype_title(enum dtype dtype);
const char *dtype_safetensors(enum dtype dtype);
const char *dtype_torch(enum dtype dtype);
const char *dtype_npy(enum dtype dtype);

/* The dtype for which one of the functions above returns that text, or DTYPE_COUNT. */
enum dtype dtype_find(const char *(*name)(enum dtype), const char *text);

/* "F32, F64 or F16": the names that such a function returns, without NULL, into text (DTYPE_LIST_BYTES); returns
 * text. */
enum { DTYPE_LIST_BYTES = 160 };
const char *dtype_list(const char *(*name)(enum dtype), char *text);
#define DTYPE_LIST(name) dtype_list((name), (char[DTYPE_LIST_BYTES]){0})

/* Whether it is floating point, so that stages may be rounded to it; else its numbers are integers or truth values. */
bool dtype_is_working(enum dtype dtype);
bool dtype_is_whole(enum dtype dtype);
bool dtype_is_boolean(enum dtype dtype);

size_t dtype_size(enum dtype dtype);

/* Of a working dtype: the dtype of its numbers in memory, F64 or F32, which holds them exactly. */
enum dtype dtype_storage(enum dtype dtype);

/* Of a working dtype: its significant bits, its smallest number above 0, the largest that is finite, and whether it has
 * infinity. */
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

/* Converts `count` numbers in memory, in the machine's byte order, to doubles, exactly (but rounds an I64 above
 * 2^53). */
void dtype_load(enum dtype dtype, const void *data, size_t count, double *numbers);

/* The same to floats, for a working dtype that float32 holds: all but F64. */
void dtype_load_floats(enum dtype dtype, const void *data, size_t count, float *numbers);

/* Whether all of them are finite, for a working dtype. */
bool dtype_finite(enum dtype dtype, const void *data, size_t count);

/* Converts doubles to a working dtype, rounded once to nearest, ties to even. */
void dtype_store(enum dtype dtype, const double *numbers, size_t count, void *data);

/* Whether a working dtype holds every number of the other one. */
bool dtype_holds(enum dtype dtype, enum dtype other);

/* Rounds each number once to a working dtype, to nearest, ties to even; a number that is too large becomes infinite, or
 * the largest where the dtype has no infinity. Infinity stays infinite, since it may mask a score. */
void dtype_round(enum dtype dtype, double *numbers, size_t count);

/* Writes numbers as the bytes of a file, the least significant first on any machine, into bytes (count x dtype_size).
 * Rounds each once, and infinity too where the dtype has none. Every NaN gets the same bits. */
void dtype_encode(enum dtype dtype, const double *numbers, size_t count, unsigned char *bytes);

/* The same for many numbers, of dtype `from` in memory: put gets the bytes in order, piece by piece, without a copy
 * where they are already those of the file. It returns false to stop. */
void dtype_encode_all(enum dtype dtype, enum dtype from, const void *numbers, size_t count,
                      bool (*put)(void *context, const void *bytes, size_t length), void *context);

/* The bits of a number in a working dtype, rounded once. The bits of its magnitude count the dtype's numbers from 0. */
uint64_t dtype_bits(enum dtype dtype, double number);

/* The same for finite numbers without the sign: the index of each magnitude among the dtype's numbers. */
void dtype_places(enum dtype dtype, const double *numbers, size_t count, uint64_t *places);

/* Writes the shortest decimal that reads back to a finite number of the dtype into text (DECIMAL_BYTES), and returns
 * its length. A truth value is true or false. */
size_t dtype_decimal(enum dtype dtype, double number, char *text);
