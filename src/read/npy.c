#include "read/npy.h"

#include "tensor/tensor_bytes.h"

#include <stdint.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";

enum {
    MAGIC_BYTES = sizeof MAGIC - 1,
    LENGTH_AT = MAGIC_BYTES + 2, /* after the version */
    SHORTEST = LENGTH_AT + 2,    /* of what stands before the header: with two bytes of its length, or four */
    LONGEST_START = LENGTH_AT + 4,
    TEXT_BYTES = 32, /* the longest string that a header needs, with room for a wrong one */
};

/* The header as it is read. */
struct reader {
    const char *source;
    const char *text, *at, *end; /* of a copy */
    const unsigned char *data;   /* what follows it in the file */
    struct error *error;
};

struct header {
    char descr[TEXT_BYTES];
    bool fortran;
    size_t rank, shape[TENSOR_RANK];
};

bool npy_begins(const unsigned char *bytes, size_t length)
{
    return length > 0 && memcmp(bytes, MAGIC, memory_smaller(length, MAGIC_BYTES)) == 0;
}

/* --- the literal ------------------------------------------------------------------------------------------------- */

static void skip_blanks(struct reader *reader)
{
    static const char BLANKS[] = {' ', '\t', '\r', '\n'};
    while (reader->at < reader->end && memchr(BLANKS, *reader->at, sizeof BLANKS) != NULL)
        reader->at++;
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

/* The character, which blanks may surround. */
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

/* A string in quotes of either kind, without an escape; cut to TEXT_BYTES. */
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
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        const size_t digit = (size_t)(*reader->at - '0');
        if (!memory_multiply(*size, 10, size) || *size > SIZE_MAX - digit)
            return error_usage(reader->error, "%s: the shape is larger than any memory", reader->source);
        *size += digit;
    }
    if (reader->at - first != 0 && (*first != '0' || reader->at - first == 1))
        return STATUS_OK;
    reader->at = first;
    return expected(reader, "a size without a leading 0");
}

/* "()", "(6,)", "(6, 3)" */
static enum status take_shape(struct reader *reader, struct header *header)
{
    bool comma = true;
    if (take(reader, '(') != STATUS_OK)
        return reader->error->status;
    while (comma && !next_is(reader, ')')) {
        size_t size;
        if (take_size(reader, &size) != STATUS_OK)
            return reader->error->status;
        if (header->rank == TENSOR_RANK)
            return error_usage(reader->error, "%s: the array has more than %d axes, expected T x d_in or B x T x d_in",
                               reader->source, TENSOR_RANK);
        header->shape[header->rank++] = size;
        skip_blanks(reader);
        comma = next_is(reader, ',');
        if (comma && take(reader, ',') != STATUS_OK)
            return reader->error->status;
    }
    if (header->rank == 1 && !comma) /* in Python, (6) is no tuple */
        return expected(reader, "','");
    return take(reader, ')');
}

static enum status take_value(struct reader *reader, int key, struct header *header)
{
    char list[DTYPE_LIST_BYTES];
    if (key == 1)
        return take_truth(reader, &header->fortran);
    if (key == 2)
        return take_shape(reader, header);
    if (next_is(reader, '['))
        return error_usage(reader->error, "%s: the array has a record for each element; expected numbers: %s",
                           reader->source, dtype_list(dtype_npy, list));
    return take_string(reader, header->descr);
}

static enum status take_header(struct reader *reader, struct header *header)
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
        if (take(reader, ':') != STATUS_OK || take_value(reader, key, header) != STATUS_OK)
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

static enum status read_descr(const struct reader *reader, const char *descr, struct tensor_bytes *raw)
{
    char list[DTYPE_LIST_BYTES];
    const bool ordered = descr[0] != '\0' && strchr("<>|=", descr[0]) != NULL;
    raw->big_endian = descr[0] == '>' || (descr[0] != '<' && tensor_bytes_machine_is_big_endian());
    raw->dtype = ordered ? dtype_find(dtype_npy, descr + 1) : DTYPE_COUNT;
    if (raw->dtype != DTYPE_COUNT)
        return STATUS_OK;
    return error_usage(reader->error, "%s: numbers of dtype '%s' are not read; expected %s", reader->source, descr,
                       dtype_list(dtype_npy, list));
}

/* The numbers must be all that follows. */
static enum status check_size(const struct reader *reader, const struct tensor_bytes *raw, size_t there)
{
    const struct tensor tensor = {.rank = raw->rank,
                                  .shape = {raw->shape[0], raw->shape[1], raw->shape[2], raw->shape[3]}};
    char shape[TENSOR_SHAPE_BYTES];
    size_t size = 1;
    bool fits = true;
    if (raw->rank == 0)
        return error_usage(reader->error, "%s: a single number; expected T x d_in or B x T x d_in", reader->source);
    for (size_t axis = 0; axis < raw->rank; axis++)
        if (raw->shape[axis] == 0)
            return error_usage(reader->error, "%s: inputs is empty; expected numbers", reader->source);
    for (size_t axis = 0; axis < raw->rank; axis++)
        fits = fits && memory_multiply(size, raw->shape[axis], &size);
    tensor_shape_text(&tensor, shape);
    if (!fits || !tensor_bytes_size(raw->dtype, size, &size))
        return error_usage(reader->error, "%s: %s of %s are larger than any memory", reader->source, shape,
                           dtype_name(raw->dtype));
    if (there != size)
        return error_usage(reader->error, "%s: %zu bytes of numbers, expected %zu: %s of %s%s", reader->source, there,
                           size, shape, dtype_name(raw->dtype), there < size ? "; the file is cut short" : "");
    return STATUS_OK;
}

/* The header, by what stands before it, and where the data begin. Bytes are copied before they are looked at: another
 * program may change the file meanwhile. */
static enum status find_header(struct reader *reader, const unsigned char *bytes, size_t length, struct arena *arena)
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
        return error_usage(reader->error, "%s: a header of %zu bytes, but only %zu follow; the file is cut short",
                           reader->source, header_length, length - before);
    reader->data = bytes + before + header_length;
    reader->text = reader->at = arena_text(arena, (const char *)bytes + before, header_length, reader->error);
    if (reader->text == NULL)
        return reader->error->status;
    reader->end = reader->text + header_length;
    return STATUS_OK;
}

enum status npy_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds, struct arena *arena,
                     struct input_file *input, struct error *error)
{
    struct reader reader = {.source = source, .error = error};
    struct header header = {0};
    *input = (struct input_file){.source = source, .nameless = true};
    if (find_header(&reader, bytes, length, arena) || take_header(&reader, &header))
        return error->status;
    if ((kinds & (INPUT_FILE_INPUTS | INPUT_FILE_FOREIGN)) == 0)
        return error_usage(error,
                           "%s: a .npy holds one tensor without a name, %s need theirs; expected .safetensors or JSON",
                           source, kinds & INPUT_FILE_OPERAND ? "query, key and value" : "parameters");
    struct tensor_bytes raw = {.bytes = reader.data, .rank = header.rank, .fortran = header.fortran};
    memcpy(raw.shape, header.shape, sizeof raw.shape);
    if (read_descr(&reader, header.descr, &raw) || check_size(&reader, &raw, length - (size_t)(raw.bytes - bytes)))
        return error->status;
    input->tensors = arena_allocate(arena, 1, sizeof input->tensors[0], error);
    if (input->tensors == NULL)
        return error->status;
    input->tensors[0] = (struct file_tensor){.name = "inputs"};
    input->tensor_count = 1;
    return tensor_bytes_tensor(&raw, &input->tensors[0].tensor, arena, error);
}
