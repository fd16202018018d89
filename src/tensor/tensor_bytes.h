/* SPDX-License-Identifier: MIT */
/* Numbers as the bytes of a binary file -> tensor. What the binary formats have in common.
 *
 * Bytes that can be used as they are stay in their place: row-major, in the machine's byte order and aligned for their
 * type. All others are copied. */
#ifndef ATTN_TENSOR_TENSOR_BYTES_H
#define ATTN_TENSOR_TENSOR_BYTES_H

#include "tensor/tensor.h"

struct tensor_bytes {
    const unsigned char *bytes; /* from the first number on; they must live as long as the tensor */
    enum dtype dtype;
    size_t rank; /* 1 to TENSOR_RANK */
    size_t shape[TENSOR_RANK];
    bool big_endian;
    bool strided;                /* the numbers lie as `strides` has it; else one behind another, row-major */
    size_t strides[TENSOR_RANK]; /* numbers from one to the next along each axis; 0: there is but one, for all */
};

/* Whether this machine stores the most significant byte first. */
bool tensor_bytes_machine_is_big_endian(void);

/* *size = the bytes of `count` numbers; false where they do not fit a size_t. */
bool tensor_bytes_size(enum dtype dtype, size_t count, size_t *size);

/* Whether the bytes can be used as they are. */
bool tensor_bytes_stay(const struct tensor_bytes *raw);

/* The tensor: its data are the bytes themselves, or a copy in the arena. STATUS_SYSTEM where memory is short. */
enum status tensor_bytes_tensor(const struct tensor_bytes *raw, struct tensor *tensor, struct arena *arena,
                                struct error *error);

#endif
