/* SPDX-License-Identifier: MIT */
#include "stage/projections.h"

#include "kernel/processor.h"
#include "model/stage_id.h"
#include "stage/latent.h"
#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/stage.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 4, TERMS = 32, AT_ONCE = 8, SQUARE_COLUMNS = 128 };

/* Some terms of some rows' sums, x (rows, d_in) . weight (terms, stride); each number adds its own in the order of
 * k. */
struct block {
    const double *x, *weight;
    double *sums; /* (rows, sums_stride) */
    size_t rows, terms, d_in, stride, sums_stride;
};

typedef void block_adder(const struct block *block, size_t first, size_t end);

/* Adds to columns first .. end. */
static block_adder add_block;
static void add_block(const struct block *block, size_t first, size_t end)
{
    for (size_t k = 0; k < block->terms; k++)
        for (size_t row = 0; row < block->rows; row++) {
            const double *restrict weight = block->weight + k * block->stride;
            double *restrict sums = block->sums + row * block->sums_stride;
            const double x = block->x[row * block->d_in + k];
            for (size_t j = first; j < end; j++)
                sums[j] += x * weight[j];
        }
}

#if defined(__x86_64__) && defined(__GNUC__)
/* The same bits in a third of the time: sums of four rows stay in registers, without fused operations. */
#define ADD_BLOCK(name, set, bytes)                                                                         \
    __attribute__((target(set))) static void name(const struct block *block, size_t first, size_t end)      \
    {                                                                                                       \
        typedef double lanes __attribute__((vector_size((bytes)), aligned(8), may_alias));                  \
        enum { VECTORS = 2, ALL = ROWS * VECTORS, WIDTH = VECTORS * (bytes) / 8 };                          \
        for (; block->rows == ROWS && first + WIDTH <= end; first += WIDTH) {                               \
            lanes sums[ROWS][VECTORS];                                                                      \
            for (size_t i = 0; i < ALL; i++)                                                                \
                sums[i / VECTORS][i % VECTORS] =                                                            \
                    ((const lanes *)(block->sums + i / VECTORS * block->sums_stride + first))[i % VECTORS]; \
            for (size_t k = 0; k < block->terms; k++)                                                       \
                for (size_t i = 0; i < ALL; i++)                                                            \
                    sums[i / VECTORS][i % VECTORS] +=                                                       \
                        block->x[i / VECTORS * block->d_in + k] *                                           \
                        ((const lanes *)(block->weight + k * block->stride + first))[i % VECTORS];          \
            for (size_t i = 0; i < ALL; i++)                                                                \
                ((lanes *)(block->sums + i / VECTORS * block->sums_stride + first))[i % VECTORS] =          \
                    sums[i / VECTORS][i % VECTORS];                                                         \
        }                                                                                                   \
        add_block(block, first, end);                                                                       \
    }
ADD_BLOCK(add_block_avx2, "avx2", 32)
ADD_BLOCK(add_block_avx512, "avx512f", 64)

static block_adder *adder(void)
{
    return PROCESSOR_HAS(AVX512F, "avx512f") ? add_block_avx512
           : PROCESSOR_HAS(AVX2, "avx2")     ? add_block_avx2
                                             : add_block;
}
#else
static block_adder *adder(void)
{
    return add_block;
}
#endif

void projection_rows(const struct problem *problem, const double *x, size_t rows, size_t d_in,
                     const struct projection_part *part, double *y, size_t y_stride)
{
    block_adder *const add = adder();
    for (size_t row = 0; row < rows; row++)
        memset(y + row * y_stride, 0, part->count * sizeof *y);
    for (size_t k = 0; k < d_in; k += TERMS)
        for (size_t row = 0; row < rows; row += ROWS)
            add(&(struct block){.x = x + row * d_in + k,
                                .weight = part->weight + k * part->stride,
                                .sums = y + row * y_stride,
                                .rows = memory_smaller(rows - row, ROWS),
                                .terms = memory_smaller(d_in - k, TERMS),
                                .d_in = d_in,
                                .stride = part->stride,
                                .sums_stride = y_stride},
                0, part->count);
    for (size_t row = 0; row < rows && part->bias != NULL; row++) {
        double *of_row = y + row * y_stride;
        if (problem_rounding(problem)->product_first)
            dtype_round(problem->rounding.dtype, of_row, part->count);
        for (size_t j = 0; j < part->count; j++)
            of_row[j] += part->bias[j];
    }
}

void projection_row(const struct problem *problem, const double *x, const double *weight, const double *bias, double *y,
                    size_t d_in, size_t d_out)
{
    projection_rows(problem, x, 1, d_in, &(struct projection_part){weight, bias, d_out, d_out}, y, d_out);
}

void projection_back(const double *above, const double *weight, double *x, size_t d_in, size_t d_out)
{
    for (size_t k = 0; k < d_in; k++)
        for (size_t j = 0; j < d_out; j++)
            if (above[j] != 0)
                x[k] += weight[k * d_out + j] * above[j];
}

enum status projection_columns(const struct projection *projection, size_t first, size_t count, double **weight,
                               struct arena *arena, struct error *error)
{
    const struct tensor *stored = &projection->weight;
    const size_t rows = stored->shape[0], columns = stored->shape[1];
    const size_t d_in = projection->transposed ? columns : rows;
    double *numbers = *weight = arena_allocate(arena, d_in * count, sizeof **weight, error);
    double square[AT_ONCE][SQUARE_COLUMNS];
    if (numbers == NULL)
        return error->status;
    for (size_t row = 0; row < d_in && !projection->transposed; row++)
        tensor_load(stored, row * columns + first, count, numbers + row * count);
    for (size_t row = 0; row < count && projection->transposed; row += AT_ONCE) /* few lines of the cache for each */
        for (size_t column = 0; column < columns; column += SQUARE_COLUMNS) {
            const size_t now = memory_smaller(count - row, AT_ONCE),
                         wide = memory_smaller(columns - column, SQUARE_COLUMNS);
            for (size_t i = 0; i < now; i++)
                tensor_load(stored, (first + row + i) * columns + column, wide, square[i]);
            for (size_t k = 0; k < wide; k++)
                for (size_t i = 0; i < now; i++)
                    numbers[(column + k) * count + row + i] = square[i][k];
        }
    return STATUS_OK;
}

enum status projection_weight(const struct projection *projection, double **weight, struct arena *arena,
                              struct error *error)
{
    return projection_columns(projection, 0, projection->weight.shape[!projection->transposed], weight, arena, error);
}

enum status projection_bias(const struct projection *projection, double **bias, struct arena *arena,
                            struct error *error)
{
    *bias = NULL;
    if (projection->bias.rank == 0)
        return STATUS_OK;
    *bias = arena_allocate(arena, projection->bias.shape[0], sizeof **bias, error);
    if (*bias == NULL)
        return error->status;
    tensor_load(&projection->bias, 0, projection->bias.shape[0], *bias);
    return STATUS_OK;
}

/* "W^T" if all modules store it transposed; a file may give one head's W and another's transposed. */
static const char *storage_text(const struct parameters *parameters, enum projection_id id)
{
    size_t transposed = 0;
    for (size_t module = 0; module < parameters->module_count; module++)
        transposed += parameters->modules[module].projections[id].transposed;
    return transposed == 0 ? "" : transposed == parameters->module_count ? ".weight^T" : " or .weight^T";
}

void projection_formula(const struct problem *problem, enum stage stage, struct text *text)
{
    if (!problem_projects(problem)) {
        text_add(text,
                 problem->rotation.past > 0 && stage_is_of_keys(stage) ? "the past, then the given ones" : "given");
        return;
    }
    const enum projection_id id = projection_of(stage);
    const char *of_heads = problem->plan.stacked ? " of each head" : problem->size.has_heads ? ", cut into heads" : "";
    char name[PARAMETER_NAME_BYTES], bias[PARAMETER_NAME_BYTES + 8] = "";
    if (latent_makes(problem, id)) {
        latent_formula(problem, stage, text);
        return;
    }
    parameters_name(name, 0, false, id, "");
    if (problem->parameters.modules[0].projections[id].bias.rank > 0)
        snprintf(bias, sizeof bias, " + %s.bias", name);
    text_add(text, "%s . %s%s%s%s", stage_name(problem_source(problem, stage)), name,
             storage_text(&problem->parameters, id), bias, of_heads);
    if (problem->given.clip > 0)
        text_add(text, ", clipped to +-%g", problem->given.clip);
}

void projection_load_inputs(struct explanation *e, size_t item, size_t token)
{
    const struct problem *problem = e->problem;
    const size_t d_in = problem->size.d_in;
    tensor_load(&problem->given.inputs, (item * problem->size.queries + token) * d_in, d_in, e->operand);
}

enum stage projection_load_source(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum stage source = problem_source(problem, stage);
    const struct explain_place of_token = {place.item, 0,
                                           stage_is_of_keys(stage) ? place.row : problem->chosen.rows[place.row]};
    if (source == STAGE_KEY_INPUTS)
        explain_load(e, source, of_token, e->operand);
    else
        projection_load_inputs(e, of_token.item, of_token.row);
    if (source == STAGE_NORMED)
        norm_input_row(problem, e->operand);
    return source;
}

void projection_explain(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const enum projection_id id = projection_of(stage);
    if (latent_makes(problem, id)) {
        explain_latent(e, stage, place);
        return;
    }
    const size_t module = problem->plan.stacked ? place.head : 0;
    const size_t first = problem->plan.stacked ? 0 : place.head * problem_columns(problem, stage);
    struct explain_projection by = {.projection = &problem->parameters.modules[module].projections[id],
                                    .first = first,
                                    .d_in = id == PROJECTION_QUERY ? problem->size.d_in : problem->size.d_key_in,
                                    .weight_kind = EXPLAIN_WEIGHTS + (int)id,
                                    .x_kind = (int)projection_load_source(e, stage, place)};
    explain_projected(e, stage, place, "", &by, explain_prepare_projected);
}

/* The projection is a stage of its own if a norm or a rotation follows. */
const struct stage_functions stage_projected_query = {
    .applies = operand_query_has_steps,
    .lack = "there is no 'projected_query' without a norm or a rotation of query; expected 'query', or --rope",
    .formula = projection_formula,
    .explain = projection_explain};
const struct stage_functions stage_projected_key = {
    .applies = operand_key_has_steps,
    .lack = "there is no 'projected_key' without a norm or a rotation of key; expected 'key', or --rope",
    .formula = projection_formula,
    .explain = projection_explain};
const struct stage_functions stage_projected_value = {
    .applies = operand_value_has_steps,
    .lack = "there is no 'projected_value' without a norm of value; expected 'value', or --value-norm",
    .formula = projection_formula,
    .explain = projection_explain};
