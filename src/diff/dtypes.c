/* SPDX-License-Identifier: MIT */
#include "diff/pair.h"

#include "base/decimal.h"

#include <math.h>

static const char *working_name(enum dtype dtype)
{
    return dtype_is_working(dtype) ? dtype_name(dtype) : NULL;
}

static const char *working_title(enum dtype dtype)
{
    return dtype_is_working(dtype) ? dtype_title(dtype) : NULL;
}

enum status diff_read_dtype(const struct diff *diff, struct diff_side *side)
{
    char list[DTYPE_LIST_BYTES];
    const char *text = input_file_setting(&side->input, "dtype");
    side->dtype = DTYPE_F32;
    side->unstated = text == NULL && side->input.is_text;
    if (text == NULL || !side->input.is_text)
        return STATUS_OK;
    const enum dtype named = dtype_find(working_name, text);
    side->dtype = named != DTYPE_COUNT ? named : dtype_find(working_title, text);
    return side->dtype != DTYPE_COUNT ? STATUS_OK
                                      : error_usage(diff->error, "%s: settings: dtype: '%.80s' is unknown; expected %s",
                                                    side->input.source, text, dtype_list(working_name, list));
}

/* The dtype of the tensor that it is compared with: the one of its name, or the only one of the file. */
static enum dtype dtype_met(const struct diff_side *other, const struct file_tensor *named)
{
    const struct file_tensor *met = input_file_find(&other->input, named->name);
    met = met == NULL && other->input.tensor_count == 1 ? &other->input.tensors[0] : met;
    if (other->input.is_text || met == NULL)
        return other->dtype;
    return dtype_is_working(met->tensor.dtype) ? met->tensor.dtype : DTYPE_F32;
}

/* Whether a decimal, to its last digit, is a number of the dtype, or the shortest decimal that reads back as one. */
static bool is_number_of(enum dtype dtype, double decimal, int last_digit)
{
    char text[DECIMAL_BYTES];
    double rounded = decimal, shortest;
    dtype_round(dtype, &rounded, 1);
    if (rounded == decimal || !isfinite(decimal))
        return true;
    if (!isfinite(rounded))
        return false;
    if (last_digit != INT16_MIN && fabs(rounded - decimal) <= 0.5 * pow(10, last_digit))
        return true;
    return decimal_to_double(text, dtype_decimal(dtype, rounded, text), &shortest) && shortest == decimal;
}

static enum dtype dtype_for(const struct diff_side *side, const struct diff_side *other,
                            const struct file_tensor *named)
{
    const enum dtype dtype = side->unstated ? dtype_met(other, named) : side->dtype;
    const size_t count = named->tensor.dtype == DTYPE_F64 ? tensor_count(&named->tensor) : 0;
    const double *numbers = named->tensor.data;
    for (size_t i = 0; i < count && side->unstated; i++)
        if (!is_number_of(dtype, numbers[i], named->last_digit != NULL ? named->last_digit[i] : INT16_MIN))
            return DTYPE_F32;
    return dtype;
}

static enum status round_text(const struct diff *diff, struct diff_side *side, const struct diff_side *other)
{
    struct input_file *input = &side->input;
    bool finite;
    for (size_t i = 0; i < input->tensor_count && input->is_text; i++) {
        struct file_tensor *named = &input->tensors[i];
        if (named->tensor.rank == 0 || dtype_is_boolean(named->tensor.dtype))
            continue;
        named->stated = dtype_for(side, other, named);
        if (!diff_is_source(input, named) &&
            tensor_convert(&named->tensor, named->stated, input->source, input->nameless ? "the table" : named->name,
                           &finite, &named->tensor, diff->arena, diff->error) != STATUS_OK)
            return diff->error->status;
    }
    return STATUS_OK;
}

enum status diff_round_texts(struct diff *diff)
{
    return round_text(diff, &diff->a, &diff->b) || round_text(diff, &diff->b, &diff->a) ? diff->error->status
                                                                                        : STATUS_OK;
}
