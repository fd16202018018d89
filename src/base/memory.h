/* SPDX-License-Identifier: MIT */
/* An arena: memory that arena_free releases all at once.
 *
 * Callers pass sizes as count x size, which the arena checks for overflow. A failed allocation is an error with
 * STATUS_SYSTEM, never a crash. */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. Owns every block that was allocated from it. */
struct arena {
    struct arena_block *newest;
    struct arena_kept *kept; /* memory that arena_keep took over */
};

/* count x size bytes, aligned for any type, not cleared; never NULL for a size of 0.
 * Returns NULL and fills error (which may be NULL) where the product overflows or memory is short. */
void *arena_allocate(struct arena *arena, size_t count, size_t size, struct error *error);

/* arena_text copies the first length bytes of a text, arena_copy all of it, and both add a NUL. NULL and error as
 * above. */
char *arena_text(struct arena *arena, const char *text, size_t length, struct error *error);
char *arena_copy(struct arena *arena, const char *text, struct error *error);

/* The arena takes over a mapping of `mapped` bytes, or with 0 memory from malloc. It releases it with the rest, or at
 * once where this function fails (STATUS_SYSTEM). */
enum status arena_keep(struct arena *arena, void *memory, size_t mapped, struct error *error);

/* Frees every block and all memory taken over; the arena is {0} again. */
void arena_free(struct arena *arena);

/* The bytes that this process may use: those of the machine, or fewer by its limits (ulimit -v, a container). */
double memory_there(void);

static inline size_t memory_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t memory_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* all - taken, or 0 where `taken` is larger. */
static inline size_t memory_left(size_t all, size_t taken)
{
    return all > taken ? all - taken : 0;
}

/* a x b and a + b; SIZE_MAX, which no memory has, where they do not fit a size_t. */
size_t memory_product(size_t a, size_t b);
size_t memory_sum(size_t a, size_t b);

/* The number in so many bytes, at most 8, the least significant one first. */
uint64_t memory_number(const unsigned char *bytes, size_t size);
