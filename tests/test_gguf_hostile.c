/* SPDX-License-Identifier: MIT */
/* GGUF files that are wrong: each is refused with a reason, whatever byte it is cut at or changed in. */
#include "check.h"
#include "read/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, ALIGNMENT = 32 };

/* --- a file being made ------------------------------------------------------------------------------------------- */

struct file {
    unsigned char bytes[ROOM];
    size_t length;
};

static void number(struct file *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        file->bytes[file->length++] = (unsigned char)(value >> 8 * i & 255);
}

static void bytes(struct file *file, const char *text, size_t length)
{
    memcpy(file->bytes + file->length, text, length);
    file->length += length;
}

static void text(struct file *file, const char *value)
{
    number(file, strlen(value), 8);
    bytes(file, value, strlen(value));
}

static void pad(struct file *file, size_t size)
{
    while (file->length % ALIGNMENT != 0 || size > 0) {
        number(file, 0, 1);
        size -= size > 0;
    }
}

struct tensor_of {
    const char *name;
    uint64_t sizes[2];
    uint32_t type;
    uint64_t offset;
};

/* What a file is; the fields that are 0 are as they should be. */
struct made {
    const char *name, *expected; /* NULL: the file is right */
    uint32_t version, rank, value_type;
    uint64_t tensors, values, alignment, array, name_length;
    struct tensor_of first, second;
    bool again, nested;
};

static void tensor(struct file *file, const struct made *made, const struct tensor_of *given, const char *name,
                   uint64_t offset)
{
    const uint64_t usual[] = {8, 2};
    if (made->name_length > 0 && given == &made->first) {
        number(file, made->name_length, 8);
        bytes(file, "\0abc", 4);
    } else
        text(file, given->name != NULL ? given->name : name);
    number(file, made->rank > 0 ? made->rank : 2, 4);
    for (size_t i = 0; i < 2; i++)
        number(file, given->sizes[i] > 0 ? given->sizes[i] : usual[i], 8);
    number(file, given->type, 4);
    number(file, given->offset > 0 ? given->offset - 1 : offset, 8);
}

/* Two values and two tensors of 8 x 2 float32. `given->offset` is one more than the offset. */
static void make(struct file *file, const struct made *made)
{
    file->length = 0;
    bytes(file, "GGUF", 4);
    number(file, made->version > 0 ? made->version : 3, 4);
    number(file, made->tensors > 0 ? made->tensors : 2, 8);
    number(file, made->values > 0 ? made->values : 3, 8);
    text(file, "general.alignment");
    number(file, GGUF_U32, 4);
    number(file, made->alignment > 0 ? made->alignment - 1 : ALIGNMENT, 4);
    text(file, made->again ? "general.alignment" : "tokens");
    number(file, GGUF_ARRAY, 4);
    number(file, made->nested ? GGUF_ARRAY : GGUF_STRING, 4);
    number(file, made->array > 0 ? made->array : 2, 8);
    text(file, "a");
    text(file, "");
    text(file, "truth");
    number(file, made->value_type > 0 ? made->value_type : GGUF_BOOL, 4);
    number(file, 1, 1);
    tensor(file, made, &made->first, "a", 0);
    tensor(file, made, &made->second, "b", 64);
    pad(file, 0);
    pad(file, 128);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* Reads a copy that ends where memory ends, so that a sanitizer sees a byte read beyond it. Returns the message, which
 * the next call replaces; "" where the file is right. */
static const char *message_of(const unsigned char *from, size_t length)
{
    static struct error error;
    struct arena arena = {0};
    struct named_list list = {0};
    struct named_tensors reading = {.source = "x.gguf", .list = &list, .arena = &arena, .error = &error};
    unsigned char *copy = malloc(length > 0 ? length : 1);
    error = (struct error){0};
    memcpy(copy, from, length);
    const enum status status = gguf_read(&reading, copy, length);
    CHECK((status == STATUS_OK) == (error.message[0] == '\0'), "status %d, but the message '%s'", (int)status,
          error.message);
    arena_free(&arena);
    free(copy);
    return error.message;
}

static const struct made FILES[] = {
    {.name = "version 3"},
    {.name = "version 2", .version = 2},
    {.name = "version 1", .version = 1, .expected = "x.gguf: version 1 of GGUF; expected 2 or 3"},
    {.name = "bytes in the other order",
     .version = 3U << 24,
     .expected = "x.gguf: a GGUF with the most significant byte first; convert it: gguf-convert-endian FILE little"},
    {.name = "more tensors than bytes",
     .tensors = 1000,
     .expected = "x.gguf: 1000 tensors in 352 bytes; the file is cut short or damaged"},
    {.name = "tensors beyond any count",
     .tensors = UINT64_MAX,
     .expected = "x.gguf: 18446744073709551615 tensors in 352 bytes; the file is cut short or damaged"},
    {.name = "values beyond any count",
     .values = UINT64_MAX,
     .expected = "x.gguf: 18446744073709551615 values of metadata in 352 bytes; the file is cut short or damaged"},
    {.name = "an array beyond the file",
     .array = UINT64_MAX / 2,
     .expected = "x.gguf: tokens: the file ends within it; it is cut short or damaged"},
    {.name = "an array of arrays",
     .nested = true,
     .expected = "x.gguf: tokens: an array of arrays; expected numbers or texts"},
    {.name = "a type of value", .value_type = 13, .expected = "x.gguf: truth: a value of type 13; expected 0 to 12"},
    {.name = "a name twice", .again = true, .expected = "x.gguf: general.alignment is in it twice; expected it once"},
    {.name = "an alignment of 0",
     .alignment = 1,
     .expected = "x.gguf: general.alignment: expected a power of two, of type uint32"},
    {.name = "an alignment of 48",
     .alignment = 49,
     .expected = "x.gguf: general.alignment: expected a power of two, of type uint32"},
    {.name = "a name of no bytes",
     .first = {.name = ""},
     .expected = "x.gguf: descriptions of tensors: a name of 0 bytes; expected 1 to 65536"},
    {.name = "a name with a zero byte",
     .name_length = 4,
     .expected = "x.gguf: descriptions of tensors: a name with a zero byte; the file is damaged"},
    {.name = "a name beyond the file",
     .name_length = UINT64_MAX,
     .expected = "x.gguf: descriptions of tensors: a name of 18446744073709551615 bytes; expected 1 to 65536"},
    {.name = "five axes", .rank = 5, .expected = "x.gguf: a: 5 axes; expected at most 4"},
    {.name = "a shape whose product overflows",
     .first = {.sizes = {UINT64_MAX / 2, 4}},
     .expected = "x.gguf: a: its shape is larger than any memory"},
    {.name = "a shape whose bytes overflow",
     .first = {.sizes = {UINT64_MAX / 4, 2}},
     .expected = "x.gguf: a: its shape is larger than any memory"},
    {.name = "rows that are no blocks",
     .first = {.type = 2},
     .expected = "x.gguf: a: rows of 8 numbers; expected a multiple of 32, a block of Q4_0"},
    {.name = "an offset off the alignment",
     .first = {.offset = 5},
     .expected = "x.gguf: a: its data begin at 4; expected a multiple of 32"},
    {.name = "an offset beyond the file",
     .second = {.offset = 1 + (UINT64_C(1) << 62)},
     .expected = "x.gguf: b: its data are 64 bytes from 4611686018427387904 on, but the file has 128; it is cut short"},
    {.name = "an overlap", .second = {.offset = 33}, .expected = "x.gguf: b overlaps a; the file is damaged"},
    {.name = "the same name", .second = {.name = "a"}, .expected = "x.gguf: a is in it twice; expected it once"},
    {.name = "a type that attn lacks, in the file", .second = {.type = 18}},
    {.name = "a type that nobody knows, in the file", .second = {.type = 12345}},
};

static void check_changed(const struct file *file)
{
    struct file changed = *file;
    check_begin("every byte of a file may be any other");
    for (size_t at = 0; at < file->length; at++)
        for (int bit = 0; bit < 8; bit++) {
            changed.bytes[at] = (unsigned char)(file->bytes[at] ^ 1 << bit);
            message_of(changed.bytes, changed.length);
            changed.bytes[at] = file->bytes[at];
        }
}

static void check_cut(const struct file *file)
{
    check_begin("a file is cut at every byte");
    for (size_t length = 0; length < file->length; length++)
        CHECK(!gguf_begins(file->bytes, length) || message_of(file->bytes, length)[0] != '\0',
              "%zu of %zu bytes: expected an error", length, file->length);
}

static void check_numbers(void)
{
    static const unsigned char MINUS_TWO[] = {254, 255, 255, 255, 255, 255, 255, 255};
    static const unsigned char TEN_TO_MINUS_FIVE[] = {0xac, 0xc5, 0x27, 0x37};
    check_begin("numbers of every type");
    for (enum gguf_type type = GGUF_I8; type <= GGUF_I64; type++) {
        const struct gguf_value value = {.type = type, .count = 1, .bytes = MINUS_TWO};
        if (type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64)
            CHECK(gguf_number(&value, 0) == -2, "type %d: got %g", (int)type, gguf_number(&value, 0));
    }
    const struct gguf_value single = {.type = GGUF_F32, .count = 1, .bytes = TEN_TO_MINUS_FIVE};
    CHECK(gguf_number(&single, 0) == 1e-5, "got %.17g", gguf_number(&single, 0));
}

int main(void)
{
    struct file file;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        check_begin("%s", FILES[i].name);
        make(&file, &FILES[i]);
        CHECK_TEXT(message_of(file.bytes, file.length), FILES[i].expected != NULL ? FILES[i].expected : "");
    }
    make(&file, &FILES[0]);
    check_changed(&file);
    check_cut(&file);
    check_numbers();
    return check_end();
}
