/* SPDX-License-Identifier: MIT */
/* Blocks of quantised weights: a few bytes that stand for a fixed count of float32 numbers. block_rows.h has the
 * types. */
#ifndef ATTN_TENSOR_BLOCK_H
#define ATTN_TENSOR_BLOCK_H

#include "tensor/block_rows.h"

#include <stddef.h>

#define BLOCK_CONSTANT(id, ...) BLOCK_##id,
enum block { BLOCK_ROWS(BLOCK_CONSTANT) BLOCK_COUNT };
#undef BLOCK_CONSTANT

/* Its name, "Q4_K"; the numbers of a block, and its bytes. */
const char *block_name(enum block block);
size_t block_numbers(enum block block);
size_t block_bytes(enum block block);

/* The type of that name, or BLOCK_COUNT. */
enum block block_find(const char *name);

/* Dequantises `blocks` blocks, of any alignment: block_numbers of each, with the bits of ggml's dequantize_row_*. An
 * infinite or NaN scale gives numbers that are not finite. */
void block_load(enum block block, const unsigned char *bytes, size_t blocks, float *numbers);

/* The e2m1 number of a code of four bits, twice: a whole number from -12 to 12. */
extern const signed char BLOCK_E2M1[16];

#endif
