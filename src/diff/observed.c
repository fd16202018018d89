/* SPDX-License-Identifier: MIT */
/* Describes the stage that departs with observations: A has the right numbers. */
#include "diff/pair.h"

#include "model/stages.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 22 }; /* of a table that is described */

/* The axis of an observed table; OBSERVE_AXES: none. The last axis of a table with columns is these. */
static enum observe_axis axis_of(enum diff_axis axis, bool last)
{
    static const enum observe_axis AXES[DIFF_AXES] = {
        [DIFF_ITEM] = OBSERVE_ITEM, [DIFF_HEAD] = OBSERVE_HEAD,   [DIFF_TOKEN] = OBSERVE_ROW,
        [DIFF_QUERY] = OBSERVE_ROW, [DIFF_KEY] = OBSERVE_ROW,     [DIFF_COLUMN] = OBSERVE_COLUMN,
        [DIFF_ROW] = OBSERVE_ROW,   [DIFF_MATRIX] = OBSERVE_ITEM, [DIFF_NUMBER] = OBSERVE_COLUMN};
    return last && axis == DIFF_KEY ? OBSERVE_COLUMN : AXES[axis];
}

/* Sets the sizes of an observed table, and where the numbers of a pair are in it, (count); NULL: unknown axes, too
 * many numbers, or out of memory. */
static const size_t *lay_out(const struct diff *diff, const struct diff_stage *stage, size_t size[OBSERVE_AXES])
{
    struct diff_step steps[TENSOR_RANK];
    const struct tensor *tensor = &stage->a->tensor;
    const size_t count = tensor_count(tensor), rank = count > 0 ? diff_locate(diff, stage, 0, steps) : 0;
    size_t stride[OBSERVE_AXES], *to;
    for (int axis = 0; axis < OBSERVE_AXES; axis++)
        size[axis] = 1;
    for (size_t axis = 0; axis < rank; axis++) {
        const enum observe_axis of = axis_of(steps[axis].axis, axis + 1 == rank);
        if (size[of] != 1 || rank != tensor->rank || count > MOST_NUMBERS)
            return NULL;
        size[of] = tensor->shape[axis];
    }
    stride[OBSERVE_COLUMN] = 1;
    for (int axis = OBSERVE_COLUMN; axis-- > 0;)
        stride[axis] = stride[axis + 1] * size[axis + 1];
    to = rank > 0 ? arena_allocate(diff->arena, count, sizeof *to, diff->error) : NULL;
    for (size_t i = 0; i < count && to != NULL; i++) {
        size_t left = i;
        to[i] = 0;
        for (size_t axis = rank; axis-- > 0; left /= tensor->shape[axis])
            to[i] += left % tensor->shape[axis] * stride[axis_of(steps[axis].axis, axis + 1 == rank)];
    }
    return to;
}

/* Lists the tables of A, as far as they can be laid out. */
static struct observe_table *list_others(const struct diff *diff, size_t *count)
{
    struct observe_table *others = arena_allocate(diff->arena, STAGE_INPUTS + 1, sizeof *others, diff->error);
    for (enum stage i = 0; i <= STAGE_INPUTS && others != NULL; i++) {
        const char *name = stage_name(i);
        const struct file_tensor *named = input_file_find(&diff->a.input, name);
        const struct diff_stage pair = {.name = name, .stage = i, .a = named, .b = named};
        struct observe_table *table = &others[*count];
        const size_t *to = named != NULL ? lay_out(diff, &pair, table->size) : NULL;
        if (to == NULL)
            continue;
        table->numbers = arena_allocate(diff->arena, tensor_count(&named->tensor), sizeof(double), diff->error);
        table->stage = i;
        memset(table->index, 0, sizeof table->index);
        for (size_t k = 0; table->numbers != NULL && k < tensor_count(&named->tensor); k++)
            tensor_load(&named->tensor, k, 1, &table->numbers[to[k]]);
        *count += table->numbers != NULL;
    }
    return others;
}

static const char **list_labels(const struct diff *diff, const struct diff_stage *stage,
                                const struct observed *observed, const size_t *to)
{
    const size_t rows = observed->right.size[OBSERVE_ROW], columns = observed->right.size[OBSERVE_COLUMN];
    const char **labels = arena_allocate(diff->arena, rows, sizeof *labels, diff->error);
    if (labels == NULL || observed->right.size[OBSERVE_ITEM] > 1)
        return NULL;
    memset(labels, 0, rows * sizeof *labels);
    for (size_t i = 0; i < observe_count(&observed->right); i++) {
        struct diff_step steps[TENSOR_RANK];
        if (to[i] % columns > 0 || to[i] / columns >= rows) /* of the first head */
            continue;
        for (size_t axis = diff_locate(diff, stage, i, steps); axis-- > 0;)
            if (axis_of(steps[axis].axis, false) == OBSERVE_ROW && steps[axis].position == to[i] / columns + 1)
                labels[to[i] / columns] = steps[axis].token;
    }
    return labels;
}

enum status diff_observe(struct diff *diff)
{
    const struct diff_stage *stage = &diff->stages[diff->cause];
    struct observed observed = {.most_rms = 1, .arena = diff->arena, .error = diff->error};
    if (diff->cause == diff->count || !diff_same_sources(diff) || stage->shown != NULL)
        return STATUS_OK;
    observed.right.stage = stage->stage;
    observed.dtype = stage->tolerance.dtype;
    const size_t *to = lay_out(diff, stage, observed.right.size);
    if (to == NULL || observe_begin(&observed) != STATUS_OK)
        return diff->error->status;
    for (size_t i = 0; i < observe_count(&observed.right); i++) {
        const double half = compare_half_unit(stage->a->last_digit, i) + compare_half_unit(stage->b->last_digit, i);
        double *right = &observed.right.numbers[to[i]], *printed = &observed.printed[to[i]];
        diff_numbers(stage, i, 1, right, &observed.mine[to[i]]);
        *printed = stage->tolerance.given || half <= stage->tolerance.absolute ? 0 : half;
        observed.tolerance[to[i]] = stage->tolerance.absolute + stage->tolerance.relative * fabs(*right) + *printed;
    }
    observed.labels = list_labels(diff, stage, &observed, to);
    observed.others = list_others(diff, &observed.other_count);
    return diff->error->status == STATUS_OK ? observe(&observed, &diff->observations) : diff->error->status;
}
