/* SPDX-License-Identifier: MIT */
/* The files of numbers of a case: names, dtypes and shapes, as a kernel takes them. attn itself takes heads side by
 * side where tokens come first, and splits to merge as attention. */
#include "cases/cases.h"

#include <string.h>

/* The name in files; NULL: there is no file. */
static const char *file_name(const struct case_row *row, const char *name)
{
    static const char *const MERGE[][2] = {{"value", "contexts"}, {"attn_mask", "lses"}};
    if (!case_has(row, CASE_MERGE))
        return name;
    for (size_t i = 0; i < 2; i++)
        if (strcmp(MERGE[i][0], name) == 0)
            return MERGE[i][1];
    return NULL;
}

/* B x T x H d becomes B x T x H x d; lses lose the axis of the query. */
static void shape_for_kernel(struct case_input *input, const struct case_row *row, const struct case_sizes *sizes,
                             const struct options *options)
{
    struct tensor *tensor = &input->tensor;
    const bool query = strcmp(input->name, "query") == 0, key = strcmp(input->name, "key") == 0;
    if (strcmp(input->name, "lses") == 0) {
        tensor->shape[2] = tensor->shape[3];
        tensor->rank = 3;
    } else if (options->layout == CASE_LAYOUT_BTHD && tensor->rank == 3 && !case_has(row, CASE_PACKED) &&
               (query || key || strcmp(input->name, "value") == 0)) {
        const size_t heads = query ? sizes->heads : sizes->kv_heads;
        tensor->shape[3] = tensor->shape[2] / heads;
        tensor->shape[2] = heads;
        tensor->rank = 4;
    }
}

size_t case_inputs(const struct case_row *row, const struct case_sizes *sizes, const struct options *options,
                   const struct job_files *drawn, const double *slopes, struct case_input *inputs)
{
    size_t count = 0;
    for (size_t file = 0; file < 4; file += 3)
        for (size_t i = 0; i < drawn->files[file].tensor_count; i++) {
            const struct file_tensor *from = &drawn->files[file].tensors[i];
            const bool real = dtype_is_working(from->tensor.dtype);
            const char *name = file_name(row, from->name);
            if (name == NULL)
                continue;
            inputs[count] =
                (struct case_input){name, real ? case_npy_dtype(options->dtype) : from->tensor.dtype, from->tensor};
            shape_for_kernel(&inputs[count++], row, sizes, options);
        }
    if (case_has(row, CASE_ALIBI)) {
        const struct tensor tensor = {1, {sizes->heads}, DTYPE_F64, (void *)(uintptr_t)slopes};
        inputs[count++] = (struct case_input){"alibi_slopes", case_sums(options->dtype), tensor};
    }
    return count;
}

/* Adds a result of that shape: the heads before the tokens, or after them. */
static void add_output(struct case_input *output, const char *name, enum dtype dtype, const struct case_row *row,
                       const struct case_sizes *sizes, bool last, size_t columns)
{
    const size_t apart[] = {sizes->items, sizes->heads, sizes->queries, columns};
    const size_t of_tokens[] = {sizes->items, sizes->queries, sizes->heads, columns};
    const bool packed = case_has(row, CASE_PACKED);
    const size_t rank = (packed ? 3U : 4U) - (columns == 0 ? 1U : 0U);
    *output = (struct case_input){.name = name, .dtype = dtype, .tensor.rank = rank};
    memcpy(output->tensor.shape, (last ? of_tokens : apart) + packed,
           output->tensor.rank * sizeof output->tensor.shape[0]);
}

size_t case_outputs(const struct case_row *row, const struct case_sizes *sizes, const struct options *options,
                    const struct case_input *inputs, size_t count, struct case_input outputs[CASES_MOST_RESULTS])
{
    static const char *const GRADS[][2] = {
        {"query", "grad_query"}, {"key", "grad_key"}, {"value", "grad_value"}, {"sinks", "grad_sinks"}};
    size_t made = 0;
    if (!case_has(row, CASE_GRAD)) {
        add_output(&outputs[made++], "context", case_npy_dtype(options->dtype), row, sizes,
                   case_heads_last(row, options), sizes->d_value);
        add_output(&outputs[made++], "lse", case_sums(options->dtype), row, sizes, false, 0);
    }
    for (size_t i = 0; i < 4 && case_has(row, CASE_GRAD); i++)
        for (size_t input = 0; input < count; input++)
            if (strcmp(inputs[input].name, GRADS[i][0]) == 0) {
                outputs[made] = inputs[input];
                outputs[made++].name = GRADS[i][1];
            }
    return made;
}
