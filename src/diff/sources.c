/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "model/mechanism.h"
#include "model/stages.h"

#include <string.h>

enum { NAME_BYTES = 128 };

static const unsigned ALIKE = INPUT_FILE_MASKING | INPUT_FILE_CACHE; /* what every mechanism may have */

bool diff_is_source(const struct input_file *input, const struct file_tensor *named)
{
    return !input->nameless && input->tensor_count > 1 && (input_file_kind(named->name) & INPUT_FILE_SOURCE) != 0;
}

/* Whether it is an operand that was given, or the gradient that the backward pass began at. */
static bool was_given(const struct input_file *input, enum stage stage)
{
    const enum mechanism mechanism = mechanism_find(input->mechanism);
    if (mechanism == MECHANISM_COUNT)
        return false;
    return STAGES[stage].operand ? !MECHANISMS[mechanism].projects : stage == mechanism_grad_stage(mechanism);
}

bool diff_is_given(const struct diff *diff, enum stage stage, bool both)
{
    const bool of_a = was_given(&diff->a.input, stage), of_b = was_given(&diff->b.input, stage);
    return both ? of_a && of_b : of_a || of_b;
}

static bool is_projected(const struct input_file *input)
{
    const enum mechanism mechanism = mechanism_find(input->mechanism);
    bool found = mechanism != MECHANISM_COUNT && MECHANISMS[mechanism].projects;
    for (size_t i = 0; i < input->tensor_count && !found; i++)
        found = diff_is_source(input, &input->tensors[i]) && (input_file_kind(input->tensors[i].name) & ALIKE) == 0;
    return found;
}

bool diff_is_projected(const struct diff *diff)
{
    return is_projected(&diff->a.input) || is_projected(&diff->b.input);
}

/* Whether the file holds all that it was made from, so that it never had what it lacks. */
static bool holds_sources(const struct input_file *input)
{
    const struct file_tensor *inputs = input_file_find(input, "inputs");
    return (inputs != NULL && diff_is_source(input, inputs)) || input_file_has_layout(input, INPUT_FILE_GIVEN);
}

/* Whether to report a source that one file alone has. */
static bool counts_alone(const struct diff *diff, const char *name)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    const bool same = a->mechanism == NULL || b->mechanism == NULL || strcmp(a->mechanism, b->mechanism) == 0;
    return holds_sources(a) && holds_sources(b) && (same || (input_file_kind(name) & ALIKE) != 0);
}

/* Keeps a pair that differs; NULL: the file does not have it. */
static enum status take_source(struct diff *diff, const char *name, const struct file_tensor *a,
                               const struct file_tensor *b)
{
    const bool inputs = (input_file_kind(name) & (INPUT_FILE_INPUTS | INPUT_FILE_KEYS)) != 0;
    struct diff_stage pair = diff_pair(diff, name, inputs ? STAGE_INPUTS : STAGE_PARAMETERS, a, b);
    if (a == NULL || b == NULL) {
        if (counts_alone(diff, name))
            diff->sources[diff->source_count++] = pair;
        return STATUS_OK;
    }
    if (a->tensor.rank == 0 || b->tensor.rank == 0 || a->part != NULL || b->part != NULL)
        return STATUS_OK;
    if (diff_align(diff, &pair) != STATUS_OK)
        return diff->error->status;
    if (diff_same_shape(&pair.a->tensor, &pair.b->tensor) &&
        dtype_is_boolean(pair.a->tensor.dtype) == dtype_is_boolean(pair.b->tensor.dtype))
        diff_compare(&pair);
    if (pair.comparison.count == 0 || pair.comparison.unequal > 0)
        diff->sources[diff->source_count++] = pair;
    return STATUS_OK;
}

/* The tensors of a file in their order there. */
static const struct file_tensor **in_order(const struct diff *diff, const struct input_file *input)
{
    const struct file_tensor **ordered =
        arena_allocate(diff->arena, input->tensor_count, sizeof ordered[0], diff->error);
    for (size_t i = 0; i < input->tensor_count && ordered != NULL; i++)
        ordered[input->tensors[i].order] = &input->tensors[i];
    return ordered;
}

static const struct file_tensor *find_source(const struct input_file *input, const char *name)
{
    const struct file_tensor *found = input_file_find(input, name);
    return found != NULL && diff_is_source(input, found) ? found : NULL;
}

/* The same parameter transposed: "W_query" for "W_query.weight" and back. */
static const struct file_tensor *find_transposed(const struct input_file *input, const char *name)
{
    static const char SUFFIX[] = ".weight";
    const size_t length = strlen(name), end = sizeof SUFFIX - 1;
    char transposed[NAME_BYTES];
    if (length + end >= sizeof transposed)
        return NULL;
    memcpy(transposed, name, length + 1);
    if (text_ends_in(name, SUFFIX))
        transposed[length - end] = '\0';
    else
        memcpy(transposed + length, SUFFIX, sizeof SUFFIX);
    const struct file_tensor *found = find_source(input, transposed);
    return found != NULL && found->tensor.rank == 2 ? found : NULL;
}

/* The tensor of B that A's is compared with. */
static enum status find_met(const struct diff *diff, const char *name, const struct file_tensor **met)
{
    *met = find_source(&diff->b.input, name);
    const struct file_tensor *transposed = *met == NULL ? find_transposed(&diff->b.input, name) : NULL;
    if (transposed == NULL)
        return STATUS_OK;
    const size_t rows = transposed->tensor.shape[0], columns = transposed->tensor.shape[1];
    *met = transposed;
    return diff_rearrange(diff, met, &(struct diff_axes){.rank = 2, .shape = {columns, rows}, .stride = {1, columns}});
}

/* Takes the sources of A, with those of B that meet them; or those of B that A does not have. */
static enum status take_all(struct diff *diff, bool of_b)
{
    const struct input_file *a = &diff->a.input, *input = of_b ? &diff->b.input : a;
    const struct file_tensor **ordered = in_order(diff, input);
    for (size_t i = 0; i < input->tensor_count && ordered != NULL; i++) {
        const struct file_tensor *named = ordered[i], *met = of_b ? named : NULL;
        if (!diff_is_source(input, named) ||
            (of_b && (find_source(a, named->name) != NULL || find_transposed(a, named->name) != NULL)))
            continue;
        if ((!of_b && find_met(diff, named->name, &met) != STATUS_OK) ||
            take_source(diff, named->name, of_b ? NULL : named, met) != STATUS_OK)
            return diff->error->status;
    }
    return ordered == NULL ? diff->error->status : STATUS_OK;
}

enum status diff_compare_sources(struct diff *diff)
{
    const size_t most = diff->count + diff->a.input.tensor_count + diff->b.input.tensor_count;
    diff->sources = arena_allocate(diff->arena, most, sizeof diff->sources[0], diff->error);
    if (diff->sources == NULL)
        return diff->error->status;
    for (size_t i = 0; i < diff->count; i++)
        if (diff_is_given(diff, diff->stages[i].stage, true) && diff->stages[i].comparison.unequal > 0)
            diff->sources[diff->source_count++] = diff->stages[i];
    return take_all(diff, false) || take_all(diff, true) ? diff->error->status : STATUS_OK;
}
