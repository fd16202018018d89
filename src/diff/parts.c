/* SPDX-License-Identifier: MIT */
/* Tables of which one file shows only a part: an elided print, a dump of ggml, or a sum alone. */
#include "diff/pair.h"

#include "model/stages.h"
#include "read/file_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct meeting {
    struct diff *diff;
    const char *name;
    enum stage stage;
    const struct file_tensor *a, *b; /* as in the files */
};

/* --- where the numbers shown are --------------------------------------------------------------------------------- */

/* The size of a part's axis, counted from the last, in the complete table: as stated, else unknown, 0. */
static size_t stated_size(const struct file_tensor *named, size_t axis)
{
    const struct file_part *part = named->part;
    const size_t rank = named->tensor.rank;
    if (part->rank > 0)
        return axis < part->rank ? part->whole[part->rank - 1 - axis] : 1;
    return axis >= rank ? 1 : part->lead[rank - 1 - axis] > 0 ? 0 : named->tensor.shape[rank - 1 - axis];
}

/* Whether the part may be one of a table of that shape; ggml pads its keys. */
static bool fits(const struct tensor *whole, const struct file_tensor *named, bool padded)
{
    const bool shows = named->tensor.shape[0] > 0;
    for (size_t axis = 0; axis < TENSOR_RANK; axis++) {
        const size_t size = diff_size_from_end(whole, axis), shown = diff_size_from_end(&named->tensor, axis);
        const size_t stated = named->part->rank > 0 || shows ? stated_size(named, axis) : size;
        if (stated == 0 ? shown >= size : shown > stated || (padded && axis == 0 ? stated < size : stated != size))
            return false;
    }
    return true;
}

/* Sets, for each axis of the complete table, the indices of the numbers shown; and which of these shown it has. */
static enum status list_kept(const struct diff *diff, const struct tensor *whole, const struct file_tensor *named,
                             struct diff_axes *of_whole, struct diff_axes *of_part)
{
    *of_whole = diff_axes_of(whole);
    *of_part = diff_axes_of(&named->tensor);
    for (size_t axis = 0; axis < whole->rank; axis++) {
        const size_t last = whole->rank - 1 - axis, shown = diff_size_from_end(&named->tensor, axis);
        const size_t at = axis < named->tensor.rank ? named->tensor.rank - 1 - axis : 0;
        const size_t lead = axis < named->tensor.rank ? named->part->lead[at] : 0, stated = stated_size(named, axis);
        size_t *kept = arena_allocate(diff->arena, shown, sizeof *kept, diff->error), count = 0;
        size_t *among = arena_allocate(diff->arena, shown, sizeof *among, diff->error);
        if (kept == NULL || among == NULL)
            return diff->error->status;
        for (size_t i = 0; i < shown; i++) {
            kept[count] = lead > 0 && i >= lead ? (stated > 0 ? stated : whole->shape[last]) - shown + i : i;
            among[count] = i;
            count += kept[count] < whole->shape[last];
        }
        of_whole->kept[last] = kept;
        of_whole->shape[last] = count;
        if (axis < named->tensor.rank) {
            of_part->kept[at] = among;
            of_part->shape[at] = count;
        }
    }
    return STATUS_OK;
}

/* --- the axes of ggml -------------------------------------------------------------------------------------------- */

static void swap_axes(struct diff_axes *axes)
{
    const struct diff_axes given = *axes;
    for (size_t i = 2; i <= 3; i++) {
        axes->shape[axes->rank - i] = given.shape[axes->rank + i - 5];
        axes->stride[axes->rank - i] = given.stride[axes->rank + i - 5];
        axes->kept[axes->rank - i] = given.kept[axes->rank + i - 5];
    }
}

/* Changes (H, T, d) to (T, H, d) or back, or to (T, H d) if it joins heads. */
static enum status put_behind(const struct diff *diff, const struct file_tensor **whole, bool join)
{
    const size_t rank = (*whole)->tensor.rank;
    struct diff_axes axes = diff_axes_of(&(*whole)->tensor);
    swap_axes(&axes);
    if (diff_rearrange(diff, whole, &axes) != STATUS_OK || !join)
        return diff->error->status;
    struct file_tensor *joined = arena_allocate(diff->arena, 1, sizeof *joined, diff->error);
    if (joined == NULL)
        return diff->error->status;
    *joined = **whole;
    joined->tensor.rank = rank - 1;
    joined->tensor.shape[rank - 2] = axes.shape[rank - 2] * axes.shape[rank - 1];
    *whole = joined;
    return STATUS_OK;
}

/* Gives the complete table the axes of the part; and whether its heads are now behind. */
static enum status meet_axes(const struct meeting *meeting, const struct file_tensor **whole,
                             const struct file_tensor *part, bool *put)
{
    const bool ggml = file_part_is_of_ggml(part), padded = ggml && stage_is_square(meeting->stage);
    const bool behind = ggml && stage_exists(meeting->stage) && !padded && (*whole)->tensor.rank > 2;
    for (int join = 0; join < 2 && behind; join++) {
        const struct file_tensor *tried = *whole;
        if (put_behind(meeting->diff, &tried, join > 0) != STATUS_OK)
            return meeting->diff->error->status;
        if (fits(&tried->tensor, part, padded) &&
            (STAGES[meeting->stage].operand || !fits(&(*whole)->tensor, part, padded))) {
            *whole = tried;
            *put = join == 0;
            return STATUS_OK;
        }
    }
    if (fits(&(*whole)->tensor, part, padded))
        return STATUS_OK;
    char of_whole[TENSOR_SHAPE_BYTES], of_part[TENSOR_SHAPE_BYTES];
    struct tensor stated = part->tensor;
    if (part->part->rank > 0) {
        stated.rank = part->part->rank;
        memcpy(stated.shape, part->part->whole, sizeof stated.shape);
    }
    if (diff_same_shape(&stated, &(*whole)->tensor)) /* but it shows more */
        stated = part->tensor;
    const bool of_b = part == meeting->b;
    return error_usage(meeting->diff->error, "%s: shows %s of %s, which is no part of %s (as in %s)",
                       (of_b ? meeting->diff->b : meeting->diff->a).input.source, tensor_shape_text(&stated, of_part),
                       meeting->name, tensor_shape_text(&(*whole)->tensor, of_whole),
                       (of_b ? meeting->diff->a : meeting->diff->b).input.source);
}

/* --- totals ------------------------------------------------------------------------------------------------------ */

static struct file_sum sum_of(const struct tensor *tensor, double *sizes)
{
    struct file_sum sum = {.count = tensor_count(tensor)};
    double number;
    *sizes = 0;
    for (size_t i = 0; i < sum.count; i++) {
        tensor_load(tensor, i, 1, &number);
        sum.sum += number;
        sum.squares += number * number;
        *sizes += fabs(number);
    }
    return sum;
}

static struct file_tensor *number_of(const struct meeting *meeting, double number, const int16_t *last_digit)
{
    const size_t one = 1;
    struct file_tensor *named = arena_allocate(meeting->diff->arena, 1, sizeof *named, meeting->diff->error);
    if (named == NULL)
        return NULL;
    *named = (struct file_tensor){.name = meeting->name, .stated = DTYPE_F64, .last_digit = last_digit};
    if (tensor_create(&named->tensor, DTYPE_F64, 1, &one, meeting->diff->arena, meeting->diff->error) != STATUS_OK)
        return NULL;
    *(double *)named->tensor.data = number;
    return named;
}

/* Of a side: as shown, or of all its numbers. */
static struct file_tensor *total_of(const struct meeting *meeting, const struct file_tensor *named,
                                    enum file_total total, struct file_sum sum, double shown)
{
    return named->part == NULL ? number_of(meeting, file_part_total(total, sum, shown), NULL)
                               : number_of(meeting, named->part->totals[total], &named->part->last_digit[total]);
}

/* Adds the totals that both files tell, or that one tells and the other's numbers give. Where numbers may each be off
 * by the tolerance, a sum may be off by that as often as the root of their number. */
static enum status add_totals(const struct meeting *meeting)
{
    const struct file_tensor *a = meeting->a, *b = meeting->b,
                             *whole = a->part == NULL   ? a
                                      : b->part == NULL ? b
                                                        : NULL;
    double sizes = 0;
    const struct file_sum sum = whole != NULL ? sum_of(&whole->tensor, &sizes) : (struct file_sum){.count = 1};
    for (int i = 0; i < (int)FILE_TOTALS; i++) {
        if ((a->part != NULL && !a->part->has[i]) || (b->part != NULL && !b->part->has[i]))
            continue;
        char name[DIFF_TOKEN_BYTES];
        snprintf(name, sizeof name, "%s (%s)", meeting->name, file_total_name((enum file_total)i));
        const double shown = b->part != NULL ? b->part->totals[i] : a->part->totals[i];
        const char *kept = arena_copy(meeting->diff->arena, name, meeting->diff->error);
        const struct file_tensor *of_a = total_of(meeting, a, (enum file_total)i, sum, shown);
        const struct file_tensor *of_b = total_of(meeting, b, (enum file_total)i, sum, shown);
        if (kept == NULL || of_a == NULL || of_b == NULL)
            return meeting->diff->error->status;
        struct diff_stage *added = &meeting->diff->stages[meeting->diff->count++];
        *added = diff_pair(meeting->diff, kept, STAGE_NAMES, of_a, of_b);
        added->is_total = true;
        if (i == FILE_SUM)
            added->tolerance.absolute = added->tolerance.absolute * sqrt((double)sum.count) +
                                        file_part_sum_error(sum.count, sizes / (double)sum.count);
    }
    return STATUS_OK;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static bool are_shown_alike(const struct file_tensor *a, const struct file_tensor *b)
{
    return a->part != NULL && b->part != NULL && diff_same_shape(&a->tensor, &b->tensor) &&
           a->part->rank == b->part->rank &&
           memcmp(a->part->whole, b->part->whole, a->part->rank * sizeof a->part->whole[0]) == 0;
}

/* Cuts both tables to the numbers that the part shows. */
static enum status cut(const struct meeting *meeting, struct diff_stage *pair, struct diff_axes *of_whole)
{
    const bool of_b = pair->a->part == NULL;
    const struct file_tensor **whole = of_b ? &pair->a : &pair->b, **part = of_b ? &pair->b : &pair->a;
    struct diff_axes of_part;
    bool put = false;
    pair->whole = *whole;
    if (meet_axes(meeting, whole, *part, &put) != STATUS_OK)
        return meeting->diff->error->status;
    pair->whole = put ? pair->whole : *whole;
    if (list_kept(meeting->diff, &(*whole)->tensor, *part, of_whole, &of_part) ||
        diff_rearrange(meeting->diff, whole, of_whole) || diff_rearrange(meeting->diff, part, &of_part) || !put)
        return meeting->diff->error->status;
    swap_axes(of_whole);
    return put_behind(meeting->diff, whole, false) || put_behind(meeting->diff, part, false)
               ? meeting->diff->error->status
               : STATUS_OK;
}

enum status diff_add_part(struct diff *diff, const char *name, enum stage stage, const struct file_tensor *a,
                          const struct file_tensor *b)
{
    const struct meeting meeting = {diff, name, stage, a, b};
    const bool alike = are_shown_alike(a, b), shows = a->tensor.shape[0] > 0 && b->tensor.shape[0] > 0;
    struct diff_axes *of_whole = arena_allocate(diff->arena, 1, sizeof *of_whole, diff->error);
    if (of_whole == NULL)
        return diff->error->status;
    if (a->part != NULL && b->part != NULL && !alike)
        return error_usage(diff->error, "%s and %s show different parts of %s; expected the same", diff->a.input.source,
                           diff->b.input.source, name);
    if (shows) {
        struct diff_stage *added = &diff->stages[diff->count++];
        *added = diff_pair(diff, name, stage, a, b);
        if (!alike && cut(&meeting, added, of_whole) != STATUS_OK)
            return diff->error->status;
        added->shown = alike ? NULL : of_whole;
    }
    return add_totals(&meeting);
}
