/* SPDX-License-Identifier: MIT */
/* 64 bits of some bytes, to tell whether two of them are the same; no secret is kept by it. */
#ifndef ATTN_BASE_HASH_H
#define ATTN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What a hash starts from. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what was hashed so far and of these bytes. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);

/* The same of a text, with the NUL that ends it. */
uint64_t hash_text(uint64_t hash, const char *text);

#endif
