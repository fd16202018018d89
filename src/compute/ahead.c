/* SPDX-License-Identifier: MIT */
#include "compute/ahead.h"

/* Where in the file the next bytes go. */
struct place {
    struct ahead *ahead;
    uint64_t offset;
};

static bool put(void *context, const void *bytes, size_t length)
{
    struct place *place = context;
    const int code = output_write_at(place->ahead->output, place->offset, bytes, length);
    if (code != 0)
        atomic_store_explicit(&place->ahead->code, code, memory_order_relaxed);
    place->offset += length;
    return code == 0;
}

void ahead_write(void *context, const void *numbers, size_t first, size_t count)
{
    struct ahead *ahead = context;
    struct place place = {ahead, ahead->offset + first * dtype_size(ahead->dtype)};
    if (atomic_load_explicit(&ahead->code, memory_order_relaxed) == 0)
        dtype_encode_all(ahead->dtype, ahead->made, numbers, count, put, &place);
}
