/* SPDX-License-Identifier: MIT */
/* A zip archive -> struct input_file: .pt or .npz, told by what is in it. */
#ifndef ATTN_READ_ARCHIVE_H
#define ATTN_READ_ARCHIVE_H

#include "read/named_tensors.h"

/* STATUS_USAGE also where it is neither; a list of tensors is that of a .pt alone. */
binary_reader archive_read;

#endif
