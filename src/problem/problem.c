#include "problem/problem.h"
#include "model/stages.h"

bool problem_projects(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].projects && problem->given[PROJECTION_QUERY].rank == 0;
}

const char **problem_key_labels(const struct problem *problem, size_t item)
{
    if (problem->labels.texts == NULL)
        return NULL;
    return problem->labels.texts + (problem->labels.lists > 1 ? item * problem->keys : 0);
}

const struct problem *problem_right(const struct problem *problem)
{
    return problem->right != NULL ? problem->right : problem;
}

const struct family_rounding *problem_rounding(const struct problem *problem)
{
    static const struct family_rounding ONCE = {.rope = ROPE_ROUNDING_ONCE};
    const bool follows = problem->rounding == ROUNDING_TRANSFORMERS && dtype_storage(problem->dtype) != problem->dtype;
    return follows ? &problem->family->rounding : &ONCE;
}

enum dtype problem_stage_dtype(const struct problem *problem, enum stage stage)
{
    const struct family_rounding *rounding = problem_rounding(problem);
    const uint64_t wide = rounding->wide | (problem->mask.alibi_slopes != NULL ? rounding->wide_with_slopes : 0);
    const bool no_room = STAGES[stage].infinite && !dtype_has_infinity(problem->dtype);
    return no_room || (stage_exists(stage) && wide & STAGE_BIT(stage)) ? dtype_storage(problem->dtype) : problem->dtype;
}

enum stage problem_source(const struct problem *problem, enum stage stage)
{
    if (problem->crosses && stage_is_of_keys(stage))
        return STAGE_KEY_INPUTS;
    const bool normed = problem->residual && problem->parameters.norms[NORM_INPUTS].kind != NORM_NONE;
    return normed && !stage_is_of_inputs(stage) ? STAGE_NORMED : STAGE_INPUTS;
}

const char **problem_query_labels(const struct problem *problem, size_t item)
{
    const struct token_labels *own = &problem->query_labels;
    if (problem->apart)
        return own->texts != NULL ? own->texts + (own->lists > 1 ? item * own->count : 0) : NULL;
    const char **labels = problem_key_labels(problem, item);
    return labels == NULL || problem->first_query == SIZE_MAX ? NULL : labels + problem->first_query;
}

const struct token_labels *problem_tokens(const struct problem *problem)
{
    return problem->apart ? &problem->query_labels : &problem->labels;
}

const char *problem_label(const struct problem *problem, bool of_keys, size_t item, size_t index, size_t *position)
{
    const size_t token = of_keys ? index : problem->rows[index];
    const char **labels = of_keys ? problem_key_labels(problem, item) : problem_query_labels(problem, item);
    *position = token + 1;
    return labels != NULL ? labels[token] : NULL;
}

bool problem_is_side_by_side(const struct problem *problem, enum stage stage)
{
    return STAGES[stage].joins_heads || problem_made_as(problem, stage) != stage;
}

enum stage problem_last_stage(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].splits ? STAGE_OUTPUT : STAGE_CONTEXT;
}

enum stage problem_grad_stage(const struct problem *problem)
{
    return mechanism_grad_stage(problem->mechanism);
}

enum stage problem_made_as(const struct problem *problem, enum stage stage)
{
    return problem->packed ? stage_packed(stage) : stage;
}

size_t problem_columns_of_head(const struct problem *problem, enum stage stage)
{
    switch (STAGES[stage].columns) {
    case STAGE_COLUMNS_KEYS:
        return problem->keys;
    case STAGE_COLUMNS_D:
        return problem->d_head;
    case STAGE_COLUMNS_D_VALUE:
        return problem->d_value;
    case STAGE_COLUMNS_OUTPUT:
        return problem->plan.has_out ? problem->plan.d_output : problem->heads * problem->d_value;
    case STAGE_COLUMNS_D_KEY_IN:
        return problem->d_key_in;
    case STAGE_COLUMNS_D_IN:
    case STAGE_COLUMNS_PARAMETERS:
    case STAGE_COLUMNS_OTHER:
        return problem->d_in;
    default:
        return 1;
    }
}

size_t problem_columns(const struct problem *problem, enum stage stage)
{
    const bool packed = problem_is_side_by_side(problem, stage) && !STAGES[stage].joins_heads;
    return (packed ? problem->heads : 1) * problem_columns_of_head(problem, stage);
}

bool problem_shows_stage(const struct problem *problem, enum stage stage)
{
    for (size_t i = 0; i < problem->stage_count; i++)
        if (problem->stages[i] == stage)
            return true;
    return false;
}

double problem_work(const struct problem *problem)
{
    const double rows = (double)problem->items * (double)problem->queries, heads = (double)problem->heads;
    const double width = heads * (double)problem->d_head,
                 kv_width = (double)problem->kv_heads * (double)problem->d_head;
    double work = rows * (double)problem->keys * heads * (double)(problem->d_head + problem->d_value);
    if (!problem_projects(problem))
        return work;
    work += rows * (double)problem->d_in * (width + 2 * kv_width);
    if (problem->plan.has_out)
        work += rows * width * (double)problem->plan.d_output;
    return work;
}
