#include "pool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many of `count` make one, so that at most `most` are left. */
static size_t block_of(size_t count, size_t most)
{
    return (count + most - 1) / most;
}

/* Adds a row of the table to the sums of its row of the picture, which lie at `index`. */
static void add_row(struct pool *pool, struct result *result, size_t matrix, size_t row, size_t index, size_t *counts)
{
    const size_t columns = result_columns(pool->table);
    const struct result_mask mask = result_mask_of(result, pool->table, matrix, row);
    result_row(result, pool->table, matrix, row, result->numbers);
    for (size_t column = 0; column < columns; column++) {
        if (result_masks(&mask, column))
            continue;
        pool->numbers[index + column / pool->column_block] += result->numbers[column];
        counts[column / pool->column_block]++;
    }
}

/* Sums become means, and the range knows them. */
static void finish_row(struct pool *pool, size_t index, const size_t *counts, bool *any)
{
    for (size_t column = 0; column < pool->columns; column++) {
        double *number = &pool->numbers[index + column];
        pool->masked[index + column] = counts[column] == 0;
        pool->any_masked |= counts[column] == 0;
        if (counts[column] == 0)
            continue;
        *number /= (double)counts[column];
        pool->any_nan |= isnan(*number);
        pool->any_below |= *number == -INFINITY;
        pool->any_above |= *number == INFINITY;
        if (!isfinite(*number))
            continue;
        pool->low = *any ? fmin(pool->low, *number) : *number;
        pool->high = *any ? fmax(pool->high, *number) : *number;
        *any = true;
    }
}

static void fill(struct pool *pool, struct result *result, size_t *counts)
{
    const size_t rows = result_rows(pool->table);
    bool any = false;
    for (size_t matrix = 0; matrix < pool->matrices; matrix++)
        for (size_t row = 0; row < pool->rows; row++) {
            const size_t index = pool_index(pool, matrix, row, 0), first = row * pool->row_block;
            memset(counts, 0, pool->columns * sizeof *counts);
            for (size_t i = first; i < first + pool->row_block && i < rows; i++)
                add_row(pool, result, matrix, i, index, counts);
            finish_row(pool, index, counts, &any);
        }
}

enum status pool_create(struct pool *pool, struct result *result, const struct result_table *table, size_t most_rows,
                        size_t most_columns, struct arena *arena, struct error *error)
{
    const size_t rows = result_rows(table), columns = result_columns(table);
    *pool = (struct pool){.table = table,
                          .matrices = result_matrices(table),
                          .row_block = block_of(rows, most_rows),
                          .column_block = block_of(columns, most_columns)};
    pool->rows = block_of(rows, pool->row_block);
    pool->columns = block_of(columns, pool->column_block);
    size_t count;
    if (!memory_multiply(pool->matrices, pool->rows, &count) || !memory_multiply(count, pool->columns, &count))
        return error_system(error, 0, "not enough memory: a picture of too many cells");
    pool->numbers = arena_allocate(arena, count, sizeof *pool->numbers, error);
    pool->masked = arena_allocate(arena, count, sizeof *pool->masked, error);
    size_t *counts = arena_allocate(arena, pool->columns, sizeof *counts, error);
    if (pool->numbers == NULL || pool->masked == NULL || counts == NULL)
        return error->status;
    memset(pool->numbers, 0, count * sizeof *pool->numbers);
    fill(pool, result, counts);
    return STATUS_OK;
}

bool pool_is_reduced(const struct pool *pool)
{
    return pool->row_block > 1 || pool->column_block > 1;
}

const char *pool_words(const struct pool *pool, char *text)
{
    snprintf(text, POOL_WORDS_BYTES, "the mean of %zu x %zu numbers%s", pool->row_block, pool->column_block,
             pool->any_masked ? ", those masked left out" : "");
    return text;
}

size_t pool_step(double size, double room)
{
    static const size_t FACTORS[] = {1, 2, 5};
    for (size_t power = 1;; power *= 10)
        for (size_t i = 0; i < 3; i++)
            if ((double)(power * FACTORS[i]) * size >= room)
                return power * FACTORS[i];
}

bool pool_is_labelled(size_t i, size_t step, size_t block)
{
    return step < 5 || block > 1 ? i % step == 0 : (i + 1) % step == 0 || i == 0;
}

size_t pool_index(const struct pool *pool, size_t matrix, size_t row, size_t column)
{
    return (matrix * pool->rows + row) * pool->columns + column;
}
