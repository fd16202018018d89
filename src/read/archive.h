/* SPDX-License-Identifier: MIT */
/* A zip archive -> struct input_file: .pt or .npz, detected by its entries. */
#pragma once

#include "read/named_tensors.h"
#include "read/zip.h"

/* STATUS_USAGE also where it is neither. */
binary_reader archive_read;

/* pt_is: whether the archive is a .pt. pt_read reads one: row-major numbers stay in the file; it copies others, in
 * total at most the size of the file and 64 MiB. STATUS_USAGE also where the pickle has other values than tensors,
 * containers, numbers and strings (pickle.h), or fails its checksum; where a view exceeds its storage, or a storage has
 * another length than stated; where there are no tensors, or tensors in more than one place. */
bool pt_is(const struct zip *zip);
enum status pt_read(struct named_tensors *file, const struct zip *zip);

/* npz_is: whether it is a .npz, with at least one array. npz_read does not open an array that attn does not use.
 * STATUS_USAGE also where an entry is no array. */
bool npz_is(const struct zip *zip);
enum status npz_read(struct named_tensors *file, const struct zip *zip);
