/* SPDX-License-Identifier: MIT */
#include "tensor/tensor_bytes.h"

#include <stdint.h>
#include <string.h>

bool tensor_bytes_machine_is_big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

static bool is_row_major(const struct tensor_bytes *raw)
{
    size_t stride = 1;
    for (size_t axis = raw->rank; raw->strided && axis-- > 0; stride *= raw->shape[axis])
        if (raw->shape[axis] != 1 && raw->strides[axis] != stride)
            return false;
    return true;
}

bool tensor_bytes_stay(const struct tensor_bytes *raw)
{
    const size_t size = dtype_size(raw->dtype); /* the alignment of these types is at most their size */
    return (size == 1 || raw->big_endian == tensor_bytes_machine_is_big_endian()) &&
           (uintptr_t)raw->bytes % size == 0 && is_row_major(raw);
}

/* Copies number by number, in the order of the tensor. */
static void reorder(const struct tensor_bytes *raw, unsigned char *to, size_t count)
{
    const size_t size = dtype_size(raw->dtype);
    size_t index[TENSOR_RANK] = {0}, from = 0;
    for (size_t i = 0; i < count; i++, to += size) {
        memcpy(to, raw->bytes + from * size, size);
        for (size_t axis = raw->rank; axis-- > 0;) {
            from += raw->strides[axis];
            if (++index[axis] < raw->shape[axis])
                break;
            from -= index[axis] * raw->strides[axis];
            index[axis] = 0;
        }
    }
}

static void reverse_bytes(unsigned char *bytes, size_t size, size_t count)
{
    for (; count > 0; count--, bytes += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char byte = bytes[i];
            bytes[i] = bytes[size - 1 - i];
            bytes[size - 1 - i] = byte;
        }
}

enum status tensor_bytes_tensor(const struct tensor_bytes *raw, struct tensor *tensor, struct arena *arena,
                                struct error *error)
{
    if (tensor_bytes_stay(raw)) {
        *tensor = (struct tensor){.rank = raw->rank, .dtype = raw->dtype, .data = (void *)(uintptr_t)raw->bytes};
        memcpy(tensor->shape, raw->shape, sizeof tensor->shape);
        return STATUS_OK;
    }
    if (tensor_create(tensor, raw->dtype, raw->rank, raw->shape, arena, error) != STATUS_OK)
        return error->status;
    const size_t count = tensor_count(tensor), size = dtype_size(raw->dtype);
    if (!is_row_major(raw))
        reorder(raw, tensor->data, count);
    else
        memcpy(tensor->data, raw->bytes, count * size);
    if (raw->big_endian != tensor_bytes_machine_is_big_endian())
        reverse_bytes(tensor->data, size, count);
    return STATUS_OK;
}
