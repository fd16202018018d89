/* SPDX-License-Identifier: MIT */
#include "compute/streamed_output.h"

struct file_position {
    struct streamed_output *streamed;
    uint64_t offset;
};

static bool put(void *context, const void *bytes, size_t length)
{
    struct file_position *position = context;
    const int code = output_write_at(position->streamed->output->file, position->offset, bytes, length);
    if (code != 0)
        atomic_store_explicit(&position->streamed->code, code, memory_order_relaxed);
    position->offset += length;
    return code == 0;
}

void streamed_output_write(void *context, const void *numbers, size_t first, size_t count)
{
    struct streamed_output *streamed = context;
    struct file_position position = {streamed, streamed->offset + first * dtype_size(streamed->dtype)};
    if (atomic_load_explicit(&streamed->code, memory_order_relaxed) == 0)
        dtype_encode_all(streamed->dtype, streamed->made, numbers, count, put, &position);
}
