#include "write/raw.h"

enum {
    CHUNK = 512,
    LEAST_AHEAD = 1 << 16 /* bytes: less is soon written */,
    PIECE = 1 << 18 /* numbers that are looked at, and written, at once */
};

enum status write_raw_size(const struct result_table *table, size_t *size, struct error *error)
{
    *size = dtype_size(table->dtype);
    for (size_t axis = 0; axis < table->rank; axis++)
        if (!memory_multiply(*size, table->shape[axis], size))
            return error_system(error, 0, "%s is larger than any file", table->name);
    return STATUS_OK;
}

enum status write_raw_expect(const struct writing *writing, size_t header)
{
    const struct result *result = writing->result;
    size_t all = header, size;
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

/* A long context of the fused path. */
static bool runs_ahead(const struct writing *writing, const struct result_table *table)
{
    const struct problem *problem = writing->result->problem;
    size_t size;
    return output_takes_parts(writing->output) && stage_exists(table->stage) &&
           problem_made_as(problem, table->stage) == STAGE_CONTEXT && problem->recipe == NULL && problem->fused &&
           write_raw_size(table, &size, writing->error) == STATUS_OK && size >= LEAST_AHEAD;
}

void write_raw_run_ahead(const struct writing *writing, size_t header)
{
    struct result *result = writing->result;
    size_t offset = header, size;
    for (size_t i = 0; i < result->table_count; i++) {
        if (runs_ahead(writing, &result->tables[i])) {
            result->ahead = (struct ahead){.output = writing->output,
                                           .offset = offset,
                                           .made = result->problem->kernel->number,
                                           .dtype = result->tables[i].dtype};
            return;
        }
        if (write_raw_size(&result->tables[i], &size, writing->error) != STATUS_OK)
            return;
        offset += size;
    }
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

/* Bytes of the rows of a table that are made at once. */
static size_t block_bytes(const struct result *result, const struct result_table *table)
{
    return result_rows_at_once(result, table) * result_columns(table) * dtype_size(table->dtype);
}

unsigned char *write_raw_room(const struct result *result, struct arena *arena, struct error *error)
{
    size_t largest = 0;
    for (size_t i = 0; i < result->table_count; i++)
        largest = memory_larger(largest, block_bytes(result, &result->tables[i]));
    return arena_allocate(arena, largest, 2, error);
}

/* Rows that are made, but not yet written. */
struct ready {
    struct output *output;
    const unsigned char *bytes;
    size_t length;
};

static void write_ready(void *context)
{
    const struct ready *ready = context;
    output_write(ready->output, (const char *)ready->bytes, ready->length);
}

/* While one half of the room is written the other one is filled. */
void write_raw(struct result *result, const struct result_table *table, unsigned char *room, struct output *output)
{
    const size_t matrices = result_matrices(table), rows = result_rows(table),
                 most = result_rows_at_once(result, table);
    unsigned char *const halves[] = {room, room + block_bytes(result, table)};
    struct ready ready = {.output = output};
    size_t blocks = 0;
    if (result->ahead.begun && problem_made_as(result->problem, table->stage) == STAGE_CONTEXT) {
        output_skip(output, matrices * rows * result_columns(table) * dtype_size(table->dtype), result->ahead.code);
        return;
    }
    if (table->tensor != NULL && tensor_count(table->tensor) == matrices * rows * result_columns(table)) {
        write_held(table->tensor, table->dtype, output);
        return;
    }
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0, count; row < rows && !output->failed; row += count) {
            unsigned char *bytes = halves[blocks++ % 2];
            count = memory_smaller(rows - row, most);
            result_encode(result, table, matrix, row, count, bytes,
                          (struct beside){ready.length > 0 ? write_ready : NULL, &ready});
            ready.bytes = bytes;
            ready.length = count * result_columns(table) * dtype_size(table->dtype);
        }
    write_ready(&ready);
}
