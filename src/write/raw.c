#include "write/raw.h"

enum { CHUNK = 512 };

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
                dtype_encode(dtype, result->numbers + first, count, bytes);
                output_write(output, (const char *)bytes, count * dtype_size(dtype));
            }
        }
}
