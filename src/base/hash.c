/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "base/memory.h"

#include <string.h>

/* FNV-1a's scheme on words of 8 bytes (the last one filled with zeros), each mixed down into the lower half. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const char *from = bytes;
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, from + at, memory_smaller(length - at, 8));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}
