/* SPDX-License-Identifier: MIT */
#include "stage/norm.h"

#include <math.h>
#include <string.h>

/* The divisor of the sum of the squares. */
static double divisor_of(const struct norm *norm, size_t count)
{
    return norm->of_sum ? 1 : (double)count - norm->less_1;
}

struct norm_terms norm_terms(const struct norm *norm, const double *x, size_t count)
{
    struct norm_terms terms = {0, 1};
    double squares = 0;
    for (size_t i = 0; i < count && norm->kind == NORM_LAYER; i++)
        terms.mean += x[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - terms.mean) * (x[i] - terms.mean);
    terms.factor = squares / divisor_of(norm, count) + norm->eps;
    terms.factor = 1 / (norm->no_root ? terms.factor : sqrt(terms.factor));
    return terms;
}

double norm_weight(const struct norm *norm, size_t i)
{
    double weight = 1;
    if (norm->weight.rank > 0)
        tensor_load(&norm->weight, i, 1, &weight);
    return norm->kind == NORM_RMS_PLUS_ONE && norm->weight.rank > 0 ? 1 + weight : weight;
}

double norm_bias(const struct norm *norm, size_t i)
{
    double bias = 0;
    if (norm->bias.rank > 0)
        tensor_load(&norm->bias, i, 1, &bias);
    return bias;
}

void norm_row(const struct problem *problem, const struct norm *norm, size_t first, const double *x, size_t count,
              double *y)
{
    if (norm->kind == NORM_NONE || norm->left_out) {
        memmove(y, x, count * sizeof *y);
        return;
    }
    const struct norm_terms terms = norm_terms(norm, x, count);
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] - terms.mean) * terms.factor;
    if (problem_rounding(problem)->norm_cast && norm->kind != NORM_LAYER) /* rounds before the weight */
        dtype_round(problem->rounding.dtype, y, count);
    for (size_t i = 0; i < count; i++)
        y[i] = y[i] * norm_weight(norm, first + i) + norm_bias(norm, first + i);
}

static bool is_zero(const double *numbers, size_t count)
{
    size_t i = 0;
    while (i < count && numbers[i] == 0)
        i++;
    return i == count;
}

/* y = (x - mean) x factor, times weight, plus bias. */
void norm_back(const struct norm *norm, size_t first, const double *x, size_t count, double *above, double *by_weight,
               double *by_bias)
{
    double mean = 0, product = 0;
    memset(by_weight, 0, count * sizeof *by_weight);
    memset(by_bias, 0, count * sizeof *by_bias);
    if (norm->kind == NORM_NONE || norm->left_out || is_zero(above, count))
        return;
    memcpy(by_bias, above, count * sizeof *by_bias);
    const struct norm_terms terms = norm_terms(norm, x, count);
    for (size_t i = 0; i < count; i++) {
        const double y = (x[i] - terms.mean) * terms.factor;
        by_weight[i] = above[i] * y;
        above[i] *= norm_weight(norm, first + i);
        mean += above[i] / (double)count;
        product += above[i] * y / divisor_of(norm, count);
    }
    for (size_t i = 0; i < count; i++)
        above[i] = terms.factor *
                   (above[i] - (norm->kind == NORM_LAYER ? mean : 0) -
                    (x[i] - terms.mean) * (norm->no_root ? 2 : terms.factor) * product);
}

void norm_input_row(const struct problem *problem, double *x)
{
    for (int times = problem->parameters.norms[NORM_INPUTS].twice ? 2 : 1; times > 0; times--) {
        norm_row(problem, &problem->parameters.norms[NORM_INPUTS], 0, x, problem->size.d_in, x);
        dtype_round(problem->rounding.dtype, x, problem->size.d_in);
    }
}
