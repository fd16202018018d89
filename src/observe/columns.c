/* SPDX-License-Identifier: MIT */
/* Rows that are right for keys, or values, whose columns are misread: left out, exchanged, or transposed in tiles. */
#include "observe/observing.h"

#include <math.h>

struct position {
    size_t row, column;
};

/* The cell that is read in place of another, by a size; beyond the last row or column a kernel has 0. */
static struct position read_first(struct position at, size_t size)
{
    return (struct position){at.row, at.column < size ? at.column : SIZE_MAX};
}

static struct position exchange_halves(struct position at, size_t size)
{
    return (struct position){at.row, at.column ^ size / 2};
}

static struct position exchange_first(struct position at, size_t size)
{
    return at.column < size ? exchange_halves(at, size) : at;
}

static struct position transpose(struct position at, size_t size)
{
    const size_t row = at.row % size, column = at.column % size;
    return (struct position){at.row - row + column, at.column - column + row};
}

static const struct misreading {
    enum projection_id of;
    struct position (*read)(struct position at, size_t size);
    const char *words; /* takes the size; "halves" and "square" have powers of 2 */
} MISREADINGS[] = {
    {PROJECTION_KEY, read_first, "for the first %zu columns of query and key alone"},
    {PROJECTION_KEY, exchange_halves, "if in each %zu columns of the keys the halves change places"},
    {PROJECTION_KEY, exchange_first, "if in the first %zu columns of the keys the halves change places"},
    {PROJECTION_KEY, transpose, "if the keys are transposed in square tiles of %zu"},
    {PROJECTION_VALUE, transpose, "if the values are transposed in square tiles of %zu"},
};
enum { MISREADING_COUNT = sizeof MISREADINGS / sizeof MISREADINGS[0] };

/* form: a size, times MISREADING_COUNT, plus which. */
static void misread(struct recipe *recipe, size_t form)
{
    const struct misreading *misreading = &MISREADINGS[form % MISREADING_COUNT];
    struct tensor *operand = &recipe->problem.given.operands[misreading->of];
    const struct tensor right = *operand;
    const size_t rows = right.shape[2], columns = right.shape[3];
    recipe->changed_steps |= 1U << misreading->of;
    if (tensor_create(operand, right.dtype, right.rank, right.shape, recipe->arena, recipe->error) != STATUS_OK)
        return;
    for (size_t i = 0, count = tensor_count(&right); i < count; i++) {
        const struct position at =
            misreading->read((struct position){i / columns % rows, i % columns}, form / MISREADING_COUNT);
        double number = 0;
        if (at.row < rows && at.column < columns)
            tensor_load(&right, (i / columns / rows * rows + at.row) * columns + at.column, 1, &number);
        tensor_store(operand, i, 1, &number);
    }
}

void observe_columns(struct observing *observing)
{
    const struct problem *problem = observing->observed->problem;
    const bool *only = observing->part.only;
    if (problem_projects(problem) || observe_bits(observing, only) < OBSERVE_BITS + 12)
        return;
    for (size_t form = MISREADING_COUNT; form < (problem->size.d_head + 1) * MISREADING_COUNT; form++) {
        const struct misreading *misreading = &MISREADINGS[form % MISREADING_COUNT];
        const size_t size = form / MISREADING_COUNT;
        const bool fits = misreading->read == read_first || (size & (size - 1)) == 0;
        const double *made = fits ? observe_changed(observing, misread, form, OBSERVE_NO_AXIS) : NULL;
        char words[100];
        struct text text = text_begin(words, sizeof words);
        if (made == NULL || !observe_fits(observing, made, only, 1))
            continue;
        text_add(&text, misreading->words, size);
        observe_tell(observing, &observing->part, "right %s", words);
        return;
    }
}
