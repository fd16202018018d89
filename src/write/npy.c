/* SPDX-License-Identifier: MIT */
/* result -> .npy: its one table, byte for byte as numpy.save writes it.
 *
 * Version 1.0 (read/npy.h says what that is): the header is padded so that the numbers begin at a multiple of 64. As
 * NumPy does since 1.23, the first size is given room to grow to 21 digits. */
#include "base/text.h"
#include "write/raw.h"
#include "write/writing.h"

enum { PREFIX_BYTES = 10, ALIGNMENT = 64, DIGITS_TO_GROW = 21, HEADER_BYTES = 256 };

/* The Python dict, and blanks so that the first size can grow. Returns its length. */
static int format_dict(const struct result_table *table, enum dtype dtype, char *dict)
{
    struct text text = text_begin(dict, HEADER_BYTES);
    text_add(&text, "{'descr': '<%s', 'fortran_order': False, 'shape': (", dtype_npy(dtype));
    const size_t before = text.length;
    text_add(&text, "%zu", table->shape[0]);
    const size_t digits = text.length - before;
    for (size_t axis = 1; axis < table->rank; axis++)
        text_add(&text, ", %zu", table->shape[axis]);
    text_add(&text, "%s), }%*s", table->rank == 1 ? "," : "", DIGITS_TO_GROW - (int)digits, "");
    return (int)text.length;
}

/* The bytes before the numbers; and the dict. */
static size_t measure(const struct result_table *table, char *dict)
{
    const int length = format_dict(table, table->dtype, dict);
    return (size_t)(PREFIX_BYTES + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

enum status check_npy(const struct writing *writing)
{
    char dict[HEADER_BYTES];
    return write_raw_expect(writing, measure(&writing->result->tables[0], dict));
}

enum status write_npy(const struct writing *writing)
{
    struct result *result = writing->result;
    struct output *output = writing->output;
    const struct result_table *table = &result->tables[0];
    char dict[HEADER_BYTES];
    unsigned char *room = write_raw_room(result, writing->arena, writing->error);
    if (room == NULL)
        return writing->error->status;
    const int header = (int)measure(table, dict) - PREFIX_BYTES;
    output_write(output, "\x93NUMPY\1\0", PREFIX_BYTES - 2);
    const char bytes[] = {(char)(header & 0xff), (char)(header >> 8)};
    output_write(output, bytes, sizeof bytes);
    output_print(output, "%-*s\n", header - 1, dict);
    write_raw(result, table, room, output);
    return STATUS_OK;
}
