/* SPDX-License-Identifier: MIT */
#include "worksheet/numbers.h"

#include <math.h>
#include <string.h>

/* How often to draw a matrix before drawing all again, and how often to do that, a quarter of it for strict numbers,
 * before settling for numbers that are not easy. A sheet with more scores than four heads of four tokens has fewer
 * tries, in proportion: each takes longer, and succeeds less often. */
enum { MATRIX_TRIES = 400, TRIES = 4000, MANY_SCORES = 64 };

/* The numbers to draw from, each as often as it stands here. */
static const int OF_INPUTS[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, OF_WEIGHTS[] = {-1, -1, 0, 0, 0, 0, 1, 1, 1, 2};
enum { CHOICES = 10 };
_Static_assert(sizeof OF_INPUTS == sizeof(int[CHOICES]) && sizeof OF_WEIGHTS == sizeof(int[CHOICES]), "as many");

/* e^0, e^-1, e^-2, e^-3: from a table, so that every machine chooses the same numbers; and to two decimals. */
static const double POWERS[NUMBERS_SPREAD + 1] = {1, 0.36787944117144233, 0.1353352832366127, 0.049787068367863944},
                                            ROUNDED_POWERS[NUMBERS_SPREAD + 1] = {1, 0.37, 0.14, 0.05};

/* The distance of two numbers of two decimals that are equal, or differ by one in the last digit at most. */
static const double NOTHING = 0.001, LAST_DIGIT = 0.011;

static const float LARGEST_OPERAND = 4; /* magnitude of query, key and value */

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static size_t heads_of(const struct numbers_plan *plan, enum numbers_table table)
{
    return table == NUMBERS_QUERY ? plan->heads : plan->kv_heads;
}

static size_t columns_of(const struct numbers_plan *plan, enum numbers_table table)
{
    return table == NUMBERS_VALUE ? plan->d_value : plan->d_head;
}

static size_t matrix_size(const struct numbers_plan *plan, enum numbers_table table)
{
    return plan->projects ? plan->d_in * columns_of(plan, table) : 0;
}

static size_t input_count(const struct numbers_plan *plan)
{
    return plan->projects ? plan->items * plan->tokens * plan->d_in : 0;
}

/* The first number of a head's matrix (T, columns) of an item. */
static float *made_of(const struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table,
                      size_t item, size_t head)
{
    return numbers->made[table] + (item * heads_of(plan, table) + head) * plan->tokens * columns_of(plan, table);
}

/* --- one table ---------------------------------------------------------------------------------------------------- */

static void draw(struct torch_random *generator, const int *choices, float *numbers, size_t count)
{
    torch_random_uniform(generator, 0, CHOICES, numbers, count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)choices[(int)numbers[i]];
}

static bool is_zero(const float *numbers, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i * stride] != 0)
            return false;
    return true;
}

/* Whether no row and no column is all zeros. */
static bool is_full(const float *table, size_t rows, size_t columns)
{
    for (size_t row = 0; row < rows; row++)
        if (is_zero(table + row * columns, columns, 1))
            return false;
    for (size_t column = 0; column < columns; column++)
        if (is_zero(table + column, rows, columns))
            return false;
    return true;
}

/* Whether two lists of numbers, each with that stride, are the same; or multiples of each other. */
static bool are_alike(const float *a, const float *b, size_t count, size_t stride, bool or_multiples)
{
    bool same = true, parallel = or_multiples && count > 1;
    for (size_t i = 0; i < count; i++) {
        same = same && a[i * stride] == b[i * stride];
        for (size_t j = 0; j < i; j++)
            parallel = parallel && a[i * stride] * b[j * stride] == a[j * stride] * b[i * stride];
    }
    return same || parallel;
}

/* Whether no two of `count` lists are alike; each begins `apart` after the one before. */
static bool all_differ(const float *table, size_t count, size_t apart, size_t length, size_t stride, bool or_multiples)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (are_alike(table + i * apart, table + j * apart, length, stride, or_multiples))
                return false;
    return true;
}

static bool rows_differ(const float *table, size_t rows, size_t columns, bool or_multiples)
{
    return all_differ(table, rows, columns, columns, 1, or_multiples);
}

static bool is_small(const float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabsf(numbers[i]) > LARGEST_OPERAND)
            return false;
    return true;
}

/* made (T, columns) = inputs . weights + bias, of one item and head. */
static void project(const struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table,
                    size_t item, size_t head)
{
    const size_t columns = columns_of(plan, table);
    const float *inputs = numbers->inputs + item * plan->tokens * plan->d_in;
    const float *weights = numbers->weights[table] + head * matrix_size(plan, table);
    float *made = made_of(numbers, plan, table, item, head);
    for (size_t token = 0; token < plan->tokens; token++)
        for (size_t column = 0; column < columns; column++) {
            float sum = numbers->biases[table][head * columns + column];
            for (size_t i = 0; i < plan->d_in; i++)
                sum += inputs[token * plan->d_in + i] * weights[i * columns + column];
            made[token * columns + column] = sum;
        }
}

/* Whether two heads have the same matrix, or multiples of one. */
static bool are_same_heads(const struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table,
                           size_t a, size_t b)
{
    const size_t size = matrix_size(plan, table);
    return are_alike(numbers->weights[table] + a * size, numbers->weights[table] + b * size, size, 1, true);
}

/* Whether an earlier head does the same: it has the same value, or the same query and key. */
static bool is_repeated(const struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table,
                        size_t head)
{
    const size_t group = plan->heads / plan->kv_heads;
    for (size_t other = 0; other < head && table != NUMBERS_KEY; other++)
        if (are_same_heads(numbers, plan, table, other, head) &&
            (table == NUMBERS_VALUE || are_same_heads(numbers, plan, NUMBERS_KEY, other / group, head / group)))
            return true;
    return false;
}

/* Draws the matrix of query, key or value of a head, or the operand itself; whether it is easy. */
static bool draw_table(struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table, size_t head,
                       struct torch_random *generator)
{
    const size_t columns = columns_of(plan, table);
    float *matrix = numbers->weights[table] + head * matrix_size(plan, table);
    bool easy = true;
    draw(generator, OF_WEIGHTS, matrix, matrix_size(plan, table));
    if (plan->has_bias)
        draw(generator, OF_WEIGHTS, numbers->biases[table] + head * columns, columns);
    if (plan->projects && (!is_full(matrix, plan->d_in, columns) ||
                           (numbers->strict && (!all_differ(matrix, columns, 1, plan->d_in, columns, true) ||
                                                is_repeated(numbers, plan, table, head)))))
        return false;
    for (size_t item = 0; item < plan->items; item++) {
        float *made = made_of(numbers, plan, table, item, head);
        if (plan->projects)
            project(numbers, plan, table, item, head);
        else
            draw(generator, OF_WEIGHTS, made, plan->tokens * columns);
        easy = easy && is_small(made, plan->tokens * columns) && !is_zero(made, plan->tokens * columns, 1) &&
               (plan->projects ||
                (rows_differ(made, plan->tokens, columns, numbers->strict) && is_full(made, plan->tokens, columns)));
    }
    return easy;
}

/* --- scores and weights ------------------------------------------------------------------------------------------- */

/* The scaled scores of a query, (T); returns how many keys the mask allows, or 0 where scores are not all whole and
 * small. */
static size_t scaled_row(const struct numbers *numbers, const struct numbers_plan *plan, size_t item, size_t head,
                         size_t row, double scaled[NUMBERS_MOST])
{
    const size_t d = plan->d_head, allowed = plan->causal ? row + 1 : plan->tokens;
    const float *query = made_of(numbers, plan, NUMBERS_QUERY, item, head) + row * d;
    const float *key = made_of(numbers, plan, NUMBERS_KEY, item, head / (plan->heads / plan->kv_heads));
    for (size_t j = 0; j < plan->tokens; j++) {
        double score = 0;
        for (size_t i = 0; i < d; i++)
            score += (double)query[i] * (double)key[j * d + i];
        scaled[j] = round(score * plan->scale);
        if (fabs(score * plan->scale - scaled[j]) > NOTHING || fabs(scaled[j]) > (double)NUMBERS_LARGEST)
            return 0;
    }
    return allowed;
}

static void bounds_of(const double *numbers, size_t count, double *least, double *largest)
{
    *least = *largest = numbers[0];
    for (size_t i = 1; i < count; i++) {
        *least = fmin(*least, numbers[i]);
        *largest = fmax(*largest, numbers[i]);
    }
}

static double two_decimals(double number)
{
    return round(number * 100) / 100;
}

/* The weights of a row, exact and by hand; returns how far they differ to two decimals. */
static double weigh(const double *scaled, size_t count, double weights[NUMBERS_MOST], double by_hand[NUMBERS_MOST])
{
    double least, largest, sum = 0, rounded_sum = 0, apart = 0;
    bounds_of(scaled, count, &least, &largest);
    for (size_t j = 0; j < count; j++) {
        sum += POWERS[(int)(largest - scaled[j])];
        rounded_sum += ROUNDED_POWERS[(int)(largest - scaled[j])];
    }
    for (size_t j = 0; j < count; j++) {
        weights[j] = POWERS[(int)(largest - scaled[j])] / sum;
        by_hand[j] = two_decimals(ROUNDED_POWERS[(int)(largest - scaled[j])] / rounded_sum);
        apart = fmax(apart, fabs(by_hand[j] - two_decimals(weights[j])));
    }
    return apart;
}

/* Whether all rows of a head are easy. A query that is allowed one key alone has no other score to differ from. */
static bool has_easy_scores(const struct numbers *numbers, const struct numbers_plan *plan, size_t head)
{
    double scaled[NUMBERS_MOST], weights[NUMBERS_MOST], by_hand[NUMBERS_MOST], least, largest;
    for (size_t item = 0; item < plan->items; item++)
        for (size_t row = 0; row < plan->tokens; row++) {
            const size_t allowed = scaled_row(numbers, plan, item, head, row, scaled);
            if (allowed == 0)
                return false;
            bounds_of(scaled, allowed, &least, &largest);
            if (largest - least > (double)NUMBERS_SPREAD || (allowed > 1 && largest == least) ||
                weigh(scaled, allowed, weights, by_hand) > (numbers->strict ? NOTHING : LAST_DIGIT))
                return false;
        }
    return true;
}

/* Whether the context of a head comes out the same by hand. */
static bool has_easy_context(const struct numbers *numbers, const struct numbers_plan *plan, size_t head)
{
    double scaled[NUMBERS_MOST], weights[NUMBERS_MOST], by_hand[NUMBERS_MOST];
    for (size_t item = 0; item < plan->items; item++)
        for (size_t row = 0; row < plan->tokens; row++) {
            const size_t allowed = scaled_row(numbers, plan, item, head, row, scaled);
            const float *value = made_of(numbers, plan, NUMBERS_VALUE, item, head / (plan->heads / plan->kv_heads));
            weigh(scaled, allowed, weights, by_hand);
            for (size_t column = 0; column < plan->d_value; column++) {
                double context = 0, rounded = 0;
                for (size_t j = 0; j < allowed; j++) {
                    context += weights[j] * (double)value[j * plan->d_value + column];
                    rounded += by_hand[j] * (double)value[j * plan->d_value + column];
                }
                if (fabs(rounded - two_decimals(context)) > LAST_DIGIT)
                    return false;
            }
        }
    return true;
}

/* --- all tables --------------------------------------------------------------------------------------------------- */

static bool draw_inputs(struct numbers *numbers, const struct numbers_plan *plan, struct torch_random *generator)
{
    const size_t size = plan->tokens * plan->d_in;
    bool easy = true;
    draw(generator, OF_INPUTS, numbers->inputs, input_count(plan));
    for (size_t item = 0; item < plan->items && plan->projects; item++)
        easy = easy && is_full(numbers->inputs + item * size, plan->tokens, plan->d_in) &&
               rows_differ(numbers->inputs + item * size, plan->tokens, plan->d_in, numbers->strict);
    return easy;
}

/* Draws the matrix of a head until it is easy with those already drawn: a query with its key, a value with all
 * queries that use it. Whether one was found. */
static bool draw_head(struct numbers *numbers, const struct numbers_plan *plan, enum numbers_table table, size_t head,
                      struct torch_random *generator)
{
    const size_t group = plan->heads / plan->kv_heads;
    for (int i = 0; i < MATRIX_TRIES; i++) {
        bool easy = draw_table(numbers, plan, table, head, generator);
        if (table == NUMBERS_QUERY)
            easy = easy && has_easy_scores(numbers, plan, head);
        for (size_t query = head * group; table == NUMBERS_VALUE && query < (head + 1) * group && easy; query++)
            easy = has_easy_context(numbers, plan, query);
        if (easy)
            return true;
    }
    return false;
}

/* Draws all tables once; whether they are easy. Stops at the first that is not. */
static bool draw_all(struct numbers *numbers, const struct numbers_plan *plan, struct torch_random *generator)
{
    const size_t group = plan->heads / plan->kv_heads;
    if (!draw_inputs(numbers, plan, generator))
        return false;
    for (size_t kv_head = 0; kv_head < plan->kv_heads; kv_head++) {
        if (!draw_head(numbers, plan, NUMBERS_KEY, kv_head, generator))
            return false;
        for (size_t head = kv_head * group; head < (kv_head + 1) * group; head++)
            if (!draw_head(numbers, plan, NUMBERS_QUERY, head, generator))
                return false;
        if (!draw_head(numbers, plan, NUMBERS_VALUE, kv_head, generator))
            return false;
    }
    return true;
}

static enum status allocate_numbers(struct numbers *numbers, const struct numbers_plan *plan, struct arena *arena,
                                    struct error *error)
{
    *numbers = (struct numbers){
        .inputs = arena_allocate(arena, input_count(plan), sizeof(float), error),
        .out = arena_allocate(arena, plan->d_output * plan->heads * plan->d_value, sizeof(float), error)};
    if (numbers->inputs == NULL || numbers->out == NULL)
        return error->status;
    for (enum numbers_table table = 0; table < NUMBERS_TABLES; table++) {
        const size_t heads = heads_of(plan, table), columns = columns_of(plan, table);
        numbers->weights[table] = arena_allocate(arena, heads * matrix_size(plan, table), sizeof(float), error);
        numbers->biases[table] = arena_allocate(arena, heads * columns, sizeof(float), error);
        numbers->made[table] =
            arena_allocate(arena, plan->items * heads * plan->tokens * columns, sizeof(float), error);
        if (numbers->weights[table] == NULL || numbers->biases[table] == NULL || numbers->made[table] == NULL)
            return error->status;
        memset(numbers->biases[table], 0, heads * columns * sizeof(float));
    }
    return STATUS_OK;
}

enum status numbers_draw(struct numbers *numbers, const struct numbers_plan *plan, struct torch_random *generator,
                         struct arena *arena, struct error *error)
{
    const size_t width = plan->heads * plan->d_value;
    if (allocate_numbers(numbers, plan, arena, error) != STATUS_OK)
        return error->status;
    const size_t scores = memory_larger(plan->items * plan->heads * plan->tokens * plan->tokens, MANY_SCORES);
    const size_t tries = memory_larger((size_t)TRIES * MANY_SCORES / scores, 4);
    for (size_t i = 0; i < tries && !numbers->easy; i++) {
        numbers->strict = i < tries / 4;
        numbers->easy = draw_all(numbers, plan, generator);
    }
    if (!numbers->easy) { /* draws all tables once more, as they come */
        draw_inputs(numbers, plan, generator);
        for (enum numbers_table table = 0; table < NUMBERS_TABLES; table++)
            for (size_t head = 0; head < heads_of(plan, table); head++)
                draw_table(numbers, plan, table, head, generator);
    }
    do
        draw(generator, OF_WEIGHTS, numbers->out, plan->d_output * width);
    while (plan->d_output > 0 && !is_full(numbers->out, plan->d_output, width));
    return STATUS_OK;
}

static bool same(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

bool numbers_same(const struct numbers *a, const struct numbers *b, const struct numbers_plan *plan)
{
    bool all = same(a->inputs, b->inputs, input_count(plan)) &&
               same(a->out, b->out, plan->d_output * plan->heads * plan->d_value);
    for (enum numbers_table table = 0; table < NUMBERS_TABLES && all; table++) {
        const size_t heads = heads_of(plan, table), columns = columns_of(plan, table);
        all = plan->projects ? same(a->weights[table], b->weights[table], heads * matrix_size(plan, table)) &&
                                   same(a->biases[table], b->biases[table], heads * columns)
                             : same(a->made[table], b->made[table], plan->items * heads * plan->tokens * columns);
    }
    return all;
}
