/* SPDX-License-Identifier: MIT */
/* A hash of 64 bits, to compare data; it protects no secret. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues a hash, which starts as HASH_START, with these bytes. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);

/* The same with a text and its NUL. */
uint64_t hash_text(uint64_t hash, const char *text);
