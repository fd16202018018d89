/* SPDX-License-Identifier: MIT */
/* Makes a tensor from the bytes of a binary file, for all binary formats.
 *
 * Bytes that are row-major, in the machine's byte order and aligned for their type stay in the file. All others are
 * copied. */
#pragma once

#include "tensor/tensor.h"

struct tensor_bytes {
    const unsigned char *bytes; /* of the first number; they must live as long as the tensor */
    enum dtype dtype;
    size_t rank; /* 1 to TENSOR_RANK */
    size_t shape[TENSOR_RANK];
    bool big_endian;
    bool strided;                /* by `strides`; else row-major without gaps */
    size_t strides[TENSOR_RANK]; /* in numbers, for each axis; 0: one number is repeated */
};

/* Whether this machine stores the most significant byte first. */
bool tensor_bytes_machine_is_big_endian(void);

/* Whether the bytes can stay in the file. */
bool tensor_bytes_stay(const struct tensor_bytes *raw);

/* The tensor, whose data are the bytes themselves or a copy in the arena. STATUS_SYSTEM where memory is short. */
enum status tensor_bytes_tensor(const struct tensor_bytes *raw, struct tensor *tensor, struct arena *arena,
                                struct error *error);
