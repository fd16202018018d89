/* SPDX-License-Identifier: MIT */
#include "tensor/tensor.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    CHUNK = 256,
    CHECKED = 16 * CHUNK,        /* numbers checked at once, */
    CHECKED_TASK = 256 * CHECKED /* and in one task: a thread pays off from a millisecond of work */
};

enum status tensor_to_boolean(struct tensor *tensor, struct arena *arena, struct error *error)
{
    const struct tensor numbers = *tensor;
    if (tensor_create(tensor, DTYPE_BOOL, numbers.rank, numbers.shape, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < tensor_count(tensor); i++)
        ((uint8_t *)tensor->data)[i] = ((const double *)numbers.data)[i] != 0;
    return STATUS_OK;
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
        count = memory_product(count, shape[axis]);
        if (count == SIZE_MAX)
            return error_system(error, 0, "not enough memory: a tensor of too many numbers");
    }
    tensor->data = arena_allocate(arena, count, dtype_size(dtype), error);
    return tensor->data == NULL ? error->status : STATUS_OK;
}

void tensor_load(const struct tensor *tensor, size_t first, size_t count, double *numbers)
{
    const unsigned char *bytes = tensor->data;
    dtype_load(tensor->dtype, bytes + first * dtype_size(tensor->dtype), count, numbers);
}

void tensor_store(const struct tensor *tensor, size_t first, size_t count, const double *numbers)
{
    unsigned char *bytes = tensor->data;
    dtype_store(tensor->dtype, numbers, count, bytes + first * dtype_size(tensor->dtype));
}

struct tensor tensor_rows(const struct tensor *tensor, size_t first, size_t count)
{
    struct tensor rows = *tensor;
    const size_t row = tensor_count(tensor) / tensor->shape[0] * dtype_size(tensor->dtype);
    rows.shape[0] = count;
    rows.data = (unsigned char *)tensor->data + first * row;
    return rows;
}

const char *tensor_blank(const struct tensor *tensor)
{
    const size_t count = tensor_count(tensor);
    double first = 1, next;
    if (count > 0)
        tensor_load(tensor, 0, 1, &first);
    bool blank = !isfinite(first) || fpclassify(first) == FP_ZERO;
    for (size_t i = 1; i < count && blank; i++) {
        tensor_load(tensor, i, 1, &next);
        blank = next == first || (isnan(next) && isnan(first));
    }
    return !blank ? NULL : isnan(first) ? "NaN" : first < 0 ? "-inf" : first > 0 ? "inf" : "0";
}

bool tensor_same_shape(const struct tensor *a, const struct tensor *b)
{
    bool same = a->rank == b->rank;
    for (size_t axis = 0; axis < a->rank && same; axis++)
        same = a->shape[axis] == b->shape[axis];
    return same;
}

const char *tensor_shape_text(const struct tensor *tensor, char *shape)
{
    struct text text = text_begin(shape, TENSOR_SHAPE_BYTES);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        text_add(&text, "%s%zu", axis ? " x " : "", tensor->shape[axis]);
    if (tensor->rank == 1)
        text_add(&text, "%s", tensor->shape[0] == 1 ? " number" : " numbers");
    return shape;
}

const char *tensor_place_text(size_t rank, const size_t *index, size_t depth, char *place)
{
    static const char *const NAMES[] = {"item", "head", "row", "column"};
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == TENSOR_RANK, "a name for each axis");
    struct text text = text_begin(place, TENSOR_PLACE_BYTES);
    for (size_t axis = 0; axis < depth; axis++)
        text_add(&text, "%s%s %zu", axis ? ", " : "",
                 rank == 1                ? "number"
                 : rank == 3 && axis == 0 ? "item"
                                          : NAMES[TENSOR_RANK - rank + axis],
                 index[axis] + 1);
    return place;
}

const char *tensor_place_of(const struct tensor *tensor, size_t i, char *place)
{
    size_t index[TENSOR_RANK];
    for (size_t axis = tensor->rank; axis-- > 0; i /= tensor->shape[axis])
        index[axis] = i % tensor->shape[axis];
    return tensor_place_text(tensor->rank, index, tensor->rank, place);
}

static enum status not_finite(const struct tensor *tensor, size_t index, double number, enum dtype dtype,
                              const char *source, const char *name, struct error *error)
{
    char place[TENSOR_PLACE_BYTES], value[DECIMAL_BYTES], largest[DECIMAL_BYTES];
    tensor_place_of(tensor, index, place);
    if (!isfinite(number))
        return error_usage(error, "%s: %s: %s: %s is not finite; expected a finite number", source, name, place,
                           isnan(number) ? "NaN"
                           : number > 0  ? "Infinity"
                                         : "-Infinity");
    decimal_from_double(number, value);
    decimal_from_float((float)dtype_largest(dtype), largest);
    return error_usage(error, "%s: %s: %s: %s overflows %s; expected at most %s in magnitude", source, name, place,
                       value, dtype_title(dtype), largest);
}

/* Loads integers as doubles that round to a narrower dtype as the integers themselves would: from 2^53 on, the last bit
 * of the double is set where the bits that it lacks are not 0. */
static void load_wholes(const struct tensor *tensor, size_t first, size_t count, double *numbers)
{
    const uint64_t below = 2047;
    for (size_t i = 0; i < count; i++) {
        const int64_t whole = ((const int64_t *)tensor->data)[first + i];
        uint64_t magnitude = whole < 0 ? -(uint64_t)whole : (uint64_t)whole;
        if (magnitude > UINT64_C(1) << 53 && (magnitude & below) != 0)
            magnitude = (magnitude & ~below) | (below + 1);
        numbers[i] = whole < 0 ? -(double)magnitude : (double)magnitude;
    }
}

/* How many leading numbers are finite and exact in the working dtype; counted in complete chunks. */
static size_t count_plain(const struct tensor *tensor, enum dtype dtype)
{
    const size_t count = tensor_count(tensor), size = dtype_size(tensor->dtype);
    size_t first = 0;
    if (!dtype_holds(dtype, tensor->dtype))
        return 0;
    while (first < count && dtype_finite(tensor->dtype, (const char *)tensor->data + first * size,
                                         memory_smaller(count - first, CHECKED)))
        first += CHECKED;
    return first;
}

struct check {
    const struct tensor *tensor;
    size_t count;
    atomic_bool finite;
};

static void check_task(void *context, size_t task, unsigned thread)
{
    (void)thread;
    struct check *check = context;
    const size_t size = dtype_size(check->tensor->dtype), start = task * CHECKED_TASK;
    const size_t end = memory_smaller(check->count, start + CHECKED_TASK);
    for (size_t first = start; first < end && atomic_load_explicit(&check->finite, memory_order_relaxed);
         first += CHECKED)
        if (!dtype_finite(check->tensor->dtype, (const char *)check->tensor->data + first * size,
                          memory_smaller(end - first, CHECKED)))
            atomic_store_explicit(&check->finite, false, memory_order_relaxed);
}

bool tensor_finite(const struct tensor *tensor, unsigned threads)
{
    struct check check = {.tensor = tensor, .count = tensor_count(tensor)};
    atomic_init(&check.finite, true);
    threads_run(threads, (check.count + CHECKED_TASK - 1) / CHECKED_TASK, check_task, &check);
    return atomic_load(&check.finite);
}

/* Converts into a tensor of dtype `made`; if that is the tensor's own, only checks the numbers. */
static enum status convert(const struct tensor *tensor, enum dtype made, enum dtype dtype, const char *source,
                           const char *name, bool *finite, struct tensor *converted, struct arena *arena,
                           struct error *error)
{
    const struct tensor from = *tensor; /* `converted` may be the tensor itself */
    const bool kept = made == from.dtype && dtype_holds(dtype, made), copied = kept || made == dtype_storage(dtype);
    const size_t count = tensor_count(&from), plain = copied ? memory_smaller(count, count_plain(&from, dtype)) : 0;
    double numbers[CHUNK], rounded[CHUNK];
    *converted = from;
    if (!kept && tensor_create(converted, made, from.rank, from.shape, arena, error) != STATUS_OK)
        return error->status;
    if (!kept && plain > 0 && made == DTYPE_F32)
        dtype_load_floats(from.dtype, from.data, plain, converted->data);
    else if (!kept && plain > 0)
        dtype_load(from.dtype, from.data, plain, converted->data);
    for (size_t first = plain; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        if (from.dtype == DTYPE_I64 && dtype != DTYPE_F64)
            load_wholes(&from, first, now, numbers);
        else
            tensor_load(&from, first, now, numbers);
        memcpy(rounded, numbers, now * sizeof *numbers);
        dtype_round(dtype, rounded, now);
        for (size_t i = 0; i < now; i++) {
            if (isfinite(rounded[i]))
                continue;
            if (finite == NULL || isfinite(numbers[i]))
                return not_finite(&from, first + i, numbers[i], dtype, source, name, error);
            *finite = false;
        }
        if (!kept)
            tensor_store(converted, first, now, rounded);
    }
    return STATUS_OK;
}

enum status tensor_convert(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                           bool *finite, struct tensor *converted, struct arena *arena, struct error *error)
{
    return convert(tensor, dtype_storage(dtype), dtype, source, name, finite, converted, arena, error);
}

enum status tensor_round(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                         bool *finite, struct tensor *rounded, struct arena *arena, struct error *error)
{
    if (tensor->dtype != dtype)
        return convert(tensor, dtype, dtype, source, name, finite, rounded, arena, error);
    *rounded = *tensor;
    return STATUS_OK;
}

enum status tensor_keep(const struct tensor *tensor, enum dtype dtype, const char *source, const char *name,
                        struct tensor *kept, struct arena *arena, struct error *error)
{
    const enum dtype made = dtype_holds(dtype, tensor->dtype) ? tensor->dtype : dtype_storage(dtype);
    return convert(tensor, made, dtype, source, name, NULL, kept, arena, error);
}
