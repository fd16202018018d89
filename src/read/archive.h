/* SPDX-License-Identifier: MIT */
/* A zip archive -> struct input_file: .pt or .npz, told by what is in it. */
#ifndef ATTN_READ_ARCHIVE_H
#define ATTN_READ_ARCHIVE_H

#include "read/named_tensors.h"

/* What is of the `kinds` (bits of enum input_file_kind) goes into `input`. Data may stay in `bytes`, which must live as
 * long as the arena. STATUS_USAGE where zip.h, pt.h or npz.h refuse it, or it is neither. */
enum status archive_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds,
                         struct arena *arena, struct input_file *input, struct error *error);

/* The tensors of a .pt by name and place (pt_list). STATUS_USAGE for any other archive. */
enum status archive_list(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                         struct named_list *list, struct error *error);

#endif
