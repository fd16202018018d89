#include "tensor.h"

size_t tensor_count(const struct tensor *tensor)
{
    size_t count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        count *= tensor->shape[axis];
    return count;
}

enum status tensor_create(struct tensor *tensor, size_t rank, const size_t *shape, struct arena *arena,
                          struct error *error)
{
    size_t count = 1;
    *tensor = (struct tensor){.rank = rank};
    for (size_t axis = 0; axis < rank; axis++) {
        tensor->shape[axis] = shape[axis];
        if (!memory_multiply(count, shape[axis], &count))
            return error_system(error, 0, "not enough memory: a tensor of too many numbers");
    }
    tensor->data = arena_allocate(arena, count, sizeof *tensor->data, error);
    return tensor->data == NULL ? error->status : STATUS_OK;
}

const char *tensor_shape_text(const struct tensor *tensor, char *text)
{
    int length = 0;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        length += snprintf(text + length, TENSOR_SHAPE_BYTES - (size_t)length, "%s%zu", axis ? " x " : "",
                           tensor->shape[axis]);
    if (tensor->rank == 1)
        snprintf(text + length, TENSOR_SHAPE_BYTES - (size_t)length, "%s",
                 tensor->shape[0] == 1 ? " number" : " numbers");
    return text;
}
