/* SPDX-License-Identifier: MIT */
#include "read/npy.h"

#include <stdint.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

enum {
    MAGIC_BYTES = sizeof MAGIC - 1,
    LENGTH_AT = MAGIC_BYTES + 2, /* after the version */
    SHORTEST = LENGTH_AT + 2,    /* before the header, with 2 bytes of length or 4 */
    LONGEST_START = LENGTH_AT + 4,
    TEXT_BYTES = sizeof((struct npy_array *)0)->descr, /* for a string of a header, even a wrong one */
};

/* The header being read. */
struct reader {
    const char *source;
    const char *text, *at, *end; /* of a copy */
    struct error *error;
};

bool npy_begins(const unsigned char *bytes, size_t length)
{
    return length > 0 && memcmp(bytes, MAGIC, memory_smaller(length, MAGIC_BYTES)) == 0;
}

/* --- the literal ------------------------------------------------------------------------------------------------- */

static void skip_blanks(struct reader *reader)
{
    reader->at += text_blanks(reader->at, (size_t)(reader->end - reader->at));
}

static bool next_is(const struct reader *reader, char character)
{
    return reader->at < reader->end && *reader->at == character;
}

static enum status expected(const struct reader *reader, const char *what)
{
    char got[16] = "its end";
    if (reader->at < reader->end)
        snprintf(got, sizeof got, *reader->at > ' ' && *reader->at <= '~' ? "'%c'" : "byte 0x%02x",
                 (unsigned char)*reader->at);
    return error_usage(reader->error, "%s: byte %zu of the header: expected %s, got %s", reader->source,
                       (size_t)(reader->at - reader->text) + 1, what, got);
}

/* Reads the character, with blanks around it. */
static enum status take(struct reader *reader, char character)
{
    const char what[] = {'\'', character, '\'', '\0'};
    skip_blanks(reader);
    if (!next_is(reader, character))
        return expected(reader, what);
    reader->at++;
    skip_blanks(reader);
    return STATUS_OK;
}

/* Reads a string in quotes of either kind, without escapes; cuts it to TEXT_BYTES. */
static enum status take_string(struct reader *reader, char *text)
{
    if (!next_is(reader, '\'') && !next_is(reader, '"'))
        return expected(reader, "a string");
    const char quote = *reader->at++;
    const char *first = reader->at;
    while (reader->at < reader->end && *reader->at != quote && *reader->at >= ' ' && *reader->at <= '~' &&
           *reader->at != '\\')
        reader->at++;
    if (!next_is(reader, quote))
        return expected(reader, "the end of a string");
    snprintf(text, TEXT_BYTES, "%.*s", (int)(reader->at - first < TEXT_BYTES ? reader->at - first : TEXT_BYTES), first);
    reader->at++;
    return STATUS_OK;
}

static enum status take_truth(struct reader *reader, bool *truth)
{
    static const char *const WORDS[] = {"False", "True"};
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(WORDS[i]);
        if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, WORDS[i], length) != 0)
            continue;
        *truth = i == 1;
        reader->at += length;
        return STATUS_OK;
    }
    return expected(reader, "True or False");
}

static enum status take_size(struct reader *reader, size_t *size)
{
    const char *first = reader->at;
    *size = 0;
    for (; reader->at < reader->end && text_is_digit(*reader->at); reader->at++) {
        const size_t digit = (size_t)(*reader->at - '0');
        *size = memory_product(*size, 10);
        if (*size == SIZE_MAX || *size > SIZE_MAX - digit)
            return error_usage(reader->error, "%s: the shape is larger than any memory", reader->source);
        *size += digit;
    }
    if (reader->at - first != 0 && (*first != '0' || reader->at - first == 1))
        return STATUS_OK;
    reader->at = first;
    return expected(reader, "a size without a leading 0");
}

/* "()", "(6,)", "(6, 3)" */
static enum status take_shape(struct reader *reader, struct npy_array *array)
{
    bool comma = true;
    array->count = 1;
    if (take(reader, '(') != STATUS_OK)
        return reader->error->status;
    while (comma && !next_is(reader, ')')) {
        size_t size;
        if (take_size(reader, &size) != STATUS_OK)
            return reader->error->status;
        if (array->bytes.rank < TENSOR_RANK)
            array->bytes.shape[array->bytes.rank] = size;
        array->bytes.rank++;
        array->count = memory_product(array->count, size);
        skip_blanks(reader);
        comma = next_is(reader, ',');
        if (comma && take(reader, ',') != STATUS_OK)
            return reader->error->status;
    }
    if (array->bytes.rank == 1 && !comma) /* in Python, (6) is no tuple */
        return expected(reader, "','");
    return take(reader, ')');
}

static enum status take_value(struct reader *reader, int key, struct npy_array *array)
{
    if (key == 1)
        return take_truth(reader, &array->fortran);
    if (key == 2)
        return take_shape(reader, array);
    if (next_is(reader, '['))
        return error_usage(reader->error, "%s: the array has a record for each element; expected numbers: %s",
                           reader->source, DTYPE_LIST(dtype_npy));
    return take_string(reader, array->descr);
}

static enum status take_header(struct reader *reader, struct npy_array *array)
{
    static const char *const KEYS[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false}, comma = true;
    char name[TEXT_BYTES];
    if (take(reader, '{') != STATUS_OK)
        return reader->error->status;
    while (comma && !next_is(reader, '}')) {
        int key = 0;
        if (take_string(reader, name) != STATUS_OK)
            return reader->error->status;
        while (key < 3 && strcmp(name, KEYS[key]) != 0)
            key++;
        if (key == 3 || seen[key])
            return error_usage(reader->error, "%s: header: %s '%s'; expected descr, fortran_order and shape, once each",
                               reader->source, key == 3 ? "unknown key" : "a second", name);
        seen[key] = true;
        if (take(reader, ':') != STATUS_OK || take_value(reader, key, array) != STATUS_OK)
            return reader->error->status;
        skip_blanks(reader);
        comma = next_is(reader, ',');
        if (comma && take(reader, ',') != STATUS_OK)
            return reader->error->status;
    }
    if (take(reader, '}') != STATUS_OK)
        return reader->error->status;
    for (int key = 0; key < 3; key++)
        if (!seen[key])
            return error_usage(reader->error, "%s: header: no '%s'; expected descr, fortran_order and shape",
                               reader->source, KEYS[key]);
    return reader->at < reader->end ? expected(reader, "nothing after the dict") : STATUS_OK;
}

/* --- what it means ----------------------------------------------------------------------------------------------- */

/* Finds the header and the start of the data. Copies bytes before looking at them, since another program may change the
 * file meanwhile. */
static enum status find_header(struct reader *reader, const unsigned char *bytes, size_t length, struct arena *arena,
                               struct npy_array *array)
{
    unsigned char start[LONGEST_START] = {0};
    memcpy(start, bytes, memory_smaller(length, sizeof start));
    if (length < SHORTEST || memcmp(start, MAGIC, MAGIC_BYTES) != 0)
        return error_usage(reader->error, "%s: begins like a .npy, but %s", reader->source,
                           length < SHORTEST ? "is cut short" : "not with \"\\x93NUMPY\"");
    const unsigned char *version = start + MAGIC_BYTES, *at = start + LENGTH_AT;
    if (version[0] < 1 || version[0] > 3 || version[1] != 0)
        return error_usage(reader->error, "%s: version %d.%d of .npy is unknown; expected 1.0, 2.0 or 3.0",
                           reader->source, version[0], version[1]);
    const size_t before = version[0] == 1 ? SHORTEST : LONGEST_START;
    if (length < before)
        return error_usage(reader->error, "%s: begins like a .npy, but is cut short", reader->source);
    size_t header_length = at[0] + ((size_t)at[1] << 8);
    if (version[0] > 1)
        header_length += ((size_t)at[2] << 16) + ((size_t)at[3] << 24);
    if (header_length > length - before)
        return error_usage(reader->error, "%s: a header of %zu bytes, but only %zu follow; the %s is cut short",
                           reader->source, header_length, length - before, array->holder);
    array->bytes.bytes = bytes + before + header_length;
    array->size = length - before - header_length;
    reader->text = reader->at = arena_text(arena, (const char *)bytes + before, header_length, reader->error);
    if (reader->text == NULL)
        return reader->error->status;
    reader->end = reader->text + header_length;
    return STATUS_OK;
}

enum status npy_header(const char *source, const char *holder, const unsigned char *bytes, size_t length,
                       struct arena *arena, struct npy_array *array, struct error *error)
{
    struct reader reader = {.source = source, .error = error};
    *array = (struct npy_array){.holder = holder};
    if (find_header(&reader, bytes, length, arena, array) || take_header(&reader, array))
        return error->status;
    const char *descr = array->descr;
    const bool ordered = descr[0] != '\0' && strchr("<>|=", descr[0]) != NULL;
    array->bytes.big_endian = descr[0] == '>' || (descr[0] != '<' && tensor_bytes_machine_is_big_endian());
    array->bytes.dtype = ordered ? dtype_find(dtype_npy, descr + 1) : DTYPE_COUNT;
    return STATUS_OK;
}

/* Checks that only the numbers follow the header; sets their order: in Fortran's the first axis varies fastest. */
static enum status check_size(const char *source, struct npy_array *array, struct error *error)
{
    struct tensor_bytes *bytes = &array->bytes;
    const struct tensor tensor = {.rank = bytes->rank,
                                  .shape = {bytes->shape[0], bytes->shape[1], bytes->shape[2], bytes->shape[3]}};
    const size_t size = memory_product(array->count, dtype_size(bytes->dtype));
    const char *shape = SHAPE_TEXT(&tensor);
    size_t stride = 1;
    if (size == SIZE_MAX)
        return error_usage(error, "%s: %s of %s are larger than any memory", source, shape, dtype_name(bytes->dtype));
    const bool cut = array->size < size;
    if (array->size != size)
        return error_usage(error, "%s: %zu bytes of numbers, expected %zu: %s of %s%s%s%s", source, array->size, size,
                           shape, dtype_name(bytes->dtype), cut ? "; the " : "", cut ? array->holder : "",
                           cut ? " is cut short" : "");
    bytes->strided = array->fortran;
    for (size_t axis = 0; axis < bytes->rank; stride *= bytes->shape[axis++])
        bytes->strides[axis] = stride;
    return STATUS_OK;
}

/* Whether the tensor of a result has the bits of bfloat16, which NumPy lacks: as integers, or as two bytes. */
static bool is_bfloat16(const struct named_tensors *file, const struct npy_array *array,
                        const struct named_tensor *tensor)
{
    const bool is_result = (file->kinds & INPUT_FILE_FOREIGN) != 0 && tensor->use == NAMED_READ &&
                           (file->sole || (tensor->kind & INPUT_FILE_STAGE) != 0);
    return is_result && (strcmp(array->descr, "<u2") == 0 || strcmp(array->descr + 1, "V2") == 0);
}

enum status npy_tensor(const struct named_tensors *file, const char *source, struct npy_array *array,
                       struct arena *scratch, struct named_tensor *tensor)
{
    if (is_bfloat16(file, array, tensor))
        array->bytes.dtype = DTYPE_BF16;
    tensor->bytes = array->bytes;
    tensor->count = array->count;
    tensor->dtype = arena_copy(scratch, array->descr, file->error);
    tensor->is_byte = strcmp(array->descr, "|u1") == 0;
    if (tensor->dtype == NULL || named_tensors_check(file, tensor) != STATUS_OK)
        return file->error->status;
    if (tensor->use != NAMED_READ && (tensor->use != NAMED_LIST || !named_tensor_is_usable(tensor)))
        return STATUS_OK;
    array->bytes = tensor->bytes;
    if (check_size(source, array, file->error) != STATUS_OK)
        return file->error->status;
    tensor->bytes = array->bytes;
    return STATUS_OK;
}

enum status npy_read(struct named_tensors *file, const unsigned char *bytes, size_t length)
{
    struct npy_array array;
    struct named_tensor tensor;
    file->sole = true;
    file->code = dtype_npy;
    return npy_header(file->source, "file", bytes, length, file->arena, &array, file->error) ||
                   named_tensors_nameless(file, ".safetensors or JSON", &tensor) ||
                   npy_tensor(file, file->source, &array, file->arena, &tensor) || named_tensors_put(file, &tensor)
               ? file->error->status
               : STATUS_OK;
}
