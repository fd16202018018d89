#include "attention.h"

#include "fast.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- the equations, in double; the caller rounds what is stored --------------------------------------------------- */

/* y = x . W + bias, one row.
 *   x       (d_in)
 *   weight  (d_in, d_out)
 *   bias    (d_out), or NULL
 *   y       (d_out) written */
static void project(const double *x, const double *weight, const double *bias, double *restrict y, size_t d_in,
                    size_t d_out)
{
    memset(y, 0, d_out * sizeof *y);
    for (size_t k = 0; k < d_in; k++) {
        const double *restrict weight_k = weight + k * d_out;
        for (size_t j = 0; j < d_out; j++)
            y[j] += x[k] * weight_k[j];
    }
    for (size_t j = 0; bias != NULL && j < d_out; j++)
        y[j] += bias[j];
}

/* query . key of one pair, (d) each; four sums run side by side, so that each addition need not wait for the last. */
static double dot_product(const double *query, const double *key, size_t d)
{
    double sums[4] = {0};
    size_t i = 0;
    for (; i + 4 <= d; i += 4)
        for (size_t lane = 0; lane < 4; lane++)
            sums[lane] += query[i + lane] * key[i + lane];
    for (; i < d; i++)
        sums[0] += query[i] * key[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* scores = query . key^T, one row: query (d), keys first .. first + T of the tensor, scores (T) written. */
static void score(const double *query, const struct tensor *key, size_t first, double *one_key, double *scores,
                  size_t tokens, size_t d)
{
    for (size_t j = 0; j < tokens; j++) {
        tensor_load(key, (first + j) * d, d, one_key);
        scores[j] = dot_product(query, one_key, d);
    }
}

/* scaled = scores x scale, (T). */
static void scale(const double *scores, double factor, double *scaled, size_t tokens)
{
    for (size_t j = 0; j < tokens; j++)
        scaled[j] = scores[j] * factor;
}

/* masked = scaled for the first `visible` keys, minus infinity for the rest, (T). */
static void mask(const double *scaled, size_t visible, double *masked, size_t tokens)
{
    memcpy(masked, scaled, visible * sizeof *masked);
    for (size_t j = visible; j < tokens; j++)
        masked[j] = -INFINITY;
}

/* weights = softmax(masked): exp(masked_j - maximum) over the sum of them all, (T). A key that the mask forbids, from
 * `visible` on, weighs exactly 0. Scores that overflowed to minus infinity, all of a row, give NaN, as in PyTorch. */
static void softmax(const double *masked, size_t visible, double *weights, size_t tokens)
{
    double maximum = -INFINITY, sum = 0;
    for (size_t j = 0; j < visible; j++)
        maximum = masked[j] > maximum || isnan(masked[j]) ? masked[j] : maximum;
    for (size_t j = 0; j < visible; j++) {
        weights[j] = exp(masked[j] - maximum);
        sum += weights[j];
    }
    for (size_t j = 0; j < tokens; j++)
        weights[j] = j < visible ? weights[j] / sum : 0;
}

/* dropped = weights / (1 - dropout) where kept, else weights x 0, (T). In float32 PyTorch multiplies by the rounded
 * factor. */
static void drop(const double *weights, const bool *kept, double dropout, enum dtype dtype, double *dropped,
                 size_t tokens)
{
    double factor = 1 / (1 - dropout);
    tensor_round(dtype, &factor, 1);
    for (size_t j = 0; j < tokens; j++)
        dropped[j] = weights[j] * (kept[j] ? factor : 0);
}

/* context = dropped . value, one row: dropped (T), values first .. first + T of the tensor, context (d) written. */
static void weigh(const double *dropped, const struct tensor *value, size_t first, double *one_value,
                  double *restrict context, size_t tokens, size_t d)
{
    memset(context, 0, d * sizeof *context);
    for (size_t j = 0; j < tokens; j++) {
        tensor_load(value, (first + j) * d, d, one_value);
        for (size_t c = 0; c < d; c++)
            context[c] += dropped[j] * one_value[c];
    }
}

/* --- one row through the stages ---------------------------------------------------------------------------------- */

/* The stage from those before it, in double. */
static void compute(struct attention *attention, size_t matrix, size_t slot, enum stage stage, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t tokens = problem->tokens, d = problem->d_head;
    const size_t visible = problem->causal ? attention->positions[slot] + 1 : tokens;
    double **rows = attention->rows;
    switch (stage) {
    case STAGE_SCORES:
        score(rows[STAGE_QUERY], &attention->key, matrix * tokens, attention->operand, rows[stage], tokens, d);
        break;
    case STAGE_SCALED:
        scale(rows[STAGE_SCORES], problem->scale, rows[stage], tokens);
        break;
    case STAGE_CAPPED: /* no softcap */
        memcpy(rows[stage], rows[STAGE_SCALED], tokens * sizeof *rows[stage]);
        break;
    case STAGE_MASKED:
        mask(rows[STAGE_CAPPED], visible, rows[stage], tokens);
        break;
    case STAGE_WEIGHTS:
        softmax(rows[STAGE_MASKED], visible, rows[stage], tokens);
        break;
    case STAGE_DROPPED:
        if (kept != NULL)
            drop(rows[STAGE_WEIGHTS], kept, problem->dropout, problem->dtype, rows[stage], tokens);
        else
            memcpy(rows[stage], rows[STAGE_WEIGHTS], tokens * sizeof *rows[stage]);
        break;
    default:
        weigh(rows[STAGE_DROPPED], &attention->value, matrix * tokens, attention->operand, rows[STAGE_CONTEXT], tokens,
              d);
    }
}

void attention_row(struct attention *attention, size_t item, size_t head, size_t slot, enum stage last,
                   const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, matrix = item * problem->heads + head;
    tensor_load(&attention->query, (matrix * attention->slots + slot) * d, d, attention->rows[STAGE_QUERY]);
    for (int stage = STAGE_SCORES; stage <= (int)last; stage++) {
        compute(attention, matrix, slot, (enum stage)stage, kept);
        tensor_round(problem->dtype, attention->rows[stage], stage == STAGE_CONTEXT ? d : problem->tokens);
    }
}

void attention_output(struct attention *attention, const double *context, double *output)
{
    const struct problem *problem = attention->problem;
    const size_t width = problem->heads * problem->d_head;
    if (attention->out_weight == NULL)
        memcpy(output, context, width * sizeof *output);
    else
        project(context, attention->out_weight, attention->out_bias, output, width, problem->plan.d_out);
    tensor_round(problem->dtype, output, attention->out_weight == NULL ? width : problem->plan.d_out);
}

/* --- what the rows stand on -------------------------------------------------------------------------------------- */

/* A weight in double as y = x . W reads it: (d_in, d_out), whichever way it is stored. */
static enum status load_weight(const struct projection *projection, double **weight, struct arena *arena,
                               struct error *error)
{
    const struct tensor *stored = &projection->weight;
    const size_t rows = stored->shape[0], columns = stored->shape[1];
    double *row_numbers = arena_allocate(arena, columns, sizeof *row_numbers, error);
    *weight = arena_allocate(arena, tensor_count(stored), sizeof **weight, error);
    if (row_numbers == NULL || *weight == NULL)
        return error->status;
    for (size_t row = 0; row < rows; row++) {
        tensor_load(stored, row * columns, columns, row_numbers);
        for (size_t column = 0; column < columns; column++)
            (*weight)[projection->transposed ? column * rows + row : row * columns + column] = row_numbers[column];
    }
    return STATUS_OK;
}

/* A bias in double; NULL where the projection has none. */
static enum status load_bias(const struct projection *projection, double **bias, struct arena *arena,
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

/* Cuts one row of a module's projection into its heads.
 *   columns    (heads d) of the module, whose first head is `head`
 *   projected  (B, H, count, d) written at row `row` of the item */
static void split_heads(const struct problem *problem, const double *columns, size_t item, size_t head, size_t heads,
                        size_t row, size_t count, const struct tensor *projected)
{
    const size_t d = problem->d_head;
    for (size_t i = 0; i < heads; i++)
        tensor_store(projected, ((item * problem->heads + head + i) * count + row) * d, d, columns + i * d);
}

/* One projection of one module for every item: of the queries asked for, or of all tokens. */
static enum status project_module(const struct attention *attention, size_t module, enum projection_id id,
                                  const struct tensor *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct projection *projection = &problem->parameters.modules[module].projections[id];
    const size_t d_in = problem->d_in, heads = problem->heads / problem->plan.module_count, count = projected->shape[2];
    struct arena scratch = {0};
    double *weight, *bias;
    enum status status = load_weight(projection, &weight, &scratch, error);
    if (status == STATUS_OK)
        status = load_bias(projection, &bias, &scratch, error);
    for (size_t item = 0; status == STATUS_OK && item < problem->items; item++)
        for (size_t row = 0; row < count; row++) {
            const size_t token = id == PROJECTION_QUERY ? attention->positions[row] : row;
            tensor_load(&problem->inputs, (item * problem->tokens + token) * d_in, d_in, attention->operand);
            project(attention->operand, weight, bias, attention->sums, d_in, problem->plan.d_out);
            split_heads(problem, attention->sums, item, module * heads, heads, row, count, projected);
        }
    arena_free(&scratch);
    return status;
}

static enum status make_scratch(struct attention *attention, struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    attention->sums = arena_allocate(arena, problem->plan.d_out, sizeof *attention->sums, error);
    attention->operand = arena_allocate(arena, memory_larger(problem->d_in, problem->d_head), sizeof(double), error);
    attention->rows[STAGE_QUERY] = arena_allocate(arena, problem->d_head, sizeof(double), error);
    if (attention->sums == NULL || attention->operand == NULL || attention->rows[STAGE_QUERY] == NULL)
        return error->status;
    for (int stage = STAGE_SCORES; stage <= STAGE_CONTEXT; stage++) {
        size_t columns = stage == STAGE_CONTEXT ? problem->d_head : problem->tokens;
        attention->rows[stage] = arena_allocate(arena, columns, sizeof(double), error);
        if (attention->rows[stage] == NULL)
            return error->status;
    }
    return STATUS_OK;
}

/* What is held whole: query, key and value, and where the fused path makes them context and output. */
struct held {
    struct tensor *tensor;
    size_t rank, shape[TENSOR_RANK];
};

static size_t list_held(struct attention *attention, unsigned stages, struct held held[5])
{
    const struct problem *problem = attention->problem;
    struct tensor *const tensors[] = {&attention->query, &attention->key, &attention->value, &attention->context};
    const enum stage which[] = {STAGE_QUERY, STAGE_KEY, STAGE_VALUE, STAGE_CONTEXT};
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        const bool of_queries = which[i] == STAGE_QUERY || which[i] == STAGE_CONTEXT;
        const size_t rows = of_queries ? attention->slots : problem->tokens;
        if (stages & STAGE_BIT(which[i]) && (which[i] != STAGE_CONTEXT || problem->fused))
            held[count++] = (struct held){tensors[i], 4, {problem->items, problem->heads, rows, problem->d_head}};
    }
    const size_t columns = problem->plan.has_out ? problem->plan.d_out : problem->heads * problem->d_head;
    if (stages & STAGE_BIT(STAGE_OUTPUT) && problem->fused)
        held[count++] = (struct held){&attention->output, 3, {problem->items, attention->slots, columns}};
    return count;
}

/* Room for it, before any of it is computed. The system promises more than it has: what cannot be is said here. */
static enum status make_room(struct attention *attention, unsigned stages, struct arena *arena, struct error *error)
{
    struct held held[5];
    const size_t count = list_held(attention, stages, held);
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double needed = 0;
    for (size_t i = 0; i < count; i++) {
        double bytes = (double)dtype_size(attention->problem->dtype);
        for (size_t axis = 0; axis < held[i].rank; axis++)
            bytes *= (double)held[i].shape[axis];
        needed += bytes;
    }
    if (there > 0 && needed > there)
        return error_system(error, 0,
                            "not enough memory: query, key, value and context need %.1f GB, this machine has "
                            "%.1f GB; --query or --part asks for less",
                            needed / 1e9, there / 1e9);
    for (size_t i = 0; i < count; i++)
        if (tensor_create(held[i].tensor, attention->problem->dtype, held[i].rank, held[i].shape, arena, error) !=
            STATUS_OK)
            return error->status;
    return STATUS_OK;
}

static enum status make_projections(struct attention *attention, unsigned stages, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct tensor *projected[] = {&attention->query, &attention->key, &attention->value};
    for (int id = 0; id < PROJECTION_COUNT; id++)
        for (size_t module = 0; module < problem->plan.module_count && stages & STAGE_BIT(STAGE_QUERY + id); module++) {
            const enum projection_id which = (enum projection_id)id;
            enum status status = problem->fast_projections
                                     ? fast_projection(attention, module, which, projected[id], error)
                                     : project_module(attention, module, which, projected[id], error);
            if (status != STATUS_OK)
                return status;
        }
    return STATUS_OK;
}

enum status attention_create(struct attention *attention, const struct problem *problem, const size_t *positions,
                             size_t slots, unsigned stages, struct arena *arena, struct error *error)
{
    *attention = (struct attention){.problem = problem, .positions = positions, .slots = slots};
    if (make_scratch(attention, arena, error) || make_room(attention, stages, arena, error) ||
        make_projections(attention, stages, error))
        return error->status;
    if (problem->fused)
        return stages & STAGE_BIT(STAGE_CONTEXT) ? fast_context(attention, error) : STATUS_OK;
    if ((stages & STAGE_BIT(STAGE_OUTPUT)) == 0 || !problem->plan.has_out)
        return STATUS_OK;
    if (load_weight(&problem->parameters.out, &attention->out_weight, arena, error) != STATUS_OK)
        return error->status;
    return load_bias(&problem->parameters.out, &attention->out_bias, arena, error);
}
