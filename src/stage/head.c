/* SPDX-License-Identifier: MIT */
#include "stage/head.h"

#include "stage/dot_products.h"
#include "stage/scaled.h"

#include <string.h>

static const uint64_t MEETS_KEY = STAGE_BIT(STAGE_SCORES) | STAGE_BIT(STAGE_SCALED) | STAGE_BIT(STAGE_GRAD_QUERY),
                      MEETS_VALUE = STAGE_BIT(STAGE_CONTEXT) | STAGE_BIT(STAGE_GRAD_DROPPED);

static bool meets_prescaled(const struct problem *problem, uint64_t stages)
{
    return (stages & STAGE_BIT(STAGE_SCALED)) != 0 && scaled_has_roots(problem);
}

static bool meets_key(const struct problem *problem, uint64_t stages)
{
    return (stages & (scaled_has_roots(problem) ? MEETS_KEY & ~STAGE_BIT(STAGE_SCALED) : MEETS_KEY)) != 0;
}

double head_numbers(const struct problem *problem, uint64_t stages)
{
    const double keys = (double)problem->size.keys;
    const int copies = meets_key(problem, stages) + meets_prescaled(problem, stages);
    return copies * keys * (double)problem->size.d_head +
           (stages & MEETS_VALUE ? keys * (double)problem->size.d_value : 0);
}

enum status head_create(struct head *head, const struct problem *problem, uint64_t stages, struct arena *arena,
                        struct error *error)
{
    const size_t rows = (problem->size.keys / DOT_KEYS + (problem->size.keys % DOT_KEYS != 0)) * DOT_KEYS;
    *head = (struct head){.problem = problem, .key_of = SIZE_MAX, .prescaled_of = SIZE_MAX, .value_of = SIZE_MAX};
    if (stages & MEETS_KEY)
        head->rows = arena_allocate(arena, problem->size.d_head, DOT_KEYS * sizeof(double), error);
    if (meets_key(problem, stages))
        head->key = arena_allocate(arena, rows, problem->size.d_head * sizeof(double), error);
    if (meets_prescaled(problem, stages))
        head->prescaled_key = arena_allocate(arena, rows, problem->size.d_head * sizeof(double), error);
    if (stages & MEETS_VALUE)
        head->value = arena_allocate(arena, problem->size.keys, problem->size.d_value * sizeof(double), error);
    return error->status;
}

static void load_key(const struct head *head, const struct tensor *key, size_t first, bool prescaled, double *panels)
{
    const size_t d = head->problem->size.d_head, keys = head->problem->size.keys;
    for (size_t j = 0; j < keys; j += DOT_KEYS) {
        const size_t count = memory_smaller(keys - j, DOT_KEYS);
        tensor_load(key, (first + j) * d, count * d, head->rows);
        if (prescaled)
            scaled_operand(head->problem, head->rows, count * d);
        for (size_t k = 0; k < d; k++) /* into a panel, keys side by side */
            for (size_t i = 0; i < DOT_KEYS; i++)
                panels[j * d + k * DOT_KEYS + i] = i < count ? head->rows[i * d + k] : 0;
    }
}

void head_load(struct head *head, enum stage stage, const struct tensor *key, const struct tensor *value, size_t first)
{
    const struct problem *problem = head->problem;
    if (meets_key(problem, STAGE_BIT(stage)) && head->key_of != first) {
        head->key_of = first;
        load_key(head, key, first, false, head->key);
    }
    if (meets_prescaled(problem, STAGE_BIT(stage)) && head->prescaled_of != first) {
        head->prescaled_of = first;
        load_key(head, key, first, true, head->prescaled_key);
    }
    if (MEETS_VALUE & STAGE_BIT(stage) && head->value_of != first) {
        head->value_of = first;
        tensor_load(value, first * problem->size.d_value, problem->size.keys * problem->size.d_value, head->value);
    }
}

void head_products(const struct attention_row *row, const double *key, double *products)
{
    const size_t d = row->problem->size.d_head, keys = row->problem->size.keys;
    double of_panel[DOT_KEYS];
    for (size_t j = row->computed.first / DOT_KEYS * DOT_KEYS; j < row->computed.end; j += DOT_KEYS) {
        dot_products(row->query, key + j * d, d, of_panel);
        memcpy(products + j, of_panel, memory_smaller(keys - j, DOT_KEYS) * sizeof *products);
    }
}
