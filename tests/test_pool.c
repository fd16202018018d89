/* SPDX-License-Identifier: MIT */
/* Pooling: means of blocks against the table's own numbers, masked ones left out. */
#include "check.h"
#include "support.h"
#include "write/picture/downsample.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 11 };

static const char INPUTS[] = "{\"inputs\": [[1, 2], [3, -1], [0, 2], [2, 2], [-1, 1], [1, -2], [2, 0], [0, 1], [1, 1],"
                             " [-2, -1], [2, -1]]}";

/* The mean, or the largest, of the numbers of a block that are finite: in `masked` the others are forbidden. */
static double pooled(enum pool pool, const double *numbers, size_t first_row, size_t rows, size_t first_column,
                     size_t columns)
{
    double sum = 0, largest = -INFINITY;
    size_t count = 0;
    for (size_t row = first_row; row < first_row + rows && row < TOKENS; row++)
        for (size_t column = first_column; column < first_column + columns && column < TOKENS; column++)
            if (isfinite(numbers[row * TOKENS + column])) {
                sum += numbers[row * TOKENS + column];
                largest = fmax(largest, numbers[row * TOKENS + column]);
                count++;
            }
    return count == 0 ? NAN : pool == POOL_MAX ? largest : sum / (double)count;
}

static void compare(const struct downsample *sample, const double *numbers)
{
    for (size_t row = 0; row < sample->rows; row++)
        for (size_t column = 0; column < sample->columns; column++) {
            const size_t index = downsample_index(sample, 0, row, column);
            const double expected = pooled(sample->pool, numbers, row * sample->row_block, sample->row_block,
                                           column * sample->column_block, sample->column_block);
            CHECK(sample->masked[index] == isnan(expected), "row %zu, column %zu: masked is %d", row, column,
                  sample->masked[index]);
            CHECK(isnan(expected) || fabs(sample->numbers[index] - expected) < 1e-12,
                  "row %zu, column %zu: expected %g, got %g", row, column, expected, sample->numbers[index]);
            CHECK(isnan(expected) || (sample->low <= expected && expected <= sample->high), "%g is not in %g .. %g",
                  expected, sample->low, sample->high);
        }
}

static void pools_in(size_t most_rows, size_t most_columns, size_t rows, size_t columns, enum pool pool)
{
    struct made made;
    double numbers[TOKENS * TOKENS];
    struct downsample sample;
    check_begin("11 x 11 in at most %zu x %zu", most_rows, most_columns);
    if (CHECK(support_make(&made, "causal --stages masked", INPUTS) == STATUS_OK, "%s", made.error.message)) {
        const struct result_table *table = support_table(&made, "masked");
        support_table_numbers(&made, table, numbers, TOKENS * TOKENS);
        if (CHECK(downsample_create(&sample, &made.result, table, most_rows, most_columns, pool, &made.arena,
                                    &made.error) == STATUS_OK,
                  "%s", made.error.message)) {
            CHECK(sample.rows == rows && sample.columns == columns, "expected %zu x %zu, got %zu x %zu", rows, columns,
                  sample.rows, sample.columns);
            CHECK(downsample_is_reduced(&sample) == (rows < TOKENS || columns < TOKENS), "says the other");
            compare(&sample, numbers);
        }
    }
    arena_free(&made.arena);
}

int main(void)
{
    for (int pool = POOL_MEAN; pool <= POOL_MAX; pool++) {
        pools_in(11, 11, 11, 11, (enum pool)pool);
        pools_in(100, 100, 11, 11, (enum pool)pool);
        pools_in(10, 10, 6, 6, (enum pool)pool);
        pools_in(4, 3, 4, 3, (enum pool)pool);
        pools_in(1, 1, 1, 1, (enum pool)pool);
        pools_in(11, 2, 11, 2, (enum pool)pool);
    }
    return check_end();
}
