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

bool tensor_bytes_size(enum dtype dtype, size_t count, size_t *size)
{
    return memory_multiply(count, dtype_size(dtype), size);
}

static bool usable_as_it_is(const struct tensor_bytes *raw)
{
    const size_t size = dtype_size(raw->dtype); /* the alignment of each of these types is at most its size */
    return (!raw->fortran || raw->rank == 1) &&
           (size == 1 || raw->big_endian == tensor_bytes_machine_is_big_endian()) && (uintptr_t)raw->bytes % size == 0;
}

/* Number by number in the order of a tensor, each from where the file has it. */
static void reorder(const struct tensor_bytes *raw, unsigned char *to)
{
    const size_t size = dtype_size(raw->dtype), rank = raw->rank;
    size_t strides[TENSOR_RANK] = {0}, index[TENSOR_RANK] = {0}, stride = size;
    for (size_t i = 0; i < rank; i++) {
        const size_t axis = raw->fortran ? i : rank - 1 - i;
        strides[axis] = stride;
        stride *= raw->shape[axis];
    }
    for (const unsigned char *from = raw->bytes, *end = to + stride; to != end; to += size) {
        memcpy(to, from, size);
        for (size_t axis = rank; axis-- > 0;) {
            from += strides[axis];
            if (++index[axis] < raw->shape[axis])
                break;
            from -= index[axis] * strides[axis];
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
    if (usable_as_it_is(raw)) {
        *tensor = (struct tensor){.rank = raw->rank, .dtype = raw->dtype, .data = (void *)(uintptr_t)raw->bytes};
        memcpy(tensor->shape, raw->shape, sizeof tensor->shape);
        return STATUS_OK;
    }
    if (tensor_create(tensor, raw->dtype, raw->rank, raw->shape, arena, error) != STATUS_OK)
        return error->status;
    const size_t count = tensor_count(tensor), size = dtype_size(raw->dtype);
    if (raw->fortran)
        reorder(raw, tensor->data);
    else
        memcpy(tensor->data, raw->bytes, count * size);
    if (raw->big_endian != tensor_bytes_machine_is_big_endian())
        reverse_bytes(tensor->data, size, count);
    return STATUS_OK;
}
