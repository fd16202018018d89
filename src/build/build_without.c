/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include <string.h>

struct cut {
    const struct build *build;
    const char *place;
    bool *out;    /* (count) */
    size_t count; /* tokens in the file */
    size_t staying;
};

/* The axis of tokens: the one before the columns. */
static size_t token_axis(const struct tensor *tensor)
{
    return tensor->rank - 2;
}

static bool is_operand(const char *name)
{
    return (input_file_kind(name) & (INPUT_FILE_INPUTS | INPUT_FILE_OPERAND)) != 0;
}

/* Counts the tokens of inputs, or of query, key and value, which must have equally many. */
static enum status count_tokens(struct cut *cut, const struct input_file *input)
{
    for (size_t i = 0; i < input->tensor_count; i++) {
        const struct file_tensor *named = &input->tensors[i];
        if (input_file_kind(named->name) & (INPUT_FILE_CACHE | INPUT_FILE_KEYS))
            return error_usage(cut->build->error,
                               "%s does not go with %s of %s: it removes tokens that are both query and key",
                               cut->place, named->name, input->source);
        if (!is_operand(named->name) || named->tensor.rank < 2)
            continue;
        const size_t tokens = named->tensor.shape[token_axis(&named->tensor)];
        if (cut->count != 0 && tokens != cut->count)
            return error_usage(cut->build->error,
                               "%s removes tokens that are both query and key; %s: expected %zu rows in %s, as "
                               "elsewhere, got %zu",
                               cut->place, input->source, cut->count, named->name, tokens);
        cut->count = tokens;
    }
    return STATUS_OK;
}

static enum status cut_axis(const struct cut *cut, struct tensor *tensor, size_t axis)
{
    const struct tensor whole = *tensor;
    size_t shape[TENSOR_RANK], outer = 1, inner = dtype_size(whole.dtype);
    memcpy(shape, whole.shape, sizeof shape);
    shape[axis] = cut->staying;
    for (size_t i = 0; i < axis; i++)
        outer *= whole.shape[i];
    for (size_t i = axis + 1; i < whole.rank; i++)
        inner *= whole.shape[i];
    if (tensor_create(tensor, whole.dtype, whole.rank, shape, cut->build->arena, cut->build->error) != STATUS_OK)
        return cut->build->error->status;
    const char *from = whole.data;
    char *to = tensor->data;
    for (size_t i = 0; i < outer; i++)
        for (size_t j = 0; j < whole.shape[axis]; j++, from += inner)
            if (!cut->out[j]) {
                memcpy(to, from, inner);
                to += inner;
            }
    return STATUS_OK;
}

/* Removes rows and columns of attn_mask; keeps a broadcast axis of 1. Rejects a mask with fewer columns than keys,
 * which a single remaining column would change. */
static enum status cut_mask(const struct cut *cut, struct tensor *mask)
{
    const size_t last = mask->rank - 1, columns = mask->shape[last];
    if (columns > 1 && columns < cut->count)
        return error_usage(cut->build->error, "%s: attn_mask has %zu columns for %zu keys; expected a full one",
                           cut->place, columns, cut->count);
    if (columns == cut->count && cut_axis(cut, mask, last) != STATUS_OK)
        return cut->build->error->status;
    return last > 0 && mask->shape[last - 1] == cut->count ? cut_axis(cut, mask, last - 1) : STATUS_OK;
}

static enum status cut_tensors(const struct cut *cut, struct input_file *input)
{
    const struct file_tensor *whole = input->tensors;
    input->tensors =
        arena_allocate(cut->build->arena, input->tensor_count, sizeof input->tensors[0], cut->build->error);
    if (input->tensors == NULL)
        return cut->build->error->status;
    for (size_t i = 0; i < input->tensor_count; i++) {
        struct file_tensor *named = &input->tensors[i];
        *named = whole[i];
        named->last_digit = NULL;
        if (is_operand(named->name) && named->tensor.rank >= 2 &&
            cut_axis(cut, &named->tensor, token_axis(&named->tensor)) != STATUS_OK)
            return cut->build->error->status;
        const size_t last = named->tensor.rank - 1;
        if (mask_reads(named->name) != MASK_RULE_COUNT && named->tensor.shape[last] == cut->count &&
            cut_axis(cut, &named->tensor, last) != STATUS_OK)
            return cut->build->error->status;
        if (strcmp(named->name, "attn_mask") == 0 && cut_mask(cut, &named->tensor) != STATUS_OK)
            return cut->build->error->status;
    }
    return STATUS_OK;
}

static enum status cut_labels(const struct cut *cut, struct input_file *input)
{
    const char **whole = input->tokens.texts;
    if (whole == NULL)
        return STATUS_OK;
    input->tokens.texts = arena_allocate(cut->build->arena, input->tokens.lists * cut->staying,
                                         sizeof input->tokens.texts[0], cut->build->error);
    if (input->tokens.texts == NULL)
        return cut->build->error->status;
    const char **to = input->tokens.texts;
    for (size_t i = 0; i < input->tokens.lists * cut->count; i++)
        if (!cut->out[i % cut->count])
            *to++ = whole[i];
    input->tokens.count = cut->staying;
    return STATUS_OK;
}

enum status build_without(const struct build *build, struct input_file *rest)
{
    char place[BUILD_PLACE_BYTES];
    const struct input_file *input = build->inputs;
    struct cut cut = {.build = build, .place = build_place(build, OPTION_WITHOUT, place, sizeof place)};
    *rest = *input;
    if (build->keys != NULL || input->key_tokens.texts != NULL)
        return error_usage(build->error,
                           "%s removes tokens that are both query and key, and here the keys have "
                           "their own; give an input without them",
                           place);
    if (count_tokens(&cut, input) != STATUS_OK)
        return build->error->status;
    if (cut.count == 0 || (input->tokens.texts != NULL && input->tokens.count != cut.count))
        return STATUS_OK; /* the input is wrong, and a later check says how */
    const struct build_tokens tokens = {input->tokens.texts, input->tokens.lists, input->tokens.count, cut.count, NULL};
    cut.out = arena_allocate(build->arena, cut.count, sizeof *cut.out, build->error);
    if (cut.out == NULL || build_list(build, place, build->options->without, &tokens, cut.out) != STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < cut.count; i++)
        cut.staying += !cut.out[i];
    if (cut.staying == 0)
        return error_usage(build->error, "%s %.80s leaves no token; name fewer", place, build->options->without);
    return cut_tensors(&cut, rest) || cut_labels(&cut, rest) ? build->error->status : STATUS_OK;
}
