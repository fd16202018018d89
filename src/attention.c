#include "attention.h"

#include <math.h>
#include <string.h>

/* --- the equations ----------------------------------------------------------------------------------------------- */

/* y = x . W + bias, one row, rounded once.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   sums    (d_out) scratch
 *   y       (d_out) written */
static void project(const float *x, const double *weight, const float *bias, double *restrict sums, float *y,
                    size_t d_in, size_t d_out)
{
    memset(sums, 0, d_out * sizeof *sums);
    for (size_t k = 0; k < d_in; k++) {
        const double x_k = x[k];
        const double *restrict weight_k = weight + k * d_out;
        for (size_t j = 0; j < d_out; j++)
            sums[j] += x_k * weight_k[j];
    }
    for (size_t j = 0; j < d_out; j++)
        y[j] = (float)(bias != NULL ? sums[j] + bias[j] : sums[j]);
}

/* query . key of one pair, (d) each; four sums run side by side, so that each addition need not wait for the last. */
static double dot_product(const float *query, const float *key, size_t d)
{
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= d; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            sums[lane] += (double)query[i + lane] * key[i + lane];
    for (; i < d; i++)
        sums[0] += (double)query[i] * key[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* scores = query . key^T, one row: query (d), key (T, d), scores (T) written. */
static void score(const float *query, const float *key, float *scores, size_t tokens, size_t d)
{
    for (size_t j = 0; j < tokens; j++)
        scores[j] = (float)dot_product(query, key + j * d, d);
}

/* scaled = scores x scale, (T). */
static void scale(const float *scores, double factor, float *scaled, size_t tokens)
{
    for (size_t j = 0; j < tokens; j++)
        scaled[j] = (float)(scores[j] * factor);
}

/* masked = scaled for the first `visible` keys, minus infinity for the rest, (T). */
static void mask(const float *scaled, size_t visible, float *masked, size_t tokens)
{
    memcpy(masked, scaled, visible * sizeof *masked);
    for (size_t j = visible; j < tokens; j++)
        masked[j] = -INFINITY;
}

/* weights = softmax(masked): exp(masked_j - maximum) over the sum of them all, (T). A key that the mask forbids, from
 * `visible` on, weighs exactly 0. Scores that overflowed to minus infinity, all of a row, give NaN, as in PyTorch. */
static void softmax(const float *masked, size_t visible, double *exponentials, float *weights, size_t tokens)
{
    double maximum = -INFINITY, sum = 0;
    for (size_t j = 0; j < visible; j++)
        maximum = masked[j] > maximum || isnan(masked[j]) ? masked[j] : maximum;
    for (size_t j = 0; j < visible; j++) {
        exponentials[j] = exp(masked[j] - maximum);
        sum += exponentials[j];
    }
    for (size_t j = 0; j < tokens; j++)
        weights[j] = j < visible ? (float)(exponentials[j] / sum) : 0;
}

/* dropped = weights / (1 - dropout) where kept, else weights x 0, (T). */
static void drop(const float *weights, const bool *kept, double dropout, float *dropped, size_t tokens)
{
    const float factor = (float)(1 / (1 - dropout));
    for (size_t j = 0; j < tokens; j++)
        dropped[j] = weights[j] * (kept[j] ? factor : 0);
}

/* context = dropped . value, one row: dropped (T), value (T, d), sums (d) scratch, context (d) written. */
static void weigh(const float *dropped, const float *value, double *restrict sums, float *context, size_t tokens,
                  size_t d)
{
    memset(sums, 0, d * sizeof *sums);
    for (size_t j = 0; j < tokens; j++) {
        const double weight = dropped[j];
        for (size_t c = 0; c < d; c++)
            sums[c] += weight * value[j * d + c];
    }
    for (size_t c = 0; c < d; c++)
        context[c] = (float)sums[c];
}

/* --- one row through the stages ---------------------------------------------------------------------------------- */

void attention_row(struct attention *attention, size_t item, size_t head, size_t row, enum stage last, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t tokens = problem->tokens, d = problem->d_head;
    const size_t matrix = item * problem->heads + head;
    const size_t visible = problem->causal ? problem->rows[row] + 1 : tokens;
    const float *query = attention->query + (matrix * problem->row_count + row) * d;
    const float *key = attention->key + matrix * tokens * d;
    float **rows = attention->rows;
    score(query, key, rows[STAGE_SCORES], tokens, d);
    if (last >= STAGE_SCALED)
        scale(rows[STAGE_SCORES], problem->scale, rows[STAGE_SCALED], tokens);
    if (last >= STAGE_CAPPED) /* no softcap */
        memcpy(rows[STAGE_CAPPED], rows[STAGE_SCALED], tokens * sizeof *rows[0]);
    if (last >= STAGE_MASKED)
        mask(rows[STAGE_CAPPED], visible, rows[STAGE_MASKED], tokens);
    if (last >= STAGE_WEIGHTS)
        softmax(rows[STAGE_MASKED], visible, attention->sums, rows[STAGE_WEIGHTS], tokens);
    if (last < STAGE_DROPPED)
        return;
    if (kept != NULL)
        drop(rows[STAGE_WEIGHTS], kept, problem->dropout, rows[STAGE_DROPPED], tokens);
    else
        memcpy(rows[STAGE_DROPPED], rows[STAGE_WEIGHTS], tokens * sizeof *rows[0]);
    if (last >= STAGE_CONTEXT)
        weigh(rows[STAGE_DROPPED], attention->value + matrix * tokens * d, attention->sums, rows[STAGE_CONTEXT], tokens,
              d);
}

void attention_output(struct attention *attention, const float *context, float *output)
{
    const struct problem *problem = attention->problem;
    const size_t width = problem->heads * problem->d_head;
    if (attention->out_weight == NULL)
        memcpy(output, context, width * sizeof *output);
    else
        project(context, attention->out_weight, problem->parameters.out.bias.data, attention->sums, output, width,
                problem->plan.d_out);
}

/* --- what the rows stand on -------------------------------------------------------------------------------------- */

/* The projection's weight in double as y = x . W reads it: (d_in, d_out), whichever way it is stored. */
static double *weight_matrix(const struct projection *projection, struct arena *arena, struct error *error)
{
    const struct tensor *stored = &projection->weight;
    const size_t rows = stored->shape[0], columns = stored->shape[1];
    double *weight = arena_allocate(arena, tensor_count(stored), sizeof *weight, error);
    if (weight == NULL)
        return NULL;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            weight[projection->transposed ? column * rows + row : row * columns + column] =
                stored->data[row * columns + column];
    return weight;
}

/* Cuts one row of a module's projection into its heads.
 *   columns    (heads d) of the module, whose first head is `head`
 *   projected  (B, H, count, d) written at row `row` of the item */
static void split_heads(const struct problem *problem, const float *columns, size_t item, size_t head, size_t heads,
                        size_t row, size_t count, float *projected)
{
    const size_t d = problem->d_head;
    for (size_t i = 0; i < heads; i++)
        memcpy(projected + ((item * problem->heads + head + i) * count + row) * d, columns + i * d,
               d * sizeof *columns);
}

/* One projection of one module for every item and every row asked for (rows NULL: all of them). */
static enum status project_module(const struct attention *attention, size_t module, enum projection_id id,
                                  const size_t *rows, size_t count, float *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct projection *projection = &problem->parameters.modules[module].projections[id];
    const size_t d_in = problem->d_in, d_out = problem->plan.d_out;
    const size_t heads = problem->heads / problem->plan.module_count;
    struct arena scratch = {0};
    const double *weight = weight_matrix(projection, &scratch, error);
    float *columns = arena_allocate(&scratch, d_out, sizeof *columns, error);
    const bool ready = weight != NULL && columns != NULL;
    for (size_t item = 0; ready && item < problem->items; item++)
        for (size_t row = 0; row < count; row++) {
            size_t token = rows != NULL ? rows[row] : row;
            project(problem->inputs + (item * problem->tokens + token) * d_in, weight, projection->bias.data,
                    attention->sums, columns, d_in, d_out);
            split_heads(problem, columns, item, module * heads, heads, row, count, projected);
        }
    arena_free(&scratch);
    return ready ? STATUS_OK : error->status;
}

static enum status make_projection(struct attention *attention, enum projection_id id, float **projected,
                                   struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    const bool query = id == PROJECTION_QUERY;
    const size_t count = query ? problem->row_count : problem->tokens;
    const size_t shape[] = {problem->items, problem->heads, count, problem->d_head};
    struct tensor tensor;
    if (tensor_create(&tensor, 4, shape, arena, error) != STATUS_OK)
        return error->status;
    *projected = tensor.data;
    for (size_t module = 0; module < problem->plan.module_count; module++)
        if (project_module(attention, module, id, query ? problem->rows : NULL, count, *projected, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

static enum status make_scratch(struct attention *attention, struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t widest = memory_larger(problem->tokens, problem->plan.d_out);
    attention->sums = arena_allocate(arena, widest, sizeof *attention->sums, error);
    if (attention->sums == NULL)
        return error->status;
    for (int stage = STAGE_SCORES; stage <= STAGE_CONTEXT; stage++) {
        size_t columns = stage == STAGE_CONTEXT ? problem->d_head : problem->tokens;
        attention->rows[stage] = arena_allocate(arena, columns, sizeof *attention->rows[0], error);
        if (attention->rows[stage] == NULL)
            return error->status;
    }
    return STATUS_OK;
}

enum status attention_create(struct attention *attention, const struct problem *problem, unsigned stages,
                             struct arena *arena, struct error *error)
{
    *attention = (struct attention){.problem = problem};
    float **projected[PROJECTION_COUNT] = {&attention->query, &attention->key, &attention->value};
    if (make_scratch(attention, arena, error) != STATUS_OK)
        return error->status;
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (stages & STAGE_BIT(STAGE_QUERY + id) &&
            make_projection(attention, (enum projection_id)id, projected[id], arena, error) != STATUS_OK)
            return error->status;
    if (stages & STAGE_BIT(STAGE_OUTPUT) && problem->plan.has_out) {
        attention->out_weight = weight_matrix(&problem->parameters.out, arena, error);
        if (attention->out_weight == NULL)
            return error->status;
    }
    return STATUS_OK;
}
