#include "compute/reference.h"

#include <math.h>
#include <string.h>

/* --- the equations, in double; the caller rounds what is stored --------------------------------------------------- */

void reference_project(const double *x, const double *weight, const double *bias, double *restrict y, size_t d_in,
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
    dtype_round(dtype_storage(dtype), &factor, 1);
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
    dtype_round(dtype, &number, 1);
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

/* The sum of the exponentials is wide and then rounded; in some dtypes each addition is. */
static void softmax_rounded(const double *masked, const double *bias, const double *sink, enum dtype dtype,
                            double *weights, size_t keys)
{
    const double maximum = sum_exponentials(masked, bias, sink, weights, keys).maximum;
    double sum = sink != NULL ? rounded(dtype, exp(rounded(dtype, *sink - maximum))) : 0;
    for (size_t j = 0; j < keys; j++) {
        weights[j] = bias[j] > -INFINITY ? rounded(dtype, exp(rounded(dtype, masked[j] - maximum))) : 0;
        sum += weights[j];
        sum = dtype_rounds_sums(dtype) ? rounded(dtype, sum) : sum;
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

/* One row on its way: what each stage is made from, and where it goes. */
struct row {
    const struct attention *attention;
    const struct problem *problem;
    struct attention_scratch *scratch;
    double *const *stages; /* (Tk) each; query (d), context (d_v) */
    const double *bias;    /* (Tk) */
    const double *sink;    /* the head's, or NULL */
    const bool *kept;      /* (Tk), or NULL */
    size_t keys;           /* Tk */
    size_t first_key;      /* of the head's keys among those of all items and heads */
};

static void make_scores(const struct row *row)
{
    score(row->stages[STAGE_QUERY], &row->attention->key, row->first_key, row->scratch->operand,
          row->stages[STAGE_SCORES], row->keys, row->problem->d_head);
}

static void make_scaled(const struct row *row)
{
    scale(row->stages[STAGE_SCORES], row->problem->scale, row->stages[STAGE_SCALED], row->keys);
}

static void make_scaled_rounded(const struct row *row)
{
    score_scaled(row->stages[STAGE_QUERY], &row->attention->key, row->first_key, row->problem->scale,
                 row->problem->dtype, row->scratch->scaled_query, row->scratch->operand, row->stages[STAGE_SCALED],
                 row->keys, row->problem->d_head);
}

static void make_capped(const struct row *row)
{
    cap(row->stages[STAGE_SCALED], row->problem->softcap, row->stages[STAGE_CAPPED], row->keys);
}

static void make_capped_rounded(const struct row *row)
{
    cap_rounded(row->stages[STAGE_SCALED], row->problem->softcap, row->problem->dtype, row->stages[STAGE_CAPPED],
                row->keys);
}

static void make_masked(const struct row *row)
{
    mask(row->stages[STAGE_CAPPED], row->bias, row->problem->dtype, row->stages[STAGE_MASKED], row->keys);
}

/* masked in the dtype of the softmax. */
static const double *cast_masked(const struct row *row)
{
    memcpy(row->scratch->cast, row->stages[STAGE_MASKED], row->keys * sizeof *row->scratch->cast);
    dtype_round(row->problem->softmax_dtype, row->scratch->cast, row->keys);
    return row->scratch->cast;
}

static void make_weights(const struct row *row)
{
    const struct problem *problem = row->problem;
    double *weights = row->stages[STAGE_WEIGHTS];
    if (row->scratch->empty) {
        fill_empty(problem->mask.empty_row, weights, row->keys);
        return;
    }
    if (problem->rounding == ROUNDING_OPERATIONS)
        softmax_rounded(cast_masked(row), row->bias, row->sink, problem->softmax_dtype, weights, row->keys);
    else
        softmax(cast_masked(row), row->bias, row->sink, weights, row->keys);
    if (problem->softmax_dtype != problem->dtype)
        dtype_round(problem->softmax_dtype, weights, row->keys);
}

static void make_dropped(const struct row *row)
{
    const double *weights = row->stages[STAGE_WEIGHTS];
    double *dropped = row->stages[STAGE_DROPPED];
    if (row->kept == NULL)
        memcpy(dropped, weights, row->keys * sizeof *dropped);
    else
        drop(weights, row->kept, row->problem->dropout, row->problem->dtype, dropped, row->keys);
}

static void make_context(const struct row *row)
{
    const struct problem *problem = row->problem;
    double *context = row->stages[STAGE_CONTEXT];
    if (row->scratch->empty && problem->mask.empty_row != EMPTY_ROW_MEAN)
        fill_empty(problem->mask.empty_row, context, problem->d_value);
    else
        weigh(row->stages[STAGE_DROPPED], row->scratch->empty ? NULL : row->bias, &row->attention->value,
              row->first_key, row->scratch->operand, context, row->keys, problem->d_value);
}

typedef void make_stage(const struct row *row);

/* By enum rounding: a stage from those before it, in double. */
static make_stage *const MAKE[][STAGE_CONTEXT + 1] = {
    [ROUNDING_STAGES] =
        {[STAGE_SCORES] = make_scores, make_scaled, make_capped, make_masked, make_weights, make_dropped, make_context},
    [ROUNDING_OPERATIONS] = {[STAGE_SCORES] = make_scores,
                             make_scaled_rounded,
                             make_capped_rounded,
                             make_masked,
                             make_weights,
                             make_dropped,
                             make_context},
};

void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, enum stage last, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, matrix = item * problem->heads + head;
    const struct row row = {.attention = attention,
                            .problem = problem,
                            .scratch = scratch,
                            .stages = scratch->rows,
                            .bias = scratch->bias,
                            .sink = problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL,
                            .kept = kept,
                            .keys = problem->keys,
                            .first_key = matrix / (problem->heads / problem->kv_heads) * problem->keys};
    tensor_load(&attention->query, (matrix * attention->slots + slot) * d, d, scratch->rows[STAGE_QUERY]);
    open_row(attention, scratch, item, head, slot);
    for (int stage = STAGE_SCORES; stage <= (int)last; stage++) {
        MAKE[problem->rounding][stage](&row);
        dtype_round(problem->dtype, scratch->rows[stage], stage == STAGE_CONTEXT ? problem->d_value : problem->keys);
    }
}

double reference_lse(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                     size_t slot)
{
    const struct problem *problem = attention->problem;
    const double *sinks = problem->mask.sinks;
    reference_row(attention, scratch, item, head, slot, STAGE_MASKED, NULL);
    double lse = log_sum(scratch->rows[STAGE_MASKED], scratch->bias, scratch->empty,
                         sinks != NULL ? sinks + head : NULL, scratch->cast, problem->keys);
    dtype_round(problem->dtype, &lse, 1);
    return lse;
}

void reference_output(const struct attention *attention, const double *context, double *output)
{
    const struct problem *problem = attention->problem;
    const size_t width = problem->heads * problem->d_value;
    if (attention->out_weight == NULL)
        memcpy(output, context, width * sizeof *output);
    else
        reference_project(context, attention->out_weight, attention->out_bias, output, width, problem->plan.d_out);
    dtype_round(problem->dtype, output, attention->out_weight == NULL ? width : problem->plan.d_out);
}
