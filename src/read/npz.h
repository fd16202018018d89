/* SPDX-License-Identifier: MIT */
/* .npz, NumPy's archive of arrays -> struct input_file.
 *
 * numpy.savez writes a zip archive with an entry NAME.npy for each array. One that was given no name is called arr_0,
 * arr_1, ... */
#ifndef ATTN_READ_NPZ_H
#define ATTN_READ_NPZ_H

#include "read/input_file.h"
#include "read/zip.h"

/* Whether the archive is a .npz: it has an array. */
bool npz_is(const struct zip *zip);

/* Names are JSON's keys, by the rules of named_tensors.h; a causal buffer may be of bytes. arr_0 alone is a tensor
 * without a name, "inputs". Data may stay in the file, which must live as long as the arena. An array that does not
 * count is not looked into. STATUS_USAGE "source: ..." where an entry is no array, or one that counts is not right to
 * the last byte. */
enum status npz_read(const struct zip *zip, unsigned kinds, struct arena *arena, struct input_file *input,
                     struct error *error);

#endif
