/* SPDX-License-Identifier: MIT */
/* .npz, NumPy's archive of arrays -> struct input_file.
 *
 * numpy.savez writes a zip archive with an entry NAME.npy for each array. One that was given no name is called arr_0,
 * arr_1, ... */
#ifndef ATTN_READ_NPZ_H
#define ATTN_READ_NPZ_H

#include "read/named_tensors.h"
#include "read/zip.h"

/* Whether the archive is a .npz: it has an array. */
bool npz_is(const struct zip *zip);

/* A binary_reader of the archive. arr_0 alone is a tensor without a name, "inputs". An array that does not count is not
 * looked into. STATUS_USAGE also where an entry is no array. */
enum status npz_read(struct named_tensors *file, const struct zip *zip);

#endif
