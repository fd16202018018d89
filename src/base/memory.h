/* SPDX-License-Identifier: MIT */
/* Memory that lives as long as the problem: an arena, freed at once.
 *
 * Every size is given as count x size and checked for overflow. An allocation that fails is an error with
 * STATUS_SYSTEM, never a crash. */
#ifndef ATTN_BASE_MEMORY_H
#define ATTN_BASE_MEMORY_H

#include "base/error.h"

#include <stddef.h>

/* Starts as {0}. Owns every block that was allocated from it. */
struct arena {
    struct arena_block *newest;
    struct arena_kept *kept; /* what arena_keep took over */
};

/* count x size bytes, aligned for any type, not cleared; never NULL for a size of 0.
 * Returns NULL and fills error (which may be NULL) where the product overflows or memory is short. */
void *arena_allocate(struct arena *arena, size_t count, size_t size, struct error *error);

/* The first length bytes of text and a NUL; all of a text. NULL and error as above. */
char *arena_text(struct arena *arena, const char *text, size_t length, struct error *error);
char *arena_copy(struct arena *arena, const char *text, struct error *error);

/* The arena takes over memory that came otherwise: a mapping of `mapped` bytes, or with 0 what malloc gave. It is
 * released with the arena, or at once where this function fails (STATUS_SYSTEM). */
enum status arena_keep(struct arena *arena, void *memory, size_t mapped, struct error *error);

/* Frees every block and all that was taken over; the arena is {0} again. */
void arena_free(struct arena *arena);

/* The bytes that this process may have: the machine's, or what its limits (ulimit -v, a container's) leave. */
double memory_there(void);

/* The larger, and the smaller, of two sizes. */
static inline size_t memory_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t memory_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What is left of `all` beside what is taken of it; 0 where that is more. */
static inline size_t memory_left(size_t all, size_t taken)
{
    return all > taken ? all - taken : 0;
}

/* *product = a x b; false where it does not fit a size_t. */
bool memory_multiply(size_t a, size_t b, size_t *product);

#endif
