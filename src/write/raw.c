/* SPDX-License-Identifier: MIT */
#include "write/raw.h"
#include "model/stage_id.h"

enum { LEAST_STREAMED = 1 << 16 }; /* bytes: less is written in no time */

size_t write_raw_size(const struct result_table *table)
{
    size_t size = dtype_size(table->dtype);
    for (size_t axis = 0; axis < table->rank; axis++)
        size = memory_product(size, table->shape[axis]);
    return size;
}

/* Whether to write the table while it is computed: a long context of the fused path. Not a part: its header depends
 * on all its numbers. */
static bool is_streamed(const struct writing *writing, const struct result_table *table, size_t size)
{
    const struct problem *problem = writing->result->problem;
    return writing->output->target != NULL && problem->chosen.parts == 0 && table->heads == 0 &&
           stage_exists(table->stage) && problem_made_as(problem, table->stage) == STAGE_CONTEXT &&
           problem->mistake.recipe == NULL && problem->path.fused && size >= LEAST_STREAMED;
}

enum status write_raw_expect(const struct writing *writing, size_t header)
{
    struct result *result = writing->result;
    size_t all = header;
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        const size_t size = write_raw_size(table);
        if (result->attention.streamed.output == NULL && is_streamed(writing, table, size))
            result->attention.streamed = (struct streamed_output){.output = writing->output,
                                                                  .offset = all,
                                                                  .made = result->problem->path.kernel->number,
                                                                  .dtype = table->dtype};
        all = memory_sum(all, size);
    }
    if (all == SIZE_MAX)
        return error_system(writing->error, 0, "the tables are larger than any file");
    output_expect(writing->output, all);
    return writing->output->failed ? writing->error->status : STATUS_OK;
}

static bool put(void *output, const void *bytes, size_t length)
{
    output_write(output, bytes, length);
    return !((struct output *)output)->failed;
}

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

/* Writes one half of the room while the other half is filled. */
void write_raw(struct result *result, const struct result_table *table, unsigned char *room, struct output *output)
{
    const size_t matrices = result_matrices(table), rows = result_rows(table),
                 most = result_rows_at_once(result, table);
    unsigned char *const halves[] = {room, room + block_bytes(result, table)};
    struct ready ready = {.output = output};
    size_t blocks = 0;
    if (result->attention.streamed.begun && problem_made_as(result->problem, table->stage) == STAGE_CONTEXT) {
        output_skip(output, matrices * rows * result_columns(table) * dtype_size(table->dtype),
                    result->attention.streamed.code);
        return;
    }
    if (table->tensor != NULL && table->heads == 0 &&
        tensor_count(table->tensor) == matrices * rows * result_columns(table)) {
        dtype_encode_all(table->dtype, table->tensor->dtype, table->tensor->data, tensor_count(table->tensor), put,
                         output);
        return;
    }
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0, count; row < rows && !output->failed; row += count) {
            unsigned char *bytes = halves[blocks++ % 2];
            count = memory_smaller(rows - row, most);
            result_encode(result, table, matrix, row, count, bytes,
                          (struct background_work){ready.length > 0 ? write_ready : NULL, &ready});
            ready.bytes = bytes;
            ready.length = count * result_columns(table) * dtype_size(table->dtype);
        }
    write_ready(&ready);
}
