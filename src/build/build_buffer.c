/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#define APPLIED "; a mask to apply is \"attn_mask\""

enum { CHUNK = 256 };

/* Checks for 0 up to the diagonal and 1 above it: torch.triu(torch.ones(T, T), diagonal=1). */
static enum status check_numbers(const struct build *build, const char *source, const struct file_tensor *buffer)
{
    const size_t size = buffer->tensor.shape[0];
    double numbers[CHUNK];
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            if (column % CHUNK == 0)
                tensor_load(&buffer->tensor, row * size + column, memory_smaller(size - column, CHUNK), numbers);
            const double number = numbers[column % CHUNK], expected = column > row;
            if (number < expected || number > expected || number != number)
                return error_usage(build->error,
                                   "%s: %s: row %zu, column %zu: %g, expected %g: a causal buffer is 0 up to the "
                                   "diagonal and 1 above it" APPLIED,
                                   source, buffer->name, row + 1, column + 1, number, expected);
        }
    return STATUS_OK;
}

static enum status check_shape(const struct build *build, const char *source, const struct file_tensor *buffer)
{
    const struct tensor *tensor = &buffer->tensor;
    const size_t keys = memory_larger(build->problem->size.queries, build->problem->size.keys);
    const char *shape = SHAPE_TEXT(tensor);
    if (tensor->rank != 2 || tensor->shape[0] != tensor->shape[1])
        return error_usage(build->error, "%s: %s is %s, expected T x T, a module's causal buffer" APPLIED, source,
                           buffer->name, shape);
    if (tensor->shape[0] < keys)
        return error_usage(
            build->error,
            "%s: %s is %s, but inputs has %zu tokens; expected a causal buffer for as many or more" APPLIED, source,
            buffer->name, shape, keys);
    return STATUS_OK;
}

static enum status check_head(const struct build *build, const char *source, const char *name)
{
    const struct parameters_plan *plan = &build->problem->plan;
    size_t head;
    if (!input_file_head(name, &head) || (plan->stacked && head < plan->module_count))
        return STATUS_OK;
    if (!plan->stacked)
        return error_usage(build->error, "%s: %s does not belong here: separate heads need attn multihead --stacked",
                           source, name);
    return error_usage(build->error, "%s: %s does not belong here: of %zu head%s, the last is heads.%zu", source, name,
                       plan->module_count, plan->module_count == 1 ? "" : "s", plan->module_count - 1);
}

static enum status check_buffer(const struct build *build, const char *source, const struct file_tensor *buffer)
{
    const struct problem *problem = build->problem;
    if (!problem_projects(problem))
        return error_usage(build->error, "%s: %s is a module's causal buffer" APPLIED, source, buffer->name);
    if (!problem->mask.causal)
        return error_usage(build->error, "%s: %s is a module's causal buffer, but %s is not causal%s" APPLIED, source,
                           buffer->name, MECHANISMS[problem->mechanism].name,
                           MECHANISMS[problem->mechanism].splits ? " here" : "");
    return check_head(build, source, buffer->name) || check_shape(build, source, buffer) ||
                   check_numbers(build, source, buffer)
               ? build->error->status
               : STATUS_OK;
}

enum status build_buffers(const struct build *build)
{
    const struct input_file *files[] = {build->inputs, build->weights};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; files[i] != NULL && j < files[i]->tensor_count; j++)
            if (input_file_kind(files[i]->tensors[j].name) == INPUT_FILE_BUFFER &&
                check_buffer(build, files[i]->source, &files[i]->tensors[j]) != STATUS_OK)
                return build->error->status;
    return STATUS_OK;
}
