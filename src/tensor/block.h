/* SPDX-License-Identifier: MIT */
/* Blocks of quantised weights: a few bytes that stand for a fixed count of float32 numbers. */
#pragma once

#include <stddef.h>

/* A type of block_rows.h. */
struct block_type {
    const char *name;      /* "Q4_K" */
    size_t numbers, bytes; /* of a block */
    /* Dequantises `count` blocks, of any alignment, with the bits of ggml's dequantize_row_*. An infinite or NaN scale
     * gives numbers that are not finite. */
    void (*load)(const unsigned char *bytes, size_t count, float *numbers);
};

/* All types; then one without a name. */
extern const struct block_type BLOCK_TYPES[];

/* The type of that name, or NULL. */
const struct block_type *block_find(const char *name);

/* The e2m1 number of a code of four bits, twice: a whole number from -12 to 12. */
extern const signed char BLOCK_E2M1[16];
