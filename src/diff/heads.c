/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"
#include "model/stage_id.h"

#include <stdlib.h>
#include <string.h>

/* Joins heads: a context (T, H, d_v) becomes (T, H d_v) where the other one is; the same numbers in the same order.
 * Copies the one that it changes. */
static enum status join_heads(const struct diff *diff, const struct file_tensor **split, const struct tensor *joined)
{
    const struct tensor *tensor = &(*split)->tensor;
    const size_t rank = joined->rank;
    if (rank < 2 || tensor->rank != rank + 1 ||
        memcmp(tensor->shape, joined->shape, (rank - 1) * sizeof tensor->shape[0]) != 0 ||
        tensor->shape[rank - 1] * tensor->shape[rank] != joined->shape[rank - 1])
        return STATUS_OK;
    struct file_tensor *flat = arena_allocate(diff->arena, 1, sizeof *flat, diff->error);
    if (flat == NULL)
        return diff->error->status;
    *flat = **split;
    flat->tensor.rank = rank;
    flat->tensor.shape[rank - 1] = joined->shape[rank - 1];
    *split = flat;
    return STATUS_OK;
}

/* Whether `behind` has H heads after its tokens, (…, T, H, d) or (…, T, H d), and `before` has them before, (…, H,
 * T, d). */
static bool are_behind(const struct tensor *behind, const struct tensor *before, size_t heads)
{
    const size_t last = behind->rank - 1, of_before = before->rank - 1;
    if (behind->rank < 2 || before->rank < 3 || before->shape[of_before - 2] != heads ||
        tensor_count(behind) != tensor_count(before) || tensor_count(before) == 0)
        return false;
    const size_t rows = before->shape[of_before - 1], columns = before->shape[of_before];
    const bool joined = behind->shape[last] == heads * columns && behind->shape[last - 1] == rows;
    const bool split = behind->rank > 2 && behind->shape[last] == columns && behind->shape[last - 1] == heads &&
                       behind->shape[last - 2] == rows;
    return joined || split;
}

/* Copies (…, T, H, d) as (…, H, T, d), where the other one has its heads. */
static enum status put_before(const struct diff *diff, const struct file_tensor **behind, const struct tensor *before)
{
    struct diff_axes axes = diff_axes_of(before);
    const size_t heads = axes.rank - 3, rows = axes.rank - 2, columns = before->shape[axes.rank - 1];
    axes.stride[heads] = columns;
    axes.stride[rows] = before->shape[heads] * columns;
    return diff_rearrange(diff, behind, &axes);
}

enum status diff_meet_heads(const struct diff *diff, enum stage stage, const struct file_tensor **a,
                            const struct file_tensor **b)
{
    if (stage_packed(stage) != stage)
        return join_heads(diff, a, &(*b)->tensor) || join_heads(diff, b, &(*a)->tensor) ? diff->error->status
                                                                                        : STATUS_OK;
    if (!stage_exists(stage) || (STAGE_BIT(stage) & STAGE_GRAD_OPERANDS) == 0 ||
        diff_same_shape(&(*a)->tensor, &(*b)->tensor))
        return STATUS_OK;
    const size_t in_a = diff_heads_in(&diff->a.input, stage),
                 heads = in_a > 0 ? in_a : diff_heads_in(&diff->b.input, stage);
    if (are_behind(&(*b)->tensor, &(*a)->tensor, heads))
        return put_before(diff, b, &(*a)->tensor);
    if (are_behind(&(*a)->tensor, &(*b)->tensor, heads))
        return put_before(diff, a, &(*b)->tensor);
    return STATUS_OK;
}

enum status diff_choose_head(struct diff *diff)
{
    const struct input_file *const files[] = {&diff->a.input, &diff->b.input};
    diff->head = options_said(diff->options, OPTION_HEAD) ? (size_t)diff->options->head : 0;
    for (size_t i = 0; i < 2; i++) {
        const char *text = input_file_setting(files[i], "head");
        const size_t head = text != NULL ? strtoul(text, NULL, 10) : 0;
        if (head > 0 && diff->head > 0 && head != diff->head)
            return error_usage(diff->error, "%s: holds head %zu alone; expected head %zu", files[i]->source, head,
                               diff->head);
        diff->head = head > 0 ? head : diff->head;
    }
    return STATUS_OK;
}

enum status diff_cut_head(const struct diff *diff, enum stage stage, const struct file_tensor **named)
{
    struct diff_axes axes = diff_axes_of(&(*named)->tensor);
    const size_t head = diff_head_of(diff, stage), axis = diff_axis_of_heads(diff, stage, axes.rank);
    if (head == 0 || !stage_exists(stage) || (*named)->part != NULL || axis == SIZE_MAX || axes.shape[axis] == 1)
        return STATUS_OK;
    size_t *kept = arena_allocate(diff->arena, 1, sizeof *kept, diff->error);
    if (kept == NULL)
        return diff->error->status;
    if (head > axes.shape[axis])
        return error_usage(diff->error, "--head %zu is out of range; expected heads 1..%zu of %s", head,
                           axes.shape[axis], stage_name(stage));
    *kept = head - 1;
    axes.kept[axis] = kept;
    axes.shape[axis] = 1;
    return diff_rearrange(diff, named, &axes);
}
