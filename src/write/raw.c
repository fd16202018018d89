#include "write/raw.h"

enum { CHUNK = 512, PIECE = 1 << 18 /* numbers that are looked at, and written, at once */ };

enum status write_raw_size(const struct result_table *table, size_t *size, struct error *error)
{
    *size = dtype_size(table->dtype);
    for (size_t axis = 0; axis < table->rank; axis++)
        if (!memory_multiply(*size, table->shape[axis], size))
            return error_system(error, 0, "%s is larger than any file", table->name);
    return STATUS_OK;
}

enum status write_raw_expect(const struct writing *writing)
{
    const struct result *result = writing->result;
    size_t all = 0, size;
    for (size_t i = 0; i < result->table_count; i++) {
        if (write_raw_size(&result->tables[i], &size, writing->error) != STATUS_OK)
            return writing->error->status;
        if (size > SIZE_MAX - all)
            return error_system(writing->error, 0, "the tables are larger than any file");
        all += size;
    }
    output_expect(writing->output, all);
    return writing->output->failed ? writing->error->status : STATUS_OK;
}

static void write_encoded(const struct tensor *numbers, size_t first, size_t count, enum dtype dtype,
                          struct output *output)
{
    double chunk[CHUNK];
    unsigned char bytes[CHUNK * sizeof(double)];
    for (size_t end = first + count, now; first < end; first += now) {
        now = memory_smaller(end - first, CHUNK);
        tensor_load(numbers, first, now, chunk);
        dtype_encode(dtype, chunk, now, bytes);
        output_write(output, (const char *)bytes, now * dtype_size(dtype));
    }
}

/* The numbers of a table that is held whole: as they lie, where a file has them so. */
static void write_held(const struct tensor *numbers, enum dtype dtype, struct output *output)
{
    const size_t count = tensor_count(numbers), size = dtype_size(dtype);
    const bool own = numbers->dtype == dtype && dtype_is_working(dtype);
    for (size_t first = 0, now; first < count && !output->failed; first += now) {
        const char *bytes = (const char *)numbers->data + first * dtype_size(numbers->dtype);
        now = memory_smaller(count - first, PIECE);
        if (own && dtype_is_encoded(dtype, bytes, now))
            output_write(output, bytes, now * size);
        else
            write_encoded(numbers, first, now, dtype, output);
    }
}

void write_raw(struct result *result, const struct result_table *table, struct output *output)
{
    const size_t matrices = result_matrices(table), rows = result_rows(table), columns = result_columns(table);
    const enum dtype dtype = table->dtype;
    unsigned char bytes[CHUNK * sizeof(double)];
    if (table->tensor != NULL && tensor_count(table->tensor) == matrices * rows * columns) {
        write_held(table->tensor, dtype, output);
        return;
    }
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
