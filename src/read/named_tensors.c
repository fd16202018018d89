/* SPDX-License-Identifier: MIT */
#include "read/named_tensors.h"

#include <string.h>

enum status named_tensors_read(binary_reader *read, const char *source, const unsigned char *bytes, size_t length,
                               unsigned kinds, struct arena *arena, struct input_file *input, struct error *error)
{
    struct named_tensors file = {.source = source, .kinds = kinds, .input = input, .arena = arena, .error = error};
    *input = (struct input_file){.source = source};
    return read(&file, bytes, length);
}

enum status named_tensors_begin(const struct named_tensors *file, size_t count)
{
    struct input_file *input = file->input;
    if (file->list != NULL) {
        file->list->count = 0;
        file->list->tensors = arena_allocate(file->arena, count, sizeof file->list->tensors[0], file->error);
        return file->list->tensors == NULL ? file->error->status : STATUS_OK;
    }
    input->tensors = arena_allocate(file->arena, count, sizeof input->tensors[0], file->error);
    input->passed = arena_allocate(file->arena, count, sizeof input->passed[0], file->error);
    return input->tensors == NULL || input->passed == NULL ? file->error->status : STATUS_OK;
}

enum status named_tensors_nameless(const struct named_tensors *file, const char *expected, struct named_tensor *tensor)
{
    *tensor = (struct named_tensor){.name = "inputs", .kind = INPUT_FILE_INPUTS, .use = NAMED_READ};
    const unsigned kinds = file->list == NULL ? file->kinds : 0; /* a list needs names */
    return input_file_nameless(file->input, kinds, expected, file->error) || named_tensors_begin(file, 1)
               ? file->error->status
               : STATUS_OK;
}

/* In another program's file a tensor may have the name of tokens or settings. */
static unsigned kind_of(const struct named_tensors *file, const char *name)
{
    const unsigned kind = input_file_kind_among(name, file->kinds);
    const bool foreign =
        (kind & (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS)) != 0 && (file->kinds & INPUT_FILE_FOREIGN) != 0;
    return foreign ? INPUT_FILE_FOREIGN : kind;
}

enum status named_tensors_use(const struct named_tensors *file, struct named_tensor *tensor)
{
    const unsigned kind = tensor->kind = file->list == NULL ? kind_of(file, tensor->name) : INPUT_FILE_UNKNOWN;
    tensor->use = NAMED_LIST;
    if (file->list != NULL)
        return STATUS_OK;
    if (kind == INPUT_FILE_UNKNOWN)
        return input_file_unknown(file->source, tensor->name, file->error);
    if (kind == INPUT_FILE_TOKENS || kind == INPUT_FILE_SETTINGS ||
        (kind == INPUT_FILE_IGNORED && strcmp(tensor->name, "comment") != 0))
        return error_usage(file->error, "%s: %s is a tensor; write it %s", file->source, tensor->name,
                           file->texts != NULL ? file->texts : "in JSON or .safetensors");
    tensor->use = kind == INPUT_FILE_FOREIGN && !file->sole ? NAMED_NAME
                  : (kind & file->kinds) != 0               ? NAMED_READ
                                                            : NAMED_PASS;
    return STATUS_OK;
}

bool named_tensor_is_usable(const struct named_tensor *tensor)
{
    const struct tensor_bytes *bytes = &tensor->bytes;
    return (tensor->block != NULL || bytes->dtype != DTYPE_COUNT) && bytes->rank > 0 && bytes->rank <= TENSOR_RANK &&
           tensor->count > 0;
}

enum status named_tensors_check(const struct named_tensors *file, struct named_tensor *tensor)
{
    const struct tensor_bytes *bytes = &tensor->bytes;
    const char *source = file->source, *name = tensor->name;
    if (tensor->is_byte && tensor->kind == INPUT_FILE_BUFFER)
        tensor->bytes.dtype = DTYPE_BOOL;
    if (tensor->use == NAMED_READ && tensor->kind == INPUT_FILE_CACHE && tensor->count == 0 && input_file_is_past(name))
        tensor->use = NAMED_DROP;
    if (tensor->use == NAMED_READ && (tensor->kind & INPUT_FILE_FOREIGN) != 0 && !file->sole &&
        !named_tensor_is_usable(tensor))
        tensor->use = NAMED_NAME; /* another program's tensor, under a known name */
    if (tensor->use != NAMED_READ)
        return STATUS_OK;
    if (bytes->dtype == DTYPE_COUNT)
        return error_usage(file->error, "%s: %s: attn does not read dtype '%.40s'; expected %s", source, name,
                           tensor->dtype, DTYPE_LIST(file->code));
    if (bytes->rank == 0)
        return error_usage(file->error, "%s: %s is a single number; expected a list or more", source, name);
    if (bytes->rank > TENSOR_RANK)
        return error_usage(file->error, "%s: %s has %zu axes, expected at most %d", source, name, bytes->rank,
                           TENSOR_RANK);
    if (tensor->count == 0)
        return error_usage(file->error, "%s: %s is empty; expected numbers", source, name);
    return STATUS_OK;
}

static enum status put_in_list(const struct named_tensors *file, const struct named_tensor *tensor)
{
    struct named_tensor *listed = &file->list->tensors[file->list->count++];
    *listed = *tensor;
    listed->source = file->source;
    listed->name = arena_copy(file->arena, tensor->name, file->error);
    listed->dtype = arena_copy(file->arena, tensor->dtype, file->error);
    return listed->name == NULL || listed->dtype == NULL ? file->error->status : STATUS_OK;
}

enum status named_tensors_put(const struct named_tensors *file, const struct named_tensor *tensor)
{
    if (tensor->use == NAMED_DROP) {
        file->input->empty_past = true;
        return STATUS_OK;
    }
    if (tensor->use == NAMED_LIST)
        return put_in_list(file, tensor);
    if (tensor->use == NAMED_PASS)
        return input_file_pass(file->input, tensor->name, file->arena, file->error);
    struct file_tensor *named = &file->input->tensors[file->input->tensor_count++];
    *named = (struct file_tensor){0};
    named->name = arena_copy(file->arena, tensor->name, file->error);
    if (named->name == NULL)
        return file->error->status;
    return tensor->use == NAMED_NAME ? STATUS_OK
                                     : tensor_bytes_tensor(&tensor->bytes, &named->tensor, file->arena, file->error);
}
