/* SPDX-License-Identifier: MIT */
/* .npy, NumPy's file of one array -> struct input_file.
 *
 * The format (numpy.lib.format, "NEP 1"): "\x93NUMPY", two bytes of version, the length of the header (2 bytes in
 * version 1.0, 4 in 2.0 and 3.0, little-endian), the header, the numbers. The header is a Python dict,
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (6, 3), }
 *
 * in ASCII, padded with blanks and ended by a newline. Here it is read as that literal and nothing else, its keys in
 * any order. descr is a byte order (< little, > big, | and = the machine's) and a type that a dtype has, such as f4. */
#ifndef ATTN_READ_NPY_H
#define ATTN_READ_NPY_H

#include "read/named_tensors.h"

/* The first byte of a .npy. No UTF-8 begins with it, but a .safetensors may. */
enum { NPY_FIRST_BYTE = 0x93 };

/* Whether a file that begins with these bytes is to be read as .npy: with "\x93NUMPY", or as much of it as there is. */
bool npy_begins(const unsigned char *bytes, size_t length);

/* An array as its header has it. */
struct npy_array {
    struct tensor_bytes bytes; /* of a rank above TENSOR_RANK the first sizes alone; DTYPE_COUNT: a dtype that attn has
                                  not */
    size_t count;              /* the product of all sizes; SIZE_MAX where that is more */
    size_t size;               /* of what follows the header */
    char descr[32];            /* cut to fit */
    const char *holder;        /* what the array fills: "file", or "entry" of an archive */
    bool fortran;
};

/* Reads the header. STATUS_USAGE "source: ..." where it is not right. */
enum status npy_header(const char *source, const char *holder, const unsigned char *bytes, size_t length,
                       struct arena *arena, struct npy_array *array, struct error *error);

/* The array becomes the tensor, of which its name and what becomes of it are set. STATUS_USAGE "source: ..." where
 * that is read and cannot be computed with (named_tensors_check), or where its numbers are not all that follows. */
enum status npy_tensor(const struct named_tensors *file, const char *source, struct npy_array *array,
                       struct arena *scratch, struct named_tensor *tensor);

/* The array becomes the tensor "inputs". STATUS_USAGE also where `kinds` have neither inputs nor foreign tensors:
 * parameters need names, and a .npy has none. */
binary_reader npy_read;

#endif
