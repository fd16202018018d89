/* SPDX-License-Identifier: MIT */
/* Files -> struct input_file: JSON, printed tables, .npy, .npz, .pt or .safetensors, detected by their first bytes.
 *
 * A regular file is mapped, read-only and private, so only the parts in use are read. A pipe is read to its end, up to
 * half of the machine's memory, but stops as soon as its bytes can be no format. Mappings belong to the arena. If
 * another program cuts the file short meanwhile, SIGBUS ends this one. */
#ifndef ATTN_READ_LOAD_H
#define ATTN_READ_LOAD_H

#include "read/input_file.h"

/* Reads from one file, or standard input for "-", the `kinds` that are asked for (bits of enum input_file_kind). The
 * input belongs to the arena. STATUS_SYSTEM where the file cannot be read, STATUS_USAGE where it is wrong. */
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
