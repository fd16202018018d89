/* SPDX-License-Identifier: MIT */
#include "write/html/page_data.h"

#include "model/stage_id.h"

#include <stdio.h>
#include <string.h>

/* With more parameters, the page starts at query, key and value: 4 MB. */
enum { MOST_PARAMETERS = 1 << 20 };

/* What a browser draws in about a second. */
enum { MOST_DRAWS = 1 << 26 };

static void count_numbers(const struct page_table *table, void *context)
{
    size_t count = 1;
    for (size_t axis = 0; axis < table->rank; axis++)
        count *= table->shape[axis];
    *(size_t *)context += table->tensor == NULL ? count : 0;
}

const char *page_starts_late(const struct problem *problem)
{
    size_t parameters = 0;
    if (!problem_projects(problem))
        return "sdpa takes query, key and value as given.";
    if (problem->mistake.right != NULL)
        return "attn made a mistake here on purpose, which starts from its own query, key and value.";
    if (problem->rounding.when != ROUNDING_STAGES)
        return "attn rounds here as the model's own code does, which this page does not.";
    page_tables_each(problem, count_numbers, &parameters);
    return parameters > MOST_PARAMETERS ? "The page has no room for so many parameters." : NULL;
}

bool page_ends_early(const struct problem *problem)
{
    return page_starts_late(problem) != NULL && problem_grad_stage(problem) != STAGE_GRAD_CONTEXT;
}

bool page_draws(const struct problem *problem)
{
    const double draws = (double)problem->size.items * (double)problem->size.heads * (double)problem->size.queries *
                         (double)problem->size.keys;
    return problem->drop.share > 0 && problem->mistake.recipe == NULL && draws <= (double)MOST_DRAWS;
}

static void take_tensor(const char *name, const struct tensor *tensor, page_table_take *take, void *context)
{
    struct page_table table = {.rank = tensor->rank, .tensor = tensor};
    snprintf(table.name, sizeof table.name, "%s", name);
    memcpy(table.shape, tensor->shape, sizeof table.shape);
    if (tensor->rank > 0)
        take(&table, context);
}

/* The projection of the gate or of a latent whose weight it is, or NULL. */
static const struct projection *projection_with(const struct parameters *parameters, const struct tensor *weight)
{
    const struct latent *latent = &parameters->latent;
    const struct projection *const all[] = {&parameters->gate, &latent->query_a, &latent->query_b, &latent->key_value_a,
                                            &latent->key_value_b};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (weight == &all[i]->weight && weight->rank > 0)
            return all[i];
    return NULL;
}

/* The weight as in inputs . W, whichever way it is stored. */
static void take_weight(const char *name, const struct projection *projection, page_table_take *take, void *context)
{
    const size_t *shape = projection->weight.shape;
    struct page_table table = {.rank = 2,
                               .shape = {shape[projection->transposed], shape[!projection->transposed]},
                               .projection = projection,
                               .transposed = projection->transposed};
    snprintf(table.name, sizeof table.name, "%s", name);
    take(&table, context);
}

void page_tables_each(const struct problem *problem, page_table_take *take, void *context)
{
    const struct parameters *parameters = &problem->parameters;
    const bool stacked = problem->plan.stacked;
    take_tensor("inputs", &problem->given.bare, take, context);
    take_tensor("positions", &problem->given.positions, take, context);
    if (problem->given.is_cross)
        take_tensor("key_inputs", &problem->given.key_inputs, take, context);
    for (size_t i = 0; i < parameters_count(parameters); i++) {
        char name[PARAMETER_NAME_BYTES];
        const struct tensor *tensor = parameters_named(parameters, stacked, i, name);
        struct parameter_place place = {.projection = projection_with(parameters, tensor)};
        if (place.projection != NULL || (parameters_find(parameters, stacked, name, &place) && !place.bias))
            take_weight(name, place.projection, take, context);
        else
            take_tensor(name, tensor, take, context);
    }
}
