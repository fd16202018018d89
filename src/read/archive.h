/* SPDX-License-Identifier: MIT */
/* A zip archive -> struct input_file: .pt or .npz, detected by its entries. */
#ifndef ATTN_READ_ARCHIVE_H
#define ATTN_READ_ARCHIVE_H

#include "read/named_tensors.h"
#include "read/zip.h"

/* STATUS_USAGE also where it is neither; a list of tensors is that of a .pt alone. */
binary_reader archive_read;

/* Whether the archive is a .pt, and one: numbers that lie row by row stay in the file; others are copied, all together
 * at most as many bytes as the file has, and 64 MiB. STATUS_USAGE also where the pickle holds what is no tensor,
 * container, number or string (pickle.h), or is damaged by its checksum; where a view does not lie in its storage, or a
 * storage is not as long as is said; where tensors stand in more than one place, or none does. */
bool pt_is(const struct zip *zip);
enum status pt_read(struct named_tensors *file, const struct zip *zip);

/* Whether it is a .npz, which has an array, and one: an array that does not count is not looked into. STATUS_USAGE also
 * where an entry is no array. */
bool npz_is(const struct zip *zip);
enum status npz_read(struct named_tensors *file, const struct zip *zip);

#endif
