/* SPDX-License-Identifier: MIT */
#include "read/safetensors.h"

#include "base/suggest.h"
#include "read/json_tree.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* cJSON's doubles hold every whole number up to this one. */
static const double LARGEST_NUMBER = 0x1p53;

/* Bytes begin .. end of the data, those of a tensor. */
struct extent {
    const char *name;
    size_t begin, end;
};

struct file {
    struct json_reader reader;
    struct named_tensors tensors;
    const unsigned char *data;
    size_t size; /* of the data */
    struct extent *extents;
    size_t extent_count;
};

bool safetensors_begins(const unsigned char *bytes, size_t length)
{
    /* The upper half of a real length is 0. JSON may have '{' as its ninth byte too, but after text. */
    if (length <= SAFETENSORS_LENGTH_BYTES)
        return length > SAFETENSORS_LENGTH_BYTES / 2 && bytes[SAFETENSORS_LENGTH_BYTES / 2] == 0;
    const unsigned char highest = bytes[SAFETENSORS_LENGTH_BYTES - 1];
    const bool text = highest == '\t' || highest == '\n' || highest == '\r' || (highest >= 0x20 && highest < 0x7f);
    return bytes[SAFETENSORS_LENGTH_BYTES] == '{' && !text;
}

/* --- one tensor -------------------------------------------------------------------------------------------------- */

static enum status take_number(const struct json_reader *reader, const cJSON *item, const char *what, size_t *number)
{
    const double value = item != NULL ? item->valuedouble : -1;
    if (item == NULL || !cJSON_IsNumber(item))
        return json_wrong(reader, "%s: expected whole numbers, got %s", what,
                          item != NULL ? json_kind_name(item) : "too few");
    if (!(value >= 0 && value <= LARGEST_NUMBER && value == floor(value)))
        return json_wrong(reader, "%s: %.16g is not a size; expected a whole number from 0 to 2^53", what, value);
    if (value > (double)(SIZE_MAX / 2))
        return json_wrong(reader, "%s: %.0f is larger than any memory", what, value);
    *number = (size_t)value;
    return STATUS_OK;
}

/* Only the first TENSOR_RANK sizes are kept: an ignored tensor may have more. */
static enum status take_shape(const struct json_reader *reader, const cJSON *shape, struct named_tensor *tensor)
{
    struct tensor_bytes *bytes = &tensor->bytes;
    tensor->count = 1;
    for (const cJSON *item = shape->child; item != NULL; item = item->next) {
        size_t size;
        if (take_number(reader, item, "shape", &size) != STATUS_OK)
            return reader->error->status;
        tensor->count = memory_product(tensor->count, size);
        if (tensor->count == SIZE_MAX)
            return json_wrong(reader, "its shape is larger than any memory");
        if (bytes->rank < TENSOR_RANK)
            bytes->shape[bytes->rank] = size;
        bytes->rank++;
    }
    return STATUS_OK;
}

static enum status take_extent(const struct file *file, const cJSON *offsets, struct extent *extent)
{
    const struct json_reader *reader = &file->reader;
    const cJSON *first = offsets->child, *second = first != NULL ? first->next : NULL;
    extent->name = reader->key;
    if (take_number(reader, first, "data_offsets", &extent->begin) ||
        take_number(reader, second, "data_offsets", &extent->end))
        return reader->error->status;
    if (second != NULL && second->next != NULL)
        return json_wrong(reader, "data_offsets: expected 2 numbers, got %zu", json_count(offsets));
    if (extent->begin > extent->end)
        return json_wrong(reader, "data_offsets: %zu to %zu runs backwards", extent->begin, extent->end);
    if (extent->end > file->size)
        return json_wrong(reader, "data_offsets: %zu to %zu, but the data are %zu bytes%s", extent->begin, extent->end,
                          file->size, "; the file is cut short or its header wrong");
    return STATUS_OK;
}

static enum status check_size(const struct json_reader *reader, const struct named_tensor *tensor,
                              const struct extent *extent)
{
    if (tensor->bytes.dtype == DTYPE_COUNT)
        return STATUS_OK; /* ignored: only the extent can be checked */
    const size_t size = memory_product(tensor->count, dtype_size(tensor->bytes.dtype));
    if (size == extent->end - extent->begin)
        return STATUS_OK;
    return json_wrong(reader, "data_offsets: %zu to %zu are %zu bytes, but shape and dtype need %s%zu", extent->begin,
                      extent->end, extent->end - extent->begin, size < SIZE_MAX ? "" : "more than ", size);
}

/* Reads the three members of a tensor's description, dtype, shape and data_offsets, in any order. */
static enum status take_members(const struct json_reader *reader, const cJSON *item, const cJSON **members)
{
    static const char *const KEYS[] = {"dtype", "shape", "data_offsets"};
    if (!cJSON_IsObject(item))
        return json_wrong(reader, "expected an object with dtype, shape and data_offsets, got %s",
                          json_kind_name(item));
    for (const cJSON *member = item->child; member != NULL; member = member->next) {
        int key = 0;
        while (key < 3 && strcmp(member->string, KEYS[key]) != 0)
            key++;
        if (key == 3 || members[key] != NULL)
            return json_wrong(reader, "%s '%.80s'; expected dtype, shape and data_offsets, once each",
                              key == 3 ? "unknown key" : "a second", member->string);
        if (key == 0 ? !cJSON_IsString(member) : !cJSON_IsArray(member))
            return json_wrong(reader, "%s: expected %s, got %s", KEYS[key], key == 0 ? "a string" : "an array",
                              json_kind_name(member));
        members[key] = member;
    }
    for (int key = 0; key < 3; key++)
        if (members[key] == NULL)
            return json_wrong(reader, "no %s; expected dtype, shape and data_offsets", KEYS[key]);
    return STATUS_OK;
}

static enum status read_tensor(struct file *file, const cJSON *item)
{
    const struct json_reader *reader = &file->reader;
    const cJSON *members[3] = {NULL};
    struct extent *extent = &file->extents[file->extent_count++];
    struct named_tensor tensor = {.name = item->string};
    if (named_tensors_use(&file->tensors, &tensor) || take_members(reader, item, members) ||
        take_shape(reader, members[1], &tensor) || take_extent(file, members[2], extent))
        return reader->error->status;
    tensor.dtype = members[0]->valuestring;
    tensor.is_byte = strcmp(tensor.dtype, "U8") == 0;
    tensor.bytes.dtype = dtype_find(dtype_safetensors, tensor.dtype);
    tensor.bytes.bytes = file->data + extent->begin;
    tensor.size = extent->end - extent->begin;
    if (named_tensors_check(&file->tensors, &tensor) || check_size(reader, &tensor, extent))
        return reader->error->status;
    return named_tensors_put(&file->tensors, &tensor);
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct extent *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Checks that every byte of the data belongs to one tensor. */
static enum status check_extents(struct file *file)
{
    struct error *error = file->reader.error;
    const char *source = file->reader.source;
    size_t end = 0;
    qsort(file->extents, file->extent_count, sizeof file->extents[0], by_place);
    for (size_t i = 0; i < file->extent_count; i++) {
        const struct extent *extent = &file->extents[i];
        if (extent->begin < end)
            return error_usage(error, "%s: %s overlaps %s: it begins at %zu, the other one ends at %zu", source,
                               extent->name, file->extents[i - 1].name, extent->begin, end);
        if (extent->begin > end)
            return error_usage(error, "%s: bytes %zu to %zu belong to no tensor, before %s; expected no gap", source,
                               end, extent->begin, extent->name);
        end = extent->end;
    }
    if (end == file->size)
        return STATUS_OK;
    return error_usage(error, "%s: the data are %zu bytes, but from %zu on they belong to no tensor", source,
                       file->size, end);
}

/* Tokens, the words of a vocabulary, or settings: a member of __metadata__ whose text is JSON. */
static enum status read_text(struct file *file, const cJSON *item, unsigned kind)
{
    enum { PLACE_BYTES = 256 };
    struct json_reader *reader = &file->reader;
    char place[PLACE_BYTES];
    const size_t length = strlen(item->valuestring);
    char *text = arena_text(reader->scratch, item->valuestring, length, reader->error);
    snprintf(place, sizeof place, "%.200s: " SAFETENSORS_METADATA ": %s", reader->source, item->string);
    cJSON *value = text != NULL ? json_parse(reader, place, text, length) : NULL;
    if (value == NULL)
        return reader->error->status;
    struct input_file *input = file->tensors.input;
    enum status status = kind == INPUT_FILE_TOKENS
                             ? json_read_tokens(reader, value, item->string, input_file_labels(input, item->string))
                         : kind == INPUT_FILE_WORDS
                             ? json_read_vocabulary(reader, value, false, input)
                             : json_read_settings(reader, value, item->string, &input->settings, &input->setting_count);
    cJSON_Delete(value);
    return status;
}

/* Other programs may add any key, but one that resembles a key of attn is a misspelling. */
static enum status check_key(const struct file *file, const char *key)
{
    static const char *const KEYS[] = {"tokens", "key_tokens", "head_names", "settings", "vocabulary"};
    const struct json_reader *reader = &file->reader;
    const char *near = suggest_word(key, KEYS, sizeof KEYS / sizeof KEYS[0]);
    if (near == NULL || strcmp(near, key) == 0 || (file->tensors.kinds & INPUT_FILE_FOREIGN) != 0)
        return STATUS_OK;
    return error_usage(reader->error, "%s: " SAFETENSORS_METADATA ": unknown key '%.80s'; did you mean '%s'?",
                       reader->source, key, near);
}

static enum status read_metadata(struct file *file, const cJSON *metadata)
{
    const struct json_reader *reader = &file->reader;
    if (!cJSON_IsObject(metadata))
        return error_usage(reader->error, "%s: " SAFETENSORS_METADATA ": expected an object, got %s", reader->source,
                           json_kind_name(metadata));
    if (json_check_repeated(reader, metadata, SAFETENSORS_METADATA ": ") != STATUS_OK)
        return reader->error->status;
    for (const cJSON *item = metadata->child; item != NULL; item = item->next) {
        const unsigned kind = input_file_kind(item->string);
        if (!cJSON_IsString(item))
            return error_usage(reader->error, "%s: " SAFETENSORS_METADATA ": %.80s: expected a string, got %s",
                               reader->source, item->string, json_kind_name(item));
        if (check_key(file, item->string) ||
            input_file_note(file->tensors.input, item->string, item->valuestring, reader->arena, reader->error))
            return reader->error->status;
        const bool vocabulary = strcmp(item->string, "vocabulary") == 0;
        if ((kind & file->tensors.kinds &
             (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | (vocabulary ? INPUT_FILE_WORDS : 0))) == 0)
            continue;
        if (read_text(file, item, kind) != STATUS_OK)
            return reader->error->status;
    }
    return STATUS_OK;
}

static enum status read_members(struct file *file, const cJSON *root)
{
    struct json_reader *reader = &file->reader;
    const size_t count = json_count(root);
    if (json_check_repeated(reader, root, "") != STATUS_OK)
        return reader->error->status;
    file->tensors.sole = count - (cJSON_GetObjectItemCaseSensitive(root, SAFETENSORS_METADATA) != NULL) == 1;
    file->extents = arena_allocate(reader->scratch, count, sizeof file->extents[0], reader->error);
    if (file->extents == NULL || named_tensors_begin(&file->tensors, count) != STATUS_OK)
        return reader->error->status;
    for (const cJSON *item = root->child; item != NULL; item = item->next) {
        reader->key = item->string;
        enum status status =
            strcmp(item->string, SAFETENSORS_METADATA) == 0 ? read_metadata(file, item) : read_tensor(file, item);
        if (status != STATUS_OK)
            return status;
    }
    input_file_sort(file->tensors.input);
    return check_extents(file);
}

/* A copy of the header for json_parse; NULL where its length is impossible. */
static char *copy_header(const struct json_reader *reader, const unsigned char *bytes, size_t length, size_t *size)
{
    if (length < SAFETENSORS_LENGTH_BYTES) {
        error_usage(reader->error, "%s: begins like a .safetensors, but is cut short", reader->source);
        return NULL;
    }
    const uint64_t header = memory_number(bytes, SAFETENSORS_LENGTH_BYTES);
    const size_t follow = length - SAFETENSORS_LENGTH_BYTES;
    if (header > SAFETENSORS_LONGEST_HEADER) {
        error_usage(reader->error, "%s: a header of %llu bytes; expected at most %d", reader->source,
                    (unsigned long long)header, SAFETENSORS_LONGEST_HEADER);
        return NULL;
    }
    if (header > follow) {
        error_usage(reader->error, "%s: a header of %llu bytes, but only %zu follow; the file is cut short",
                    reader->source, (unsigned long long)header, follow);
        return NULL;
    }
    *size = (size_t)header;
    return arena_text(reader->scratch, (const char *)bytes + SAFETENSORS_LENGTH_BYTES, *size, reader->error);
}

enum status safetensors_read(struct named_tensors *tensors, const unsigned char *bytes, size_t length)
{
    struct arena scratch = {0};
    struct error *error = tensors->error;
    const char *source = tensors->source;
    tensors->code = dtype_safetensors;
    tensors->texts = "as JSON text in " SAFETENSORS_METADATA;
    struct file file = {
        .reader = {.source = source, .arena = tensors->arena, .scratch = &scratch, .error = error},
        .tensors = *tensors,
    };
    char place[256];
    size_t size = 0;
    snprintf(place, sizeof place, "%.200s: header", source);
    char *header = copy_header(&file.reader, bytes, length, &size);
    cJSON *root = header != NULL ? json_parse(&file.reader, place, header, size) : NULL;
    enum status status = error->status;
    if (root != NULL) {
        file.data = bytes + SAFETENSORS_LENGTH_BYTES + size;
        file.size = length - SAFETENSORS_LENGTH_BYTES - size;
        status = cJSON_IsObject(root)
                     ? read_members(&file, root)
                     : error_usage(error, "%s: header: expected an object, got %s", source, json_kind_name(root));
    }
    cJSON_Delete(root);
    arena_free(&scratch);
    return status;
}
