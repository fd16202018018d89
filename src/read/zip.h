/* SPDX-License-Identifier: MIT */
/* A zip archive of stored entries, as numpy.savez and torch.save write them (PKWARE's APPNOTE.TXT, 4.3 to 4.5).
 *
 * Its directory, at the end of the file, lists the entries. attn reads archives in one file, 64-bit sizes, and data
 * descriptors, which follow an entry whose header lacks its sizes. Directory and entries must be inside the file, must
 * not overlap and must end with it; each entry's header must agree with the directory; names must be plain and unique.
 * attn unpacks nothing: an entry is a range of bytes in the file.
 *
 * Only zip_check compares a checksum, since that reads every byte; attn reads mapped data only when it needs them. .npy
 * and .safetensors have no checksums either. */
#pragma once

#include "base/memory.h"

#include <stdint.h>

struct zip_entry {
    const char *name;
    const unsigned char *bytes;
    size_t length;
    size_t begin; /* offset of its header in the file */
    uint32_t checksum;
};

struct zip {
    const char *source;
    struct zip_entry *entries; /* sorted by name; folders are left out */
    size_t count;
    const char *first; /* the first name in the directory, or NULL */
    size_t length;     /* of the file */
};

bool zip_begins(const unsigned char *bytes, size_t length);

/* Reads the directory into the arena; the entries stay in `bytes`. STATUS_USAGE "source: ..." where the file breaks
 * these rules, or an entry is compressed or encrypted; STATUS_SYSTEM where memory is short. */
enum status zip_open(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                     struct zip *zip, struct error *error);

/* STATUS_USAGE unless bytes[0 .. entry->length), a copy of the entry's, have its checksum. A checksum of 0 fits any
 * bytes, since some writers compute none. */
enum status zip_check(const struct zip *zip, const struct zip_entry *entry, const unsigned char *bytes,
                      struct error *error);
