/* SPDX-License-Identifier: MIT */
#include "write/html/page_data.h"

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
    if (MECHANISMS[problem->mechanism].opens)
        return "The parameters of a layer stay in its checkpoint.";
    if (problem->rounding.when != ROUNDING_STAGES)
        return "attn rounds here as the model's own code does, which this page does not.";
    if (problem->parameters.latent.rank > 0)
        return "Key and value come by way of a latent, which only attn computes.";
    page_tables_each(problem, count_numbers, &parameters);
    return parameters > MOST_PARAMETERS ? "The page has no room for so many parameters." : NULL;
}

bool page_draws(const struct problem *problem)
{
    const double draws = (double)problem->size.items * (double)problem->size.heads * (double)problem->size.queries *
                         (double)problem->size.keys;
    return problem->drop.share > 0 && problem->mistake.recipe == NULL && draws <= MOST_DRAWS;
}

static void take_tensor(const char *name, const struct tensor *tensor, page_table_take *take, void *context)
{
    struct page_table table = {.rank = tensor->rank, .tensor = tensor};
    snprintf(table.name, sizeof table.name, "%s", name);
    memcpy(table.shape, tensor->shape, sizeof table.shape);
    if (tensor->rank > 0)
        take(&table, context);
}

/* The weight as in inputs . W, whichever way it is stored, and the bias. */
static void take_projection(const char *stem, const struct projection *projection, page_table_take *take, void *context)
{
    const struct tensor *weight = &projection->weight;
    struct page_table table = {.rank = 2,
                               .shape = {weight->shape[projection->transposed], weight->shape[!projection->transposed]},
                               .projection = projection,
                               .transposed = projection->transposed};
    char bias[PARAMETER_NAME_BYTES];
    snprintf(table.name, sizeof table.name, "%.40s%s", stem, projection->transposed ? ".weight" : "");
    snprintf(bias, sizeof bias, "%.40s.bias", stem);
    take(&table, context);
    take_tensor(bias, &projection->bias, take, context);
}

const char *page_norm_name(enum norm_id id)
{
    static const char *const NAMES[NORM_COUNT] = {"norm", "query_norm", "key_norm"};
    return NAMES[id];
}

static void take_norm(enum norm_id id, const struct norm *norm, page_table_take *take, void *context)
{
    char name[PARAMETER_NAME_BYTES];
    if (norm->kind == NORM_NONE)
        return;
    snprintf(name, sizeof name, "%s.weight", page_norm_name(id));
    take_tensor(name, &norm->weight, take, context);
    snprintf(name, sizeof name, "%s.bias", page_norm_name(id));
    take_tensor(name, &norm->bias, take, context);
}

void page_tables_each(const struct problem *problem, page_table_take *take, void *context)
{
    const struct parameters *parameters = &problem->parameters;
    char stem[PARAMETER_NAME_BYTES];
    take_tensor("inputs", &problem->given.inputs, take, context);
    if (problem->given.is_cross)
        take_tensor("key_inputs", &problem->given.key_inputs, take, context);
    for (size_t module = 0; module < parameters->module_count; module++)
        for (int id = 0; id < PROJECTION_COUNT; id++) {
            parameters_name(stem, module, problem->plan.stacked, (enum projection_id)id, "");
            take_projection(stem, &parameters->modules[module].projections[id], take, context);
        }
    if (problem->plan.has_out)
        take_projection("out_proj", &parameters->out, take, context);
    for (int id = 0; id < NORM_COUNT; id++)
        take_norm((enum norm_id)id, &parameters->norms[id], take, context);
    take_tensor("relative_bias.weight", &parameters->relative_bias, take, context);
}
