#include "write/raw.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 512 };

/* NaN has many encodings, and which one an operation gives is the processor's choice; a file gets this one. */
static const uint32_t NAN_F32 = UINT32_C(0x7fc00000);
static const uint64_t NAN_F64 = UINT64_C(0x7ff8000000000000);

/* `size` bytes, the least significant first on any machine. */
static void store_bits(uint64_t bits, size_t size, unsigned char *bytes)
{
    for (size_t byte = 0; byte < size; byte++)
        bytes[byte] = (unsigned char)(bits >> 8 * byte & 0xff);
}

static void encode_f32(double number, unsigned char *bytes)
{
    const float rounded = (float)number;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    bits = isnan(number) ? NAN_F32 : bits;
    store_bits(bits, sizeof bits, bytes);
}

static void encode_f64(double number, unsigned char *bytes)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = isnan(number) ? NAN_F64 : bits;
    store_bits(bits, sizeof bits, bytes);
}

static void encode_whole(double number, unsigned char *bytes)
{
    const uint64_t bits = (uint64_t)(int64_t)number;
    store_bits(bits, sizeof bits, bytes);
}

static void encode_16(double number, enum dtype dtype, unsigned char *bytes)
{
    const uint16_t bits = dtype_bits(dtype, number);
    store_bits(bits, sizeof bits, bytes);
}

void write_raw_bytes(const double *numbers, size_t count, enum dtype dtype, unsigned char *bytes)
{
    if (dtype == DTYPE_F64)
        for (size_t i = 0; i < count; i++)
            encode_f64(numbers[i], bytes + i * 8);
    else if (dtype == DTYPE_F32)
        for (size_t i = 0; i < count; i++)
            encode_f32(numbers[i], bytes + i * 4);
    else if (dtype == DTYPE_I64)
        for (size_t i = 0; i < count; i++)
            encode_whole(numbers[i], bytes + i * 8);
    else if (dtype == DTYPE_BOOL)
        for (size_t i = 0; i < count; i++)
            bytes[i] = numbers[i] != 0;
    else
        for (size_t i = 0; i < count; i++)
            encode_16(numbers[i], dtype, bytes + i * 2);
}

enum status write_raw_size(const struct result_table *table, size_t *size, struct error *error)
{
    *size = dtype_size(table->dtype);
    for (size_t axis = 0; axis < table->rank; axis++)
        if (!memory_multiply(*size, table->shape[axis], size))
            return error_system(error, 0, "%s is larger than any file", table->name);
    return STATUS_OK;
}

void write_raw(struct result *result, const struct result_table *table, struct output *output)
{
    const size_t matrices = result_matrices(table), rows = result_rows(table), columns = result_columns(table);
    const enum dtype dtype = table->dtype;
    unsigned char bytes[CHUNK * sizeof(double)];
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0; row < rows && !output->failed; row++) {
            result_row(result, table, matrix, row, result->numbers);
            for (size_t first = 0; first < columns; first += CHUNK) {
                const size_t count = memory_smaller(columns - first, CHUNK);
                write_raw_bytes(result->numbers + first, count, dtype, bytes);
                output_write(output, (const char *)bytes, count * dtype_size(dtype));
            }
        }
}
