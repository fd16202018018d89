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

#define TOO_LARGE "its shape is larger than any memory"

#define TYPE(id, kind, bytes) [GGUF_##id] = {kind, bytes},
static const struct {
    enum { WHOLE, SIGNED, SINGLE, DOUBLE, OTHER } kind;
    size_t bytes;
} TYPES[] = {GGUF_TYPES(TYPE)};

/* Types of tensors by their number, as ggml names them. attn reads those that are a dtype of .safetensors, or a block
 * type. */
static const char *const TENSOR_TYPES[] = {
    "F32",   "F16",    "Q4_0",  "Q4_1", NULL,   NULL,      "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",   "Q2_K",
    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K", "Q8_K", "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S",
    "IQ2_S", "IQ4_XS", "I8",    "I16",  "I32",  "I64",     "F64",    "IQ1_M",   "BF16",  NULL,     NULL,
    NULL,    "TQ1_0",  "TQ2_0", NULL,   NULL,   NULL,      "MXFP4",  "NVFP4",   "Q1_0"};

/* The header, being read. `what` is the value or tensor at hand, for messages. After an error all numbers are 0. */
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

/* "FILE: WHAT: ...", if it is the first error. */
static enum status __attribute__((format(printf, 2, 3))) refuse(const struct cursor *cursor, const char *format, ...)
{
    char message[200];
    if (cursor->error->status != STATUS_OK)
        return cursor->error->status;
    TEXT_FORMAT(message, format);
    return error_usage(cursor->error, "%s: %.200s: %s", cursor->source, cursor->what, message);
}

/* Moves past `count` things of `size` bytes. The first one; NULL after an error. */
static const unsigned char *take(struct cursor *cursor, uint64_t count, size_t size)
{
    const unsigned char *bytes = cursor->bytes + cursor->at;
    if (count > (cursor->length - cursor->at) / size)
        refuse(cursor, "the file ends within it; it is cut short or damaged");
    if (cursor->error->status != STATUS_OK)
        return NULL;
    cursor->at += (size_t)count * size;
    return bytes;
}

static uint64_t take_number(struct cursor *cursor, size_t size)
{
    const unsigned char *bytes = take(cursor, 1, size);
    return bytes != NULL ? memory_number(bytes, size) : 0;
}

/* The name of a value or tensor, in the arena; NULL after an error. */
static const char *take_name(struct cursor *cursor, const char *what)
{
    cursor->what = what;
    const uint64_t length = take_number(cursor, 8);
    if (length == 0 || length > LONGEST_NAME)
        refuse(cursor, "a name of %llu bytes; expected 1 to %d", (unsigned long long)length, LONGEST_NAME);
    const unsigned char *bytes = take(cursor, length, 1);
    if (bytes != NULL && memchr(bytes, '\0', (size_t)length) != NULL)
        refuse(cursor, "a name with a zero byte; the file is damaged");
    return cursor->error->status == STATUS_OK
               ? cursor->what = arena_text(cursor->arena, (const char *)bytes, (size_t)length, cursor->error)
               : NULL;
}

static size_t take_count(struct cursor *cursor, const char *what)
{
    enum { SMALLEST = 8 + 1 + 4 + 1 }; /* a name of a byte, a type, a value of a byte */
    const uint64_t count = take_number(cursor, 8);
    if (cursor->error->status == STATUS_OK && (count > MOST || count > (cursor->length - cursor->at) / SMALLEST))
        error_usage(cursor->error, "%s: %llu %s in %zu bytes; the file is cut short or damaged", cursor->source,
                    (unsigned long long)count, what, cursor->length);
    return cursor->error->status == STATUS_OK ? (size_t)count : 0;
}

/* Sorts items by the names that they begin with, and checks that none occurs twice. */
static enum status sort(const struct cursor *cursor, void *items, size_t count, size_t size)
{
    const char *previous = "", *name;
    text_sort(items, count, size);
    for (size_t i = 0; i < count; i++, previous = name) {
        memcpy(&name, (const char *)items + i * size, sizeof name);
        if (strcmp(previous, name) == 0)
            return error_usage(cursor->error, "%s: %.200s is in it twice; expected it once", cursor->source, name);
    }
    return STATUS_OK;
}

/* --- metadata ---------------------------------------------------------------------------------------------------- */

static enum gguf_type take_type(struct cursor *cursor)
{
    const uint64_t type = take_number(cursor, 4);
    if (type < GGUF_TYPE_COUNT)
        return (enum gguf_type)type;
    refuse(cursor, "a value of type %llu; expected 0 to %d", (unsigned long long)type, GGUF_TYPE_COUNT - 1);
    return GGUF_U8;
}

static void take_value(struct cursor *cursor, struct gguf_value *value)
{
    value->name = take_name(cursor, "metadata");
    value->type = take_type(cursor);
    value->is_array = value->type == GGUF_ARRAY;
    if (value->is_array)
        value->type = take_type(cursor);
    const uint64_t count = value->is_array ? take_number(cursor, 8) : 1;
    value->bytes = cursor->bytes + cursor->at;
    value->count = (size_t)count;
    if (value->type == GGUF_ARRAY)
        refuse(cursor, "an array of arrays; expected numbers or texts");
    else if (value->type != GGUF_STRING)
        take(cursor, count, TYPES[value->type].bytes);
    for (uint64_t i = 0; value->type == GGUF_STRING && i < count && cursor->error->status == STATUS_OK; i++)
        take(cursor, take_number(cursor, 8), 1);
}

const struct gguf_value *gguf_find(const struct gguf *gguf, const char *name)
{
    return text_find(name, gguf->values, gguf->count, sizeof gguf->values[0]);
}

bool gguf_is_number(const struct gguf_value *value)
{
    return value != NULL && !value->is_array && value->type != GGUF_STRING;
}

double gguf_number(const struct gguf_value *value, size_t i)
{
    const size_t size = TYPES[value->type].bytes;
    const uint64_t bits = memory_number(value->bytes + i * size, size);
    const uint32_t low = (uint32_t)bits;
    const unsigned unused = 64 - 8 * (unsigned)size;
    char text[DECIMAL_BYTES];
    float single;
    double number;
    switch (TYPES[value->type].kind) {
    case SIGNED:
        return (double)((int64_t)(bits << unused) >> unused);
    case SINGLE:
        memcpy(&single, &low, sizeof single);
        if (!isfinite(single))
            return (double)single;
        decimal_from_float(single, text);
        return strtod(text, NULL);
    case DOUBLE:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return (double)bits;
    }
}

const char *gguf_text(const struct gguf_value *value, struct arena *arena, struct error *error)
{
    return arena_text(arena, (const char *)value->bytes + 8, (size_t)memory_number(value->bytes, 8), error);
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

/* Takes the sizes, which are stored the last axis first; *row: the last one. */
static enum status take_shape(struct cursor *cursor, struct named_tensor *tensor, size_t *row)
{
    const uint64_t rank = take_number(cursor, 4);
    if (rank > TENSOR_RANK)
        return refuse(cursor, "%llu axes; expected at most %d", (unsigned long long)rank, TENSOR_RANK);
    tensor->bytes.rank = (size_t)rank;
    tensor->count = 1;
    for (size_t axis = tensor->bytes.rank; axis-- > 0;) {
        const uint64_t size = take_number(cursor, 8);
        tensor->bytes.shape[axis] = (size_t)size;
        tensor->count = memory_product(tensor->count, (size_t)size);
        if (size > SIZE_MAX || tensor->count == SIZE_MAX)
            return refuse(cursor, TOO_LARGE);
    }
    *row = rank > 0 ? tensor->bytes.shape[rank - 1] : 1;
    return STATUS_OK;
}

/* A description. bytes.bytes is where the offset of the data is, until place(). */
static enum status take_tensor(struct cursor *cursor, struct named_tensor *tensor)
{
    size_t row = 1;
    *tensor = (struct named_tensor){.use = NAMED_LIST, .source = cursor->source};
    tensor->name = take_name(cursor, "descriptions of tensors");
    if (take_shape(cursor, tensor, &row) != STATUS_OK)
        return cursor->error->status;
    const uint64_t type = take_number(cursor, 4);
    tensor->bytes.bytes = take(cursor, 1, 8);
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)type);
    tensor->dtype = type < sizeof TENSOR_TYPES / sizeof TENSOR_TYPES[0] ? TENSOR_TYPES[type] : NULL;
    if (tensor->dtype == NULL)
        tensor->dtype = arena_copy(cursor->arena, number, cursor->error);
    if (cursor->error->status != STATUS_OK)
        return cursor->error->status;
    tensor->bytes.dtype = dtype_find(dtype_safetensors, tensor->dtype);
    tensor->block = block_find(tensor->dtype);
    const size_t numbers = tensor->block != NULL ? tensor->block->numbers : 1;
    if (row % numbers != 0)
        return refuse(cursor, "rows of %zu numbers; expected a multiple of %zu, a block of %s", row, numbers,
                      tensor->dtype);
    const size_t bytes = tensor->block != NULL ? tensor->block->bytes : dtype_size(tensor->bytes.dtype);
    tensor->size = memory_product(tensor->count / numbers, bytes);
    return tensor->size < SIZE_MAX ? STATUS_OK : refuse(cursor, TOO_LARGE);
}

/* Tensors begin at multiples of the alignment, counted from the first multiple after the header. 0 after an error. */
static size_t find_alignment(struct cursor *cursor, const struct gguf *gguf)
{
    const struct gguf_value *value = gguf_find(gguf, "general.alignment");
    if (value == NULL)
        return USUAL_ALIGNMENT;
    const bool typed = value->type == GGUF_U32 && !value->is_array;
    const size_t alignment = typed ? (size_t)memory_number(value->bytes, 4) : 0;
    if (alignment > 0 && alignment <= MOST && (alignment & (alignment - 1)) == 0)
        return alignment;
    cursor->what = value->name;
    refuse(cursor, "expected a power of two, of type uint32");
    return 0;
}

/* Puts the data of a tensor where its offset says. */
static enum status place(struct cursor *cursor, struct named_tensor *tensor, size_t alignment)
{
    const uint64_t offset = memory_number(tensor->bytes.bytes, 8);
    const size_t past = cursor->at % alignment, start = past > 0 ? cursor->at + (alignment - past) : cursor->at,
                 all = memory_left(cursor->length, start);
    cursor->what = tensor->name;
    if (offset % alignment != 0)
        return refuse(cursor, "its data begin at %llu; expected a multiple of %zu", (unsigned long long)offset,
                      alignment);
    if (offset > all || tensor->size > all - offset)
        return refuse(cursor, "its data are %zu bytes from %llu on, but the file has %zu; it is cut short",
                      tensor->size, (unsigned long long)offset, all);
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

static enum status take_tensors(struct cursor *cursor, size_t count, const struct gguf *gguf, struct named_list *list)
{
    const size_t alignment = find_alignment(cursor, gguf);
    if (alignment == 0)
        return cursor->error->status;
    for (; cursor->error->status == STATUS_OK && list->count < count; list->count++)
        take_tensor(cursor, &list->tensors[list->count]);
    for (size_t i = 0; cursor->error->status == STATUS_OK && i < count; i++)
        place(cursor, &list->tensors[i], alignment);
    if (cursor->error->status || sort(cursor, list->tensors, count, sizeof list->tensors[0]))
        return cursor->error->status;
    qsort(list->tensors, count, sizeof list->tensors[0], by_place);
    for (size_t i = 1; i < count; i++) {
        const struct named_tensor *left = &list->tensors[i - 1], *right = &list->tensors[i];
        if (left->size > (size_t)(right->bytes.bytes - left->bytes.bytes))
            return error_usage(cursor->error, "%s: %.200s overlaps %.200s; the file is damaged", cursor->source,
                               right->name, left->name);
    }
    return STATUS_OK;
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

static enum status take_version(struct cursor *cursor)
{
    const uint64_t version = take_number(cursor, 4);
    if (cursor->error->status != STATUS_OK || version == 2 || version == 3)
        return cursor->error->status;
    return version == 2U << 24 || version == 3U << 24
               ? error_usage(cursor->error,
                             "%s: a GGUF with the most significant byte first; convert it: gguf-convert-endian FILE "
                             "little",
                             cursor->source)
               : error_usage(cursor->error, "%s: version %llu of GGUF; expected 2 or 3", cursor->source,
                             (unsigned long long)version);
}

enum status gguf_read(struct named_tensors *file, const unsigned char *bytes, size_t length)
{
    struct cursor cursor = {.source = file->source,
                            .what = "header",
                            .bytes = bytes,
                            .at = sizeof MAGIC,
                            .length = length,
                            .arena = file->arena,
                            .error = file->error};
    struct gguf *gguf = arena_allocate(file->arena, 1, sizeof *gguf, file->error);
    if (gguf == NULL || take_version(&cursor) != STATUS_OK)
        return file->error->status;
    const size_t tensors = take_count(&cursor, "tensors"), values = take_count(&cursor, "values of metadata");
    gguf->values = arena_allocate(file->arena, values, sizeof gguf->values[0], file->error);
    for (gguf->count = 0; file->error->status == STATUS_OK && gguf->count < values; gguf->count++)
        take_value(&cursor, &gguf->values[gguf->count]);
    if (file->error->status || sort(&cursor, gguf->values, values, sizeof gguf->values[0]) ||
        named_tensors_begin(file, tensors) || take_tensors(&cursor, tensors, gguf, file->list))
        return file->error->status;
    file->list->gguf = gguf;
    return STATUS_OK;
}
