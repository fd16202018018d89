/* SPDX-License-Identifier: MIT */
#include "write/picture/downsample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many of `count` to put together, so that at most `most` are left. */
static size_t block_of(size_t count, size_t most)
{
    return (count + most - 1) / most;
}

/* Adds a row of the table to the sums, or the largest numbers, of a row of the picture, from `index` on. */
static void add_row(struct downsample *sample, struct result *result, size_t matrix, size_t row, size_t index,
                    size_t *counts)
{
    const size_t columns = result_columns(sample->table);
    const struct result_mask mask = result_mask_of(result, sample->table, matrix, row);
    result_row(result, sample->table, matrix, row, result->numbers);
    for (size_t column = 0; column < columns; column++) {
        if (result_masks(&mask, column))
            continue;
        double *to = &sample->numbers[index + column / sample->column_block];
        const bool first = counts[column / sample->column_block]++ == 0;
        if (sample->pool == POOL_MEAN)
            *to += result->numbers[column];
        else if (first || (!isnan(*to) && !(result->numbers[column] <= *to)))
            *to = result->numbers[column];
    }
}

/* Widens low and high to a number that is not masked. */
static void note(struct downsample *sample, double number)
{
    sample->any_nan |= isnan(number);
    sample->any_below |= number == -INFINITY;
    sample->any_above |= number == INFINITY;
    if (!isfinite(number))
        return;
    sample->low = fmin(sample->low, number);
    sample->high = fmax(sample->high, number);
}

/* Divides sums into means; notes masked blocks. */
static void finish_row(struct downsample *sample, size_t index, const size_t *counts)
{
    for (size_t column = 0; column < sample->columns; column++) {
        double *number = &sample->numbers[index + column];
        sample->masked[index + column] = counts[column] == 0;
        sample->any_masked |= counts[column] == 0;
        if (counts[column] == 0)
            continue;
        *number /= sample->pool == POOL_MEAN ? (double)counts[column] : 1;
        note(sample, *number);
    }
}

/* The largest numbers of a row, from `index` on. */
static void rank_row(struct downsample *sample, double *numbers, size_t index)
{
    for (size_t rank = 0; rank < sample->columns; rank++) {
        size_t best = rank;
        for (size_t word = 0; word < result_columns(sample->table); word++)
            best = numbers[word] > numbers[best] ? word : best;
        sample->words[index + rank] = best;
        sample->numbers[index + rank] = numbers[best];
        note(sample, numbers[best]);
        numbers[best] = -INFINITY;
    }
}

static void fill(struct downsample *sample, struct result *result, size_t *counts)
{
    const size_t rows = result_rows(sample->table);
    sample->low = INFINITY;
    sample->high = -INFINITY;
    for (size_t matrix = 0; matrix < sample->matrices; matrix++)
        for (size_t row = 0; row < sample->rows; row++) {
            const size_t index = downsample_index(sample, matrix, row, 0), first = row * sample->row_block;
            if (sample->words != NULL) {
                result_row(result, sample->table, matrix, row, result->numbers);
                rank_row(sample, result->numbers, index);
                continue;
            }
            memset(counts, 0, sample->columns * sizeof *counts);
            for (size_t i = first; i < first + sample->row_block && i < rows; i++)
                add_row(sample, result, matrix, i, index, counts);
            finish_row(sample, index, counts);
        }
    if (sample->low > sample->high)
        sample->low = sample->high = 0;
}

enum status downsample_create(struct downsample *sample, struct result *result, const struct result_table *table,
                              size_t most_rows, size_t most_columns, enum pool pool, struct arena *arena,
                              struct error *error)
{
    const bool ranked = result_column_axis(table) == AXIS_WORD;
    const size_t rows = result_rows(table), words = memory_smaller(result_columns(table), DOWNSAMPLE_RANKS);
    const size_t columns = ranked ? words : result_columns(table);
    *sample = (struct downsample){.table = table,
                                  .pool = pool,
                                  .matrices = result_matrices(table),
                                  .row_block = block_of(rows, most_rows),
                                  .column_block = block_of(columns, most_columns)};
    sample->rows = block_of(rows, sample->row_block);
    sample->columns = block_of(columns, sample->column_block);
    const size_t count = memory_product(memory_product(sample->matrices, sample->rows), sample->columns);
    sample->numbers = arena_allocate(arena, count, sizeof *sample->numbers, error);
    sample->masked = arena_allocate(arena, count, sizeof *sample->masked, error);
    sample->words = ranked ? arena_allocate(arena, count, sizeof *sample->words, error) : NULL;
    size_t *counts = arena_allocate(arena, sample->columns, sizeof *counts, error);
    if (sample->numbers == NULL || sample->masked == NULL || counts == NULL || (ranked && sample->words == NULL))
        return error->status;
    memset(sample->numbers, 0, count * sizeof *sample->numbers);
    memset(sample->masked, 0, count * sizeof *sample->masked);
    fill(sample, result, counts);
    return STATUS_OK;
}

void downsample_sharpen(struct downsample *sample, bool asked)
{
    const enum stage stage = sample->table->stage;
    sample->sharp = asked && stage_is_shares(stage) && stage_is_square(stage) && !downsample_is_reduced(sample);
}

struct sharpness downsample_sharpness(const struct downsample *sample, size_t matrix, size_t row)
{
    return result_sharpness(sample->numbers + downsample_index(sample, matrix, row, 0), sample->columns);
}

size_t downsample_heads(const struct result_table *table)
{
    return result_is_of(table, AXIS_HEAD) ? table->shape[table->rank - 3] : 1;
}

bool downsample_is_reduced(const struct downsample *sample)
{
    return sample->row_block > 1 || sample->column_block > 1;
}

const char *downsample_words(const struct downsample *sample, char *text)
{
    return text_format(text, DOWNSAMPLE_WORDS_BYTES, "the %s of %zu x %zu numbers%s",
                       sample->pool == POOL_MEAN ? "mean" : "largest", sample->row_block, sample->column_block,
                       sample->any_masked ? ", those masked left out" : "");
}

size_t downsample_step(double size, double room)
{
    static const size_t FACTORS[] = {1, 2, 5};
    for (size_t power = 1;; power *= 10)
        for (size_t i = 0; i < 3; i++)
            if ((double)(power * FACTORS[i]) * size >= room)
                return power * FACTORS[i];
}

bool downsample_is_labelled(size_t i, size_t step, size_t block)
{
    return step < 5 || block > 1 ? i % step == 0 : (i + 1) % step == 0 || i == 0;
}

size_t downsample_index(const struct downsample *sample, size_t matrix, size_t row, size_t column)
{
    return (matrix * sample->rows + row) * sample->columns + column;
}
