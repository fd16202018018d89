/* SPDX-License-Identifier: MIT */
/* .npy, NumPy's file of one array -> struct input_file.
 *
 * The format (numpy.lib.format, "NEP 1"): "\x93NUMPY", two bytes of version, the length of the header (2 bytes in
 * version 1.0, 4 in 2.0 and 3.0, little-endian), the header, the numbers. The header is a Python dict,
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (6, 3), }
 *
 * in ASCII, padded with blanks and ended by a newline. attn reads only such a literal, with its keys in any order.
 * descr is a byte order (< little, > big, | and = the machine's) and the type of a dtype, such as f4. */
#pragma once

#include "read/named_tensors.h"

/* The first byte of a .npy. No UTF-8 text begins with it, but a .safetensors may. */
enum { NPY_FIRST_BYTE = 0x93 };

/* Whether a file that begins with these bytes is a .npy: they are "\x93NUMPY", or a shorter beginning of it. */
bool npy_begins(const unsigned char *bytes, size_t length);

/* The header of an array. */
struct npy_array {
    struct tensor_bytes bytes; /* only the first sizes of a rank above TENSOR_RANK; DTYPE_COUNT: a dtype that attn
                                  lacks */
    size_t count;              /* the product of all sizes; SIZE_MAX where it overflows */
    size_t size;               /* bytes after the header */
    char descr[32];            /* cut to fit */
    const char *holder;        /* for messages: "file", or "entry" of an archive */
    bool fortran;
};

/* Reads the header. STATUS_USAGE "source: ..." where it is wrong. */
enum status npy_header(const char *source, const char *holder, const unsigned char *bytes, size_t length,
                       struct arena *arena, struct npy_array *array, struct error *error);

/* Makes the tensor, whose name and use the caller has set, from the array. STATUS_USAGE "source: ..." where attn reads
 * it but cannot compute with it (named_tensors_check), or where the bytes after the header are not its numbers. */
enum status npy_tensor(const struct named_tensors *file, const char *source, struct npy_array *array,
                       struct arena *scratch, struct named_tensor *tensor);

/* Reads the array as the tensor "inputs". STATUS_USAGE also where `kinds` have neither inputs nor foreign tensors:
 * parameters need names, and a .npy has none. */
binary_reader npy_read;
