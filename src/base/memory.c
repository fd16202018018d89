/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include "base/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* With 0 every allocation is a block by itself without a spare byte, so that a sanitizer checks each. */
#ifndef ARENA_BLOCK_BYTES
#define ARENA_BLOCK_BYTES (1 << 16)
#endif

static const size_t BLOCK_BYTES = ARENA_BLOCK_BYTES;

/* The system clears memory page by page on first use, and large pages three times as fast: blocks of at least this many
 * bytes are aligned to them. */
enum { LARGE_PAGE = 1 << 21 };

struct arena_block {
    struct arena_block *older;
    size_t used, size; /* bytes of the payload, which follows; used is aligned, and may be beyond size */
    size_t mapped;     /* bytes of the mapping that holds this block; 0: it came from malloc */
    max_align_t payload[];
};

/* Lives in the arena itself. */
struct arena_kept {
    struct arena_kept *older;
    void *memory;
    size_t mapped;
};

size_t memory_product(size_t a, size_t b)
{
    return a != 0 && b > SIZE_MAX / a ? SIZE_MAX : a * b;
}

size_t memory_sum(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

uint64_t memory_number(const unsigned char *bytes, size_t size)
{
    uint64_t number = 0;
    while (size-- > 0)
        number = number << 8 | bytes[size];
    return number;
}

static void release(void *memory, size_t mapped)
{
    if (mapped > 0)
        munmap(memory, mapped);
    else
        free(memory);
}

/* A mapping of *bytes, rounded up to full pages, the last one large where half of it is needed, on a boundary of large
 * ones; NULL where there is none. */
static void *map_large(size_t *bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (*bytes > SIZE_MAX / 2)
        return NULL;
    const size_t last = *bytes % LARGE_PAGE > LARGE_PAGE / 2 ? LARGE_PAGE : page;
    *bytes = (*bytes + last - 1) / last * last;
    char *mapped = mmap(NULL, *bytes + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    const size_t before = (LARGE_PAGE - (uintptr_t)mapped % LARGE_PAGE) % LARGE_PAGE;
    if (before > 0)
        munmap(mapped, before);
    if (before < LARGE_PAGE)
        munmap(mapped + before + *bytes, LARGE_PAGE - before);
    system_prefer_large_pages(mapped + before, *bytes);
    return mapped + before;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    size_t bytes = sizeof(struct arena_block) + size;
    const bool large = BLOCK_BYTES > 0 && bytes >= LARGE_PAGE;
    struct arena_block *block = large ? map_large(&bytes) : malloc(bytes);
    if (block == NULL)
        return NULL;
    *block = (struct arena_block){.older = arena->newest, .size = size, .mapped = large ? bytes : 0};
    arena->newest = block;
    return block;
}

/* A large block follows the newest one in the list, so that the rest of the newest stays in use. */
static struct arena_block *block_for(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->newest;
    if (block != NULL && block->used <= block->size && block->size - block->used >= bytes)
        return block;
    if (block == NULL || bytes < BLOCK_BYTES / 4)
        return add_block(arena, bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes);
    struct arena_block *large = add_block(arena, bytes);
    if (large == NULL)
        return NULL;
    large->older = block->older;
    block->older = large;
    arena->newest = block;
    return large;
}

void *arena_allocate(struct arena *arena, size_t count, size_t size, struct error *error)
{
    const size_t alignment = _Alignof(max_align_t);
    const size_t bytes = memory_product(count, size);
    struct arena_block *block = bytes <= SIZE_MAX - alignment ? block_for(arena, bytes) : NULL;
    if (block == NULL) {
        if (error != NULL)
            error->memory = error_system(error, 0, "not enough memory for %zu x %zu bytes", count, size) != STATUS_OK;
        return NULL;
    }
    void *memory = (char *)block->payload + block->used;
    block->used += (bytes + alignment - 1) / alignment * alignment;
    return memory;
}

char *arena_text(struct arena *arena, const char *text, size_t length, struct error *error)
{
    char *copy = arena_allocate(arena, length + 1, 1, error);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *arena_copy(struct arena *arena, const char *text, struct error *error)
{
    return arena_text(arena, text, strlen(text), error);
}

enum status arena_keep(struct arena *arena, void *memory, size_t mapped, struct error *error)
{
    struct arena_kept *kept = arena_allocate(arena, 1, sizeof *kept, error);
    if (kept == NULL) {
        release(memory, mapped);
        return STATUS_SYSTEM;
    }
    *kept = (struct arena_kept){arena->kept, memory, mapped};
    arena->kept = kept;
    return STATUS_OK;
}

void arena_free(struct arena *arena)
{
    for (; arena->kept != NULL; arena->kept = arena->kept->older)
        release(arena->kept->memory, arena->kept->mapped);
    while (arena->newest != NULL) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        release(block, block->mapped);
    }
}

double memory_there(void)
{
    struct rlimit limit;
    const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    double there = pages > 0 && page_size > 0 ? (double)pages * (double)page_size : INFINITY;
    there = fmin(there, system_memory_limit());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        there = fmin(there, (double)limit.rlim_cur);
    return there;
}
