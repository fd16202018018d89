/* SPDX-License-Identifier: MIT */
#include "steps/cache.h"

#include <string.h>

static size_t row_bytes(const struct tensor *tensor)
{
    return tensor->shape[3] * dtype_size(tensor->dtype);
}

/* Where a row of an item's head lies; of a ring the slot of a key. */
static char *row_of(const struct tensor *tensor, size_t item, size_t head, size_t row)
{
    const size_t *shape = tensor->shape;
    return (char *)tensor->data + ((item * shape[1] + head) * shape[2] + row % shape[2]) * row_bytes(tensor);
}

enum status cache_create(struct cache *cache, const struct tensor *whole, size_t slots, struct arena *arena,
                         struct error *error)
{
    const size_t shape[] = {whole->shape[0], whole->shape[1], slots, whole->shape[3]};
    return tensor_create(&cache->ring, whole->dtype, 4, shape, arena, error);
}

void cache_write(const struct cache *cache, const struct tensor *source, size_t from, size_t first, size_t count,
                 size_t item)
{
    for (size_t head = 0; head < source->shape[1]; head++)
        for (size_t i = 0; i < count; i++)
            memcpy(row_of(&cache->ring, item, head, first + i), row_of(source, item, head, from + i),
                   row_bytes(source));
}

void cache_read(const struct cache *cache, size_t first, size_t end, const struct tensor *target, size_t item)
{
    for (size_t head = 0; head < target->shape[1]; head++)
        for (size_t key = first; key < end; key++)
            memcpy(row_of(target, item, head, key), row_of(&cache->ring, item, head, key), row_bytes(target));
}
