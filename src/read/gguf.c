/* SPDX-License-Identifier: MIT */
#include "read/gguf.h"

#include "base/decimal.h"
#include "base/text.h"
#include "tensor/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[] = {'G', 'G', 'U', 'F'};

/* More than any model has; a file that says more is damaged. */
enum { MOST = 1 << 20, LONGEST_NAME = 1 << 16, USUAL_ALIGNMENT = 32 };

#define BYTES_OF(id, bytes) [GGUF_##id] = (bytes),
static const unsigned char TYPE_BYTES[] = {GGUF_TYPES(BYTES_OF)};
#undef BYTES_OF

/* Types of tensors by their number, as ggml names them. attn reads those that are a dtype of .safetensors, or a block
 * type. */
static const char *const TENSOR_TYPES[] = {
    "F32",   "F16",    "Q4_0",  "Q4_1", NULL,   NULL,      "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  NULL,     NULL,
    NULL,    "TQ1_0",  "TQ2_0", NULL,   NULL,   NULL,      "MXFP4",  "NVFP4",   "Q1_0"};

/* The header, being read. `what` is the value or tensor at hand, for messages. */
struct cursor {
    const char *source, *what;
    const unsigned char *bytes;
    size_t at, length;
    struct arena *arena;
    struct error *error;
};

bool gguf_begins(const unsigned char *bytes, size_t length)
{
    return length >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

/* --- pieces ------------------------------------------------------------------------------------------------------ */

static uint64_t load(const unsigned char *bytes, size_t size)
{
    uint64_t number = 0;
    while (size-- > 0)
        number = number << 8 | bytes[size];
    return number;
}

/* Moves past `count` things of `size` bytes; *bytes: the first one. */
static enum status take(struct cursor *cursor, uint64_t count, size_t size, const unsigned char **bytes)
{
    if (count > (cursor->length - cursor->at) / size)
        return error_usage(cursor->error, "%s: %.80s: the file ends within it; it is cut short or damaged",
                           cursor->source, cursor->what);
    *bytes = cursor->bytes + cursor->at;
    cursor->at += (size_t)count * size;
    return STATUS_OK;
}

static enum status take_number(struct cursor *cursor, size_t size, uint64_t *number)
{
    const unsigned char *bytes = NULL;
    if (take(cursor, 1, size, &bytes) != STATUS_OK)
        return cursor->error->status;
    *number = load(bytes, size);
    return STATUS_OK;
}

static enum status pass_text(struct cursor *cursor)
{
    uint64_t length = 0;
    const unsigned char *bytes = NULL;
    return take_number(cursor, 8, &length) || take(cursor, length, 1, &bytes) ? cursor->error->status : STATUS_OK;
}

/* The name of a value or tensor, in the arena. */
static enum status take_name(struct cursor *cursor, const char **name)
{
    uint64_t length = 0;
    const unsigned char *bytes = NULL;
    if (take_number(cursor, 8, &length) != STATUS_OK)
        return cursor->error->status;
    if (length == 0 || length > LONGEST_NAME)
        return error_usage(cursor->error, "%s: %.80s: a name of %llu bytes; expected 1 to %d", cursor->source,
                           cursor->what, (unsigned long long)length, LONGEST_NAME);
    if (take(cursor, length, 1, &bytes) != STATUS_OK)
        return cursor->error->status;
    if (memchr(bytes, '\0', (size_t)length) != NULL)
        return error_usage(cursor->error, "%s: %.80s: a name with a zero byte; the file is damaged", cursor->source,
                           cursor->what);
    *name = arena_text(cursor->arena, (const char *)bytes, (size_t)length, cursor->error);
    return *name == NULL ? cursor->error->status : STATUS_OK;
}

/* --- metadata ---------------------------------------------------------------------------------------------------- */

static enum status take_type(struct cursor *cursor, enum gguf_type *type)
{
    uint64_t number = 0;
    if (take_number(cursor, 4, &number) != STATUS_OK)
        return cursor->error->status;
    if (number >= GGUF_TYPE_COUNT)
        return error_usage(cursor->error, "%s: %.80s: a value of type %llu; expected 0 to %d", cursor->source,
                           cursor->what, (unsigned long long)number, GGUF_TYPE_COUNT - 1);
    *type = (enum gguf_type)number;
    return STATUS_OK;
}

static enum status take_value(struct cursor *cursor, struct gguf_value *value)
{
    uint64_t count = 1;
    if (take_name(cursor, &value->name) != STATUS_OK)
        return cursor->error->status;
    cursor->what = value->name;
    if (take_type(cursor, &value->type) != STATUS_OK)
        return cursor->error->status;
    value->is_array = value->type == GGUF_ARRAY;
    if (value->is_array && (take_type(cursor, &value->type) || take_number(cursor, 8, &count)))
        return cursor->error->status;
    if (value->type == GGUF_ARRAY)
        return error_usage(cursor->error, "%s: %.80s: an array of arrays; expected numbers or texts", cursor->source,
                           cursor->what);
    value->bytes = cursor->bytes + cursor->at;
    const size_t size = TYPE_BYTES[value->type];
    const unsigned char *bytes = NULL;
    if (size > 0 && take(cursor, count, size, &bytes) != STATUS_OK)
        return cursor->error->status;
    for (uint64_t i = 0; i < count && size == 0; i++)
        if (pass_text(cursor) != STATUS_OK)
            return cursor->error->status;
    value->count = (size_t)count;
    return STATUS_OK;
}

/* Checks that no name of the sorted items occurs twice. */
static enum status check_names(const struct cursor *cursor, const void *items, size_t count, size_t size)
{
    const char *previous = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)items + i * size, sizeof name);
        if (previous != NULL && strcmp(previous, name) == 0)
            return error_usage(cursor->error, "%s: %.200s is in it twice; expected it once", cursor->source, name);
        previous = name;
    }
    return STATUS_OK;
}

static enum status take_values(struct cursor *cursor, size_t count, struct gguf *gguf)
{
    gguf->values = arena_allocate(cursor->arena, count, sizeof gguf->values[0], cursor->error);
    if (gguf->values == NULL)
        return cursor->error->status;
    for (; gguf->count < count; gguf->count++) {
        cursor->what = "metadata";
        if (take_value(cursor, &gguf->values[gguf->count]) != STATUS_OK)
            return cursor->error->status;
    }
    text_sort(gguf->values, count, sizeof gguf->values[0]);
    return check_names(cursor, gguf->values, count, sizeof gguf->values[0]);
}

const struct gguf_value *gguf_find(const struct gguf *gguf, const char *name)
{
    return text_find(name, gguf->values, gguf->count, sizeof gguf->values[0]);
}

double gguf_number(const struct gguf_value *value, size_t i)
{
    const size_t size = TYPE_BYTES[value->type];
    const uint64_t bits = load(value->bytes + i * size, size);
    const uint32_t low = (uint32_t)bits;
    char text[DECIMAL_BYTES];
    float single;
    double number;
    switch (value->type) {
    case GGUF_F32:
        memcpy(&single, &low, sizeof single);
        if (!isfinite(single))
            return (double)single;
        decimal_from_float(single, text);
        return strtod(text, NULL);
    case GGUF_F64:
        memcpy(&number, &bits, sizeof number);
        return number;
    case GGUF_I8:
        return (int8_t)bits;
    case GGUF_I16:
        return (int16_t)bits;
    case GGUF_I32:
        return (int32_t)bits;
    case GGUF_I64:
        return (double)(int64_t)bits;
    default:
        return (double)bits;
    }
}

const char *gguf_text(const struct gguf_value *value, struct arena *arena, struct error *error)
{
    return arena_text(arena, (const char *)value->bytes + 8, (size_t)load(value->bytes, 8), error);
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

/* Sizes are stored the last axis first. */
static enum status take_shape(struct cursor *cursor, struct named_tensor *tensor, size_t *row)
{
    enum { AXES = 4 };
    uint64_t rank = 0, sizes[AXES];
    if (take_number(cursor, 4, &rank) != STATUS_OK)
        return cursor->error->status;
    if (rank > AXES)
        return error_usage(cursor->error, "%s: %.80s: %llu axes; expected at most %d", cursor->source, cursor->what,
                           (unsigned long long)rank, AXES);
    tensor->bytes.rank = (size_t)rank;
    tensor->count = 1;
    for (size_t i = 0; i < rank; i++)
        if (take_number(cursor, 8, &sizes[i]) != STATUS_OK)
            return cursor->error->status;
        else if (sizes[i] > SIZE_MAX || !memory_multiply(tensor->count, (size_t)sizes[i], &tensor->count))
            return error_usage(cursor->error, "%s: %.80s: its shape is larger than any memory", cursor->source,
                               cursor->what);
    for (size_t i = 0; i < rank && i < TENSOR_RANK; i++)
        tensor->bytes.shape[i] = (size_t)sizes[rank - 1 - i];
    *row = rank > 0 ? (size_t)sizes[0] : 1;
    return STATUS_OK;
}

/* *size: the bytes of a tensor; 0 where attn does not know its type. */
static enum status measure(const struct cursor *cursor, const struct named_tensor *tensor, size_t row, size_t *size)
{
    const struct tensor_bytes *bytes = &tensor->bytes;
    const enum block block = block_find(tensor->dtype);
    bool fits = true;
    *size = 0;
    if (bytes->dtype != DTYPE_COUNT)
        fits = tensor_bytes_size(bytes->dtype, tensor->count, size);
    else if (tensor->blocked && row % block_numbers(block) != 0)
        return error_usage(cursor->error, "%s: %.80s: rows of %zu numbers; expected a multiple of %zu, a block of %s",
                           cursor->source, cursor->what, row, block_numbers(block), tensor->dtype);
    else if (tensor->blocked)
        fits = memory_multiply(tensor->count / block_numbers(block), block_bytes(block), size);
    return fits ? STATUS_OK
                : error_usage(cursor->error, "%s: %.80s: its shape is larger than any memory", cursor->source,
                              cursor->what);
}

static enum status take_tensor(struct cursor *cursor, struct named_tensor *tensor, uint64_t *offset)
{
    uint64_t type = 0;
    size_t row = 1;
    *tensor = (struct named_tensor){.use = NAMED_LIST};
    cursor->what = "descriptions of tensors";
    if (take_name(cursor, &tensor->name) != STATUS_OK)
        return cursor->error->status;
    cursor->what = tensor->name;
    if (take_shape(cursor, tensor, &row) || take_number(cursor, 4, &type) || take_number(cursor, 8, offset))
        return cursor->error->status;
    const char *known = type < sizeof TENSOR_TYPES / sizeof TENSOR_TYPES[0] ? TENSOR_TYPES[type] : NULL;
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)type);
    tensor->dtype = known != NULL ? known : arena_copy(cursor->arena, number, cursor->error);
    if (tensor->dtype == NULL)
        return cursor->error->status;
    tensor->source = cursor->source;
    tensor->bytes.dtype = dtype_find(dtype_safetensors, tensor->dtype);
    tensor->blocked = block_find(tensor->dtype) != BLOCK_COUNT;
    return measure(cursor, tensor, row, &tensor->size);
}

/* Tensors begin at multiples of the alignment, counted from the first multiple after the header. */
static enum status find_alignment(const struct cursor *cursor, const struct gguf *gguf, size_t *alignment)
{
    const struct gguf_value *value = gguf_find(gguf, "general.alignment");
    const double said = value == NULL                                 ? USUAL_ALIGNMENT
                        : value->type == GGUF_U32 && !value->is_array ? gguf_number(value, 0)
                                                                      : 0;
    *alignment = (size_t)said;
    return said > 0 && said <= MOST && (*alignment & (*alignment - 1)) == 0
               ? STATUS_OK
               : error_usage(cursor->error, "%s: general.alignment: expected a power of two, of type uint32",
                             cursor->source);
}

/* Puts the data of a tensor where its offset says. */
static enum status place(const struct cursor *cursor, struct named_tensor *tensor, uint64_t offset, size_t alignment,
                         size_t start)
{
    if (offset % alignment != 0)
        return error_usage(cursor->error, "%s: %.200s: its data begin at %llu; expected a multiple of %zu",
                           cursor->source, tensor->name, (unsigned long long)offset, alignment);
    const size_t all = memory_left(cursor->length, start);
    if (offset > all || tensor->size > all - offset)
        return error_usage(cursor->error,
                           "%s: %.200s: its data are %zu bytes from %llu on, but the file has %zu; it is cut short",
                           cursor->source, tensor->name, tensor->size, (unsigned long long)offset, all);
    tensor->bytes.bytes = cursor->bytes + start + offset;
    return STATUS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct named_tensor *left = a, *right = b;
    if (left->bytes.bytes != right->bytes.bytes)
        return left->bytes.bytes < right->bytes.bytes ? -1 : 1;
    return left->size < right->size ? -1 : left->size > right->size;
}

static enum status check_apart(const struct cursor *cursor, struct named_list *list)
{
    qsort(list->tensors, list->count, sizeof list->tensors[0], by_place);
    for (size_t i = 1; i < list->count; i++) {
        const struct named_tensor *left = &list->tensors[i - 1], *right = &list->tensors[i];
        if (left->size > (size_t)(right->bytes.bytes - left->bytes.bytes))
            return error_usage(cursor->error, "%s: %.200s overlaps %.200s; the file is damaged", cursor->source,
                               right->name, left->name);
    }
    return STATUS_OK;
}

static enum status take_tensors(struct cursor *cursor, size_t count, const struct gguf *gguf, struct named_list *list)
{
    size_t alignment = 0;
    uint64_t *offsets = arena_allocate(cursor->arena, count, sizeof *offsets, cursor->error);
    if (offsets == NULL || find_alignment(cursor, gguf, &alignment) != STATUS_OK)
        return cursor->error->status;
    for (; list->count < count; list->count++)
        if (take_tensor(cursor, &list->tensors[list->count], &offsets[list->count]) != STATUS_OK)
            return cursor->error->status;
    const size_t past = cursor->at % alignment, start = past > 0 ? cursor->at + (alignment - past) : cursor->at;
    for (size_t i = 0; i < count; i++)
        if (place(cursor, &list->tensors[i], offsets[i], alignment, start) != STATUS_OK)
            return cursor->error->status;
    text_sort(list->tensors, count, sizeof list->tensors[0]);
    return check_names(cursor, list->tensors, count, sizeof list->tensors[0]) || check_apart(cursor, list)
               ? cursor->error->status
               : STATUS_OK;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static enum status check_version(const struct cursor *cursor, uint64_t version)
{
    if (version == 2 || version == 3)
        return STATUS_OK;
    if (version == 2U << 24 || version == 3U << 24)
        return error_usage(
            cursor->error,
            "%s: a GGUF with the most significant byte first; convert it: gguf-convert-endian FILE little",
            cursor->source);
    return error_usage(cursor->error, "%s: version %llu of GGUF; expected 2 or 3", cursor->source,
                       (unsigned long long)version);
}

/* Takes a count of things of at least `smallest` bytes each. */
static enum status take_count(struct cursor *cursor, const char *what, size_t smallest, size_t *count)
{
    uint64_t number = 0;
    if (take_number(cursor, 8, &number) != STATUS_OK)
        return cursor->error->status;
    if (number > MOST || number > (cursor->length - cursor->at) / smallest)
        return error_usage(cursor->error, "%s: %llu %s in %zu bytes; the file is cut short or damaged", cursor->source,
                           (unsigned long long)number, what, cursor->length);
    *count = (size_t)number;
    return STATUS_OK;
}

enum status gguf_read(struct named_tensors *file, const unsigned char *bytes, size_t length)
{
    enum { SMALLEST_VALUE = 8 + 1 + 4 + 1, SMALLEST_TENSOR = 8 + 1 + 4 + 4 + 8 };
    struct cursor cursor = {.source = file->source,
                            .what = "header",
                            .bytes = bytes,
                            .at = sizeof MAGIC,
                            .length = length,
                            .arena = file->arena,
                            .error = file->error};
    uint64_t version = 0;
    size_t tensors = 0, values = 0;
    struct gguf *gguf = arena_allocate(file->arena, 1, sizeof *gguf, file->error);
    if (gguf == NULL)
        return file->error->status;
    *gguf = (struct gguf){0};
    if (take_number(&cursor, 4, &version) || check_version(&cursor, version) ||
        take_count(&cursor, "tensors", SMALLEST_TENSOR, &tensors) ||
        take_count(&cursor, "values of metadata", SMALLEST_VALUE, &values) || take_values(&cursor, values, gguf) ||
        named_tensors_begin(file, tensors) || take_tensors(&cursor, tensors, gguf, file->list))
        return file->error->status;
    file->list->gguf = gguf;
    return STATUS_OK;
}
