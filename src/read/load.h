/* SPDX-License-Identifier: MIT */
/* Files -> struct input_file: JSON, printed tables, .npy, .npz, .pt or .safetensors, told apart by their first bytes.
 *
 * A regular file is mapped, read-only and private, so that what is not needed of it is not read; a pipe is read whole,
 * up to half of the memory there is, but no further than it takes to see that it begins no format. Mappings belong to
 * the arena. A file that another program cuts short meanwhile ends this one by SIGBUS. */
#ifndef ATTN_READ_LOAD_H
#define ATTN_READ_LOAD_H

#include "read/input_file.h"

/* Reads one file; "-" is standard input. What is of the `kinds`, bits of enum input_file_kind, is taken. The input
 * belongs to the arena. STATUS_SYSTEM where the file cannot be read, STATUS_USAGE where it is wrong. */
enum status load_file(const char *path, unsigned kinds, struct arena *arena, struct input_file *input,
                      struct error *error);

/* A file's bytes as they are; `source` is its path as messages have it. */
struct loaded {
    const char *source;
    const unsigned char *bytes;
    size_t length;
};

/* All of it is the arena's. STATUS_SYSTEM where the file cannot be read. */
enum status load_bytes(const char *path, struct arena *arena, struct loaded *loaded, struct error *error);

#endif
