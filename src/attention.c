#include "attention.h"

#include "fast.h"
#include "threads.h"

#include <math.h>
#include <string.h>

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

/* scores = query . key^T, one row: query (d), keys first .. first + Tk of the tensor, scores (Tk) written. */
static void score(const double *query, const struct tensor *key, size_t first, double *one_key, double *scores,
                  size_t keys, size_t d)
{
    for (size_t j = 0; j < keys; j++) {
        tensor_load(key, (first + j) * d, d, one_key);
        scores[j] = dot_product(query, one_key, d);
    }
}

/* scaled = scores x scale, (Tk). */
static void scale(const double *scores, double factor, double *scaled, size_t keys)
{
    for (size_t j = 0; j < keys; j++)
        scaled[j] = scores[j] * factor;
}

/* capped = softcap x tanh(scaled / softcap), (Tk); without a softcap it is scaled. */
static void cap(const double *scaled, double softcap, double *capped, size_t keys)
{
    for (size_t j = 0; j < keys; j++)
        capped[j] = softcap > 0 ? softcap * tanh(scaled[j] / softcap) : scaled[j];
}

/* masked = capped + bias, (Tk); minus infinity where the key is forbidden, whatever its score. A sum that would round to
 * minus infinity stays at the dtype's lowest number, as a mask of lowest numbers means it: a key that is not forbidden
 * never becomes so by rounding. */
static void mask(const double *capped, const double *bias, enum dtype dtype, double *masked, size_t keys)
{
    const double lowest = -dtype_largest(dtype);
    for (size_t j = 0; j < keys; j++) {
        const double sum = capped[j] + bias[j];
        masked[j] = bias[j] == -INFINITY                                   ? -INFINITY
                    : bias[j] < 0 && capped[j] > -INFINITY && sum < lowest ? lowest
                                                                           : sum;
    }
}

/* What a softmax divides by: sum of exp(masked_j - maximum) over the keys that are seen, and the sink's where the head
 * has one. The exponentials themselves, (Tk) written, are 0 where a key is forbidden. NaN among the scores becomes the
 * maximum. */
struct denominator {
    double maximum, sum;
};

static struct denominator sum_exponentials(const double *masked, const double *bias, const double *sink,
                                           double *exponentials, size_t keys)
{
    struct denominator below = {sink != NULL ? *sink : -INFINITY, 0};
    for (size_t j = 0; j < keys; j++)
        if (bias[j] > -INFINITY && (masked[j] > below.maximum || isnan(masked[j])))
            below.maximum = masked[j];
    for (size_t j = 0; j < keys; j++) {
        exponentials[j] = bias[j] > -INFINITY ? exp(masked[j] - below.maximum) : 0;
        below.sum += exponentials[j];
    }
    if (sink != NULL)
        below.sum += exp(*sink - below.maximum);
    return below;
}

/* weights = softmax(masked): exp(masked_j - maximum) over the sum of them all, (Tk). A key that is forbidden weighs
 * exactly 0. Scores that overflowed to minus infinity, all of a row, give NaN, as in PyTorch. */
static void softmax(const double *masked, const double *bias, const double *sink, double *weights, size_t keys)
{
    const struct denominator below = sum_exponentials(masked, bias, sink, weights, keys);
    for (size_t j = 0; j < keys; j++)
        weights[j] = bias[j] > -INFINITY ? weights[j] / below.sum : 0;
}

/* The weights of a row that may see no key, (Tk), and unless they are its mean, its context. */
static void fill_empty(enum empty_row empty_row, double *weights, size_t keys)
{
    const double weight = empty_row == EMPTY_ROW_MEAN ? 1 / (double)keys : empty_row == EMPTY_ROW_NAN ? (double)NAN : 0;
    for (size_t j = 0; j < keys; j++)
        weights[j] = weight;
}

/* lse = log of the sum of exponentials of a row; minus infinity where it is empty and has no sink. */
static double log_sum(const double *masked, const double *bias, bool empty, const double *sink, double *exponentials,
                      size_t keys)
{
    const struct denominator below = sum_exponentials(masked, bias, sink, exponentials, keys);
    return empty && sink == NULL ? -INFINITY : below.maximum + log(below.sum);
}

/* dropped = weights / (1 - dropout) where kept, else weights x 0, (Tk). In float32 PyTorch multiplies by the rounded
 * factor. */
static void drop(const double *weights, const bool *kept, double dropout, enum dtype dtype, double *dropped,
                 size_t keys)
{
    double factor = 1 / (1 - dropout);
    tensor_round(dtype_storage(dtype), &factor, 1);
    for (size_t j = 0; j < keys; j++)
        dropped[j] = weights[j] * (kept[j] ? factor : 0);
}

/* context = dropped . value, one row: dropped (Tk), values first .. first + Tk of the tensor, context (d_v) written. A
 * value that is not seen, where `bias` says so, takes no part; NULL: all do. */
static void weigh(const double *dropped, const double *bias, const struct tensor *value, size_t first,
                  double *one_value, double *restrict context, size_t keys, size_t d)
{
    memset(context, 0, d * sizeof *context);
    for (size_t j = 0; j < keys; j++) {
        if (bias != NULL && bias[j] == -INFINITY)
            continue;
        tensor_load(value, (first + j) * d, d, one_value);
        for (size_t c = 0; c < d; c++)
            context[c] += dropped[j] * one_value[c];
    }
}

/* --- the same with every operation rounded, as ONNX's reference does --------------------------------------------- */

static double rounded(enum dtype dtype, double number)
{
    tensor_round(dtype, &number, 1);
    return number;
}

/* scaled = (query x root) . (key x root)^T, one row, where root is that of the scale: it, the two products and the sum
 * are rounded each. */
static void score_scaled(const double *query, const struct tensor *key, size_t first, double scale, enum dtype dtype,
                         double *one_query, double *one_key, double *scaled, size_t keys, size_t d)
{
    const double root = rounded(dtype, sqrt(scale));
    for (size_t i = 0; i < d; i++)
        one_query[i] = rounded(dtype, query[i] * root);
    for (size_t j = 0; j < keys; j++) {
        tensor_load(key, (first + j) * d, d, one_key);
        for (size_t i = 0; i < d; i++)
            one_key[i] = rounded(dtype, one_key[i] * root);
        scaled[j] = dot_product(one_query, one_key, d);
    }
}

static void cap_rounded(const double *scaled, double softcap, enum dtype dtype, double *capped, size_t keys)
{
    const double ceiling = rounded(dtype, softcap);
    for (size_t j = 0; j < keys; j++)
        capped[j] = softcap > 0 ? rounded(dtype, tanh(rounded(dtype, scaled[j] / ceiling))) * ceiling : scaled[j];
}

/* The sum of the exponentials is wide and then rounded; in bfloat16 each addition is. */
static void softmax_rounded(const double *masked, const double *bias, const double *sink, enum dtype dtype,
                            double *weights, size_t keys)
{
    const double maximum = sum_exponentials(masked, bias, sink, weights, keys).maximum;
    double sum = sink != NULL ? rounded(dtype, exp(rounded(dtype, *sink - maximum))) : 0;
    for (size_t j = 0; j < keys; j++) {
        weights[j] = bias[j] > -INFINITY ? rounded(dtype, exp(rounded(dtype, masked[j] - maximum))) : 0;
        sum += weights[j];
        sum = dtype == DTYPE_BF16 ? rounded(dtype, sum) : sum;
    }
    sum = rounded(dtype, sum);
    for (size_t j = 0; j < keys; j++)
        weights[j] = bias[j] > -INFINITY ? weights[j] / sum : 0;
}

/* --- one row through the stages ---------------------------------------------------------------------------------- */

/* What the mask says of the present row. */
static void open_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                     size_t slot)
{
    const struct mask *rules = &attention->problem->mask;
    const size_t keys = rules->keys, query = attention->positions[slot];
    const struct span span = mask_span(rules, item, query);
    double *bias = scratch->bias;
    for (size_t j = 0; j < keys; j++)
        bias[j] = -INFINITY;
    scratch->empty = true;
    if (mask_has_bias(rules))
        mask_bias(rules, item, head, query, span.first, span.end - span.first, bias + span.first);
    for (size_t j = span.first; j < span.end; j++) {
        bias[j] = mask_has_bias(rules) ? bias[j] : 0;
        scratch->empty = scratch->empty && bias[j] == -INFINITY;
    }
}

/* weights, in the dtype of the softmax on the way. */
static void weight_row(const struct problem *problem, struct attention_scratch *scratch, const double *sink)
{
    const size_t keys = problem->keys;
    double *masked = scratch->rows[STAGE_MASKED], *weights = scratch->rows[STAGE_WEIGHTS];
    if (scratch->empty) {
        fill_empty(problem->mask.empty_row, weights, keys);
        return;
    }
    memcpy(scratch->cast, masked, keys * sizeof *masked);
    tensor_round(problem->softmax_dtype, scratch->cast, keys);
    if (problem->rounding == ROUNDING_OPERATIONS)
        softmax_rounded(scratch->cast, scratch->bias, sink, problem->softmax_dtype, weights, keys);
    else
        softmax(scratch->cast, scratch->bias, sink, weights, keys);
    if (problem->softmax_dtype != problem->dtype)
        tensor_round(problem->softmax_dtype, weights, keys);
}

/* The stage from those before it, in double. `matrix` counts the heads of key and value over all items. */
static void compute(const struct attention *attention, struct attention_scratch *scratch, size_t matrix, size_t head,
                    enum stage stage, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t keys = problem->keys;
    const double *sink = problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL;
    const bool operations = problem->rounding == ROUNDING_OPERATIONS;
    double **rows = scratch->rows;
    switch (stage) {
    case STAGE_SCORES:
        score(rows[STAGE_QUERY], &attention->key, matrix * keys, scratch->operand, rows[stage], keys, problem->d_head);
        break;
    case STAGE_SCALED:
        if (operations)
            score_scaled(rows[STAGE_QUERY], &attention->key, matrix * keys, problem->scale, problem->dtype,
                         scratch->sums, scratch->operand, rows[stage], keys, problem->d_head);
        else
            scale(rows[STAGE_SCORES], problem->scale, rows[stage], keys);
        break;
    case STAGE_CAPPED:
        if (operations)
            cap_rounded(rows[STAGE_SCALED], problem->softcap, problem->dtype, rows[stage], keys);
        else
            cap(rows[STAGE_SCALED], problem->softcap, rows[stage], keys);
        break;
    case STAGE_MASKED:
        mask(rows[STAGE_CAPPED], scratch->bias, problem->dtype, rows[stage], keys);
        break;
    case STAGE_WEIGHTS:
        weight_row(problem, scratch, sink);
        break;
    case STAGE_DROPPED:
        if (kept != NULL)
            drop(rows[STAGE_WEIGHTS], kept, problem->dropout, problem->dtype, rows[stage], keys);
        else
            memcpy(rows[stage], rows[STAGE_WEIGHTS], keys * sizeof *rows[stage]);
        break;
    default:
        if (scratch->empty && problem->mask.empty_row != EMPTY_ROW_MEAN) {
            fill_empty(problem->mask.empty_row, rows[STAGE_CONTEXT], problem->d_value);
            break;
        }
        weigh(rows[STAGE_DROPPED], scratch->empty ? NULL : scratch->bias, &attention->value, matrix * keys,
              scratch->operand, rows[STAGE_CONTEXT], keys, problem->d_value);
    }
}

void attention_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, enum stage last, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, matrix = item * problem->heads + head;
    const size_t kv_matrix = matrix / (problem->heads / problem->kv_heads);
    tensor_load(&attention->query, (matrix * attention->slots + slot) * d, d, scratch->rows[STAGE_QUERY]);
    open_row(attention, scratch, item, head, slot);
    for (int stage = STAGE_SCORES; stage <= (int)last; stage++) {
        compute(attention, scratch, kv_matrix, head, (enum stage)stage, kept);
        tensor_round(problem->dtype, scratch->rows[stage], stage == STAGE_CONTEXT ? problem->d_value : problem->keys);
    }
}

void attention_output(const struct attention *attention, const double *context, double *output)
{
    const struct problem *problem = attention->problem;
    const size_t width = problem->heads * problem->d_value;
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
 *   projected  (B, H or H_kv, count, d) written at row `row` of the item */
static void split_heads(const struct problem *problem, double *columns, size_t item, size_t head, size_t heads,
                        size_t row, const struct tensor *projected)
{
    const size_t d = problem->d_head, all = projected->shape[1], count = projected->shape[2];
    tensor_round(problem->dtype, columns, heads * d);
    for (size_t i = 0; i < heads; i++)
        tensor_store(projected, ((item * all + head + i) * count + row) * d, d, columns + i * d);
}

/* One projection of one module for every item: of the queries asked for, or of all tokens. */
static enum status project_module(const struct attention *attention, size_t module, enum projection_id id,
                                  const struct tensor *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct projection *projection = &problem->parameters.modules[module].projections[id];
    const size_t d_in = problem->d_in, heads = projected->shape[1] / problem->plan.module_count;
    const size_t count = projected->shape[2];
    struct arena scratch = {0};
    double *weight, *bias;
    enum status status = load_weight(projection, &weight, &scratch, error);
    if (status == STATUS_OK)
        status = load_bias(projection, &bias, &scratch, error);
    for (size_t item = 0; status == STATUS_OK && item < problem->items; item++)
        for (size_t row = 0; row < count; row++) {
            const size_t token = id == PROJECTION_QUERY ? attention->positions[row] : row;
            tensor_load(&problem->inputs, (item * problem->keys + token) * d_in, d_in, attention->scratch->operand);
            project(attention->scratch->operand, weight, bias, attention->scratch->sums, d_in, heads * problem->d_head);
            split_heads(problem, attention->scratch->sums, item, module * heads, heads, row, projected);
        }
    arena_free(&scratch);
    return status;
}

static enum status make_scratch(struct attention_scratch *scratch, const struct problem *problem, bool rows,
                                struct arena *arena, struct error *error)
{
    const size_t keys = rows ? problem->keys : 1;
    const size_t widest = memory_larger(problem->d_in, memory_larger(problem->d_head, problem->d_value));
    double **const all[] = {&scratch->operand, &scratch->sums, &scratch->bias, &scratch->cast,
                            &scratch->rows[STAGE_QUERY]};
    const size_t sizes[] = {widest, memory_larger(problem->plan.d_out, problem->d_head), keys, keys, problem->d_head};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = arena_allocate(arena, sizes[i], sizeof(double), error);
        if (*all[i] == NULL)
            return error->status;
    }
    for (int stage = STAGE_SCORES; stage <= STAGE_CONTEXT; stage++) {
        size_t columns = stage == STAGE_CONTEXT ? problem->d_value : keys;
        scratch->rows[stage] = arena_allocate(arena, columns, sizeof(double), error);
        if (scratch->rows[stage] == NULL)
            return error->status;
    }
    return STATUS_OK;
}

/* From here on the rows of a job are worth more than one thread: 2^24 multiply-adds. */
static const double THREADS_WORK = 0x1p24;

static enum status make_scratches(struct attention *attention, unsigned stages, struct arena *arena,
                                  struct error *error)
{
    const struct problem *problem = attention->problem;
    const double rows = (double)problem->items * (double)problem->heads * (double)attention->slots;
    const double work = rows * (double)problem->keys * (double)(problem->d_head + problem->d_value);
    bool asked = !problem->fused || (stages & STAGE_BIT(STAGE_SCORES)) != 0;
    attention->threads = asked && work >= THREADS_WORK ? problem->threads : 1;
    attention->scratch = arena_allocate(arena, attention->threads, sizeof *attention->scratch, error);
    for (unsigned thread = 0; attention->scratch != NULL && thread < attention->threads; thread++)
        if (make_scratch(&attention->scratch[thread], problem, asked, arena, error) != STATUS_OK)
            return error->status;
    return attention->scratch == NULL ? error->status : STATUS_OK;
}

static bool asks_for(const struct problem *problem, enum stage stage)
{
    for (size_t i = 0; i < problem->stage_count; i++)
        if (problem->stages[i] == stage)
            return true;
    return false;
}

/* What is held whole: query, key and value where they are made here, lse, and where the fused path makes them context
 * and output. */
struct held {
    struct tensor *tensor;
    size_t rank, shape[TENSOR_RANK];
};

enum { MOST_HELD = 6 };

static size_t list_held(struct attention *attention, unsigned stages, struct held held[MOST_HELD])
{
    const struct problem *problem = attention->problem;
    const size_t items = problem->items, heads = problem->heads, kv_heads = problem->kv_heads, keys = problem->keys;
    const size_t slots = attention->slots, d = problem->d_head, d_value = problem->d_value;
    const size_t columns = problem->plan.has_out ? problem->plan.d_out : heads * d_value;
    const bool projects = problem->mechanism != COMMAND_SDPA, fused = attention->fused;
    const bool gathers = projects || slots != problem->queries;
    const struct {
        enum stage stage;
        bool wanted;
        struct held held;
    } all[MOST_HELD] = {
        {STAGE_QUERY, gathers, {&attention->query, 4, {items, heads, slots, d}}},
        {STAGE_KEY, projects, {&attention->key, 4, {items, kv_heads, keys, d}}},
        {STAGE_VALUE, projects, {&attention->value, 4, {items, kv_heads, keys, d_value}}},
        {STAGE_CONTEXT,
         fused && !problem->packed && asks_for(problem, STAGE_CONTEXT),
         {&attention->context, 4, {items, heads, slots, d_value}}},
        {STAGE_OUTPUT, fused, {&attention->output, 3, {items, slots, columns}}},
        {STAGE_LSE, true, {&attention->lse, 3, {items, heads, slots}}},
    };
    size_t count = 0;
    for (size_t i = 0; i < MOST_HELD; i++)
        if (stages & STAGE_BIT(all[i].stage) && all[i].wanted)
            held[count++] = all[i].held;
    return count;
}

/* Bytes of what is held, and of the largest of what is made on the way: a weight, packed or in double, the heads side by
 * side. */
static double count_bytes(const struct attention *attention, const struct held *held, size_t count)
{
    const struct problem *problem = attention->problem;
    const double number = (double)dtype_size(dtype_storage(problem->dtype));
    const size_t d_out = problem->plan.d_out;
    const size_t widest = problem->plan.has_out ? memory_larger(problem->d_in, d_out) : problem->d_in;
    double bytes = (problem->fast_projections ? sizeof(float) : sizeof(double)) * (double)d_out * (double)widest;
    for (size_t i = 0; i < count; i++) {
        double numbers = 1;
        for (size_t axis = 0; axis < held[i].rank; axis++)
            numbers *= (double)held[i].shape[axis];
        bytes += numbers * number * (held[i].tensor == &attention->output && problem->plan.has_out ? 2 : 1);
    }
    return bytes;
}

/* Room for it, before any of it is computed. The system promises more than it has: what cannot be is said here. */
static enum status make_room(struct attention *attention, unsigned stages, struct arena *arena, struct error *error)
{
    struct held held[MOST_HELD];
    const size_t count = list_held(attention, stages, held);
    const double there = memory_there(), needed = count_bytes(attention, held, count);
    if (needed > there)
        return error_system(error, 0,
                            "not enough memory: this job needs %.1f GB for query, key, value and what is made of them, "
                            "%.1f GB are there; expected fewer tokens, columns or items",
                            needed / 1e9, there / 1e9);
    for (size_t i = 0; i < count; i++)
        if (tensor_create(held[i].tensor, dtype_storage(attention->problem->dtype), held[i].rank, held[i].shape, arena,
                          error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

/* The float32 kernels do not round; what the reference goes on from is rounded to the working dtype. */
static void round_tensor(enum dtype dtype, const struct tensor *tensor)
{
    float *numbers = tensor->data;
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        double number = numbers[i];
        tensor_round(dtype, &number, 1);
        numbers[i] = (float)number;
    }
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

static bool all_finite(const struct tensor *tensor)
{
    const float *numbers = tensor->data;
    const size_t count = tensor->rank > 0 ? tensor_count(tensor) : 0;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

/* What overflowed on the way to key or value must not reach a query that does not see it: only the reference keeps it
 * out. */
static enum status check_overflow(struct attention *attention, struct error *error)
{
    const struct problem *problem = attention->problem;
    if (!attention->fused || !problem->masks || (all_finite(&attention->key) && all_finite(&attention->value)))
        return STATUS_OK;
    if (problem->forced)
        return error_usage(error,
                           "--kernel fused: %s overflowed in float32, which the reference alone keeps out of rows "
                           "that may not see it; expected --kernel auto",
                           all_finite(&attention->key) ? "value" : "key");
    attention->fused = false;
    attention->context.rank = attention->output.rank = 0;
    return STATUS_OK;
}

static void round_projections(const struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const struct tensor *projected[] = {&attention->query, &attention->key, &attention->value};
    const bool rounds = problem->fast_projections && !attention->fused && problem->dtype != DTYPE_F32;
    for (int id = 0; id < PROJECTION_COUNT && rounds; id++)
        if (projected[id]->rank > 0)
            round_tensor(problem->dtype, projected[id]);
}

/* sdpa's query, key and value as they were given; of query the rows that are asked for. */
static void take_given(struct attention *attention, unsigned stages)
{
    const struct problem *problem = attention->problem;
    const struct tensor *given = problem->given;
    attention->key = given[1];
    attention->value = given[2];
    if (attention->slots == problem->queries || (stages & STAGE_BIT(STAGE_QUERY)) == 0) {
        attention->query = given[0];
        return;
    }
    const size_t row = problem->d_head * dtype_size(given[0].dtype);
    char *to = attention->query.data;
    for (size_t matrix = 0; matrix < problem->items * problem->heads; matrix++)
        for (size_t slot = 0; slot < attention->slots; slot++, to += row)
            memcpy(to, (const char *)given[0].data + (matrix * problem->queries + attention->positions[slot]) * row,
                   row);
}

struct lse_run {
    const struct attention *attention;
    size_t first; /* row, counted over items, heads and slots */
};

/* lse of one row. */
static void make_lse(void *context, size_t task, unsigned thread)
{
    const struct lse_run *run = context;
    const struct attention *attention = run->attention;
    const size_t row = run->first + task;
    const struct problem *problem = attention->problem;
    struct attention_scratch *scratch = &attention->scratch[thread];
    const size_t matrix = row / attention->slots, head = matrix % problem->heads;
    const double *sinks = problem->mask.sinks;
    attention_row(attention, scratch, matrix / problem->heads, head, row % attention->slots, STAGE_MASKED, NULL);
    double lse = log_sum(scratch->rows[STAGE_MASKED], scratch->bias, scratch->empty,
                         sinks != NULL ? sinks + head : NULL, scratch->cast, problem->keys);
    tensor_round(problem->dtype, &lse, 1);
    tensor_store(&attention->lse, row, 1, &lse);
}

/* Some rows at a time, so that progress can be told. */
static void make_lses(struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const size_t rows = problem->items * problem->heads * attention->slots, most = (size_t)attention->threads * 16;
    progress_begin(problem->progress, stage_name(STAGE_LSE), (double)rows);
    for (size_t first = 0; first < rows; first += most) {
        struct lse_run run = {attention, first};
        threads_run(attention->threads, rows - first < most ? rows - first : most, make_lse, &run);
        progress_update(problem->progress, (double)(first + most < rows ? first + most : rows));
    }
    progress_end(problem->progress);
}

enum status attention_create(struct attention *attention, const struct problem *problem, const size_t *positions,
                             size_t slots, unsigned stages, struct arena *arena, struct error *error)
{
    *attention =
        (struct attention){.problem = problem, .positions = positions, .slots = slots, .fused = problem->fused};
    if (problem->fused && stages & STAGE_BIT(STAGE_LSE)) /* which comes with a context */
        stages |= STAGE_BIT(STAGE_VALUE);
    if (make_scratches(attention, stages, arena, error) || make_room(attention, stages, arena, error))
        return error->status;
    if (problem->mechanism == COMMAND_SDPA)
        take_given(attention, stages);
    else if (make_projections(attention, stages, error) || check_overflow(attention, error))
        return error->status;
    round_projections(attention);
    if (attention->fused)
        return stages & (STAGE_BIT(STAGE_CONTEXT) | STAGE_BIT(STAGE_LSE)) ? fast_context(attention, error) : STATUS_OK;
    if (stages & STAGE_BIT(STAGE_LSE))
        make_lses(attention);
    if ((stages & STAGE_BIT(STAGE_OUTPUT)) == 0 || !problem->plan.has_out)
        return STATUS_OK;
    if (load_weight(&problem->parameters.out, &attention->out_weight, arena, error) != STATUS_OK)
        return error->status;
    return load_bias(&problem->parameters.out, &attention->out_bias, arena, error);
}
