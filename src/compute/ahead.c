#include "compute/ahead.h"

#include "base/memory.h"

enum { CHUNK = 1024 };

static void write_bytes(struct ahead *ahead, size_t first, const void *bytes, size_t count)
{
    const size_t size = dtype_size(ahead->dtype);
    const int code = output_write_at(ahead->output, ahead->offset + first * size, bytes, count * size);
    if (code != 0)
        atomic_store_explicit(&ahead->code, code, memory_order_relaxed);
}

void ahead_write(struct ahead *ahead, const void *numbers, size_t first, size_t count)
{
    if (atomic_load_explicit(&ahead->code, memory_order_relaxed) != 0)
        return;
    double chunk[CHUNK];
    unsigned char bytes[CHUNK * sizeof(double)];
    if (ahead->made == ahead->dtype && dtype_is_encoded(ahead->dtype, numbers, count)) {
        write_bytes(ahead, first, numbers, count);
        return;
    }
    for (size_t done = 0, now; done < count; done += now) {
        now = memory_smaller(count - done, CHUNK);
        dtype_load(ahead->made, (const char *)numbers + done * dtype_size(ahead->made), now, chunk);
        dtype_encode(ahead->dtype, chunk, now, bytes);
        write_bytes(ahead, first + done, bytes, now);
    }
}
