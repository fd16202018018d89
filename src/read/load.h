/* SPDX-License-Identifier: MIT */
/* Files -> struct input_file: JSON, printed tables, .npy, .npz, .pt or .safetensors, detected by their first bytes.
 *
 * A regular file is mapped, read-only and private, so only the parts in use are read. attn reads a pipe to its end, up
 * to half of the machine's memory, but stops as soon as its bytes fit no format. Mappings belong to the arena. If
 * another program truncates the file meanwhile, attn ends (mapped_file.h). */
#pragma once

#include "read/input_file.h"

/* Reads the `kinds` (bits of enum input_file_kind) from a file, or from standard input for "-". The input belongs to
 * the arena. STATUS_SYSTEM where the file cannot be read, STATUS_USAGE where it is wrong. */
enum status load_file(const char *path, unsigned kinds, struct arena *arena, struct input_file *input,
                      struct error *error);

/* The bytes of a file; `source` is its path as messages show it. */
struct loaded {
    const char *source;
    const unsigned char *bytes;
    size_t length;
};

/* The bytes belong to the arena. STATUS_SYSTEM where the file cannot be read. */
enum status load_bytes(const char *path, struct arena *arena, struct loaded *loaded, struct error *error);

/* STATUS_USAGE "source: what it is; what to do" for a file that attn recognizes by its first bytes and rejects, else
 * STATUS_OK. */
enum status load_check_other(const char *source, const unsigned char *bytes, size_t length, struct error *error);
