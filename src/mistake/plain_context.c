/* context in tiles and output of a recipe, where they are not made as they should be. */
#include "mistake/plain.h"

#include "stage/output.h"
#include "stage/projections.h"

#include <math.h>
#include <string.h>

/* --- a running softmax over tiles of keys, as fused kernels have it ----------------------------------------------- */

/* One query: Dao et al. 2022, "FlashAttention", algorithm 1, with a step of it left out. */
struct tile_row {
    enum recipe_tiles mistake;
    const double *masked, *bias; /* (Tk) */
    const bool *kept;            /* (Tk) or NULL */
    double factor;               /* of what dropout keeps */
    const struct tensor *value;
    size_t first; /* of the head's values */
    size_t keys, d;
    double *operand; /* (d) */
    double *context; /* (d) written */
    double largest, sum;
};

/* The largest of the keys first .. end that are seen; minus infinity: none is. */
static double largest_of(const struct tile_row *row, size_t first, size_t end)
{
    double largest = -INFINITY;
    for (size_t j = first; j < end; j++)
        if (row->bias[j] > -INFINITY)
            largest = fmax(largest, row->masked[j]);
    return largest;
}

static void rescale(struct tile_row *row, double largest)
{
    const double factor = row->mistake == RECIPE_TILES_LAST ? 0 : exp(row->largest - largest);
    row->largest = largest;
    if (row->mistake != RECIPE_TILES_SUM_KEPT)
        row->sum *= factor;
    for (size_t c = 0; c < row->d && row->mistake != RECIPE_TILES_CONTEXT_KEPT; c++)
        row->context[c] *= factor;
}

static void add_tile(struct tile_row *row, size_t first, size_t end)
{
    const double largest = largest_of(row, first, end);
    if (largest == -INFINITY)
        return;
    rescale(row, row->mistake == RECIPE_TILES_LAST ? largest : fmax(row->largest, largest));
    for (size_t j = first; j < end; j++) {
        const double power = row->bias[j] > -INFINITY ? exp(row->masked[j] - row->largest) : 0;
        const double share = row->kept == NULL ? power : row->kept[j] ? power * row->factor : 0;
        row->sum += power;
        tensor_load(row->value, (row->first + j) * row->d, row->d, row->operand);
        for (size_t c = 0; c < row->d && power != 0; c++)
            row->context[c] += share * row->operand[c];
    }
    for (size_t c = 0; c < row->d && row->mistake == RECIPE_TILES_CONTEXT_DIVIDED; c++)
        row->context[c] /= row->sum;
}

static void make_row(struct tile_row *row, size_t tile)
{
    memset(row->context, 0, row->d * sizeof *row->context);
    for (size_t first = 0; first < row->keys; first += tile)
        add_tile(row, first, memory_smaller(first + tile, row->keys));
    for (size_t c = 0; c < row->d && row->mistake != RECIPE_TILES_CONTEXT_DIVIDED && row->sum != 0; c++)
        row->context[c] /= row->sum;
}

enum status plain_tiles(struct plain *plain, const struct tensor *value)
{
    const struct problem *problem = plain->problem;
    const size_t keys = problem->keys, d = problem->d_value;
    const double *sinks = problem->mask.sinks;
    double *operand = arena_allocate(plain->arena, d, sizeof *operand, plain->error);
    for (size_t index = 0; index < problem->items * problem->heads * plain->row_count && operand != NULL; index++) {
        const size_t head = index / plain->row_count % problem->heads, item = index / plain->row_count / problem->heads;
        double *context = plain->stages[STAGE_CONTEXT] + index * d;
        struct tile_row row = {.mistake = plain->recipe->tiles,
                               .masked = plain->stages[STAGE_MASKED] + index * keys,
                               .bias = plain->bias + index * keys,
                               .kept = plain->kept != NULL ? plain->kept + index * keys : NULL,
                               .factor = 1 / (1 - problem->dropout),
                               .value = value,
                               .first = plain_first_key(plain, item, head),
                               .keys = keys,
                               .d = d,
                               .operand = operand,
                               .context = context,
                               .largest = sinks != NULL ? sinks[head] : -INFINITY,
                               .sum = sinks != NULL ? 1 : 0};
        make_row(&row, plain->recipe->tile);
        dtype_round(problem->dtype, context, d);
    }
    return plain->error->status;
}

/* --- the heads side by side -------------------------------------------------------------------------------------- */

/* Which number of an item's contexts, (H, S, d_v), is column c of row i. */
static size_t source_of(const struct plain *plain, size_t row, size_t column)
{
    const size_t heads = plain->problem->heads, d = plain->problem->d_value, rows = plain->row_count;
    const size_t head = column / d, c = column % d;
    switch (plain->recipe->merge) {
    case RECIPE_MERGE_VIEW:
        return row * heads * d + column;
    case RECIPE_MERGE_INTERLEAVED:
        return (column % heads * rows + row) * d + column / heads;
    case RECIPE_MERGE_REVERSED:
        return ((heads - 1 - head) * rows + row) * d + c;
    case RECIPE_MERGE_HEADS:
        break;
    }
    return (head * rows + row) * d + c;
}

/* out_proj as doubles; trials share it where it is as it is without mistakes. */
static enum status load_out(struct plain *plain, double **weight, double **bias)
{
    const struct projection *out = &plain->problem->parameters.out;
    struct plain_columns *columns = plain->recipe->out_anew ? NULL : plain->columns;
    struct arena *arena = columns != NULL ? plain->lasting : plain->arena;
    *weight = *bias = NULL;
    if (!plain->problem->plan.has_out)
        return STATUS_OK;
    if (columns != NULL && columns->out_weight != NULL) {
        *weight = columns->out_weight;
        *bias = columns->out_bias;
        return STATUS_OK;
    }
    if (projection_weight(out, weight, arena, plain->error) || projection_bias(out, bias, arena, plain->error))
        return plain->error->status;
    if (columns != NULL) {
        columns->out_weight = *weight;
        columns->out_bias = *bias;
    }
    return STATUS_OK;
}

enum status plain_output(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t width = problem->heads * problem->d_value, rows = plain->row_count;
    const size_t columns = problem_columns_of_head(problem, STAGE_OUTPUT);
    double *side_by_side = arena_allocate(plain->arena, width, sizeof *side_by_side, plain->error);
    double *weight, *bias;
    if (side_by_side == NULL || load_out(plain, &weight, &bias) != STATUS_OK)
        return plain->error->status;
    for (size_t row = 0; row < problem->items * rows; row++) {
        const double *contexts = plain->stages[STAGE_CONTEXT] + row / rows * rows * width;
        double *output = plain->stages[STAGE_OUTPUT] + row * columns;
        for (size_t column = 0; column < width; column++)
            side_by_side[column] = contexts[source_of(plain, row % rows, column)];
        output_row(problem, side_by_side, weight, bias, output);
        if (plain->recipe->out_twice) {
            memcpy(side_by_side, output, width * sizeof *output);
            output_row(problem, side_by_side, weight, bias, output);
        }
    }
    return STATUS_OK;
}
