#include "compute/ahead.h"

void ahead_rows(struct ahead *ahead, const void *numbers, size_t first, size_t count)
{
    const size_t size = dtype_size(ahead->dtype);
    if (!dtype_is_encoded(ahead->dtype, numbers, count) ||
        !output_write_at(ahead->output, ahead->offset + first * size, numbers, count * size))
        atomic_store_explicit(&ahead->failed, true, memory_order_relaxed);
}

bool ahead_is_done(const struct ahead *ahead)
{
    return ahead->begun && !atomic_load_explicit(&ahead->failed, memory_order_relaxed);
}
