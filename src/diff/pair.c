/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "base/threads.h"
#include "model/stage_id.h"

#include <stdlib.h>
#include <string.h>

size_t diff_size_from_end(const struct tensor *tensor, size_t axis)
{
    return axis < tensor->rank ? tensor->shape[tensor->rank - 1 - axis] : 1;
}

bool diff_same_shape(const struct tensor *a, const struct tensor *b)
{
    size_t axis = 0;
    while (axis < TENSOR_RANK && diff_size_from_end(a, axis) == diff_size_from_end(b, axis))
        axis++;
    return axis == TENSOR_RANK;
}

static struct compare_tolerance tolerance_of(const struct diff *diff, enum dtype dtype)
{
    const struct options *options = diff->options;
    return (struct compare_tolerance){
        .dtype = dtype,
        .absolute = options_said(options, OPTION_ATOL) ? options->atol : dtype_absolute_tolerance(dtype),
        .relative = options_said(options, OPTION_RTOL) ? options->rtol : dtype_relative_tolerance(dtype),
        .given = options_said(options, OPTION_ATOL) || options_said(options, OPTION_RTOL),
    };
}

/* Lengths are whole numbers, whatever the dtype of the others. */
static enum dtype dtype_of(const struct diff_side *side, const struct file_tensor *named)
{
    if (named == NULL || (side->input.is_text && input_file_is_whole(named->name)))
        return DTYPE_F64;
    return side->input.is_text && !dtype_is_boolean(named->tensor.dtype) ? named->stated : named->tensor.dtype;
}

struct diff_stage diff_pair(const struct diff *diff, const char *name, enum stage stage, const struct file_tensor *a,
                            const struct file_tensor *b)
{
    const enum dtype dtype_a = dtype_of(&diff->a, a), dtype_b = dtype_of(&diff->b, b);
    const bool unstated = diff->a.unstated || diff->b.unstated; /* such numbers may be those of float32 */
    return (struct diff_stage){
        .name = name,
        .stage = stage,
        .a = a,
        .b = b,
        .dtype_a = dtype_a,
        .dtype_b = dtype_b,
        .tolerance =
            tolerance_of(diff, compare_coarser(compare_coarser(dtype_a, dtype_b), unstated ? DTYPE_F32 : DTYPE_F64)),
        .undone_by = STAGE_NAMES,
    };
}

/* Numbers first .. first + count, as a tensor of their own. */
static struct tensor view(const struct tensor *tensor, size_t first, size_t count)
{
    return (struct tensor){.rank = 1,
                           .shape = {count},
                           .dtype = tensor->dtype,
                           .data = (char *)tensor->data + first * dtype_size(tensor->dtype)};
}

static struct compare_side side_of(const struct file_tensor *named, const struct tensor *numbers, enum dtype dtype,
                                   size_t first)
{
    return (struct compare_side){numbers, dtype, named->last_digit != NULL ? named->last_digit + first : NULL};
}

void diff_compare(struct diff_stage *stage)
{
    const struct compare_side a = side_of(stage->a, &stage->a->tensor, stage->dtype_a, 0),
                              b = side_of(stage->b, &stage->b->tensor, stage->dtype_b, 0);
    compare_tensors(a, b, stage->tolerance, threads_available(), &stage->comparison);
    stage->departs = compare_departs(&stage->comparison);
}

bool diff_differs(const struct diff_stage *stage, size_t first, size_t count)
{
    const bool is_source = stage->stage == STAGE_INPUTS || stage->stage == STAGE_PARAMETERS;
    const struct tensor in_a = view(&stage->a->tensor, first, count), in_b = view(&stage->b->tensor, first, count);
    const struct compare_side a = side_of(stage->a, &in_a, stage->dtype_a, first),
                              b = side_of(stage->b, &in_b, stage->dtype_b, first);
    struct comparison comparison;
    compare_counts(a, b, stage->tolerance, &comparison);
    return (is_source || stage->comparison.outside == 0 ? comparison.unequal : comparison.outside) > 0;
}

static void load(const struct tensor *tensor, enum dtype dtype, size_t first, size_t count, double *numbers)
{
    tensor_load(tensor, first, count, numbers);
    if (tensor->dtype == DTYPE_F64)
        dtype_round(dtype, numbers, count);
}

void diff_numbers(const struct diff_stage *stage, size_t first, size_t count, double *a, double *b)
{
    load(&stage->a->tensor, stage->dtype_a, first, count, a);
    load(&stage->b->tensor, stage->dtype_b, first, count, b);
}

struct diff_axes diff_axes_of(const struct tensor *tensor)
{
    struct diff_axes axes = {.rank = tensor->rank};
    size_t stride = 1;
    for (size_t axis = axes.rank; axis-- > 0; stride *= tensor->shape[axis]) {
        axes.shape[axis] = tensor->shape[axis];
        axes.stride[axis] = stride;
    }
    return axes;
}

static void gather(const char *from, const struct diff_axes *axes, size_t count, size_t size, char *to)
{
    size_t index[TENSOR_RANK] = {0};
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        for (size_t axis = 0; axis < axes->rank; axis++)
            at += axes->stride[axis] * (axes->kept[axis] != NULL ? axes->kept[axis][index[axis]] : index[axis]);
        memcpy(to + i * size, from + at * size, size);
        for (size_t axis = axes->rank; axis-- > 0 && ++index[axis] == axes->shape[axis];)
            index[axis] = 0;
    }
}

enum status diff_rearrange(const struct diff *diff, const struct file_tensor **named, const struct diff_axes *axes)
{
    const struct file_tensor *from = *named;
    struct file_tensor *made = arena_allocate(diff->arena, 1, sizeof *made, diff->error);
    if (made == NULL)
        return diff->error->status;
    *made = *from;
    if (tensor_create(&made->tensor, from->tensor.dtype, axes->rank, axes->shape, diff->arena, diff->error) !=
        STATUS_OK)
        return diff->error->status;
    const size_t count = tensor_count(&made->tensor);
    gather(from->tensor.data, axes, count, dtype_size(from->tensor.dtype), made->tensor.data);
    *named = made;
    if (from->last_digit == NULL)
        return STATUS_OK;
    int16_t *digits = arena_allocate(diff->arena, count, sizeof *digits, diff->error);
    if (digits == NULL)
        return diff->error->status;
    gather((const char *)from->last_digit, axes, count, sizeof *digits, (char *)digits);
    made->last_digit = digits;
    return STATUS_OK;
}

size_t diff_heads_in(const struct input_file *input, enum stage stage)
{
    const char *heads = input_file_setting(input, "heads"), *of_keys = input_file_setting(input, "kv_heads");
    const char *text = stage_is_of_keys(stage) && heads != NULL && of_keys != NULL ? of_keys : heads;
    return text != NULL ? strtoul(text, NULL, 10) : 0;
}

size_t diff_head_of(const struct diff *diff, enum stage stage)
{
    const struct input_file *input =
        input_file_setting(&diff->a.input, "heads") != NULL ? &diff->a.input : &diff->b.input;
    const size_t heads = diff_heads_in(input, STAGE_QUERY), own = diff_heads_in(input, stage);
    return diff->head > 0 && own > 0 && heads > own ? (diff->head - 1) / (heads / own) + 1 : diff->head;
}
