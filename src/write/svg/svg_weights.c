/* SPDX-License-Identifier: MIT */
#include "write/svg/svg_picture.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* What to show of a matrix, so that three fit side by side on a page: of more than `most`, some at the beginning, a
 * gap, and some at the end. */
struct shown {
    size_t most, first, last;
};
static const struct shown ROWS = {RESULT_ELIDED, RESULT_ELIDED / 2, RESULT_ELIDED / 2}, COLUMNS = {4, 2, 1};

enum { NAME_BYTES = 48 };

/* One matrix, of all modules: rows and columns, and what is shown of each. */
struct matrix {
    const struct projection *projections; /* (modules) */
    size_t modules, rows, columns;
    bool biased;
};

static bool is_whole(size_t count, struct shown shown)
{
    return count <= shown.most;
}

/* How many are shown, including the gap. */
static size_t shown_of(size_t count, struct shown shown)
{
    return is_whole(count, shown) ? count : shown.first + 1 + shown.last;
}

/* Which row or column the i-th is; the gap repeats the one before, so that it changes no scale. */
static size_t place_of(size_t i, size_t count, struct shown shown)
{
    if (is_whole(count, shown) || i < shown.first)
        return i;
    return i == shown.first ? i - 1 : count - shown.first - 1 - shown.last + i;
}

static double number_of(const struct matrix *matrix, size_t module, size_t row, size_t column)
{
    const struct projection *projection = &matrix->projections[module];
    const struct tensor *weight = &projection->weight;
    double number = 0;
    if (row < matrix->rows)
        tensor_load(weight, projection->transposed ? column * matrix->rows + row : row * matrix->columns + column, 1,
                    &number);
    else if (projection->bias.rank > 0)
        tensor_load(&projection->bias, column, 1, &number);
    return number;
}

static enum status load(const struct matrix *matrix, struct tensor *tensor, struct arena *arena, struct error *error)
{
    const size_t rows = shown_of(matrix->rows, ROWS), columns = shown_of(matrix->columns, COLUMNS);
    const size_t shape[] = {matrix->modules, rows + matrix->biased, columns};
    if (tensor_create(tensor, DTYPE_F64, 3, shape, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        const size_t line = i / columns % shape[1], column = place_of(i % columns, matrix->columns, COLUMNS);
        const size_t row = line == rows ? matrix->rows : place_of(line, matrix->rows, ROWS);
        const double number = number_of(matrix, i / columns / shape[1], row, column);
        tensor_store(tensor, i, 1, &number);
    }
    return STATUS_OK;
}

/* "columns 1, 2 and 8", where some are left out. */
static void tell_gap(struct text *text, size_t count, struct shown shown, const char *what)
{
    if (is_whole(count, shown))
        return;
    text_add(text, "%s%s 1%s%zu and ", text->length > 0 ? ", " : "", what, shown.first > 2 ? " to " : ", ",
             shown.first);
    if (shown.last > 1)
        text_add(text, "%zu to ", count - shown.last + 1);
    text_add(text, "%zu", count);
}

static enum status make_table(struct svg_picture *picture, const struct matrix *matrix, const char *name,
                              struct svg_figure *figure)
{
    const bool stacked = matrix->modules > 1;
    struct result_table *table = arena_allocate(picture->arena, 1, sizeof *table, picture->error);
    struct tensor *tensor = arena_allocate(picture->arena, 1, sizeof *tensor, picture->error);
    if (table == NULL || tensor == NULL || load(matrix, tensor, picture->arena, picture->error))
        return picture->error->status;
    *table = (struct result_table){.name = arena_copy(picture->arena, name, picture->error),
                                   .stage = STAGE_PARAMETERS,
                                   .rank = stacked ? 3 : 2,
                                   .tensor = tensor,
                                   .dtype = picture->result->problem->rounding.dtype};
    const enum axis axes[] = {AXIS_HEAD, AXIS_COLUMN, AXIS_COLUMN};
    memcpy(table->axes, axes + !stacked, table->rank * sizeof axes[0]);
    memcpy(table->shape, tensor->shape + !stacked, table->rank * sizeof tensor->shape[0]);
    struct text text = text_begin(table->formula, sizeof table->formula);
    tell_gap(&text, matrix->rows, ROWS, "rows");
    tell_gap(&text, matrix->columns, COLUMNS, "columns");
    figure->panel.sample.table = table;
    figure->panel.gap_row = is_whole(matrix->rows, ROWS) ? 0 : ROWS.first;
    figure->panel.gap_column = is_whole(matrix->columns, COLUMNS) ? 0 : COLUMNS.first;
    figure->panel.biased = matrix->biased;
    return table->name == NULL ? picture->error->status : STATUS_OK;
}

static enum status add(struct svg_picture *picture, const struct projection *projections, size_t modules,
                       enum stage makes, const char *name)
{
    bool transposed = true;
    struct matrix matrix = {.projections = projections, .modules = modules};
    matrix.rows = projections->weight.shape[projections->transposed];
    matrix.columns = projections->weight.shape[!projections->transposed];
    for (size_t module = 0; module < modules; module++) {
        transposed &= projections[module].transposed;
        matrix.biased |= projections[module].bias.rank > 0;
    }
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s%s", name, transposed ? ".weight^T" : "");
    struct svg_figure *figure = &picture->figures[picture->count++];
    *figure = (struct svg_figure){.makes = makes};
    return make_table(picture, &matrix, text, figure);
}

enum status svg_weights_add(struct svg_picture *picture)
{
    const struct problem *problem = picture->result->problem;
    const struct parameters *parameters = &problem_right(problem)->parameters;
    const size_t modules = parameters->module_count;
    const bool asked = problem_shows_stage(problem, STAGE_PARAMETERS);
    if (asked && parameters->latent.rank > 0)
        return error_usage(picture->error, "--stages: the 'parameters' of a latent make no picture; expected stages "
                                           "without them, or another --format than svg");
    if (!problem_projects(problem) || parameters->latent.rank > 0 || (problem->chosen.stages_asked && !asked))
        return STATUS_OK;
    struct result *result = picture->result;
    if (result->widest < COLUMNS.most) { /* the shown matrices may be wider than any table */
        result->widest = COLUMNS.most;
        result->numbers = arena_allocate(picture->arena, COLUMNS.most, sizeof result->numbers[0], picture->error);
        if (result->numbers == NULL)
            return picture->error->status;
    }
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        struct projection *projections = arena_allocate(picture->arena, modules, sizeof *projections, picture->error);
        char name[PARAMETER_NAME_BYTES];
        if (projections == NULL)
            return picture->error->status;
        for (size_t module = 0; module < modules; module++)
            projections[module] = parameters->modules[module].projections[id];
        if (add(picture, projections, modules, projection_stage(id), parameters_name(name, 0, false, id, "")) !=
            STATUS_OK)
            return picture->error->status;
    }
    if (parameters->out.weight.rank == 0)
        return STATUS_OK;
    return add(picture, &parameters->out, 1, STAGE_OUTPUT, "out_proj");
}
