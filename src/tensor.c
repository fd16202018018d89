#include "tensor.h"

#include "decimal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { CHUNK = 256 };

static const struct {
    const char *name;
    size_t size;
} DTYPES[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 4},   [DTYPE_F64] = {"f64", 8}, [DTYPE_F16] = {"f16", 2},
    [DTYPE_BF16] = {"bf16", 2}, [DTYPE_I64] = {"i64", 8}, [DTYPE_BOOL] = {"bool", 1},
};

size_t dtype_size(enum dtype dtype)
{
    return DTYPES[dtype].size;
}

const char *dtype_name(enum dtype dtype)
{
    return DTYPES[dtype].name;
}

size_t tensor_count(const struct tensor *tensor)
{
    size_t count = 1;
    for (size_t axis = 0; axis < tensor->rank; axis++)
        count *= tensor->shape[axis];
    return count;
}

enum status tensor_create(struct tensor *tensor, enum dtype dtype, size_t rank, const size_t *shape,
                          struct arena *arena, struct error *error)
{
    size_t count = 1;
    *tensor = (struct tensor){.rank = rank, .dtype = dtype};
    for (size_t axis = 0; axis < rank; axis++) {
        tensor->shape[axis] = shape[axis];
        if (!memory_multiply(count, shape[axis], &count))
            return error_system(error, 0, "not enough memory: a tensor of too many numbers");
    }
    tensor->data = arena_allocate(arena, count, dtype_size(dtype), error);
    return tensor->data == NULL ? error->status : STATUS_OK;
}

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
static double half_number(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        magnitude = fraction == 0 ? (double)INFINITY : (double)NAN;
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* bfloat16 is the upper half of a float32. */
static double brain_number(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float number;
    memcpy(&number, &wide, sizeof number);
    return number;
}

void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers)
{
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case DTYPE_F32:
        for (size_t i = 0; i < count; i++)
            numbers[i] = ((const float *)data)[first + i];
        break;
    case DTYPE_F64:
        memcpy(numbers, (const double *)data + first, count * sizeof *numbers);
        break;
    case DTYPE_F16:
        for (size_t i = 0; i < count; i++)
            numbers[i] = half_number(((const uint16_t *)data)[first + i]);
        break;
    case DTYPE_BF16:
        for (size_t i = 0; i < count; i++)
            numbers[i] = brain_number(((const uint16_t *)data)[first + i]);
        break;
    case DTYPE_I64:
        for (size_t i = 0; i < count; i++)
            numbers[i] = (double)((const int64_t *)data)[first + i];
        break;
    default:
        for (size_t i = 0; i < count; i++)
            numbers[i] = ((const uint8_t *)data)[first + i] != 0;
    }
}

void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers)
{
    if (tensor->dtype == DTYPE_F64) {
        memcpy((double *)tensor->data + first, numbers, count * sizeof *numbers);
        return;
    }
    float *data = (float *)tensor->data + first;
    for (size_t i = 0; i < count; i++)
        data[i] = (float)numbers[i];
}

void tensor_round(enum dtype dtype, double *numbers, size_t count)
{
    if (dtype == DTYPE_F32)
        for (size_t i = 0; i < count; i++)
            numbers[i] = (float)numbers[i];
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

const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *text)
{
    static const char *const NAMES[TENSOR_RANK] = {"head", "item", "row", "column"};
    int length = 0;
    text[0] = '\0';
    for (size_t axis = 0; axis < depth; axis++)
        length += snprintf(text + length, TENSOR_PLACE_BYTES - (size_t)length, "%s%s %zu", axis ? ", " : "",
                           rank == 1 ? "number" : NAMES[TENSOR_RANK - rank + axis], index[axis] + 1);
    return text;
}

static enum status not_finite(const struct tensor *tensor, size_t index, double number, const char *source,
                              const char *name, struct error *error)
{
    char place[TENSOR_PLACE_BYTES], value[DECIMAL_BYTES];
    size_t indices[TENSOR_RANK];
    for (size_t axis = tensor->rank; axis-- > 0; index /= tensor->shape[axis])
        indices[axis] = index % tensor->shape[axis];
    tensor_place_text(tensor->rank, indices, tensor->rank, place);
    if (!isfinite(number))
        return error_usage(error, "%s: %s: %s: %s is not finite; expected a finite number", source, name, place,
                           isnan(number) ? "NaN"
                           : number > 0  ? "Infinity"
                                         : "-Infinity");
    decimal_from_double(number, value);
    return error_usage(error, "%s: %s: %s: %s overflows float32; expected at most 3.4028235e+38 in magnitude", source,
                       name, place, value);
}

enum status tensor_convert(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                           struct tensor *converted, struct arena *arena, struct error *error)
{
    const struct tensor from = *tensor; /* `converted` may be the tensor itself */
    const size_t count = tensor_count(&from);
    double numbers[CHUNK], rounded[CHUNK];
    *converted = from;
    if (from.dtype != dtype && tensor_create(converted, dtype, from.rank, from.shape, arena, error) != STATUS_OK)
        return error->status;
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = count - first < CHUNK ? count - first : CHUNK;
        tensor_load(&from, first, now, numbers);
        memcpy(rounded, numbers, now * sizeof *numbers);
        tensor_round(dtype, rounded, now);
        for (size_t i = 0; i < now; i++)
            if (!isfinite(rounded[i]))
                return not_finite(&from, first + i, numbers[i], source, name, error);
        if (from.dtype != dtype)
            tensor_store(converted, first, now, rounded);
    }
    return STATUS_OK;
}
