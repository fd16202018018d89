#include "read/safetensors.h"

#include "base/suggest.h"
#include "read/json_tree.h"
#include "tensor/tensor_bytes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Every whole number up to this one is a double, as cJSON holds it. */
static const double LARGEST_NUMBER = 0x1p53;

/* Where a tensor lies: bytes begin .. end of the data. */
struct extent {
    const char *name;
    size_t begin, end;
};

struct file {
    struct json_reader reader;
    unsigned kinds;
    bool sole; /* diff: the file has one tensor */
    const unsigned char *data;
    size_t size; /* of the data */
    struct extent *extents;
    size_t extent_count;
    struct input_file *input;
};

bool safetensors_begins(const unsigned char *bytes, size_t length)
{
    /* The upper half of an honest length is 0. JSON may have '{' as its ninth byte too, but after text. */
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
        return error_usage(reader->error, "%s: %s: %s: expected whole numbers, got %s", reader->source, reader->key,
                           what, item != NULL ? json_kind_name(item) : "too few");
    if (!(value >= 0 && value <= LARGEST_NUMBER && value == floor(value)))
        return error_usage(reader->error, "%s: %s: %s: %.16g is no size; expected a whole number from 0 to 2^53",
                           reader->source, reader->key, what, value);
    if (value > (double)(SIZE_MAX / 2))
        return error_usage(reader->error, "%s: %s: %s: %.0f is larger than any memory", reader->source, reader->key,
                           what, value);
    *number = (size_t)value;
    return STATUS_OK;
}

/* Only the first TENSOR_RANK sizes are kept: an ignored tensor may have more. *count is their product. */
static enum status take_shape(const struct json_reader *reader, const cJSON *shape, struct tensor_bytes *raw,
                              size_t *count)
{
    *count = 1;
    for (const cJSON *item = shape->child; item != NULL; item = item->next) {
        size_t size;
        if (take_number(reader, item, "shape", &size) != STATUS_OK)
            return reader->error->status;
        if (!memory_multiply(*count, size, count))
            return error_usage(reader->error, "%s: %s: its shape is larger than any memory", reader->source,
                               reader->key);
        if (raw->rank < TENSOR_RANK)
            raw->shape[raw->rank] = size;
        raw->rank++;
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
        return error_usage(reader->error, "%s: %s: data_offsets: expected 2 numbers, got %zu", reader->source,
                           reader->key, json_count(offsets));
    if (extent->begin > extent->end)
        return error_usage(reader->error, "%s: %s: data_offsets: %zu to %zu runs backwards", reader->source,
                           reader->key, extent->begin, extent->end);
    if (extent->end > file->size)
        return error_usage(reader->error, "%s: %s: data_offsets: %zu to %zu, but the data are %zu bytes%s",
                           reader->source, reader->key, extent->begin, extent->end, file->size,
                           "; the file is cut short or its header wrong");
    return STATUS_OK;
}

/* A tensor that counts must be one that can be computed with. */
static enum status check_usable(const struct json_reader *reader, const struct tensor_bytes *raw, size_t count,
                                const char *dtype)
{
    char list[DTYPE_LIST_BYTES];
    if (raw->dtype == DTYPE_COUNT)
        return error_usage(reader->error, "%s: %s: numbers of dtype '%.20s' are not read; expected %s", reader->source,
                           reader->key, dtype, dtype_list(dtype_safetensors, list));
    if (raw->rank == 0)
        return error_usage(reader->error, "%s: %s is a single number; expected a list or more", reader->source,
                           reader->key);
    if (raw->rank > TENSOR_RANK)
        return error_usage(reader->error, "%s: %s has %zu axes, expected at most %d", reader->source, reader->key,
                           raw->rank, TENSOR_RANK);
    if (count == 0)
        return error_usage(reader->error, "%s: %s is empty; expected numbers", reader->source, reader->key);
    return STATUS_OK;
}

static enum status check_size(const struct json_reader *reader, const struct tensor_bytes *raw, size_t count,
                              const struct extent *extent)
{
    size_t size = 0;
    if (raw->dtype == DTYPE_COUNT)
        return STATUS_OK; /* ignored: the place is all that can be checked */
    const bool fits = tensor_bytes_size(raw->dtype, count, &size);
    if (fits && size == extent->end - extent->begin)
        return STATUS_OK;
    return error_usage(reader->error, "%s: %s: data_offsets: %zu to %zu are %zu bytes, but shape and dtype need %s%zu",
                       reader->source, reader->key, extent->begin, extent->end, extent->end - extent->begin,
                       fits ? "" : "more than ", fits ? size : SIZE_MAX);
}

/* Sets the three members of a tensor's description: dtype, shape and data_offsets, in any order and nothing else. */
static enum status take_members(const struct json_reader *reader, const cJSON *item, const cJSON **members)
{
    static const char *const KEYS[] = {"dtype", "shape", "data_offsets"};
    if (!cJSON_IsObject(item))
        return error_usage(reader->error, "%s: %s: expected an object with dtype, shape and data_offsets, got %s",
                           reader->source, reader->key, json_kind_name(item));
    for (const cJSON *member = item->child; member != NULL; member = member->next) {
        int key = 0;
        while (key < 3 && strcmp(member->string, KEYS[key]) != 0)
            key++;
        if (key == 3 || members[key] != NULL)
            return error_usage(reader->error, "%s: %s: %s '%.80s'; expected dtype, shape and data_offsets, once each",
                               reader->source, reader->key, key == 3 ? "unknown key" : "a second", member->string);
        if (key == 0 ? !cJSON_IsString(member) : !cJSON_IsArray(member))
            return error_usage(reader->error, "%s: %s: %s: expected %s, got %s", reader->source, reader->key, KEYS[key],
                               key == 0 ? "a string" : "an array", json_kind_name(member));
        members[key] = member;
    }
    for (int key = 0; key < 3; key++)
        if (members[key] == NULL)
            return error_usage(reader->error, "%s: %s: no %s; expected dtype, shape and data_offsets", reader->source,
                               reader->key, KEYS[key]);
    return STATUS_OK;
}

static enum status add_tensor(struct file *file, const struct tensor_bytes *raw)
{
    const struct json_reader *reader = &file->reader;
    struct file_tensor *named = &file->input->tensors[file->input->tensor_count++];
    *named = (struct file_tensor){0};
    named->name = arena_text(reader->arena, reader->key, strlen(reader->key), reader->error);
    return named->name == NULL ? reader->error->status
                               : tensor_bytes_tensor(raw, &named->tensor, reader->arena, reader->error);
}

/* A name that attn does not know, beside others: nothing ever asks for what it holds. */
static enum status add_name(struct file *file)
{
    const struct json_reader *reader = &file->reader;
    struct file_tensor *named = &file->input->tensors[file->input->tensor_count++];
    *named = (struct file_tensor){0};
    named->name = arena_text(reader->arena, reader->key, strlen(reader->key), reader->error);
    return named->name == NULL ? reader->error->status : STATUS_OK;
}

/* A tensor is no label and no setting, but may have such a name in another program's file. */
static unsigned kind_of(const struct file *file, const char *name)
{
    const unsigned kind = input_file_kind_among(name, file->kinds);
    const bool foreign =
        (kind & (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS)) != 0 && (file->kinds & INPUT_FILE_FOREIGN) != 0;
    return foreign ? INPUT_FILE_FOREIGN : kind;
}

static enum status read_tensor(struct file *file, const cJSON *item)
{
    const struct json_reader *reader = &file->reader;
    const unsigned kind = kind_of(file, item->string);
    const cJSON *members[3] = {NULL};
    struct extent *extent = &file->extents[file->extent_count++];
    struct tensor_bytes raw = {0};
    size_t count;
    if (kind == INPUT_FILE_UNKNOWN)
        return input_file_unknown(reader->source, item->string, reader->error);
    if (kind == INPUT_FILE_TOKENS || kind == INPUT_FILE_SETTINGS ||
        (kind == INPUT_FILE_IGNORED && strcmp(item->string, "comment") != 0))
        return error_usage(reader->error, "%s: %s is a tensor; expected it as JSON text in " SAFETENSORS_METADATA,
                           reader->source, reader->key);
    if (take_members(reader, item, members) || take_shape(reader, members[1], &raw, &count) ||
        take_extent(file, members[2], extent))
        return reader->error->status;
    const char *dtype = members[0]->valuestring;
    raw.dtype =
        kind == INPUT_FILE_BUFFER && strcmp(dtype, "U8") == 0 ? DTYPE_BOOL : dtype_find(dtype_safetensors, dtype);
    const bool unread = kind == INPUT_FILE_FOREIGN && !file->sole;
    const bool first_past = count == 0 && kind == INPUT_FILE_CACHE && strncmp(item->string, "past_", 5) == 0;
    const bool counts = (kind & file->kinds) != 0 && !unread && !first_past; /* no past is one of 0 tokens */
    if (counts && check_usable(reader, &raw, count, dtype) != STATUS_OK)
        return reader->error->status;
    if (check_size(reader, &raw, count, extent) != STATUS_OK)
        return reader->error->status;
    if (unread)
        return add_name(file);
    raw.bytes = file->data + extent->begin;
    if (counts)
        return add_tensor(file, &raw);
    return first_past && (file->kinds & kind) != 0
               ? STATUS_OK
               : input_file_pass(file->input, item->string, reader->arena, reader->error);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct extent *left = a, *right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Every byte of the data belongs to one tensor. */
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
            return error_usage(error, "%s: of the data, %zu to %zu belong to no tensor, before %s; expected no holes",
                               source, end, extent->begin, extent->name);
        end = extent->end;
    }
    if (end == file->size)
        return STATUS_OK;
    return error_usage(error, "%s: the data are %zu bytes, but from %zu on they belong to no tensor", source,
                       file->size, end);
}

/* Tokens or settings: a member of __metadata__ whose text is JSON. */
static enum status read_text(const struct file *file, const cJSON *item, unsigned kind)
{
    enum { PLACE_BYTES = 256 };
    const struct json_reader *reader = &file->reader;
    char place[PLACE_BYTES];
    const size_t length = strlen(item->valuestring);
    char *text = arena_text(reader->scratch, item->valuestring, length, reader->error);
    snprintf(place, sizeof place, "%.200s: " SAFETENSORS_METADATA ": %s", reader->source, item->string);
    cJSON *value = text != NULL ? json_parse(reader, place, text, length) : NULL;
    if (value == NULL)
        return reader->error->status;
    enum status status = kind == INPUT_FILE_TOKENS ? json_read_tokens(reader, value, item->string,
                                                                      input_file_labels(file->input, item->string))
                                                   : json_read_settings(reader, value, file->input);
    cJSON_Delete(value);
    return status;
}

/* What attn says of a result is kept as it is. */
static enum status note_origin(const struct file *file, const cJSON *item)
{
    const struct json_reader *reader = &file->reader;
    struct input_file *input = file->input;
    const struct {
        const char *name, **text;
    } notes[] = {{"mechanism", &input->mechanism}, {"part", &input->part},     {"job", &input->job},
                 {"library", &input->library},     {"layout", &input->layout}, {"lacks", &input->lacks}};
    input->is_result = input->is_result || strcmp(item->string, "attn") == 0;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (strcmp(item->string, notes[i].name) == 0) {
            *notes[i].text = arena_text(reader->arena, item->valuestring, strlen(item->valuestring), reader->error);
            if (*notes[i].text == NULL)
                return reader->error->status;
        }
    return STATUS_OK;
}

/* Other programs put there what they like, but a name that is near to one of attn's is that one misspelt. */
static enum status check_key(const struct file *file, const char *key)
{
    static const char *const KEYS[] = {"tokens", "key_tokens", "settings"};
    const struct json_reader *reader = &file->reader;
    const char *near = suggest_word(key, KEYS, sizeof KEYS / sizeof KEYS[0]);
    if (near == NULL || strcmp(near, key) == 0 || (file->kinds & INPUT_FILE_FOREIGN) != 0)
        return STATUS_OK;
    return error_usage(reader->error, "%s: " SAFETENSORS_METADATA ": unknown key '%.80s'; did you mean '%s'?",
                       reader->source, key, near);
}

static enum status read_metadata(const struct file *file, const cJSON *metadata)
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
        if (check_key(file, item->string) || note_origin(file, item))
            return reader->error->status;
        if ((kind & file->kinds & (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS)) == 0)
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
    file->sole = count - (cJSON_GetObjectItemCaseSensitive(root, SAFETENSORS_METADATA) != NULL) == 1;
    file->extents = arena_allocate(reader->scratch, count, sizeof file->extents[0], reader->error);
    file->input->tensors = arena_allocate(reader->arena, count, sizeof file->input->tensors[0], reader->error);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    file->input->passed = arena_allocate(reader->arena, count, sizeof file->input->passed[0], reader->error);
    if (file->extents == NULL || file->input->tensors == NULL || file->input->passed == NULL)
        return reader->error->status;
    for (const cJSON *item = root->child; item != NULL; item = item->next) {
        reader->key = item->string;
        enum status status =
            strcmp(item->string, SAFETENSORS_METADATA) == 0 ? read_metadata(file, item) : read_tensor(file, item);
        if (status != STATUS_OK)
            return status;
    }
    input_file_sort(file->input);
    return check_extents(file);
}

/* The header's text, for json_parse; NULL where its length cannot be. */
static char *copy_header(const struct json_reader *reader, const unsigned char *bytes, size_t length, size_t *size)
{
    uint64_t header = 0;
    if (length < SAFETENSORS_LENGTH_BYTES) {
        error_usage(reader->error, "%s: begins like a .safetensors, but is cut short", reader->source);
        return NULL;
    }
    for (size_t i = SAFETENSORS_LENGTH_BYTES; i-- > 0;)
        header = header << 8 | bytes[i];
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

enum status safetensors_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds,
                             struct arena *arena, struct input_file *input, struct error *error)
{
    struct arena scratch = {0};
    struct file file = {
        .reader = {.source = source, .arena = arena, .scratch = &scratch, .error = error},
        .kinds = kinds,
        .input = input,
    };
    char place[256];
    size_t size = 0;
    *input = (struct input_file){.source = source};
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
