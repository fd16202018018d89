/* SPDX-License-Identifier: MIT */
/* How far a kernel may be off, from the dtype and the size of the sums that it makes: each number, and the root mean
 * square of each row.
 *
 * u is half a unit of the dtype's last place: what one rounding to it may do. c is the same of the numbers in which a
 * kernel sums: float32, or float64 where that is the dtype. A sum of n products is off by no more than n c times the
 * sum of their sizes. So, for query i:
 *
 *   S_i = the largest of |scale| sum |q| |k| + |what the mask adds| over the keys that have weight, and |sink|
 *   w_i = c (2 (d + 4) S_i + 2 Tk + 8)       how far a weight may be off, as a share of it
 *   context:     (u + w_i) sum_j w_ij |v_j|
 *
 * and for the gradients, with D_ij = sum |dO_i| |v_j|, G_ij = w_ij (D_ij + sum_l w_il D_il) and
 * f_i = 4 u + 2 w_i + c (d_v + Tq + Tk + 8):
 *
 *   grad_query:  sum_j f_i |scale| G_ij |k_j|
 *   grad_key:    sum_i f_i |scale| G_ij |q_i|, of all heads that share the key
 *   grad_value:  sum_i f_i w_ij |dO_i|, likewise
 *   grad_sinks:  sum_i f_i (1 - sum_l w_il) sum_l w_il D_il, of all items
 *   lse:         w_i
 *
 * A result may be off by u of its own size, and by the largest of these over all of its numbers. Below the smallest
 * normal number a rounding may do more, half of the smallest number there is: 2 (Tq + Tk) of those of the sums are
 * added, and one of the dtype.
 *
 * That is the worst case, which no long sum comes near: its roundings go up and down. So each row has a second bound,
 * of the root mean square of its errors. A rounding is off by u / sqrt(3) in the root mean square for numbers just
 * above a power of two, by 0.42 u for numbers of all sizes; independent errors add as squares, and a sum of n terms,
 * one after another, has the roundings of n partial sums (Higham, Accuracy and Stability of Numerical Algorithms,
 * chapters 2 and 4). With U = u^2 / 3, C = c^2 / 3 and s_ij the score,
 *
 *   e_ij = C ((d + 4) (sum (scale q k)^2 + s_ij^2) + bias_ij^2 + sink^2 + 16)   of a weight, its share squared
 *   E_i  = sum_j w_ij^2 e_ij + C lse_i^2                                 of the divisor of a row, which gradients reuse
 *   context:     sum_j w_ij^2 (U + e_ij + C Tk) |v_j|^2 + (U + C Tk) |O_i|^2
 *
 * where U in the sum is a kernel's that rounds weights to the dtype. The gradients, with P_ij = dO_i . v_j,
 * L_i = sum_l w_il P_il, Z_i = sum (dO_i O_i)^2 and
 * d_i  = U Z_i + C (d_v + Tk) (Z_i + L_i^2)                            of L_i, from a rounded context
 * g_ij = w_ij^2 ((P_ij - L_i)^2 (2 U + e_ij + C (Tq + Tk)) + U P_ij^2 + C (d_v + 4) (sum (dO v)^2 + P_ij^2) + d_i):
 *
 *   grad_query:  scale^2 (sum_j g_ij |k_j|^2 + d_i |sum_j w_ij k_j|^2) + (U + C Tk) |dQ_i|^2
 *   grad_key:    scale^2 sum_i (g_ij + w_ij^2 (P_ij - L_i)^2 E_i) |q_i|^2 + (U + C Tq) |dK_j|^2
 *   grad_value:  sum_i w_ij^2 (U + e_ij + E_i + C Tq) |dO_i|^2 + (U + C Tq) |dV_j|^2
 *   grad_sinks:  sum_i w_sink^2 (d_i + L_i^2 (U + e_i + C Tq)) + (U + C Tq) dsink^2
 *   lse:         max_j e_ij + C Tk + U lse^2
 *
 * are squares of the error of a row of n numbers, n times its mean. A few large terms scatter more than many small
 * ones, by s = sqrt(sum of squares of the terms) / sum of the terms, which is 1 / sqrt(m) for m equal ones. A term is
 * one of a sum over j or i; U |O_i|^2 is n terms, C Tk |O_i|^2 one, as all numbers of a row share the divisor. Allowed
 * is 1.7 + 4 s times the root of the mean: right kernels, in tiles of 1 to 256 keys, use at most half of it. */
#include "cases/cases.h"

#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, OPERANDS };

/* One head of one item, in doubles. */
struct bound {
    struct case_made *made;
    const struct problem *problem;
    size_t item, head, kv_head;              /* counted over all items: kv_head */
    double unit, sums;                       /* u and c, */
    double rounding, step;                   /* U and C */
    double *weights, *bias;                  /* (Tk) of a row */
    double *errors;                          /* (Tk) e_ij, and */
    double of_lse;                           /* E_i */
    double *products, *squares;              /* (Tk) P_ij, sum (dO v)^2 */
    double *grads;                           /* (Tk) D_ij, then G_ij */
    double *of_keys, *of_values;             /* (Tk) |k_j|^2, |v_j|^2 */
    double *means;                           /* (d, d_v) sum_j w_ij k_j, O_i */
    double *sum_query, *sum_key, *sum_value; /* (d), (B H_kv Tk d), (B H_kv Tk d_v) */
    double largest[OPERANDS], context, lse;
    double *sum_sinks;                   /* (H) */
    double *fourths[CASES_MOST_RESULTS]; /* (rows) of each result: the squares of the terms of rms */
};

static const double *numbers_of(const struct tensor *tensor, size_t row)
{
    return (const double *)tensor->data + row * tensor->shape[tensor->rank - 1];
}

static const double *operand(const struct bound *bound, size_t which, size_t row)
{
    const struct problem *problem = bound->problem;
    const size_t before = which == QUERY ? (bound->item * problem->size.heads + bound->head) * problem->size.queries
                                         : bound->kv_head * problem->size.keys;
    return numbers_of(&problem->given.operands[which], before + row);
}

static double square_of(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] * numbers[i];
    return sum;
}

/* Adds to the squared error of a row. */
static void add_square(const struct bound *bound, enum stage stage, size_t head, size_t row, double square)
{
    for (size_t i = 0; i < bound->made->count; i++) {
        const struct case_result *result = &bound->made->results[i];
        if (result->table.stage != stage)
            continue;
        const size_t at = case_row_at(result, bound->item, head, row);
        result->rms[at] += square;
        bound->fourths[i][at] += square * square;
    }
}

static void add_of_query(const struct bound *bound, enum stage stage, size_t row, double square)
{
    add_square(bound, stage, bound->head, row, square);
}

static void add_of_key(const struct bound *bound, enum stage stage, size_t key, double square)
{
    add_square(bound, stage, bound->kv_head % bound->problem->size.kv_heads, key, square);
}

/* w_i; makes e_ij. */
static double off_of_weights(struct bound *bound, size_t row)
{
    const struct problem *problem = bound->problem;
    const double *query = operand(bound, QUERY, row), scale = fabs(problem->scaling.factor);
    const size_t d = problem->size.d_head;
    const double sink = problem->mask.sinks != NULL ? problem->mask.sinks[bound->head] : 0;
    double largest = fabs(sink), most = 0, heaviest = 0, lse = 0;
    bound->of_lse = 0;
    for (size_t key = 0; key < problem->size.keys; key++) {
        const double *numbers = operand(bound, KEY, key);
        double sizes = 0, squares = 0, score = 0;
        if (bound->weights[key] <= 0)
            continue;
        for (size_t i = 0; i < d; i++) {
            const double product = scale * query[i] * numbers[i];
            sizes += fabs(product);
            squares += product * product;
            score += product;
        }
        largest = fmax(largest, sizes + fabs(bound->bias[key]));
        bound->errors[key] = bound->step * (((double)d + 4) * (squares + score * score) +
                                            bound->bias[key] * bound->bias[key] + sink * sink + 16);
        most = fmax(most, bound->errors[key]);
        bound->of_lse += bound->weights[key] * bound->weights[key] * bound->errors[key];
        if (bound->weights[key] > heaviest) {
            heaviest = bound->weights[key];
            lse = score + bound->bias[key] - log(heaviest);
        }
    }
    bound->of_lse += bound->step * lse * lse;
    add_of_query(bound, STAGE_LSE, row, most + bound->step * ((double)problem->size.keys + largest * largest));
    return bound->sums * (2 * ((double)d + 4) * largest + 2 * (double)problem->size.keys + 8);
}

static void take_context(struct bound *bound, size_t row, double off)
{
    const struct problem *problem = bound->problem;
    const double own = bound->rounding + bound->step * (double)problem->size.keys;
    for (size_t column = 0; column < problem->size.d_value; column++) {
        double sum = 0;
        for (size_t key = 0; key < problem->size.keys; key++)
            if (bound->weights[key] > 0)
                sum += bound->weights[key] * fabs(operand(bound, VALUE, key)[column]);
        bound->context = fmax(bound->context, (bound->unit + off) * sum);
    }
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bound->weights[key] > 0)
            add_of_query(bound, STAGE_CONTEXT, row,
                         bound->weights[key] * bound->weights[key] * (own + bound->errors[key]) *
                             bound->of_values[key]);
    bound->lse = fmax(bound->lse, off);
}

/* G_ij of a row, P_ij and means; returns sum_l w_il D_il. */
static double make_grads(struct bound *bound, const double *gradient)
{
    const struct problem *problem = bound->problem;
    const size_t d = problem->size.d_head, d_value = problem->size.d_value;
    double delta = 0;
    memset(bound->means, 0, (d + d_value) * sizeof *bound->means);
    for (size_t key = 0; key < problem->size.keys; key++) {
        const double weight = bound->weights[key], *value = operand(bound, VALUE, key);
        if (weight <= 0)
            continue;
        bound->grads[key] = bound->products[key] = bound->squares[key] = 0;
        for (size_t i = 0; i < d_value; i++) {
            const double product = gradient[i] * value[i];
            bound->grads[key] += fabs(product);
            bound->products[key] += product;
            bound->squares[key] += product * product;
            bound->means[d + i] += weight * value[i];
        }
        delta += weight * bound->grads[key];
        for (size_t i = 0; i < d; i++)
            bound->means[i] += weight * operand(bound, KEY, key)[i];
    }
    for (size_t key = 0; key < problem->size.keys; key++)
        bound->grads[key] = bound->weights[key] > 0 ? bound->weights[key] * (bound->grads[key] + delta) : 0;
    return delta;
}

/* The weight of the sink: what the other weights of a row leave of 1. */
static double weight_of_sink(const struct bound *bound)
{
    double sum = 0;
    for (size_t key = 0; key < bound->problem->size.keys; key++)
        sum += bound->weights[key];
    return fmax(0, 1 - sum);
}

static void add(double *sums, const double *numbers, double factor, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += factor * fabs(numbers[i]);
}

static double largest_of(const double *numbers, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, numbers[i]);
    return largest;
}

/* The squared errors that a row adds. */
static void take_squares(struct bound *bound, const double *gradient, size_t row, double sink)
{
    const struct problem *problem = bound->problem;
    const size_t d = problem->size.d_head, d_value = problem->size.d_value;
    const double scale = problem->scaling.factor * problem->scaling.factor, *context = bound->means + d;
    const double keys = (double)problem->size.keys, queries = (double)problem->size.queries;
    const double of_query = square_of(operand(bound, QUERY, row), d), of_gradient = square_of(gradient, d_value);
    double delta = 0, of_delta = 0, most = 0;
    for (size_t i = 0; i < d_value; i++)
        of_delta += gradient[i] * context[i] * gradient[i] * context[i];
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bound->weights[key] > 0)
            delta += bound->weights[key] * bound->products[key];
    of_delta = bound->rounding * of_delta + bound->step * ((double)d_value + keys) * (of_delta + delta * delta);
    for (size_t key = 0; key < problem->size.keys; key++) {
        const double weight = bound->weights[key] * bound->weights[key], product = bound->products[key];
        const double error = bound->errors[key], by = product - delta;
        if (bound->weights[key] <= 0)
            continue;
        const double grad =
            weight * (by * by * (2 * bound->rounding + error + bound->step * (keys + queries)) +
                      bound->rounding * product * product +
                      bound->step * ((double)d_value + 4) * (bound->squares[key] + product * product) + of_delta);
        most = fmax(most, error);
        add_of_query(bound, STAGE_GRAD_QUERY, row, scale * grad * bound->of_keys[key]);
        add_of_key(bound, STAGE_GRAD_KEY, key, scale * (grad + weight * by * by * bound->of_lse) * of_query);
        add_of_key(bound, STAGE_GRAD_VALUE, key,
                   weight * (bound->rounding + error + bound->of_lse + bound->step * queries) * of_gradient);
    }
    add_of_query(bound, STAGE_GRAD_QUERY, row, scale * of_delta * square_of(bound->means, d));
    add_square(bound, STAGE_GRAD_SINKS, bound->head, 0,
               sink * sink * (of_delta + delta * delta * (bound->rounding + most + bound->step * queries)));
}

static void take_gradients(struct bound *bound, size_t row, double off)
{
    const struct problem *problem = bound->problem;
    const struct tensor *given = &bound->made->files.files[3].tensors[0].tensor;
    const size_t matrix = bound->item * problem->size.heads + bound->head;
    const bool last = problem->size.heads_packed; /* B x T x H x d_v */
    const size_t token = bound->item * problem->size.queries + row;
    const double *gradient =
        numbers_of(given, last ? token * problem->size.heads + bound->head : matrix * problem->size.queries + row);
    const size_t d = problem->size.d_head, d_value = problem->size.d_value;
    const double factor =
        4 * bound->unit + 2 * off +
        bound->sums * ((double)d_value + (double)problem->size.queries + (double)problem->size.keys + 8);
    const double sink = weight_of_sink(bound);
    bound->sum_sinks[bound->head] += factor * sink * make_grads(bound, gradient);
    take_squares(bound, gradient, row, sink);
    memset(bound->sum_query, 0, d * sizeof *bound->sum_query);
    for (size_t key = 0; key < problem->size.keys; key++) {
        const size_t at = bound->kv_head * problem->size.keys + key;
        const double scaled = factor * fabs(problem->scaling.factor) * bound->grads[key];
        if (bound->weights[key] <= 0)
            continue;
        add(bound->sum_query, operand(bound, KEY, key), scaled, d);
        add(bound->sum_key + at * d, operand(bound, QUERY, row), scaled, d);
        add(bound->sum_value + at * d_value, gradient, factor * bound->weights[key], d_value);
    }
    bound->largest[QUERY] = fmax(bound->largest[QUERY], largest_of(bound->sum_query, d));
}

/* Notes from where and how far the row reaches, in the span that it is in. */
static void note_reach(const struct bound *bound, size_t row)
{
    struct case_made *made = bound->made;
    const struct case_sequences sequences = case_sequences_of(made->row, &made->sizes);
    const bool packed = case_has(made->row, CASE_PACKED);
    size_t end = bound->problem->size.keys, start = 0, at = sequences.count > 1 ? bound->item : 0;
    while (end > 0 && !(bound->weights[end - 1] > 0))
        end--;
    while (start < end && !(bound->weights[start] > 0))
        start++;
    for (at = packed ? 0 : at; packed && row >= sequences.queries[at + 1];)
        at++;
    made->has_empty_rows = made->has_empty_rows || end == 0;
    made->span_count = sequences.count;
    made->spans[at].queries = sequences.queries[at + 1] - sequences.queries[at];
    made->spans[at].keys = sequences.keys[at + 1] - sequences.keys[at];
    const size_t before = packed && end > 0 ? sequences.keys[at] : 0;
    made->spans[at].reach = memory_larger(made->spans[at].reach, end - before);
    made->spans[at].start = memory_larger(made->spans[at].start, start - before);
}

static void take_head(struct bound *bound, const struct result_table *weights, size_t matrix)
{
    const struct problem *problem = bound->problem;
    for (size_t key = 0; key < problem->size.keys; key++) {
        bound->of_keys[key] = square_of(operand(bound, KEY, key), problem->size.d_head);
        bound->of_values[key] = square_of(operand(bound, VALUE, key), problem->size.d_value);
    }
    for (size_t row = 0; row < problem->size.queries; row++) {
        result_row(&bound->made->truth, weights, matrix, row, bound->weights);
        memset(bound->bias, 0, problem->size.keys * sizeof *bound->bias);
        if (mask_has_bias(&problem->mask))
            mask_bias(&problem->mask, bound->item, bound->head, row, 0, problem->size.keys, bound->bias);
        for (size_t key = 0; key < problem->size.keys && mask_has_bias(&problem->mask); key++)
            if (!isfinite(bound->bias[key])) /* the key has weight only by a mistake, which adds nothing */
                bound->bias[key] = 0;
        note_reach(bound, row);
        const double off = off_of_weights(bound, row);
        take_context(bound, row, off);
        if (case_has(bound->made->row, CASE_GRAD))
            take_gradients(bound, row, off);
    }
}

static double *zeros(size_t count, struct arena *arena, struct error *error)
{
    double *numbers = arena_allocate(arena, count, sizeof *numbers, error);
    if (numbers != NULL)
        memset(numbers, 0, count * sizeof *numbers);
    return numbers;
}

static enum status allocate_bound(struct bound *bound, size_t *key_count, size_t *value_count, struct arena *arena,
                                  struct error *error)
{
    const struct problem *problem = bound->problem;
    const size_t rows = problem->size.items * problem->size.kv_heads * problem->size.keys;
    *key_count = case_has(bound->made->row, CASE_GRAD) ? rows * problem->size.d_head : 0;
    *value_count = case_has(bound->made->row, CASE_GRAD) ? rows * problem->size.d_value : 0;
    const struct {
        double **numbers;
        size_t count;
    } lists[] = {{&bound->weights, problem->size.keys},
                 {&bound->bias, problem->size.keys},
                 {&bound->errors, problem->size.keys},
                 {&bound->products, problem->size.keys},
                 {&bound->squares, problem->size.keys},
                 {&bound->grads, problem->size.keys},
                 {&bound->of_keys, problem->size.keys},
                 {&bound->of_values, problem->size.keys},
                 {&bound->means, problem->size.d_head + problem->size.d_value},
                 {&bound->sum_query, problem->size.d_head},
                 {&bound->sum_key, *key_count},
                 {&bound->sum_value, *value_count},
                 {&bound->sum_sinks, problem->size.heads}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        *lists[i].numbers = zeros(lists[i].count, arena, error);
    for (size_t i = 0; i < bound->made->count; i++) {
        bound->made->results[i].rms = zeros(bound->made->results[i].rows, arena, error);
        bound->fourths[i] = zeros(bound->made->results[i].rows, arena, error);
    }
    return error->status;
}

/* Turns the squares of a result's rows into what is allowed. `floor`: half of the smallest numbers. */
static void finish(const struct bound *bound, struct case_result *result, const double *fourths, double floor)
{
    const struct problem *problem = bound->problem;
    const bool of_keys = result->table.stage == STAGE_GRAD_KEY || result->table.stage == STAGE_GRAD_VALUE;
    const size_t terms =
        of_keys ? problem->size.queries * problem->size.heads / problem->size.kv_heads : problem->size.keys;
    const double rounding =
        result->table.stage == STAGE_LSE ? result->relative * result->relative / 3 : bound->rounding;
    const double count = (double)result->columns;
    for (size_t row = 0; row < result->rows; row++) {
        const double *truth = (const double *)result->truth.data + row * result->columns;
        const double of_sum = bound->step * (double)terms * square_of(truth, result->columns);
        double square = result->rms[row] + of_sum, fourth = fourths[row] + of_sum * of_sum;
        for (size_t i = 0; i < result->columns; i++) {
            const double of_number = rounding * truth[i] * truth[i];
            square += of_number;
            fourth += of_number * of_number;
        }
        const double scatter = square > 0 ? sqrt(fourth) / square : 0;
        result->rms[row] = isfinite(square) ? (1.7 + 4 * scatter) * sqrt(square / count) + floor : INFINITY;
    }
}

const struct case_precision CASE_PRECISIONS[CASE_PRECISION_COUNT] = {
    {"numbers in float32", DTYPE_F32, DTYPE_F32, 1},
    {"inputs, weights, sums or results in float16, products in tf32, or an approximate exp", DTYPE_F16, DTYPE_F32, 1},
    {"inputs, weights, sums or results in bfloat16, or an approximate exp", DTYPE_BF16, DTYPE_F32, 1},
    {"queries, keys or sums in bfloat16, or an approximate exp", DTYPE_BF16, DTYPE_BF16, 0.2},
};

enum status case_bound(struct case_made *made, enum dtype dtype, enum dtype sums, struct arena *arena,
                       struct error *error)
{
    const struct problem *problem = &made->truth_job;
    const struct result_table *weights = result_table_of(&made->truth, STAGE_WEIGHTS);
    const double unit = case_unit(dtype), of_sums = case_unit(sums);
    struct bound bound = {.made = made,
                          .problem = problem,
                          .unit = unit,
                          .sums = of_sums,
                          .rounding = unit * unit / 3,
                          .step = of_sums * of_sums / 3};
    size_t key_count, value_count;
    if (allocate_bound(&bound, &key_count, &value_count, arena, error) != STATUS_OK)
        return error->status;
    for (size_t matrix = 0; matrix < result_matrices(weights); matrix++) {
        bound.item = matrix / problem->size.heads;
        bound.head = matrix % problem->size.heads;
        bound.kv_head =
            bound.item * problem->size.kv_heads + bound.head / (problem->size.heads / problem->size.kv_heads);
        take_head(&bound, weights, matrix);
    }
    const struct {
        enum stage stage;
        double largest;
    } of_stages[] = {{STAGE_CONTEXT, bound.context},
                     {STAGE_LSE, bound.lse},
                     {STAGE_GRAD_QUERY, bound.largest[QUERY]},
                     {STAGE_GRAD_KEY, largest_of(bound.sum_key, key_count)},
                     {STAGE_GRAD_VALUE, largest_of(bound.sum_value, value_count)},
                     {STAGE_GRAD_SINKS, largest_of(bound.sum_sinks, problem->size.heads)}};
    const double floor =
        dtype_smallest(dtype) + 2 * (double)(problem->size.queries + problem->size.keys) * dtype_smallest(sums);
    for (size_t i = 0; i < made->count; i++) {
        struct case_result *result = &made->results[i];
        for (size_t k = 0; k < sizeof of_stages / sizeof of_stages[0]; k++)
            if (of_stages[k].stage == result->table.stage)
                result->absolute = of_stages[k].largest + floor;
        finish(&bound, result, bound.fourths[i], floor);
    }
    return STATUS_OK;
}
