/* SPDX-License-Identifier: MIT */
#include "diff/diff.h"

#include "model/stages.h"
#include "read/file_part.h"

#include <string.h>

static const char NAMELESS[] = "tensor";

/* --- the two files ----------------------------------------------------------------------------------------------- */

static enum status read_side(const struct diff *diff, struct diff_side *side, const char *path)
{
    if (file_part_load(path, path, diff->options, INPUT_FILE_OF_DIFF, diff->arena, &side->input, diff->error))
        return diff->error->status;
    return side->input.tensor_count > 0
               ? diff_read_dtype(diff, side)
               : error_usage(diff->error, "%s: holds no tensor; expected a result, or one tensor", side->input.source);
}

static enum stage sole_stage(const struct input_file *input)
{
    const char *name = input->nameless ? "" : input->tensors[0].name;
    const enum stage stage = stage_find(name, strlen(name));
    return stage_exists(stage) ? stage : STAGE_NAMES;
}

/* --- one pair ---------------------------------------------------------------------------------------------------- */

static enum status check_comparable(struct diff *diff, const struct diff_stage *stage)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    char of_a[TENSOR_SHAPE_BYTES], of_b[TENSOR_SHAPE_BYTES];
    if (a->part != NULL && b->part != NULL && strcmp(a->part, b->part) != 0)
        return error_usage(diff->error, "%s: is part %.40s, expected %.40s (as %s)", b->source, b->part, a->part,
                           a->source);
    if (diff_same_shape(&stage->a->tensor, &stage->b->tensor))
        return STATUS_OK;
    const bool reordered = tensor_count(&stage->a->tensor) == tensor_count(&stage->b->tensor);
    return error_usage(diff->error, "%s: %s is %s, expected %s (as in %s)%s", b->source, stage->name,
                       tensor_shape_text(&stage->b->tensor, of_b), tensor_shape_text(&stage->a->tensor, of_a),
                       a->source,
                       reordered ? "; the same number of elements, in other axes" : diff_align_refusal(diff, stage));
}

/* Tables with as many rows of CSV must have the same rows. */
static enum status check_rows(struct diff *diff, const char *name, const struct file_tensor *a,
                              const struct file_tensor *b)
{
    size_t i = 0;
    if (a->rows == NULL || b->rows == NULL || a->row_count != b->row_count)
        return STATUS_OK;
    while (i < a->row_count && a->rows[i] == b->rows[i])
        i++;
    return i == a->row_count ? STATUS_OK
                             : error_usage(diff->error, "%s: %s has row %zu, expected row %zu (as in %s)",
                                           diff->b.input.source, name, b->rows[i], a->rows[i], diff->a.input.source);
}

static enum status add_stage(struct diff *diff, enum stage stage, const struct file_tensor *a,
                             const struct file_tensor *b)
{
    struct diff_stage *added = &diff->stages[diff->count];
    const char *name = !stage_exists(stage)                                ? NAMELESS
                       : STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS ? a->name
                                                                           : stage_name(stage);
    if (diff_cut_head(diff, stage, &a) || diff_cut_head(diff, stage, &b))
        return diff->error->status;
    if (a->part != NULL || b->part != NULL)
        return diff_add_part(diff, name, stage, a, b);
    if (diff_meet_heads(diff, stage, &a, &b) != STATUS_OK)
        return diff->error->status;
    *added = diff_pair(diff, name, stage, a, b);
    diff->count++;
    return check_rows(diff, name, a, b) || diff_align(diff, added) ? diff->error->status
                                                                   : check_comparable(diff, added);
}

/* --- comparing --------------------------------------------------------------------------------------------------- */

/* The nearest stage made from it that agrees, or that is itself undone by one that does. */
static enum stage find_undone_by(const struct diff *diff, size_t departing)
{
    for (size_t i = departing + 1; i < diff->count; i++)
        if (diff->stages[i].stage != diff->stages[departing].stage &&
            stage_follows(diff->stages[i].stage, diff->stages[departing].stage))
            return diff->stages[i].departs ? diff->stages[i].undone_by : diff->stages[i].stage;
    return STAGE_NAMES;
}

static void compare_stages(struct diff *diff)
{
    diff->first = diff->cause = diff->count;
    for (size_t i = diff->count; i-- > 0;) {
        struct diff_stage *stage = &diff->stages[i];
        diff_compare(stage);
        if (!stage->departs)
            continue;
        diff->first = i;
        stage->undone_by = find_undone_by(diff, i);
        diff->cause = stage->undone_by == STAGE_NAMES ? i : diff->cause;
    }
}

/* --- which stages ------------------------------------------------------------------------------------------------ */

/* The stage by its name; where --stages names one stage alone, also the only tensor of a file, whatever its name. */
static const struct file_tensor *find_asked(struct diff *diff, const struct input_file *input, enum stage stage)
{
    const struct file_tensor *found = input_file_find(input, stage_name(stage));
    return found == NULL && diff->options->stage_count == 1 ? diff_sole_tensor(input) : found;
}

/* Whether it is a gradient with respect to a parameter: these have their own names. */
static bool is_of_parameter(const struct file_tensor *named)
{
    return input_file_kind(named->name) == INPUT_FILE_STAGE &&
           stage_find(named->name, strlen(named->name)) == STAGE_NAMES;
}

/* Adds those of A that B has too; notes the others. */
static enum status add_parameters(struct diff *diff)
{
    for (size_t i = 0; i < diff->a.input.tensor_count; i++) {
        const struct file_tensor *a = &diff->a.input.tensors[i];
        const struct file_tensor *b = is_of_parameter(a) ? input_file_find(&diff->b.input, a->name) : NULL;
        if (b != NULL && add_stage(diff, STAGE_GRAD_PARAMETERS, a, b) != STATUS_OK)
            return diff->error->status;
        if (b == NULL && is_of_parameter(a))
            diff->only_a |= STAGE_BIT(STAGE_GRAD_PARAMETERS);
    }
    for (size_t i = 0; i < diff->b.input.tensor_count; i++)
        if (is_of_parameter(&diff->b.input.tensors[i]) &&
            input_file_find(&diff->a.input, diff->b.input.tensors[i].name) == NULL)
            diff->only_b |= STAGE_BIT(STAGE_GRAD_PARAMETERS);
    return STATUS_OK;
}

static enum status add_asked(struct diff *diff)
{
    const struct options *options = diff->options;
    const struct input_file *file_a = &diff->a.input, *file_b = &diff->b.input;
    uint64_t asked = 0;
    for (size_t i = 0; i < options->stage_count; i++)
        asked |= STAGE_BIT(options->stages[i]);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        if ((asked & STAGE_BIT(stage)) == 0)
            continue;
        if (STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS) {
            const size_t before = diff->count;
            if (add_parameters(diff) != STATUS_OK)
                return diff->error->status;
            if (diff->count == before)
                return diff_lacks_stage(diff, file_a, stage);
            continue;
        }
        const struct file_tensor *a = find_asked(diff, file_a, stage), *b = find_asked(diff, file_b, stage);
        if (diff->head > 0 && STAGES[stage].joins_heads)
            return error_usage(diff->error, "--stages: %s is of all heads; leave it out, or --head", stage_name(stage));
        if (a == NULL || b == NULL)
            return diff_lacks_stage(diff, a == NULL ? file_a : file_b, stage);
        if (add_stage(diff, stage, a, b) != STATUS_OK)
            return diff->error->status;
    }
    return STATUS_OK;
}

/* The stages that either file holds and that were not compared. */
static uint64_t left_stages(const struct diff *diff)
{
    uint64_t left = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (input_file_find(&diff->a.input, stage_name(stage)) != NULL ||
            input_file_find(&diff->b.input, stage_name(stage)) != NULL)
            left |= STAGE_BIT(stage);
    for (size_t i = 0; i < diff->count; i++)
        if (stage_exists(diff->stages[i].stage))
            left &= ~STAGE_BIT(diff->stages[i].stage);
    return left;
}

/* Compares two files with one tensor each: at most one of them is a stage by its name, and neither is known as
 * something else. */
static enum status add_sole(struct diff *diff)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    if (diff_sole_tensor(a) == NULL || diff_sole_tensor(b) == NULL)
        return diff_nothing_in_common(diff);
    const enum stage of_a = sole_stage(a), of_b = sole_stage(b);
    const bool known = (of_a == STAGE_NAMES && !diff_is_bare(a)) || (of_b == STAGE_NAMES && !diff_is_bare(b));
    if (known || (of_a != STAGE_NAMES && of_b != STAGE_NAMES))
        return diff_nothing_in_common(diff);
    return add_stage(diff, of_a != STAGE_NAMES ? of_a : of_b, diff_sole_tensor(a), diff_sole_tensor(b));
}

/* Notes a stage that one file alone has; the other one may have it under a wrong name. */
static void note_lacking(struct diff *diff, enum stage stage, bool in_a)
{
    const char *near = diff_misspelt(in_a ? &diff->a.input : &diff->b.input, stage);
    *(in_a ? &diff->only_b : &diff->only_a) |= STAGE_BIT(stage);
    if (diff->misspelt != NULL || near == NULL)
        return;
    diff->misspelt = near;
    diff->misspelt_in_a = in_a;
    diff->meant = stage;
}

static enum status add_common(struct diff *diff)
{
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const struct file_tensor *a = input_file_find(&diff->a.input, stage_name(stage)),
                                 *b = input_file_find(&diff->b.input, stage_name(stage));
        if (diff->head > 0 && STAGES[stage].joins_heads)
            continue;
        if (a != NULL && b != NULL && add_stage(diff, stage, a, b) != STATUS_OK)
            return diff->error->status;
        if ((a == NULL) != (b == NULL))
            note_lacking(diff, stage, a == NULL);
    }
    if (add_parameters(diff) != STATUS_OK)
        return diff->error->status;
    if (diff->count > 0)
        return STATUS_OK;
    diff->only_a = diff->only_b = 0;
    return add_sole(diff);
}

enum status diff_results(struct diff *diff, const struct options *options, struct arena *arena, struct error *error)
{
    *diff = (struct diff){.options = options, .arena = arena, .error = error};
    if (read_side(diff, &diff->a, options->files[0]) || read_side(diff, &diff->b, options->files[1]) ||
        diff_round_texts(diff) || diff_align_tokens(diff) || diff_choose_head(diff))
        return error->status;
    diff->stages = arena_allocate(arena, (1 + FILE_TOTALS) * (STAGE_COUNT + diff->a.input.tensor_count),
                                  sizeof diff->stages[0], error);
    if (diff->stages == NULL || (options->stage_count > 0 ? add_asked(diff) : add_common(diff)) != STATUS_OK)
        return error->status;
    diff->left = left_stages(diff);
    compare_stages(diff);
    return diff_compare_sources(diff) ? error->status : diff_observe(diff);
}

bool diff_agrees(const struct diff *diff)
{
    return diff->first == diff->count && diff->only_a == 0 && !diff_lacks_token(diff);
}
