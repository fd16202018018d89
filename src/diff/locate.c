/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "model/mechanism.h"
#include "model/stages.h"

#include <string.h>

static const char *const AXIS_NAMES[DIFF_AXES] = {
    [DIFF_ITEM] = "item",   [DIFF_HEAD] = "head",     [DIFF_TOKEN] = "row",
    [DIFF_QUERY] = "query", [DIFF_KEY] = "key",       [DIFF_COLUMN] = "column",
    [DIFF_ROW] = "row",     [DIFF_MATRIX] = "matrix", [DIFF_NUMBER] = "number",
};

/* Whether the rows are all queries: some of them alone have lost their positions. */
static bool has_all_queries(const struct input_file *input)
{
    return input->part == NULL && input_file_setting(input, "query") == NULL;
}

/* The last axis but one; heads for a stage without columns. */
static enum diff_axis row_axis(const struct diff *diff, enum stage stage)
{
    const bool all = has_all_queries(&diff->a.input) && has_all_queries(&diff->b.input);
    if (!stage_exists(stage))
        return stage == STAGE_INPUTS ? DIFF_TOKEN : DIFF_ROW;
    if (!stage_has_columns(stage))
        return DIFF_HEAD;
    return stage_is_of_keys(stage) ? DIFF_KEY : all ? DIFF_QUERY : DIFF_ROW;
}

static enum diff_axis column_axis(enum stage stage)
{
    return !stage_has_columns(stage) ? DIFF_QUERY : stage_is_square(stage) ? DIFF_KEY : DIFF_COLUMN;
}

/* The leading axis of three: heads of multihead, except for its output, and of sdpa, except for its packed context
 * and that one's gradient; items of the other mechanisms. */
static enum diff_axis third_axis(const struct diff *diff, enum stage stage)
{
    const char *name = diff->a.input.mechanism != NULL ? diff->a.input.mechanism : diff->b.input.mechanism;
    const enum mechanism mechanism = mechanism_find(name);
    if (stage == STAGE_INPUTS)
        return DIFF_ITEM;
    if (mechanism == MECHANISM_COUNT || !stage_exists(stage))
        return DIFF_MATRIX;
    if (MECHANISMS[mechanism].splits)
        return STAGES[stage].joins_heads || !stage_has_columns(stage) ? DIFF_ITEM : DIFF_HEAD;
    const bool packed =
        input_file_setting(&diff->a.input, "heads") != NULL || input_file_setting(&diff->b.input, "heads") != NULL;
    const bool side_by_side = packed && stage_packed(stage) != stage;
    return !MECHANISMS[mechanism].projects && stage_has_columns(stage) && !side_by_side ? DIFF_HEAD : DIFF_ITEM;
}

/* Whether it is an operand of sdpa in sequences, (T, H, d). */
static bool is_of_sequences(const struct diff *diff, enum stage stage)
{
    return stage_exists(stage) && STAGES[stage].operand &&
           (input_file_find(&diff->a.input, "cu_seqlens_q") != NULL ||
            input_file_find(&diff->b.input, "cu_seqlens_q") != NULL);
}

static enum diff_axis axis_of(const struct diff *diff, enum stage stage, size_t rank, size_t axis)
{
    if (rank == 1)
        return !stage_has_columns(stage) ? column_axis(stage) : DIFF_NUMBER;
    if (rank == 3 && axis < 2 && is_of_sequences(diff, stage))
        return axis == 1 ? DIFF_HEAD : stage_is_of_keys(stage) ? DIFF_KEY : DIFF_QUERY;
    if (axis + 2 >= rank)
        return axis + 2 == rank ? row_axis(diff, stage) : column_axis(stage);
    if (rank == 3)
        return third_axis(diff, stage);
    return axis == 0 ? DIFF_ITEM : DIFF_HEAD;
}

size_t diff_axis_of_heads(const struct diff *diff, enum stage stage, size_t rank)
{
    for (size_t axis = 0; axis < rank; axis++)
        if (axis_of(diff, stage, rank, axis) == DIFF_HEAD || axis_of(diff, stage, rank, axis) == DIFF_MATRIX)
            return axis;
    return SIZE_MAX;
}

/* The tokens of an axis of that size: where tables were cut, those that both files have; NULL where no file has any. */
static const struct token_labels *labels_of(const struct diff *diff, const struct diff_stage *stage,
                                            const struct diff_step *step, size_t size)
{
    const bool keys = step->axis == DIFF_KEY || strcmp(stage->name, "key_inputs") == 0;
    const struct diff_alignment *alignment = diff_tokens_of(diff, keys);
    const struct token_labels *const labels[] = {alignment->few, alignment->a, alignment->b};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (labels[i] != NULL && labels[i]->texts != NULL && labels[i]->count == size)
            return labels[i];
    return NULL;
}

/* Sets the token of a step on an axis of that size, where the files have one. */
static void find_token(const struct token_labels *labels, const struct diff_step *first, size_t size,
                       struct diff_step *step)
{
    const bool by_item = first->axis == DIFF_ITEM;
    const size_t list = labels != NULL && labels->lists > 1 && by_item ? first->position - 1 : 0;
    if (labels == NULL || list >= labels->lists || (labels->lists > 1 && !by_item))
        return;
    const char *const *tokens = labels->texts + list * size;
    step->token = tokens[step->position - 1];
    step->alone = step->token[0] == '\0' || step->token[strspn(step->token, "0123456789")] != '\0'; /* no number */
    for (size_t i = 0; i < size && step->alone; i++)
        step->alone = i == step->position - 1 || strcmp(tokens[i], step->token) != 0;
}

size_t diff_locate(const struct diff *diff, const struct diff_stage *stage, size_t element, struct diff_step *steps)
{
    const struct tensor *a = &stage->a->tensor, *b = &stage->b->tensor, *tensor = a->rank >= b->rank ? a : b;
    const struct tensor *whole = stage->shown != NULL ? &stage->whole->tensor : tensor;
    const size_t rank = whole->rank;
    const enum stage axes = strcmp(stage->name, "attn_mask") == 0 ? STAGE_MASKED : stage->stage;
    const struct diff_axes shown = stage->shown != NULL ? *stage->shown : diff_axes_of(tensor);
    for (size_t axis = rank; axis-- > 0; element /= shown.shape[axis]) {
        const enum diff_axis counts = axis_of(diff, axes, rank, axis);
        const size_t at = element % shown.shape[axis];
        const size_t index = counts == DIFF_HEAD && diff->head > 0 ? diff_head_of(diff, axes) - 1
                             : shown.kept[axis] != NULL            ? shown.kept[axis][at]
                                                                   : at;
        steps[axis] = (struct diff_step){counts, AXIS_NAMES[counts], index + 1, NULL, false};
    }
    for (size_t axis = 0; axis < rank; axis++)
        if (steps[axis].axis == DIFF_TOKEN || steps[axis].axis == DIFF_QUERY || steps[axis].axis == DIFF_KEY)
            find_token(labels_of(diff, stage, &steps[axis], whole->shape[axis]), &steps[0], whole->shape[axis],
                       &steps[axis]);
    return rank;
}
