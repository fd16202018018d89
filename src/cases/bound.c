/* SPDX-License-Identifier: MIT */
/* How far a kernel may be off, from the dtype and the size of the sums that it makes.
 *
 * u is half a unit of the dtype's last place: what one rounding to it may do. c is the same of the numbers in which a
 * kernel sums: float32, or float64 where that is the dtype. A sum of n products is off by no more than n c times the
 * sum of their sizes. So, for query i:
 *
 *   S_i = the largest of |scale| sum |q| |k| + |what the mask adds| over the keys that have weight, and |sink|
 *   w_i = c (2 (d + 4) S_i + 2 Tk + 8)       how far a weight may be off, as a share of it
 *   context:     (u + w_i) sum_j w_ij |v_j|
 *   lse:         w_i
 *
 * and for the gradients, with D_ij = sum |dO_i| |v_j|, G_ij = w_ij (D_ij + sum_l w_il D_il) and
 * f_i = 4 u + 2 w_i + c (d_v + Tq + Tk + 8):
 *
 *   grad_query:  sum_j f_i |scale| G_ij |k_j|
 *   grad_key:    sum_i f_i |scale| G_ij |q_i|, of all heads that share the key
 *   grad_value:  sum_i f_i w_ij |dO_i|, likewise
 *   grad_sinks:  sum_i f_i (1 - sum_l w_il) sum_l w_il D_il, of all items
 *
 * A result may be off by u of its own size, and by the largest of these over all of its numbers. Below the smallest
 * normal number a rounding may do more, half of the smallest number there is: 2 (Tq + Tk) of those of the sums are
 * added, and one of the dtype. */
#include "cases/cases.h"

#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, OPERANDS };

/* One head of one item, in doubles. */
struct bound {
    const struct case_made *made;
    const struct problem *problem;
    size_t item, head, kv_head; /* counted over all items: kv_head */
    double unit, sums;
    double *weights, *bias;                  /* (Tk) of a row */
    double *grads;                           /* (Tk) D_ij, then G_ij */
    double *sum_query, *sum_key, *sum_value; /* (d), (B H_kv Tk d), (B H_kv Tk d_v) */
    double largest[OPERANDS], context, lse;
    double *sum_sinks; /* (H) */
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

static double dot_of_sizes(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(a[i]) * fabs(b[i]);
    return sum;
}

/* w_i */
static double off_of_weights(const struct bound *bound, size_t row)
{
    const struct problem *problem = bound->problem;
    const double *query = operand(bound, QUERY, row);
    double largest = problem->mask.sinks != NULL ? fabs(problem->mask.sinks[bound->head]) : 0;
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bound->weights[key] > 0)
            largest = fmax(largest, fabs(problem->scaling.factor) *
                                            dot_of_sizes(query, operand(bound, KEY, key), problem->size.d_head) +
                                        fabs(bound->bias[key]));
    return bound->sums * (2 * ((double)problem->size.d_head + 4) * largest + 2 * (double)problem->size.keys + 8);
}

static void take_context(struct bound *bound, double off)
{
    const struct problem *problem = bound->problem;
    for (size_t column = 0; column < problem->size.d_value; column++) {
        double sum = 0;
        for (size_t key = 0; key < problem->size.keys; key++)
            if (bound->weights[key] > 0)
                sum += bound->weights[key] * fabs(operand(bound, VALUE, key)[column]);
        bound->context = fmax(bound->context, (bound->unit + off) * sum);
    }
}

/* G_ij of a row; returns sum_l w_il D_il. */
static double make_grads(struct bound *bound, const double *gradient)
{
    const struct problem *problem = bound->problem;
    double delta = 0;
    for (size_t key = 0; key < problem->size.keys; key++)
        if (bound->weights[key] > 0) {
            bound->grads[key] = dot_of_sizes(gradient, operand(bound, VALUE, key), problem->size.d_value);
            delta += bound->weights[key] * bound->grads[key];
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
    bound->sum_sinks[bound->head] += factor * weight_of_sink(bound) * make_grads(bound, gradient);
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

static void take_head(struct bound *bound, struct result *truth, const struct result_table *weights, size_t matrix)
{
    const struct problem *problem = bound->problem;
    for (size_t row = 0; row < problem->size.queries; row++) {
        result_row(truth, weights, matrix, row, bound->weights);
        memset(bound->bias, 0, problem->size.keys * sizeof *bound->bias);
        if (mask_has_bias(&problem->mask))
            mask_bias(&problem->mask, bound->item, bound->head, row, 0, problem->size.keys, bound->bias);
        const double off = off_of_weights(bound, row);
        take_context(bound, off);
        bound->lse = fmax(bound->lse, off);
        if (case_has(bound->made->row, CASE_GRAD))
            take_gradients(bound, row, off);
    }
}

static enum status allocate_bound(struct bound *bound, size_t *key_count, size_t *value_count, struct arena *arena,
                                  struct error *error)
{
    const struct problem *problem = bound->problem;
    const size_t rows = problem->size.items * problem->size.kv_heads * problem->size.keys;
    *key_count = case_has(bound->made->row, CASE_GRAD) ? rows * problem->size.d_head : 0;
    *value_count = case_has(bound->made->row, CASE_GRAD) ? rows * problem->size.d_value : 0;
    bound->weights = arena_allocate(arena, problem->size.keys, sizeof *bound->weights, error);
    bound->bias = arena_allocate(arena, problem->size.keys, sizeof *bound->bias, error);
    bound->grads = arena_allocate(arena, problem->size.keys, sizeof *bound->grads, error);
    bound->sum_query = arena_allocate(arena, problem->size.d_head, sizeof *bound->sum_query, error);
    bound->sum_key = arena_allocate(arena, *key_count, sizeof *bound->sum_key, error);
    bound->sum_value = arena_allocate(arena, *value_count, sizeof *bound->sum_value, error);
    bound->sum_sinks = arena_allocate(arena, problem->size.heads, sizeof *bound->sum_sinks, error);
    if (bound->weights == NULL || bound->bias == NULL || bound->grads == NULL || bound->sum_query == NULL ||
        bound->sum_key == NULL || bound->sum_value == NULL || bound->sum_sinks == NULL)
        return error->status;
    memset(bound->sum_key, 0, *key_count * sizeof *bound->sum_key);
    memset(bound->sum_value, 0, *value_count * sizeof *bound->sum_value);
    memset(bound->sum_sinks, 0, problem->size.heads * sizeof *bound->sum_sinks);
    return STATUS_OK;
}

enum status case_bound(struct case_made *made, enum dtype dtype, struct arena *arena, struct error *error)
{
    const enum dtype sums = dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    const struct problem *problem = &made->truth_job;
    const struct result_table *weights = result_table_of(&made->truth, STAGE_WEIGHTS);
    struct bound bound = {.made = made, .problem = problem, .unit = case_unit(dtype), .sums = case_unit(sums)};
    size_t key_count, value_count;
    if (allocate_bound(&bound, &key_count, &value_count, arena, error) != STATUS_OK)
        return error->status;
    for (size_t matrix = 0; matrix < result_matrices(weights); matrix++) {
        bound.item = matrix / problem->size.heads;
        bound.head = matrix % problem->size.heads;
        bound.kv_head =
            bound.item * problem->size.kv_heads + bound.head / (problem->size.heads / problem->size.kv_heads);
        take_head(&bound, &made->truth, weights, matrix);
    }
    bound.largest[KEY] = largest_of(bound.sum_key, key_count);
    bound.largest[VALUE] = largest_of(bound.sum_value, value_count);
    for (size_t i = 0; i < made->count; i++) {
        const enum stage stage = made->results[i].table.stage;
        const double absolute = stage == STAGE_GRAD_QUERY   ? bound.largest[QUERY]
                                : stage == STAGE_GRAD_KEY   ? bound.largest[KEY]
                                : stage == STAGE_GRAD_VALUE ? bound.largest[VALUE]
                                : stage == STAGE_LSE        ? bound.lse
                                : stage == STAGE_GRAD_SINKS ? largest_of(bound.sum_sinks, problem->size.heads)
                                                            : bound.context;
        made->results[i].absolute = absolute + dtype_smallest(made->results[i].dtype) +
                                    2 * (double)(problem->size.queries + problem->size.keys) * dtype_smallest(sums);
    }
    return STATUS_OK;
}
